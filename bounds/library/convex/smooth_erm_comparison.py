"""How the bounds of zhang17 compare: Table 1 and the remarks on it."""

from sympy import Eq, Integer, Le, Min, Rational, Symbol, diff, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import (
    D,
    L,
    beta,
    d,
    delta,
    eps,
    excess_risk,
    gradient_norm2,
    mu,
    n,
    ratio,
    run_time,
)
from dpcheck.bounds.library.convex.outpert_gd import (
    approx_steps,
    pure_steps,
    strong_steps_approx,
    strong_steps_pure,
    theorem2_approx,
    theorem2_pure,
)
from dpcheck.bounds.proving.proofs import AtMost, Equals, Follows, Less, Proof, Quoted, Same
from dpcheck.bounds.proving.tables import Cell, Row, Table

a, v, more = (Symbol(name, nonnegative=True) for name in ("a", "v", "more"))
big = Symbol("big", positive=True)
constants = {L: 1, beta: 1, mu: 1, D: 1}  # Table 1 keeps only n, d, eps, delta

# Table 1 -------------------------------------------------------------------------------------------
table1_sc_pure = Claim(
    id="zhang17.table1.strongly_convex.pure",
    source=Source("zhang17", "Table 1, row 1, utility"),
    kind=Kind.UTILITY,
    says="Strongly convex, ε-DP: utility in n, d and ε.",
    states=Rate(excess_risk, d**2 / (n**2 * eps**2)),
    ignores_units=True,
    checks=[Follows(theorem2_pure.formula.subs(constants), Integer(1), "Theorem 2 with its constants dropped")],
)

table1_sc_approx = Claim(
    id="zhang17.table1.strongly_convex.approx",
    source=Source("zhang17", "Table 1, row 2, utility"),
    kind=Kind.UTILITY,
    says="Strongly convex, (ε, δ)-DP: utility in n, d, ε and δ.",
    states=Rate(excess_risk, d * log(1 / delta) / (n**2 * eps**2)),
    ignores_units=True,
    checks=[Follows(theorem2_approx.formula.subs(constants), Integer(1), "Theorem 2 with its constants dropped")],
)

per_step_cost = n * d
times = 4  # T of Theorem 2 with its constants dropped is 2 log(x^2) = 4 log x
steps_pure = strong_steps_pure.subs(constants)
steps_approx = strong_steps_approx.subs(constants)

table1_time_pure = Claim(
    id="zhang17.table1.strongly_convex.pure.time",
    source=Source("zhang17", "Table 1, row 1, run time"),
    kind=Kind.COST,
    says="Strongly convex, ε-DP: operations.",
    states=Rate(run_time, n * d * log(n * eps / d)),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "nd per step, T of Theorem 2: 2·log(x²) = 4·log x with x = nε/d",
                    (per_step_cost * steps_pure).subs(eps, big * d / n),
                    times * per_step_cost * log(big),
                )
            ],
            f"{times} times the cell",
        )
    ],
)

table1_time_approx = Claim(
    id="zhang17.table1.strongly_convex.approx.time",
    source=Source("zhang17", "Table 1, row 2, run time"),
    kind=Kind.COST,
    says="Strongly convex, (ε, δ)-DP: operations, with log(δ) under the root.",
    states=Eq(run_time, n * d * log(n * eps / sqrt(d * log(delta)))),
    ignores_units=True,
    checks=[Equals(per_step_cost * steps_approx / times, "nd per step, T of Theorem 2, over 4; log δ is negative")],
)

table1_time_approx_corrected = Claim(
    id="zhang17.table1.strongly_convex.approx.time.corrected",
    source=Source("zhang17", "Table 1, row 2, run time"),
    kind=Kind.COST,
    says="The same with log(1/δ).",
    states=Eq(run_time, n * d * log(n * eps / sqrt(d * log(1 / delta)))),
    corrects="zhang17.table1.strongly_convex.approx.time",
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "2·log(x²) = 4·log x with x = nε/√(d·log(1/δ))",
                    (per_step_cost * steps_approx).subs(eps, big * sqrt(d * log(1 / delta)) / n),
                    times * per_step_cost * log(big),
                )
            ],
            f"{times} times the cell",
        )
    ],
)

