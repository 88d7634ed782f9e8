"""Gaps between statement and proof: what follows is not named, what does not is, at a point that replays."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
import sympy
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sympy import Eq, Integer, Le, Min, Rational, log, sqrt

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Effort,
    Evidence,
    Kind,
    Rate,
    Setting,
    Source,
    Verdict,
    convex,
    judge,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP, PureDP
from dpcheck.bounds.language.symbols import (
    D,
    L,
    T,
    beta,
    delta,
    eps,
    eta,
    excess_risk,
    m,
    mu,
    n,
    q,
    ratio,
    sigma,
    sigma_g,
)
from dpcheck.bounds.proving.chains import STATEMENT, Cases, Chain, Step
from dpcheck.bounds.proving.citations import Citation, citations_of
from dpcheck.bounds.proving.implications import follows
from dpcheck.bounds.proving.proofs import Units
from dpcheck.bounds.registry import library, must_be_sound, must_fit
from dpcheck.bounds.relations.conditions import covers
from dpcheck.bounds.relations.inequalities import meets

QUICK = Effort()
share = st.fractions(min_value=Rational(1, 10), max_value=10, max_denominator=20).map(
    lambda f: Rational(f.numerator, f.denominator)
)


def claim(number: int, *assumes: Any, states: Any = None, **others: Any) -> Claim:
    states = Le(ratio, L * eps / n) if states is None else states
    given_ = {"checks": [Units()], "source": Source("zhang17", "nowhere"), "kind": Kind.UTILITY, "says": "."}
    return Claim(id=f"zhang17.invented{number}", states=states, assumes=assumes, **given_ | others)


def cited(lemma: Claim, *assumes: Any, where: Any = None, **others: Any) -> tuple[Citation, Claim, Evidence]:
    citing = claim(2, *assumes, **others)
    check = Citation(Cites(lemma.id, where or {}), lemma)
    return check, citing, check.run(citing, QUICK)


def is_gap(check: Citation, citing: Claim, found: Evidence, words: str) -> bool:
    """A gap in these words; its point, if any, meets what is assumed, and shows the gap again."""
    point = found.counterexample
    again = point is None or (citing.violated_by(point) is None and check.replay(citing, point).counterexample == point)
    return found.verdict is Verdict.UNCHECKED and words in found.figure + found.detail and again


# Numbers -------------------------------------------------------------------------------------------
def test_a_lemma_for_small_eps_used_at_any() -> None:
    check, citing, found = cited(claim(1, eps <= 1))
    assert is_gap(check, citing, found, "uses zhang17.invented1, which needs ε ≤ 1; here ε = 2 is allowed")
    check, citing, found = cited(claim(1, eps <= 1), eps <= 5)
    assert is_gap(check, citing, found, "needs ε ≤ 1")
    assert 1 < found.counterexample["eps"] <= 5
    assert cited(claim(1, eps <= 1), eps <= 1)[2].verdict is Verdict.PROVED
    assert cited(claim(1, eps <= 1), eps <= 5, where={eps: eps / 5})[2].verdict is Verdict.PROVED


@settings(deadline=None, max_examples=40)
@given(share, share)
@example(Rational(19, 10), Rational(18, 5))  # 3.6 as a float lies above 18/5
def test_one_range_within_another(needs: Rational, has: Rational) -> None:
    check, citing, found = cited(claim(1, eps <= needs), eps <= has)
    if has <= needs:
        assert found.verdict is Verdict.PROVED
    else:
        assert is_gap(check, citing, found, "which needs ε")
        assert float(needs) < found.counterexample["eps"] <= float(has)


@settings(deadline=None, max_examples=25)
@given(share, share, st.sampled_from(["1/β", "1/(β+μ)"]))
def test_step_sizes(needs: Rational, has: Rational, form: str) -> None:
    """η ≤ has/β, or has/(β+μ), against η ≤ needs/β: with μ → 0 only the constants count."""
    own = has / beta if form == "1/β" else has / (beta + mu)
    check, citing, found = cited(claim(1, eta <= needs / beta), eta <= own)
    if has <= needs:
        assert found.verdict is Verdict.PROVED
    elif has > needs * Rational(11, 10):
        assert is_gap(check, citing, found, "needs η")


@pytest.mark.parametrize(
    ("needed", "assumed", "where"),
    [
        (q <= 1, [], {q: 1 / n}),
        (q <= 1, [m <= n], {q: m / n}),
        (eta < 2 / beta, [], {eta: Min(1 / beta, D / (sigma_g * n))}),
        (eta <= 1 / beta, [beta * D <= sigma_g * n], {eta: D / (sigma_g * n)}),
        (Eq(eta, 1 / beta), [], {eta: 1 / beta}),
        (Eq(eta, 1 / beta), [Eq(eta, 1 / beta)], {}),
        (eta <= 2 / beta, [Eq(eta, 1 / beta)], {}),
        (n >= 2, [n >= 3], {}),
        (n >= 1, [], {}),
        (delta < 1, [], {}),
        (mu <= L, [mu <= beta, beta <= L], {}),
        (eps <= Rational(1256, 1000), [eps <= 1], {eps: eps / (2 * sqrt(2 * log(2 / delta)))}),
        (sympy.And(eps <= 1, n >= 1), [eps <= Rational(1, 2)], {}),
        (T >= 1, [], {T: n**2}),
        (eps <= log(n / (T * (1 + 1 / L))), [eps <= log(n * L / (T * L + T))], {}),
    ],
)
def test_what_follows_is_not_named(needed: Any, assumed: list[Any], where: Any) -> None:
    lemma = claim(1, needed, states=Le(ratio, q * eta * eps * T * beta * L * mu * n * delta))
    found = cited(lemma, *assumed, where=where)[2]
    assert found.verdict is Verdict.PROVED, found
    assert found.figure == "the hypotheses of zhang17.invented1 follow"


@pytest.mark.parametrize(
    ("needed", "assumed", "where", "words"),
    [
        (q <= Rational(1, 2), [], {q: 1 / n}, "here: 1/n ≤ 1/2"),
        (q <= 1, [], {q: m / n}, "m = "),
        (eta < 2 / beta, [eta <= 2 / beta], {}, "η < 2/β"),
        (Eq(eta, 1 / beta), [eta <= 1 / beta], {}, "η = 1/β"),
        (n >= 2, [], {}, "n = 1 is allowed"),
        (delta <= Rational(1, 2), [], {}, "δ ≤ 1/2"),
        (mu <= L, [mu <= beta], {}, "μ ≤ L"),
        (sympy.And(eps <= 1, n >= 2), [eps <= Rational(1, 2)], {}, "n = 1"),
    ],
)
def test_what_does_not_follow_is(needed: Any, assumed: list[Any], where: Any, words: str) -> None:
    lemma = claim(1, needed, states=Le(ratio, q * eta * eps * beta * L * mu * n * delta))
    assert is_gap(*cited(lemma, *assumed, where=where), words)


def test_what_cannot_be_decided_is_said_to_be_open() -> None:
    """log ε ≤ ε - 1 is true for all ε, and touches at 1, where it turns: neither a point nor a proof."""
    found = cited(claim(1, log(eps) <= eps - 1))[2]
    assert found.verdict is Verdict.UNCHECKED
    assert found.counterexample is None
    assert "not decided" in found.figure


relation = st.sampled_from(
    [eps <= 1, eps <= 2, eps >= 1, n >= 2, n >= 5, mu <= beta, beta <= L, mu <= L, eta <= 1 / beta, eta * beta <= 2]
)


@settings(deadline=None, max_examples=20)
@given(relation, st.lists(relation, max_size=2, unique=True))
@example(n >= 2, [eps >= 1, eps <= 1])  # together an equation, which no random point meets
def test_answers_are_right_wherever_they_are_given(needed: Any, assumed: list[Any]) -> None:
    """Against a grid: PROVED is never broken by a point, and a gap's point always breaks it."""
    found = follows(needed, assumed)
    names = sorted(set().union(*(r.free_symbols for r in (needed, *assumed))), key=str)
    values = {s: (1.0, 2.0, 3.0, 7.0) if s.is_integer else (0.1, 1.0, 1.5, 3.0) for s in names}
    grid = [dict(zip(names, row, strict=True)) for row in itertools.product(*(values[s] for s in names))]
    breaking = [p for p in grid if all(meets(r, p) for r in assumed) and not meets(needed, p)]
    if found.holds:
        assert breaking == []
    elif found.holds is False:
        point = {s: found.point[str(s)] for s in names}
        assert all(meets(r, point) for r in assumed)
        assert not meets(needed, point)
    else:
        assert breaking == []


