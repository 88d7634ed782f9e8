"""MPC Grad P: gradient descent on gradients that are summed, with noise, inside the computation (lwang21, 6.3.2).

J is the mean over parties of each party's mean loss, so that parties of different sizes weigh the same. L-smooth is
said of the loss and used of J, regulariser included. Solver: dpcheck/solvers/distributed/mpc_grad_p.py. Run by parties:
dpcheck/parties/.
"""

from sympy import Add, Eq, Expr, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import (
    T,
    c1,
    c2,
    d,
    delta,
    eps,
    eps_out,
    excess_risk,
    gamma,
    n,
    quantity,
    t,
)
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.distributed.several_parties import (
    lam,
    n_least,
    parties,
    population_excess,
    smooth_losses,
    unit_ball,
)
from dpcheck.bounds.library.mechanisms.zcdp import rho
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

x = Symbol("x", nonnegative=True)  # how far a hypothesis is met

# Privacy -------------------------------------------------------------------------------------------
moves = 2 * G / (parties * n_least)
released = Release(moves, Gaussian(sigma_n), steps=T)  # T sums of gradients, all seen
released_up_to = Release(moves, Gaussian(sigma_n), steps=t)
released_by_each = Release(2 * G / n_least, Gaussian(sigma_n), steps=T)  # every party's own noisy gradients, seen
stated_noise = sqrt(8 * T * log(1 / delta)) * G / (parties * n_least * eps)
TURNS = "linear losses: a record that turns round moves every gradient of the smallest party by 2G/n₍₁₎"

theorem4 = Claim(
    id="lwang21.theorem6.3.4", kind=Kind.PRIVACY,
    source=Source("lwang21", "Theorem 6.3.4, (6.3.1)", line=11085),
    says="T sums of gradients with noise of variance 8G²T log(1/δ)/(m²n₍₁₎²ε²) are (ε, δ)-private, for any ε.",
    assumes=smooth_losses,
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, TURNS)],
)

