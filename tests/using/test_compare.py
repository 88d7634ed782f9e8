"""Comparisons, lower bounds and regenerated tables: what they say, what they refuse, and planted slips they catch."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Min, log, sqrt

from dpcheck.bounds.language.claim import Claim, Effort, Kind, Rate, Source, Verdict, judge
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import D, L, T, beta, d, delta, eps, excess_risk, mu, n, ratio
from dpcheck.bounds.language.utility_case import APPROX, CONVEX, PURE, STRONG, case_of
from dpcheck.bounds.library.convex import convex_comparison, lower_bounds
from dpcheck.bounds.proving import tables
from dpcheck.bounds.proving.consistency import Uncontradicted, least_ratio, upper_bounds
from dpcheck.bounds.registry import entries, library
from dpcheck.cli.main import main
from dpcheck.report.theory import as_text, comparison_page
from dpcheck.theory.comparison import bound_at, compare
from dpcheck.theory.likeness import DROPPED, SIZES, likeness_of
from dpcheck.verdicts.record import recorded

HERE = {"n": 1e5, "d": 50, "eps": 1.0}


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


# Comparing -----------------------------------------------------------------------------------------
def test_a_stem_stands_for_its_best_supported_claim() -> None:
    found = compare("outpert_gd", "rrpsgd", **HERE)
    assert [s.claim.id for s in found.sides] == [
        "zhang17.theorem3.approx.corrected",
        "zhang17.theorem5.convex.corrected",
    ]
    assert [s.verdict for s in found.sides] == [recorded()[s.claim.id]["verdict"] for s in found.sides]
    assert (found.case.losses, found.case.privacy) == (CONVEX, APPROX)
    assert found.lower is not None
    assert found.lower.claim.id == "dwang20.table3.2.lower.scaled"
    assert [s.name for s in found.ranking] == ["rrpsgd", "outpert_gd"]
    assert found.defaulted == ["D", "L", "beta", "delta"]
    shown = str(found)
    for words in (
        "n^(-2/3)",
        "n^-1·log(n)^(1/2)",
        "PROVED",
        "rrpsgd is least here, outpert_gd 3.35 times larger, constants aside",
        "≥ C·7.071e-05",
        "δ, L, β, D by default",
    ):
        assert words in shown


def test_a_baseline_finds_its_bound_in_another_file() -> None:
    found = compare("outpert_gd", "bassily_sgd", **HERE)
    assert [s.claim.id for s in found.sides] == ["zhang17.theorem2.approx", "zhang17.table1.bassily.approx"]
    assert found.case.losses == STRONG
    assert found.only.kind.constants == DROPPED
    assert not {s.name for side in found.sides for s in side.claim.formula.free_symbols} - SIZES  # on both sides alike
    assert found.lower is not None
    assert found.lower.claim.id == "dwang20.table3.1.lower"


@settings(max_examples=8)
@given(st.floats(1e2, 1e9), st.integers(1, 10**4), st.floats(0.01, 1.0), st.floats(1e-9, 0.3))
def test_comparing_backwards_gives_the_same(size: float, dim: int, e: float, dl: float) -> None:
    point = {"n": float(int(size)), "d": dim, "eps": e, "delta": dl}
    ahead, back = compare("outpert_gd", "rrpsgd", **point), compare("rrpsgd", "outpert_gd", **point)
    assert {s.name: s.value for s in ahead.sides} == {s.name: s.value for s in back.sides}
    assert [s.name for s in ahead.ranking] == [s.name for s in back.ranking]
    for one, two in zip(ahead.meetings, back.meetings, strict=True):
        assert (one.first, one.second) == (two.second, two.first)
        assert one.crossing.at == pytest.approx(two.crossing.at, rel=1e-9)
        assert one.sentence == two.sentence


def test_the_crossing_is_where_the_winner_changes() -> None:
    found = compare("outpert_gd", "rrpsgd", **HERE)
    over_n = next(m for m in found.meetings if str(m.crossing.symbol) == "n")
    (at,) = over_n.crossing.at
    before, after = (
        compare("outpert_gd", "rrpsgd", **{**HERE, "n": round(at * f)}).ranking[0].name for f in (0.9, 1.1)
    )
    assert (before, after) == ("outpert_gd", "rrpsgd")
    over_d = next(m for m in found.meetings if str(m.crossing.symbol) == "d")
    formula = D**2 * n**2 * beta**2 * eps**2 / (L**2 * log(1 / delta) * log(n / delta) ** 3)
    assert sympy.simplify(over_d.crossing.formula - formula) == 0


def test_values_are_those_of_the_claims() -> None:
    found = compare("zhang17.theorem2.pure", "zhang17.theorem2.pure.proof", mu=0.2, beta=2.0, **HERE)
    second, first = found.sides  # a number and a rate: known constants come first
    assert first.value == pytest.approx(library["zhang17.theorem2.pure"].evaluate(mu=0.2, beta=2.0, L=1.0, **HERE))
    assert second.explicit
    assert second.steps is not None
    at_best = library["zhang17.theorem2.pure.proof"].evaluate(mu=0.2, beta=2.0, L=1.0, D=1.0, T=second.steps, **HERE)
    assert second.value == pytest.approx(at_best, rel=1e-6)


def test_a_bound_that_does_not_apply_says_why() -> None:
    found = compare("outpert_gd", "rrpsgd", **{**HERE, "eps": 3.0})
    assert found.sides[1].value is None
    assert "ε ≤ 1 fails" in found.sides[1].reason
    assert [s.name for s in found.ranking] == ["outpert_gd"]
    grid = found.curve(found.sides[1], eps=np.array([0.5, 3.0]))
    assert np.isfinite(grid[0])
    assert np.isnan(grid[1])


def test_a_failure_of_privacy_is_told_where_it_occurs() -> None:
    """outpert_gd's noise fails for large ε only, rrpsgd's at 1."""
    here = compare("outpert_gd", "rrpsgd", **HERE).caution
    assert "The privacy of rrpsgd as published is refuted (zhang17.theorem5.privacy, privacy failure" in here
    assert "outpert_gd" not in here
    assert "outpert_gd" in compare("outpert_gd", "rrpsgd", **{**HERE, "eps": 50.0}).caution


UNLIKE = [
    ("rrpsgd", "zhang17.theorem2.pure"),  # convex and strongly convex losses
    ("zhang17.theorem2.pure", "zhang17.theorem2.approx"),  # pure and approximate privacy
    ("zhang17.theorem2.pure", "zhang17.theorem2.pure.proof"),  # a rate and a number
    ("zhang17.theorem5.rate", "zhang17.theorem6"),  # in expectation and with high probability
]


@pytest.mark.parametrize("names", UNLIKE, ids="+".join)
def test_unlike_bounds_are_not_ranked(names: tuple[str, str]) -> None:
    found = compare(*names, **HERE)
    assert [[s.name for s in group.sides] for group in found.groups] in (
        [[names[0]], [names[1]]],
        [[names[1]], [names[0]]],
    )
    assert not any(group.headline or group.meetings for group in found.groups)
    assert "not ranked against each other" in str(found)
    for ask in (lambda: found.ranking, lambda: found.lower, lambda: found.case, lambda: found.meetings):
        with pytest.raises(InvalidInput, match="of unlike bounds"):
            ask()


def test_empirical_and_population_risk_are_different_errors() -> None:
    with pytest.raises(InvalidInput, match="one and the same error"):
        compare("zhang17.theorem2.approx", "zhang17.remark.population.strongly_convex.corrected")


def test_the_four_methods_of_the_issue_stand_in_groups() -> None:
    """No lower bound above an upper one of its group, none of another class, and each name somewhere."""
    found = compare("outpert_gd", "rrpsgd", "dp_svrg", "dp_gd", **HERE)
    assert {s.name for s in found.sides} == {"outpert_gd", "rrpsgd", "dp_svrg", "dp_gd"}
    assert len({group.kind for group in found.groups}) == len(found.groups) == 3
    for group in found.groups:
        assert {likeness_of(s.claim) for s in group.sides} == {group.kind}
        assert group.lower is not None
        assert case_of(group.lower.claim).losses == group.kind.case.losses
        assert all(s.value > group.lower.value for s in group.sides)
        assert group.headline.startswith(group.ranking[0].name)


def test_the_case_can_be_chosen() -> None:
    parts = ("zhang17.theorem2", "zhang17.table1")
    assert compare(*parts, **HERE).case.privacy == APPROX
    assert compare(*parts, privacy="pure", **HERE).case.privacy == PURE
    assert {kind.case.privacy for kind in compare(*parts, **HERE).also_shared} == {PURE}


@pytest.mark.parametrize(
    ("names", "options", "error", "words"),
    [
        (("outpert_gd",), {}, InvalidInput, "two or more"),
        (("outpert_gd", "outpert_gd"), {}, InvalidInput, "different from each other"),
        (("outpert_gd", "rrpsdg"), {}, UnknownName, "Did you mean rrpsgd"),
        (("outpert_gd", "subsampling"), {}, InvalidInput, "without a bound on its error"),
        (("zhang17.theorem2.pure", "zhang17.theorem5.rate"), {}, InvalidInput, "of bounds on one and the same error"),
        (("outpert_gd", "rrpsgd"), {"measure": "gradient_norm2"}, InvalidInput, "one and the same error"),
        (("outpert_gd", "rrpsgd"), {"over": "q"}, UnknownName, "symbol to compare over is q"),
        (("outpert_gd", "rrpsgd"), {"losses": "wavy"}, InvalidInput, "losses is wavy"),
        (("outpert_gd", "rrpsgd"), {"privacy": "total"}, InvalidInput, "privacy is total"),
        (("outpert_gd", "rrpsgd"), {"epsilonn": 1.0}, UnknownName, "symbol is epsilonn"),
        (("outpert_gd", "rrpsgd"), {"n": -5}, InvalidInput, "n is -5"),
        (("outpert_gd", "rrpsgd"), {"eps": 0.0}, InvalidInput, "eps is 0.0; it must be one number > 0"),
        (("outpert_gd", "rrpsgd"), {"d": [1, 2]}, InvalidInput, "one number > 0"),
    ],
)
def test_what_is_refused(names: tuple[str, ...], options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        compare(*names, **options)


def test_different_errors_are_refused_with_both_named() -> None:
    with pytest.raises(InvalidInput, match=r"theorem2.pure bounds E F.*theorem5.rate bounds E ‖∇F"):
        compare("zhang17.theorem2.pure", "zhang17.theorem5.rate")


def test_the_best_number_of_steps_is_taken_where_it_is_open() -> None:
    claim = library["zhang17.theorem2.pure.proof"]
    values = {"n": 1e5, "d": 5.0, "eps": 1.0, "L": 1.0, "beta": 1.0, "mu": 0.5, "D": 1.0}
    steps = np.arange(1.0, 200.0)
    fixed = claim.evaluate(T=steps, **values)
    assert bound_at(claim, values) <= fixed.min() * (1 + 1e-9)
    assert bound_at(claim, {**values, "T": 7.0}) == fixed[6]


@pytest.mark.skipif(
    not {"dp_svrg", "dp_gd"} <= {e.algorithm for e in entries().values()}, reason="these algorithms are not in yet"
)
def test_the_command_of_the_issue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "out.png"
    assert main(shlex.split(f"compare dp_svrg dp_gd --n 1e5 --d 50 --eps 1 --plot {picture}")) == 0
    shown = capsys.readouterr().out
    assert "dp_svrg" in shown
    assert "dp_gd" in shown
    assert picture.stat().st_size > 10_000


# Lower bounds --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "claim", [lower_bounds.strong, lower_bounds.convex_lower, lower_bounds.strong_scaled, lower_bounds.convex_scaled]
)
def test_no_upper_bound_contradicts_the_lower_ones(claim: Claim) -> None:
    assert claim.kind is Kind.LOWER_BOUND
    assert claim.states.below
    assert "Ω" in claim.text()
    assert judge([check.run(claim, Effort()) for check in claim.checks]) is Verdict.SUPPORTED
    assert len(list(upper_bounds(claim))) >= 3


def test_scaled_lower_bounds_are_the_printed_ones_at_unit_constants() -> None:
    ones = {L: 1, D: 1, mu: 1}
    assert lower_bounds.strong_scaled.formula.subs(ones) == lower_bounds.strong.formula
    assert lower_bounds.convex_scaled.formula.subs(ones) == lower_bounds.convex_lower.formula
    assert lower_bounds.strong_scaled.unit_gap is None
    assert lower_bounds.convex_scaled.unit_gap is None


@pytest.mark.parametrize(
    "too_large",
    [
        Min(1, d**2 / (n**2 * eps**2)),
        Min(1, d * log(n) / (n**2 * eps**2)),
        Min(1, sqrt(d) / (n * eps)),
        Min(1, d / (n * eps**2)),
        Min(1, d / (n**2 * eps**3)),
    ],
    ids=str,
)
def test_planted_lower_bounds_are_contradicted(too_large: sympy.Expr) -> None:
    planted = replace(lower_bounds.strong, states=Rate(excess_risk, too_large, below=True))
    evidence = Uncontradicted().run(planted, Effort())
    assert evidence.verdict is Verdict.UNCHECKED
    assert "lies below it" in evidence.figure


def test_only_private_bounds_of_such_losses_are_held_against_a_lower_bound() -> None:
    against = {claim.id for claim in upper_bounds(lower_bounds.convex_lower)}
    assert "zhang17.theorem3.approx.corrected" in against
    assert "zhang17.theorem2.approx" not in against  # strongly convex losses may be easier
    assert "zhang17.lemma8" not in against  # gradient descent without noise
    assert "zhang17.theorem3.approx" not in against  # corrected by another claim


def test_the_ratio_is_least_where_the_upper_bound_is_tight() -> None:
    upper = library["zhang17.table1.strongly_convex.approx"]
    assert least_ratio(lower_bounds.strong, upper, 1.0, 5000, 0) == pytest.approx(math.log(2), rel=1e-2)


# Tables --------------------------------------------------------------------------------------------
WANTED = ["zhang17.table1", "wangxu19.table1", *(f"dwang20.table3.{k}" for k in (1, 2, 3))]
WANTED += [f"lwang21.table{k}.1" for k in (2, 4, 5)]


def test_all_tables_of_the_issue_are_there() -> None:
    assert set(WANTED) <= tables.tables().keys()


@pytest.mark.parametrize("name", WANTED)
def test_every_cell_is_accounted_for(name: str) -> None:
    table = tables.table_named(name)
    found = tables.regenerate(table)
    assert len(found.cells) == sum(len(row.cells) for row in table.rows)
    for cell in found.cells:
        assert cell.status in tables.MEANING
        assert (cell.regenerated != "") == (cell.status in ("same", "larger", "smaller"))
    json.dumps(found.to_json())


def test_differences_that_were_known() -> None:
    """The (ε, δ) row of [356] with the gradients of its ε-DP version; log(δ) under a root; a norm for its square."""
    found = {name: tables.regenerate(tables.table_named(name)).differences for name in WANTED}
    (wrong,) = [c for c in found["dwang20.table3.2"] if c.method.startswith("[356]")]
    assert (wrong.column, wrong.status, wrong.ratio) == ("gradient complexity", "smaller", "d^(-1/3)")
    times = {c.column: c.status for c in found["zhang17.table1"] if "(ε, δ)" in c.method}
    assert times == {"run time": "smaller"}
    assert [c.status for c in found["lwang21.table5.1"] if "ZZM17a" in c.method] == ["smaller"]
    looser = [c for c in found["zhang17.table1"] if c.method == "ours, nonconvex"]
    assert [c.status for c in looser] == ["larger"]


def test_same_cells_agree_in_numbers() -> None:
    """Cells called the same have one ratio at all points."""
    rng = np.random.default_rng(0)
    for name in WANTED:
        table = tables.table_named(name)
        for row in table.rows:
            for column, cell in row.cells.items():
                claim = tables.known(cell.claim) if cell.claim else None
                if claim is None or isinstance(cell.printed, str):
                    continue
                keeps = table.keeps[column]
                given = tables.normalised(cell.derived(claim.formula), keeps, table.hides_logs)[0]
                printed = tables.normalised(cell.printed, keeps)[0]
                if tables.judged(printed, given)[0] != "same":
                    continue
                symbols = sorted((printed / given).free_symbols, key=str)
                points = [
                    {s: rng.uniform(30, 90) if s.name == "n" else rng.uniform(0.2, 0.9) for s in symbols}
                    for _ in range(4)
                ]
                ratios = [float(sympy.N((printed / given).subs(point))) for point in points]
                assert ratios == pytest.approx([ratios[0]] * 4, rel=1e-9), (name, row.method, column)


def test_corrected_tables_have_no_cell_below_its_claim() -> None:
    output = convex_comparison.corrected.checks[0].table
    statuses = {c.status for c in tables.regenerate(output).cells if c.method.startswith("[356]")}
    assert statuses == {"same", "words"}


@pytest.mark.parametrize(
    ("printed", "status"),
    [
        (d / (n**2 * eps**2), "same"),
        (7 * d / (n**2 * eps**2), "same"),
        (d * log(n) / (n**2 * eps**2), "larger"),
        (d**2 / (n**2 * eps**2), "larger"),
        (d / (n**3 * eps**2), "smaller"),
        (sqrt(d) / (n**2 * eps**2), "smaller"),
        (d / (n**2 * eps**2 * log(n)), "smaller"),
        (d / (n**2 * eps**2 * sqrt(log(n))), "smaller"),
    ],
    ids=str,
)
def test_planted_cells(printed: sympy.Expr, status: str) -> None:
    table = tables.Table(
        "zhang17.table9",
        Source("zhang17", "."),
        ".",
        {"utility": ("n", "d", "eps")},
        [tables.Row("planted", {"utility": tables.Cell(printed, "zhang17.theorem2.approx")})],
    )
    (cell,) = tables.regenerate(table).cells
    assert cell.status == status
    assert "log(1/δ), L, β, μ at 1" in cell.note
    claim = Claim("zhang17.table9", Source("zhang17", "."), Kind.IDENTITY, ".", Rate(ratio, sympy.Integer(1)))
    evidence = tables.Regenerates(table).run(claim, Effort())
    verdicts = {"same": Verdict.PROVED, "larger": Verdict.SUPPORTED, "smaller": Verdict.REFUTED}
    assert evidence.verdict is verdicts[status]
    if status == "smaller":
        assert tables.Regenerates(table).replay(claim, evidence.counterexample).verdict is Verdict.REFUTED


def test_a_missing_claim_and_a_quoted_cell_are_not_errors() -> None:
    table = tables.Table(
        "zhang17.table9",
        Source("zhang17", "."),
        ".",
        {"utility": ("n",)},
        [
            tables.Row("a", {"utility": tables.Cell(1 / n, "zhang17.lemma99")}, tables.Steps("zhang17.lemma99", {})),
            tables.Row("b", {"utility": tables.Cell(1 / n), "yes": tables.Cell("Yes")}),
        ],
    )
    found = tables.regenerate(table)
    assert [c.status for c in found.cells] == ["no claim", "quoted", "words"]
    assert found.privacy == {1: "no claim zhang17.lemma99"}
    claim = Claim("zhang17.table9", Source("zhang17", "."), Kind.IDENTITY, ".", Rate(mu, mu))
    assert tables.Regenerates(table).run(claim, Effort()).verdict is Verdict.UNCHECKED
    with pytest.raises(UnknownName, match=r"table is zhang17\.table99"):
        tables.table_named("zhang17.table99")


@pytest.mark.parametrize(
    ("steps", "answer"), [(log(n), "no: "), (n**2, "yes"), (n**2 / log(n), "no: "), (n**3, "yes")], ids=str
)
def test_whether_a_privacy_condition_can_be_met(
    steps: sympy.Expr, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ε ≤ T/n², as the moments accountant asks: with log n steps never, with n² always."""
    planted = Claim(
        "zhang17.theorem99", Source("zhang17", "."), Kind.PRIVACY, ".", Rate(mu, mu), assumes=[eps <= T / n**2]
    )
    monkeypatch.setattr(tables, "known", lambda _: planted)
    assert tables.satisfiable(tables.Steps("zhang17.theorem99", {"T": steps})).startswith(answer)


