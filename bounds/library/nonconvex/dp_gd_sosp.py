"""DP-GD (dwang20, section 4.3.1, Algorithm 4.3.25): noisy gradient descent that lets out all iterates.

Theorem 4.3.1 and Lemmas 4.3.2 to 4.3.6 of its proof; F is the empirical risk, η = 1/M. Solver:
dpcheck/solvers/nonconvex/dp_gd_sosp.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, T, c, c1, d, delta, eps, eta, gamma, m, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.library.nonconvex.saddle_points import (
    B,
    F_next,
    F_now,
    M,
    a,
    alpha,
    bounded,
    by_moments,
    e_size,
    enough,
    g_size,
    gradients,
    long_noise,
    losses,
    more,
    rest,
    rho_h,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, OnlySolution, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

cross = quantity(
    "cross_gd", "<grad F, noise>", loss=2, parameter=-2, printed="⟨∇F,ε⟩", latex=r"\langle\nabla F,\epsilon\rangle"
)
moved2 = quantity("moved2_gd", "||w_(t+1) - w_t||^2", parameter=2, printed="‖w_(t+1)-w_t‖²")
far2 = quantity("far2_gd", "||w_(t+1) - w_1||^2", parameter=2, printed="‖w_(t+1)-w₁‖²")
fallen = quantity("fallen_gd", "F(w_1) - F(w_(T+1))", loss=1, printed="F(w₁)-F(w_(T+1))")
noises2 = quantity("noises2_gd", "sum of the squared noises of all steps", loss=2, parameter=-2, printed="Σ‖ε_t‖²")
escape = quantity(
    "escape", "steps until F has fallen by Φ at a saddle point", printed="Γ", latex=r"\Gamma", holds=LIKELY
)
k = Symbol("k", positive=True)

released = gradients()
step_size = Eq(eta, 1 / M)
full_step = [*bounded, step_size]

# Privacy ---------------------------------------------------------------------------------------------
privacy = Claim(
    id="dwang20.theorem4.3.1.privacy",
    source=Source("dwang20", "Theorem 4.3.1, privacy", line=3879),
    kind=Kind.PRIVACY,
    says="There are c₁ and c₂ with which DP-GD is (ε, δ)-private for all ε < c₁T.",
    assumes=[*losses, eps < c1 * T],
    states=Eq(sigma_n, by_moments),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites=[Cites("dwang20.lemma2.1.7", {m: n})],
    checks=[
        Accountant(
            gradients(),
            "linear losses, all iterates seen: T cancels, so a condition on it limits nothing: true ε grows like ε²",
        )
    ],
)

privacy_corrected = Claim(
    id="dwang20.theorem4.3.1.privacy.corrected",
    source=Source("dwang20", "Theorem 4.3.1, privacy", line=3879),
    kind=Kind.PRIVACY,
    says="With c₂ = 8, for ε at most 1 and δ at most 1/4.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, by_moments.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem4.3.1.privacy",
    checks=[Accountant(gradients(), "T full gradients, each 2G/n apart")],
)

# One step --------------------------------------------------------------------------------------------
after_a_step = F_now - eta * (g_size**2 + cross) + M * eta**2 / 2 * (g_size**2 + 2 * cross + e_size**2)
SMOOTH = Premise("F is M-smooth, and w_(t+1) - w_t = -η(∇F + ε)")

lemma3 = Claim(
    id="dwang20.lemma4.3.3",
    source=Source("dwang20", "Lemma 4.3.3, with ‖∇F‖ where ‖F‖ is printed, as its proof has it", line=4153),
    kind=Kind.UTILITY,
    says="A long gradient makes F fall by ηα²/4.",
    assumes=[*full_step, g_size >= alpha, e_size <= alpha / 20],
    states=Le(F_next, F_now - eta * alpha**2 / 4),
    checks=[
        Chain(
            F_next,
            Step("<=", after_a_step, because=SMOOTH),
            Step("=", F_now - eta / 2 * (g_size**2 - e_size**2)),
            Step("<=", STATEMENT, where={g_size: alpha * (1 + more), e_size: alpha / 20 / (1 + rest)}),
        )
    ],
)

lemma5 = Claim(
    id="dwang20.lemma4.3.5",
    source=Source("dwang20", "Lemma 4.3.5", line=4169),
    kind=Kind.UTILITY,
    says="What any step gains.",
    assumes=full_step,
    states=Le(F_next, F_now - eta / 4 * g_size**2 + 5 * eta * e_size**2),
    checks=[
        Chain(
            F_next,
            Step("<=", after_a_step, because=SMOOTH),
            Step("=", F_now - eta / 2 * (g_size**2 - e_size**2)),
            Step("<=", STATEMENT),
        )
    ],
)

lemma6_step = Claim(
    id="dwang20.lemma4.3.6.step",
    source=Source("dwang20", "proof of Lemma 4.3.6, one step", line=4183),
    kind=Kind.UTILITY,
    says="How far one step goes, by what it gains.",
    assumes=full_step,
    states=Le(moved2, 8 * eta * (F_now - F_next) + 50 * eta**2 * e_size**2),
    checks=[
        Chain(
            moved2,
            Step("<=", 2 * eta**2 * g_size**2 + 2 * eta**2 * e_size**2, because=Premise("(x+y)² ≤ 2x² + 2y²")),
            Step(
                "<=",
                STATEMENT,
                because=Slack(seen=[8 * eta**2 * e_size**2], cited=[(8 * eta, Cites("dwang20.lemma4.3.5"))]),
            ),
        )
    ],
)

lemma6 = Claim(
    id="dwang20.lemma4.3.6",
    source=Source("dwang20", "Lemma 4.3.6", line=4179),
    kind=Kind.UTILITY,
    says="How far T steps go, by what they gain.",
    assumes=full_step,
    states=Le(far2, 8 * eta * T * fallen + 50 * eta**2 * T * noises2),
    checks=[
        Chain(
            far2,
            Step(
                "<=",
                T * (T * moved2),
                because=Premise(
                    "the triangle inequality and Cauchy-Schwarz, ‖w_(t+1)-w_t‖² being the mean over the steps"
                ),
            ),
            Step("<=", because=Cites("dwang20.lemma4.3.6.step")),
            Step(
                "=",
                T * (8 * eta * fallen + 50 * eta**2 * noises2),
                because=Premise("T times the mean gain is F(w₁)-F(w_(T+1)), T times the mean ‖ε‖² is Σ‖ε_t‖²"),
            ),
            Step("=", STATEMENT),
        )
    ],
)

# Leaving a saddle point ------------------------------------------------------------------------------
chi = log(d * M * B / (rho_h * alpha * gamma))

lemma2 = Claim(
    id="dwang20.lemma4.3.2",
    source=Source("dwang20", "Lemma 4.3.2, first inequality; the second is a condition on n", line=4147),
    kind=Kind.UTILITY,
    says="How long the noise of all T steps is at most; γ is ξ.",
    assumes=[*bounded, Eq(sigma_n, by_moments)],
    added=[gamma <= Rational(2, 5)],
    states=Le(long_noise, sqrt(2 * c * a * T * d) * G * log(4 * T / gamma) / (n * eps)),
    checks=[
        Chain(
            long_noise,
            Step(
                "<=",
                because=Cites(
                    "dwang20.lemma4.3.11.vector",
                    {gamma: gamma / (4 * T)},
                    granted="each of T steps fails with chance ξ/(4T)",
                ),
            ),
            Step("=", STATEMENT),
        )
    ],
)

lemma4 = Claim(
    id="dwang20.lemma4.3.4",
    source=Source("dwang20", "Lemma 4.3.4, with Γ = χc/(η√(ρα)) and η = 1/M", line=4163),
    kind=Kind.UTILITY,
    says="Steps until F has fallen by Φ from a saddle point, for every n that makes noise small enough; γ is ξ.",
    assumes=[*losses, step_size],
    states=Rate(escape, M / sqrt(rho_h * alpha) * chi),
    ignores_units=True,
    checks=[
        NoConstant(
            log(n) / 2,
            {
                n: k,
                M: Integer(1),
                rho_h: Rational(1, 4),
                alpha: Integer(1),
                d: Integer(1),
                B: Integer(10),
                gamma: Rational(1, 10),
                eta: Integer(1),
            },
            k,
            "F = -x²/4 near its saddle x₁ = 0, of curvature -√(ρα) = -1/2: a step multiplies x by 3/2 and adds noise "
            "of size 1/n, whatever the constants: x stays below any size for ln(n)/ln(3/2) steps but for a number",
            at=100.0,
        )
    ],
)

lemma4_corrected = Claim(
    id="dwang20.lemma4.3.4.corrected",
    source=Source("dwang20", "Lemma 4.3.4", line=4163),
    kind=Kind.UTILITY,
    says="With ln(n) beside χ: the smaller the noise, the longer it takes to be blown up to a step that counts.",
    assumes=[*losses, step_size],
    states=Rate(escape, M / sqrt(rho_h * alpha) * (chi + log(n))),
    ignores_units=True,
    corrects="dwang20.lemma4.3.4",
)

# How many records ------------------------------------------------------------------------------------
theorem1 = Claim(
    id="dwang20.theorem4.3.1",
    source=Source("dwang20", "Theorem 4.3.1, equation (4.56)", line=3881),
    kind=Kind.UTILITY,
    says="Records with which one of the iterates is an α-SOSP, T = Õ(MB/α²); logarithms are left out, that of n too.",
    assumes=[*losses, Eq(T, M * B / alpha**2)],
    states=Rate(enough, sqrt(M * B) * sqrt(a * d) * log(1 / gamma) * G / (eps * alpha**2)),
)

first_order = Claim(
    id="dwang20.theorem4.3.1.first_order",
    source=Source("dwang20", "after Theorem 4.3.1, first-order stationary points", line=3885),
    kind=Kind.UTILITY,
    says="√(d·ln(1/δ))/(εα²) records are enough for a gradient of length O(α): as many as (4.56), but for logarithms.",
    states=Eq(enough, sqrt(d * a) / (eps * alpha**2)),
    ignores_units=True,
    checks=[
        Chain(
            enough,
            Step(
                "=",
                STATEMENT,
                because=OnlySolution(
                    lambda x: [alpha - (d * a) ** Rational(1, 4) / sqrt(x * eps)],
                    only="the bound of [309, 328], as quoted, without its constant, falls to α as n grows",
                ),
            ),
        )
    ],
)