table1_nonconvex = Claim(
    id="zhang17.table1.nonconvex",
    source=Source("zhang17", "Table 1, row 3, utility"),
    kind=Kind.UTILITY,
    says="Non-convex: mean squared gradient in n, d, ε and δ.",
    states=Rate(gradient_norm2, sqrt(d) / (n * eps) * log(n / delta)),
    ignores_units=True,
    checks=[
        Proof(
            [
                Less(
                    "log(1/δ) ≤ log(n/δ), so the root of Theorem 5 is at most log(n/δ)",
                    log(1 / delta),
                    log(n / delta),
                    {delta: exp(-a), n: exp(v)},
                )
            ],
            "hidden constant 1 suffices, given Theorem 5",
        )
    ],
)

table1_nonconvex_time = Claim(
    id="zhang17.table1.nonconvex.time",
    source=Source("zhang17", "Table 1, row 3, run time"),
    kind=Kind.COST,
    says="Non-convex: operations.",
    states=Rate(run_time, n**2 * d),
    ignores_units=True,
    checks=[Follows(n**2 * d, Integer(1), "at most n² rounds, d operations each")],
)

bassily_pure = Claim(
    id="zhang17.table1.bassily.pure",
    source=Source("zhang17", "Table 1, row 1, utility of Bassily et al."),
    kind=Kind.UTILITY,
    says="Bassily et al., strongly convex, ε-DP: utility.",
    states=Rate(excess_risk, log(n) * d**2 / (n**2 * eps**2)),
    ignores_units=True,
    checks=[Quoted("from Bassily et al. 2014, whose exponential-mechanism algorithm is in none of the documents")],
)

bassily_pure_time = Claim(
    id="zhang17.table1.bassily.pure.time",
    source=Source("zhang17", "Table 1, row 1, run time of Bassily et al."),
    kind=Kind.COST,
    says="Bassily et al., strongly convex, ε-DP: operations.",
    states=Rate(run_time, n**3 * d**3 * Min(1, eps * n, d * log(d * n))),
    ignores_units=True,
    checks=[Quoted("from Bassily et al. 2014, whose exponential-mechanism algorithm is in none of the documents")],
)

bassily_approx = Claim(
    id="zhang17.table1.bassily.approx",
    source=Source("zhang17", "Table 1, row 2, utility of Bassily et al."),
    kind=Kind.UTILITY,
    says="Bassily et al., strongly convex, (ε, δ)-DP: utility.",
    states=Rate(excess_risk, d * log(n / delta) ** 3 / (n**2 * eps**2)),
    ignores_units=True,
)

bassily_approx_time = Claim(
    id="zhang17.table1.bassily.approx.time",
    source=Source("zhang17", "Table 1, row 2, run time of Bassily et al."),
    kind=Kind.COST,
    says="Bassily et al., strongly convex, (ε, δ)-DP: operations.",
    states=Rate(run_time, n**2 * d),
    ignores_units=True,
    checks=[Follows(n**2 * d, Integer(1), "n² steps on one record each, d operations a step")],
)

table1_improves = Claim(
    id="zhang17.table1.improves",
    source=Source("zhang17", "section 1, contribution 1, and Table 1"),
    kind=Kind.UTILITY,
    says="The utility for strongly convex losses improves on Bassily et al.'s by a logarithmic factor.",
    assumes=[n >= 3],
    states=Le(ratio, 1),
    checks=[
        Proof(
            [
                Less("ε-DP: 1 ≤ log n for n ≥ 3", Integer(1), log(3)),
                Less(
                    "(ε, δ)-DP: log(1/δ) ≤ log(n/δ)³",
                    log(1 / delta),
                    log(n / delta) ** 3,
                    {delta: exp(-a), n: exp(1 + v)},
                ),
            ],
            "ratios 1/log n and log(1/δ)/log³(n/δ)",
        )
    ],
)

