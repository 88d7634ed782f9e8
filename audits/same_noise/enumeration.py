"""Discrete mechanisms: every outcome of every coin in turn, and so the exact probability of every output.

A uniform number that is compared with a threshold is a coin; so are choices by weights, small whole numbers and single
trials. A run is repeated with each sequence of outcomes, as deep as it asks for more. Of geometric noise, whose
outcomes do not end, the likeliest are listed, and what is left counts against the bound.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from dpcheck.audits.same_noise.noisy_values import SHAPES, STRAIGHT, Noisy, Trace
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP, smallest_epsilon

MOST_RUNS = 600  # on each dataset
MOST_TOSSES = 64  # in a run
MOST_OUTCOMES = 300  # of one toss
LIKELIEST = 64  # runs on both datasets, where outcomes do not end
LEFT_OUT = 1e-12  # probability that is never counted on: of geometric outcomes that are not listed, and of rounding
BELOW, ABOVE = (np.less, np.less_equal), (np.greater, np.greater_equal)
ORDERS = 1 + np.geomspace(1e-3, 1e3, 400)
Outputs = dict[Any, float]


class NotDiscrete(Exception):
    """Something was drawn that has no few outcomes."""


@dataclass(eq=False)
class Tosses(Trace):
    """A run with given outcomes; after these, the first possible one, and what else was possible."""

    outcomes: Sequence[int] = ()
    asked: list[tuple[int, np.ndarray]] = field(default_factory=list)  # taken, weights
    lost: bool = False
    endless: bool = False  # whether outcomes were left out that are too rare to be listed

    def toss(self, weights: np.ndarray) -> int:
        """The outcome of one decision."""
        number = len(self.asked)
        if number >= MOST_TOSSES:  # a loop that waits for one outcome, and is given the other
            self.give_up()
        possible = np.flatnonzero(weights > 0)
        taken = self.outcomes[number] if number < len(self.outcomes) else int(possible[0])
        self.asked.append((taken, weights / weights.sum()))
        return taken

    def made(self, number: int, value: Any, again: Callable[[np.ndarray], Any], law: str) -> Noisy:
        if law != "uniform":
            self.give_up()
        shape = np.shape(value)
        inside = np.stack([np.zeros(shape), np.ones(shape)])
        ends = np.stack([np.asarray(again(end), float) for end in inside])
        return Coin(self, value, ends, inside)

    def chosen(self, place: int, weights: np.ndarray) -> int:
        return self.toss(weights) if len(weights) <= MOST_OUTCOMES else self.give_up()

    def largest(self, noisy: Noisy, sign: int) -> int:
        return self.give_up()

    def look(self, noisy: Noisy, goes_on: bool = False) -> Any:
        if noisy.again is not None:
            self.give_up()
        return noisy.value

    def give_up(self) -> NoReturn:
        """Remembered, since whoever runs this may catch what is raised."""
        self.lost = True
        raise NotDiscrete


class Coin(Noisy):
    """A uniform number, or several: tossed when they are compared.

    `ends` are its least and largest value, `inside` the part of [0, 1] in which earlier comparisons have left it.
    """

    __slots__ = ("ends", "inside")
    trace: Tosses

    def __init__(self, trace: Tosses, value: Any, ends: np.ndarray, inside: np.ndarray) -> None:
        super().__init__(trace, value, lambda units: value, bendable=True, pure=True)
        self.ends, self.inside = ends, inside

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [each for each in inputs if not isinstance(each, Noisy)]
        if ufunc in (*BELOW, *ABOVE) and method == "__call__" and len(plain) == 1 and out is None:
            return self.tossed(plain[0], (ufunc in BELOW) == (inputs[0] is self))
        divisor = ufunc is np.true_divide and inputs[-1] is self
        if ufunc in STRAIGHT and method == "__call__" and len(plain) == 1 and len(inputs) == 2 and not divisor:
            return self.scaled(lambda own: ufunc(*(own if each is self else each for each in inputs)))
        return self.trace.give_up()

    def scaled(self, function: Callable[[Any], Any]) -> Coin:
        """The same number in other units."""
        value, ends = function(self.value), [np.asarray(function(end), float) for end in self.ends]
        if np.shape(value) != np.shape(self.value) or np.any(ends[0] == ends[1]):
            self.trace.give_up()
        return Coin(self.trace, value, np.stack(ends), self.inside)

    def tossed(self, threshold: Any, below: bool) -> Any:
        """Whether each lies below (or above) the threshold."""
        shape = np.shape(self.value)
        if np.broadcast_shapes(shape, np.shape(threshold)) != shape:
            self.trace.give_up()  # one number against several thresholds: its outcomes hang together
        place = np.ravel((np.broadcast_to(threshold, shape) - self.ends[0]) / (self.ends[1] - self.ends[0]))
        falls = np.ravel(self.ends[1] < self.ends[0])
        taken: list[bool] = []
        for index, at in zip(np.ndindex(shape), place, strict=True):
            low, high = self.inside[(0, *index)], self.inside[(1, *index)]
            share = float(np.clip((at - low) / (high - low), 0, 1))
            lies_below = bool(self.trace.toss(np.array([1 - share, share])))
            self.inside[(int(lies_below), *index)] = np.clip(at, low, high)
            taken.append(lies_below == (below != falls[len(taken)]))
        found = np.array(taken, dtype=bool).reshape(shape)
        return bool(found) if found.ndim == 0 else found

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, int | np.integer | slice):
            self.trace.give_up()
        return Coin(self.trace, self.value[place], self.ends[:, place], self.inside[:, place])

    def _mapped(self, function: Callable[[Any], Any]) -> Any:
        return self.trace.give_up()

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function(self.value, *args[1:], **options) if function in SHAPES else self.trace.give_up()


Run = Callable[[Tosses], Any]


def distribution(run: Run) -> Outputs | None:
    """The probability of each output of `run`; None where it is not discrete, or has too many outcomes."""
    found: Outputs = defaultdict(float)
    outcomes: list[int] = []
    for _ in range(MOST_RUNS):
        tosses = Tosses(outcomes=outcomes)
        output = run(tosses)
        if tosses.lost:
            return None
        found[output] += math.prod(float(weights[taken]) for taken, weights in tosses.asked)
        later = [[i for i in range(taken + 1, len(w)) if w[i] > 0] for taken, w in tosses.asked]
        deepest = max((place for place, more in enumerate(later) if more), default=None)
        if deepest is None:
            return dict(found)
        outcomes = [*(taken for taken, _ in tosses.asked[:deepest]), later[deepest][0]]
    return None


@dataclass(eq=False)
class Likeliest:
    """The outputs of one dataset found so far: each has at least this probability, all together lack `rest`."""

    runs: Iterator[tuple[Any, float, bool] | None]
    found: Outputs = field(default_factory=lambda: defaultdict(float))
    rest: float = 1.0
    lost: bool = False

    def more(self) -> None:
        """One run more."""
        seen = next(self.runs)
        if seen is None:
            self.lost = True
            return
        output, chance, everything = seen
        self.found[output] += chance
        self.rest = 0.0 if everything else max(0.0, 1 - math.fsum(self.found.values())) + LEFT_OUT


def by_likelihood(run: Run) -> Iterator[tuple[Any, float, bool] | None]:
    """Outputs of `run` with probabilities, about the likeliest sequence of outcomes first, and whether these are all.

    None if it is not discrete.
    """
    order = itertools.count()
    ways: list[tuple[float, int, list[int]]] = [(-1.0, next(order), [])]
    endless = False
    while ways:
        _, _, outcomes = heapq.heappop(ways)
        tosses = Tosses(outcomes=outcomes)
        output = run(tosses)
        if tosses.lost:
            yield None
            return
        taken = [place for place, _ in tosses.asked]
        chance, endless = 1.0, endless or tosses.endless
        for number, (place, weights) in enumerate(tosses.asked):
            if number >= len(outcomes):
                for other in range(place + 1, len(weights)):
                    if weights[other] > 0:
                        heapq.heappush(ways, (-chance * weights[other], next(order), [*taken[:number], other]))
            chance *= float(weights[place])
        yield output, chance, not ways and not endless


def likeliest(first: Run, second: Run, guarantee: Guarantee, enough: float) -> tuple[float, float] | None:
    """Bounds on the epsilon of two mechanisms, by the likeliest outputs of each; done once it is more than `enough`.

    None if they are not discrete.
    """
    ours, theirs = (Likeliest(by_likelihood(run)) for run in (first, second))
    low = 0.0
    if not isinstance(guarantee, PureDP | ApproxDP):
        return low, math.inf
    delta = float(guarantee.parameters.get("delta", 0.0))
    for _ in range(LIKELIEST):
        side = max((ours, theirs), key=lambda one: one.rest)
        if side.rest <= LEFT_OUT:
            break
        side.more()
        if side.lost:
            return None
        low = max(at_least(ours, theirs, delta), at_least(theirs, ours, delta))
        if low > enough:
            break
    return low, max(at_most(ours, theirs, delta), at_most(theirs, ours, delta))


def side_by_side(first: Likeliest, second: Likeliest) -> tuple[np.ndarray, np.ndarray]:
    """What was found, by output."""
    outputs = [*{**first.found, **second.found}]
    p, q = (np.array([side.found.get(output, 0.0) for output in outputs]) for side in (first, second))
    return p, q


def at_least(first: Likeliest, second: Likeliest, delta: float) -> float:
    """Epsilon, from below: of a set of outputs the first has at least what was found, the second that and its rest."""
    (p, q), rest = side_by_side(first, second), second.rest
    if delta == 0:  # the best set has the largest ratios
        with np.errstate(divide="ignore"):
            order = np.argsort(np.where(p > 0, np.log(q) - np.log(p), math.inf))
            ratios = np.log(np.cumsum(p[order])) - np.log(np.cumsum(q[order]) + rest)
        return max(0.0, float(np.max(ratios, initial=0.0)))

    def surely(e: float) -> float:
        factor = math.exp(min(e, 700))
        return float(np.maximum(p - factor * q, 0).sum()) - factor * rest

    return smallest_epsilon(surely, delta)


def at_most(first: Likeliest, second: Likeliest, delta: float) -> float:
    """Epsilon, from above: what is left of the first may all lie where the second has nothing."""
    (p, q), rest = side_by_side(first, second), first.rest
    if rest > 0 and rest >= delta:
        return math.inf
    return smallest_epsilon(lambda e: float(np.maximum(p - math.exp(min(e, 700)) * q, 0).sum()) + rest, delta)


def loss(first: Outputs, second: Outputs, guarantee: Guarantee) -> tuple[float, float]:
    """What two distributions lose, in the guarantee's own parameter."""
    outputs = [*{**first, **second}]
    p, q = (np.array([each.get(output, 0.0) for output in outputs]) for each in (first, second))
    ways = ((p, q), (q, p))
    if isinstance(guarantee, PureDP | ApproxDP):
        delta = float(guarantee.parameters.get("delta", 0.0))
        found = max(_pure(a, b) if delta == 0 else _epsilon(a, b, delta) for a, b in ways)
        return found, found
    if isinstance(guarantee, RenyiDP | ZCDP):
        orders = np.array([guarantee.alpha]) if isinstance(guarantee, RenyiDP) else ORDERS
        each = [
            _renyi(a, b, order) / (1 if isinstance(guarantee, RenyiDP) else order) for a, b in ways for order in orders
        ]
        return max(each), max(each) * (1 + 1e-4)
    return 0.0, math.inf


def _pure(p: np.ndarray, q: np.ndarray) -> float:
    here = p > 0
    with np.errstate(divide="ignore"):
        return max(0.0, float(np.max(np.log(p[here]) - np.log(q[here]))))


def _epsilon(p: np.ndarray, q: np.ndarray, delta: float) -> float:
    return smallest_epsilon(lambda e: float(np.maximum(p - math.exp(min(e, 700)) * q, 0).sum()), delta)


def _renyi(p: np.ndarray, q: np.ndarray, order: float) -> float:
    here = p > 0
    if np.any(q[here] == 0):
        return math.inf
    logs = order * np.log(p[here]) + (1 - order) * np.log(q[here])
    return float(np.logaddexp.reduce(logs) / (order - 1))
