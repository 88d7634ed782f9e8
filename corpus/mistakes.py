"""Mistakes that programmers make in private algorithms, each as a change of any solver's class that it fits.

They are made where they happen: in what the release says, in the question, in the noise, in the steps, in the seed.
`solver_mutants.py` makes them in every solver and asks who notices.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from dpcheck.bounds.language.guarantees import ADD_REMOVE, REPLACE_ONE, Guarantee
from dpcheck.bounds.privacy.laws import Gaussian, L2Laplace, Laplace, Selected, WithoutReplacement
from dpcheck.bounds.privacy.release import Composed, Release, Released
from dpcheck.kernels import running
from dpcheck.kernels.method import Array, Method
from dpcheck.kernels.noisy_answers import NoisyAnswers
from dpcheck.solver import Calibrated, Solver
from dpcheck.testing.promises_of_utility import outputs_stay_in_the_set
from dpcheck.testing.subjects import Subject, Untried

Part = Callable[[Release], Release]
ADDITIVE = (Gaussian, Laplace, L2Laplace)


@dataclass(frozen=True)
class Mistake:
    """One kind of mistake: where it can be made, what it does to a solver's class, and to the kernel while it runs."""

    name: str
    kind: str
    fits: Callable[[Subject], bool]
    overrides: Callable[[type[Solver]], dict[str, Any]] = lambda kind: {}
    noise: type[NoisyAnswers] | None = None
    accounted: bool = True  # whether what runs is the honest release with other noise
    stretched: float = 1.0  # how much further a record moves the answers than the honest release says

    @contextlib.contextmanager
    def made(self) -> Iterator[None]:
        """While the kernel makes it."""
        with mock.patch.object(running, "NoisyAnswers", self.noise or running.NoisyAnswers):
            yield


# What a release says -----------------------------------------------------------------------------------
def each(released: Released, change: Part) -> Released:
    """With every part changed."""
    if isinstance(released, Composed):
        return replace(released, parts=tuple(change(part) for part in released.parts))
    return change(released)


def with_noise_of(honest: Released, noisy: Released) -> Released:
    """What really runs, with the noise of another release."""
    scales = [float(part.law.scale) for part in noisy.parts]
    if isinstance(honest, Composed):
        return replace(honest, parts=tuple(p.with_noise(s) for p, s in zip(honest.parts, scales, strict=True)))
    return honest.with_noise(scales[0])


def said(change: Part, *, sampled: bool = False) -> Callable[[type[Solver]], dict[str, Any]]:
    """The release says something else than what runs: the steps (and, if `sampled`, the batches) stay as they were."""

    def overrides(kind: type[Solver]) -> dict[str, Any]:
        def release(self: Solver, data: Any, plan: Any) -> Released:
            return each(kind.release(self, data, plan), change)

        def method(self: Solver, data: Any, plan: Any, released: Released) -> Method:
            return kind.method(self, data, plan, with_noise_of(kind.release(self, data, plan), released))

        def calibrated(self: Solver, data: Any, guarantee: Guarantee, calibration: Any = "certified") -> Calibrated:
            done = kind.calibrated(self, data, guarantee, calibration)
            if not sampled or calibration == "stated":
                return done
            return replace(done, released=with_noise_of(kind.release(self, data, done.plan), done.released))

        return {"release": release, "method": method, "calibrated": calibrated}

    return overrides


def moved_less(part: Release, share: float) -> Release:
    return replace(part, sensitivity=part.sensitivity * share, always=part.always * share)


def steps_of(count: Callable[[Any], Any]) -> Part:
    return lambda part: replace(part, steps=count(part.steps))


def smaller_batches(part: Release) -> Release:
    assert isinstance(part.sampling, WithoutReplacement)
    return replace(part, sampling=WithoutReplacement(part.sampling.batch / 2, part.sampling.of))


# What a method does -----------------------------------------------------------------------------------
class Wrapped(Method):
    """A method with another question, update or output."""

    def __init__(self, inner: Method) -> None:
        self.inner = inner
        for name in ("steps", "width", "rounds", "coins", "lattice", "peek"):
            setattr(self, name, getattr(inner, name))

    def start(self, k: int) -> Any:
        return self.inner.start(k)

    def start_with(self, k: int, coins: Any) -> Any:
        return self.inner.start_with(k, coins)

    def query(self, data: Any, state: Any, t: int, drawn: Any) -> Any:
        return self.inner.query(data, state, t, drawn)

    def update(self, state: Any, answer: Any, t: int) -> Any:
        return self.inner.update(state, answer, t)

    def point(self, state: Any) -> Any:
        return self.inner.point(state)

    def output(self, state: Any) -> Any:
        return self.inner.output(state)

    def grain(self, scale: float) -> float:
        return self.inner.grain(scale)

    def asked_of(self, data: Any, k: int) -> Any:
        return self.inner.asked_of(data, k)

    def block(self, data: Any) -> int:
        return self.inner.block(data)


