"""DP-SGD loops against what their accountant was told: noise, steps, sampling and rate, read off a few runs.

Both datasets are led along the same path, as by `dpcheck.replay`: the same batches, the same noise, and every noisy
value of the second run is given the value it had in the first. What a step adds noise to then moves by one record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.audits import PerRun, per_run
from dpcheck.audits.same_noise.draws import COIN, Draw, twins_of_seed
from dpcheck.audits.same_noise.listening import listening
from dpcheck.audits.same_noise.noisy_rows import leaks_of
from dpcheck.audits.same_noise.noisy_values import Trace
from dpcheck.audits.same_noise.paths import rows_of
from dpcheck.audits.same_noise.responses import Units
from dpcheck.audits.same_noise.stage import Public, Seen, Stage, public_seeds
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.theory.account import NoisyRelease

PATHS = 4
SURE = 1e-6  # false-alarm rate of the test of the rate
SLACK = 1e-6
LAWS = {"gaussian": "Gaussian", "laplace": "Laplace"}
UNLIKE = "batches of datasets of two sizes are not drawn alike"
SHUFFLES = ("permutation", "permuted", "shuffle")
BATCHES = {"poisson": ("random", "uniform", "binomial"), "fixed": ("choice",)}


@dataclass(frozen=True)
class Finding:
    """One point of the claim: kept, broken, or not seen (None), with what was seen."""

    point: str
    kept: bool | None
    seen: str

    def __str__(self) -> str:
        word = {True: "kept", False: "BROKEN", None: "not seen"}[self.kept]
        return f"{self.point:<9}{word:<9} {self.seen}"


@dataclass(frozen=True)
class CheckedTraining:
    """What a training loop does, against what its accountant was told."""

    claimed: NoisyRelease
    findings: tuple[Finding, ...] = field(repr=False)

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The points in which the loop does something else."""
        return tuple(finding for finding in self.findings if finding.kept is False)

    @property
    def kept(self) -> bool:
        """Whether every point was seen, and is as claimed."""
        return all(finding.kept for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join([f"claimed  {self.claimed}", *map(str, self.findings)])

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Walk:
    """One path: the noise draws that something was added to, and how far each was moved, in units of its noise."""

    draws: tuple[Draw, ...]
    steps: tuple[int, ...]  # numbers of those draws
    moved: np.ndarray
    scale: np.ndarray
    outputs: tuple[Seen, Seen]


def check_training(
    train: Callable[..., Any], pair: tuple[Any, Any], claimed: NoisyRelease, *, seed: int = 0
) -> CheckedTraining:
    """Compare what `train(data, rng)` does with `claimed`, which is what its epsilon was computed from.

    The datasets of `pair` are arrays, or tuples of arrays with one row a record. They have equal lengths and differ in
    one record (replace-one), or the second lacks the last record of the first (add/remove). Checked are the noise
    against what one record moves (which sees clipping, sums against means, sizes of batches), the number of steps, how
    batches are drawn, how often a record takes part, and what reaches the model beside the noise. Raises InvalidInput
    for a pair of another kind.

    >>> def train(data, rng):
    ...     w = 0.0
    ...     for _ in range(20):
    ...         batch = data[rng.random(len(data)) < 0.5]
    ...         w = w - 0.1 * (np.clip(w - batch, -1, 1).sum() + rng.normal(0, 0.5))
    ...     return w
    >>> claimed = NoisyRelease(noise=2.0, rate=0.5, steps=20)
    >>> [finding.point for finding in check_training(train, (np.ones(9), np.ones(8)), claimed).broken]
    ['noise']
    """
    contributions = _contributions(pair)
    if claimed.noise is None:
        raise InvalidInput("claimed.noise", None, "a number", "Pass the noise multiplier that was used.")
    mechanism = train if isinstance(train, PerRun) else per_run(train)
    with listening(mechanism) as room:
        stage = Stage(mechanism, pair, seed, room)
        public = public_seeds(stage.run(0), stage.run(0, seed=1))
        walks = [_walk(stage, number, public, early=True) for number in range(PATHS)]
        broken = [walk for walk in walks if isinstance(walk, Finding) and walk.kept is False]
        if broken:  # two steps under one noise, say: nothing else can be told of such a loop
            return CheckedTraining(claimed, (broken[0],))
        if any(isinstance(walk, Finding) for walk in walks):
            late = [_walk(stage, number, public, early=False) for number in range(PATHS)]
            walks = walks if any(isinstance(walk, Finding) for walk in late) else late
    known = [walk for walk in walks if isinstance(walk, Walk)]
    unseen = [walk for walk in walks if isinstance(walk, Finding)]
    if unseen:
        return CheckedTraining(claimed, (unseen[0],))
    points = (_noise, _steps, _sampling, _rate, _beside)
    return CheckedTraining(claimed, tuple(point(known, claimed, contributions) for point in points))


def _contributions(pair: tuple[Any, Any]) -> int:
    """By how many records' contributions the datasets differ: one is missing, or one replaced by another."""
    first, second = ([np.asarray(part) for part in (data if isinstance(data, tuple) else (data,))] for data in pair)
    sizes = len(first[0]), len(second[0])
    if sizes[0] == sizes[1]:
        differ = np.zeros(sizes[0], dtype=bool)
        for one, two in zip(first, second, strict=True):
            differ |= (one != two).reshape(sizes[0], -1).any(axis=1)
        if differ.sum() == 1:
            return 2
    elif sizes[0] == sizes[1] + 1 and all(np.array_equal(a[:-1], b) for a, b in zip(first, second, strict=True)):
        return 1
    limit = "two datasets of which the second lacks the last record, or has one other record"
    raise InvalidInput("pair", f"{sizes[0]} and {sizes[1]} records", limit, "Pass (data, data[:-1]) for example.")


def _walk(stage: Stage, number: int, public: Public, early: bool) -> Walk | Finding:
    """Both datasets along one path, or what keeps it from being followed."""
    ours = Trace(early=early, tossing=True)
    first = stage.run(0, seed=number, trace=ours)
    theirs = Trace(ours.used, [], early=early, tossing=True)
    second = stage.run(1, seed=number, trace=theirs)
    if stage.failed:
        return Finding("loop", None, next(iter(stage.failed.values())))
    if theirs.astray or len(ours.answers) != len(theirs.answers) or ours.selections:
        return Finding("loop", None, theirs.astray or "the datasets look at different noisy values")
    shared = twins_of_seed(first.draws, public)
    if shared is not None:
        why = f"{shared[0].site} and {shared[1].site} draw from generators that were made with one seed"
        return Finding("noise", False, why)
    if [draw.law for draw in first.draws] != [draw.law for draw in second.draws]:
        return Finding("loop", None, "control flow parts: the datasets draw differently")
    early_looks = [answer.site for answer in ours.answers if answer.pure and answer.goes_on and answer.site is not None]
    if early_looks:
        why = f"{early_looks[0]} looks at noise (by float(), or as a tensor) before it is added to anything"
        return Finding("loop", None, why)
    fixed = [replace(draw, law=COIN) if draw.law == "uniform" else draw for draw in first.draws]
    units = Units.of(fixed)
    rows = rows_of(ours, theirs, units)
    if rows is None:
        return Finding("loop", None, "noise is not simply added")
    shifts = rows.shifts(units, public)
    if shifts.bare:
        leaks = leaks_of(shifts, rows.moved, rows.names, public, units.draws)
        return Finding("noise", False, "; ".join(leaks))
    if shifts.clashing:
        one, two = (rows.names[row] for row in (shifts.clashing[0], shifts.clashing[-1]))
        return Finding("noise", False, f"{one} and {two} share their noise: a generator or key is used again")
    if shifts.unclear:
        return Finding("loop", None, shifts.unclear)
    if np.any(shifts.rescaled):
        place = int(np.argmax(shifts.rescaled))
        site, ratio = units.draws[units.draw[shifts.unit[place]]].site, float(shifts.ratio[place])
        why = f"the noise of {site} is {ratio:.4g} times as large without the record: divided by a batch's own size?"
        return Finding("noise", False, why)
    steps = tuple(dict.fromkeys(units.draw[rows.ours.unit].tolist()))
    moved, scale = np.zeros(len(steps)), np.zeros(len(steps))
    for place, step in enumerate(steps):
        own = shifts.size[units.draw[shifts.unit] == step] if len(shifts.unit) else np.empty(0)
        moved[place] = np.linalg.norm(own, 2 if first.draws[step].law == "Gaussian" else 1)
        scale[place] = np.abs(rows.ours.slope[units.draw[rows.ours.unit] == step]).max()
    return Walk(first.draws, steps, moved, scale, (first, second))


Point = tuple[Sequence[Walk], NoisyRelease, int]


def _noise(walks: Sequence[Walk], claimed: NoisyRelease, contributions: int) -> Finding:
    """No step moves by more than the claim's share of its noise."""
    worst = max(walks, key=lambda walk: float(walk.moved.max(initial=0.0)))
    most = float(worst.moved.max(initial=0.0))
    if contributions == 1 and any(walk.outputs[0].coins for walk in walks):
        return Finding("noise", None, f"{UNLIKE}: pass two that differ in one record")
    foreign = [draw.law for walk in walks for draw in _noises(walk) if draw.law != LAWS[claimed.law]]
    if foreign:
        return Finding("noise", False, f"it is {foreign[0]}, claimed {claimed.law.capitalize()}")
    if most == 0:
        return Finding("noise", None, "the record moved no step: try a pair that differs more, or another seed")
    step = int(worst.moved.argmax())
    draw, ratio = worst.draws[worst.steps[step]], contributions / most
    text = f"at least {ratio:.4g} times what one record moves"
    if ratio >= float(claimed.noise or 0.0) * (1 - SLACK):
        return Finding("noise", True, f"{text}, on this pair")
    size = most * worst.scale[step]
    where = f"step {step + 1}: {draw.site} adds {draw.law}({worst.scale[step]:.4g}) to a value that moved by {size:.4g}"
    return Finding("noise", False, f"{where}, so it is {ratio:.4g} times one record's share, claimed {claimed.noise:g}")


def _noises(walk: Walk) -> Iterator[Draw]:
    return (walk.draws[step] for step in walk.steps)


def _steps(walks: Sequence[Walk], claimed: NoisyRelease, contributions: int) -> Finding:
    """No more noisy steps than claimed."""
    most = max(len(walk.steps) for walk in walks)
    return Finding("steps", most <= claimed.steps, f"{most} noisy steps, claimed {claimed.steps}")


def _sampling(walks: Sequence[Walk], claimed: NoisyRelease, contributions: int) -> Finding:
    """Batches are drawn as claimed, by the calls that draw them."""
    drawn = [d for walk in walks for d in (*walk.outputs[0].coins, *(d for d in walk.draws if d.law == "uniform"))]
    calls = {draw.call: draw for draw in drawn}
    if claimed.rate == 1:
        return Finding(
            "sampling", not calls or None, "all records in every step" if not calls else f"draws by {[*calls]}"
        )
    if not calls:
        return Finding("sampling", False, f"nothing is drawn but noise, claimed {claimed.sampling} batches")
    wrong = [draw for call, draw in calls.items() if call not in BATCHES[claimed.sampling]]
    if not wrong and _held(walks, claimed):
        why = "the record took part in all steps or in none, on each path: a batch is drawn once, and used again"
        return Finding("sampling", False, why)
    names = ", ".join(f"{draw.call}() at {draw.site}" for draw in calls.values())
    if not wrong:
        return Finding("sampling", True, f"by {names}")
    kind = "shuffled batches" if wrong[0].call in SHUFFLES else f"batches by {wrong[0].call}()"
    return Finding("sampling", False, f"{kind} ({wrong[0].site}), claimed {claimed.sampling}")


def _held(walks: Sequence[Walk], claimed: NoisyRelease) -> bool:
    """Whether the record is in every batch of a path or in none of it, as is hardly so by chance.

    For a record that moves every step it is in; one that moves no step on any path says nothing.
    """
    steps = [len(walk.steps) for walk in walks]
    often = [int(np.count_nonzero(walk.moved)) for walk in walks]
    if not any(often) or any(n not in (0, m) for n, m in zip(often, steps, strict=True)):
        return False
    return math.prod(claimed.rate**m + (1 - claimed.rate) ** m for m in steps) < SURE


def _rate(walks: Sequence[Walk], claimed: NoisyRelease, contributions: int) -> Finding:
    """A record takes part no more often than claimed, by a binomial test."""
    if contributions == 1 and any(walk.outputs[0].coins for walk in walks):
        return Finding("rate", None, f"{UNLIKE}: pass two that differ in one record")
    steps, often = sum(len(walk.steps) for walk in walks), sum(int(np.count_nonzero(walk.moved)) for walk in walks)
    seen = f"the record took part in {often} of {steps} steps, claimed {claimed.rate:g}"
    chance = float(scipy.stats.binom.sf(often - 1, steps, claimed.rate))
    if chance < SURE:
        return Finding("rate", False, f"{seen} (probability {chance:.1g})")
    unseen = often == 0 and math.log1p(-min(claimed.rate, 1 - 1e-12)) * steps < math.log(SURE)
    return Finding("rate", None if unseen else True, seen)


def _beside(walks: Sequence[Walk], claimed: NoisyRelease, contributions: int) -> Finding:
    """With the same noisy values, the same model."""
    for walk in walks:
        first, second = walk.outputs
        if not first.same_as(second):
            why = "it differs though every noisy value is the same: data reach it beside the noise"
            return Finding("model", False, why)
    return Finding("model", True, "made of noisy values and nothing else of the record")
