"""Pairs that are judged by what they cite."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from sympy import Le, Rational

from dpcheck.bounds.language.claim import Cites, Setting, convex, lipschitz, smooth, strongly_convex
from dpcheck.bounds.language.guarantees import ADD_REMOVE, PureDP
from dpcheck.bounds.language.symbols import D, L, T, beta, eps, eta, m, mu, n, q, ratio
from dpcheck.bounds.proving.citations import Citation
from dpcheck.bounds.proving.proofs import Units
from invented.cases import Case, Draw, Pair, case, family, fraction


# Citation ------------------------------------------------------------------------------------------
def citing(lemma: Any, own: Any, where: Any = None, theirs: Any = None, mine: Any = None) -> Case:
    """A claim whose proof uses a lemma with these hypotheses, for these guarantees."""
    formula = L * D * eps * q * eta * beta * mu * T / (n * m)
    cited = case(Units(), Le(ratio, formula), *lemma, id="zhang17.invented0", guarantee=theirs).claim
    check = Citation(Cites(cited.id, where or {}), cited)
    return case(check, Le(ratio, 2 * formula), *own, guarantee=mine)


@family("citation", "a lemma for small ε used beyond", 3)
def cited_range(draw: Draw) -> Pair:
    end, more = draw(fraction), draw(st.sampled_from([Rational(11, 10), Rational(2), Rational(5)]))
    return citing((eps <= end,), (eps <= end,)), citing((eps <= end,), (eps <= end * more,))


@family("citation", "a step size too large for the lemma", 3)
def cited_step(draw: Draw) -> Pair:
    a = draw(fraction)
    lemma = (eta <= a / beta,)
    true = draw(st.sampled_from([a / beta, a / (beta + mu), a / (2 * beta)]))
    false = draw(st.sampled_from([2 * a / beta, a / mu, a * Rational(11, 10) / beta]))
    return citing(lemma, (), {eta: true}), citing(lemma, (), {eta: false})


@family("citation", "a sampling lemma outside its range", 3)
def cited_order(draw: Draw) -> Pair:
    """Batches of m out of n: α = m/n must stay below a limit of the lemma."""
    k = draw(st.integers(2, 8))
    lemma = (q <= Rational(1, k),)
    return citing(lemma, (m * k <= n,), {q: m / n}), citing(lemma, (m <= n,), {q: m / n})


@family("citation", "a full-batch constant for mini-batches", 1)
def cited_setting(draw: Draw) -> Pair:
    lemma = (Setting("full gradients"), convex())
    return citing(lemma, lemma), citing(lemma, (Setting("batches of m records"), convex()))


@family("citation", "strong convexity where there is none", 2)
def cited_losses(draw: Draw) -> Pair:
    k = draw(st.sampled_from([1, 2]))
    lemma = (strongly_convex(mu), smooth(k * beta))
    return citing(lemma, (strongly_convex(2 * mu), smooth(beta))), citing(lemma, (convex(), smooth(beta)))


@family("citation", "Lipschitz in a ball used everywhere", 1)
def cited_where(draw: Draw) -> Pair:
    return citing((lipschitz(L, "in a ball"),), (lipschitz(L),)), citing((lipschitz(L),), (lipschitz(L, "in a ball"),))


@family("citation", "add/remove for replace-one", 1)
def cited_neighbours(draw: Draw) -> Pair:
    added, replaced = PureDP(eps, relation=ADD_REMOVE), PureDP(eps)
    return citing((), (), theirs=added, mine=added), citing((), (), theirs=added, mine=replaced)
