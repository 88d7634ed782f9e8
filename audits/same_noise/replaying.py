"""replay(): the mechanism on both datasets under the same noise, and again with the noise moved.

What comes out is read as `base + slope * noise` (responses.py); how far the base moves between the datasets, against
how much noise, is the privacy loss (hidden_shifts.py). Where the output is something else, what was noisy on the way is
read so (noisy_values.py). Nothing is estimated.
"""

from __future__ import annotations

import copy
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np

from dpcheck.audits.outputs.canonical import form_of
from dpcheck.audits.outputs.returned import FailedRun, Mechanism, as_array
from dpcheck.audits.pairs.neighbours import Pair
from dpcheck.audits.same_noise.enumeration import Tosses, distribution, loss
from dpcheck.audits.same_noise.hidden_shifts import Shifts, cost, shifts_of
from dpcheck.audits.same_noise.listening import CHOICE, COIN, GEOMETRIC, Book, Draw, Room, listening
from dpcheck.audits.same_noise.noisy_values import Selection, Trace, arrays_of_noise, seen
from dpcheck.audits.same_noise.responses import Response, Units, response
from dpcheck.audits.same_noise.result import (
    KEPT,
    UNSEEN,
    VIOLATED,
    Hiding,
    Replayed,
    Verdict,
    claimed_by,
    interval,
    order_of,
    parameter_of,
)
from dpcheck.audits.same_noise.selections import added, log_weights, losses
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP

SLACK = 1e-6  # relative: what rounding may add to a cost
LOSS = 1e-12  # relative: what floats lose of an output
ALONE = 12  # units that are moved one at a time
SURE = 1e-6  # false-alarm rate of telling outputs apart by running
PATHS = 3  # of noise, along which noisy values are followed
FREE = 600  # moves of noisy values, which cost no run
STEP = 0.2
GOLDEN = (5**0.5 - 1) / 2  # its multiples are spread evenly
NEAR_BY = (3.0, 0.3, 0.01)  # scales of noise beyond both values
IN_BULK = (1.0, 0.3)
FRESH = 10  # runs under other noise that confirm a number without any
MOST_TOLD = 64  # runs on each dataset for that
OWN_NOISE = ("opendp", "torch", "jax", "tensorflow")  # libraries with generators that nobody listens to


Released = Literal["output", "noisy values"]
Public = frozenset[str | None]  # seeds that are the same in every run


@dataclass(frozen=True, eq=False)
class Seen:
    """One run: its output as numbers and words, and what was drawn for it."""

    numbers: np.ndarray
    words: tuple[Any, ...]
    names: tuple[str, ...]
    draws: tuple[Draw, ...]
    sources: tuple[str, ...]
    coins: tuple[Draw, ...]  # draws that are no noise, and seed no generator

    @property
    def way(self) -> tuple[Any, ...]:
        """Where control flow went, as far as draws show it."""
        return tuple(draw.kind for draw in self.draws)

    def same_as(self, other: Seen) -> bool:
        """Whether both released the same."""
        return self.words == other.words and np.array_equal(self.numbers, other.numbers)


@dataclass(eq=False)
class Stage:
    """A mechanism and a pair; counts runs."""

    mechanism: Mechanism
    pair: Pair
    seed: int
    room: Room
    released: Released = "output"
    runs: int = 0
    failed: dict[int, str] = field(default_factory=dict)

    def run(
        self, side: int, moved: Mapping[int, np.ndarray] | None = None, seed: int = 0, trace: Trace | None = None
    ) -> Seen:
        """One run on a dataset of the pair, with the units of some draws moved, or its noisy values traced."""
        self.runs += 1
        book = Book(self.seed + seed, {} if moved is None else moved)
        tracing: Any = nullcontext()
        if trace is not None:
            book.made, book.chosen, tracing = trace.made, trace.chosen, arrays_of_noise()
            book.tossing = isinstance(trace, Tosses)
        data = copy.deepcopy(self.pair[side])
        with self.room.run(book) as rng, tracing:
            try:
                output = as_array(seen(self.mechanism(data, rng, 1)))[0]
            except (FailedRun, Exception) as error:  # what it raises is seen, too
                cause = error.cause if isinstance(error, FailedRun) else error
                self.failed[side] = output = f"raised {type(cause).__name__}: {cause}"
        coins = [draw for i, draw in enumerate(book.draws) if draw.law == COIN and i not in book.seeds]
        return Seen(*_read(output), tuple(book.draws), tuple(dict.fromkeys(book.sources)), tuple(coins))


