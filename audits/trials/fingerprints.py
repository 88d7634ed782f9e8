"""Fingerprints: what a checkpoint belongs to. Code and data by their content, equal in every process.

A function is its bytecode, constants, defaults, closure and the globals that it names, read as deep as they go; an
object is its class and its state, an array all of its bytes. What is installed (or comes with Python) is known by
name, version and file. What has no content to read is refused: then a `key=` must stand for it.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import importlib
import os
import platform
import random
import struct
import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcheck.audits.pairs.drawn_pairs import Examples, Pair
from dpcheck.bounds.language.errors import InvalidInput

if TYPE_CHECKING:  # plans have fingerprints, too
    from dpcheck.audits.trials.plan import AuditPlan

REMEDY = "Pass key='...', a name of your own for this mechanism and its data; or no checkpoint."
OURS = ("dpcheck.audits", "dpcheck.bounds")  # known by their files, as if installed
INSTALLED = {"site-packages", "dist-packages"}
ABSENT = NotImplemented
DRAWN = 64  # pairs that stand for a strategy
# Of a class: bookkeeping that says nothing which its functions do not say.
# fmt: off
SKIPPED = frozenset({
    "__abstractmethods__", "__annotations__", "__dataclass_fields__", "__dataclass_params__", "__dict__", "__doc__",
    "__firstlineno__", "__hash__", "__match_args__", "__module__", "__orig_bases__", "__parameters__", "__qualname__",
    "__slots__", "__static_attributes__", "__weakref__", "_abc_impl",
})
# fmt: on
# Their state is another one in every process, and no part of whoever draws from them.
GLOBAL_STATES = {id(np.random.mtrand._rand): "numpy.random", id(getattr(random, "_inst", None)): "random"}


def fingerprint(plan: AuditPlan, pair: Pair | None, stop_early: bool, assume: str | None) -> dict[str, str]:
    """What must agree for a checkpoint to be resumed, part by part."""
    if plan.key is None:
        read = {"mechanism": plan.mechanism, "data": pair, "neighbours": plan.neighbours, "attack": plan.attack}
    else:
        attack = plan.attack if isinstance(plan.attack, str) else None
        read = {"key": plan.key, "neighbours": str(plan.neighbours), "attack": attack}
    delta = None if plan.delta is None else float(plan.delta)
    read["guarantee"] = plan.guarantee
    read["numbers"] = (plan.max_trials, float(plan.alpha), plan.seed, delta, bool(stop_early), assume)
    return {what: content(value, what) for what, value in read.items()} | {"version of dpcheck": version()}


def content(value: Any, what: str = "value") -> str:
    """A hash of everything in the value; refused, naming the part, where something cannot be read."""
    try:
        return Fingerprinter(what)(value).hex()
    except RecursionError as error:
        raise InvalidInput(what, type(value).__name__, "nested less deeply", REMEDY) from error


@functools.cache
def version() -> str:
    """The files that decide which trials run and what is made of them: finer than a version's number."""
    room = Path(__file__).parents[1]
    named = ((file.relative_to(room).as_posix(), file.read_bytes()) for file in sorted(room.rglob("*.py")))
    return _hash("dpcheck", *(part for pair in named for part in pair)).hex()


