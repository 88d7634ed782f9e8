"""`dpcheck rank` and `need`: who is ranked, against whom, on which numbers; and what a planted claim would change."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import dpcheck as dp
from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.guarantees import LABEL_ONLY, LOCAL, REPLACE_ONE, ApproxDP, PureDP
from dpcheck.bounds.language.symbols import D, L, T, beta, c1, d, delta, eps, excess_risk, n
from dpcheck.bounds.language.utility_case import CONVEX, PURE, STRONG, case_of
from dpcheck.bounds.registry import library
from dpcheck.cli.main import main
from dpcheck.datasets import logistic_synthetic
from dpcheck.problems.losses import Linear, Logistic, Sigmoid
from dpcheck.problems.outline import outline
from dpcheck.problems.problem import Problem
from dpcheck.report.ranking_page import needs_page, ranking_page, wanting
from dpcheck.report.theory import as_text
from dpcheck.solvers.finding import solvers
from dpcheck.theory import method_bounds, ranking
from dpcheck.theory.likeness import KNOWN, ORDER, error_in_words, likeness_of, model_among
from dpcheck.theory.need import Needs, need
from dpcheck.theory.ranking import Ranking, rank
from dpcheck.theory.task import bound_on, raised, task_of
from dpcheck.verdicts.record import recorded

ASKED = {"n": 1e5, "d": 50, "eps": 1.0}


@lru_cache
def ranked(**changed: Any) -> Ranking:
    return rank(**{**ASKED, **changed})


CONVEX_ONE, STRONG_ONE, ROUGH = {}, {"strongly_convex": 0.01}, {"loss": "sigmoid"}


# Like with like ------------------------------------------------------------------------------------
@pytest.mark.parametrize("asked", [CONVEX_ONE, STRONG_ONE, ROUGH, {"delta": 0.0}], ids=str)
def test_a_group_holds_one_kind_in_order_above_its_own_lower_bound(asked: dict[str, Any]) -> None:
    found = ranked(**asked)
    assert len({group.kind for group in found.groups}) == len(found.groups) > 0
    for group in found.groups:
        assert {likeness_of(row.bound.claim) for row in group.rows} == {group.kind}
        values = [row.value for row in group.rows]
        assert values == sorted(values)
        assert len({row.method for row in group.rows}) == len(group.rows)
        if group.lower is not None:
            mine = case_of(group.lower.claim)
            assert (mine.measure, mine.losses) == (group.kind.case.measure, group.kind.case.losses)
            assert group.lower.here[0] < values[0]


def test_only_what_the_problem_meets_is_ranked() -> None:
    assert {g.kind.case.losses for g in ranked().groups} == {CONVEX, "not necessarily convex"}
    assert STRONG in {g.kind.case.losses for g in ranked(**STRONG_ONE).groups}
    assert {g.kind.case.losses for g in ranked(**ROUGH).groups} == {"not necessarily convex"}
    assert {g.kind.case.privacy for g in ranked(delta=0.0).groups} == {PURE}
    beyond = rank(**{**ASKED, "eps": 3.0})  # rrpsgd is stated for eps <= 1
    assert "rrpsgd" not in {
        row.method for group in beyond.groups for row in group.rows if group.kind.constants == ORDER
    }
    assert "ε ≤ 1 fails at ε = 3" in beyond.left_out["rrpsgd"]


def test_no_refuted_bound_is_ranked_and_corrections_stand_in() -> None:
    known = recorded()
    found = ranked()
    rows = [row for group in found.groups for row in group.rows]
    assert all(known[row.bound.claim.id]["verdict"] == row.verdict != "REFUTED" for row in rows)
    (row,) = [row for row in rows if row.bound.claim.id == "zhang17.theorem3.approx.corrected"]
    assert row.replaces.startswith("zhang17.theorem3.approx (misprint: ")
    assert found.refuted["zhang17.theorem3.approx"][1] == "zhang17.theorem3.approx.corrected"
    assert not any(isinstance(r.bound.claim, dp.Claim) and r.bound.claim.id in found.refuted for r in rows)


def test_values_are_the_claims_own_at_the_problems_constants() -> None:
    (group,) = [
        g
        for g in ranked().groups
        if g.kind.constants == KNOWN and g.kind.case.privacy != PURE and str(g.kind.case.measure) == "excess_risk"
    ]
    (row,) = group.rows
    here = {"L": 1.0, "beta": 0.25, "D": 1.0, "delta": 1e-5, **ASKED}
    claim = library["zhang17.theorem3.approx.proof"]
    assert row.bound.claim.id == claim.id
    assert row.value == pytest.approx(float(claim.evaluate(T=row.bound.here[1], **here)))
    assert row.value <= float(np.min(claim.evaluate(T=np.arange(1.0, 400.0), **here))) * 1.01
    assert row.cost.gradients == ASKED["n"] * row.bound.here[1]


def test_the_regulariser_is_part_of_a_loss_or_apart_from_it_as_the_claim_has_it() -> None:
    """zhang17's losses hold it, and are Lipschitz in the ball of radius 2D; dwang20's r stands beside its losses."""
    task = task_of(**ASKED, strongly_convex=0.01)
    within, apart = (task.numbers(library[i]) for i in ("zhang17.theorem2.approx", "dwang20.theorem3.1.2"))
    radius = math.sqrt(2 * math.log(2) / 0.01)
    assert task.radius == pytest.approx(radius)
    assert (apart["G"], apart["L_smooth"]) == (1.0, 0.25)
    assert within["beta"] == pytest.approx(0.26)
    assert within["L"] == pytest.approx(task.problem.lipschitz_within(2 * radius))
    assert within["L"] > 1
    assert "L" not in task.numbers(library["zhang17.theorem3.approx.proof"])  # Lipschitz everywhere: it is not
    assert "in balls only" in str(bound_on(library["zhang17.theorem3.approx.proof"], task))


@pytest.mark.parametrize("mu", [0.003, 0.3])
def test_derived_bounds_hold_for_data(mu: float) -> None:
    """The radius and the gap at the start, of any data set of such rows."""
    task = task_of(n=200, d=3, eps=1.0, strongly_convex=mu)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    data = Problem(X / np.linalg.norm(X, axis=1, keepdims=True), np.where(X[:, 0] > 0, 1.0, -1.0), Logistic(), l2=mu)
    least, value = data.minimiser()
    numbers = task.numbers(library["zhang17.theorem2.approx"])
    assert np.linalg.norm(least) <= task.radius
    assert data.value(np.zeros(3)) - value <= numbers["gap0"]
    assert data.lipschitz_within(2 * task.radius) == numbers["L"]
    assert (data.smoothness, data.strong_convexity) == (numbers["beta"], numbers["mu"])


def test_conditions_on_hidden_constants_are_not_decided() -> None:
    """A constant that exists is taken as 1 in a bound, and not held against the numbers in a hypothesis."""
    claim = planted(
        states=Rate(excess_risk, c1 * L * D / (n * eps)), assumes=[lipschitz(L), eps <= c1 / n], hidden=[c1]
    )
    found = bound_on(claim, task_of(**ASKED))
    assert found.here[0] == pytest.approx(1e-5)
    assert found.undecided == ("ε ≤ c₁/n",)


def test_steeper_constants_are_constants_too() -> None:
    claim = library["lwang21.theorem4.5.4.corrected"]  # wants G >= 1
    task = task_of(**ASKED, loss="sigmoid")
    assert task.numbers(claim)["G"] == 0.25
    assert raised(claim, task.numbers(claim))["G"] == 1.0


@settings(max_examples=4)
@given(st.integers(10**3, 10**7), st.integers(1, 500), st.floats(0.05, 1.0))
def test_more_data_and_less_privacy_never_hurt(size: int, dim: int, e: float) -> None:
    """Every ranked bound with its T at best falls in n and in ε."""
    small = {(g.kind, r.method): r.bound for g in rank(n=size, d=dim, eps=e).groups for r in g.rows}
    for bound in small.values():
        if "n" in map(str, bound.formula.free_symbols):
            assert bound.along(n=4.0 * size) <= bound.here[0] * (1 + 1e-9)


@pytest.mark.parametrize("mu", [0.0, 0.1])
def test_known_bounds_hold_for_runs(mu: float) -> None:
    """The mean excess risk of a solver, with certified noise and the bound's own T, keeps to a bound that is one."""
    data = logistic_synthetic(n=2000, d=5, seed=0).problem(Logistic(), l2=mu)
    least, value = data.minimiser()
    given = {} if mu > 0 else {"D": float(np.linalg.norm(least))}
    found = rank(n=2000, d=5, eps=1.0, strongly_convex=mu, **given)
    rows = [r for g in found.groups if g.explicit and str(g.kind.case.measure) == "excess_risk" for r in g.rows]
    assert {row.method for row in rows} >= ({"outpert_gd", "dp_gd"} if mu > 0 else {"outpert_gd"})
    for row in rows:
        pure = case_of(row.bound.claim).privacy == PURE
        guarantee = PureDP(1.0) if pure else ApproxDP(1.0, 1e-5)
        solver = solvers()[row.method](steps=int(row.bound.here[1] or 1))  # type: ignore[call-arg]
        risks = data.value(solver.solution(data, guarantee, 0, trials=100).w) - value
        assert 0 < risks.mean() <= row.value


