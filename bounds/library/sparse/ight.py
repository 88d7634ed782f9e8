"""IGHT without noise (lwang21, chapter 3, Algorithm 3, Lemma 3.6.2): teacher and student of dpsl_kt.py.

θ' = H_s(θ - η∇L̄(θ)) for L̄ = L + λ/2·‖θ‖², β̄-smooth; κ is β̄/λ. Code: `ight` of dpcheck/families/thresholded_descent.py.
"""

from sympy import Le, Symbol, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import T, d, mu, quantity, ridge
from dpcheck.bounds.library.sparse.dp_ight import (
    enough_kept,
    error_next,
    error_now,
    kappa_s,
    kept,
    largest2,
    s_star,
    shrinks,
    statistical,
)
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, OneStep, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

beta_bar = quantity("beta_bar", "smoothness of the regularised risk", loss=1, parameter=-2, printed="β̄")
largest_truth = quantity("largest_truth", "largest entry of the true parameter", parameter=1, printed="‖θ°‖∞")
start2 = quantity("start2", "||theta_0 - theta*||^2", parameter=2, printed="‖θ₀-θ°‖²")
off2 = quantity("off2_ight", "||theta_T - theta*||^2 without noise", parameter=2, printed="‖θ_T-θ°‖²")
cut_off2 = quantity("cut_off2", "||H_s(v) - theta*||^2", parameter=2, printed="‖H_s(v)-θ°‖²")
before2 = quantity("before2", "||v - theta*||^2", parameter=2, printed="‖v-θ°‖²")
big = Symbol("big", positive=True)

equation81 = Claim(
    id="lwang21.equation3.8.1", kind=Kind.UTILITY,
    source=Source("lwang21", "equation (3.8.1), which quotes LAL16, Lemma 3.3", line=4519),
    says="Thresholding to s entries costs a factor 1 + 2√s*/√(s-s*) of the squared distance to an s*-sparse θ*.",
    assumes=[s_star + 1 <= kept, kept <= d],
    states=Le(cut_off2, (1 + 2 * sqrt(s_star) / sqrt(kept - s_star)) * before2),
)

tail = statistical**2 + ridge**2 * largest_truth**2

lemma2 = Claim(
    id="lwang21.lemma3.6.2", kind=Kind.UTILITY,
    source=Source("lwang21", "Lemma 3.6.2, for T large enough", line=3806),
    says="IGHT on L̄ comes within s*(ε² + λ²‖θ*‖∞²)/β̄² of θ*, squared.",
    assumes=[Setting("L̄ is β̄-smooth, Condition 3.3.1, η = C₁λ/β̄², s ≥ C₂κ²s*, T is large enough"), ridge <= beta_bar],
    states=Rate(off2, s_star / beta_bar**2 * tail),
    checks=[
        NoConstant(
            (statistical / ridge) ** 2,
            {beta_bar: big, ridge: 1, statistical: 1, largest_truth: 1 / big, s_star: 1},
            big,
            "L = ε·θ₁ + (β̄-λ)/2·θ₂² and θ* = θ₀ = 0: whatever C₁ < 2 is, IGHT goes to -ε/λ in the first coordinate, "
            "as the second stays 0",
        )
    ],
)

bound = 8092 * (beta_bar / ridge) ** 2 * s_star / ridge**2 * tail
faded = (1 - ridge / (7 * beta_bar)) ** T * start2
as_here = {
    mu: ridge, kappa_s: beta_bar / ridge, largest2: 0, statistical: statistical + ridge * largest_truth,
}

regularised = Setting("L̄ is β̄-smooth and λ-strongly convex, Condition 3.3.1")
lemma2_corrected = Claim(
    id="lwang21.lemma3.6.2.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "Lemma 3.6.2, with the step size of chapter 2", line=3801),
    says="It comes within κ²s*(ε² + λ²‖θ*‖∞²)/λ² with η = 2/(β̄+λ) and s = (16κ²+1)s*, as in Theorem 2.5.4.",
    assumes=[regularised, ridge <= beta_bar],
    added=[enough_kept],
    states=Le(off2, faded + bound),
    corrects="lwang21.lemma3.6.2",
    checks=[
        Chain(
            off2,
            Step("<=", faded + bound / (2 * tail) * (statistical + ridge * largest_truth) ** 2, because=Induction(
                T, start2, OneStep(
                    Cites("lwang21.theorem2.5.4.step", as_here, granted="L̄ has eigenvalues from λ to β̄, and "
                          "∇L̄(θ*) = ∇L(θ*) + λθ* at most ε + λ‖θ*‖∞; no noise"),
                    error_now, error_next)), uses=[regularised, enough_kept]),
            Step("<=", STATEMENT, because=Slack(
                seen=[bound / (2 * tail) * (statistical - ridge * largest_truth) ** 2])),
        )
    ],
)

eigenvalues = Setting("sparse eigenvalues from μ to κμ on 2s + s* coordinates, Condition 3.3.1, T large")
lemma2_limit = Claim(
    id="lwang21.lemma3.6.2.limit", kind=Kind.UTILITY,
    source=Source("lwang21", "Lemma 3.6.2, its last sentence, for sparse eigenvalues from μ to κμ", line=3806),
    says="After enough steps it is within κ²s*ε²/μ², on a loss with sparse eigenvalues.",
    assumes=[kappa_s >= 1, eigenvalues],
    added=[enough_kept],
    states=Le(off2, 8092 * kappa_s**2 * s_star * statistical**2 / mu**2),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            off2,
            Step("<=", shrinks**T * start2 + 4046 * kappa_s**2 * s_star * statistical**2 / mu**2, because=Induction(
                T, start2, OneStep(
                    Cites("lwang21.theorem2.5.4.step", {largest2: 0}, granted="there is no noise"),
                    error_now, error_next)), uses=[eigenvalues, enough_kept]),
            Step("<=", STATEMENT, because=Slack(
                given={"T is large": 4046 * kappa_s**2 * s_star * statistical**2 / mu**2 - shrinks**T * start2}),
                 uses=[eigenvalues]),
        )
    ],
)
