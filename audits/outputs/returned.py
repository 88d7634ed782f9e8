"""What a mechanism returns, checked: one output per trial, as an array of numbers or of objects."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.audits.outputs.foreign import from_tensor, is_tensor
from dpcheck.bounds.language.errors import DpcheckError, InvalidInput

Mechanism = Callable[[Any, np.random.Generator, int], Any]
RNG_NAMES = ("rng", "random_state", "generator")


def checked_outputs(raw: Any, trials: int) -> Any:
    """The mechanism's answer as an array of one output per trial; refused if it is none, or a NaN among numbers."""
    raw = as_array(raw)
    if raw.ndim == 0 or len(raw) != trials:
        limit = f"({trials},) or ({trials}, k): one output per trial"
        remedy = "Draw `trials` outputs at once, or wrap a one-run function: per_run(f)."
        raise InvalidInput("shape of the mechanism's output", raw.shape, limit, remedy)
    if raw.dtype.kind in "fc" and np.isnan(raw).any():
        k = int(np.isnan(raw).reshape(trials, -1).any(axis=1).argmax())
        limit = "a number; a NaN hides what was released"
        raise InvalidInput(f"output {k}", "NaN", limit, "Return None, or a flag in a column of its own, for an abort.")
    return raw


def as_array(raw: Any) -> np.ndarray:
    """Outputs as numbers where floats hold them, else as objects; frames keep the names of their columns."""
    if is_tensor(raw):
        raw = from_tensor(raw)
    if hasattr(raw, "iloc") and hasattr(raw, "index"):
        raw = _records(raw)
    if isinstance(raw, np.ma.MaskedArray):
        raw = raw.tolist() if np.ma.is_masked(raw) else np.asarray(raw)
    if isinstance(raw, list | tuple):
        return _array_of(raw)
    array = np.asarray(raw)
    if array.ndim == 0:
        return array
    if array.size == 0:
        return _objects([()] * len(array))
    if array.dtype.names:
        fields = {name: array[name] for name in array.dtype.names}
        if all(_held(values) and values.ndim == 1 for values in fields.values()):
            return array
        return _objects([dict(zip(fields, row.tolist(), strict=True)) for row in array])
    if array.dtype.kind in "USO" or _held(array) or array.dtype.kind in "fc":
        return array
    return _objects(list(array) if array.dtype.kind in "mM" else array.tolist())


def _records(table: Any) -> Any:
    """The rows of a frame or series, with their labels unless these only count."""
    counted = getattr(table.index, "start", None) == 0 and table.index.step == 1
    if not hasattr(table, "columns"):
        return table.to_numpy() if counted else _records(table.to_frame("value"))
    table = table if counted else table.reset_index(allow_duplicates=True)
    if len(set(table.columns)) == len(table.columns) and all(isinstance(name, str) for name in table.columns):
        return table.to_records(index=False)
    return [dict(enumerate(row)) for row in table.itertuples(index=False, name=None)]


def _held(array: np.ndarray) -> bool:
    """Whether floats hold these numbers, none of which is a NaN."""
    if array.dtype.kind in "fc":
        return array.dtype.itemsize <= 16 and not np.isnan(array).any()
    return array.dtype.kind == "b" or (array.dtype.kind in "iu" and _exact(array))


def _exact(array: np.ndarray) -> bool:
    """Whether floats hold these integers."""
    return array.dtype.itemsize < 8 or array.size == 0 or max(int(array.max()), -int(array.min())) <= 2**53


def joined(parts: Iterable[Any]) -> Any:
    """Outputs of several chunks as one array; object outputs stay objects."""
    parts = list(parts)
    if all(part.dtype.kind not in "USO" and part.shape[1:] == parts[0].shape[1:] for part in parts):
        return np.concatenate(parts)
    return _objects([output for part in parts for output in part])


@dataclass(frozen=True)
class PerRun:
    """A one-run function as a batched mechanism. `global_state`: it takes no rng, so the global ones are seeded.

    `named` is what it calls its rng (None if it takes it second, whatever the name), `number` whether that is a seed.
    """

    function: Callable[..., Any]
    global_state: bool
    named: str | None = None
    number: bool = False

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> Any:
        outputs = []
        for k in range(trials):
            try:
                outputs.append(self._one(data, rng))
            except Exception as error:
                raise FailedRun(k, error) from error
        return _array_of(outputs)

    def _one(self, data: Any, rng: np.random.Generator) -> Any:
        if self.named is not None:
            return self.function(data, **{self.named: int(rng.integers(2**32)) if self.number else rng})
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

    An argument called rng or generator is passed by that name, wherever it stands; so is random_state, which gets a
    whole number where it has a default. Else the rng is the second argument, if that has no default. Without one,
    numpy's and random's global state is seeded before each run. Other arguments keep their defaults.

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
    must = [a for a in arguments if a.default is a.empty and a.kind not in (a.VAR_POSITIONAL, a.VAR_KEYWORD)]
    by_name = [a for a in arguments if a.kind in (a.POSITIONAL_OR_KEYWORD, a.KEYWORD_ONLY)]
    named = next((a for a in by_name if a.name in RNG_NAMES), None)
    second = must[1:2] if named is None else []
    rest = [a.name for a in must[1:] if a is not named and a not in second]
    if rest or any(a.kind == a.KEYWORD_ONLY for a in second):
        needs = " and ".join(rest or [a.name for a in second])
        remedy = f"Fill it in: per_run(functools.partial(f, {needs.split()[0]}=...))."
        raise InvalidInput("function", f"one that also needs {needs}", "callable as f(data, rng) or f(data)", remedy)
    if named is not None:
        number = named.name == "random_state" and named.default is not named.empty
        return PerRun(function, False, named.name, number)
    starred = any(a.kind == a.VAR_POSITIONAL for a in arguments)
    return PerRun(function, global_state=not (second or starred))


def _array_of(outputs: Any) -> np.ndarray:
    """A numeric array where that loses nothing, objects otherwise; 1, 1.0 and True are the same number."""
    outputs = [from_tensor(output) if is_tensor(output) else output for output in outputs]
    kinds = {type(output) for output in outputs}
    arrays = kinds == {np.ndarray} and len({output.shape for output in outputs}) == 1
    if kinds and (arrays or all(issubclass(kind, float | int | complex | np.number | np.bool_) for kind in kinds)):
        array = np.asarray(outputs)
        large = array.dtype.kind in "fc" and any(isinstance(output, int) and abs(output) > 2**53 for output in outputs)
        if not large and (array.dtype.kind in "bfc" or (array.dtype.kind in "iu" and _exact(array))):
            return array
    return _objects(list(outputs))


def _objects(outputs: list[Any]) -> np.ndarray:
    array = np.empty(len(outputs), dtype=object)
    for i, output in enumerate(outputs):
        array[i] = output
    return array