class TwiceAsLong(Wrapped):
    """Clipped at twice the bound that the noise is for."""

    def query(self, data: Any, state: Any, t: int, drawn: Any) -> Any:
        return 2 * self.inner.query(data, state, t, drawn)

    def asked_of(self, data: Any, k: int) -> Any:
        asked = self.inner.asked_of(data, k)
        return lambda state, t, drawn: 2 * asked(state, t, drawn)


def asks(kind_of: Callable[[Method, Released], Method]) -> Callable[[type[Solver]], dict[str, Any]]:
    def overrides(kind: type[Solver]) -> dict[str, Any]:
        def method(self: Solver, data: Any, plan: Any, released: Released) -> Method:
            return kind_of(kind.method(self, data, plan, released), released)

        return {"method": method}

    return overrides


# What noise there is -----------------------------------------------------------------------------------
class SameInEachStep(NoisyAnswers):
    """A generator made anew from its seed in each step."""

    def of(self, asked: Array, t: int) -> Array:
        if t == 0:
            self.first = self.rng.bit_generator.state
        self.rng.bit_generator.state, self.held = self.first, 0
        held, self.steps = self.steps, t + 1  # no noise of later steps is drawn ahead
        try:
            return super().of(asked, t)
        finally:
            self.steps = held

    def _normals(self, t: int, running: int) -> Array:
        self.normals = self.rng.standard_normal((1, running, self.width))
        return self.normals[0]


class LastIsExact(NoisyAnswers):
    """The last answer goes out as it is."""

    def of(self, asked: Array, t: int) -> Array:
        exact = asked.copy()
        noisy = super().of(asked, t)
        return exact if t == self.steps - 1 else noisy


class FirstNumberIsExact(NoisyAnswers):
    """Noise of one number too few."""

    def of(self, asked: Array, t: int) -> Array:
        first = asked[:, 0].copy()
        noisy = super().of(asked, t)
        noisy[:, 0] = first
        return noisy


class Flat(NoisyAnswers):
    """Uniform noise of the same deviation."""

    def of(self, asked: Array, t: int) -> Array:
        exact = asked.copy()
        noise = super().of(asked, t) - exact
        wide = math.sqrt(3) * noise.std()
        return np.asarray(exact + self.rng.uniform(-wide, wide, noise.shape))


# Seeds and budgets -------------------------------------------------------------------------------------
def performs(change: Callable[..., Any]) -> Callable[[type[Solver]], dict[str, Any]]:
    def overrides(kind: type[Solver]) -> dict[str, Any]:
        def performed(self: Solver, data: Any, done: Any, rng: Any, trials: int, *, trace: bool = False) -> Any:
            return change(kind, self, data, done, rng, trials, trace)

        return {"performed": performed}

    return overrides


def always_seed_zero(kind: Any, self: Any, data: Any, done: Any, rng: Any, trials: int, trace: bool) -> Any:
    return kind.performed(self, data, done, 0, trials, trace=trace)


def noise_after_the_projection(kind: Any, self: Any, data: Any, done: Any, rng: Any, trials: int, trace: bool) -> Any:
    """What comes out of the set gets noise once more."""
    found = kind.performed(self, data, done, rng, trials, trace=trace)
    grain = self.method(data, done.plan, done.released).grain(done.noise_std)
    return replace(found, w=found.w + grain * np.random.default_rng(0).standard_normal(found.w.shape))


def noise_halved(kind: type[Solver]) -> dict[str, Any]:
    def calibrated(self: Solver, data: Any, guarantee: Guarantee, calibration: Any = "certified") -> Calibrated:
        done = kind.calibrated(self, data, guarantee, calibration)
        return replace(done, released=done.released.with_noise_times(0.5))

    return {"calibrated": calibrated}


def budget_doubled(kind: type[Solver]) -> dict[str, Any]:
    def calibrated(self: Solver, data: Any, guarantee: Guarantee, calibration: Any = "certified") -> Calibrated:
        name = next(name for name in ("eps", "rho", "mu") if name in guarantee.parameters)
        more = replace(guarantee, **{name: 2 * guarantee.parameters[name]})
        return kind.calibrated(self, data, more if calibration == "certified" else guarantee, calibration)

    return {"calibrated": calibrated}


def entry_for_norm(kind: type[Solver]) -> dict[str, Any]:
    """How far one number moves is taken for how far all of them do."""

    def release(self: Solver, data: Any, plan: Any) -> Released:
        honest = kind.release(self, data, plan)
        width = kind.method(self, data, plan, each(honest, lambda part: part.with_noise(1.0))).width
        return each(honest, lambda part: moved_less(part, width ** (-0.5 if isinstance(part.law, Gaussian) else -1.0)))

    return {"release": release}