def _read(output: Any) -> tuple[np.ndarray, tuple[Any, ...], tuple[str, ...]]:
    """An output's numbers, the words around them, and a name for each number."""
    numbers: list[np.ndarray] = []
    words: list[Any] = []
    names: list[str] = []
    for name, leaf in form_of(output).items():
        values = np.ravel(np.asarray(leaf, float)) if not isinstance(leaf, str) else None
        if values is None or not np.all(np.isfinite(values)):
            words.append((name, str(leaf)))
            continue
        words.append((name, np.shape(leaf)))
        numbers.append(values)
        names += [name] if values.size == 1 else [f"{name}[{i}]" for i in range(values.size)]
    return np.concatenate(numbers) if numbers else np.empty(0), tuple(words), tuple(names)


def replay_pair(
    mechanism: Mechanism, pair: Pair, guarantee: Guarantee, seed: int = 0, released: Released = "output"
) -> Replayed:
    """What one pair shows."""
    started = time.perf_counter()
    with listening(namespaces_of(mechanism)) as room:
        stage = Stage(mechanism, (pair[0], pair[1]), seed, room, released)
        judged = _judge(stage, guarantee)
    return replace(judged, runs=stage.runs, seconds=time.perf_counter() - started)


def _judge(stage: Stage, guarantee: Guarantee) -> Replayed:
    result = Replayed(UNSEEN, guarantee, 0.0, math.inf, claimed_by(guarantee), stage.pair, seed=stage.seed)
    first, again, second = stage.run(0), stage.run(0), stage.run(1)
    if 0 in stage.failed and 1 in stage.failed:
        raise InvalidInput("mechanism", stage.failed[0], "one that runs on the pair", "Mend it, or pass another pair.")
    fresh = stage.run(0, seed=1)
    if not (first.same_as(again) and first.way == again.way):
        return replace(result, unseen=("it draws from a source of its own: the same noise gave another output",))
    unseen = list(dict.fromkeys((*first.sources, *second.sources, *stage.room.strays())))
    public = frozenset(draw.seed for draw in first.draws) & {draw.seed for draw in fresh.draws} - {None}
    discrete = {draw.law for draw in (*first.draws, *second.draws)} <= {"uniform", CHOICE, COIN}
    if first.draws and discrete and not unseen:
        listed = _enumerated(stage, guarantee, result, public)
        if listed is not None:
            return listed
    if first.words != second.words:
        told = _told_apart(stage, guarantee, result, first, second, unseen)
        if told.violated:
            return told
        unseen = list(told.unseen) if not first.draws else unseen
    coins = [f"{draw.site} draws by {draw.call}(): no noise that is added" for draw in (*first.coins, *second.coins)]
    parted = _parting(first, second)
    unseen += [*dict.fromkeys(coins), *([parted] if parted else [])]
    if unseen:
        return replace(result, unseen=tuple(unseen))
    if not any(draw.law != COIN for draw in first.draws):
        return _without_draws(stage, guarantee, result, first, second)
    chosen = any(draw.law == CHOICE for draw in first.draws) or first.words != second.words
    if chosen or stage.released == "noisy values":
        return by_answers(stage, guarantee, result, first, public)
    return _by_output(stage, guarantee, result, first, second, public)


