"""Noisy values: what is computed from draws, held as functions of them until somebody looks.

A noisy value looks like an array. Sums, differences and multiples of it are noisy values, too. Whatever else is done
with it (a comparison, a product with data, a conversion, a return) looks at it: it becomes an answer, and from then on
a plain value. On the second dataset every answer is given the value it had on the first, so that what follows has no
other reason to differ than the data: runs that go on from their answers, as iterations do, are compared step by step.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpcheck.audits.same_noise.draws import Site, caller

Again = Callable[[Sequence[np.ndarray]], Any]
STRAIGHT = (np.add, np.subtract, np.negative, np.positive, np.multiply, np.true_divide)
PRODUCTS = (np.multiply, np.true_divide)
SAME_LINEAR = (
    np.sum,
    np.mean,
    np.reshape,
    np.ravel,
    np.transpose,
    np.squeeze,
    np.expand_dims,
    np.concatenate,
    np.stack,
    np.vstack,
    np.hstack,
    np.column_stack,
    np.triu,
    np.tril,
    np.diag,
    np.repeat,
    np.tile,
)
SHAPES = (np.shape, np.ndim, np.size)  # no secret
COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
METHODS = ("sum", "mean", "reshape", "ravel", "flatten", "transpose", "squeeze", "copy", "__getitem__")
BENDING = ("log", "log1p", "exp", "abs", "absolute", "sign", "sqrt", "fabs", "arctanh", "tan", "power", "square")


@dataclass(frozen=True, eq=False)
class Answer:
    """A noisy value that was looked at: where, what it was, and as a function of the units; after how many selections.

    `eps` is the rounding of its type; `pure` is noise alone, that was looked at before it was added to anything,
    `goes_on` what was made a plain number or array, whose use is not seen.
    """

    site: Site | None
    value: np.ndarray
    again: Again
    after: int = 0
    eps: float = float(np.finfo(float).eps)
    pure: bool = False
    goes_on: bool = False


@dataclass(frozen=True, eq=False)
class Selection:
    """One of several was taken: where, which, after how many answers; by weights, or as the largest of noisy values."""

    site: Site
    place: int
    weights: np.ndarray | None = None
    scores: Answer | None = None
    after: int = 0

    @property
    def size(self) -> int:
        """How many there are."""
        values = self.weights if self.scores is None else self.scores.value
        return 0 if values is None else len(values)


@dataclass(eq=False)
class Trace:
    """The answers and selections of one run.

    `given` and `taken` have those that it is given instead of its own; where it asks for more, it goes `on` with its
    own, or it is astray. `answers` are its own, `used` those that it went on with. `compared` has the comparisons of
    answers with plain numbers, by which code branches.
    """

    given: Sequence[np.ndarray] | None = None
    taken: Sequence[int] | None = None
    on: bool = False
    early: bool = False  # what has noise already is looked at before it meets an array: w before w - data
    tossing: bool = False  # uniform numbers are coins, which everybody may see
    answers: list[Answer] = field(default_factory=list)
    selections: list[Selection] = field(default_factory=list)
    used: list[np.ndarray] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    compared: list[tuple[int, np.ndarray]] = field(default_factory=list)
    decides: str = ""  # where noise was made a decision or a whole number, and not only released
    outside: Site | None = None  # the line that asked for the replay
    astray: str = ""  # why the run could not be given its answers

    def made(self, number: int, value: Any, again: Callable[[np.ndarray], Any], law: str) -> Noisy:
        """A draw as a noisy value."""
        return Noisy(self, value, lambda units: again(units[number]), law == "uniform", pure=True)

    def chosen(self, place: int, weights: np.ndarray) -> int:
        """A draw by weights."""
        return self._selected(Selection(caller(), place, weights, after=len(self.answers)))

    def largest(self, noisy: Noisy, sign: int) -> int:
        """The place of the largest of noisy values; nobody sees these."""
        again = noisy.again
        assert again is not None
        scores = Answer(caller(), sign * np.ravel(noisy.value), lambda units: sign * np.ravel(again(units)))
        return self._selected(Selection(caller(), int(np.argmax(scores.value)), scores=scores, after=len(self.answers)))

    def _selected(self, own: Selection) -> int:
        number, place = len(self.selections), own.place
        self.selections.append(own)
        if self.taken is not None and number < len(self.taken) and self.taken[number] < own.size:
            place = self.taken[number]
        elif self.taken is not None and not self.on:
            self.astray = self.astray or f"{own.site} selects what the first dataset does not have"
        self.places.append(place)
        return place

    def look(self, noisy: Noisy, goes_on: bool = False) -> Any:
        """The value as everybody may see it from now on."""
        again = noisy.again
        if again is None or (self.tossing and noisy.bendable):
            return noisy.value
        number, own = len(self.answers), np.asarray(noisy.value)
        eps = float(np.finfo(own.dtype if own.dtype.kind == "f" else float).eps)
        self.answers.append(
            Answer(self.site(), own.astype(float), again, len(self.selections), eps, noisy.pure, goes_on)
        )
        if self.given is not None and number < len(self.given) and np.shape(self.given[number]) == own.shape:
            value = np.array(self.given[number]).astype(own.dtype)
            noisy.value = value[()] if value.ndim == 0 else value
        elif self.given is not None and not self.on:
            self.astray = self.astray or f"{caller()} looks at a noisy value that the first dataset does not have"
        self.used.append(np.array(noisy.value, float))
        noisy.again, noisy.number = None, number
        return noisy.value

    def site(self) -> Site | None:
        """Where it is looked at; None where it is returned."""
        site = caller()
        return None if site == self.outside else site

    def compare(self, noisy: Noisy, other: Any) -> None:
        """That a looked-at value was compared with a plain one."""
        self.decided()
        if noisy.number is not None and np.asarray(other).dtype.kind in "bif":
            self.compared.append((noisy.number, np.asarray(other, float)))

    def decided(self) -> None:
        """That noise was made a decision here."""
        self.decides = self.decides or str(caller())


class Noisy(NDArrayOperatorsMixin):
    """A value that noise is part of; `again` computes it from other units, None once it was looked at."""

    __slots__ = ("again", "bendable", "number", "pure", "trace", "value")
    __array_priority__ = 1000.0
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, trace: Trace, value: Any, again: Again | None, bendable: bool, pure: bool) -> None:
        self.trace, self.value, self.again = trace, value, again
        self.number: int | None = None  # of the answer that it became
        self.bendable, self.pure = bendable, pure  # made of uniform numbers alone; of draws and numbers alone

    def look(self) -> Any:
        """See it."""
        return self.trace.look(self)

    def _mapped(self, function: Callable[[Any], Any]) -> Any:
        if self.again is None:
            return function(self.value)
        again = self.again
        return Noisy(self.trace, function(self.value), lambda units: function(again(units)), self.bendable, self.pure)

    # Arithmetic -------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if ufunc in (np.add, np.subtract):
            self._meet(inputs)
        noisy = [each for each in inputs if isinstance(each, Noisy) and each.again is not None]
        if method == "__call__" and not options and noisy and self._keeps(ufunc, inputs, noisy):
            result = combined(ufunc, inputs, noisy)
        else:
            goes_on = ufunc not in COMPARISONS
            looked = [each.trace.look(each, goes_on) if isinstance(each, Noisy) else seen(each) for each in inputs]
            if not goes_on and len(inputs) == 2:
                for each, other in zip(inputs, looked[::-1], strict=True):
                    if isinstance(each, Noisy):
                        self.trace.compare(each, other)
            result = getattr(ufunc, method)(*looked, **options)
        if out is None:
            return result
        target = out[0]
        if isinstance(target, Noisy):
            target.become(result)
        else:
            target[...] = seen(result)  # others may hold the same array
        return target

    def become(self, result: Any) -> None:
        """In place."""
        other = result if isinstance(result, Noisy) else Noisy(self.trace, result, None, False, False)
        self.value, self.again, self.bendable, self.pure = other.value, other.again, other.bendable, other.pure
        self.number = other.number

    @staticmethod
    def _meet(inputs: Sequence[Any]) -> None:
        """Look first at a value that has its noise, where it meets more data than itself, or (early) any array."""
        sizes = [np.size(each) for each in inputs]
        for i, each in enumerate(inputs):
            other = inputs[1 - i] if len(inputs) == 2 else 0
            data = _is_data(other) and not (isinstance(other, Noisy) and other.pure)
            if isinstance(each, Noisy) and not each.pure and data and (each.trace.early or sizes[1 - i] > sizes[i]):
                each.look()

    @staticmethod
    def _keeps(ufunc: np.ufunc, inputs: Sequence[Any], noisy: Sequence[Noisy]) -> bool:
        """Whether the result is still a value with noise added; uniform numbers are first bent into noise."""
        straight = ufunc in STRAIGHT and (ufunc not in PRODUCTS or len(noisy) == 1)
        if straight and ufunc is np.true_divide:
            straight = isinstance(inputs[0], Noisy)
        bendable = all(each.bendable for each in noisy)
        return straight or (bendable and (ufunc in PRODUCTS or ufunc.__name__ in BENDING))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function in (np.argmax, np.argmin) and args[0] is self and self._is_row(args[1:], options):
            place = self.trace.largest(self, 1 if function is np.argmax else -1)
            return np.full(self.value.shape[:-1], place)[()]
        if function in SHAPES:
            return function(self.value, *args[1:], **options)
        if function in SAME_LINEAR and _noisy_in(args) and "out" not in options:
            return combined(lambda *inner: function(*inner, **options), args, _noisy_in(args))
        for each in (*_noisy_in(args), *_noisy_in([*options.values()])):
            each.trace.look(each, goes_on=True)
        return function(*seen(args), **seen(options))

    def _is_row(self, args: Any, options: Any) -> bool:
        """Whether it is noisy, and one row whose places are asked for."""
        axis = args[0] if args else options.get("axis")
        rows = np.ndim(self.value) == 1 and axis in (None, 0, -1)
        rows = rows or (np.ndim(self.value) == 2 and len(self.value) == 1 and axis in (1, -1))
        return rows and self.again is not None and len(args) <= 1 and not {*options} - {"axis"}

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.trace.look(self, goes_on=True), dtype=dtype)

    def __getitem__(self, place: Any) -> Any:
        place = seen(place)
        return self._mapped(lambda value: value[place])

    def __setitem__(self, place: Any, new: Any) -> None:
        self.look()
        self.value[seen(place)] = seen(new)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self.value)))

    def __len__(self) -> int:
        return len(self.value)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "dtype", "size"):
            return getattr(np.asarray(self.value), name)
        if name == "T":
            return self._mapped(lambda value: np.asarray(value).T)
        if name in METHODS:
            return lambda *args, **options: self._mapped(lambda v: getattr(np.asarray(v), name)(*args, **options))
        if name in ("argmax", "argmin"):
            return functools.partial(getattr(np, name), self)
        if name == "item" and np.size(self.value) == 1:
            return lambda *_: self._mapped(lambda value: np.asarray(value).item())
        if name == "astype":
            return self._astype
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(self.trace.look(self, goes_on=True))[()], name)

    def _astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        if np.dtype(dtype).kind == "f" and np.finfo(dtype).eps <= np.finfo(self.dtype).eps:
            return self._mapped(lambda value: np.asarray(value).astype(dtype))
        return np.asarray(self.trace.look(self, goes_on=True)).astype(dtype)  # rounded: no noise of its law any more

    # Whatever looks at it ---------------------------------------------------------------------------
    def __float__(self) -> float:
        return float(self.trace.look(self, goes_on=True))

    def _decided(self) -> Any:
        self.trace.decided()
        return self.trace.look(self, goes_on=True)

    def __int__(self) -> int:
        whole = np.asarray(self.value).dtype.kind in "iu"
        return int(self.trace.look(self, goes_on=True) if whole else self._decided())

    def __index__(self) -> int:
        return int(self._decided())

    def __bool__(self) -> bool:
        self.trace.decided()
        return bool(self.look())

    def __round__(self, digits: int | None = None) -> Any:
        return round(float(self._decided()), digits)

    def __floor__(self) -> int:
        return math.floor(self._decided())

    def __ceil__(self) -> int:
        return math.ceil(self._decided())

    def __trunc__(self) -> int:
        return math.trunc(self._decided())

    def __repr__(self) -> str:
        return repr(self.look())

    def __format__(self, spec: str) -> str:
        return format(np.asarray(self.look())[()], spec)

    def __deepcopy__(self, memo: Any) -> Any:
        return self._mapped(np.copy)

    __copy__ = __deepcopy__

    def __reduce__(self) -> Any:
        return np.asarray, (self.look(),)


def combined(function: Callable[..., Any], args: Sequence[Any], noisy: Sequence[Noisy]) -> Noisy:
    """The noisy value of a function of others and of plain values, as they are now."""
    kept = _frozen(args)
    return Noisy(
        noisy[0].trace,
        function(*_valued(kept, None)),
        lambda units: function(*_valued(kept, units)),
        all(each.bendable for each in noisy),
        all(each.pure for each in noisy) and (function in PRODUCTS or not any(map(_is_data, _plain_in(args)))),
    )


def _plain_in(value: Any) -> list[Any]:
    """What is not noisy."""
    if type(value) in (tuple, list):
        return [each for item in value for each in _plain_in(item)]
    return [] if isinstance(value, Noisy) and value.again is not None else [value]


def _is_data(value: Any) -> bool:
    """Whether it may come from the data: anything but draws and Python's numbers."""
    return type(value) not in (bool, int, float, complex)


