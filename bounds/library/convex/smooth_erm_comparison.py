"""What zhang17 concludes from its theorems: Table 1, the remarks of section 3.1, population risk, Table 3."""

from sympy import Eq, Expr, Integer, Le, Min, Rational, Symbol, exp, log, sqrt, symbols, true

from dpcheck.bounds.language.claim import Claim, Hypothesis, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import (
    D_F,
    D,
    Delta_T,
    L,
    R,
    T,
    beta,
    d,
    delta,
    eps,
    excess_risk,
    gamma,
    mu,
    n,
    population_risk,
    quantity,
    ratio,
    run_time,
)
from dpcheck.bounds.library.convex.bassily_sgd import bassily_approx, bassily_pure
from dpcheck.bounds.library.convex.outpert_gd import (
    APPROX_T,
    ENOUGH_STEPS,
    LARGE_X,
    after_enough,
    after_T_steps,
    approx_rate,
    strong_steps_approx,
    strong_steps_pure,
    theorem2_approx,
    theorem2_pure,
)
from dpcheck.bounds.library.nonconvex.rrpsgd import theorem5_rate
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.derivations import Implied
from dpcheck.bounds.proving.implications import read
from dpcheck.bounds.proving.proofs import NoConstant, Units
from dpcheck.bounds.proving.tables import Cell, Row, Table

# Table 1 -------------------------------------------------------------------------------------------
units = {L: 1, beta: 1, mu: 1, D: 1, D_F: 1}  # it keeps n, d, ε and δ only
u, v = symbols("u v", nonnegative=True)


def units_of(claim: Claim) -> dict[Symbol, int]:
    """Those of its symbols that the table drops."""
    return {s: one for s, one in units.items() if s in claim.symbols}


def at_units(claim: Claim, added: bool = False) -> list[Hypothesis]:
    """Its hypotheses there: those that are printed, or those that we added."""
    some = [h for h in claim.assumes if (h in claim.added) == added]
    return [h for h in (read(h, units_of(claim)) for h in some) if h != true]


def utility(name: str, line: int, says: str, rate: Expr, of: Claim, **how: object) -> Claim:
    """A cell on the error: the theorem that it sums up, with its constants dropped."""
    return Claim(
        id=f"zhang17.table1.{name}", kind=Kind.UTILITY,
        source=Source("zhang17", "Table 1, utility", line),
        says=says,
        assumes=at_units(of),
        added=at_units(of, added=True),
        states=Rate(of.subject, rate),
        ignores_units=True,
        checks=[Implied(of, "its constants dropped", units_of(of), **how)],  # type: ignore[arg-type]
    )


table1_pure = utility(
    "strongly_convex.pure", 40, "Strongly convex, ε-DP: utility in n, d and ε.", d**2 / (n**2 * eps**2), theorem2_pure
)
table1_approx = utility(
    "strongly_convex.approx", 41, "Strongly convex, (ε, δ)-DP: utility in n, d, ε and δ.",
    d * log(1 / delta) / (n**2 * eps**2), theorem2_approx,
)
table1_nonconvex = utility(
    "nonconvex", 42, "Non-convex: mean squared gradient in n, d, ε and δ.",
    sqrt(d) / (n * eps) * log(n / delta), theorem5_rate, cover={n: 2 * exp(u), delta: exp(-v) / 2},
)


def run_times(name: str, line: int, says: str, cost: Expr, per_step: Expr, steps: Eq, **more: object) -> Claim:
    """A cell on the run time: operations a step times the steps that the theorem takes."""
    return Claim(
        id=f"zhang17.table1.{name}.time", kind=Kind.COST,
        source=Source("zhang17", "Table 1, run time", line),
        says=says,
        assumes=[steps],
        states=Rate(run_time, cost),
        ignores_units=True,
        checks=[
            Chain(
                run_time,
                Step("=", per_step * T, because=Premise("each iteration requires O(nd) computation, O(d) a record")),
                Step("<=", 4 * STATEMENT, where={delta: exp(-v) / 2} if delta in cost.free_symbols else {}),
            )
        ],
        **more,  # type: ignore[arg-type]
    )


