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
import math
import numbers
import re
from collections import Counter, OrderedDict, UserList, UserString, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpcheck.audits.outputs.foreign import OPAQUE, read_foreign

Leaf = float | str | np.ndarray
Form = dict[str, Leaf]

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
CODE = re.compile(r"(?=.*[0-9])(?:0[0-9a-fA-F]+|[0-9a-fA-F]{16,})")  # digits that are a sequence rather than a number
WORD = re.compile(r"[^\W\d_]{2,}")
PLAIN = {float, int, bool, np.float64, np.int64, np.bool_}
MEMBER = "a member"
LIKELY = 1e100  # larger numbers are bytes that mean something else
LONG = 16  # signs of a text whose length says something beside the text itself
DIGITS = 15  # that a float holds of any number
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
        if dataclasses.is_dataclass(value):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return self.attributes(type(value).__qualname__, {**fields, **getattr(value, "__dict__", {})}, path)
        return read_foreign(self, value, path)

    def number(self, value: Any, path: str) -> None:
        """A number that may be a float, and its digits where a float does not hold them."""
        try:
            close = float(value)
        except OverflowError:
            close = float("inf") if value > 0 else float("-inf")
        if close != close:
            self.form[path] = "NaN"
            return
        self.form[path] = close + 0.0
        if type(value) is not float and close != value:
            self.digits(value, close, path)

    def digits(self, value: Any, close: float, path: str) -> None:
        """What a float leaves out: of integers 32 bits at a time, of others what is left over."""
        exact = Fraction(value)
        self.form[f"digits of {path}"] = f"{exact.numerator:x}/{exact.denominator:x}"
        if exact.denominator == 1:
            size = abs(exact.numerator)
            limbs = [float(size >> shift & 0xFFFFFFFF) for shift in range(0, size.bit_length(), 32)]
            self.form[f"32 bits at a time of {path}"] = np.array(limbs)
        elif math.isfinite(close):
            self.form[f"what a float leaves out of {path}"] = float(exact - Fraction(close))

    def general_number(self, value: Any, path: str) -> None:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, Decimal) and value.is_nan():
            self.form[path] = "NaN"
            return
        if isinstance(value, numbers.Real) or not isinstance(value, numbers.Complex):
            self.number(value, path)
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
                self.number_in_text(number, f"number {i + 1} in {path}")
        words = WORD.findall(text)
        if len(words) > 1:
            self.members(words, path)

    def number_in_text(self, text: str, path: str) -> None:
        """Its value, its digits if they are many, and how it is spelt: sign, zeros in front, decimals, exponent."""
        if len(text) <= DIGITS:
            self.form[path] = float(text) + 0.0
        else:
            self.number(int(text) if text.lstrip("+-").isdigit() else Fraction(text), path)
        self.form[f"spelling of {path}"] = repr(re.sub(r"\d+", lambda run: f"{run[0][0] == '0':d}{len(run[0])}", text))

    def members(self, items: Iterable[Any], path: str) -> None:
        """That these stand somewhere in the output, wherever it is."""
        for item in items:
            self.form[f"{said(item)} in {path}"] = MEMBER

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
        if len(value) > 1:
            self.members((item for item in value if type(item) is str), path)

    def array(self, value: Any, path: str) -> None:
        """Arrays by shape and entries, whatever their types, with what a subclass holds beside them."""
        if isinstance(value, np.ma.MaskedArray):
            self.form[f"kind of {path}"] = "masked array"
            self.items(value.tolist(), path)  # None where masked
            return
        array, held = np.asarray(value), getattr(value, "__dict__", None)
        if held:
            self.attributes(type(value).__qualname__, held, path)
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
        """Dictionaries in any order, but for those that keep one; what a Counter has none of is not in it."""
        self.form[f"kind of {path}"] = "dict"
        if isinstance(value, OrderedDict):
            self.form[f"order of {path}"] = ", ".join(said(key) for key in value)
        items = {key: item for key, item in value.items() if not (isinstance(value, Counter) and item == 0)}
        fractions = sorted((key for key in items if fraction(key) is not None), key=float)
        if fractions:  # they hardly repeat
            self.form[f"sorted keys of {path}"] = np.array([float(key) for key in fractions])
            self.items([items[key] for key in fractions], f"values of {path} in the order of its keys")
        for key, item in items.items():
            if fraction(key) is None:
                self.walk(item, f"{path}[{said(key)}]")
        self.form[f"len({path})"] = float(len(items))

    def set(self, value: Iterable[Any], path: str) -> None:
        """Sets: who is a member; fractions, which hardly repeat, in order."""
        members = sorted(value, key=said)  # whose own order is another one in every process
        self.form[f"kind of {path}"] = "set"
        fractions = sorted(float(item) for item in members if fraction(item) is not None)
        if fractions:
            self.form[f"sorted({path})"] = np.array(fractions)
        self.members((item for item in members if fraction(item) is None), path)
        self.form[f"len({path})"] = float(len(members))

    def deque(self, value: Any, path: str) -> None:
        self.form[f"kind of {path}"] = "deque"
        self.items(list(value), path)

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

    def instant(self, value: Any, path: str) -> None:
        """numpy's times, in whatever unit."""
        kind = type(value).__name__
        self.form[f"kind of {path}"] = kind
        if np.isnat(value):
            self.form[path] = "not a time"
            return
        self.number(Fraction(int(value.astype(f"{kind}[ns]").astype(np.int64)), 10**9), path)

    def enumerated(self, value: enum.Enum, path: str) -> None:
        self.form[path] = f"{type(value).__qualname__}.{value.name}"

    def attributes(self, kind: str, fields: Mapping[str, Any], path: str, words: str = "{}.{}") -> None:
        """Named parts."""
        self.form[f"kind of {path}"] = kind
        for name, item in fields.items():
            self.walk(item, words.format(path, name))


def fraction(value: Any) -> float | None:
    """A float that is no integer, whatever its type; None for anything else."""
    if not isinstance(value, numbers.Real | Decimal) or value != value:
        return None
    close = float(value)
    return close if close == value and math.isfinite(close) and not close.is_integer() else None


def said(value: Any) -> str:
    """A key, a member or a label in words; equal ones are said alike."""
    if type(value) is str:
        return repr(value)
    if type(value) is int:
        return hex(value) if abs(value) > EXACT else str(value)
    if value is None:
        return "None"
    if isinstance(value, dt.datetime) and value == value and value.tzinfo is not None:
        return str(value.astimezone(dt.UTC))
    if isinstance(value, dt.date) and value == value:
        return str(value)
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
    (np.datetime64 | np.timedelta64, Reader.instant),
    (numbers.Number, Reader.general_number),  # bool, Decimal, Fraction, numpy's scalars
    (np.generic, lambda reader, value, path: reader.walk(value.item(), path)),
    (str | UserString, lambda reader, value, path: reader.text("".join(value), path)),
    (enum.Enum, Reader.enumerated),
    (bytes | bytearray | memoryview, Reader.bytes),
    (list | tuple | UserList, Reader.sequence),
    (deque, Reader.deque),
    (Mapping, Reader.mapping),
    (Set, Reader.set),
    (range, Reader.range),
]