@settings(deadline=None, max_examples=30)
@given(st.lists(relation, max_size=3, unique=True), st.integers(0, 10**6))
def test_covers_reach_every_allowed_point(given_: list[Any], seed: int) -> None:
    """A point that meets the relations is hit by non-negative values of the fresh symbols."""
    rng = random.Random(seed)
    names = sorted(set().union(*(r.free_symbols for r in given_)), key=str) or [eps]
    point = {s: Rational(rng.randint(1, 9)) if s.is_integer else Rational(rng.randint(1, 40), 10) for s in names}
    assume(all(meets(r, {s: float(x) for s, x in point.items()}) for r in given_))
    for cover in covers(given_, set(names)):
        for symbol, expr in cover.items() if len(cover) == 1 else ():
            fresh = [s for s in expr.free_symbols if s not in point]
            ends = [expr.subs(point).subs(dict.fromkeys(fresh, v)) for v in (0, 10**6)]
            assert min(ends) <= point[symbol] * (1 + Rational(1, 10**5))
            assert max(ends) >= point[symbol] * (1 - Rational(1, 10**5))


# Losses, settings, neighbours ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("needed", "assumed", "words"),
    [
        (convex(), [strongly_convex(mu)], None),
        (convex(), [smooth(beta)], "each loss to be convex; assumed nowhere"),
        (strongly_convex(mu), [convex()], "μ-strongly convex; assumed nowhere"),
        (smooth(beta), [smooth(beta)], None),
        (smooth(2 * beta), [smooth(beta)], None),
        (smooth(beta), [smooth(2 * beta)], "β-smooth"),
        (smooth(beta), [smooth(mu), mu <= beta], None),
        (smooth(beta), [smooth(mu)], "μ = "),
        (strongly_convex(mu), [strongly_convex(2 * mu)], None),
        (strongly_convex(2 * mu), [strongly_convex(mu)], "strongly convex"),
        (lipschitz(L), [lipschitz(L, "where ‖w‖ ≤ 2D")], "assumed only where ‖w‖ ≤ 2D"),
        (lipschitz(L, "where ‖w‖ ≤ 2D"), [lipschitz(L)], None),
        (lipschitz(L, "where ‖w‖ ≤ 2D"), [lipschitz(L, "where both runs go")], "assumed only where both runs go"),
        (mu <= beta, [strongly_convex(mu), smooth(beta)], None),
        (Setting("full gradients"), [Setting("full gradients")], None),
        (Setting("full gradients"), [Setting("batches of m records")], "needs full gradients; assumed nowhere"),
    ],
)
def test_classes_of_losses_and_settings(needed: Any, assumed: list[Any], words: str | None) -> None:
    check, citing, found = cited(claim(1, needed), *assumed)
    if words is None:
        assert found.verdict is Verdict.PROVED, found
    else:
        assert is_gap(check, citing, found, words), found


