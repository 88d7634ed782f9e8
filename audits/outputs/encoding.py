"""Outputs as rows of numbers that attacks can read: how an output is encoded decides the power.

Arrays of numbers stay as they are. Of anything else the pilot's outputs say which parts there are (canonical.py)
and what stands there: numbers have a column, and what varies otherwise (a word, a kind, None, being absent) a column of
states. Columns know their names in the user's terms, so that events can be read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpcheck.audits.outputs.canonical import MEMBER, Form, Leaf, Reader, digest, spread
from dpcheck.audits.outputs.foreign import OPAQUE
from dpcheck.audits.scores.tables import row_keys

NOT_LOOKED_AT = "not looked at"  # how a remark on such parts begins
MOST_STATES = 256  # of one part; the others are one state together
FEWEST = 3  # outputs that a member, a word or a key must have been seen in, to have a column: not just in two twins
RARE_OUTPUTS, RARE_SHARE = 8, 0.002  # outputs with text that no other has, from which it is said that nobody looked
MOST_EXAMPLES = 2000
LONGEST = 60  # signs of an example
SHOWN = 4  # ranges, states or outputs that a sentence lists
STRANGE = -1e280
KEY = re.compile(r"(output.*)\[('[^']*'|\"[^\"]*\")\]")

Range = tuple[float, float]  # from, up to and not including


class Encoding:
    """How outputs become rows of float64, one per output."""

    width: int
    unread: tuple[str, ...] = ()  # what no attack can look at, in words

    def __call__(self, raw: Any) -> np.ndarray:
        """Rows of these outputs."""
        raise NotImplementedError

    def name(self, column: int) -> str:
        """The user's word for a column."""
        raise NotImplementedError

    def sentence(self, column: int, ranges: Sequence[Range]) -> str:
        """That a column lies in one of these ranges."""
        return in_ranges(self.name(column), ranges)

    def shown(self, row: np.ndarray) -> str:
        """An output in short."""
        raise NotImplementedError