def _enumerated(stage: Stage, guarantee: Guarantee, result: Replayed, public: Public) -> Replayed | None:
    """By the probabilities of all outputs, if these can be listed."""

    def output(side: int, tosses: Tosses) -> Any:
        run = stage.run(side, trace=tosses)
        repeated = [draw.again for draw in run.draws if draw.again is not None and draw.law != COIN]
        known = any(draw.seed in public for draw in run.draws)
        tosses.lost = tosses.lost or known or bool(run.sources or run.coins) or len(repeated) > len({*repeated})
        return run.words, tuple(np.round(run.numbers, 9).tolist())

    listed = []
    for side in (0, 1):
        found = distribution(partial(output, side))
        if found is None:
            stage.failed.clear()
            return None
        listed.append(found)
    low, high = loss(listed[0], listed[1], guarantee)
    verdict = verdict_of(low, high, result.claimed)
    unseen = () if verdict != UNSEEN else ("no account is tight enough for these probabilities",)
    note = f"by the probabilities of all {len({*listed[0], *listed[1]})} outputs"
    return replace(result, verdict=verdict, low=low, high=high, unseen=unseen, notes=(note,))


def _by_output(
    stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen, public: Public
) -> Replayed:
    """The output itself as base and noise; where it is not, what was noisy on the way."""
    units = Units.of(first.draws)

    def outcome(side: int, before: Seen) -> Any:
        def moved(move: np.ndarray) -> np.ndarray | None:
            after = stage.run(side, units.offsets(move))
            return after.numbers if after.words == before.words and after.way == before.way else None

        return moved

    ours = response(outcome(0, first), first.numbers, units, ALONE)
    theirs = response(outcome(1, second), second.numbers, units, ALONE) if ours is not None else None
    everything = np.ones(len(units.values), dtype=bool)
    if ours is None or theirs is None or not (ours.hears(everything) and theirs.hears(everything)):
        # A draw that moves no number may still decide something.
        return by_answers(stage, guarantee, result, first, public)
    rows = Rows(first.numbers, second.numbers, ours, theirs, first.names)
    judged, shifts = rows.judged(guarantee, result, units, public), rows.shifts(units, public)
    if shifts.bare and not _constant(stage, guarantee, first, second, shifts.bare[0]):
        return replace(result, unseen=(f"{first.names[shifts.bare[0]]} is no number with noise added",))
    return judged


def _constant(stage: Stage, guarantee: Guarantee, first: Seen, second: Seen, row: int) -> bool:
    """Whether a number that no noise moved is the same under other noise: a rule may look at noise from afar."""
    for side, before in enumerate((first, second)):
        for i in range(min(runs_to_tell(guarantee), FRESH)):
            after = stage.run(side, seed=PATHS + i)
            if after.words != before.words or not near(after.numbers, before.numbers)[row]:
                return False
    return True


@dataclass(frozen=True, eq=False)
class Rows:
    """Noisy numbers on both datasets under the same noise, and how they respond to it."""

    first: np.ndarray
    second: np.ndarray
    ours: Response
    theirs: Response
    names: Sequence[str]

    def shifts(self, units: Units, public: Public) -> Shifts:
        """Of the noise, that hide how far they moved."""
        known = np.array([draw.seed in public for draw in units.draws], dtype=bool)[units.draw]
        rates = [-math.log1p(-(d.parameter or 0.0)) if d.law == GEOMETRIC else 0.0 for d in units.draws]
        lost = LOSS * (np.abs(self.first) + np.abs(self.second))
        return shifts_of(self.moved, self.ours, self.theirs, lost, np.array(rates)[units.draw], known)

    @property
    def moved(self) -> np.ndarray:
        return np.asarray(self.second - self.first)

    def judged(self, guarantee: Guarantee, result: Replayed, units: Units, public: Public) -> Replayed:
        """What they show of the guarantee, if all of them are released."""
        shifts = self.shifts(units, public)
        low, high = cost(shifts, guarantee)
        verdict = verdict_of(low, high, result.claimed)
        unseen = () if verdict != UNSEEN else (shifts.unclear or "no account is tight enough for this noise",)
        hidings = hidings_of(shifts, self.ours, self.moved, units, guarantee)
        leaks = leaks_of(shifts, self.moved, self.names, public, units.draws)
        return replace(result, verdict=verdict, low=low, high=high, hidings=hidings, leaks=leaks, unseen=unseen)


