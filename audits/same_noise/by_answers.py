"""By answers: the loss of all noisy values that a mechanism looks at, if its output tells them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpcheck.audits.same_noise.noisy_values import Trace
from dpcheck.audits.same_noise.paths import GOLDEN, Path, along
from dpcheck.audits.same_noise.result import UNSEEN, Replayed, interval, order_of, parameter_of
from dpcheck.audits.same_noise.stage import Public, Seen, Stage
from dpcheck.bounds.language.guarantees import Guarantee, PureDP

PATHS = 3  # of noise, along which noisy values are followed
ALONE = 12  # noisy values that are tried one at a time
NEAR_BY = (3.0, 0.3, 0.01)  # scales of noise beyond both values
IN_BULK = (1.0, 0.3)
RARE = (1, -1)
FAR_OUT = 12.0  # units of noise
BRANCHES = 200


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
        path = along(stage, guarantee, result, public, number, early, plain if number == 0 else None)
        if path.judged.verdict == UNSEEN or path.traced is None:
            return path.judged
        paths.append(path)
    widest = max(paths, key=lambda path: (path.judged.violated, path.judged.low, path.judged.high))
    worst = widest.judged
    note = f"by the noisy values that are looked at, along {PATHS} paths of noise and {len(RARE)} rare ones"
    first = paths[0].traced
    early_looks = (
        [] if first is None else [a.site for a in first.answers if a.pure and a.goes_on and a.site is not None]
    )
    if worst.kept and early_looks:
        why = (
            f"at {early_looks[0]} noise becomes a plain number before it is added to anything, and is not straight then"
        )
        return replace(worst, verdict=UNSEEN, low=0.0, high=math.inf, unseen=(why,))
    if worst.kept:
        rare = [along(stage, guarantee, result, public, 0, early, moved=rare_noise(plain, sign)) for sign in RARE]
        elsewhere = [("under rare noise", path) for path in rare]
        branches, more = _branches(stage, guarantee, result, public, paths[0])
        elsewhere += [("on another branch", path) for path in branches]
        for where, path in elsewhere:
            other = path.judged
            if not other.kept:
                seen = [*other.unseen, *other.leaks, *map(str, other.hidings)][0]
                return replace(other, verdict=UNSEEN, low=0.0, high=math.inf, unseen=(f"{where}: {seen}",))
        if more:
            why = f"it has more than {BRANCHES} branches that depend on noisy values"
            return replace(worst, verdict=UNSEEN, low=0.0, high=math.inf, unseen=(why,))
        worst = max((worst, *(path.judged for _, path in elsewhere)), key=lambda judged: judged.high)
        note += f", and {len(branches)} other branches" if branches else ""
    if worst.violated and stage.released == "output" and not reveals(stage, widest, guarantee):
        bound = f"{parameter_of(guarantee)} {interval(worst.low, worst.high)}{order_of(guarantee)}"
        why = f"the output may reveal less than the noisy values: these cost {bound}, by released='noisy values'"
        return replace(worst, verdict=UNSEEN, low=0.0, unseen=(why,))
    return replace(worst, notes=(*worst.notes, note))


def _branches(
    stage: Stage, guarantee: Guarantee, result: Replayed, public: Public, path: Path
) -> tuple[list[Path], bool]:
    """Paths that begin on the other sides of comparisons, and those found on these; whether there are more."""
    found: list[Path] = []
    todo, known = [*path.branches()], set()
    while todo:
        name, start = todo.pop(0)
        if name in known:
            continue
        if len(found) == BRANCHES:
            return found, True
        known.add(name)
        found.append(along(stage, guarantee, result, public, path.number, path.early, start=start))
        if not found[-1].judged.kept:
            break
        todo += found[-1].branches()
    return found, False


def converted(trace: Trace) -> tuple[str, ...]:
    """What to say where noise becomes a plain number before it is returned: what follows is not seen."""
    sites = dict.fromkeys(str(answer.site) for answer in trace.answers if answer.goes_on and answer.site is not None)
    if not sites:
        return ()
    return (
        f"at {', '.join([*sites][:3])} noise becomes a plain number: of branches on it, these runs saw what they took",
    )


def rare_noise(run: Seen, sign: int) -> dict[int, np.ndarray]:
    """Every unit far out, one way or the other, where branches are taken that are not taken otherwise."""
    found = {}
    for number, draw in enumerate(run.draws):
        ways = np.where(np.arange(draw.units.size) * GOLDEN % 1 < 0.5, sign, -sign).reshape(draw.units.shape)
        if draw.law == "uniform":
            found[number] = np.where(ways > 0, 0.999, 0.001)
        elif draw.units.size:
            found[number] = FAR_OUT * (ways if number % 2 else sign * np.ones(draw.units.shape))
    return found


def reveals(stage: Stage, path: Path, guarantee: Guarantee) -> bool:
    """Whether the output tells all noisy values where these show the loss: beyond both datasets' values.

    What does not move may lie anywhere. At delta = 0 one such place is enough, however close; else the loss is that of
    a whole region, of which several places on both sides are tried.
    """
    if sum(answer.size for answer in path.answers) > ALONE or not _tells_selections(stage, path):
        return False
    if not path.answers:
        return True
    pure = isinstance(guarantee, PureDP)
    found = (
        any(_tells(stage, path, *path.beyond(side, distance, rest)) for rest in (0.0, 1.0, -1.0))
        for side in (1, -1)
        for distance in (NEAR_BY if pure else IN_BULK)
    )  # one after the other: the first that tells, or does not, may end it
    return any(found) if pure else all(found)


def _tells_selections(stage: Stage, path: Path) -> bool:
    """Whether the output is another one for each outcome of each selection."""
    for number, selection in enumerate(path.selections):
        size = selection.size
        if size > ALONE:
            return False
        outputs = set()
        for place in range(size):
            taken = [*path.taken[:number], place, *path.taken[number + 1 :]]
            after = stage.run(0, seed=path.number, trace=Trace(path.answers, taken, early=path.early))
            outputs.add((after.words, after.numbers.tobytes()))
        if len(outputs) < size:
            return False
    return True


def _tells(stage: Stage, path: Path, flat: np.ndarray, steps: np.ndarray) -> bool:
    """Whether the output tells these noisy values from others: from those a step away, exchanged and mirrored ones."""

    def output(given: np.ndarray) -> Seen:
        parts = np.split(given, np.cumsum([answer.size for answer in path.answers])[:-1])
        shaped = [part.reshape(answer.shape) for part, answer in zip(parts, path.answers, strict=True)]
        return stage.run(0, seed=path.number, trace=Trace(shaped, path.taken, early=path.early))

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
