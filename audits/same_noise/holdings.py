"""Holdings: what a mechanism can reach between runs, by closures, attributes, defaults and the names of its module.

Generators among them are listened to; whatever else changes from run to run is state, and then no run speaks for the
next.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import pickle
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST = 5_000  # holdings that are looked at
LARGE = 200  # entries of a container that are looked at one by one
LIBRARIES = {"numpy", "scipy", "pandas", "sklearn", "torch", "hypothesis", "pytest", "_pytest"}
PLAIN = (bool, int, float, complex, str, bytes, type(None))
Put = Callable[[Any], object]


@dataclass(frozen=True, eq=False)
class Holding:
    """One thing under its name; `put` sets something else in its place, where that can be done."""

    name: str
    value: Any
    put: Put | None


def holdings(mechanism: Any) -> list[Holding]:
    """All that the mechanism's own code reaches; libraries are not entered."""
    found: list[Holding] = []
    todo, known = deque([Holding("", mechanism, None)]), set()
    while todo and len(found) < MOST:
        each = todo.popleft()
        found.append(each)
        if not isinstance(each.value, PLAIN) and id(each.value) not in known:
            known.add(id(each.value))
            todo.extend(_parts(each))
    return found


def state(mechanism: Any) -> dict[str, Any]:
    """What everything it holds looks like now, by name."""
    seen = ((each.name, _token(each.value)) for each in holdings(mechanism))
    return {name: token for name, token in seen if token is not None}


def changed(before: dict[str, Any], after: dict[str, Any]) -> str:
    """The name of something that is not as before, if there is any."""
    return next((name for name in {**before, **after} if before.get(name) != after.get(name)), "")


def _parts(each: Holding) -> Iterator[Holding]:
    value, name = each.value, each.name
    dot = f"{name}." if name else ""
    if isinstance(value, types.FunctionType):
        yield from _of_function(value, dot)
    elif isinstance(value, types.MethodType):
        yield Holding(name, value.__self__, None)
        yield Holding(name, value.__func__, None)
    elif isinstance(value, functools.partial):
        yield from (Holding(name, part, None) for part in (value.func, *value.args))
        yield from _entries(value.keywords, name)
    elif isinstance(value, dict):
        yield from _entries(value, name)
    elif isinstance(value, list) and len(value) <= LARGE:
        yield from (
            Holding(f"{name}[{i}]", item, functools.partial(value.__setitem__, i)) for i, item in enumerate(value)
        )
    elif isinstance(value, tuple | set | frozenset) and len(value) <= LARGE:
        yield from (Holding(f"{name}[{i}]", item, None) for i, item in enumerate(value))
    elif isinstance(value, type) and _is_own(value):
        yield from (
            Holding(f"{dot}{key}", getattr(item, "__func__", item), functools.partial(_put_attribute, value, key, item))
            for key, item in [*vars(value).items()]
            if not key.startswith("__") or key == "__call__"
        )
    elif not isinstance(value, types.ModuleType | type):
        held = getattr(value, "__dict__", {})
        if isinstance(held, dict):
            yield from (
                Holding(f"{dot}{key}", item, functools.partial(held.__setitem__, key)) for key, item in held.items()
            )
        slots = itertools.chain.from_iterable(getattr(kind, "__slots__", ()) for kind in type(value).__mro__)
        yield from (
            Holding(f"{dot}{key}", getattr(value, key), functools.partial(object.__setattr__, value, key))
            for key in slots
            if _is_own(type(value)) and hasattr(value, key)
        )
        yield Holding(type(value).__qualname__, type(value), None)


def _entries(value: dict[Any, Any], name: str) -> Iterator[Holding]:
    if len(value) <= LARGE:
        for key, item in [*value.items()]:
            yield Holding(f"{name}[{key!r}]", item, functools.partial(value.__setitem__, key))


def _of_function(function: types.FunctionType, dot: str) -> Iterator[Holding]:
    """A function's closure, defaults, attributes, and what it and those inside it call by global names."""
    if not _is_own(function):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield Holding(name, cell.cell_contents, functools.partial(setattr, cell, "cell_contents"))
        except ValueError:  # nothing in it yet
            continue
    for place, item in enumerate(function.__defaults__ or ()):
        yield Holding(f"{dot}default {place}", item, functools.partial(_put_default, function, place))
    yield from _entries(function.__kwdefaults__ or {}, f"{dot}default")
    yield from _entries(vars(function), function.__qualname__)
    spaces = function.__globals__
    for name in _global_names(function.__code__):
        if name in spaces:
            yield Holding(name, spaces[name], functools.partial(spaces.__setitem__, name))


def _put_attribute(kind: type, key: str, before: Any, value: Any) -> None:
    """A static method stays one: its function alone would be given the instance."""
    wrap = isinstance(before, staticmethod | classmethod) and not isinstance(value, staticmethod | classmethod)
    setattr(kind, key, type(before)(value) if wrap else value)


def _put_default(function: types.FunctionType, place: int, value: Any) -> None:
    defaults = function.__defaults__ or ()
    function.__defaults__ = (*defaults[:place], value, *defaults[place + 1 :])


def _global_names(code: types.CodeType) -> set[str]:
    inside = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return {*code.co_names}.union(*map(_global_names, inside))


def _is_own(value: Any) -> bool:
    """Whether it belongs to the mechanism's author: not to the standard library, a known one, or the auditor."""
    module = str(getattr(value, "__module__", "") or "")
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names - {"__main__"} | LIBRARIES and not module.startswith("dpcheck.audits")


def _token(value: Any) -> Any:
    """What changes when the value does; None for what has parts, or has none that are known."""
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.shape, str(value.dtype), hashlib.blake2b(value.tobytes(), digest_size=16).digest()
    if isinstance(value, types.FunctionType | types.MethodType | types.ModuleType | type | functools.partial):
        return None
    if isinstance(value, dict | list | tuple | set | frozenset):
        return len(value) if len(value) <= LARGE else _pickled(value)
    if isinstance(value, itertools.count | itertools.cycle | range | deque | bytearray):
        return _pickled(value)
    return None


def _pickled(value: Any) -> Any:
    try:
        return hashlib.blake2b(pickle.dumps(value), digest_size=16).digest()
    except Exception:  # what cannot be stored cannot be compared
        return None
