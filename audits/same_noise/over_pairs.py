"""replay() of a pair, or of many: those that a search by audits would try, and hostile ones on request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from dpcheck.audits.pairs.drawn_pairs import Examples, Pair, content
from dpcheck.audits.pairs.neighbours import Drawn, Neighbours, as_neighbours
from dpcheck.audits.pairs.shrinking import shrunk
from dpcheck.audits.same_noise.replaying import replay_pair
from dpcheck.audits.same_noise.result import KEPT, UNSEEN, VIOLATED, Replayed
from dpcheck.audits.same_noise.stage import Released
from dpcheck.audits.trials.plan import claim_for
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee

PAIRS = 60
RELEASED = get_args(Released)
REASONS = 4  # shown of why pairs were not seen through
REORDERED = 8  # pairs in another order
MOST_SIMPLER = 400  # pairs that shrinking may try
HOSTILE = (float("nan"), float("inf"), float("-inf"), 1e300, -1e300, 5e-324)
RANK = {VIOLATED: 2, UNSEEN: 1, KEPT: 0}


def replay(
    mechanism: Any,
    pair: Pair | None = None,
    guarantee: Any = None,
    *,
    neighbours: Neighbours | None = None,
    pairs: int = PAIRS,
    hostile: bool = False,
    released: Released = "output",
    seed: int = 0,
) -> Replayed:
    """Run `mechanism(data, rng, trials)` on both datasets of `pair` under the same noise, and read off what it loses.

    Every draw of numpy's and Python's generators is heard, wherever they are made, and repeated. Where what comes out
    is a value with noise added, the loss is computed, not estimated: from how far the value moves and how much noise
    there is, line by line. The verdict is "violated", "kept on this pair" or "not seen through"; the last says what
    replay cannot read (noise that is multiplied, selection, rejection, sampling, a source of its own): that is left
    to `audit`. `released="noisy values"` counts every noisy value that the code looks at as released, as accountants of
    iterations do; by default only the output is.
    With `neighbours` and no pair, `pairs` of them are tried, and a violation is shrunk; `hostile` adds records
    outside of the domain (NaN, infinite and extreme values) and other orders of the records.
    Raises InvalidInput for bad arguments, and for a mechanism that fails on both datasets.

    >>> from dpcheck.bounds.language.guarantees import PureDP
    >>> def noisy_mean(data, rng, trials):
    ...     return data.mean() + rng.laplace(scale=0.05, size=trials)
    >>> replay(noisy_mean, (np.zeros(10), np.eye(10)[0]), PureDP(1.0)).finding
    'epsilon 2, claimed 1'
    """
    if not callable(mechanism):
        remedy = "Pass the function itself; per_run(f) wraps one of a single run."
        raise InvalidInput("mechanism", mechanism, "callable as mechanism(data, rng, trials)", remedy)
    if not isinstance(guarantee, Guarantee):
        raise InvalidInput("guarantee", guarantee, "a Guarantee", "Use PureDP(1.0), ApproxDP(1.0, 1e-5), ...")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput("seed", seed, "an integer >= 0", "Use seed=0.")
    if released not in RELEASED:
        raise InvalidInput("released", released, " or ".join(map(repr, RELEASED)), "Leave it out for the output alone.")
    if not isinstance(pairs, int | np.integer) or pairs < 1:
        raise InvalidInput("pairs", pairs, "an integer >= 1", "Leave it out to try 60.")
    if pair is None and neighbours is None:
        remedy = "Pass pair=(data, neighbour), or neighbours=replace_one(low=0, high=1, n=10)."
        raise InvalidInput("pair", pair, "given, or neighbours to search", remedy)
    if pair is not None and (not isinstance(pair, tuple | list) or len(pair) != 2):
        raise InvalidInput("pair", pair, "two datasets", "Pass pair=(data, neighbour).")
    if neighbours is None:
        assert pair is not None
        return replay_pair(mechanism, (pair[0], pair[1]), guarantee, int(seed), released)
    near = as_neighbours(neighbours, guarantee.relation)
    claim = claim_for(guarantee, near)
    if pair is not None and not near.is_pair(*pair):
        raise InvalidInput("pair", pair, f"neighbours ({near})", "Change one record only, and stay inside the domain.")

    def one(pair: Pair) -> Replayed:
        return replay_pair(mechanism, pair, claim, int(seed), released)

    return one((pair[0], pair[1])) if pair is not None else _over(one, near, int(pairs), hostile, int(seed))


def _over(one: Callable[[Pair], Replayed], near: Neighbours, count: int, hostile: bool, seed: int) -> Replayed:
    """The worst of many pairs."""
    started, rng = time.perf_counter(), np.random.default_rng(seed)
    found: list[Replayed] = []
    for pair in [*near.pairs(rng, count), *(hostile_pairs(near, rng) if hostile else ())]:
        if content(pair[0]) != content(pair[1]):
            found.append(one(pair))
    worst = max(found, key=lambda each: (RANK[each.verdict], each.low, each.high))
    runs = sum(each.runs for each in found)
    if worst.violated:
        worst, more = _simplest(one, near, worst, count)
        runs += more
    elif worst.verdict == UNSEEN:
        reasons = [*dict.fromkeys(reason for each in [worst, *found] for reason in each.unseen)]
        rest = [f"and {len(reasons) - REASONS} more reasons on other pairs"] if len(reasons) > REASONS else []
        worst = replace(worst, unseen=(*reasons[:REASONS], *rest))
    return replace(worst, pairs=len(found), runs=runs, seconds=time.perf_counter() - started)


def _simplest(one: Callable[[Pair], Replayed], near: Neighbours, worst: Replayed, count: int) -> tuple[Replayed, int]:
    """The same violation on a simpler pair, and the runs that took."""
    best, tried, runs = worst, 0, 0

    def keeps(pair: Pair) -> bool:
        nonlocal best, tried, runs
        tried += 1
        if tried > MOST_SIMPLER:
            return False
        simpler = one(pair)
        runs += simpler.runs
        if not (simpler.violated and simpler.low >= 0.9 * min(worst.low, 10 * worst.claimed)):
            return False
        best = simpler
        return True

    if isinstance(near, Drawn) and isinstance(near.source, Examples):
        near.source.shrunk(int(np.random.default_rng(worst.seed).integers(2**63)), count, worst.pair, keeps)
    elif near.is_pair(*worst.pair) and (not isinstance(near, Drawn) or near.admits is not None):
        shrunk(near, worst.pair, keeps)
    return best, runs


def hostile_pairs(near: Neighbours, rng: np.random.Generator) -> Iterator[Pair]:
    """Pairs of the relation outside of its domain: one record that no code expects, or all in another order."""
    for base in near.few_classic(4):
        parts = near.parts(base)
        if parts is None:
            return
        kept, old, new, place = parts
        for value in HOSTILE:
            for spread in (False, True):
                changed = [_hostile(record, value, spread) for record in (new or old)]
                if new:
                    yield near.build(kept, old, changed, place)
                else:
                    yield near.build(kept, changed, new, place)
    for _ in range(REORDERED):
        kept, old, new, place = near.parts(near.random(rng)) or ([], [], [], 0)
        if len(kept) > 1:
            order = [kept[i] for i in rng.permutation(len(kept))]
            yield near.build(kept, old, new, place)[0], near.build(order, old, new, len(kept) - place)[1]


def _hostile(record: Any, value: float, spread: bool) -> Any:
    """A record with a hostile number in one place, or everywhere."""
    if isinstance(record, tuple):
        places = [i for i, part in enumerate(record) if isinstance(part, float | np.floating | np.ndarray)]
        chosen = places if spread else places[:1]
        return tuple(_hostile(part, value, spread) if i in chosen else part for i, part in enumerate(record))
    if isinstance(record, np.ndarray) and record.dtype.kind == "f":
        changed = record.copy()
        changed[: None if spread else 1] = value
        return changed
    return value if isinstance(record, float | int | np.number) and not isinstance(record, bool) else record