# By what is noisy on the way -------------------------------------------------------------------------
def by_answers(stage: Stage, guarantee: Guarantee, result: Replayed, plain: Seen, public: Public) -> Replayed:
    """The noisy values that are looked at, as late as the code does or before they meet more data: both bound the loss.

    Looking late, values that meet data again may seem to share noise that hides neither: that alone is no violation.
    """
    late = _by_answers(stage, guarantee, result, plain, public, early=False)
    if late.kept:
        return late
    early = _by_answers(stage, guarantee, result, plain, public, early=True)
    if early.kept or early.violated:
        return early if early.kept or not late.violated or early.low < late.low else late
    if late.violated and any("of their own" in leak for leak in late.leaks):
        return replace(early, unseen=(*early.unseen, *late.leaks))
    return late


def _by_answers(
    stage: Stage, guarantee: Guarantee, result: Replayed, plain: Seen, public: Public, early: bool
) -> Replayed:
    paths = []
    for number in range(PATHS):
        path = _along(stage, guarantee, result, plain if number == 0 else None, public, number, early)
        if path.judged.verdict == UNSEEN or path.traced is None:
            return path.judged
        paths.append(path)
    worst = max((path.judged for path in paths), key=lambda each: (each.violated, each.low, each.high))
    note = f"by the noisy values that are looked at, along {PATHS} paths of noise"
    if worst.violated and stage.released == "output" and not _reveals(stage, paths[0], guarantee):
        bound = f"{parameter_of(guarantee)} {interval(worst.low, worst.high)}{order_of(guarantee)}"
        why = f"the output may reveal less than the noisy values: these cost {bound}, by released='noisy values'"
        return replace(worst, verdict=UNSEEN, low=0.0, unseen=(why,))
    return replace(worst, notes=(*worst.notes, note))


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
        spread = distance * (1 + np.arange(len(way)) * GOLDEN % 1)  # no two alike
        places = base + (rows.moved if side == 1 else 0) + side * way * spread * scale
        far = 10 * max(1.0, float(np.abs(places).max(initial=0.0)))
        return np.where(way == 0, rows.first + rest * far, places), STEP * distance * scale

    @property
    def answers(self) -> list[np.ndarray]:
        return [] if self.traced is None else [answer.value for answer in self.traced.answers]

    @property
    def selections(self) -> list[Selection]:
        return [] if self.traced is None else self.traced.selections

    @property
    def early(self) -> bool:
        return self.traced is not None and self.traced.early

    @property
    def taken(self) -> list[int]:
        return [selection.place for selection in self.selections]


def _along(
    stage: Stage, guarantee: Guarantee, result: Replayed, plain: Seen | None, public: Public, number: int, early: bool
) -> Path:
    ours = Trace(early=early)
    first = stage.run(0, seed=number, trace=ours)
    taken = [selection.place for selection in ours.selections]
    theirs = Trace([answer.value for answer in ours.answers], taken, early)
    second = stage.run(1, seed=number, trace=theirs)
    followed = plain is None or (first.words == plain.words and np.all(near(first.numbers, plain.numbers)))
    parted = _parting(first, second) or theirs.astray
    counts = [(len(trace.answers), len(trace.selections)) for trace in (ours, theirs)]
    if counts[0] != counts[1]:
        parted = parted or "control flow parts: the datasets look at different numbers of noisy values"
    if not followed or parted or counts[0] == (0, 0):
        why = parted if followed else "noise is used in a way that cannot be followed"
        return Path(replace(result, unseen=(why or "no noisy value is seen on the way",)), number)
    if first.words != second.words:
        return Path(_told_apart(stage, guarantee, result, first, second, []), number)
    if not np.all(near(first.numbers, second.numbers)):
        return Path(_told_by_numbers(stage, guarantee, result, first, second), number)
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


def verdict_of(low: float, high: float, claimed: float) -> Verdict:
    """What bounds on the loss say of the claim, up to rounding."""
    most = claimed * (1 + SLACK)
    return VIOLATED if low > most else KEPT if high <= most else UNSEEN