class Fingerprinter:
    """Reads a value into one hash. Sharing does not matter, cycles are closed where they meet their own path."""

    def __init__(self, what: str) -> None:
        self.path = [what]
        self.names: list[frozenset[str]] = [frozenset()]  # attributes that the code being read may ask for
        self.open: dict[int, int] = {}
        self.known: dict[int, tuple[Any, bytes]] = {}

    def __call__(self, value: Any, step: str = "") -> bytes:
        plain = _scalar(value)
        if plain is not None:
            return plain
        if id(value) in GLOBAL_STATES:
            return _hash("global state", GLOBAL_STATES[id(value)])
        if id(value) in self.known:
            return self.known[id(value)][1]
        if id(value) in self.open:
            return _hash("cycle", str(len(self.open) - self.open[id(value)]))
        self.open[id(value)] = len(self.open)
        self.path.append(step)
        try:
            made = self._read(value)
        finally:
            self.path.pop()
            del self.open[id(value)]
        if not isinstance(value, ModuleType):  # of which every function asks for other parts
            self.known[id(value)] = (value, made)  # the value too, so that its id stays its own
        return made

    def _read(self, value: Any) -> bytes:
        kind = type(value)
        if kind in (tuple, list):
            return _hash(kind.__name__, *(self(item, f"[{i}]") for i, item in enumerate(value)))
        if kind is dict:
            return _hash("dict", *sorted(self._items(value.items())))
        if isinstance(value, set | frozenset):
            return _hash(self(kind), *sorted(self(item, " (a member)") for item in value))
        if kind is np.ndarray:
            return self._array(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, ModuleType):
            return self._module(value)
        if isinstance(value, CodeType):
            return self._code(value)
        for unwrap in (self._descriptor, self._table, self._examples):
            parts = unwrap(value)
            if parts is not None:
                return _hash(kind.__qualname__, *(self(part) for part in parts))
        return self._object(value)

    def _items(self, items: Iterable[tuple[Any, Any]]) -> Iterator[bytes]:
        for name, value in items:
            yield self(name, " (a key)") + self(value, f".{name}" if isinstance(name, str) else f"[{name!r}]")

    def _array(self, array: np.ndarray) -> bytes:
        shape = repr((array.dtype, array.shape))
        if array.dtype.hasobject:
            return _hash("objects", shape, *(self(item, " (an entry)") for item in array.ravel().tolist()))
        flat = np.ascontiguousarray(array).reshape(-1)
        return _hash("array", shape, flat.view(np.uint8) if flat.nbytes else b"")

    # Code ------------------------------------------------------------------------------------------
    def _function(self, function: FunctionType) -> bytes:
        named = _named(function)
        if named is not None:
            return named
        code = function.__code__
        self.names.append(frozenset(_attributes(code)))
        try:
            parts = [
                self._code(code),
                self(function.__defaults__, " (defaults)"),
                self(function.__kwdefaults__, " (defaults)"),
                self(vars(function), f" ({function.__name__})"),
            ]
            cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
            parts += [self(_cell(cell), f" ({name} of {function.__name__})") for name, cell in cells]
            for name in sorted(_globals(code)):
                found = function.__globals__.get(name, ABSENT)  # or a builtin
                parts.append(self(found, f" (global {name} of {function.__name__})"))
            parts += [self(module) for module in _imported(code, function.__globals__)]
        finally:
            self.names.pop()
        return _hash("function", *parts)

    def _code(self, code: CodeType) -> bytes:
        """Bytecode and constants; where in a file it stands does not matter."""
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        parts = (platform.python_version(), code.co_code, code.co_exceptiontable, repr((counts, names)))
        return _hash("code", *parts, self(code.co_consts))

    def _class(self, cls: type) -> bytes:
        named = _named(cls)
        if named is not None:
            return named
        members = {name: value for name, value in vars(cls).items() if name not in SKIPPED}
        slots = MemberDescriptorType | GetSetDescriptorType
        read = {name: value for name, value in members.items() if not isinstance(value, slots)}
        return _hash("class", cls.__qualname__, self(cls.__bases__), *sorted(self._items(read.items())))

    def _module(self, module: ModuleType) -> bytes:
        """An installed one by name; of another, what the code at hand may ask of it."""
        home = _home(module.__name__)
        if home is not None:
            return _hash("module", module.__name__, home)
        asked = sorted(self.names[-1] & vars(module).keys())
        return _hash("module", module.__name__, *(self(getattr(module, name), f".{name}") for name in asked))

    def _descriptor(self, value: Any) -> list[Any] | None:
        if isinstance(value, property):
            return [value.fget, value.fset, value.fdel]
        if isinstance(value, classmethod | staticmethod):
            return [value.__func__]
        return [value.func] if isinstance(value, functools.cached_property) else None

    # Objects ---------------------------------------------------------------------------------------
    def _table(self, value: Any) -> list[Any] | None:
        """Tables and tensors of other libraries by what they hold, not by how they happen to hold it."""
        pandas, sparse = sys.modules.get("pandas"), sys.modules.get("scipy.sparse")
        if sparse is not None and sparse.issparse(value):
            entries = value.tocoo(copy=True)
            entries.sum_duplicates()
            return [type(value), value.shape, entries.data, *entries.coords]
        if pandas is not None and isinstance(value, pandas.DataFrame):
            columns = [value.iloc[:, j].array for j in range(value.shape[1])]
            return [type(value), value.attrs, value.index, value.columns, *columns]
        if pandas is not None and isinstance(value, pandas.Series):
            return [type(value), value.attrs, value.name, value.index, value.array]
        if pandas is not None and isinstance(value, pandas.Index):
            return [type(value), list(value.names), str(value.dtype), value.to_numpy()]
        if pandas is not None and isinstance(value, pandas.api.extensions.ExtensionArray):
            levels = [value.categories, value.ordered] if isinstance(value, pandas.Categorical) else []
            kept = value.to_numpy() if isinstance(value.dtype, np.dtype) else value.astype(object)
            return [type(value), str(value.dtype), np.asarray(kept), *levels]
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            return [type(value), str(value.dtype), np.asarray(value)]
        return None

    def _examples(self, value: Any) -> list[Any] | None:
        """A strategy changes as it is used: its text and the pairs that it draws stand for it."""
        return [str(value), value.draw(0, DRAWN)] if isinstance(value, Examples) else None

    def _object(self, value: Any) -> bytes:
        """Its class and state, as pickling would take them apart."""
        take_apart = copyreg.dispatch_table.get(type(value))
        try:
            made: Any = take_apart(value) if take_apart else value.__reduce_ex__(4)
        except Exception as error:
            where = "".join(self.path)
            limit = f"something whose content can be read ({type(error).__name__}: {error})"
            raise InvalidInput(where, value, limit, REMEDY) from error
        if isinstance(made, str):  # a global of its module
            named = _hash("global", str(getattr(value, "__module__", "")), made, _home(_module_of(value)) or "")
            return _hash(named, self(getattr(value, "__wrapped__", None), ".__wrapped__"))
        function, arguments, state, entries, pairs = [*made, None, None, None][:5]
        items = list(self._items(pairs or ()))
        return _hash(
            "object",
            self(function),
            self(arguments, " (made from)"),
            _hash("state", *(self(part) for part in self._state(type(value), state))),
            _hash("entries", *(self(entry, f"[{i}]") for i, entry in enumerate(entries or ()))),
            _hash("items", *(items if isinstance(value, OrderedDict) else sorted(items))),
        )

    def _state(self, cls: type, state: Any) -> list[Any]:
        """What the object holds, without what it has only worked out from the rest."""
        slotted = type(state) is tuple and len(state) == 2 and all(part is None or type(part) is dict for part in state)
        parts = list(state) if slotted else [state]
        return [self._held(cls, part) if type(part) is dict else part for part in parts]

    def _held(self, cls: type, state: dict[Any, Any]) -> dict[Any, Any] | None:
        cached = {name for name in state if isinstance(getattr(cls, str(name), None), functools.cached_property)}
        return {name: value for name, value in state.items() if name not in cached} or None