def seen(value: Any) -> Any:
    """Looked at, wherever noisy values stand in it."""
    if isinstance(value, Noisy):
        return value.look()
    if type(value) in (tuple, list):
        return type(value)(seen(item) for item in value)
    if type(value) is dict:
        return {key: seen(item) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        looked = value.copy()
        for place, item in np.ndenumerate(value):
            looked[place] = seen(item)
        return looked
    return value


@contextmanager
def arrays_of_noise() -> Iterator[None]:
    """Meanwhile np.array and np.asarray keep lists of noisy values noisy: it is how drawn numbers are put together."""
    plain = {name: getattr(np, name) for name in ("array", "asarray")}

    def keeping(function: Any) -> Any:
        @functools.wraps(function)
        def made(value: Any, *args: Any, **options: Any) -> Any:
            noisy = _noisy_in(value) if type(value) in (tuple, list) else []
            if not noisy or args or np.dtype(options.get("dtype") or float) != float:
                return function(value, *args, **options)
            return combined(lambda inner: function(inner, **options), (value,), noisy)

        return made

    try:
        for name, function in plain.items():
            setattr(np, name, keeping(function))
        yield
    finally:
        for name, function in plain.items():
            setattr(np, name, function)


@dataclass(frozen=True, eq=False)
class _Frozen:
    """A noisy value as it was when it was used."""

    value: Any
    again: Again


def _frozen(value: Any) -> Any:
    """Operands may be changed in place later: noisy ones become plain, arrays are written to."""
    if isinstance(value, Noisy):
        return value.value if value.again is None else _Frozen(value.value, value.again)
    if type(value) in (tuple, list):
        return type(value)(_frozen(item) for item in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def _valued(value: Any, units: Sequence[np.ndarray] | None) -> Any:
    if isinstance(value, _Frozen):
        return value.value if units is None else value.again(units)
    if type(value) in (tuple, list):
        return type(value)(_valued(item, units) for item in value)
    return value


def _noisy_in(value: Any) -> list[Noisy]:
    """Those that nobody has looked at."""
    if isinstance(value, Noisy):
        return [value] if value.again is not None else []
    if isinstance(value, tuple | list):
        return [each for item in value for each in _noisy_in(item)]
    return []