x = Symbol("x", positive=True)
logarithm = Same("log(1+a) ≤ a: its slope 1/(1+a) is at most 1", diff(log(1 + a), a), 1 / (1 + a))

table1_faster = Claim(
    id="zhang17.table1.faster",
    source=Source("zhang17", "section 1, on Table 1: run time for strongly convex losses"),
    kind=Kind.COST,
    says="Both run times for strongly convex losses are at most Bassily et al.'s, for nε ≥ d, ε at most 1 and dn ≥ 3.",
    assumes=[eps <= 1, n * eps >= d, d * n >= 3],
    states=Le(ratio, 1),
    ignores_units=True,
    checks=[
        Proof(
            [
                logarithm,
                Less("ε-DP: nd·log x ≤ nd·x with x = nε/d is n²ε, at most n³d³", n**2 * eps, n**3 * d**3,
                     {eps: 1 / (1 + v), d: 1 + a, n: 1 + more}),
                Less("and n³d³·εn", n**2 * eps, n**4 * d**3 * eps, {d: 1 + a, n: 1 + more}),
                Less("and n³d⁴·log(dn), as log 3 ≥ 1", Integer(1), log(3)),
                Less("(ε, δ)-DP: nd·log x ≤ nd·x with x = nε/√(d·log(1/δ)) ≤ n for log(1/δ) ≥ 1",
                     n * eps / sqrt(d * x), n, {eps: 1 / (1 + v), d: (1 + a) ** 2, x: (1 + more) ** 2}),
            ],
            "nd·log(nε/d) against n³d³·min(1, εn, d·log(dn)), and nd·log(nε/√(d·log(1/δ))) against n²d",
        )
    ],
)

per_step = "nd operations a step, T of the theorem"
table1 = Table(
    id="zhang17.table1",
    source=Source("zhang17", "Table 1"),
    title="Comparison with existing results",
    keeps=dict.fromkeys(("utility", "run time"), ("n", "d", "eps", "delta")),
    rows=[
        Row(
            "ours, μ-strongly convex, ε-DP",
            {
                "utility": Cell(table1_sc_pure.formula, "zhang17.theorem2.pure"),
                "run time": Cell(
                    table1_time_pure.formula, "zhang17.theorem2.pure", lambda _: n * d * strong_steps_pure, per_step
                ),
            },
        ),
        Row(
            "ours, μ-strongly convex, (ε, δ)-DP",
            {
                "utility": Cell(table1_sc_approx.formula, "zhang17.theorem2.approx"),
                "run time": Cell(
                    table1_time_approx.formula,
                    "zhang17.theorem2.approx",
                    lambda _: n * d * strong_steps_approx,
                    per_step,
                ),
            },
        ),
        Row(
            "ours, nonconvex",
            {
                "utility": Cell(table1_nonconvex.formula, "zhang17.theorem5.rate"),
                "run time": Cell(
                    table1_nonconvex_time.formula, "zhang17.theorem5.rate", lambda _: n**2 * d, "n² rounds"
                ),
            },
        ),
        Row(
            "Bassily et al., μ-strongly convex, ε-DP",
            {"utility": Cell(bassily_pure.formula), "run time": Cell(bassily_pure_time.formula)},
        ),
        Row(
            "Bassily et al., μ-strongly convex, (ε, δ)-DP",
            {"utility": Cell(bassily_approx.formula), "run time": Cell(bassily_approx_time.formula)},
        ),
        Row("Bassily et al., nonconvex", {"utility": Cell("NA"), "run time": Cell("NA")}),
    ],
)