def _hash(kind: str | bytes, *parts: Any) -> bytes:
    """A hash in which every part has its place: lengths go in, too."""
    made = hashlib.sha256()
    for part in (kind, *parts):
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else memoryview(part)
        made.update(struct.pack("<Q", len(raw)))
        made.update(raw)
    return made.digest()


def _scalar(value: Any) -> bytes | None:
    """Python's and numpy's own values, by type and content; None for anything else."""
    kind = type(value)
    if value is None or value is Ellipsis or value is NotImplemented:
        return _hash("constant", repr(value))
    if kind in (bool, int):
        return _hash(kind.__name__, hex(value))
    if kind is str:
        return _hash("str", value)
    if kind in (float, complex):
        return _hash(kind.__name__, struct.pack("<dd", value.real, value.imag))
    if kind in (bytes, bytearray):
        return _hash(kind.__name__, value)
    if isinstance(value, np.generic) and not isinstance(value, np.object_ | np.void):
        return _hash("scalar", repr(value.dtype), value.tobytes())
    return None


# Names -----------------------------------------------------------------------------------------------
def _named(value: Any) -> bytes | None:
    """A function or class that is installed and found under its name: name, version and file. None for any other."""
    home = _home(str(value.__module__))
    if home is None:
        return None
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return _hash("named", value.__module__, value.__qualname__, home) if found is value else None


def _module_of(value: Any) -> str:
    owner = value if isinstance(value, BuiltinFunctionType) else type(value)
    return str(getattr(value, "__module__", None) or owner.__module__)


@functools.cache
def _home(name: str) -> str | None:
    """Version and content of an installed module; None for code that lies elsewhere, and may change at any time."""
    top, file = name.partition(".")[0], getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return f"python {platform.python_version()}" if top in sys.stdlib_module_names - {"__main__"} else None
    installed = INSTALLED & set(Path(file).parts) or Path(file).is_relative_to(Path(os.__file__).parent)
    if not (installed or name.startswith(OURS)):
        return None
    known = getattr(sys.modules.get(top), "__version__", "")
    return f"{known} {hashlib.sha256(Path(file).read_bytes()).hexdigest()}"


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return ABSENT


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _attributes(code: CodeType) -> set[str]:
    return {name for part in _nested(code) for name in part.co_names}


def _globals(code: CodeType) -> set[str]:
    steps = [step for part in _nested(code) for step in dis.get_instructions(part)]
    return {step.argval for step in steps if "GLOBAL" in step.opname or step.opname == "LOAD_NAME"}


def _imported(code: CodeType, scope: dict[str, Any]) -> list[ModuleType]:
    """Modules that the code imports itself; those that are not there are its own affair."""
    found = []
    for part in _nested(code):
        steps = list(dis.get_instructions(part))
        for level, _, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname != "IMPORT_NAME":
                continue
            try:
                dots = "." * int(level.argval or 0)
                found.append(importlib.import_module(f"{dots}{step.argval}", scope.get("__package__") or None))
            except (ImportError, TypeError, ValueError):
                continue
    return found