# A family to come ----------------------------------------------------------------------------------
def planted(**changed: Any) -> Claim:
    """A bound that no method can reach, of a document that is known."""
    return replace(
        Claim(
            "zhang17.theorem99",
            Source("zhang17", "."),
            Kind.UTILITY,
            "Planted.",
            sympy.Le(excess_risk, L * D * sympy.sqrt(d) * sympy.log(1 / delta) / (n * eps)),
            assumes=[convex(), smooth(beta), lipschitz(L)],
            guarantee=ApproxDP(eps, delta),
        ),
        **changed,
    )


def with_planted(monkeypatch: pytest.MonkeyPatch, claim: Claim, verdict: str = "PROVED") -> Ranking:
    every, known = {**ranking.methods(), "dp_sgd": [claim]}, recorded()
    judged = {**known, claim.id: {"verdict": verdict, "severity": "rate: by 2"}}
    for module in (ranking, method_bounds):
        monkeypatch.setattr(module, "methods", lambda: every)
        monkeypatch.setattr(module, "recorded", lambda: judged)
        monkeypatch.setattr(module, "verdict_of", lambda c, seen: seen.get(c.id, {}).get("verdict", "not recorded"))
    return rank(**ASKED)


def places(found: Ranking, claim: str) -> list[tuple[str, int]]:
    return [(g.kind.constants, k) for g in found.groups for k, r in enumerate(g.rows, 1) if r.bound.claim.id == claim]