# Remarks -------------------------------------------------------------------------------------------
remark_d_below_n = Claim(
    id="zhang17.remark.d_below_n",
    source=Source("zhang17", "section 3.1, after Theorem 3"),
    kind=Kind.UTILITY,
    says="When d < n the convex bound is below the generalisation error n^(-1/2); the ratio of the two is at most 1.",
    assumes=[d < n],
    states=Le(ratio, 1),
    checks=[AtMost((sqrt(d) / n) ** Rational(2, 3) * sqrt(n), "the (ε, δ) rate of Theorem 3 over n^(-1/2)")],
)

remark_d_corrected = Claim(
    id="zhang17.remark.d_below_n.corrected",
    source=Source("zhang17", "section 3.1, after Theorem 3"),
    kind=Kind.UTILITY,
    says="It takes d ≤ √n.",
    assumes=[d <= sqrt(n)],
    states=Le(ratio, 1),
    corrects="zhang17.remark.d_below_n",
    checks=[
        AtMost(
            (sqrt(d) / n) ** Rational(2, 3) * sqrt(n),
            "the (ε, δ) rate of Theorem 3 over n^(-1/2)",
            {n: big**6, d: big**3 / (1 + v) ** 3},
        )
    ],
)

remark_d_pure = Claim(
    id="zhang17.remark.d_below_n.pure",
    source=Source("zhang17", "section 3.1, after Theorem 3"),
    kind=Kind.UTILITY,
    says="For ε-DP it takes d ≤ n^(1/4).",
    assumes=[d <= n ** Rational(1, 4)],
    states=Le(ratio, 1),
    corrects="zhang17.remark.d_below_n",
    checks=[
        AtMost(
            (d / n) ** Rational(2, 3) * sqrt(n),
            "the ε rate of Theorem 3 over n^(-1/2)",
            {n: big**12, d: big**3 / (1 + v) ** 3},
        )
    ],
)

remark_weaker = Claim(
    id="zhang17.remark.weaker",
    source=Source("zhang17", "section 3.1, after Theorem 3"),
    kind=Kind.UTILITY,
    says="The convex bound is weaker than Bassily et al.'s √d/n by a factor of n^(1/3).",
    states=Rate(ratio, n ** Rational(1, 3)),
    checks=[
        Proof(
            [
                Same(
                    "sixth power of Theorem 3 over √d/n",
                    ((sqrt(d) / n) ** Rational(2, 3) / (sqrt(d) / n)) ** 6,
                    n**2 / d,
                ),
                Less("d ≥ 1", n**2 / d, n**2, {d: 1 + v}),
            ],
            "the factor is (n/√d)^(1/3)",
        )
    ],
)

remark_time_pure = Claim(
    id="zhang17.remark.faster.pure",
    source=Source("zhang17", "section 3.1, after Theorem 3"),
    kind=Kind.COST,
    says="In the convex case Algorithm 1 is uniformly faster than Bassily et al. for ε-DP (their n³d³).",
    assumes=[eps <= 1],
    states=Rate(run_time, n**3 * d**3),
    ignores_units=True,
    checks=[
        Follows(
            (per_step_cost * pure_steps).subs(constants).subs({eps: 1, n: (1 + a) ** 3, d: (1 + v) ** 3}),
            Integer(1),
            "nd per step, T of Theorem 3",
            {n: (1 + a) ** 3, d: (1 + v) ** 3},
        )
    ],
)

remark_time_approx = Claim(
    id="zhang17.remark.faster.approx",
    source=Source("zhang17", "section 3.1, after Theorem 3"),
    kind=Kind.COST,
    says="In the convex case Algorithm 1 is faster than Bassily et al.'s n²d for (ε, δ)-DP (δ ≤ 1/e).",
    assumes=[eps <= 1],
    states=Rate(run_time, n**2 * d),
    ignores_units=True,
    checks=[
        Follows(
            (per_step_cost * approx_steps)
            .subs(constants)
            .subs({eps: 1, n: (1 + a) ** 3, d: (1 + v) ** 3, delta: exp(-1)}),
            Integer(1),
            "nd per step, T of Theorem 3",
            {n: (1 + a) ** 3, d: (1 + v) ** 3},
        )
    ],
)