def rows_of(ours: Trace, theirs: Trace, units: Units) -> Rows | None:
    """All answers side by side."""
    empty = np.empty(0)
    values = [np.concatenate([empty, *(np.ravel(a.value) for a in trace.answers)]) for trace in (ours, theirs)]
    found = []
    for trace, before in zip((ours, theirs), values, strict=True):

        def outcome(move: np.ndarray, trace: Trace = trace) -> np.ndarray | None:
            moved = units.moved(move)
            with np.errstate(all="ignore"):
                again = [np.ravel(np.asarray(answer.again(moved), float)) for answer in trace.answers]
            return np.concatenate([empty, *again])

        one = response(outcome, before, units, FREE)
        if one is None:
            return None
        found.append(one)
    names = [f"the noisy value at {answer.site}" for answer in ours.answers for _ in range(answer.value.size)]
    return Rows(values[0], values[1], found[0], found[1], names)


def _reveals(stage: Stage, path: Path, guarantee: Guarantee) -> bool:
    """Whether the output tells all noisy values where these show the loss: beyond both datasets' values.

    What does not move may lie anywhere. At delta = 0 one such place is enough, however close; else the loss is that of
    a whole region, of which several places on both sides are tried.
    """
    if sum(answer.size for answer in path.answers) > ALONE or not _tells_selections(stage, path):
        return False
    if not path.answers:
        return True
    pure = isinstance(guarantee, PureDP)
    found = [
        any(_tells(stage, path, *path.beyond(side, distance, rest)) for rest in (0.0, 1.0, -1.0))
        for side in (1, -1)
        for distance in (NEAR_BY if pure else IN_BULK)
    ]
    return any(found) if pure else all(found)


def _tells_selections(stage: Stage, path: Path) -> bool:
    """Whether the output is another one for each outcome of each selection."""
    for number, selection in enumerate(path.selections):
        size = len(selection.weights if selection.scores is None else selection.scores.value)  # type: ignore[arg-type]
        if size > ALONE:
            return False
        outputs = set()
        for place in range(size):
            taken = [*path.taken[:number], place, *path.taken[number + 1 :]]
            after = stage.run(0, seed=path.number, trace=Trace(path.answers, taken, path.early))
            outputs.add((after.words, after.numbers.tobytes()))
        if len(outputs) < size:
            return False
    return True


def _tells(stage: Stage, path: Path, flat: np.ndarray, steps: np.ndarray) -> bool:
    """Whether the output tells these noisy values from others: from those a step away, exchanged and mirrored ones."""

    def output(given: np.ndarray) -> Seen:
        parts = np.split(given, np.cumsum([answer.size for answer in path.answers])[:-1])
        shaped = [part.reshape(answer.shape) for part, answer in zip(parts, path.answers, strict=True)]
        return stage.run(0, seed=path.number, trace=Trace(shaped, path.taken, path.early))

    before, places = output(flat), np.arange(len(flat))
    for way in (1, -1):
        after = [output(flat + way * np.where(places == place, steps, 0.0)) for place in places]
        if any(run.words != before.words for run in after):
            return False
        matrix = np.array([run.numbers - before.numbers for run in after]) / steps[:, None]
        if np.linalg.matrix_rank(matrix, tol=1e-6 * np.abs(matrix).max(initial=0.0)) < len(flat):
            return False
    exchanged = [_exchanged(flat, i, j) for i in range(len(flat)) for j in range(i) if flat[i] != flat[j]]
    mirrored = [np.where(places == i, -flat, flat) for i in places if flat[i] != 0]
    return not any(output(other).same_as(before) for other in (*exchanged, *mirrored))


def _exchanged(flat: np.ndarray, i: int, j: int) -> np.ndarray:
    other = flat.copy()
    other[[i, j]] = flat[[j, i]]
    return other


