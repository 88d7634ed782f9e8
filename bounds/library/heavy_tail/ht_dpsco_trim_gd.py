"""Gradient descent by private trimmed means of each coordinate (dwang20, section 3.2.4, Algorithm 3.2.7, its proofs).

The means are those of ht_trim_arsinh_mean.py, what descent makes of them stands in robust_descent.py. Lemma 3.2.8 has t
for the deviation of a mean, s for the largest one. Solver: dpcheck/solvers/heavy_tail/ht_dpsco_trim_gd.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import MEAN, T, d, delta, eps, eps_out, n, quantity, ratio
from dpcheck.bounds.library.heavy_tail.ht_trim_arsinh_mean import SINH2, m, t
from dpcheck.bounds.library.heavy_tail.robust_descent import F_T, alpha, beta, diam, risk_after, strong
from dpcheck.bounds.library.mechanisms.zcdp import rho
from dpcheck.bounds.privacy.laws import SmoothNoise
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant, Units

tau = quantity("tau_sub", "sub-exponential parameter of ∇_jℓ", loss=1, parameter=-1, printed="τ", latex=r"\tau")
span = quantity("span_grad", "b - a for ∇_jL_D", loss=1, parameter=-1, printed="(b-a)", latex="(b-a)")
scale = quantity("scale_tr_gd", "noise over its width", printed="1/s", latex="1/s")
each = quantity("eps_each", "ε of the mean of a coordinate", box=(1e-4, 1), printed="ε_j", latex=r"\varepsilon_j")
tilde = quantity("eps_tilde", "ε with ε²/2-zCDP for all steps", box=(1e-4, 1), printed="ε̃", latex=r"\tilde\varepsilon")
noise2 = quantity(
    "grad_noise2", "E (S Z_j/s)²", loss=2, parameter=-2, printed="E(SZ_j/s)²", latex=r"\mathbb{E}(SZ_j/s)^2", holds=MEAN
)
width2 = quantity("grad_width2", "S²", loss=2, parameter=-2, printed="S²", latex="S^2")
noisy_err = quantity(
    "trim_grad_err", "E_Z ‖∇L̃ - ∇L_D‖", loss=1, parameter=-1, printed="E‖∇L̃-∇L‖",
    latex=r"\mathbb{E}\|\nabla\tilde L-\nabla L\|", holds=MEAN,
)
off = quantity("dev_mean", "deviation of the mean, at most", loss=1, parameter=-1, printed="t", latex="t")
largest = quantity("dev_largest", "largest deviation, at most", loss=1, parameter=-1, printed="s", latex="s")
trim_err = quantity("trim_err", "|Trim_m - μ|", loss=1, parameter=-1, printed="|Trim_m-μ|")
mean_off = quantity("mean_off", "|mean - μ|", loss=1, parameter=-1, printed="|x̄-μ|", latex=r"|\bar x-\mu|")
ends_off = quantity("ends_off", "|Σ(x-μ)| of m trimmed at one end", loss=1, parameter=-1, printed="Σ_m|x-μ|")
far = Symbol("x", positive=True)
L2 = 2 * log(1 / delta)
_x, _y, _z = symbols("x y z", nonnegative=True)
gradients = [Setting("∇_jℓ(w, x) is τ-sub-exponential, with mean in [a, b]")]

# Privacy ---------------------------------------------------------------------------------------------
lemma6 = Claim(
    id="dwang20.lemma3.2.6", kind=Kind.PRIVACY,
    source=Source("dwang20", "Lemma 3.2.6", line=1764),
    says="ε²/2-zCDP is (ε²/2 + ε√(2 log(1/δ)), δ)-DP: Lemma 2.1.10 in another parameter.",
    states=Le(eps_out, eps**2 / 2 + eps * sqrt(L2)),
    guarantee=ApproxDP(eps_out, delta),
    checks=[Chain(eps_out, Step("<=", because=Cites("dwang20.lemma2.1.10", {rho: eps**2 / 2})), Step("=", STATEMENT))],
)

released = Release(Integer(1), SmoothNoise(scale, t, d), steps=T)

privacy = Claim(
    id="dwang20.theorem3.2.4", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.2.4, with lines 1 and 4 of Algorithm 3.2.7 (the copy ends the root early, the "
                  "proof of Theorem 3.2.5 has it)", line=1543),
    says="dT trimmed means by Algorithm 3.2.6, each with ε̃/√(dT), are (ε, δ)-private.",
    assumes=[eps <= 1, *gradients],
    states=Eq(each, (sqrt(L2 + 2 * eps) - sqrt(L2)) / sqrt(d * T)),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.lemma2.1.8"), Cites("dwang20.lemma3.2.6")],
)

EACH_MEAN = Setting("log S moves by at most t = ε_j²/16, each trimmed mean by at most S")
corrected = Claim(
    id="dwang20.theorem3.2.4.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.2.4", line=1543),
    says="They are with widths that are smooth bounds.",
    assumes=[eps <= 1, EACH_MEAN],
    states=Eq(each, (sqrt(L2 + 2 * eps) - sqrt(L2)) / sqrt(d * T)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.2.4",
    cites=[Cites("dwang20.lemma2.1.8"), Cites("dwang20.lemma3.2.6")],
    checks=[
        AtMost(
            d * T * each**2 / 2 + sqrt(d * T) * each * sqrt(L2),
            "each mean is ε_j²/2-zCDP (dwang20.theorem3.2.3.privacy.corrected), which add up, and Lemma 3.2.6",
            exact=False, against=eps, uses=[EACH_MEAN],
        )
    ],
)

# Errors of trimmed gradients -------------------------------------------------------------------------
trimming = Claim(
    id="dwang20.lemma3.2.8", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.8, third part; its proof trims m records, not 2m", line=1801),
    says="If the mean is off by at most t and no number by more than s, the trimmed mean is by at most (nt+ms)/(n-2m).",
    assumes=[n > 2 * m, mean_off <= off, ends_off <= m * largest],
    states=Le(trim_err, (n * off + m * largest) / (n - 2 * m)),
    checks=[
        Chain(
            trim_err,
            Step("<=", (n * mean_off + ends_off) / (n - 2 * m), because=Premise(
                "above μ: the m largest are above μ on average, or all that is kept is below: only the least count")),
            Step("<=", STATEMENT, where={off: mean_off + _x, largest: (ends_off + _y) / m, n: 2 * m + _z}),
        )
    ],
)

NEVER_NARROW = "the noise of a mean is never narrower than 4/ε_j·e^(-mε_j²/16)(b-a), ε_j = ε̃/√(dT), whatever n is"
one_step = {n: far, d: Integer(2), T: Integer(1), tilde: Integer(1), tau: Integer(1), span: Integer(1)}

noise = Claim(
    id="dwang20.equation3.84", kind=Kind.UTILITY,
    source=Source("dwang20", "(3.84), “m, a, b = O(1)”", line=1786),
    says="The noise of a coordinate is O(τ²dT log n/(nε̃²)), squared.",
    assumes=gradients,
    states=Rate(noise2, tau**2 * d * T * log(n) / (n * tilde**2)),
    hidden=[m],
    checks=[NoConstant(
        16 * d * T / tilde**2 * exp(-m * tilde**2 / (8 * d * T)) * span**2 * SINH2, one_step, far, NEVER_NARROW)],
)

noise_corrected = Claim(
    id="dwang20.equation3.84.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "(3.84)", line=1786),
    says="It is at most 52dT/ε̃²·((s/(n-2m))²·4 + e^(-mε̃²/(8dT))(b-a)²), s being the largest deviation.",
    assumes=[n > 2 * m],
    states=Le(noise2, 52 * d * T / tilde**2 * (
        4 * largest**2 / (n - 2 * m) ** 2 + exp(-m * tilde**2 / (8 * d * T)) * span**2)),
    corrects="dwang20.equation3.84",
    checks=[
        Chain(
            noise2,
            Step("=", 16 * d * T / tilde**2 * SINH2 * width2, because=Premise("Z is independent, E sinh²Y = (e²-1)/2")),
            Step("<=", STATEMENT, because=Slack(
                {"S ≤ (x_(n)-x_(1))/(n-2m) or S = e^-mt (b-a), and x_(n)-x_(1) ≤ 2s":
                    16 * d * T / tilde**2 * SINH2 * (4 * largest**2 / (n - 2 * m) ** 2
                                                     + exp(-m * tilde**2 / (8 * d * T)) * span**2 - width2)},
                seen=[(52 - 16 * SINH2) * d * T / tilde**2 * 4 * largest**2 / (n - 2 * m) ** 2,
                      (52 - 16 * SINH2) * d * T / tilde**2 * exp(-m * tilde**2 / (8 * d * T)) * span**2])),
        )
    ],
)

lemma2 = Claim(
    id="dwang20.lemma3.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.2, (3.63), with √n ε̃ as (3.94) has it", line=1551),
    says="Private trimmed gradients err by O(τd√(T log n)/(√n ε̃)) on average over the noise, at all w together.",
    assumes=gradients,
    states=Rate(noisy_err, tau * d * sqrt(T * log(n)) / (sqrt(n) * tilde)),
    hidden=[m],
    checks=[NoConstant(
        4 * sqrt(d * T) / tilde * exp(-m * tilde**2 / (16 * d * T)) * span, one_step, far,
        f"{NEVER_NARROW}; E|c + Z| ≥ E|Z| of symmetric noise, and E|sinh Y| > 1")],
)

lemma2_corrected = Claim(
    id="dwang20.lemma3.2.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.2", line=1551),
    says="At a w where each coordinate's mean is off by at most t and no gradient by more than s.",
    assumes=[n > 2 * m, mean_off <= off, ends_off <= m * largest],
    states=Le(noisy_err, sqrt(d) * ((n * off + m * largest) / (n - 2 * m) + sqrt(noise_corrected.formula))),
    corrects="dwang20.lemma3.2.2",
    checks=[
        Chain(
            noisy_err,
            Step("<=", sqrt(d) * (trim_err + sqrt(noise2)), because=Premise("d coordinates; E|Z| ≤ √(E Z²)")),
            Step("<=", because=Cites("dwang20.lemma3.2.8")),
            Step("<=", because=Cites("dwang20.equation3.84.corrected")),
            Step("<=", STATEMENT),
        )
    ],
)

# Strongly convex -------------------------------------------------------------------------------------
theorem5 = Claim(
    id="dwang20.theorem3.2.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.2.5", line=1561),
    says="Excess risk after T = O(β/α log n) steps of 1/β, on average over the noise, with a number m trimmed.",
    assumes=[*gradients, *strong],
    states=Rate(F_T, diam**2 * beta**2 * tau**2 * d**2 * log(n) ** 2 * log(1 / delta) / (alpha**3 * n * eps**2)),
    hidden=[m],
    checks=[
        NoConstant(  # with constants of order 1, whatever units are
            exp(-m / 8) / 6,
            {n: far, d: Integer(2), diam: Integer(2), alpha: Integer(1), beta: Integer(1), tau: Integer(1),
             delta: Rational(1, 10), eps: Integer(1)},
            far,
            "‖w-x‖²/2 with x = 0 for all, on the unit disc: the last iterate is the last step's noise, projected: at "
            "least 4e^(-m/16)·|sinh Y|, as (3.84) has it, and |sinh Y| ≥ 1 with a chance above 1/3, whatever n is; the "
            "failure probability that the text allows is of order log(n)/n in two dimensions",
        ),
        Units(),
    ],
)

theorem5_corrected = risk_after(
    "dwang20.theorem3.2.5.corrected", "dwang20.theorem3.2.5", Source("dwang20", "Theorem 3.2.5", line=1561),
    "In what gradients err by (in mean square, for a mean risk): Δ and that error add up, and are not multiplied.",
)

comparison = Claim(
    id="dwang20.theorem3.2.5.comparison", kind=Kind.UTILITY,
    source=Source("dwang20", "after Theorem 3.2.5, other terms left out", line=1567),
    says="The bound of Theorem 3.2.2 is d/ε² times that of Theorem 3.2.5.",
    states=Eq(ratio, d / eps**2),
    checks=[Equals((d**3 / (n * eps**4)) / (d**2 / (n * eps**2)), "(3.62) over Theorem 3.2.5, in n, d and ε")],
)