# The command line ----------------------------------------------------------------------------------
def test_compare_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "out.png"
    assert main(shlex.split(f"compare outpert_gd rrpsgd --n 1e5 --d 50 --eps 1 --plot {picture}")) == 0
    out, err = capsys.readouterr()
    titles, *rows = (line.split("\t") for line in out.splitlines())
    assert [dict(zip(titles, row, strict=True))["name"] for row in rows] == ["outpert_gd", "rrpsgd", "lower bound"]
    assert [row[titles.index("place")] for row in rows] == ["2", "1", "0"]
    assert "drawn" in err
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_compare_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("compare outpert_gd rrpsgd --n 1e5 --json")) == 0
    found = json.loads(capsys.readouterr().out)
    (group,) = found["groups"]
    assert group["ranking"] == ["rrpsgd", "outpert_gd"]
    assert group["sides"][0]["leading"][0]["exponents"]["n"] == ["-2/3", "0"]
    assert found["values"]["n"] == 1e5


def test_tables_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in WANTED)
    assert main(["tables", "dwang20.table3.2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "does not follow: the claim gives more, printed over claim: d^(-1/3)" in shown
    assert main(["tables", "dwang20.table3.2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == "dwang20.table3.2"


def test_solving_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    point = "--d 50 --eps 1 --delta 1e-5 --L 1 --beta 0.25 --mu 0.01"
    assert main(shlex.split(f"bounds zhang17.theorem2 --solve-for n --error 0.01 {point}")) == 0
    shown = capsys.readouterr().out
    assert "n = 11997" in shown
    assert "in general: n = " in shown


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("compare outpert_gd", "two or more"),
        ("compare outpert_gd nonsense", "algorithm or claim is nonsense"),
        ("compare zhang17.theorem2.pure zhang17.theorem5.rate", "one and the same error"),
        ("compare outpert_gd rrpsgd --n ten", "n is ten"),
        ("compare outpert_gd rrpsgd --plot missing/out.png", "in a folder that exists"),
        ("compare outpert_gd rrpsgd --plot out.doc", "one that ends in"),
        ("tables zhang17.table99", "table is zhang17.table99"),
        ("bounds zhang17.theorem2.pure --solve-for n --d 5", "target is None"),
        ("bounds zhang17.theorem2.pure --solve-for n --error 0.1 --zzz 5", "option is --zzz"),
    ],
)
def test_mistakes_get_one_sentence(
    command: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in " ".join(err.split())
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_any_width_keeps_ids_and_exponents(width: int) -> None:
    found = compare("outpert_gd", "rrpsgd", "dp_svrg", "dp_gd", **HERE)
    lines = as_text(comparison_page(found), width).splitlines()
    assert max(map(len, lines)) <= width
    words = {word.strip("(),;") for line in lines for word in line.split()}
    sources = {word for side in found.sides for word in side.source.split()}
    assert sources <= words  # no id is broken
    assert {"n^(-2/3)", "n^-1·log(n)^(1/2)", "log(1/δ)^(1/3)"} <= {word for line in lines for word in line.split()}


# Pictures ------------------------------------------------------------------------------------------
def test_the_picture_says_what_it_shows() -> None:
    figure = compare("outpert_gd", "rrpsgd", **HERE).plot()
    bounds_panel, map_panel = figure.axes
    assert bounds_panel.get_xlabel() == "n, number of records"
    assert "excess empirical risk" in bounds_panel.get_ylabel()
    legend = [text.get_text() for text in bounds_panel.get_legend().get_texts()]
    assert any("zhang17.theorem3.approx.corrected (PROVED, constant 1)" in line for line in legend)
    assert any(line.startswith("lower bound") for line in legend)
    assert "between what is possible and what is promised" in legend
    regions = [text.get_text() for text in map_panel.get_legend().get_texts()]
    assert {"outpert_gd has the least bound", "where two bounds are equal", "the point asked for"} <= set(regions)
    assert "Constants of rates are taken as 1" in figure.get_supxlabel().replace("\n", " ")


def test_cases_of_claims() -> None:
    assert case_of(library["zhang17.theorem2.approx.proof"]).privacy == APPROX
    assert case_of(library["zhang17.table1.bassily.approx"]).losses == STRONG
    assert case_of(library["zhang17.theorem5.convex"]).losses == CONVEX
    assert case_of(library["dwang20.theorem3.1.7"]).losses == CONVEX  # its w, not its losses, is strongly convex
    assert case_of(library["dwang20.equation3.58"]).losses == CONVEX