def test_a_new_claim_is_ranked_in_its_own_group_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert places(with_planted(monkeypatch, planted()), "zhang17.theorem99") == [(KNOWN, 1)]


def test_a_new_rate_does_not_beat_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    rate = planted(states=Rate(excess_risk, L * D / (n * eps)))
    assert places(with_planted(monkeypatch, rate), "zhang17.theorem99") == [(ORDER, 1)]


def test_a_refuted_claim_is_not_ranked_however_small(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_planted(monkeypatch, planted(), "REFUTED")
    assert places(found, "zhang17.theorem99") == []
    assert found.refuted["zhang17.theorem99"] == ("rate: by 2", "")


def test_a_claim_whose_hypotheses_fail_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    strict = planted(assumes=[convex(), smooth(beta), lipschitz(L), n <= 1000])
    found = with_planted(monkeypatch, strict)
    assert places(found, "zhang17.theorem99") == []
    assert "n ≤ 1000 fails at n = 100000" in found.left_out["dp_sgd"]


def test_models() -> None:
    assert model_among([REPLACE_ONE]) == model_among([]) == "central"
    assert model_among([LOCAL]) == "local"
    assert model_among([LABEL_ONLY]) == "label"
    assert {g.kind.model for g in ranked(model="label").groups} <= {"label", "central"}
    assert {g.kind.model for g in ranked(model="local").groups} <= {"local"}


def test_a_local_bound_is_set_beside_what_a_trusted_curator_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Like with like: the same error, constants known as well; planted in the file of a local protocol."""
    local = planted(states=sympy.Le(excess_risk, L * D * d / (sympy.sqrt(n) * eps)))
    every = {**ranking.methods(), "ldp_avg_1d": [local]}
    for module in (ranking, method_bounds):
        monkeypatch.setattr(module, "methods", lambda: every)
    (group,) = [g for g in rank(**ASKED, model="local").groups if str(g.kind.case.measure) == "excess_risk"]
    best = min(
        r.value for g in ranked().groups if str(g.kind) == str(replace(group.kind, model="central")) for r in g.rows
    )
    assert group.central is not None
    assert group.central.value == best
    assert f"costs {group.rows[0].value / best:.3g} times that" in group.lost
    assert "central model: outpert_gd" in json.dumps(rank(**ASKED, model="local").to_json())
    assert "Its solver refuses" not in str(rank(**ASKED, model="local"))
    assert not any(g.lost for g in ranked().groups)


# Cost ----------------------------------------------------------------------------------------------
def test_an_outline_has_the_constants_and_plans_of_the_problem() -> None:
    whole = Problem(np.zeros((300, 4)), np.ones(300), Logistic(), l2=0.1)
    drawn = outline(300, 4, Logistic(), l2=0.1)
    names = ("n", "d", "smoothness", "strong_convexity", "data_lipschitz", "convex", "diameter")
    assert [getattr(whole, name) for name in names] == [getattr(drawn, name) for name in names]
    for stem in ("outpert_gd", "dp_gd", "dp_svrg", "dp_sgd", "dp_srm"):
        solver = solvers()[stem]()
        assert solver.gradients(drawn, ApproxDP(1.0, 1e-5)) == solver.gradients(whole, ApproxDP(1.0, 1e-5))


def test_costs_of_a_billion_records_need_none() -> None:
    found = rank(n=10**9, d=50, eps=0.5)
    cost = {row.method: row.cost for group in found.groups for row in group.rows}
    assert cost["rrpsgd"].gradients == 10**18
    assert (cost["rrpsgd"].records, cost["rrpsgd"].vectors) == (1, 1)
    assert cost["dp_svrgpp"].vectors == 3
    assert "dwang20.theorem3.1.5.cost" in cost["dp_svrgpp"].order


# How much data -------------------------------------------------------------------------------------
@lru_cache
def needed(error: float = 0.01, **changed: Any) -> Needs:
    return need(error=error, d=50, eps=1.0, **changed)


@pytest.mark.parametrize("asked", [CONVEX_ONE, STRONG_ONE], ids=str)
def test_n_is_enough_and_less_is_not(asked: dict[str, Any]) -> None:
    found = needed(**asked)
    assert {str(group.kind.case.measure) for group in found.groups} <= {"excess_risk", "likely_excess_risk"}
    for group in found.groups:
        assert [row.n for row in group.rows] == sorted(row.n for row in group.rows)
        for row in group.rows:
            assert row.bound.along(n=row.n) <= 0.01 * (1 + 1e-9)
            assert not row.bound.along(n=row.n - 1) <= 0.01
        assert group.least is not None
        assert group.least < group.rows[0].n


def test_need_and_rank_agree() -> None:
    size = {(g.kind, r.method): r.n for g in needed().groups for r in g.rows}
    found = rank(**{**ASKED, "n": size[next(iter(size))]})
    first = found.groups[0]
    assert (first.kind, first.rows[0].method) in size
    assert first.rows[0].value == pytest.approx(0.01, rel=1e-4)


def test_need_inverts_the_claim_as_solving_does() -> None:
    (row,) = [r for g in needed().groups for r in g.rows if r.bound.claim.id == "zhang17.theorem3.approx.corrected"]
    solved = row.bound.claim.solve_for("n", error=0.01, d=50, eps=1.0, delta=1e-5, L=1.0, beta=0.25, D=1.0)
    assert row.n == solved.value


def test_other_errors_can_be_asked_for() -> None:
    found = needed(0.1, loss="sigmoid")
    assert {str(g.kind.case.measure) for g in found.groups} >= {"gradient_norm", "gradient_norm2"}
    chosen = needed(0.1, loss="sigmoid", measure="gradient_norm")
    assert {str(g.kind.case.measure) for g in chosen.groups} == {"gradient_norm"}
    with pytest.raises(UnknownName, match="measure is regret; it must be one of"):
        need(error=0.1, d=5, eps=1.0, measure="regret")


# What is shown -------------------------------------------------------------------------------------
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_any_width_keeps_ids(width: int) -> None:
    found, wanted = ranked(**STRONG_ONE), needed()
    for page, groups in ((ranking_page(found), found.groups), (needs_page(wanted), wanted.groups)):
        lines = as_text(page, width).splitlines()
        assert max(map(cell_len, lines)) <= width  # the hat of Θ̂ takes no cell
        words = {word.strip("(),;.:") for line in lines for word in line.split()}
        rows: list[Any] = [row for group in groups for row in group.rows]
        assert {word for row in rows for word in row.source.split()} <= words
        assert {row.method for row in rows} <= words
        assert {group.lower.claim.id for group in groups if group.lower is not None} <= words


def test_texts_say_what_was_assumed() -> None:
    shown = " ".join(str(ranked()).split())
    for words in (
        "Logistic loss, rows of norm at most 1; n = 100000, d = 50, ε = 1, δ = 1e-05; central model.",
        "L = 1 and β = 0.25, ‖ŵ‖ ≤ D = 1 by default",
        "rrpsgd has the least rate; outpert_gd comes next, 2.11 times larger, constants aside.",
        "its privacy as published is refuted (zhang17.theorem5.privacy, privacy failure: at ε = 1)",
        "in place of zhang17.theorem3.approx (misprint: ",
        "No method: ≥ C·7.071e-05 (dwang20.table3.2.lower.scaled, SUPPORTED",
        "needs --divergence (V₀)",
    ):
        assert words in shown
    assert "D = 2 by default" not in str(ranked(D=2.0))
    assert ranked()._repr_html_().count("<table>") == len(ranked().groups)
    assert needed()._repr_html_().count("<table>") == len(needed().groups)


def test_a_symbol_that_is_missing_can_be_given() -> None:
    found = ranked(divergence=0.5)
    assert "dp_accmd" not in found.left_out
    assert "dp_accmd" in {row.method for group in found.groups for row in group.rows}


def test_rank_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "out.svg"
    command = "rank --n 1e5 --d 50 --eps 1 --delta 1e-5 --loss logistic --strongly-convex 0.01 --model central"
    assert main(shlex.split(f"{command} --plot {picture}")) == 0
    titles, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {len(row) for row in rows} == {len(titles)}
    assert ["1", "dp_gd"] in [row[1:3] for row in rows]
    assert ["not ranked", "dp_lssgd"] in [[row[0], row[2]] for row in rows]
    assert "<svg" in picture.read_text(encoding="utf-8")
    assert main(shlex.split(f"{command} --D 3 --json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert "Given: D = 3." in found["problem"]
    assert found["refuted"]["zhang17.theorem3.approx"]["instead"] == "zhang17.theorem3.approx.corrected"


def test_need_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("need --error 0.01 --d 50 --eps 1")) == 0
    titles, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert titles[:4] == ["kind", "place", "method", "n"]
    assert rows[0][1:5] == ["1", "outpert_gd", "192552", "known"]


def test_a_panel_holds_one_kind() -> None:
    found = ranked(**STRONG_ONE)
    figure = found.plot()
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title().replace("\n", " ") for ax in shown] == [str(group.kind) for group in found.groups]
    assert [len(ax.get_legend().get_texts()) for ax in shown] == [
        len(group.rows) + (group.lower is not None) for group in found.groups
    ]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"loss": "wavy"}, UnknownName, "loss is wavy"),
        ({"loss": Linear()}, InvalidInput, "loss is Linear; it must be never negative"),
        ({"model": "federal"}, UnknownName, "model is federal"),
        ({"n": 0}, InvalidInput, "n is 0"),
        ({"d": 1.5}, InvalidInput, "d is 1.5"),
        ({"eps": 0.0}, InvalidInput, "eps is 0.0"),
        ({"delta": 1.5}, InvalidInput, "delta is 1.5"),
        ({"strongly_convex": -1.0}, InvalidInput, "l2 is -1.0"),
        ({"row_bound": 0.0}, InvalidInput, "row_bound is 0.0"),
        ({"colour": 1.0}, UnknownName, "symbol is colour"),
        ({"D": -1.0}, InvalidInput, "D is -1.0"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        rank(**{**ASKED, **options})


def test_what_need_refuses() -> None:
    for bad in (0.0, -1.0, math.inf, 10**400, True):
        with pytest.raises(InvalidInput, match="error is"):
            need(error=bad, d=5, eps=1.0)
    with pytest.raises(InvalidInput, match="left open: it is what is sought"):
        need(error=0.1, d=5, eps=1.0, n=100)


def test_losses_without_a_lipschitz_constant_say_so() -> None:
    found = rank(**ASKED, loss="squared")
    assert "Lipschitz: this one is so in balls only" in " ".join(found.left_out.values())
    assert not found.groups
    held = rank(**ASKED, loss="squared", strongly_convex=0.1)  # in the ball of radius 2D it is
    assert {"outpert_gd", "bassily_sgd"} == {row.method for group in held.groups for row in group.rows}
    given = rank(**ASKED, loss="squared", L=2.0)
    assert "outpert_gd" in {row.method for group in given.groups for row in group.rows}
    assert rank(**ASKED, loss=Sigmoid()).groups
    assert T  # the steps of a bound are chosen, never asked for


def test_no_error_is_called_by_an_internal_name() -> None:
    """Seen: "step map2" above a panel."""
    measures = {case_of(claim).measure for claims in ranking.methods().values() for claim in claims}
    for measure in measures:
        assert not re.search(r"_|[a-z]\d$", error_in_words(measure), re.ASCII)


# Local protocols -----------------------------------------------------------------------------------
def test_a_hypothesis_that_says_how_many_records_says_what_the_grid_is() -> None:
    """n = A·k^(4p) is solved for k, D_p is the constant of Lemma 5.1.2, and log(1/β) follows from β."""
    claim = library["dwang20.corollary5.1.2.explicit"]
    found = bound_on(claim, task_of(n=1e6, d=2, eps=0.25, model="local"))
    assert not isinstance(found, str)
    numbers = {"d": 2, "eps": 0.25, "x_tail": math.log(20), "D_h": 2 * 2.5**2 * 4, "grid_k": 3.0}
    condition = next(c for c in claim.conditions if isinstance(c, sympy.Eq))
    numbers["n"] = float(condition.rhs.subs({s: numbers[str(s)] for s in condition.rhs.free_symbols}))
    expected = float(claim.formula.subs({s: numbers[str(s)] for s in claim.formula.free_symbols}))
    assert float(found.along(n=numbers["n"])) == pytest.approx(expected)
    assert math.isnan(float(found.along(n=1.0)))  # planted: so few users that k is below 2


def test_what_methods_wait_for_is_said_at_once_and_ranks_them() -> None:
    waiting = {"nldp_glm_public": "needs --rho2 (ρ₂), --c_link (c_Φ)", "other": "needs --m_public (m), --rho2 (ρ₂)"}
    (line,) = wanting(replace(ranked(), left_out=waiting))
    options = {name: float(value) for name, value in re.findall(r"--(\w+) (\S+)", line)}
    assert set(options) == {"rho2", "c_link", "m_public"}
    task_of(n=1e6, d=2, eps=0.5, model="local", **options)
    assert wanting(replace(ranked(), left_out={"other": "no number here"})) == []
