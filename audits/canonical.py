"""The canonical form of an output: a flat dictionary from a reader's words for each part to what stands there.

Outputs that are equal (==) have equal forms, wherever they come from: 1, 1.0, True and numpy's 1; sets and dicts in any
order; 0.0 and -0.0. Different outputs have different forms: nothing is lost. Beside what identifies an output stand
parts that only help to read it: numbers inside text and the text around them, members of sets, lengths.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import hashlib
import numbers
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from fractions import Fraction
from typing import Any

import numpy as np

Leaf = float | str | np.ndarray
Form = dict[str, Leaf]

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
CODE = re.compile(r"(?=.*[0-9])(?:0[0-9a-fA-F]+|[0-9a-fA-F]{16,})")  # digits that are a sequence rather than a number
WORD = re.compile(r"[^\W\d_]{2,}")
PLAIN = {float, int, bool, np.float64, np.int64, np.bool_}
MEMBER = "a member"
OPAQUE = "something that cannot be read: "
LIKELY = 1e100  # larger numbers are bytes that mean something else
LONG = 16  # signs of a text whose length says something beside the text itself
EXACT = 2**53  # integers up to this size are floats
EPOCH = dt.datetime(1970, 1, 1)


def form_of(output: Any) -> Form:
    """The canonical form.

    >>> form_of({"count": 3, "tags": {"a"}}) == form_of({"tags": frozenset("a"), "count": 3.0})
    True
    >>> form_of({"count": 3})["output['count']"]
    3.0
    """
    return Reader().read(output)


@dataclasses.dataclass(eq=False)
class Reader:
    """Reads outputs. `aliases` collects better words for parts that were met (the fields of named tuples), `shapes` the
    shapes of blocks.
    """

    aliases: dict[str, str] = dataclasses.field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    form: Form = dataclasses.field(default_factory=dict)
    inside: list[int] = dataclasses.field(default_factory=list)

    def read(self, output: Any) -> Form:
        """The form of one output."""
        self.form, self.inside = {}, []
        try:
            self.walk(output, "output")
        except RecursionError:
            return {"output": f"{OPAQUE}a structure that is nested too deeply"}
        return self.form

    def walk(self, value: Any, path: str) -> None:
        """Add the parts of a value."""
        kind = type(value)
        if kind is float or kind is int:
            self.number(value, path)
        elif kind is str:
            self.text(value, path)
        elif value is None or value is Ellipsis or value is NotImplemented:
            self.form[path] = repr(value)
        elif id(value) in self.inside:
            self.form[path] = f"the output's own part number {self.inside.index(id(value))}"
        else:
            self.inside.append(id(value))
            self.compound(value, path)
            self.inside.pop()

    def compound(self, value: Any, path: str) -> None:
        """Anything that is more than a float, an int or a string."""
        for wanted, read in READERS:
            if isinstance(value, wanted):
                return read(self, value, path)
        if hasattr(value, "detach") and hasattr(value, "numpy"):  # a tensor, wherever it lives
            value = value.detach().cpu()
            return self.array(np.asarray(value.numpy()), path)
        module = type(value).__module__.partition(".")[0]
        if module == "pandas":
            return self.pandas(value, path)
        if hasattr(value, "tocoo") and hasattr(value, "shape"):
            return self.sparse(value, path)
        if hasattr(value, "__array__"):
            return self.array(np.asarray(value), path)
        if dataclasses.is_dataclass(value):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return self.attributes(type(value).__qualname__, fields, path)
        return self.object(value, path)

    def number(self, value: Any, path: str) -> None:
        """A number that may be a float, with its digits where a float does not hold them."""
        try:
            close = float(value)
        except OverflowError:
            close = float("inf") if value > 0 else float("-inf")
        if close != close:
            self.form[path] = "NaN"
            return
        self.form[path] = close + 0.0
        if type(value) is not float and close != value:
            self.form[f"digits of {path}"] = f"{value:d}" if isinstance(value, int) else str(Fraction(value))

    def general_number(self, value: Any, path: str) -> None:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, numbers.Real) or not isinstance(value, numbers.Complex):
            self.number(value if value == value else float("nan"), path)  # a signalling Decimal NaN equals nothing
            return
        self.number(value.real, path if value.imag == 0 else f"{path}.real")
        if value.imag != 0:
            self.number(value.imag, f"{path}.imag")

    def text(self, text: str, path: str) -> None:
        """The text; the numbers in it and the text around them; its words, its length, its signs if it is a code."""
        self.form[path] = repr(text)
        if (text.isalpha() and len(text) <= LONG) or not text:
            return
        self.form[f"len({path})"] = float(len(text))
        if CODE.fullmatch(text) or (text and set(text) <= {"0", "1"}):
            for i, sign in enumerate(text):
                self.form[f"{path}[{i}]"] = repr(sign)
            return
        found = NUMBER.findall(text)
        if found:
            self.form[f"text around the numbers of {path}"] = repr(NUMBER.sub("#", text))
            for i, number in enumerate(found):
                self.form[f"number {i + 1} in {path}"] = float(number) + 0.0
        words = WORD.findall(text)
        if len(words) > 1:
            for word in words:
                self.form[f"{word!r} in {path}"] = MEMBER

    def bytes(self, value: Any, path: str) -> None:
        """Text where it is text; else bytes by position, and the floats that they may be."""
        raw = bytes(value)
        if raw.isascii() and all(byte > 31 or byte in b"\t\r\n" for byte in raw):
            self.form[f"kind of {path}"] = "bytes"
            self.text(raw.decode(), path)
            return
        self.form[f"kind of {path}"] = "bytes"
        for kind, words in (("<f8", "doubles"), ("<f4", "floats"), (">f8", "big-endian doubles")):
            size = np.dtype(kind).itemsize
            if len(raw) and len(raw) % size == 0:
                with np.errstate(invalid="ignore"):  # bytes that are no float at all
                    values = np.frombuffer(raw, kind).astype(float) + 0.0
                if (np.abs(values) < LIKELY).all():
                    self.form[f"{path} as {words}"] = values
        self.form[path] = np.frombuffer(raw, np.uint8).astype(float)
        self.form[f"len({path})"] = float(len(raw))

    def sequence(self, value: Any, path: str) -> None:
        """Lists and tuples, which are not equal; named tuples are tuples."""
        self.form[f"kind of {path}"] = "tuple" if isinstance(value, tuple) else "list"
        for i, name in enumerate(getattr(value, "_fields", ())):
            self.aliases[f"{path}[{i}]"] = f"{path}.{name}"
        self.items(value, path)

    def items(self, value: Any, path: str) -> None:
        """Entries by position: numbers together, anything else one by one."""
        self.form[f"len({path})"] = float(len(value))
        if len(value) > 1 and {type(item) for item in value} <= PLAIN:
            try:
                block = np.array(value, float) + 0.0
            except OverflowError:
                block = np.array([np.nan])
            if not np.isnan(block).any() and np.abs(block).max() < EXACT:
                self.form[path] = block
                return
        for i, item in enumerate(value):
            self.walk(item, f"{path}[{i}]")

    def array(self, array: np.ndarray, path: str) -> None:
        """Arrays by shape and entries, whatever their types."""
        if array.dtype.names:
            self.attributes("array", {name: array[name] for name in array.dtype.names}, path, "{}[{!r}]")
            return
        if array.ndim == 0:
            self.walk(array.item(), path)
            return
        self.form[f"kind of {path}"] = "array"
        self.form[f"shape of {path}"] = repr(array.shape)
        self.entries(array, path)

    def entries(self, array: np.ndarray, path: str) -> None:
        """Numbers as a block where floats hold them, anything else one by one."""
        kind = array.dtype.kind
        if kind == "c":
            if np.any(array.imag):
                self.entries(array.imag, f"{path}.imag")
            array, kind = array.real, "f"
        exact = kind in "bf" or (kind in "iu" and (array.size == 0 or int(np.abs(array).max()) < EXACT))
        if kind == "f" and (array.dtype.itemsize > 8 or np.isnan(array).any()):
            exact = False
        if exact:
            self.form[path] = array.astype(float).ravel() + 0.0
            if array.ndim > 1:
                self.shapes[path] = array.shape
            return
        for place in np.ndindex(array.shape):
            self.walk(array[place], f"{path}[{', '.join(map(str, place))}]")

    def mapping(self, value: Mapping[Any, Any], path: str) -> None:
        """Dictionaries in any order."""
        self.form[f"kind of {path}"] = "dict"
        fractions = sorted(key for key in value if type(key) is float and not key.is_integer())
        if fractions:  # they hardly repeat
            self.form[f"sorted keys of {path}"] = np.array(fractions)
            self.items([value[key] for key in fractions], f"values of {path} in the order of its keys")
        for key, item in value.items():
            if type(key) is not float or key.is_integer():
                self.walk(item, f"{path}[{said(key)}]")
        self.form[f"len({path})"] = float(len(value))

    def set(self, value: Iterable[Any], path: str) -> None:
        """Sets: who is a member; fractions, which hardly repeat, in order."""
        members = list(value)
        self.form[f"kind of {path}"] = "set"
        fractions = sorted(item for item in members if type(item) is float and not item.is_integer())
        if fractions:
            self.form[f"sorted({path})"] = np.array(fractions)
        for item in members:
            if type(item) is not float or item.is_integer():
                self.form[f"{said(item)} in {path}"] = MEMBER
        self.form[f"len({path})"] = float(len(members))

    def range(self, value: Any, path: str) -> None:
        self.form[f"kind of {path}"] = "range"
        self.items(list(value), path)

    def datetime(self, value: dt.datetime, path: str) -> None:
        """An instant where the time zone is known, else what the clock shows."""
        if value != value:
            self.form[path] = "not a time"
            return
        naive = value.tzinfo is None
        self.form[f"kind of {path}"] = "datetime" if naive else "datetime with time zone"
        since = value - (EPOCH if naive else EPOCH.replace(tzinfo=dt.UTC))
        self.number(since.total_seconds(), path)
        self.number(getattr(value, "nanosecond", 0), f"{path}.nanosecond")

    def date(self, value: dt.date, path: str) -> None:
        self.form[f"kind of {path}"] = "date"
        self.number(value.toordinal(), path)

    def time(self, value: dt.time, path: str) -> None:
        self.form[f"kind of {path}"] = "time"
        self.form[f"time zone of {path}"] = str(value.tzinfo)
        self.number(value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6, path)

    def duration(self, value: dt.timedelta, path: str) -> None:
        self.form[f"kind of {path}"] = "timedelta"
        self.number(value.total_seconds(), path)

    def enumerated(self, value: enum.Enum, path: str) -> None:
        self.form[path] = str(value)

    def pandas(self, value: Any, path: str) -> None:
        """Frames by column and series by position, with their labels; missing values are a value of their own."""
        kind = type(value).__name__
        if not hasattr(value, "dtypes") and not hasattr(value, "dtype"):
            self.form[path] = repr(value)  # NA, NaT, Interval, Period and other scalars
            return
        self.form[f"kind of {path}"] = kind
        if hasattr(value, "columns"):
            self.labels(value.columns, f"columns of {path}")
            self.labels(value.index, f"index of {path}")
            for name, column in value.items():
                self.entries(column.to_numpy(), f"{path}[{said(name)}]")
            return
        self.form[f"name of {path}"] = said(value.name)
        index = getattr(value, "index", None)
        if index is None:
            self.form[f"len({path})"] = float(len(value))
            self.entries(np.asarray(value), path)
            return
        labels = self.labels(index, f"index of {path}")
        if labels and len(set(labels)) == len(labels):
            for label, item in zip(labels, value.tolist(), strict=True):
                self.walk(item, f"{path}[{label}]")
        else:
            self.entries(value.to_numpy(), path)

    def labels(self, index: Any, path: str) -> list[str]:
        """What rows or columns are called, together; plain counting (0, 1, 2, ...) has no words."""
        self.form[f"len({path})"] = float(len(index))
        if any(name is not None for name in index.names):
            self.form[f"name of {path}"] = said(list(index.names))
        if getattr(index, "start", None) == 0 and index.step == 1:
            return []
        names = [said(name) for name in index]
        if names == [str(i) for i in range(len(names))]:
            return []
        self.form[path] = ", ".join(names)
        return names

    def sparse(self, value: Any, path: str) -> None:
        """Entries that are not zero."""
        value = value.tocoo(copy=True)
        value.sum_duplicates()
        self.form[f"kind of {path}"] = "sparse"
        self.form[f"shape of {path}"] = repr(tuple(int(size) for size in value.shape))
        for i, j, entry in zip(value.row.tolist(), value.col.tolist(), value.data.tolist(), strict=True):
            if entry != 0:
                self.walk(entry, f"{path}[{i}, {j}]")

    def attributes(self, kind: str, fields: Mapping[str, Any], path: str, words: str = "{}.{}") -> None:
        """Named parts."""
        self.form[f"kind of {path}"] = kind
        for name, item in fields.items():
            self.walk(item, words.format(path, name))

    def object(self, value: Any, path: str) -> None:
        """Any other object by what it would be copied from; what cannot be copied cannot be read."""
        kind = type(value).__qualname__
        if isinstance(value, type):
            self.form[path] = f"{value.__module__}.{value.__qualname__}"
            return
        try:
            made = value.__reduce_ex__(2)
        except Exception:  # whatever a foreign class raises
            made = None
        if isinstance(made, str):
            self.form[path] = f"{kind} {made}"
        elif not isinstance(made, tuple) or (callable(value) and not hasattr(value, "__dict__")):
            self.form[path] = f"{OPAQUE}{kind}"
        else:
            self.made(kind, value, made, path)

    def made(self, kind: str, value: Any, made: tuple[Any, ...], path: str) -> None:
        """From the parts that copy and pickle use: arguments, state, entries, items."""
        function, arguments, state, entries, items = (*made, None, None, None)[:5]
        if getattr(function, "__name__", "") in ("__newobj__", "_reconstructor", "__newobj_ex__"):
            arguments = arguments[1:]
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):  # slots
            state = {**(state[0] or {}), **state[1]}
        if not (state or arguments or entries or items or hasattr(value, "__dict__") or hasattr(value, "__slots__")):
            self.form[path] = f"{OPAQUE}{kind}"
            return
        named = state if isinstance(state, dict) and all(isinstance(name, str) for name in state) else {}
        self.attributes(kind, named, path)
        if arguments:
            self.walk(arguments, f"arguments of {path}")
        if state is not None and not named and state != {}:
            self.walk(state, f"state of {path}")
        if entries is not None:
            self.items(list(entries), path)
        if items is not None:
            self.mapping(dict(items), path)


def said(value: Any) -> str:
    """A key, a member or a label in words; equal ones are said alike."""
    if type(value) is str:
        return repr(value)
    if type(value) is int:
        return str(value)
    if value is None:
        return "None"
    form = form_of(value)
    leaf = form.get("output")
    if len(form) == 1 and isinstance(leaf, float):
        return repr(int(leaf) if leaf.is_integer() else leaf)
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        inside = ", ".join(said(item) for item in value)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return leaf if len(form) == 1 and isinstance(leaf, str) else f"part {digest(form):.0f}"


def spread(form: Form, blocks: Collection[str]) -> Form:
    """The form with the numbers of these blocks one by one."""
    found: Form = {}
    for path, leaf in form.items():
        if isinstance(leaf, np.ndarray) and path in blocks:
            found |= {f"{path}[{i}]": number for i, number in enumerate(leaf.tolist())}
        else:
            found[path] = leaf
    return found


def digest(form: Form) -> float:
    """52 bits of a stable hash: equal forms agree in every process, different ones do not meet by chance."""
    content = hashlib.blake2b(digest_size=8)
    whole = spread(form, form)
    for path in sorted(whole):
        content.update(f"{path}\0{whole[path]!r}\1".encode())
    return float(int.from_bytes(content.digest(), "big") >> 12)


Read = Callable[[Reader, Any, str], None]
# The first that fits: a subclass stands before its base.
READERS: list[tuple[Any, Read]] = [
    (np.ndarray, Reader.array),
    (dt.datetime, Reader.datetime),
    (dt.date, Reader.date),
    (dt.time, Reader.time),
    (dt.timedelta, Reader.duration),
    (np.datetime64 | np.timedelta64, lambda reader, value, path: reader.text(str(value), path)),
    (numbers.Number, Reader.general_number),  # bool, Decimal, Fraction, numpy's scalars
    (np.generic, lambda reader, value, path: reader.walk(value.item(), path)),
    (enum.Enum, Reader.enumerated),
    (str, lambda reader, value, path: reader.text(str(value), path)),
    (bytes | bytearray | memoryview, Reader.bytes),
    (list | tuple, Reader.sequence),
    (Mapping, Reader.mapping),
    (Set, Reader.set),
    (range, Reader.range),
]
