"""Outputs of any kind as rows of numbers, with nothing lost: how an output is encoded decides the power.

Numeric arrays stay as they are. Strings, tuples, None and lists of varying length become, position by
position, a kind and a value, next to their length and a digest of the whole.
"""

from __future__ import annotations

import hashlib
import inspect
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.errors import DpcheckError, InvalidInput

Mechanism = Callable[[Any, np.random.Generator, int], Any]
WIDEST = 64


@dataclass(frozen=True)
class Encoding:
    """How outputs become rows: `width` columns of numbers, or positions of objects when `objects`."""

    width: int
    objects: bool = False

    def __call__(self, raw: Any) -> np.ndarray:
        """Rows of float64, one per output."""
        if self.objects:
            rows = [_object_row(_plain(output), self.width) for output in raw]
            return np.array(rows, float).reshape(len(raw), -1)
        if raw.dtype.kind not in "USO":
            return _numeric(raw)
        # A rare kind of output that the pilot never saw, among numbers: it keeps an identity far from all of them.
        return np.array([self._stranger(_plain(output)) for output in raw], float).reshape(len(raw), -1)

    def _stranger(self, output: Any) -> list[float]:
        leaves = _flat(output)
        numbers = all(isinstance(leaf, int | float) for leaf in leaves)
        if numbers and len(leaves) == self.width:
            return [float(leaf) for leaf in leaves]
        return [-1e280 * (1 + _digest(output) * 2.0**-52)] * self.width


def encoding_of(raw: Any) -> Encoding:
    """The encoding that fits these outputs."""
    if isinstance(raw, np.ndarray) and raw.dtype != object and raw.dtype.kind not in "USO":
        return Encoding(_numeric(raw[:1]).shape[1])
    longest = max((len(_flat(_plain(output))) for output in raw), default=1)
    return Encoding(min(longest, WIDEST), objects=True)


def checked_outputs(raw: Any, trials: int) -> Any:
    """The mechanism's answer, refused unless it is one finite-or-infinite output per trial."""
    if not isinstance(raw, np.ndarray) and not isinstance(raw, list | tuple):
        raw = np.asarray(raw)
    if isinstance(raw, list | tuple):
        raw = _array_of(raw)
    if raw.ndim == 0 or len(raw) != trials:
        limit = f"({trials},) or ({trials}, k): one output per trial"
        remedy = "Draw `trials` outputs at once, or wrap a one-run function: per_run(f)."
        raise InvalidInput("shape of the mechanism's output", raw.shape, limit, remedy)
    if raw.dtype.kind in "fc" and np.isnan(raw).any():
        k = int(np.isnan(raw).reshape(trials, -1).any(axis=1).argmax())
        limit = "a number; a NaN hides what was released"
        raise InvalidInput(f"output {k}", "NaN", limit, "Return None, or a flag in a column of its own, for an abort.")
    return raw


def joined(parts: Iterable[Any]) -> Any:
    """Outputs of several chunks as one array; object outputs stay objects."""
    parts = list(parts)
    if all(part.dtype.kind not in "USO" and part.shape[1:] == parts[0].shape[1:] for part in parts):
        return np.concatenate(parts)
    return _objects([output for part in parts for output in part])


@dataclass(frozen=True)
class PerRun:
    """A one-run function as a batched mechanism. `global_state`: it takes no rng, so the global ones are seeded."""

    function: Callable[..., Any]
    global_state: bool

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> Any:
        outputs = []
        for k in range(trials):
            try:
                outputs.append(self._one(data, rng))
            except Exception as error:
                raise FailedRun(k, error) from error
        return _array_of(outputs)

    def _one(self, data: Any, rng: np.random.Generator) -> Any:
        if not self.global_state:
            return self.function(data, rng)
        seed = int(rng.integers(2**32))
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - the function reads numpy's global state, so that is what we seed
        return self.function(data)

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", "mechanism")


class FailedRun(DpcheckError):
    """Which run of a batch raised, and what."""

    def __init__(self, run: int, cause: Exception) -> None:
        super().__init__(run, cause)
        self.run, self.cause = run, cause


def per_run(function: Callable[..., Any]) -> PerRun:
    """Wrap `function(data, rng)` or `function(data)` of ONE run as a mechanism of many.

    Without an rng argument numpy's and random's global state is seeded before each run.

    >>> coin = per_run(lambda data, rng: bool(rng.random() < data))
    >>> coin(1.0, np.random.default_rng(0), 3).tolist()
    [True, True, True]
    """
    if not callable(function):
        raise InvalidInput("function", function, "callable as f(data, rng) or f(data)", "Pass the function itself.")
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return PerRun(function, global_state=False)
    free = [a for a in arguments if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD)]
    starred = any(a.kind == a.VAR_POSITIONAL for a in arguments)
    second = len(free) >= 2 and (free[1].default is free[1].empty or free[1].name in ("rng", "random_state"))
    return PerRun(function, global_state=not (second or starred))


def _array_of(outputs: Any) -> np.ndarray:
    """A numeric array where that loses nothing, objects otherwise (an int among floats keeps its kind)."""
    kinds = {type(output) for output in outputs}
    plain = len(kinds) == 1 and issubclass(next(iter(kinds)), float | int | complex | np.number | np.ndarray | np.bool_)
    if plain and len({np.shape(output) for output in outputs}) == 1:
        array = np.asarray(outputs)
        if array.dtype.kind in "biufc":
            return array
    return _objects(list(outputs))


def _objects(outputs: list[Any]) -> np.ndarray:
    array = np.empty(len(outputs), dtype=object)
    for i, output in enumerate(outputs):
        array[i] = output
    return array


def _numeric(raw: Any) -> np.ndarray:
    array = np.asarray(raw)
    rows = array.reshape(len(array), -1)
    if rows.dtype.kind == "c":
        return np.hstack([rows.real, rows.imag]).astype(float)
    if rows.dtype.kind in "iu" and rows.dtype.itemsize == 8 and rows.size and np.abs(rows).max() > 2**53:
        limit = "at most 2**53 in size, so that a float holds it"
        raise InvalidInput("integer output", int(np.abs(rows).max()), limit, "Return it as a string.")
    return rows.astype(float, copy=False)


def _plain(output: Any) -> Any:
    """The output in Python's own types, so that equal outputs look equal wherever they come from."""
    if isinstance(output, np.ndarray | np.generic):
        return _plain(output.tolist())
    if isinstance(output, list | tuple):
        return tuple(_plain(item) for item in output)
    return output


def _flat(output: Any) -> list[Any]:
    if isinstance(output, list | tuple):
        return [leaf for item in output for leaf in ([*_flat(item)] if isinstance(item, list | tuple) else [item])]
    return [output]


def _object_row(output: Any, width: int) -> list[float]:
    leaves = _flat(output)
    row = [float(len(leaves)), _digest(output)]
    for i in range(width):
        row += _leaf(leaves[i]) if i < len(leaves) else [-1.0, 0.0]
    return row


def _leaf(leaf: Any) -> list[float]:
    """A kind (0 None, 1 bool, 2 number, 3 anything else) and a value."""
    if leaf is None:
        return [0.0, 0.0]
    if isinstance(leaf, bool):
        return [1.0, float(leaf)]
    if isinstance(leaf, int | float):
        if leaf != leaf:
            raise InvalidInput("an output", "NaN", "a number; a NaN hides what was released", "Return None instead.")
        return [2.0, float(leaf)]
    return [3.0, _digest(leaf)]


def _digest(value: Any) -> float:
    """52 bits of a stable hash: equal outputs agree in every process, different ones do not meet by chance."""
    return float(int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "big") >> 12)