def test_constants_are_read_through_the_citation() -> None:
    lemma = claim(1, smooth(beta), lipschitz(L))
    assert cited(lemma, smooth(2 * beta), lipschitz(L), where={beta: 2 * beta})[2].verdict is Verdict.PROVED
    assert is_gap(*cited(lemma, smooth(2 * beta), lipschitz(L)), "β-smooth")


def test_another_neighbouring_relation() -> None:
    lemma = claim(1, states=Eq(sigma, L / eps), guarantee=PureDP(eps, relation=ADD_REMOVE))
    assert is_gap(*cited(lemma, guarantee=PureDP(eps)), "about add/remove-one neighbours; here they are replace-one")
    assert cited(lemma, guarantee=ApproxDP(eps, delta, relation=ADD_REMOVE))[2].verdict is Verdict.PROVED
    assert cited(lemma)[2].verdict is Verdict.PROVED  # a utility claim has no neighbours


# Votes and registration ----------------------------------------------------------------------------
def test_a_citation_has_no_vote() -> None:
    gap, sound = (Evidence("citation", v, "") for v in (Verdict.UNCHECKED, Verdict.PROVED))
    for verdict in Verdict:
        own = Evidence("symbolic", verdict, "")
        assert judge([own, gap, sound]) is judge([own])
    assert judge([sound]) is Verdict.UNCHECKED


def test_unknown_citations_are_refused() -> None:
    alone = claim(1, cites=[Cites("zhang17.lemma99")])
    with pytest.raises(UnknownName, match=r"zhang17.invented1 cites is zhang17.lemma99.*known claim"):
        must_be_sound({alone.id: alone})


def test_replaced_symbols_must_be_there() -> None:
    lemma, citing = claim(1), claim(2, cites=[Cites("zhang17.invented1", {T: n})])
    with pytest.raises(
        InvalidInput, match=r"invented2 replaces in zhang17.invented1 is T; it must be among its symbols"
    ):
        must_be_sound({c.id: c for c in (lemma, citing)})