table1_time_pure = run_times(
    "strongly_convex.pure", 40, "Strongly convex, ε-DP: operations, with T of Theorem 2.",
    n * d * log(n * eps / d), n * d, Eq(T, strong_steps_pure.subs(units)),
)
table1_time_approx = run_times(
    "strongly_convex.approx", 41, "Strongly convex, (ε, δ)-DP: operations, log(δ) under the root read as log(1/δ).",
    n * d * log(n * eps / sqrt(d * log(1 / delta))), n * d, Eq(T, strong_steps_approx.subs(units)),
    added=[delta <= Rational(1, 2)], provenance=Provenance.READING,
)
table1_time_nonconvex = run_times(
    "nonconvex", 42, "Non-convex: operations, in at most n² rounds.", n**2 * d, d, Le(T, n**2)
)

per_step = "nd operations a step, T of the theorem"
table1 = Table(
    id="zhang17.table1",
    source=Source("zhang17", "Table 1", 44),
    title="Comparison with existing results",
    keeps=dict.fromkeys(("utility", "run time"), ("n", "d", "eps", "delta")),
    rows=[
        Row(name, {"utility": Cell(error.formula, theorem), "run time": Cell(time, theorem, derived, how)})
        for name, error, time, theorem, derived, how in [
            ("ours, μ-strongly convex, ε-DP", table1_pure, table1_time_pure.formula,
             "zhang17.theorem2.pure", lambda _: n * d * strong_steps_pure, per_step),
            ("ours, μ-strongly convex, (ε, δ)-DP", table1_approx, n * d * log(n * eps / sqrt(d * log(delta))),
             "zhang17.theorem2.approx", lambda _: n * d * strong_steps_approx, per_step),
            ("ours, nonconvex", table1_nonconvex, n**2 * d,
             "zhang17.theorem5.rate", lambda _: n**2 * d, "n² rounds"),
            ("Bassily et al., μ-strongly convex, ε-DP", bassily_pure, n**3 * d**3 * Min(1, eps * n, d * log(d * n)),
             None, lambda e: e, ""),
            ("Bassily et al., μ-strongly convex, (ε, δ)-DP", bassily_approx, n**2 * d, None, lambda e: e, ""),
        ]
    ] + [Row("Bassily et al., nonconvex", {"utility": Cell("NA"), "run time": Cell("NA")})],
)

lower_bound = d / (n**2 * eps**2)

matches = Claim(
    id="zhang17.section1.matches_lower_bound", kind=Kind.UTILITY,
    source=Source("zhang17", "section 1, contribution 1 and its footnote", 48),
    says="In n and d, Theorem 2 matches the lower bound of Bassily et al. (μ a constant): their ratio has neither.",
    assumes=at_units(theorem2_approx),
    added=[*at_units(theorem2_approx, added=True), d <= n**2 * eps**2],
    states=Rate(ratio, log(1 / delta)),
    checks=[
        Chain(
            ratio,
            Step(
                "=",
                excess_risk / lower_bound,
                because=Premise("Bassily et al.: d/(n²ε²) where d ≤ n²ε²"),
                uses=[d <= n**2 * eps**2],
            ),
            Step("<=", because=Cites("zhang17.theorem2.approx.proof.corrected", units_of(theorem2_approx))),
            Step("<=", after_T_steps.subs(units) / lower_bound, because=ENOUGH_STEPS, uses=[APPROX_T, LARGE_X]),
            Step("<=", 201 * STATEMENT),
        )
    ],
)

# Remarks on Theorem 3 ------------------------------------------------------------------------------
convex_bound = approx_rate.subs({**units, eps: 1, delta: exp(-1)})  # (√d/n)^(2/3)

weaker = Claim(
    id="zhang17.remark.weaker", kind=Kind.UTILITY,
    source=Source("zhang17", "section 3.1, after Theorem 3", 208),
    says="The convex bound is weaker than Bassily et al.'s √d/n by a factor of n^(1/3).",
    states=Rate(ratio, n ** Rational(1, 3)),
    checks=[
        Chain(
            ratio,
            Step("=", convex_bound / (sqrt(d) / n), because=Premise("Theorem 3 over the bound of [1], in n and d")),
            Step("<=", STATEMENT),
        )
    ],
)

below_sampling = Premise("the (ε, δ) bound of Theorem 3 over n^(-1/2), in n and d")

