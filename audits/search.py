"""Pair search: classic patterns and corners first, then changes of the best, and a shrunk counterexample.

Everything here is paid from the audit's trials and uses seeds of its own, so the bound stays valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audits.executor import chunk_size, chunks
from audits.neighbours import Neighbours, Pair
from audits.outputs import encoding_of, joined
from audits.pilot import gather, select
from audits.plan import SEARCH, Plan
from bounds.errors import InvalidInput
from bounds.guarantees import ADD_REMOVE, LABEL_ONLY, LOCAL

BUDGET = 0.25  # share of the trials
FIRST_ROUND = 24
RANKING_ALPHA = 0.05  # pairs are compared, not judged: the audit's own alpha only adds noise here
ROUNDS = 3
KEPT_MARGIN = 0.9  # a simpler pair must keep this share of the margin


@dataclass
class Trial:
    """Runs small audits of pairs, each on seeds of its own, and counts what they cost."""

    plan: Plan
    spent: int = 0
    count: int = 0
    seen: dict[str, float] = field(default_factory=dict)

    def margin(self, pair: Pair, trials: int) -> float:
        """The margin over the claim that an audit of this pair would about reach."""
        runner = self.plan.runner(pair)
        stage = SEARCH + self.count
        self.count += 1
        self.spent += trials
        raw = gather(runner, chunks(stage, trials, min(trials, chunk_size(self.plan.max_trials, 1))))
        encoding = encoding_of(joined(raw))
        test_trials = max(100, int((1 - BUDGET) * self.plan.max_trials))
        rows = (encoding(raw[0]), encoding(raw[1]))
        choice = select(self.plan.attack, *rows, self.plan.goals, test_trials, RANKING_ALPHA, light=True)
        return choice.margin


def find_pair(plan: Plan) -> tuple[Pair, int]:
    """The most telling pair found within the budget, shrunk if it looks like a violation; and its cost in trials."""
    near = plan.neighbours
    if near is None:
        remedy = "Pass pair=(data, neighbour) or neighbours=replace_one(low=0, high=1, n=10)."
        raise InvalidInput("pair", None, "given, or neighbours to search", remedy)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(plan.seed, spawn_key=(SEARCH, 2**31))))
    budget = max(10, int(BUDGET * plan.max_trials))
    trial = Trial(plan)
    pairs = near.pairs(rng, min(FIRST_ROUND, max(2, budget // 20)))
    best, margin = _halving(trial, pairs, budget // 2)
    each = max(10, budget // 2 // (ROUNDS * 8 + 24))
    for _ in range(ROUNDS):
        changed = [pair for pair in _variations(near, best, rng, 4) if near.is_pair(*pair)]
        for pair in changed:
            if trial.spent + 2 * each > budget:
                break
            found = trial.margin(pair, each)
            # A challenger must win twice: the first win may be luck.
            if found > margin and trial.margin(pair, each) > margin:
                best, margin = pair, found
    if margin > 0:
        best = _shrunk(trial, near, best, margin, each, budget)
    return best, trial.spent


def _halving(trial: Trial, pairs: Sequence[Pair], budget: int) -> tuple[Pair, float]:
    """Successive halving: few trials for all, twice as many for the better half, and so on."""
    alive = list(pairs)
    rounds = max(1, int(np.ceil(np.log2(len(alive)))))
    margins = [0.0] * len(alive)
    while True:
        each = max(5, budget // rounds // len(alive))
        margins = [trial.margin(pair, each) for pair in alive]
        order = np.argsort(-np.array(margins), kind="stable")
        if len(alive) <= 2:
            return alive[order[0]], margins[order[0]]
        alive = [alive[i] for i in order[: (len(alive) + 1) // 2]]


def _parts(near: Neighbours, pair: Pair) -> tuple[list[Any], list[Any], list[Any]] | None:
    """A pair as (kept, old, new) records, when its records are in the same places."""
    first, second = pair
    if near.relation.name == LOCAL.name:
        return [], [first], [second]
    if near.relation.name == LABEL_ONLY.name:
        rows = [(list(zip(X, y, strict=True))) for X, y in pair]
        first, second = rows[0], rows[1]
    if near.relation.name == ADD_REMOVE.name:
        gone = len(first) - len(second)
        return (list(second), list(first[:gone]), []) if gone >= 0 else None
    k = near.relation.size
    return list(first[k:]), list(first[:k]), list(second[:k])


def _variations(near: Neighbours, pair: Pair, rng: np.random.Generator, count: int) -> Iterator[Pair]:
    """The pair with some records redrawn: the background, the old value or the new one."""
    parts = None if near.source is not None else _parts(near, pair)
    if parts is None or near.relation.name == LABEL_ONLY.name:
        yield from near.pairs(rng, 64)[-count:]
        return
    kept, old, new = parts
    for i in range(count):
        if i % 2 == 0 and kept:
            some = rng.random(len(kept)) < rng.uniform(0.2, 1)
            fresh = near.domain.random(rng)
            yield near.build([fresh if s else r for s, r in zip(some, kept, strict=True)], old, new)
        elif i % 4 == 1:
            yield near.build(kept, [near.domain.random(rng) for _ in old], new)
        else:
            yield near.build(kept, old, [near.domain.random(rng) for _ in new])


def _shrunk(trial: Trial, near: Neighbours, pair: Pair, margin: float, each: int, budget: int) -> Pair:
    """The pair made simpler as long as it keeps its margin: one value for all kept records, rounder numbers."""
    parts = None if near.source is not None or near.relation.name == LABEL_ONLY.name else _parts(near, pair)
    if parts is None:
        return pair
    best = pair
    for simpler in _simpler(near, parts):
        if trial.spent + each > budget:
            break
        if _cost(simpler) >= _cost(best) or not near.is_pair(*simpler):
            continue
        if trial.margin(simpler, each) >= KEPT_MARGIN * margin:
            best = simpler
    return best


def _simpler(near: Neighbours, parts: tuple[list[Any], list[Any], list[Any]]) -> Iterator[Pair]:
    """Candidates, the simplest first: backgrounds of one plain value, then rounder old and new records."""
    kept, old, new = parts
    plain = sorted(near.domain.corners(), key=_cost_of_record)[:4]
    backgrounds = [[value] * len(kept) for value in plain] if kept else [kept]
    values = plain if near.relation.name != ADD_REMOVE.name else []
    for background in backgrounds:
        for a in values[:3]:
            yield near.build(background, [a] * len(old), new)
            yield near.build(background, old, [a] * len(new))
        yield near.build(background, old, new)
    if near.domain.values is None:
        for digits in (0, 1, 2):
            rounder = [[np.round(record, digits) for record in part] for part in (kept, old, new)]
            yield near.build(*rounder)


def _cost_of_record(record: Any) -> float:
    try:
        row = np.asarray(record, float).ravel()
    except (TypeError, ValueError):
        return 1.0
    # Zeros are free, small integers nearly so, decimals cost their digits.
    return float(sum(0.0 if v == 0 else 1.0 if v == round(v) else 2.0 + len(f"{v:.6g}") for v in row))


def _cost(pair: Pair) -> float:
    """How much a reader has to take in: distinct records first, then their digits."""
    records = [record for data in pair for record in (data if np.ndim(data) else [data])]
    distinct = len({repr(np.asarray(record).tolist()) for record in records})
    return 10.0 * distinct + sum(_cost_of_record(record) for record in records) / max(1, len(records))
