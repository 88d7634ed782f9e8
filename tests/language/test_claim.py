"""Claims: what cannot be a statement is refused, and what can be evaluates, prints and adds up to a verdict."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.mathtext import MathTextParser

from dpcheck.bounds.language.claim import (
    Claim,
    Evidence,
    Kind,
    Rate,
    Setting,
    Source,
    Verdict,
    convex,
    judge,
    lipschitz,
    pretty,
    smooth,
)
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.formulas import is_a_sum
from dpcheck.bounds.language.symbols import (
    TABLE,
    D,
    L,
    T,
    beta,
    constants_of_losses,
    delta,
    eps,
    eta,
    excess_risk,
    mu,
    n,
    t,
)
from dpcheck.bounds.registry import entries, library
from dpcheck.verdicts.verify import recorded

claims = [pytest.param(e.claim, id=e.claim.id) for e in entries().values()]
some_claim = st.sampled_from([e.claim for e in entries().values()])


def make(states: Any, **others: Any) -> Claim:
    given_ = {"id": "zhang17.invented1", "source": Source("zhang17", "nowhere"), "kind": Kind.UTILITY, "says": "."}
    return Claim(**given_ | others, states=states)


# Construction --------------------------------------------------------------------------------------
@pytest.mark.parametrize("bad", ["nobody99.lemma1", "lemma1", "", "zhang18.lemma1", "dwang20.lemma1"])
def test_an_id_names_its_document(bad: str) -> None:
    with pytest.raises(InvalidInput, match=r"claim id is .*zhang17.*Rename"):
        make(sympy.Le(D, L), id=bad)


@pytest.mark.parametrize("where", ["states", "condition", "class"])
def test_undeclared_symbols_are_named(where: str) -> None:
    stray = sympy.Symbol("stray", positive=True)
    parts = {
        "states": (sympy.Le(D, stray), []),
        "condition": (sympy.Le(D, L), [stray <= 1]),
        "class": (sympy.Le(D, L), [smooth(stray)]),
    }
    states, assumes = parts[where]
    with pytest.raises(InvalidInput, match=r"symbols of zhang17.invented1 is stray.*bounds/language/symbols.py"):
        make(states, assumes=assumes)


def test_a_symbol_of_another_domain_is_undeclared() -> None:
    with pytest.raises(InvalidInput, match="declared in the table"):
        make(sympy.Le(D, sympy.Symbol("L")))


def test_a_hypothesis_that_contradicts_a_domain_is_refused() -> None:
    with pytest.raises(InvalidInput, match="satisfiable"):
        make(sympy.Le(D, L), assumes=[eps < 0])


@pytest.mark.parametrize(
    ("assumes", "words"),
    [
        ([eps < 1, eps > 2], "no ε is left"),
        ([n > 1, n < 2], "no n is left"),
        ([delta >= 1], "no δ is left"),
        ([mu <= beta, beta <= L, mu / 2 >= L], "excluded by the others"),
        ([L <= D, 2 * D <= L], "excluded by the others"),
        ([sympy.Eq(eps, 2), eps <= 1], "an equation contradicts"),
        ([sympy.Eq(L, 2 * D), L <= D], "an equation contradicts"),
    ],
)
def test_hypotheses_that_no_numbers_meet_are_refused(assumes: list[Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=rf"hypotheses of zhang17.invented1 is .*satisfiable together.*{words}"):
        make(sympy.Le(D, L), assumes=assumes)


@pytest.mark.parametrize(
    "assumes",
    [
        [eps <= sympy.Rational(1, 10**9)],
        [n >= 10**12],
        [mu <= beta, beta <= L, mu >= L],
        [sympy.Eq(L, 2 * D), D <= L],
        [eps <= 1, eps >= 1],
        [eps * n <= D, D <= L, n >= 100],
        [sympy.exp(eps) <= 1 + 2 * eps],
    ],
    ids=str,
)
def test_thin_hypotheses_are_not_empty(assumes: list[Any]) -> None:
    """Far from the boxes of the table, or of measure 0: no sampling meets them, and nothing proves them empty."""
    assert make(sympy.Le(D, L), assumes=assumes).conditions == assumes


UNKNOWN = sympy.Function("unknown")


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (L * sympy.Sum(1 / t, (t, 1, T)), "Sum"),
        (L * sympy.Integral(sympy.exp(-(eps**2)), (eps, 0, n)), "Integral"),
        (L * UNKNOWN(n), "unknown"),
        (sympy.Piecewise((L, sympy.Function("other")(n) > 0), (2 * L, True)), "other"),
    ],
)
def test_a_statement_that_arrays_cannot_go_into_is_refused(formula: sympy.Expr, words: str) -> None:
    with pytest.raises(InvalidInput, match=rf"statement of zhang17.invented1 is .*{words}.*on arrays.*closed form"):
        make(sympy.Le(D, formula))


@pytest.mark.parametrize(
    "formula",
    [
        L * sympy.erfc(eps),
        L * sympy.loggamma(n),
        L * sympy.binomial(n, 2),
        sympy.Piecewise((L, eps <= 1), (2 * L, True)),
        L * sympy.ceiling(eps),
        L * sympy.Abs(1 - eps),
        sympy.Min(L, D * beta),
    ],
    ids=str,
)
def test_special_functions_go_into_statements(formula: sympy.Expr) -> None:
    names = {str(s): np.array([1.0, 2.0, 3.0]) for s in formula.free_symbols}
    assert np.shape(make(sympy.Le(D, formula)).evaluate(**names)) == (3,)


@pytest.mark.parametrize("states", [sympy.Le(D, -L), sympy.Le(D, D), sympy.Ge(D + L, 0)])
def test_a_statement_that_says_nothing_is_refused(states: sympy.Basic) -> None:
    with pytest.raises(InvalidInput, match=r"statement of zhang17.invented1 is (True|False)"):
        make(states)


def test_hypotheses_by_name() -> None:
    claim = make(sympy.Le(D, L), assumes=[convex(), lipschitz(L), eps <= 1])
    assert claim.has("convex") == convex()
    assert claim.has("strongly convex") is None
    assert claim.conditions == [eps <= 1]
    assert claim.symbols == {D, L, eps}


# Numbers -------------------------------------------------------------------------------------------
MOST_SYMBOLS = 20  # of a formula: those of a regression with public features have 13


def inside(claim: Claim, unit: np.ndarray) -> dict[str, np.ndarray]:
    """Points of the box, log-uniform; whole numbers where the table asks for them."""
    found = {}
    for symbol, share in zip(sorted(claim.formula.free_symbols, key=str), unit.T, strict=False):
        row = TABLE[symbol]
        value = row.box[0] * (min(row.box[1], 0.5 if row.below == 1 else row.box[1]) / row.box[0]) ** share
        found[row.name] = np.maximum(1, np.round(value)) if row.integer else value
    return found


@settings(deadline=None, max_examples=100)
@given(some_claim, st.integers(0, 2**32 - 1))
def test_arrays_give_what_numbers_give(claim: Claim, seed: int) -> None:
    points = inside(claim, np.random.default_rng(seed).random((7, MOST_SYMBOLS)))
    allowed = [k for k in range(7) if claim.violated_by({s: v[k] for s, v in points.items()}) is None]
    points = {name: value[allowed] for name, value in points.items()}
    if not allowed or not points:
        return
    try:
        together = claim.evaluate(**points)
    except InvalidInput:  # somewhere not finite: then so is one of the parts
        together = None
    if together is None:
        with pytest.raises(InvalidInput, match="finite"):
            [claim.evaluate(**{name: value[k] for name, value in points.items()}) for k in range(len(allowed))]
        return
    apart = [claim.evaluate(**{name: float(value[k]) for name, value in points.items()}) for k in range(len(allowed))]
    np.testing.assert_allclose(np.broadcast_to(together, len(apart)), apart, rtol=1e-12)


@settings(deadline=None, max_examples=100)
@given(some_claim, st.integers(0, 2**32 - 1))
def test_evaluate_is_the_formula(claim: Claim, seed: int) -> None:
    point = {
        name: float(v[0]) for name, v in inside(claim, np.random.default_rng(seed).random((1, MOST_SYMBOLS))).items()
    }
    if claim.violated_by(point) is not None:
        return
    at = {s: sympy.Float(point[str(s)], 40) for s in claim.formula.free_symbols}
    exact = sympy.N(claim.formula.subs(at), 40)
    if not exact.is_real or not 1e-250 < abs(exact) < 1e250:  # outside, evaluate() refuses or rounds to 0
        return
    if any(abs(sympy.N(part.subs(at))) > 1e250 for part in claim.formula.atoms(sympy.gamma)):  # nor are its parts there
        return
    assert claim.evaluate(**point) == pytest.approx(float(exact), rel=1e-6, abs=1e-12)


def test_quotients_of_what_overflows() -> None:
    length = library["dwang20.lemma5.3.1.unbiased.corrected"]
    for d in (3, 353, 10_000):
        exact = sympy.N(length.formula.subs({s: {"d": d}.get(str(s), 1) for s in length.formula.free_symbols}), 30)
        assert length.evaluate(d=d, eps=1.0, r_ball=1.0) == pytest.approx(float(exact), rel=1e-9)


def test_broadcasting() -> None:
    bound = library["zhang17.lemma2"].evaluate(n=np.array([[10], [100]]), T=np.array([1, 2, 3]), L=1, eta=0.5)
    assert bound.shape == (2, 3)
    assert bound[1, 2] == pytest.approx(3 * 3 * 0.5 / 100)
    assert np.ndim(library["zhang17.lemma2"].evaluate(n=10, T=1, L=1, eta=1)) == 0


GOOD: dict[str, Any] = {"n": 1000, "d": 5, "eps": 1.0, "delta": 1e-5, "L": 1.0, "beta": 1.0, "mu": 0.1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"eps": None}, "eps is None"),
        ({"eps": float("nan")}, "eps is nan.*finite"),
        ({"eps": -1.0}, "eps is -1.0"),
        ({"eps": 0.0}, "eps.*zhang17.theorem2.approx.*finite"),
        ({"delta": 1.0}, r"delta is 1.0.*< 1"),
        ({"delta": 0.0}, "delta.*finite"),
        ({"n": 0}, "n is 0.*whole number"),
        ({"n": [10, 2.5]}, "whole number"),
        ({"mu": 2.0}, "does not apply.*μ ≤ β.*Choose values inside"),
        ({"mu": [0.1, 2.0]}, "does not apply.*μ ≤ β"),
        ({"delta": 0.75}, r"does not apply.*δ ≤ 1/2"),
    ],
)
def test_a_bad_argument_is_named(change: dict[str, Any], words: str) -> None:
    claim = library["zhang17.theorem2.approx"]
    assert np.isfinite(claim.evaluate(**GOOD))
    with pytest.raises(InvalidInput, match=words):
        claim.evaluate(**GOOD | change)


@pytest.mark.parametrize("name", GOOD)
def test_a_missing_argument_is_named_with_its_meaning(name: str) -> None:
    rest = {k: v for k, v in GOOD.items() if k != name}
    meaning = next(row.meaning for row in TABLE.values() if row.name == name)
    with pytest.raises(InvalidInput, match=rf"complete, with \['{name}'\]\. {name} is the {meaning}"):
        library["zhang17.theorem2.approx"].evaluate(**rest)


def test_a_violated_hypothesis_is_a_type_of_its_own() -> None:
    with pytest.raises(HypothesisViolated):
        library["zhang17.algorithm1.approx.corrected"].evaluate(eps=1.5, delta=1e-3, Delta=1)
    with pytest.raises(HypothesisViolated, match=r"\{'beta': 1, 'eta': 3\} violates"):  # in one order, whatever the run
        library["zhang17.lemma2"].evaluate(n=100, T=10, L=1, eta=3, beta=1)


def test_an_equation_among_hypotheses_holds_up_to_rounding() -> None:
    about = replace(library["zhang17.lemma2"], assumes=[sympy.Eq(eta, 1 / beta)], checks=())
    assert about.violated_by({"eta": 1 / 3, "beta": 3.0}) is None
    assert about.violated_by({"eta": 0.1 + 0.2, "beta": 1 / 0.3}) is None
    assert about.violated_by({"eta": 0.3000001, "beta": 1 / 0.3}) is not None


def test_where() -> None:
    claim = library["zhang17.lemma2"]
    assert claim.where(n=10, T=2, unknown=3) == sympy.Rational(3, 5) * L * sympy.Symbol("eta", positive=True)


# Printing ------------------------------------------------------------------------------------------
def read_back(text: str, symbols: set[sympy.Symbol]) -> sympy.Expr:
    """The expression that a line of readable mathematics stands for."""
    names = {TABLE[s].printed: f"symbol_{k}" for k, s in enumerate(symbols)}
    longest_first = "|".join(re.escape(p) for p in sorted(names, key=len, reverse=True))
    text = re.sub(rf"(?<!\w)(?:{longest_first})(?!\w)", lambda found: names[found[0]], text) if names else text
    stand_ins = {f"symbol_{k}": s for k, s in enumerate(symbols)}
    return sympy.sympify(text.replace("·", "*").replace("^", "**"), locals=stand_ins)


@pytest.mark.parametrize("claim", claims)
def test_text_reads_back_as_the_formula(claim: Claim) -> None:
    printed = [TABLE[s].printed for s in claim.formula.free_symbols]
    assert len(set(printed)) == len(printed), "two symbols of one formula look alike"
    shown = pretty(claim.formula)
    assert shown in claim.text()
    assert "**" not in claim.text()
    gap = read_back(shown, claim.formula.free_symbols) - claim.formula
    point = {s: sympy.Rational(3 + k, 7) for k, s in enumerate(sorted(claim.formula.free_symbols, key=str))}
    assert abs(sympy.N(gap.subs(point), 30)) < 1e-20


@pytest.mark.parametrize("claim", claims)
def test_latex_is_valid(claim: Claim) -> None:
    tex = claim.latex()
    assert tex.count("{") == tex.count("}")
    assert tex.count(r"\left") == tex.count(r"\right")
    assert claim._repr_latex_() == f"$\\displaystyle {tex}$"
    assert MathTextParser("path").parse(f"${tex}$") is not None


@pytest.mark.parametrize("claim", claims)
def test_every_claim_is_complete(claim: Claim) -> None:
    assert claim.says.endswith((".", ")"))
    assert claim.source.place
    assert all(pretty(h) for h in claim.assumes)
    assert str(claim.source).startswith(claim.id.split(".")[0])


# Units ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "claim_id", ["zhang17.remark.population.strongly_convex", "zhang17.lemma11.gradient", "zhang17.lemma12.gradient"]
)
def test_slips_in_units_are_reported(claim_id: str) -> None:
    assert "left side has unit" in library[claim_id].unit_gap
    assert library[f"{claim_id}.corrected"].unit_gap is None


def test_no_proved_claim_has_a_gap_in_units() -> None:
    known = recorded()
    proved = [c for k, c in library.items() if known.get(k, {}).get("verdict") == "PROVED" and not c.ignores_units]
    assert len(proved) > 20
    assert [c.id for c in proved if c.unit_gap] == []


def test_a_gap_inside_a_sum() -> None:
    assert "one unit" in make(sympy.Le(D, L + beta)).unit_gap
    assert make(Rate(D, L / beta)).unit_gap is None


# Verdicts ------------------------------------------------------------------------------------------
P, C, S, LO, R, V, U = (
    Verdict.PROVED,
    Verdict.CERTIFIED,
    Verdict.SUPPORTED,
    Verdict.LOOSE,
    Verdict.REFUTED,
    Verdict.VACUOUS,
    Verdict.UNCHECKED,
)


def pieces(*verdicts: Verdict) -> list[Evidence]:
    return [Evidence("symbolic", v, "") for v in verdicts]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ((), U),
        ((U,), U),
        ((S, U), U),
        ((P, U), U),
        ((P, S), P),
        ((C, P), P),
        ((C, S), C),
        ((P, LO), LO),
        ((V, P), V),
        ((V, R), R),
        ((R,), R),
        ((S, R), R),
        ((U, R), R),
        ((P, R), U),
        ((R, C), U),
        ((R, LO), U),
        ((S, R, P), U),
    ],
)
def test_what_evidence_adds_up_to(found: tuple[Verdict, ...], verdict: Verdict) -> None:
    for order in itertools.permutations(found):
        assert judge(pieces(*order)) is verdict


@given(st.lists(st.sampled_from(Verdict), max_size=6))
def test_a_counterexample_is_never_outvoted(found: list[Verdict]) -> None:
    verdict = judge(pieces(*found))
    if R in found:
        assert verdict in (R, U)
    else:
        assert verdict in found or verdict is U
    assert judge(pieces(*found, *found)) is verdict


def test_evidence_is_plain_json() -> None:
    piece = Evidence(
        "audit", R, "f", "d", np.float64(0.5), 1 - 1e-6, {"x": np.arange(2), "s": T, "t": (1, np.int64(2)), "b": True}
    )
    row = json.loads(json.dumps(piece.to_json()))
    assert row["counterexample"] == {"x": [0, 1], "s": "T", "t": [1, 2], "b": True}
    assert row["verdict"] == "REFUTED"
    assert row["margin"] == 0.5


def test_rates_print_as_orders() -> None:
    claim = make(Rate(D, L * n / (eps * delta)))
    assert claim.text().startswith("D = O(")
    assert claim.latex().startswith("D = O\\left(")
    assert claim.subject == D


@pytest.mark.parametrize("claim", claims)
def test_constants_of_the_losses_are_named_by_a_hypothesis(claim: Claim) -> None:
    """A bound in L says nothing of losses that nobody assumes to be L-Lipschitz."""
    stated = claim.subject.free_symbols | claim.formula.free_symbols
    assert not (stated & constants_of_losses()) - claim.named_constants


def test_a_constant_is_named_by_a_class_or_in_words() -> None:
    assert make(sympy.Le(D, L), assumes=[lipschitz(L)]).named_constants == {L}
    assert make(sympy.Le(D, beta), assumes=[Setting("β-smooth in the ball")]).named_constants == {beta}
    assert make(sympy.Le(D, L), assumes=[Setting("Lipschitz in the ball"), L <= 1]).named_constants == set()


def test_the_star_of_a_name_is_no_product() -> None:
    star = next((s for s, row in TABLE.items() if "*" in row.printed), None)
    assert star is not None
    assert TABLE[star].printed in pretty(star * L**2 / 3)


def test_a_name_that_is_a_sum_stands_in_brackets_in_a_product() -> None:
    """Twice "F(w) - F(ŵ)" read as 2·F(w) - F(ŵ)."""
    name = TABLE[excess_risk].printed
    assert " - " in name
    assert pretty(2 * excess_risk + L) in (f"2·({name}) + L", f"L + 2·({name})")
    assert pretty(excess_risk**2) == f"({name})^2"
    assert pretty(excess_risk + L) in (f"{name} + L", f"L + {name}")
    assert pretty(sympy.E * L) == "exp(1)·L"  # E is an expectation
    no_sums = ("‖x-y‖²", "E FW-gap(w)", "x⁺", "(F(x)-F(y))", "mean(F(x)-F(y))")
    assert is_a_sum("F(x)-F(y)")
    assert not any(map(is_a_sum, no_sums))