d_below_n = Claim(
    id="zhang17.remark.d_below_n", kind=Kind.UTILITY,
    source=Source("zhang17", "section 3.1, after Theorem 3", 208),
    says="When d < n the convex bound is below the generalisation error n^(-1/2): their ratio stays bounded.",
    assumes=[d < n],
    states=Rate(ratio, Integer(1)),
    checks=[NoConstant(convex_bound * sqrt(n), {n: n, d: n / 2}, n, "Theorem 3's (√d/n)^(2/3) over n^(-1/2), d = n/2")],
)

d_below_n_corrected = Claim(
    id="zhang17.remark.d_below_n.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "section 3.1, after Theorem 3", 208),
    says="It takes d ≤ √n.",
    assumes=[d <= sqrt(n)],
    states=Rate(ratio, Integer(1)),
    corrects="zhang17.remark.d_below_n",
    checks=[Chain(ratio, Step("=", convex_bound * sqrt(n), because=below_sampling), Step("<=", STATEMENT))],
)

# Population risk -----------------------------------------------------------------------------------
population_strong = Claim(
    id="zhang17.remark.population.strongly_convex", kind=Kind.UTILITY,
    source=Source("zhang17", "section 3.1, after Theorem 2; the 2 on it marks a footnote, as its use below shows", 181),
    says="Population risk of the (ε, δ)-private output, with probability 1-γ (logarithms dropped).",
    assumes=[Setting("μ-strongly convex, β-smooth, L-Lipschitz in the ball")],
    states=Rate(population_risk, L * sqrt(beta * d) / (n * eps * mu * gamma)),
    checks=[Units()],
)

theorem2_explicit = Claim(
    id="zhang17.theorem2.approx.explicit", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 2, part 2", 161),
    says="The same with a constant.",
    assumes=theorem2_approx.assumes,
    states=Le(excess_risk, 201 * theorem2_approx.formula),
    provenance=Provenance.CONSEQUENCE,
    checks=[after_enough("zhang17.theorem2.approx.proof.corrected", after_T_steps, STATEMENT, APPROX_T)],
)

INDEPENDENT = Setting("records drawn independently, w* in the ball of radius R")

population_strong_corrected = Claim(
    id="zhang17.remark.population.strongly_convex.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "section 3.1, after Theorem 2", 181),
    says="What the inequality cited there makes of Theorem 2, with probability 1-γ.",
    assumes=[*theorem2_approx.assumes, INDEPENDENT],
    states=Rate(
        population_risk,
        L**2 * sqrt(beta * d * log(1 / delta)) / (n * eps * mu * sqrt(mu * gamma)) + L**2 / (gamma * mu * n),
    ),
    corrects="zhang17.remark.population.strongly_convex",
    checks=[
        Chain(
            population_risk,
            Step(
                "<=",
                2 * L / sqrt(mu * gamma) * sqrt(excess_risk) + 8 * L**2 / (gamma * mu * n),
                because=Premise(
                    "√(2L²/μ)·√(F(w)-F(ŵ)) + 4L²/(μn·γ/2) by [21], and F(w_priv)-F(ŵ) by Markov's inequality, each but "
                    "for γ/2"
                ),
                uses=[INDEPENDENT],
            ),
            Step("<=", because=Cites("zhang17.theorem2.approx.explicit")),
            Step("<=", 29 * STATEMENT),
        )
    ],
)

population_convex = Claim(
    id="zhang17.remark.population.convex", kind=Kind.UTILITY,
    source=Source("zhang17", "section 3.1, last paragraph", 208),
    says="Population risk without strong convexity, through a regulariser (logarithms dropped).",
    assumes=[Setting("convex, β-smooth, L-Lipschitz in the ball of radius R")],
    states=Rate(population_risk, R * sqrt(L) * (beta * d) ** Rational(1, 4) / sqrt(n * eps * gamma)),
    checks=[Units()],
)

population_gap = quantity("population_gap", "E G(w_priv) - G(w*)", loss=1, printed="E G(w_priv) - G(w*)")
noise_length = quantity("noise_length", "mean norm of the noise", parameter=1, printed="E ‖z‖")
opt_error = quantity("opt_error", "E F(w_T) - F(ŵ)", loss=1, printed="Error_opt", latex=r"\mathrm{Error}_{opt}")
G_priv, G_T, G_star, F_T = symbols("G_priv G_T G_star F_T", real=True)  # means over samples and noise