@dataclass(frozen=True)
class Numbers(Encoding):
    """Arrays of numbers, column by column; `shape` is that of one output, `names` those of its columns."""

    width: int
    shape: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def __call__(self, raw: Any) -> np.ndarray:
        if raw.dtype.kind not in "USO":
            rows = numeric(raw.astype(complex) if self.twofold and raw.dtype.kind in "biuf" else raw)
            if rows.shape[1] == self.width:
                return rows
        # A rare kind of output that the pilot never saw, among numbers: it keeps an identity far from all of them.
        return np.array([self._stranger(output) for output in raw], float).reshape(len(raw), -1)

    @property
    def twofold(self) -> bool:
        """Whether outputs are complex: real parts, then imaginary ones."""
        return not self.names and self.width == 2 * int(np.prod(self.shape))

    def _stranger(self, output: Any) -> list[float]:
        form = Reader().read(output)
        leaf = form.get("output", "")
        if isinstance(leaf, float) and self.width == 1 and len(form) == 1:
            return [leaf]
        if isinstance(leaf, np.ndarray) and len(leaf) == self.width:
            return leaf.tolist()
        return [STRANGE * (1 + digest(form) * 2.0**-52)] * self.width

    def name(self, column: int) -> str:
        if self.names:
            return f"output[{self.names[column]!r}]"
        size = int(np.prod(self.shape))
        half = (".real", ".imag")[column // size] if self.twofold else ""
        return f"output{half}{place(column % size, self.shape) if self.shape else ''}"

    def shown(self, row: np.ndarray) -> str:
        values = [f"{value:.6g}" for value in row.tolist()]
        return shortened(values[0] if not self.shape else f"({', '.join(values)})")


@dataclass(frozen=True)
class Part:
    """One part of the outputs: where its number stands, where its state, and what states there are."""

    number: int | None = None
    state: int | None = None
    codes: dict[str, int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Block:
    """Numbers that stand together: columns from `start` on."""

    start: int
    length: int


ABSENT, A_NUMBER, UNSEEN = "absent", "a number", "something that the pilot hardly saw"


@dataclass(frozen=True, eq=False)
class PartwiseEncoding(Encoding):
    """Outputs of any kind, part by part, as the pilot saw them."""

    width: int
    parts: dict[str, Part] = field(repr=False)
    blocks: dict[str, Block] = field(repr=False)
    mixed: frozenset[str]  # lists that hold numbers alone in some outputs only
    columns: tuple[tuple[str, bool], ...] = field(repr=False)  # the part's name, and whether it is its state
    start: np.ndarray = field(repr=False)  # the row of an output in which every part is absent
    unread: tuple[str, ...] = ()
    examples: dict[int, str] = field(default_factory=dict, repr=False)

    def __call__(self, raw: Any) -> np.ndarray:
        reader = Reader()
        return self.rows([reader.read(output) for output in raw])

    def rows(self, forms: Sequence[Form]) -> np.ndarray:
        """Rows of outputs that have been read."""
        rows = np.tile(self.start, (len(forms), 1))
        for row, form in zip(rows, forms, strict=True):
            for path, leaf in (spread(form, self.mixed) if self.mixed else form).items():
                if isinstance(leaf, np.ndarray):
                    block = self.blocks.get(path)
                    if block is not None:
                        row[block.start : block.start + min(len(leaf), block.length)] = leaf[: block.length]
                    continue
                part = self.parts.get(path)
                if part is None:
                    continue
                if part.number is not None and isinstance(leaf, float):
                    row[part.number] = leaf
                if part.state is not None:
                    row[part.state] = part.codes.get(state_of(leaf), part.codes[UNSEEN])
        return rows

    def name(self, column: int) -> str:
        path, state = self.columns[column]
        return f"what stands at {path}" if state else path

    def sentence(self, column: int, ranges: Sequence[Range]) -> str:
        path, state = self.columns[column]
        part = next((part for part in self.parts.values() if column in (part.number, part.state)), Part())
        if state:
            met = {words for words, code in part.codes.items() if any(low <= code < high for low, high in ranges)}
            return states_said(path, met - {UNSEEN} or met, MEMBER in part.codes)
        absent = float(self.start[column])
        there = [(-np.inf if low <= absent else low, high) for low, high in merged(ranges) if high > absent]
        said = []
        if there:
            said.append(f"{path} is a number" if there == [(-np.inf, np.inf)] else in_ranges(path, there))
        others = set(part.codes) - {A_NUMBER, UNSEEN}
        if any(low <= absent < high for low, high in ranges) and (others or not said):
            said.append(states_said(path, others or {ABSENT}, False))
        return " or ".join(said)

    def shown(self, row: np.ndarray) -> str:
        return self.examples.get(int(row_keys(row[None, :])[0]), "another output")


def encoding_of(raw: Any) -> Encoding:
    """The encoding that fits these outputs."""
    if isinstance(raw, np.ndarray) and raw.dtype.names:
        return Numbers(len(raw.dtype.names), (len(raw.dtype.names),), raw.dtype.names)
    if isinstance(raw, np.ndarray) and raw.dtype.kind not in "USO":
        return Numbers(numeric(raw[:1]).shape[1], raw.shape[1:])
    reader = Reader()
    forms = [reader.read(output) for output in raw]
    return Layout(reader, forms).encoding(raw)


@dataclass(eq=False)
class Layout:
    """What there is in the pilot's outputs, and columns for what varies."""

    reader: Reader
    forms: list[Form]
    states: dict[str, Counter[str]] = field(default_factory=dict)
    numbers: dict[str, list[float]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    blocks: dict[str, Block] = field(default_factory=dict)
    columns: list[tuple[str, bool]] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)

    def encoding(self, raw: Any) -> PartwiseEncoding:
        """The encoding, with examples of outputs that repeat."""
        self.met = Counter(path for form in self.forms for path in form)
        blocks = {path for form in self.forms for path, leaf in form.items() if isinstance(leaf, np.ndarray)}
        mixed = frozenset(path for path in blocks if any(f"{path}[0]" in form for form in self.forms))
        for form in self.forms:
            self._take_in(spread(form, mixed) if mixed else form)
        for path in sorted(self.states, key=lambda path: path.startswith("len(")):  # of equals, a key says more
            self._lay_out_part(path)
        for path in self.lengths:
            self._lay_out_block(path)
        if not self.columns:  # every output is the same
            self._add("output", True, 0.0)
            self.parts["output"] = Part(state=0, codes={ABSENT: 0, UNSEEN: 0})
        columns, start = tuple(self.columns), np.array(self.start)
        made = PartwiseEncoding(len(columns), self.parts, self.blocks, mixed, columns, start, self._unread())
        return replace(made, examples=_examples(made, self.forms, raw))

    def _take_in(self, form: Form) -> None:
        for path, leaf in form.items():
            if isinstance(leaf, np.ndarray):
                self.lengths[path] = max(self.lengths.get(path, 0), len(leaf))
                if len(leaf):
                    self.numbers.setdefault(path, []).extend((float(leaf.min()), float(leaf.max())))
                continue
            if path not in self.states:
                self.states[path] = Counter()
            self.states[path][state_of(leaf)] += 1
            if isinstance(leaf, float):
                self.numbers.setdefault(path, []).append(leaf)

    def _lay_out_part(self, path: str) -> None:
        states, values = self.states[path], self.numbers.get(path, [])
        met, outputs = states.total(), len(self.forms)
        if met < min(FEWEST, outputs):
            return
        words = self.reader.aliases.get(path, path)
        number = self._add(words, False, below(values)) if values and min(values) < max(values) else None
        # Chosen and ordered without a look at which dataset a text came from: else its code would tell.
        often = [text for text, count in states.items() if text != A_NUMBER and count >= min(FEWEST, outputs)]
        texts = sorted(sorted(often, key=lambda text: (-states[text], digest({"": text})))[:MOST_STATES])
        codes: dict[str, int] = {}
        state = None
        first = [ABSENT] * (met < outputs) + [A_NUMBER] * bool(values)
        if len(first) + len(texts) + (len(texts) < len(states) - bool(values)) > 1:
            codes = {text: code for code, text in enumerate([*first, *texts, UNSEEN])}
            state = self._add(words, True, float(codes.get(ABSENT, codes[UNSEEN])))
        if number is not None or state is not None:
            self.parts[path] = Part(number, state, codes)

    def _lay_out_block(self, path: str) -> None:
        if self.met[path] < min(FEWEST, len(self.forms)):
            return
        length = self.lengths[path]
        shape = self.reader.shapes.get(path, (length,))
        shape = shape if int(np.prod(shape)) == length else (length,)
        self.blocks[path] = Block(len(self.columns), length)
        for i in range(length):
            words = f"{path}{place(i, shape)}"
            self._add(self.reader.aliases.get(words, words), False, below(self.numbers.get(path, [])))

    def _add(self, words: str, state: bool, start: float) -> int:
        self.columns.append((words, state))
        self.start.append(start)
        return len(self.columns) - 1

    def _unread(self) -> tuple[str, ...]:
        """Parts that cannot be read or that hardly repeat, and text that is another in many outputs, or any of many."""
        found, outputs = [], len(self.forms)
        most = max(RARE_OUTPUTS, RARE_SHARE * outputs)
        met = self.met
        lone = {path for path, count in met.items() if count < min(FEWEST, outputs) and not is_derived(path)}
        with_lone = sum(not lone.isdisjoint(form) for form in self.forms)
        if with_lone > most:
            found.append(f"{min(lone)} and others that hardly repeat, in {with_lone} of {outputs} outputs")
        for path, states in self.states.items():
            closed = sorted({text.removeprefix(OPAQUE) for text in states if text.startswith(OPAQUE)})
            if closed:
                found.append(f"{path} holds {listed(closed, 'and')}, which cannot be read")
            rare = 0 if is_derived(path) else self._rarely(path)
            if rare > most:
                said = f"in {rare} of {outputs} outputs: only its words and length were read"
                found.append(f"{path} is one of many texts that hardly repeat, {said}")
        return tuple(found)

    def _rarely(self, path: str) -> int:
        """Outputs whose text here hardly repeats, or has no code of its own, and holds no numbers or signs to read."""
        known, around = self.parts.get(path, Part()).codes, f"text around the numbers of {path}"
        templates = self.parts.get(around, Part()).codes
        constant = len(self.states.get(around, ())) == 1
        total = 0
        for form in self.forms:
            leaf = form.get(path)
            if isinstance(leaf, str) and leaf not in known and len(self.states[path]) > 1:
                template = form.get(around)
                read = f"{path}[0]" in form or (template is not None and (constant or template in templates))
                total += not read
        return total


def is_derived(path: str) -> bool:
    """Whether a part only helps to read another, or is read by others."""
    return path.startswith(("text around", "spelling of", "digits of", "kind of"))


def _examples(encoding: PartwiseEncoding, forms: list[Form], raw: Any) -> dict[int, str]:
    """Outputs that rows stand for, where they repeat."""
    keys = row_keys(encoding.rows(forms)).tolist()
    common = Counter(keys).most_common(MOST_EXAMPLES)
    wanted = {key for key, count in common if count > 1}
    found: dict[int, str] = {}
    for key, output in zip(keys, raw, strict=True):
        if key in wanted and key not in found:
            found[key] = shortened(in_short(output))
    return found


def in_short(output: Any) -> str:
    """Its repr, if it has one."""
    try:
        return repr(output)
    except Exception:  # whatever a foreign class raises, or a structure that is nested too deeply
        return f"a {type(output).__qualname__}"


def state_of(leaf: Leaf) -> str:
    """What stands at a part, numbers all alike."""
    return leaf if isinstance(leaf, str) else A_NUMBER


def states_said(path: str, states: Iterable[str], member: bool) -> str:
    """That one of these stands at a part."""
    return listed([said_state(path, words, member) for words in sorted(states)], "or")


def said_state(path: str, words: str, member: bool) -> str:
    """A state in words; `member` parts are there or not."""
    if words == MEMBER:
        return path
    if words != ABSENT:
        return f"{path} is {words}"
    if member:
        item, _, container = path.rpartition(" in ")
        return f"{item} not in {container}"
    key = KEY.fullmatch(path)
    return f"key {key[2]} of {key[1]} is absent" if key else f"{path} is absent"


def below(values: Sequence[float]) -> float:
    """A number that lies clearly below all of these: it stands for there being none."""
    finite = [value for value in values if np.isfinite(value)]
    return 2 * min(finite) - max(finite) - 1.0 if finite else -1.0


def place(column: int, shape: Sequence[int]) -> str:
    """Where an entry stands in an array: [3], or [1, 2]."""
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(column, tuple(shape)))}]"


