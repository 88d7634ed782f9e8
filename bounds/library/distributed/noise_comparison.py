"""How much noise each method adds (lwang21, Table 6.1 and section 6.4), and what the computation costs (Table 6.2).

Baselines: Pathak (PRR10) adds one draw, for the smallest party's minimiser; in Local Out P, Obj P and Grad P every
party adds noise to its minimiser, its objective, its gradients. Gaussian columns have no log(1/δ), unlike (6.3.1).
Baselines run in dpcheck/solvers/distributed/; measured by dpcheck/evidence/distributed/noise_comparison.py.
"""

from collections.abc import Callable

from sympy import Eq, Expr, Gt, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source, convex, lipschitz, smooth, strongly_convex
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import T, d, delta, eps, n, quantity, ratio, sigma
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, sigma_n
from dpcheck.bounds.library.distributed import mpc_grad_p, mpc_out_p
from dpcheck.bounds.library.distributed.several_parties import lam, n_least, parties, smooth_losses
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.proofs import AtMost, Equals, PrintedCells
from dpcheck.bounds.proving.steps import Less

SETTING = {parties: 100, n_least: 500, lam: Rational(1, 100), eps: Rational(1, 2), G: 1, T: 100}
gaussian_column = sqrt(2 * T) * G / (n_least * eps)  # of one party; √m or m below it makes the two columns


def within(formula: Expr, at: dict[Symbol, Expr], printed: Expr, half: Expr) -> Less:
    """A printed cell is within so much of the formula."""
    return Less(f"printed {float(printed):g}", abs(formula.subs(at).evalf(30) - printed), half)


def column(name: str, scale: Symbol, formula: Expr, printed: Expr, last_digit: Expr, *others: Equals) -> Claim:
    """The scale that a method's noise is drawn with, in thousandths."""
    cells: Callable[[Expr], list[Less]] = lambda of: [within(1000 * of, SETTING, printed, last_digit / 2)]  # noqa: E731
    return Claim(
        id=f"lwang21.table6.1.{name}", kind=Kind.IDENTITY,
        source=Source("lwang21", "Table 6.1, analytical bound and noise generation input", line=11307),
        says=f"{float(printed):g} thousandths at m = 100, n₍₁₎ = 500, λ = 0.01, ε = 0.5, G = 1 and T = 100.",
        assumes=[lipschitz(G), *([strongly_convex(lam)] if formula.has(lam) else [])],
        states=Eq(scale, formula),
        checks=[PrintedCells(cells, "as printed"), *others],
    )


hundredth = Rational(1, 100)
pathak = column("pathak", sigma, 2 * G / (n_least * lam * eps), Integer(800), Integer(1))
local_out = column("local_out_p", sigma, 2 * G / (sqrt(parties) * n_least * lam * eps), Integer(80), Rational(1, 10))
local_obj = column("local_obj_p", sigma_n, 2 * G / (n_least * eps), Integer(8), hundredth)
WITHOUT = "(6.3.1) without its factor 2√log(1/δ)"  # T and m are 100 both: the cell cannot tell them apart
plain_noise = mpc_grad_p.stated_noise / (2 * sqrt(log(1 / delta)))
of_each = Equals(plain_noise.subs(parties, 1) / sqrt(parties), f"{WITHOUT}, of one party, averaged over m")
local_grad = column("local_grad_p", sigma_n, gaussian_column / sqrt(parties), Rational(566, 100), hundredth, of_each)
mpc_out = column("mpc_out_p", sigma, mpc_out_p.moves / eps, Integer(8), hundredth)
of_all = Equals(plain_noise, WITHOUT)
mpc_grad = column("mpc_grad_p", sigma_n, gaussian_column / parties, Rational(57, 100), hundredth, of_all)

generated = Claim(
    id="lwang21.table6.1.generated", kind=Kind.EXPERIMENT,
    source=Source("lwang21", "Table 6.1, last row", line=11325),
    says="The deviations of 1,000 samples of each noise, as printed, are within five standard errors of its scale's.",
    states=Le(ratio, 1),
)

# Which of them keep the budget that section 6.4 says all of them keep ------------------------------
budget = Source("lwang21", "section 6.4 of all methods but one, with the noise of Table 6.1", line=11406)

grad_budget = Claim(
    id="lwang21.section6.4.budget.mpc_grad_p", kind=Kind.PRIVACY,
    source=budget,
    says="T sums of gradients with noise of deviation √(2T)·G/(m n₍₁₎ ε) keep the budget ε, at δ = 0.001.",
    assumes=smooth_losses,
    states=Eq(sigma_n, gaussian_column / parties),
    guarantee=ApproxDP(eps, Rational(1, 1000)),
    checks=[Accountant(mpc_grad_p.released, mpc_grad_p.TURNS)],
)

grad_budget_corrected = Claim(
    id="lwang21.section6.4.budget.mpc_grad_p.corrected", kind=Kind.PRIVACY,
    source=budget,
    says="With the factor 2√log(1/δ) of (6.3.1), for ε at most 1.",
    assumes=[*smooth_losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, 2 * sqrt(log(1 / delta)) * gaussian_column / parties),
    guarantee=ApproxDP(eps, delta),
    corrects="lwang21.section6.4.budget.mpc_grad_p",
    checks=[Accountant(mpc_grad_p.released, mpc_grad_p.TURNS)],
)

