"""What every registered claim must do beyond being shown (test_claim.py): its hypotheses can be met by numbers of the
symbols' own boxes, and there its formula has a value; and a share of the record is judged again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest
import sympy

from dpcheck.bounds.language.claim import Claim, Effort, Kind
from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.registry import entries
from dpcheck.verdicts.record import recorded
from dpcheck.verdicts.verify import verify_one, with_standing

CHAINS, SWEEPS = 500, 60
Points = dict[str, np.ndarray]


def drawn(symbol: sympy.Symbol, rng: np.random.Generator) -> np.ndarray:
    """Numbers for a symbol, log-uniform over its box; a third of them at one of its ends."""
    row = TABLE[symbol]
    low, high = max(row.box[0], 1e-12), min(row.box[1], row.below * (1 - 1e-9))
    values = np.exp(rng.uniform(np.log(low), np.log(high), CHAINS))
    ends = rng.integers(6, size=CHAINS)
    values = np.where(ends == 0, low, np.where(ends == 1, high, values))
    return np.maximum(1, np.round(values)) if row.integer else values


def defined(claim: Claim) -> dict[sympy.Symbol, sympy.Expr]:
    """Symbols that a hypothesis sets: η = 1/(2L)."""
    return {c.lhs: c.rhs for c in claim.conditions if isinstance(c, sympy.Eq) and c.lhs.is_Symbol}


@functools.cache
def numeric(names: tuple[sympy.Symbol, ...], formula: sympy.Basic) -> Callable[..., np.ndarray]:
    """The formula as a function of these symbols' numbers; sweeps ask for it again and again."""
    return sympy.lambdify(names, formula, "numpy")  # type: ignore[no-any-return]


def at(formula: sympy.Basic, points: Points) -> np.ndarray:
    names = tuple(sorted(formula.free_symbols, key=str))
    return np.broadcast_to(np.asarray(numeric(names, formula)(*(points[str(s)] for s in names))), CHAINS)


def filled(claim: Claim, points: Points) -> Points:
    """With the symbols that others define."""
    found = dict(points)
    for symbol, formula in defined(claim).items():
        found[str(symbol)] = at(formula, found).astype(float)
    return found


def broken(claim: Claim, points: Points) -> np.ndarray:
    """By how much each point breaks the numeric hypotheses: 0 inside, else their number and how far sides are apart."""
    found = np.zeros(CHAINS)
    for condition in claim.conditions:
        if isinstance(condition, sympy.Eq) and condition.lhs in defined(claim):
            continue
        sides = [at(side, points).astype(float) for side in (condition.lhs, condition.rhs)]
        holds = at(condition, points)
        apart = np.abs(sides[0] - sides[1]) / (np.abs(sides[0]) + np.abs(sides[1]) + 1e-300)
        found += np.where(holds, 0.0, 1 + np.nan_to_num(apart, nan=1.0))
    return found


def searched(claim: Claim) -> Points:
    """Points that were moved, one symbol at a time, to where they break the hypotheses less."""
    rng = np.random.default_rng(0)
    symbols = sorted(claim.symbols | claim.formula.free_symbols, key=str)
    with np.errstate(all="ignore"):  # ends of the boxes, where a formula may be 1/0
        points = filled(claim, {str(s): drawn(s, rng) for s in symbols})
        gap = broken(claim, points)
        for symbol in symbols * SWEEPS:
            if not claim.conditions or (gap == 0).mean() > 0.5:
                break
            tried = filled(claim, {**points, str(symbol): drawn(symbol, rng)})
            found = broken(claim, tried)
            points = {name: np.where(found < gap, tried[name], points[name]) for name in points}
            gap = np.minimum(gap, found)
    return {name: values[gap == 0] for name, values in points.items()}


@pytest.mark.parametrize("claim_id", entries())
def test_its_hypotheses_can_be_met_and_there_it_has_a_value(claim_id: str) -> None:
    claim = entries()[claim_id].claim
    some = searched(claim)
    count = len(next(iter(some.values()))) if some else 1
    assert count, "no numbers of the boxes meet its hypotheses"
    needed = sorted(claim.formula.free_symbols, key=str)
    with np.errstate(all="ignore"):
        finite = np.isfinite(np.broadcast_to(claim._numeric(*(some[str(s)] for s in needed)), count))
    if not finite.any():  # printed so: then a correction follows
        assert any(entry.claim.corrects == claim_id for entry in entries().values()), "its formula has no value there"
        return
    point = {name: float(values[np.argmax(finite)]) for name, values in some.items()}
    whole = {str(s): TABLE[s].integer for s in defined(claim)}
    if all(point[name] == round(point[name]) for name, needed in whole.items() if needed):  # nε/4 may be no count
        assert np.isfinite(claim.evaluate(**point))


def test_a_broken_hypothesis_is_refused_by_name() -> None:
    claim = entries()["zhang17.lemma2"].claim
    point = {name: float(values[0]) for name, values in searched(claim).items()}
    assert np.isfinite(claim.evaluate(**point))
    with pytest.raises(HypothesisViolated, match=r"zhang17\.lemma2"):
        claim.evaluate(**{**point, "eta": 2 / point["beta"]})


RECORDED = recorded()
QUICK = sorted(claim_id for claim_id in RECORDED if entries()[claim_id].claim.kind is not Kind.EXPERIMENT)
SHARE = sorted(np.random.default_rng(20).permutation(QUICK)[:20].tolist())


@pytest.mark.parametrize("claim_id", SHARE)
def test_a_share_of_the_record_is_what_the_checks_find(claim_id: str) -> None:
    """Twenty claims drawn once, experiments apart; `dpcheck verify` compares them all."""
    (found,) = with_standing([verify_one(claim_id, Effort())])
    assert str(found.verdict) == RECORDED[claim_id]["verdict"]