def noise_of_add_remove(kind: type[Solver]) -> dict[str, Any]:
    """A record that is replaced is taken for one that is added: half the movement, accounted so."""

    def calibrated(self: Solver, data: Any, guarantee: Guarantee, calibration: Any = "certified") -> Calibrated:
        done = kind.calibrated(self, data, guarantee, calibration)
        if calibration == "stated":
            return done
        added = each(self.release(data, done.plan), lambda part: replace(moved_less(part, 0.5), relation=ADD_REMOVE))
        noisy = added.calibrated(replace(guarantee, relation=ADD_REMOVE))
        return replace(done, released=with_noise_of(done.released, noisy))

    return {"calibrated": calibrated}


def range_of_the_data(kind: type[Solver]) -> dict[str, Any]:
    """The largest record that there is bounds all that may be."""

    def release(self: Solver, data: Any, plan: Any) -> Released:
        largest = float(np.linalg.norm(data.X, axis=1).mean()) / data.row_bound
        return each(kind.release(self, data, plan), lambda part: moved_less(part, largest))

    return {"release": release}


# Where they fit ----------------------------------------------------------------------------------------
def released_of(subject: Subject) -> Released:
    return subject.solver.calibrated(subject.pair[0], subject.guarantee).released


def method_of(subject: Subject) -> Method:
    done = subject.solver.calibrated(subject.pair[0], subject.guarantee)
    return subject.solver.method(subject.pair[0], done.plan, done.released)


def everywhere(subject: Subject) -> bool:
    return True


def on_a_set(subject: Subject) -> bool:
    """On a set that it may leave, with noise that is added: conformance tries those that take one.

    Where the output has no grain, as after selections, there is no noise to add, and the mutant is the solver itself.
    """
    done = subject.solver.calibrated(subject.pair[0], subject.guarantee)
    if method_of(subject).grain(done.noise_std) == 0:
        return False
    try:
        outputs_stay_in_the_set(subject)
    except Untried:
        return False
    return True


def in_steps(subject: Subject) -> bool:
    released = released_of(subject)
    return isinstance(released, Release) and float(released.steps) >= 2 and float(released.answered) >= 2


def in_batches(subject: Subject) -> bool:
    schemes = [part.sampling for part in released_of(subject).parts]
    return all(isinstance(s, WithoutReplacement) and 2 <= float(s.batch) < float(s.of) for s in schemes)


def with_noise_added(subject: Subject) -> bool:
    return all(isinstance(part.law, ADDITIVE) for part in released_of(subject).parts)


def in_several_numbers(subject: Subject) -> bool:
    laws = [type(part.law) for part in released_of(subject).parts]
    return all(law in (Gaussian, Laplace) for law in laws) and method_of(subject).width >= 2


def replaces(subject: Subject) -> bool:
    whole = all(part.sampling is None for part in released_of(subject).parts)
    return subject.guarantee.relation == REPLACE_ONE and with_noise_added(subject) and whole


def of_rows(subject: Subject) -> bool:
    """Whose rows are of several sizes, so that their mean is not the bound."""
    X, bound = getattr(subject.data, "X", None), getattr(subject.data, "row_bound", None)
    return X is not None and bound is not None and float(np.linalg.norm(X, axis=1).mean()) < 0.9 * bound


def selects_or_adds(subject: Subject) -> bool:
    return all(isinstance(part.law, (*ADDITIVE, Selected)) for part in released_of(subject).parts)


MISTAKES = (
    Mistake("the sensitivity is halved", "sensitivity", selects_or_adds, said(lambda part: moved_less(part, 0.5))),
    Mistake("the range is that of the data", "sensitivity", of_rows, range_of_the_data),
    Mistake(
        "clipped at twice the bound",
        "clipping",
        selects_or_adds,
        asks(lambda inner, _: TwiceAsLong(inner)),
        stretched=2.0,
    ),
    Mistake("half the noise", "noise scale", everywhere, noise_halved),
    Mistake("twice the budget", "noise scale", everywhere, budget_doubled),
    Mistake("noise of one step for all", "composition", in_steps, said(steps_of(lambda steps: 1))),
    Mistake("one step too few is counted", "off by one", in_steps, said(steps_of(lambda steps: steps - 1))),
    Mistake("batches twice as large as accounted", "sampling", in_batches, said(smaller_batches, sampled=True)),
    Mistake("the same noise in each step", "seed reuse", in_steps, noise=SameInEachStep, accounted=False),
    Mistake("a fixed seed", "seed reuse", everywhere, performs(always_seed_zero), accounted=False),
    Mistake(
        "noise after the projection",
        "projection before noise",
        on_a_set,
        performs(noise_after_the_projection),
        accounted=False,
    ),
    Mistake("one entry for the norm", "wrong norm", in_several_numbers, entry_for_norm),
    Mistake("sensitivity of add/remove", "wrong relation", replaces, noise_of_add_remove),
    Mistake("the last answer is exact", "noise left out", with_noise_added, noise=LastIsExact, accounted=False),
    Mistake("the first number is exact", "noise left out", with_noise_added, noise=FirstNumberIsExact, accounted=False),
    Mistake("flat noise", "wrong law", with_noise_added, noise=Flat, accounted=False),
)
