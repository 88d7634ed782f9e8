"""replay(): the mechanism on both datasets under the same noise, and again with the noise moved.

What comes out is read as `base + slope * noise` (responses.py); how far the base moves between the datasets, against
how much noise, is the privacy loss (hidden_shifts.py). Where the output is something else, what was noisy on the way is
read so (noisy_values.py). Nothing is estimated.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpcheck.audits.outputs.foreign import OPAQUE
from dpcheck.audits.outputs.returned import Mechanism
from dpcheck.audits.pairs.neighbours import Pair
from dpcheck.audits.same_noise.by_answers import by_answers, converted
from dpcheck.audits.same_noise.draws import CHOICE, COIN, GEOMETRIC, twins_of_seed
from dpcheck.audits.same_noise.enumeration import Tosses, distribution, likeliest, loss
from dpcheck.audits.same_noise.holdings import changed, state
from dpcheck.audits.same_noise.listening import listening
from dpcheck.audits.same_noise.noisy_rows import SLACK, Rows, verdict_of
from dpcheck.audits.same_noise.noisy_values import Trace
from dpcheck.audits.same_noise.responses import Units, response
from dpcheck.audits.same_noise.result import KEPT, UNSEEN, VIOLATED, Replayed, claimed_by
from dpcheck.audits.same_noise.stage import Public, Released, Seen, Stage, parting, public_seeds
from dpcheck.audits.same_noise.telling import runs_to_tell, told_apart
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee

DISCRETE = {"uniform", CHOICE, COIN}  # laws of draws that may have few outcomes
ALONE = 12  # units that are moved one at a time
FRESH = 10  # runs under other noise that confirm a number without any
FEW = 2  # such runs where all uses of noise were seen
OTHER = 3  # their first seed
OWN_SOURCE = "it draws from a source of its own, or keeps state: the same data and noise gave another output"
OWN_NOISE = ("opendp", "jax", "tensorflow")  # libraries with generators that nobody listens to


def replay_pair(
    mechanism: Mechanism, pair: Pair, guarantee: Guarantee, seed: int = 0, released: Released = "output"
) -> Replayed:
    """What one pair shows."""
    started = time.perf_counter()
    with listening(mechanism) as room:
        stage = Stage(mechanism, (pair[0], pair[1]), seed, room, released)
        judged = _judged_in_any_order(stage, guarantee)
    return replace(judged, runs=stage.runs, seconds=time.perf_counter() - started)


def _judged_in_any_order(stage: Stage, guarantee: Guarantee) -> Replayed:
    """The verdict, if no run depends on those before it; a violation stands if these runs can be repeated."""
    opening = stage.run(0), stage.run(1)
    before = state(stage.mechanism)  # whatever is made on first use has been made
    judged = _judge(stage, guarantee, *opening)
    closing = [stage.run(side) for side in (1, 0)][::-1]
    kept = changed(before, state(stage.mechanism))
    if not all(one.same_as(two) for one, two in zip(opening, closing, strict=True)):
        why = OWN_SOURCE
    elif kept and not judged.violated:
        why = f"it keeps state from run to run: {kept} has changed, and later runs may release something else"
    else:
        return judged
    return replace(judged, verdict=UNSEEN, low=0.0, high=math.inf, hidings=(), leaks=(), unseen=(why,), notes=())


def _judge(stage: Stage, guarantee: Guarantee, first: Seen, second: Seen) -> Replayed:
    result = Replayed(UNSEEN, guarantee, 0.0, math.inf, claimed_by(guarantee), stage.pair, seed=stage.seed)
    if 0 in stage.failed and 1 in stage.failed:
        what = "what the mechanism does on both datasets"
        raise InvalidInput(what, stage.failed[0], "to return an output", "Mend it, or pass another pair.")
    again, fresh = stage.run(0), stage.run(0, seed=1)
    if not (first.same_as(again) and first.way == again.way):
        return replace(result, unseen=(OWN_SOURCE,))
    public = public_seeds(first, fresh)
    unheard = [*_unheard(stage, first, second, public)]
    judged = _judge_by_noise(stage, guarantee, result, first, second, public, unheard)
    laws = {draw.law for draw in (*first.draws, *second.draws)}
    if judged.verdict == UNSEEN and not unheard and GEOMETRIC in laws and laws <= {*DISCRETE, GEOMETRIC}:
        listed = _listed_in_part(stage, guarantee, result, public)
        judged = judged if listed is None else listed
    return judged


def _judge_by_noise(
    stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen, public: Public, unheard: list[str]
) -> Replayed:
    unseen = [*unheard]
    discrete = {draw.law for draw in (*first.draws, *second.draws)} <= DISCRETE
    if first.draws and discrete and not unseen:
        listed = _enumerated(stage, guarantee, result, public)
        if listed is not None:
            return listed
    if first.words != second.words:
        told = told_apart(stage, guarantee, result, first, second, unseen)
        if told.violated:
            return told
        unseen = list(told.unseen) if not first.draws else unseen
    coins = [f"{draw.site} draws by {draw.call}(): no noise that is added" for draw in (*first.coins, *second.coins)]
    parted = parting(first, second)
    unseen += [*dict.fromkeys(coins), *([parted] if parted else [])]
    if unseen:
        return replace(result, unseen=tuple(unseen))
    if not any(draw.law != COIN for draw in first.draws):
        return _without_draws(stage, guarantee, result, first, second)
    chosen = any(draw.law == CHOICE for draw in first.draws) or first.words != second.words
    if chosen or stage.released == "noisy values":
        return by_answers(stage, guarantee, result, first, public)
    traces = [Trace(), Trace()]
    for side, trace in enumerate(traces):
        stage.run(side, trace=trace)
        if trace.decides:  # where it is compared, a few moves do not speak for all noise
            return by_answers(stage, guarantee, result, first, public)
    plain = converted(traces[0])
    judged = _by_output(stage, guarantee, result, first, second, public, followed=not plain)
    return replace(judged, notes=(*judged.notes, *plain)) if judged.kept else judged


def _unheard(stage: Stage, first: Seen, second: Seen, public: Public) -> Iterator[str]:
    """Why what these runs show is not all there is."""
    yield from dict.fromkeys((*first.sources, *second.sources, *stage.room.strays()))
    yield from (said for _, said in first.words if isinstance(said, str) and said.startswith(OPAQUE))
    for run in (first, second):
        shared = twins_of_seed(run.draws, public)
        if shared is not None:
            yield f"{shared[0].site} and {shared[1].site} draw from generators that were made with one seed"
            break
    seeds = any(draw.law == COIN for draw in first.draws) and not first.coins
    if seeds and not stage.run(0, other_coins=True).same_as(first):
        yield "what seeds a generator is used for something else, too"


def _enumerated(stage: Stage, guarantee: Guarantee, result: Replayed, public: Public) -> Replayed | None:
    """By the probabilities of all outputs, if these can be listed."""
    listed = []
    for side in (0, 1):
        found = distribution(partial(_outcome, stage, public, side))
        if found is None:
            stage.failed.clear()
            return None
        listed.append(found)
    low, high = loss(listed[0], listed[1], guarantee)
    verdict = verdict_of(low, high, result.claimed)
    unseen = () if verdict != UNSEEN else ("no account is tight enough for these probabilities",)
    note = f"by the probabilities of all {len({*listed[0], *listed[1]})} outputs"
    return replace(result, verdict=verdict, low=low, high=high, unseen=unseen, notes=(note,))


def _listed_in_part(stage: Stage, guarantee: Guarantee, result: Replayed, public: Public) -> Replayed | None:
    """By the probabilities of the likeliest outputs, where geometric noise has no last one; None if that is too few."""
    first, second = (partial(_outcome, stage, public, side) for side in (0, 1))
    bounds = likeliest(first, second, guarantee, result.claimed * (1 + SLACK))
    if bounds is None:
        stage.failed.clear()
        return None
    verdict = verdict_of(*bounds, result.claimed)
    if verdict == UNSEEN or (verdict == KEPT and stage.released != "output"):
        return None
    note = "by the probabilities of the likeliest outputs; those of the others count for the claim"
    return replace(result, verdict=verdict, low=bounds[0], high=bounds[1], notes=(note,))


def _outcome(stage: Stage, public: Public, side: int, tosses: Tosses) -> Any:
    """The output of a run with given outcomes of its coins."""
    run = stage.run(side, trace=tosses)
    repeated = [draw.again for draw in run.draws if draw.again is not None and draw.law != COIN]
    known = any(draw.seed in public for draw in run.draws)
    tosses.endless = any(draw.law == GEOMETRIC for draw in run.draws)
    tosses.lost = tosses.lost or known or bool(run.sources or run.coins) or len(repeated) > len({*repeated})
    return run.words, run.numbers.tobytes()


def _by_output(
    stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen, public: Public, followed: bool
) -> Replayed:
    """The output itself as base and noise; where it is not, what was noisy on the way."""
    units = Units.of(first.draws)

    def outcome(side: int, before: Seen) -> Any:
        def moved(move: np.ndarray) -> np.ndarray | None:
            after = stage.run(side, units.offsets(move))
            return after.numbers if after.words == before.words and after.way == before.way else None

        return moved

    ours = response(outcome(0, first), first.numbers, units, ALONE, first.eps)
    theirs = response(outcome(1, second), second.numbers, units, ALONE, second.eps) if ours is not None else None
    everything = np.ones(len(units.values), dtype=bool)
    heard = ours is not None and theirs is not None and ours.hears(everything) and theirs.hears(everything)
    if ours is None or theirs is None or not (heard or followed):
        # A draw that moves no number may still decide something, where its use was not seen.
        return by_answers(stage, guarantee, result, first, public)
    rows = Rows(first.numbers, second.numbers, ours, theirs, first.names, max(first.eps, second.eps))
    judged, shifts = rows.judged(guarantee, result, units, public), rows.shifts(units, public)
    fresh = FEW if followed else min(runs_to_tell(guarantee), FRESH)
    if shifts.bare and not _apart(stage, first, second, shifts.bare[0], fresh):
        return replace(result, unseen=(f"{first.names[shifts.bare[0]]} is no number with noise added",))
    return judged


def _apart(stage: Stage, first: Seen, second: Seen, row: int, fresh: int) -> bool:
    """Whether a number that no noise moved stays apart under other noise: a rule may look at noise from afar."""
    values: list[list[float]] = []
    for side, before in enumerate((first, second)):
        values.append([float(before.numbers[row])])
        for i in range(fresh):
            after = stage.run(side, seed=OTHER + i)
            if after.words != before.words:
                return False
            values[side].append(float(after.numbers[row]))
    return max(values[0]) < min(values[1]) or max(values[1]) < min(values[0])


def _without_draws(stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen) -> Replayed:
    """Nothing was drawn: then the output must not move at all."""
    foreign = [name for name in OWN_NOISE if name in sys.modules]
    if foreign:
        return told_apart(stage, guarantee, result, first, second, [f"{' or '.join(foreign)} may draw by itself"])
    if any(not stage.run(side).same_as(before) for _ in range(FRESH) for side, before in enumerate((first, second))):
        return replace(result, unseen=(OWN_SOURCE,))
    rows = np.flatnonzero(first.numbers != second.numbers)
    if len(rows) == 0:
        return replace(result, verdict=KEPT, high=0.0, notes=("nothing was drawn, and the output is the same",))
    row = rows[0]
    moved = f"{first.names[row]} moved by {abs(second.numbers[row] - first.numbers[row]):.4g}, and no noise was drawn"
    return replace(result, verdict=VIOLATED, low=math.inf, leaks=(moved,))