def near(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which numbers agree, up to rounding."""
    return np.asarray(np.abs(one - other) <= 1e-9 * (np.abs(one) + np.abs(other)))


def hidings_of(
    shifts: Shifts, found: Response, moved: np.ndarray, units: Units, guarantee: Guarantee
) -> tuple[Hiding, ...]:
    """Each line that draws noise to hide a movement, the dearest first."""
    made = []
    numbers = units.draw[shifts.unit] if len(shifts.unit) else np.empty(0, dtype=int)
    lines: dict[tuple[Any, str], list[int]] = {}
    for number, law in zip(numbers, shifts.law, strict=True):
        lines.setdefault((units.draws[number].site, str(law)), []).append(int(number))
    for (site, law), drawn in lines.items():
        here = np.isin(numbers, drawn) & (shifts.law == law)
        each = {number: cost(shifts.of(here & (numbers == number)), guarantee) for number in set(drawn)}
        dearest = max(each, key=lambda number: each[number])
        own = shifts.of(here & (numbers == dearest))
        scale = float(np.abs(found.slope[np.isin(found.unit, own.unit)]).max(initial=0.0))
        size = float(np.linalg.norm(moved[own.row], 2 if law == "Gaussian" else 1))
        words = f"adds {law}({scale:.4g}) to a value that moved by {size:.4g}"
        if np.any(own.rescaled):
            ratio = own.ratio[own.rescaled][0]
            words = f"adds {law}({scale:.4g}), on the second dataset {law}({scale * ratio:.4g})"
        both = cost(shifts.of(here), guarantee)
        often = f" (the dearest of {len(each)} draws, which are counted together)" if len(each) > 1 else ""
        shown = f"{parameter_of(guarantee)} {interval(*both)}{order_of(guarantee)}"
        made.append(Hiding(site, law, scale, size, both, f"{words}{often}: {shown}"))
    return tuple(sorted(made, key=lambda hiding: (-hiding.cost[0], -hiding.cost[1])))


def leaks_of(
    shifts: Shifts, moved: np.ndarray, names: Sequence[str], public: Public, draws: Sequence[Draw]
) -> tuple[str, ...]:
    """What moved with no noise of its own."""
    found = []
    if shifts.bare:
        row = shifts.bare[0]
        more = f" (and {len(shifts.bare) - 1} more)" if len(shifts.bare) > 1 else ""
        found.append(f"{names[row]} moved by {abs(moved[row]):.4g} with no noise on it{more}")
    if shifts.clashing:
        found.append(f"{' and '.join(names[row] for row in shifts.clashing[:3])} have too little noise of their own")
    seeded = [draw for draw in draws if draw.seed in public]
    if found and seeded:
        found.append(
            f"{seeded[0].site} draws from a generator with the fixed seed {seeded[0].seed}: everybody knows it"
        )
    return tuple(found)


def _without_draws(stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen) -> Replayed:
    """Nothing was drawn: then the output must not move at all."""
    foreign = [name for name in OWN_NOISE if name in sys.modules]
    if foreign:
        return _told_apart(stage, guarantee, result, first, second, [f"{' or '.join(foreign)} may draw by itself"])
    lost = LOSS * (np.abs(first.numbers) + np.abs(second.numbers))
    rows = np.flatnonzero(np.abs(first.numbers - second.numbers) > lost)
    if len(rows) == 0:
        return replace(result, verdict=KEPT, high=0.0, notes=("nothing was drawn, and the output is the same",))
    row = rows[0]
    moved = f"{first.names[row]} moved by {abs(second.numbers[row] - first.numbers[row]):.4g}, and no noise was drawn"
    return replace(result, verdict=VIOLATED, low=math.inf, leaks=(moved,))


def _told_apart(
    stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen, unseen: list[str]
) -> Replayed:
    """Outputs of different forms, or with no draws at all: whether they always differ."""
    by_form = first.words != second.words
    what = "the output's form" if by_form else "the output"

    def form(run: Seen) -> Any:
        return run.words, None if by_form else run.numbers.tobytes()

    if form(first) != form(second) and _always(stage, guarantee, form, form(first)):
        return _told(guarantee, result, f"{what} tells the datasets apart: {_difference(first, second)}")
    return replace(result, unseen=(*unseen, f"{what} differs: {_difference(first, second)}"))


def _told_by_numbers(stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen) -> Replayed:
    """A number that differs though all noisy values are the same: whether it always does, whatever the noise."""
    row = int(np.argmax(~near(first.numbers, second.numbers)))
    one, two = first.numbers[row], second.numbers[row]
    words = f"{first.names[row]} is {one:.6g} on the first dataset, {two:.6g} on the second"

    def form(run: Seen) -> Any:
        return run.numbers[row] if run.words == first.words else None

    if _always(stage, guarantee, form, one):
        return _told(guarantee, result, f"{words}, whatever the noise")
    return replace(result, unseen=(f"{words}, though the noisy values that were seen are the same",))


def _always(stage: Stage, guarantee: Guarantee, form: Callable[[Seen], Any], expected: Any) -> bool:
    """Whether fresh runs on the first dataset all have this form, and none on the second."""
    runs = runs_to_tell(guarantee)
    return (
        runs <= MOST_TOLD
        and all(form(stage.run(0, seed=PATHS + i)) == expected for i in range(runs))
        and all(form(stage.run(1, seed=PATHS + i)) != expected for i in range(runs))
    )


def _told(guarantee: Guarantee, result: Replayed, leak: str) -> Replayed:
    runs = runs_to_tell(guarantee)
    note = f"seen in {runs} runs of each dataset; a true claim shows it with probability at most {SURE:g}"
    return replace(result, verdict=VIOLATED, low=result.claimed, leaks=(leak,), notes=(note,))


@lru_cache
def runs_to_tell(guarantee: Guarantee) -> int:
    """Runs in which an event holds always on one dataset and never on the other with probability at most SURE.

    Over p, its probability on the first, that is at most (p (1 - q))^runs, where the claim gives q for each p.
    """
    p = np.linspace(0, 1, 501)
    q = np.asarray(guarantee.tradeoff(1 - p))  # rises with p: over a cell, take the one end of each
    most = float(np.max(p[1:] * (1 - q[:-1])))
    return math.ceil(math.log(SURE) / math.log(most)) if most < 1 else sys.maxsize


def _difference(first: Seen, second: Seen) -> str:
    """The first words in which two outputs differ."""
    ours, theirs = dict(first.words), dict(second.words)
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            one, two = (_said(words, name) for words in (ours, theirs))
            return f"{name} is {one} on the first, {two} on the second"
    return "its numbers"


def _said(words: Mapping[str, Any], name: str) -> str:
    said = words.get(name, "missing")
    return said if isinstance(said, str) else f"of shape {said}" if said else "a number"


def _parting(first: Seen, second: Seen) -> str:
    """Where control flow parts, as far as draws show it."""
    for one, two in zip(first.draws, second.draws, strict=False):
        if one.kind != two.kind:
            ours, theirs = (f"{each.site} draws {_drawn(each)}" for each in (one, two))
            return f"control flow parts: {ours} on the first dataset, {theirs} on the second"
    if len(first.draws) != len(second.draws):
        more, which = (first, "first") if len(first.draws) > len(second.draws) else (second, "second")
        extra = more.draws[min(len(first.draws), len(second.draws))]
        return f"control flow parts: {extra.site} draws {_drawn(extra)} on the {which} dataset only"
    return ""


def _drawn(draw: Draw) -> str:
    law = draw.law if draw.law not in (COIN, GEOMETRIC) else draw.call
    return f"{law} of shape {draw.units.shape}" if draw.units.shape else law


def namespaces_of(mechanism: Any) -> list[dict[str, Any]]:
    """The global names that the mechanism's own code sees."""
    found: list[dict[str, Any]] = []
    todo, seen = [mechanism], set()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        names = getattr(each, "__globals__", None)
        if isinstance(names, dict) and not any(names is known for known in found):
            found.append(names)
        todo += [getattr(each, name) for name in ("function", "func", "__wrapped__", "__func__") if hasattr(each, name)]
        if callable(each) and not isinstance(each, type) and not hasattr(each, "__globals__"):
            todo.append(type(each).__call__)
    return [space for space in found if not str(space.get("__name__", "")).startswith("dpcheck.audits.")]