theorem4_corrected = Claim(
    id="lwang21.theorem6.3.4.corrected", kind=Kind.PRIVACY,
    source=Source("lwang21", "Theorem 6.3.4, (6.3.1)", line=11085),
    says="The same noise, for ε at most 1.",
    assumes=[*smooth_losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    corrects="lwang21.theorem6.3.4",
    checks=[Accountant(released, TURNS)],
)


def through_zcdp(steps: Expr) -> Expr:
    """The ε that Lemmas 6.2.4 to 6.2.6 give, at δ, to so many steps."""
    spent = steps * moves**2 / (2 * sigma_n**2)
    return spent + 2 * sqrt(spent * log(1 / delta))


corollary5 = Claim(
    id="lwang21.corollary6.3.5", kind=Kind.PRIVACY,
    source=Source("lwang21", "Corollary 6.3.5, with the noise of (6.3.1)", line=11176),
    says="The iterate after t of T steps is (√(t/T)·ε, δ)-private, for any ε.",
    assumes=[*smooth_losses, Eq(sigma_n, stated_noise), t <= T],
    states=Eq(eps_out, sqrt(t / T) * eps),
    guarantee=ApproxDP(eps_out, delta),
    checks=[Accountant(released_up_to, TURNS)],
    cites=[Cites("lwang21.theorem6.3.4")],
)

corollary5_corrected = Claim(
    id="lwang21.corollary6.3.5.corrected", kind=Kind.PRIVACY,
    source=Source("lwang21", "Corollary 6.3.5", line=11176),
    says="So it is, whatever ε, where ε is what Lemmas 6.2.4 to 6.2.6 give T steps.",
    assumes=[*smooth_losses, t <= T],
    states=Le(eps_out, sqrt(t / T) * through_zcdp(T)),
    guarantee=ApproxDP(eps_out, delta),
    corrects="lwang21.corollary6.3.5",
    checks=[
        Chain(
            eps_out,
            Step("<=", because=Cites("dwang20.lemma2.1.10", {rho: t * moves**2 / (2 * sigma_n**2)}), uses=[unit_ball]),
            Step("<=", STATEMENT, where={T: t * (1 + x) ** 2}),
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
short_steps = Setting("step size 1/L, and J is L-smooth, regulariser included")
descent = [*smooth_losses, short_steps, lam <= L_s]
A_STEP = (
    "a noisy step of 1/L: J falls by ‖∇J‖²/(2L) and rises by ‖z‖²/(2L) (smooth, E z = 0), and ‖∇J‖² ≥ 2λ(J-J*) "
    "(strongly convex)"
)
falls = Induction(T, gap0, lambda gap: (1 - lam / L_s) * gap + d * sigma_n**2 / (2 * L_s), given=A_STEP)

theorem6_proof = Claim(
    id="lwang21.theorem6.3.6.proof", kind=Kind.UTILITY,
    source=Source("lwang21", "section 6.5.4", line=11990),
    says="The excess risk after T steps, for every T and noise.",
    assumes=descent,
    states=Le(excess_risk, (1 - lam / L_s) ** T * gap0 + d * sigma_n**2 / (2 * lam)),
    checks=[Chain(excess_risk, Step("<=", STATEMENT, because=falls, uses=[short_steps, unit_ball]))],
)

# log X steps for each L/λ: the proof's O hides L and λ.
X = parties**2 * n_least**2 * eps**2 / (d * log(1 / delta))
records = log(parties * n_least)
unit = G**2 * L_s * d * log(1 / delta) / (parties**2 * n_least**2 * lam**2 * eps**2)

starts = Setting("it starts where N is least, and X ≥ e, so that T ≥ 1")
steps_taken = Eq(T, L_s / lam * log(X))
many_records = parties * n_least >= 3
enough_steps = [
    steps_taken, many_records, eps <= sqrt(d * log(1 / delta)), starts,
]
explicit = unit * lam / (2 * L_s) + 8 * unit * records

theorem6_explicit = Claim(
    id="lwang21.theorem6.3.6.explicit", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.3.6", line=11190),
    says="The same with its constants: one logarithm of m n₍₁₎ is enough.",
    assumes=[*descent, *enough_steps],
    states=Le(excess_risk, explicit),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            excess_risk,
            Step("<=", because=Cites("lwang21.theorem6.3.6.proof", {sigma_n: stated_noise})),
            Step(
                "<=", unit * lam / (2 * L_s) + 4 * unit * log(X),
                because=Premise(
                    "(1-λ/L)^T ≤ exp(-λT/L) = 1/X, and J(θ₀)-J* ≤ ‖∇J(θ₀)‖²/(2λ) ≤ G²/(2λ) (strongly convex, Lipschitz)"
                ),
                uses=[steps_taken, starts, unit_ball],
            ),
            Step("<=", STATEMENT, where={eps: sqrt(d * log(1 / delta)) / (1 + x)}),
        )
    ],
)

theorem6 = Claim(
    id="lwang21.theorem6.3.6", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.3.6, T with the L and λ that its proof hides", line=11190),
    says="The excess risk of θ_T with the noise of (6.3.1), T = L/λ·log(m²n₍₁₎²ε²/(d log(1/δ))).",
    assumes=descent,
    added=enough_steps,
    states=Rate(excess_risk, unit * records**2),
    checks=[
        Chain(
            excess_risk,
            Step("<=", because=Cites("lwang21.theorem6.3.6.explicit")),
            Step(
                "<=", 9 * STATEMENT,
                because=Slack(
                    {"log(m n₍₁₎) ≥ 1": 8 * unit * (records**2 - records) + unit * (records**2 - 1)},
                    seen=[unit * (1 - lam / (2 * L_s))],
                ),
                uses=[many_records],
            ),
        )
    ],
)

independent = Setting("records are i.i.d.")
theorem7 = Claim(
    id="lwang21.theorem6.3.7", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.3.7", line=11242),
    says="The excess population risk is that of Theorem 6.3.6 and C₂G² log(1/γ)/(λn), n the number of all records.",
    assumes=[*descent, independent],
    added=[n >= parties * n_least],
    states=Le(population_excess, Add(c1 * unit * records**2, c2 * G**2 * log(1 / gamma) / (lam * n), evaluate=False)),
    hidden=[c1, c2],
    misprint_of="lwang21.theorem6.3.7.corrected",
    checks=[
        NoConstant(
            G**2 * (parties - 1) / (4 * lam * parties**2),
            {
                parties: parties, n_least: Integer(1), n: parties**3, d: Integer(1), eps: Integer(1), G: Integer(1),
                L_s: Integer(1), lam: Integer(1), delta: Rational(1, 10), gamma: Rational(1, 20),
            },
            parties,
            "losses Gxθ, x = ±1, N = θ²/2, and all parties but one of a single record: J weighs parties alike, so that "
            "its minimiser, where a step of 1/L leads, errs by G²/(2λ)·(Σ±1/(m n_j))², at least half its mean with "
            "chance 1/12 (Paley and Zygmund), and noise of mean 0 adds to it",
        )
    ],
    cites=[Cites("lwang21.theorem6.3.6")],
)

of_data = G**2 * log(1 / gamma) / (lam * parties * n_least)
theorem7_corrected = Claim(
    id="lwang21.theorem6.3.7.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "section 6.5.5, last display, with the L and λ of Theorem 6.3.6", line=12052),
    says="With m n₍₁₎ for n, as the proof has it, for parties of any sizes.",
    assumes=[*descent, independent],
    added=[*enough_steps, gamma <= Rational(1, 3)],
    states=Rate(population_excess, unit * records**2 + of_data),
    corrects="lwang21.theorem6.3.7",
    checks=[
        Chain(
            population_excess,
            Step(
                "<=", 2 * excess_risk + 16 * G**2 * (34 + 2 * log(1 / gamma)) / (lam * parties * n_least),
                because=Premise(
                    "Theorem 1 of SSS09 for m n₍₁₎ records of equal weight, n₍₁₎ of each party's at random: its tail "
                    "32 + x has a chance of e^(-x); J is the mean over such choices, which by Jensen and Markov for "
                    "e^(x/2) is above 32 + 2·log(2/γ) with a chance of γ at most"
                ),
                uses=[independent, unit_ball],
            ),
            Step("<=", because=Cites("lwang21.theorem6.3.6.explicit")),
            Step(
                "<=", 576 * STATEMENT,
                because=Slack(
                    {
                        "log(1/γ) ≥ 1": 544 * of_data * (1 - 1 / log(1 / gamma)),
                        "log(m n₍₁₎) ≥ 1": 16 * unit * (records**2 - records) + unit * (records**2 - 1),
                    },
                    seen=[unit * (1 - lam / L_s), 559 * unit * records**2],
                ),
                uses=[gamma <= Rational(1, 3), many_records],
            ),
        )
    ],
)

# Noise made of shares: what parties who pool theirs leave ------------------------------------------
curious = quantity("curious", "parties who pool what they know", box=(1, 1e3), integer=True, printed="c", latex="c")
share = quantity(
    "noise_share", "deviation of a party's share of the noise", loss=1, parameter=-1, printed="σ_share",
    latex=r"\sigma_{share}",
)
released_to_curious = Release(moves, Gaussian(sqrt(parties - curious) * share), steps=T)

shares = Claim(
    id="lwang21.section6.1.shares", kind=Kind.PRIVACY,
    source=Source("lwang21", "section 6.1, noise that parties draw themselves: √(m/k) for k honest ones", line=10436),
    says="Noise of (6.3.1) made of shares needs √(m/(m-c)) times as much, against c parties who know theirs.",
    assumes=[*smooth_losses, eps <= 1, delta <= Rational(1, 4), parties >= curious + 1],
    states=Eq(share, stated_noise / sqrt(parties - curious)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    checks=[Accountant(released_to_curious, f"{TURNS}; the noise of m-c parties is not known")],
)
