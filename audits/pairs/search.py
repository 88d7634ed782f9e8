"""Pair search: classic patterns and random pairs race, the best are changed step by step and race again on fresh runs,
with the best pattern among them, and the winner is shrunk.

Everything here is paid from the audit's trials and uses seeds of its own, so the bound stays valid. All pairs, and
both datasets of a pair, are given the same seeds: where that means the same noise, few runs tell much; nothing relies
on it, since a mechanism may draw its noise elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from dpcheck.audits.outputs.columns import tamed
from dpcheck.audits.outputs.encoding import encoding_of
from dpcheck.audits.outputs.returned import joined
from dpcheck.audits.pairs.drawn_pairs import Examples, Pair, content
from dpcheck.audits.pairs.neighbours import Drawn, Neighbours
from dpcheck.audits.pairs.ranking import Figures, figures_of
from dpcheck.audits.pairs.shrinking import shrunk
from dpcheck.audits.scores.attacks import aimed, distinct_share
from dpcheck.audits.trials.executor import Chunk, chunk_size
from dpcheck.audits.trials.pilot import gather
from dpcheck.audits.trials.plan import SEARCH, AuditPlan
from dpcheck.bounds.language.errors import InvalidInput

BUDGET = 0.25  # share of the trials, up to LARGEST_BUDGET
LARGEST_BUDGET = 400_000
FINAL = 0.4  # of the budget, for a race between the last few on fresh runs: those that led were lucky, too
STARTED = 0.55  # of the rest, spent when the first race is over
CHANGED = 0.85  # of the rest, spent when changes end; shrinking has what is left
MOST_PAIRS = 256
FEW_PAIRS = 48  # even if the budget is small,
FEW_RUNS = 50  # as long as each can have so many of the budget's runs;
RUNS_PER_PAIR = 150  # beyond, each more pair has to have as many
FIRST_RUNS = 8  # enough to see which pairs are alike
FIRST = range(1)  # their block
FRONT = 4  # pairs from which changes start
MOST_CELLS = 4 * 10**6  # numbers that a round keeps
SAMPLE = 16  # pairs whose first outputs show whether outputs repeat
SURE = 500  # runs from which margins tell pairs apart better than anything else does; with fewer there is no final
NOISE = 10.0  # times 1 / sqrt(runs): a change must win by as much
NEAR = -0.3  # a margin from which a pair may yet turn out to be a violation
KEPT_MARGIN = 0.9  # a simpler pair must keep this share of the margin, unless what it has left
SAFE = 0.5  # is as much as this at the audit's own alpha
PARTS = 1 << 16  # chunks in a block, at most


@dataclass(frozen=True)
class SharedNoise(Chunk):
    """Runs whose noise depends neither on the pair nor on the dataset."""

    def rng(self, seed: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(SEARCH, self.index))))


@dataclass(eq=False)
class Contender:
    """A pair with its outputs by blocks, and its figures by some of the blocks."""

    pair: Pair
    stage: int
    classic: bool = False
    outputs: dict[int, list[Any]] = field(default_factory=dict)
    figures: dict[range, Figures] = field(default_factory=dict)

    def rows(self, blocks: range) -> tuple[np.ndarray, np.ndarray]:
        """The encoded outputs of both datasets."""
        raw = [joined(self.outputs[block][side] for block in blocks) for side in (0, 1)]
        encoding = encoding_of(joined(raw))
        return encoding(raw[0]), encoding(raw[1])


@dataclass(eq=False)
class Race:
    """Runs small audits of pairs, block by block, and counts what they cost. Block i is as long for every pair."""

    plan: AuditPlan
    budget: int
    spent: int = 0
    blocks: list[int] = field(default_factory=list)
    entered: int = 0
    seen: set[int] = field(default_factory=set)

    def enter(self, pair: Pair, classic: bool = False) -> Contender:
        """A new contender; its stage is a place of its own in checkpoints."""
        self.entered += 1
        self.seen.add(hash(content(pair)))
        return Contender(pair, SEARCH + self.entered, classic)

    def knows(self, pair: Pair) -> bool:
        """Whether this pair has been entered, or is none: twice the same dataset."""
        return hash(content(pair)) in self.seen or content(pair[0]) == content(pair[1])

    def block(self, trials: int) -> range:
        """A further block of so many runs."""
        self.blocks.append(trials)
        return range(len(self.blocks) - 1, len(self.blocks))

    def runs(self, blocks: range) -> int:
        """How many runs these blocks are."""
        return sum(self.blocks[block] for block in blocks)

    def affords(self, contender: Contender, blocks: range) -> bool:
        """Whether the budget has the trials for these blocks."""
        return self.spent + sum(self.blocks[i] for i in blocks if i not in contender.outputs) <= self.budget

    def run(self, contender: Contender, blocks: range) -> None:
        """These blocks, where missing."""
        size = chunk_size(self.plan.max_trials)
        for block in blocks:
            if block in contender.outputs:
                continue
            trials = self.blocks[block]
            work: list[Chunk] = [
                SharedNoise(contender.stage, side, PARTS * block + i, min(size, trials - i * size), i * size)
                for i in range(-(-trials // size))
                for side in (0, 1)
            ]
            contender.outputs[block] = gather(self.plan.runner(contender.pair), work)
            self.spent += trials

    def figures(self, contender: Contender, blocks: range) -> Figures:
        """What these blocks say of a pair."""
        if blocks not in contender.figures:
            self.run(contender, blocks)
            attack = aimed(self.plan.attack, self.plan.mechanism, contender.pair)
            first, second = contender.rows(blocks)
            trials = max(100, self.plan.max_trials - self.budget)
            contender.figures[blocks] = figures_of(attack, first, second, self.plan.goals, trials, self.plan.alpha)
        return contender.figures[blocks]

    def margin(self, contender: Contender, blocks: range) -> float:
        """The margin over the claim that an audit of this pair would about reach, by these blocks."""
        return self.figures(contender, blocks).margin


def find_pair(plan: AuditPlan) -> tuple[Pair, int]:
    """The most telling pair found within the budget, shrunk if it may be a violation; and its cost in trials."""
    near = plan.neighbours
    if near is None:
        remedy = "Pass pair=(data, neighbour) or neighbours=replace_one(low=0, high=1, n=10)."
        raise InvalidInput("pair", None, "given, or neighbours to search", remedy)
    race = Race(plan, budget=min(int(BUDGET * plan.max_trials), LARGEST_BUDGET))
    few = min(FEW_PAIRS, race.budget // FEW_RUNS)
    count = max(1, min(max(few, race.budget // RUNS_PER_PAIR), MOST_PAIRS, _most(near)))
    pairs = near.pairs(_rng(plan), count)
    if len(pairs) == 1:
        return pairs[0], 0
    found = different(race, pairs, {content(pair) for pair in near.few_classic(count)})
    if not found:
        return pairs[0], race.spent
    final = fresh_runs(race, found)
    rest = race.budget - (FRONT + 1) * final
    front = halving(race, found, int(STARTED * rest))
    whole = range(len(race.blocks))
    reached = improved(race, near, front, int(CHANGED * rest), whole)
    best, last = reached[0], whole
    if final:
        last = race.block(final)
        patterns = [contender for contender in front if contender.classic][:1]
        best = best_first(race, list(dict.fromkeys([*reached, *patterns])), last)[0]
    if race.margin(best, last) < NEAR:
        return best.pair, race.spent
    return simplest(race, near, best, count, whole), race.spent


def _most(near: Neighbours) -> int:
    """Pairs whose records are not too many numbers to hold."""
    return max(2 * FRONT, MOST_CELLS // (2 * near.n * (near.domain.d or 1)))


def _rng(plan: AuditPlan) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(plan.seed, spawn_key=(SEARCH, 2**31))))


def different(race: Race, pairs: Sequence[Pair], classic: set[Any]) -> list[Contender]:
    """The first pairs of each kind, as many as the budget can compare, after their first runs."""
    race.block(FIRST_RUNS)
    kinds: dict[Any, Contender] = {}
    width = 1
    for pair in pairs:
        if 2 * FIRST_RUNS * width * len(kinds) > MOST_CELLS:
            break
        if not race.knows(pair):
            contender = race.enter(pair, content(pair) in classic)
            race.run(contender, FIRST)
            rows = contender.rows(FIRST)
            width = rows[0].shape[1]
            kinds.setdefault(_kind(*rows) or contender, contender)
    found = list(kinds.values())
    if width == 1 or not found or _discrete(found[:SAMPLE]):
        return found
    # Where outputs have many columns, a pair needs more runs to show in which direction it moves them; where the noise
    # is the same, its first runs show how far.
    most = max(FRONT, int(race.budget / RUNS_PER_PAIR / (1 + np.log2(width))))
    return sorted(found, key=lambda contender: -_apart(*contender.rows(FIRST)))[:most]


def _apart(first: np.ndarray, second: np.ndarray) -> float:
    """How far a pair moves outputs, in standard deviations: by the same noise, if it is the same."""
    first, second = tamed(first), tamed(second)
    noise = np.sqrt(first.var(axis=0) + second.var(axis=0)) + 1e-300
    with np.errstate(over="ignore"):  # a column that moves without noise is infinitely far
        return float(np.linalg.norm((second - first).mean(axis=0) / noise))


def _discrete(contenders: list[Contender]) -> bool:
    """Whether outputs repeat, so that however many columns they have, counting them is enough."""
    raw = [joined(contender.outputs[0][side] for contender in contenders) for side in (0, 1)]
    encoding = encoding_of(joined(raw))
    return distinct_share(encoding(raw[0]), encoding(raw[1])) < 1 / 3


def _kind(first: np.ndarray, second: np.ndarray) -> bytes | None:
    """What the same noise makes of a pair: pairs that move outputs by the same amounts are alike.

    Only where no value repeats: outputs that agree in a few runs may still differ in rarer ones. Where noise is not
    the same, no two pairs are alike.
    """
    columns = np.sort(np.concatenate([first, second]), axis=0)
    if not np.isfinite(columns).all() or (columns[1:] == columns[:-1]).any():
        return None
    return (np.round((second - first) / np.abs(columns).max(axis=0), 9) + 0.0).tobytes()


def halving(race: Race, alive: list[Contender], budget: int) -> list[Contender]:
    """Successive halving to a few, the best first: each round costs the same, and earlier runs count on."""
    rounds = 1 + max(0, int(np.ceil(np.log2(len(alive) / FRONT))))
    left, width = budget - race.spent, alive[0].rows(FIRST)[0].shape[1]
    for _ in range(rounds):
        most = MOST_CELLS // (2 * width * len(alive)) - sum(race.blocks)
        race.block(max(1, min(left // rounds // len(alive), most)))
        alive = survivors(race, alive)
    return best_first(race, alive, range(len(race.blocks)))


def survivors(race: Race, alive: list[Contender]) -> list[Contender]:
    """The better half by margin; while runs are few, by margin and by separation in turn.

    Patterns and others have every other place: of the many others, some are always luckier than any pattern.
    """
    blocks = range(len(race.blocks))
    known = {contender: race.figures(contender, blocks) for contender in alive}
    best = sorted(alive, key=lambda contender: -known[contender].margin)
    if sum(race.blocks) < SURE and len(alive) > FRONT:
        apart = sorted(alive, key=lambda contender: -known[contender].separation)
        best = list(dict.fromkeys(one for both in zip(best, apart, strict=True) for one in both))
    leagues = [[contender for contender in best if contender.classic is classic] for classic in (False, True)]
    places = [one for both in zip_longest(*leagues) for one in both if one is not None]
    return places[: max(FRONT, (len(alive) + 1) // 2)]


def improved(race: Race, near: Neighbours, front: list[Contender], budget: int, whole: range) -> list[Contender]:
    """Steps from each pair of the front in turn, as long as the budget lasts; the pairs reached, the best first.

    A changed pair replaces the one it came from if it wins after each block, on all runs by more than noise.
    """
    rng = _rng(race.plan).spawn(1)[0]
    reached, fresh = list(front), True
    lead = NOISE / np.sqrt(race.runs(whole))
    while fresh:
        fresh = False
        for i, known in enumerate(reached):
            for pair in near.varied(known.pair, rng):
                if race.knows(pair) or not near.is_pair(*pair):
                    continue
                if race.spent + race.runs(whole) > budget:
                    return best_first(race, reached, whole)
                fresh, challenger = True, race.enter(pair)
                ahead = all(
                    race.margin(challenger, blocks) > race.margin(reached[i], blocks) + (blocks == whole) * lead
                    for blocks in (whole[:end] for end in range(min(3, len(whole)), len(whole) + 1))
                )
                if ahead:
                    reached[i] = challenger
                    break
    return best_first(race, reached, whole)


def fresh_runs(race: Race, found: list[Contender]) -> int:
    """Runs that each of the last few has in the final; none where these would be too few."""
    cells = 2 * found[0].rows(FIRST)[0].shape[1] * (FRONT + 1)
    runs = min(int(FINAL * race.budget) // (FRONT + 1), MOST_CELLS // cells)
    return runs if runs >= SURE else 0


def best_first(race: Race, contenders: list[Contender], blocks: range) -> list[Contender]:
    """By margin."""
    return sorted(contenders, key=lambda contender: -race.margin(contender, blocks))


def simplest(race: Race, near: Neighbours, best: Contender, count: int, whole: range) -> Pair:
    """The best pair shrunk: each step keeps its margin on few runs, and the one that is shown on all."""
    few = whole[: max(1, len(whole) - 2)]
    kept = [best]

    def as_telling(simpler: Contender, blocks: range) -> bool:
        if not race.affords(simpler, whole):
            return False
        before, after = race.margin(best, blocks), race.figures(simpler, blocks)
        return after.sure >= SAFE or after.margin >= before - (1 - KEPT_MARGIN) * max(before, 0.1)

    def keeps(pair: Pair) -> bool:
        simpler = race.enter(pair)
        if as_telling(simpler, few):
            kept.append(simpler)
            return True
        return False

    if isinstance(near, Drawn) and isinstance(near.source, Examples):
        found = near.source.shrunk(int(_rng(race.plan).integers(2**63)), count, best.pair, keeps)
        kept.sort(key=lambda contender: content(contender.pair) == content(found))
    elif not isinstance(near, Drawn) or near.admits is not None:
        shrunk(near, best.pair, keeps)
    return next((simpler.pair for simpler in reversed(kept) if as_telling(simpler, whole)), best.pair)
