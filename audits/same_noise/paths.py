"""Paths: both datasets led through the same noisy values, and what each of these shows of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcheck.audits.same_noise.noisy_rows import Rows, verdict_of
from dpcheck.audits.same_noise.noisy_values import Selection, Trace
from dpcheck.audits.same_noise.responses import Units, response
from dpcheck.audits.same_noise.result import UNSEEN, Hiding, Replayed
from dpcheck.audits.same_noise.selections import added, log_weights, losses
from dpcheck.audits.same_noise.stage import Public, Seen, Stage, parting
from dpcheck.audits.same_noise.telling import told_apart, told_by_numbers
from dpcheck.bounds.language.guarantees import Guarantee

FREE = 600  # moves of noisy values, which cost no run
STEP = 0.2
FEW = 4  # numbers that are compared at once, and moved past their thresholds one at a time
BESIDE = 1e-6  # relative: how far beside a threshold its sides are looked at
GOLDEN = (5**0.5 - 1) / 2  # its multiples are spread evenly
Start = tuple[Sequence[np.ndarray], Sequence[int]]


@dataclass(frozen=True, eq=False)
class Path:
    """Both datasets along one path of noise: what the noisy values show, and those of the first dataset."""

    judged: Replayed
    number: int
    traced: Trace | None = None
    rows: Rows | None = None
    units: Units | None = None

    def beyond(self, side: int, distance: float, rest: float) -> tuple[np.ndarray, np.ndarray]:
        """Noisy values farther out than without noise on either dataset, by so many scales of their noise; and steps.

        Side 1 is where the second dataset moves them to. Those that do not move lie at their place, or far away. A step
        is much shorter than the way out: what is told up to a step lies beyond both datasets' values.
        """
        assert self.rows is not None
        assert self.units is not None
        rows, way = self.rows, np.sign(self.rows.moved)
        scale = np.zeros(len(way))
        np.maximum.at(scale, rows.ours.row, np.abs(rows.ours.slope))
        base = rows.first - rows.ours.moved(self.units.values)
        # A number without noise lies where it is, and steps to where the second dataset has it.
        steps = np.where(scale > 0, STEP * distance * scale, np.where(way == 0, 1.0, np.abs(rows.moved)))
        spread = distance * (1 + np.arange(len(way)) * GOLDEN % 1)  # no two alike
        places = base + (rows.moved if side == 1 else 0) + side * way * spread * scale
        far = 10 * max(1.0, float(np.abs(places).max(initial=0.0)))
        return np.where(way == 0, rows.first + rest * far, places), steps

    @property
    def answers(self) -> list[np.ndarray]:
        return [] if self.traced is None else self.traced.used

    @property
    def selections(self) -> list[Selection]:
        return [] if self.traced is None else self.traced.selections

    @property
    def early(self) -> bool:
        return self.traced is not None and self.traced.early

    @property
    def taken(self) -> list[int]:
        return [] if self.traced is None else self.traced.places

    def branches(self) -> Iterator[tuple[Any, Start]]:
        """Where else the code may go: both sides of every comparison, and what else may be selected; with names."""
        if self.traced is None:
            return
        for number, bound in self.traced.compared:
            answer, used = self.traced.answers[number], self.traced.used[number]
            if bound.size > used.size or not np.all(np.isfinite(bound)):
                continue
            level = np.broadcast_to(bound, used.shape)
            places = [*np.ndindex(used.shape)] if used.size <= FEW else [np.s_[...]]
            for place in places:
                for side in (1, 0, -1):
                    value = used.copy()
                    value[place] = (level + side * BESIDE * np.maximum(1.0, np.abs(level)))[place]
                    name = "side", number, str(place), level[place].tobytes(), side
                    yield name, ([*self.traced.used[:number], value], self.traced.places[: answer.after])
        for number, selection in enumerate(self.selections):
            for place in range(selection.size):
                if place != self.taken[number]:
                    start = self.traced.used[: selection.after], [*self.taken[:number], place]
                    yield ("selection", number, place), start


def along(
    stage: Stage,
    guarantee: Guarantee,
    result: Replayed,
    public: Public,
    number: int,
    early: bool,
    plain: Seen | None = None,
    moved: Mapping[int, np.ndarray] | None = None,
    start: Start = ((), ()),
) -> Path:
    """Both datasets along the path of this number, or of the same with its noise moved; `plain` is the run untraced.

    `start` has the answers and selections that the path begins with.
    """
    ours = Trace(*start, on=True, early=early)
    first = stage.run(0, moved, seed=number, trace=ours)
    theirs = Trace(ours.used, ours.places, early=early)
    second = stage.run(1, moved, seed=number, trace=theirs)
    followed = plain is None or first.same_as(plain)
    parted = parting(first, second) or theirs.astray
    counts = [(len(trace.answers), len(trace.selections)) for trace in (ours, theirs)]
    if counts[0] != counts[1]:
        parted = parted or "control flow parts: the datasets look at different numbers of noisy values"
    if not followed or parted or counts[0] == (0, 0):
        why = parted if followed else "noise is used in a way that cannot be followed"
        return Path(replace(result, unseen=(why or "no noisy value is seen on the way",)), number)
    if first.words != second.words:
        return Path(told_apart(stage, guarantee, result, first, second, []), number)
    if not np.array_equal(first.numbers, second.numbers):  # what is made of the same answers alone is the same bits
        return Path(told_by_numbers(stage, guarantee, result, first, second), number)
    units = Units.of(first.draws)
    rows = rows_of(ours, theirs, units)
    if rows is None:
        return Path(replace(result, unseen=("the noise is multiplied or bent before it is added",)), number)
    judged = rows.judged(guarantee, result, units, public)
    if ours.selections and public:
        judged = replace(judged, verdict=UNSEEN, low=0.0, unseen=("it selects, and some noise has a fixed seed",))
    elif ours.selections:
        judged = _with_selections(judged, rows, ours, theirs, units)
    return Path(judged, number, ours, rows, units)


def _with_selections(judged: Replayed, rows: Rows, ours: Trace, theirs: Trace, units: Units) -> Replayed:
    """What is selected, beside what is answered, by noise of its own."""
    weights: list[list[np.ndarray]] = [[], []]
    for found, trace, answers in ((weights[0], ours, rows.ours), (weights[1], theirs, rows.theirs)):
        used = {*answers.unit.tolist()}
        for selection in trace.selections:
            known = log_weights(selection, units, used)
            if known is None:
                why = f"{selection.site} selects by noise that is used elsewhere, or that is not read"
                return replace(judged, verdict=UNSEEN, low=0.0, high=math.inf, unseen=(why,))
            found.append(known)
    low, high = added(judged.low, judged.high, losses(*weights), judged.guarantee)
    made = list(judged.hidings)
    for selection, p, q in zip(ours.selections, *weights, strict=True):
        one = max(losses([p], [q]))
        if one > 1e-12:
            words = f"selects one of {len(p)}, whose probabilities move by a factor of {math.exp(min(one, 700)):.4g}"
            made.append(Hiding(selection.site, "selection", 0.0, one, (one, one), f"{words}: epsilon {one:.4g}"))
    verdict, unseen = verdict_of(low, high, judged.claimed), judged.unseen
    if verdict == UNSEEN and not unseen:
        unseen = ("no account is tight enough for these selections",)
    return replace(judged, verdict=verdict, low=low, high=high, hidings=tuple(made), unseen=unseen)


def rows_of(ours: Trace, theirs: Trace, units: Units) -> Rows | None:
    """All answers side by side."""
    empty = np.empty(0)
    values = [np.concatenate([empty, *(np.ravel(a.value) for a in trace.answers)]) for trace in (ours, theirs)]
    eps = np.concatenate([empty, *(np.full(a.value.size, a.eps) for a in ours.answers)])
    found = []
    for trace, before in zip((ours, theirs), values, strict=True):

        def outcome(move: np.ndarray, trace: Trace = trace) -> np.ndarray | None:
            moved = units.moved(move)
            with np.errstate(all="ignore"):
                again = [np.ravel(np.asarray(answer.again(moved), float)) for answer in trace.answers]
            return np.concatenate([empty, *again])

        one = response(outcome, before, units, FREE, eps)
        if one is None:
            return None
        found.append(one)
    names = [
        "the output" if answer.site is None else f"the noisy value at {answer.site}"
        for answer in ours.answers
        for _ in range(answer.value.size)
    ]
    return Rows(values[0], values[1], found[0], found[1], names, eps)