def in_ranges(name: str, ranges: Sequence[Range]) -> str:
    """That a number lies in one of these ranges."""
    joined = merged(ranges)
    if len(joined) > SHOWN:
        low, high = decimal(joined[0][0]), decimal(joined[-1][1])
        return f"{name} in one of {len(joined)} ranges between {low} and {high}"
    return listed([in_range(name, low, high) for low, high in joined], "or")


def in_range(name: str, low: float, high: float) -> str:
    """One range; a single number is said as such."""
    if high == np.nextafter(low, np.inf):
        return f"{name} = {decimal(low)}"
    if np.isinf(high):
        return f"{name} >= {decimal(low)}"
    return f"{name} < {decimal(high)}" if np.isinf(low) else f"{decimal(low)} <= {name} < {decimal(high)}"


def decimal(number: float) -> str:
    """Ten digits, more where they are large: seconds since 1970 tell by their fractions."""
    return f"{number:.10g}" if abs(number) < 1e6 else f"{number:.16g}"


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Ranges that touch as one."""
    found: list[Range] = []
    for low, high in sorted(ranges):
        if found and found[-1][1] >= low:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def listed(words: Sequence[str], last: str) -> str:
    """a, b or c; long lists are cut."""
    if len(words) > SHOWN:
        words = [*words[:SHOWN], f"{len(words) - SHOWN} more"]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def shortened(text: str) -> str:
    """Short enough to stand in a sentence."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def numeric(raw: Any) -> np.ndarray:
    """Rows of an array of numbers."""
    array = np.asarray(raw)
    if array.dtype.names:
        array = np.stack([array[name].astype(float) for name in array.dtype.names], axis=-1)
    rows = array.reshape(len(array), -1)
    if rows.dtype.kind == "c":
        return np.hstack([rows.real, rows.imag]).astype(float)
    return rows.astype(float, copy=False)