@pytest.mark.parametrize("length", [1, 2, 5])
def test_circles_are_refused(length: int) -> None:
    chain = [claim(k, cites=[Cites(f"zhang17.invented{(k + 1) % length}")]) for k in range(length)]
    with pytest.raises(InvalidInput, match=r"citations is zhang17.invented0 -> .*free of circles"):
        must_be_sound({c.id: c for c in chain})
    open_chain = [*chain[:-1], claim(length - 1)]
    must_be_sound({c.id: c for c in open_chain})


def test_a_diamond_is_no_circle() -> None:
    claims = [claim(0), *(claim(k, cites=[Cites("zhang17.invented0")]) for k in (1, 2))]
    claims.append(claim(3, cites=[Cites("zhang17.invented1"), Cites("zhang17.invented2")]))
    must_be_sound({c.id: c for c in claims})


def test_a_gap_in_units_must_be_admitted() -> None:
    wrong = {"states": Rate(excess_risk, L)}
    with pytest.raises(InvalidInput, match=r"units of zhang17.invented1 is left side has unit \[loss\].*Units\(\)"):
        must_fit({"x": claim(1, **wrong, checks=[])})
    must_fit({"x": claim(1, **wrong)})
    must_fit({"x": claim(1, **wrong, checks=[], ignores_units=True)})
    must_fit({"x": claim(1, states=Rate(excess_risk, L * D), checks=[])})


# The library ---------------------------------------------------------------------------------------
def test_gaps_of_zhang17_are_those_of_the_catalogue() -> None:
    """Lemma 3's n ≥ 2; Theorem 4 with a step size read off the data."""
    found: dict[str, list[str]] = {}
    for claim_id, about in library.items():
        if claim_id.startswith("zhang17.t"):
            for check in citations_of(about, library):
                gap = check.run(about, QUICK)
                if gap.verdict is Verdict.UNCHECKED:
                    found.setdefault(claim_id, []).append(gap.figure + gap.detail)
    assert found.keys() >= {"zhang17.theorem1.strongly_convex", "zhang17.theorem5.privacy"}
    assert "n = 1 is allowed" in found["zhang17.theorem1.strongly_convex"][0]
    assert "do not depend on the data; assumed nowhere" in found["zhang17.theorem5.privacy"][0]
    assert not {"zhang17.theorem3.pure", "zhang17.theorem4", "zhang17.theorem5.convex.corrected"} & found.keys()


def test_the_lemmas_that_proofs_use_are_cited() -> None:
    uses = {k: {c.id for c in about.cites} for k, about in library.items()}
    assert uses["zhang17.theorem4"] >= {"zhang17.lemma9", "zhang17.theorem4.step", "zhang17.lemma10"}
    assert uses["zhang17.theorem2.pure.proof"] >= {"zhang17.lemma5", "zhang17.lemma6"}  # those of its chain
    assert uses["zhang17.theorem3.approx.proof"] >= {"zhang17.lemma7", "zhang17.lemma8"}
    assert uses["zhang17.equation4"] >= {"zhang17.lemma4"}


def test_what_a_proof_settles_itself_is_no_gap() -> None:
    """A citation under a case of the proof, or granted in words, is settled by the chain that cites."""
    lemma = claim(0, eps <= 1, Setting("records are drawn"))
    by = Chain(ratio, Step("<=", because=Cites(lemma.id, granted="they are")), Step("<=", STATEMENT))
    citing = claim(1, checks=[Cases({eps <= 1: by, eps > 1: by})])
    assert {c.id for c in citing.cites} == {lemma.id}
    assert citations_of(citing, {lemma.id: lemma}) == []
    assert citations_of(claim(2, checks=[by]), {lemma.id: lemma}) == []
    exact = claim(0, Eq(eps, 4))
    for number, verdict in ((4, Verdict.PROVED), (5, Verdict.UNCHECKED)):  # a constant exists: the proof says which
        by = Chain(ratio, Step("<=", because=Cites(exact.id)), Step("<=", STATEMENT), choosing={q: Integer(number)})
        exists = claim(4, Eq(eps, q), hidden=[q], checks=[by])
        assert [g.run(exists, QUICK).verdict for g in citations_of(exists, {exact.id: exact})] == [verdict]
    plain = claim(3, cites=[Cites(lemma.id)])
    assert [c.run(plain, QUICK).verdict for c in citations_of(plain, {lemma.id: lemma})] == [Verdict.UNCHECKED]