# J + ⟨b, θ⟩ is least at θ if b = -∇J(θ): its density is that of b there, times the determinant of J's curvature.
objective = [convex(), lipschitz(G), smooth(L_s), strongly_convex(lam)]
bends = log(1 + L_s / (n_least * lam))
AT_ZERO = (
    "logistic loss, m = 1,000 and what else section 6.4 says: with one record of x = 1 and the others of x = 0, along "
    "an axis, J has at θ = 0 a slope of 1/(2n₍₁₎) and 1 + L/(n₍₁₎λ) times the curvature that it has if all have x = 0"
)
ANYWHERE = (
    "θ has density exp(-‖∇J(θ)‖/σ)·det ∇²J(θ): a record changes the norm by 2G/n₍₁₎ at most, and the determinant by "
    "a factor of 1 + L/(n₍₁₎λ), as its own loss bends along one x alone"
)

obj_budget = Claim(
    id="lwang21.section6.4.budget.local_obj_p", kind=Kind.PRIVACY,
    source=budget,
    says="The minimiser of J + ⟨b, θ⟩ with b of scale 2G/(n₍₁₎ε) keeps the budget ε.",
    assumes=objective,
    states=Eq(sigma_n, 2 * G / (n_least * eps)),
    guarantee=PureDP(eps),
    checks=[
        AtMost(
            bends - G / (2 * n_least * sigma_n), AT_ZERO, against=eps,
            box={G: (1, 1), L_s: (0.25, 0.25), n_least: (50, 50), lam: (1e-3, 1e-3), eps: (0.5, 0.5)},
        )
    ],
)

obj_budget_corrected = Claim(
    id="lwang21.section6.4.budget.local_obj_p.corrected", kind=Kind.PRIVACY,
    source=budget,
    says="The curvature of a loss costs log(1 + L/(n₍₁₎λ)) of it; what is left is for the noise.",
    assumes=[*objective, Gt(eps, bends)],
    added=[Setting("losses of ⟨x, θ⟩, all twice differentiable; b has density exp(-‖b‖₂/σ)")],
    states=Eq(sigma_n, 2 * G / (n_least * (eps - bends))),
    guarantee=PureDP(eps),
    corrects="lwang21.section6.4.budget.local_obj_p",
    checks=[AtMost(2 * G / (n_least * sigma_n) + bends, ANYWHERE, against=eps)],
)

less_noise = Claim(
    id="lwang21.section6.1.less_noise", kind=Kind.IDENTITY,
    source=Source("lwang21", "section 6.1", line=10471),
    says="Noise that is added inside, once, is √m times smaller than the average of m parties' own.",
    states=Eq(ratio, sqrt(parties)),
    checks=[
        Equals(
            mpc_grad_p.released_by_each.sensitivity / sqrt(parties) / mpc_grad_p.released.sensitivity,
            "noise is in proportion to sensitivity: of a party's for m draws that are averaged, of the average for one",
        )
    ],
)

aggregation = Claim(
    id="lwang21.section6.4.aggregation", kind=Kind.EXPERIMENT,
    source=Source("lwang21", "section 6.4, Results, of the methods that average models (Figure 6.3)", line=11424),
    says="MPC Out P has a smaller optimality gap than Local Obj P, Local Out P and Pathak, with noise as in Table 6.1.",
    added=[Setting("synthetic records stand in for KDDCup99: 50,000 of them, d = 122, 100 parties")],
    states=Le(ratio, 1),
)

# What the computation costs ------------------------------------------------------------------------
gates = quantity("gates", "gates of the garbled circuit", box=(1, 1e9), printed="gates")
FEATURES, GATES = (104, 122, 95), (40_733_500, 47_781_200, 37_209_600)

table6_2 = Claim(
    id="lwang21.table6.2", kind=Kind.COST,
    source=Source("lwang21", "section 6.7, last sentence on Table 6.2", line=12308),
    says="Roughly 391,600 gates a feature, in the three columns of the table; roughly is within a thousandth.",
    states=Eq(gates, 391_600 * d),
    checks=[
        PrintedCells(
            lambda of: [
                within(of, {d: Integer(width)}, Integer(printed), Rational(printed, 1000))
                for width, printed in zip(FEATURES, GATES, strict=True)
            ],
            "three columns",
        )
    ],
)

split_among = n / parties  # records of a party, of n in all
flat = Claim(
    id="lwang21.section6.6.flat", kind=Kind.IDENTITY,
    source=Source("lwang21", "section 6.6.1, first sentence, of MPC Grad P", line=12080),
    says="Among how many parties of one size records are divided changes neither J nor the noise, nor what it attains.",
    states=Eq(ratio, 1),
    checks=[
        Equals(
            mpc_grad_p.stated_noise.subs(n_least, split_among) / mpc_grad_p.stated_noise.subs({parties: 1, n_least: n}),
            "J is the mean over all n records, and (6.3.1) the same as for one party that holds them all",
        )
    ],
)
