"""Told apart: outputs that always differ. If noise may decide on that, in so many runs that a true claim shows it with
probability at most SURE."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpcheck.audits.same_noise.draws import CHOICE, COIN
from dpcheck.audits.same_noise.noisy_values import Trace
from dpcheck.audits.same_noise.result import VIOLATED, Replayed
from dpcheck.audits.same_noise.stage import Seen, Stage, difference
from dpcheck.bounds.language.guarantees import Guarantee

SURE = 1e-8  # false-alarm rate on one pair: of a hundred pairs, one in a million
MOST_TOLD = 64  # runs on each dataset
FEW = 2  # runs that confirm what was read of the code
FRESH = 3  # seeds from here on: those before it have been looked at


def told_apart(
    stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen, unseen: list[str]
) -> Replayed:
    """Outputs of different forms, or with no draws at all: whether they always differ."""
    by_form = first.words != second.words
    what = "the output's form" if by_form else "the output"

    def form(run: Seen) -> Any:
        return run.words, None if by_form else run.numbers.tobytes()

    if by_form and not unseen and form_is_fixed(stage, first) and form_is_fixed(stage, second, side=1):
        leak = f"the output's form tells the datasets apart: {difference(first, second)}"
        note = "no noise decides on the form: it is looked at where it is returned alone"
        return replace(result, verdict=VIOLATED, low=math.inf, leaks=(leak,), notes=(note,))
    if form(first) != form(second) and _always(stage, guarantee, form, form(first)):
        return _told(guarantee, result, f"{what} tells the datasets apart: {difference(first, second)}")
    return replace(result, unseen=(*unseen, f"{what} differs: {difference(first, second)}"))


def form_is_fixed(stage: Stage, plain: Seen, side: int = 0) -> bool:
    """Whether no noise decides on the form of the output: it is heard, and nobody looks at it before it is returned.

    Noise itself shows in a form as the sign of a zero, or as a number that is not finite. A few runs under other noise
    must agree: they see uses of noise that the reading of one run does not.
    """
    if any(draw.law in (COIN, CHOICE) for draw in plain.draws):
        return False
    trace = Trace()
    traced = stage.run(side, trace=trace)
    looked = any(answer.site is not None for answer in trace.answers) or trace.selections or trace.compared
    odd = any(np.any(~np.isfinite(answer.value) | (answer.value == 0)) for answer in trace.answers)
    if odd or looked or trace.decides or not traced.same_as(plain) or traced.way != plain.way:
        return False
    return all(stage.run(side, seed=FRESH + i).words == plain.words for i in range(FEW))


def told_by_numbers(stage: Stage, guarantee: Guarantee, result: Replayed, first: Seen, second: Seen) -> Replayed:
    """A number that differs though all noisy values are the same: whether it, or the grid it lies on, always does."""
    row = int(np.argmax(first.numbers != second.numbers))
    one, two = float(first.numbers[row]), float(second.numbers[row])

    def tells(feature: Callable[[float], Any]) -> bool:
        def form(run: Seen) -> Any:
            return feature(float(run.numbers[row])) if run.words == first.words else None

        return bool(feature(one) != feature(two)) and _always(stage, guarantee, form, feature(one))

    if tells(lambda value: value):
        words = f"{first.names[row]} is {one:.6g} on the first dataset, {two:.6g} on the second, whatever the noise"
        return _told(guarantee, result, words)
    # Noise on a grid hides no movement off the grid. The one feature that is tested was chosen by other runs.
    feature = next((words for words, on in reversed(GRIDS.items()) if on(one) != on(two)), None)
    if feature is not None and tells(GRIDS[feature]):
        on, off = ("first", "second") if GRIDS[feature](one) else ("second", "first")
        return _told(guarantee, result, f"{first.names[row]} is {feature} on the {on} dataset, and not on the {off}")
    moved = f"{first.names[row]} differs by {abs(two - one):.4g}"
    return replace(result, unseen=(f"{moved}, though all noisy values that the code looks at are the same",))


GRIDS: dict[str, Callable[[float], Any]] = {  # the finest last
    "a number of single precision": lambda value: abs(value) < 1e30 and float(np.float32(value)) == value,
    "an even number": lambda value: value % 2 == 0,
    "a whole number": float.is_integer,
    **{f"a number of {k} decimals": partial(lambda k, value: round(value, k) == value, k) for k in range(1, 13)},
}


def _always(stage: Stage, guarantee: Guarantee, form: Callable[[Seen], Any], expected: Any) -> bool:
    """Whether fresh runs on the first dataset all have this form, and none on the second."""
    runs = runs_to_tell(guarantee)
    return (
        runs <= MOST_TOLD
        and all(form(stage.run(0, seed=FRESH + i)) == expected for i in range(runs))
        and all(form(stage.run(1, seed=FRESH + i)) != expected for i in range(runs))
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
