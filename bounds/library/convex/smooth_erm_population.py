"""Population risk of output-perturbation gradient descent (zhang17, section 3.1, after Theorems 2 and 3)."""

from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import (
    Delta_T,
    L,
    R,
    beta,
    d,
    delta,
    eps,
    gamma,
    mu,
    n,
    population_risk,
    quantity,
)
from dpcheck.bounds.library.convex.outpert_gd import strong_Delta
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Follows, Less, Minimises, Proof, Same, Units

extra, gap, v = (Symbol(name, nonnegative=True) for name in ("extra", "gap", "v"))
population_gap = quantity(
    "population_gap",
    "G(w_priv) - G(w*), for one sample",
    loss=1,
    printed="G(w_priv) - G(w*)",
    latex=r"G(w_{priv})-G(w^*)",
)
noise_length = quantity("noise_length", "norm of the noise", parameter=1, printed="‖z‖", latex=r"\|z\|")
opt_error = quantity("opt_error", "F(w_T) - F(w_hat)", loss=1, printed="Error_opt", latex=r"\mathrm{Error}_{opt}")
runs = quantity("runs", "independent runs to choose from", box=(1, 1e3), integer=True, printed="k", latex="k")

population_strong = Claim(
    id="zhang17.remark.population.strongly_convex",
    source=Source("zhang17", "section 3.1, after Theorem 2"),
    kind=Kind.UTILITY,
    says="Population risk of the (ε, δ)-private output, with probability 1-γ (logarithms dropped).",
    assumes=[Setting("strongly convex, smooth, Lipschitz in the ball")],
    states=Rate(population_risk, L * sqrt(beta * d) / (n * eps * mu * gamma)),
    checks=[Units()],
)

risk_gap = beta * L**2 * d * log(1 / delta) / (n**2 * eps**2 * mu**2)  # Theorem 2

population_strong_corrected = Claim(
    id="zhang17.remark.population.strongly_convex.corrected",
    source=Source("zhang17", "section 3.1, after Theorem 2"),
    kind=Kind.UTILITY,
    says="From the cited inequality √(2L²/μ)·√(F(w)-F(ŵ)) and Theorem 2 (first term; Markov adds γ^(-1/2)).",
    assumes=[Setting("strongly convex, smooth, Lipschitz in the ball")],
    states=Rate(population_risk, L**2 * sqrt(beta * d * log(1 / delta)) / (n * eps * mu ** Rational(3, 2))),
    corrects="zhang17.remark.population.strongly_convex",
    checks=[Units(), Follows(sqrt(2 * L**2 / mu) * sqrt(risk_gap), Rational(3, 2), "the cited inequality")],
)

population_convex = Claim(
    id="zhang17.remark.population.convex",
    source=Source("zhang17", "section 3.1, last paragraph"),
    kind=Kind.UTILITY,
    says="Population risk without strong convexity, through the regulariser (logarithms dropped).",
    assumes=[Setting("convex, smooth, Lipschitz in the ball of radius R")],
    states=Rate(population_risk, R * sqrt(L) * (beta * d) ** Rational(1, 4) / sqrt(n * eps * gamma)),
    checks=[Units()],
)

_A = L**2 * sqrt(beta * d) / (n * eps)
_balance = (_A / R**2) ** Rational(2, 5)

population_convex_corrected = Claim(
    id="zhang17.remark.population.convex.corrected",
    source=Source("zhang17", "section 3.1, last paragraph"),
    kind=Kind.UTILITY,
    says="Balancing the corrected bound with μR²/2 gives n^(-2/5), not n^(-1/2).",
    assumes=[Setting("convex, smooth, Lipschitz in the ball of radius R")],
    states=Rate(population_risk, R ** Rational(6, 5) * _A ** Rational(2, 5)),
    corrects="zhang17.remark.population.convex",
    checks=[
        Units(),
        Follows(_A * _balance ** Rational(-3, 2) + _balance * R**2 / 2, Rational(3, 2), "at μ = (A/R²)^(2/5)"),
    ],
)


# The printed second method ---------------------------------------------------------------------------
stability = Claim(
    id="zhang17.remark.population.stability",
    source=Source("zhang17", "section 3.1, the decomposition of the excess risk, printed without an expectation"),
    kind=Kind.UTILITY,
    says="G(w_priv) - G(w*) is at most L‖z‖ + Error_opt + LΔ_T, for every sample.",
    assumes=[Setting("strongly convex, smooth, Lipschitz in the ball")],
    states=Le(population_gap, L * noise_length + opt_error + L * Delta_T),
    checks=[
        AtMost(
            mu / 2,
            "losses μ/2·(w-ξ)², ξ = ±1 equally likely, all n drawn alike, no noise, T to infinity: w_T = 1, w* = 0; "
            "L = 2μ on [-1, 1] and Δ_T = 2/n",
            against=2 * mu * (2 / n),
        )
    ],
)