stability = Claim(
    id="zhang17.remark.population.stability", kind=Kind.UTILITY,
    source=Source("zhang17", "section 3.1, the decomposition of the excess risk, in expectation as in [11]", 184),
    says="The population risk is at most L‖z‖ + Error_opt + LΔ_T, on average over samples and noise.",
    assumes=[Setting("each loss is L-Lipschitz where w_priv and w_T are")],
    states=Le(population_gap, L * noise_length + opt_error + L * Delta_T),
    provenance=Provenance.READING,
    checks=[
        Chain(
            population_gap,
            Step("=", G_priv - G_star, because=Premise("G(w) the risk of a fresh record")),
            Step("<=", STATEMENT, because=Slack(given={
                "G is L-Lipschitz": L * noise_length - (G_priv - G_T),
                "a fresh record and a used one change places: E G(w_T) - E F(w_T) ≤ LΔ_T": L * Delta_T - (G_T - F_T),
                "F(ŵ) ≤ F(w*), whose mean is G(w*)": opt_error - (F_T - G_star),
            })),
        )
    ],
)

# Table 3: error and CPU time, ours and theirs, at ε = 0.1, 0.5, 1 and 2, without and with strong convexity ------------
TABLE3 = {
    "BANK": """0.3983 2.2552 12.613 518.67  0.2231 1.4585 36.796 519.33  0.1459 1.0203 58.305 519.02
               0.0838 0.7824 92.501 518.27  0.2566 0.4829 20.483 518.03  0.0106 0.4090 40.541 519.44
               0.0025 0.3387 49.311 516.73  0.0005 0.2475 57.947 520.17""",
    "ADULT": """0.0499 0.6229 23.813 250.50  0.0208 0.6081 69.536 254.14  0.0122 0.4781 110.20 254.18
                0.0065 0.3691 175.01 253.72  3.2039 5.2166 112.09 256.70  0.1287 5.1532 193.98 255.36
                0.0309 5.1148 229.23 255.69  0.0080 5.1009 264.23 257.23""",
    "CreditCard": """0.0293 0.4106 4.9595 190.30  0.0102 0.4220 14.591 190.89  0.0053 0.3140 22.983 188.67
                     0.0024 0.2708 36.721 188.86  0.3643 1.3271 13.664 190.36  0.0141 1.2973 22.012 189.97
                     0.0035 1.2792 25.743 188.81  0.0008 1.2501 29.256 187.97""",
    "WINE": """0.6061 6.1755 0.1672 6.3859  0.2487 4.1900 0.4328 6.3828  0.1713 3.0972 0.7469 6.4234
               0.1110 1.3609 1.1719 6.3016  1.0842 8.2900 0.0922 6.4328  0.0364 7.9584 0.1437 6.3625
               0.0101 6.5471 0.1891 6.5391  0.0024 5.3811 0.1812 6.4484""",
    "BIKE": """5.4659 35.279 0.1531 6.4953  4.0404 30.822 0.4375 6.2375  3.2768 27.196 0.6922 6.2734
               2.4081 23.865 1.1766 6.3969  0.0555 3.0770 0.1031 6.5766  0.0301 3.0448 0.1578 6.5094
               0.0242 2.1792 0.1625 6.4094  0.0232 1.0406 0.1984 6.3625""",
}


def ahead(first: int) -> list[bool]:
    """In which rows the column is below the next one."""
    numbers = [[float(word) for word in cells.split()] for cells in TABLE3.values()]
    return [ours < theirs for row in numbers for ours, theirs in zip(row[first::4], row[first + 1 :: 4], strict=True)]


outperforms = Claim(
    id="zhang17.table3.outperforms", kind=Kind.EXPERIMENT,
    source=Source("zhang17", "section 4, on Table 3", 288),
    says="Algorithm 1 outperforms mini-batch private SGD on both error and run time under almost all settings.",
    states=Le(ratio, 1),
    checks=[Counted({"error": ahead(0), "time": ahead(2)}, 0.9, "the numbers that the document prints")],
)