# Means over the sample: of G and F at w_T, of F at its minimiser and at w*.
G_T, F_T, F_hat, F_star, G_star, G_priv = symbols("G_T F_T F_hat F_star G_star G_priv", real=True)

stability_corrected = Claim(
    id="zhang17.remark.population.stability.corrected",
    source=Source("zhang17", "section 3.1, the decomposition of the excess risk"),
    kind=Kind.UTILITY,
    says="It holds on average over samples and noise.",
    assumes=[Setting("all sides in expectation over the sample"), Setting("Lipschitz where w_priv and w_T are")],
    states=Le(population_gap, L * noise_length + opt_error + L * Delta_T),
    corrects="zhang17.remark.population.stability",
    checks=[
        Adds(
            G_priv - G_star,
            {opt_error: F_T - F_hat},
            {
                "G is L-Lipschitz": L * noise_length - (G_priv - G_T),
                "a fresh record and a used one change places: E G(w_T) - E F(w_T) ≤ LΔ_T": L * Delta_T - (G_T - F_T),
                "ŵ minimises F": F_star - F_hat,
                "E F(w*) = G(w*)": G_star - F_star,
            },
        )
    ],
)

# With log(2/δ) for x: squares of the two terms that the noise and the stability bring, over the square of the bound.
x = Symbol("x", positive=True)
first = L**4 * beta * d * x / (n**2 * eps**2 * mu**3)

same_order = Claim(
    id="zhang17.remark.population.same_order",
    source=Source("zhang17", "section 3.1: the second method leads to nearly the same bound"),
    kind=Kind.UTILITY,
    says="The second method gives the order of the first as corrected, with log(2/δ), for ε at most 1.",
    assumes=[Setting("strongly convex, smooth, Lipschitz in the ball"), mu <= beta, eps <= 1],
    states=Rate(population_risk, L**2 * sqrt(beta * d * log(2 / delta)) / (n * eps * mu ** Rational(3, 2))),
    cites=[Cites("zhang17.lemma3"), Cites("zhang17.lemma7")],
    checks=[
        Proof(
            [
                Less(
                    "(L·E‖z‖)² ≤ L²·d·σ² with σ² = 2·log(2/δ)·Δ²/ε² is at most 200 times the square of the bound",
                    L**2 * d * 2 * x * strong_Delta**2 / eps**2,
                    200 * first,
                    {beta: mu + gap},
                ),
                Less(
                    "(LΔ_T)² at most 100/log 2 times it, as log(2/δ) ≥ log 2",
                    L**2 * strong_Delta**2 * log(2),
                    100 * first,
                    {beta: mu + gap, d: 1 + extra, eps: 1 / (1 + v), x: log(2) + Symbol("more", nonnegative=True)},
                ),
            ],
            "L‖z‖ and LΔ_T are of that order; Error_opt falls with T as fast as one likes",
        )
    ],
)

boosting = Claim(
    id="zhang17.remark.population.boosting",
    source=Source("zhang17", "section 3.1, footnote 2: log(1/γ) for 1/γ"),
    kind=Kind.UTILITY,
    says="Runs that each fail with probability 1/2 need only be log₂(1/γ), rounded up, for all to fail with at most γ.",
    assumes=[gamma <= Rational(1, 2), Setting("independent runs; the best of them is known")],
    states=Rate(runs, log(1 / gamma)),
    checks=[
        Proof([Same("2^-log₂(1/γ) = γ", Integer(2) ** (-log(1 / gamma) / log(2)), gamma)], "as many do"),
        Follows(log(1 / gamma) / log(2) + 1, Integer(3), "log₂(1/γ) rounded up", {gamma: exp(-extra) / 2}),
    ],
)

risk_of_mu = L * sqrt(beta * d) / (n * eps * mu * gamma) + mu * R**2 / 2
printed_mu = sqrt(2) * sqrt(L) * (beta * d) ** Rational(1, 4) / sqrt(n * eps * gamma)

regulariser = Claim(
    id="zhang17.remark.population.regulariser",
    source=Source("zhang17", "section 3.1, last paragraph: the regulariser's μ"),
    kind=Kind.UTILITY,
    says="μ = √2·L^(1/2)(βd)^(1/4)/√(nεγ) balances the stated bound L√(βd)/(nεμγ) with μR²/2.",
    states=Eq(mu, printed_mu),
    ignores_units=True,
    checks=[Minimises(risk_of_mu, mu, None, "L√(βd)/(nεμγ) + μR²/2")],
)

regulariser_corrected = Claim(
    id="zhang17.remark.population.regulariser.corrected",
    source=Source("zhang17", "section 3.1, last paragraph: the regulariser's μ"),
    kind=Kind.UTILITY,
    says="The same over R.",
    states=Eq(mu, printed_mu / R),
    corrects="zhang17.remark.population.regulariser",
    ignores_units=True,
    checks=[Minimises(risk_of_mu, mu, None, "L√(βd)/(nεμγ) + μR²/2")],
)
