"""A checkpoint belongs to the code and the data it was made with: what changes is refused, what is equal goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpcheck.audits import audit, drawn_by, per_run, replace_one
from dpcheck.audits.trials.fingerprints import content
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import PureDP

CLAIM: dict[str, Any] = {"guarantee": PureDP(1.0), "max_trials": 400}


def module(source: str) -> ModuleType:
    """The source as a module of somebody's own."""
    made = ModuleType("release")
    exec(compile(source, "release.py", "exec"), made.__dict__)
    return made


# Code ----------------------------------------------------------------------------------------------
PLAIN = """
import numpy as np
SCALE = 1.0
TABLE = {"a": [1, 2]}
def helper(x):
    return x + 1
class Base:
    def shift(self):
        return 1
class Mechanism(Base):
    factor = 2
    def __init__(self, size):
        self.size = size
    def run(self, data, rng, trials):
        return data + self.shift() + rng.laplace(scale=self.size, size=trials)
    __call__ = run
def plain(data, rng, trials, width=1, *, height=1):
    return helper(data) + rng.laplace(scale=SCALE, size=trials) + TABLE["a"][0]
def closed(scale):
    return lambda data, rng, trials: data + [scale * v for v in rng.laplace(size=trials)]
def importing(data, rng, trials):
    from release_noise import noise
    return data + noise(rng, trials)
"""
SUBJECTS = {
    "function": "plain",
    "closure": "closed(1.0)",
    "callable": "Mechanism(1.0)",
    "method": "Mechanism(1.0).run",
    "partial": "__import__('functools').partial(plain, width=3)",
    "per_run": "__import__('audits').per_run(lambda data, rng: helper(data))",
    "in a dict": "{'f': [plain]}",
}
EDITS = [
    ("function", "data) + rng", "data) - rng"),
    ("function", "SCALE = 1.0", "SCALE = 2.0"),
    ("function", '"a": [1, 2]', '"a": [1, 3]'),
    ("function", "return x + 1", "return x + 2"),
    ("function", "width=1", "width=2"),
    ("function", "height=1", "height=2"),
    ("closure", "scale * v", "scale + v"),
    ("callable", "data + self", "data - self"),
    ("callable", "return 1", "return 2"),
    ("callable", "factor = 2", "factor = 3"),
    ("method", "data + self", "data - self"),
    ("method", "return 1", "return 2"),
    ("partial", "return x + 1", "return x + 2"),
    ("per_run", "return x + 1", "return x + 2"),
    ("in a dict", "return x + 1", "return x + 2"),
]


def subject(name: str, source: str = PLAIN) -> Any:
    return eval(SUBJECTS[name], module(source).__dict__)


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_same_code_again_is_the_same(name: str) -> None:
    moved = "# a comment\n\n\n" + PLAIN
    assert content(subject(name)) == content(subject(name)) == content(subject(name, moved))


@pytest.mark.parametrize(("name", "before", "after"), EDITS)
def test_an_edit_anywhere_shows(name: str, before: str, after: str) -> None:
    assert PLAIN.count(before) == 1
    assert content(subject(name)) != content(subject(name, PLAIN.replace(before, after)))


def test_values_that_code_holds_show() -> None:
    made = module(PLAIN)
    assert content(made.closed(1.0)) != content(made.closed(2.0))
    assert content(made.Mechanism(1.0)) != content(made.Mechanism(2.0))
    assert content(made.Mechanism(1.0).run) != content(made.Mechanism(2.0).run)
    before = content(made.plain)
    made.plain.scale = 2.0
    assert content(made.plain) != before


def test_what_a_function_imports_itself_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for body in ("rng.laplace(size=trials)", "rng.laplace(size=trials)", "0"):
        noise = ModuleType("release_noise")
        exec(f"def noise(rng, trials):\n    return {body}\ndef other():\n    return {len(found)}", noise.__dict__)
        monkeypatch.setitem(sys.modules, "release_noise", noise)
        found.append(content(module(PLAIN).importing))
    assert found[0] == found[1] != found[2]


def test_functions_that_call_each_other_end() -> None:
    source = "def even(n):\n    return odd(n - 1)\ndef odd(n):\n    return even(n - 1)\n"
    assert content(module(source).even) == content(module(source).even)
    assert content(module(source).even) != content(module(source.replace("odd(n - 1)", "odd(n - 2)")).even)


def test_a_strategy_and_a_generator_belong_to_it() -> None:
    def pairs(step: int) -> Any:
        return drawn_by(st.integers(0, 9).map(lambda k: (k, k + step)))

    def source(step: int) -> Any:
        return drawn_by(lambda rng: (0, step))

    for make in (pairs, source):
        assert content(make(1)) == content(make(1)) != content(make(2))
    assert content(replace_one(0, 1, n=3)) != content(replace_one(0, 1, n=4))


STABLE = """
import datetime, enum, functools, random, sys
import numpy as np, pandas as pd, scipy.sparse as sp
from random import gauss
from scipy import stats
from dpcheck.audits import likelihood_ratio, per_run, replace_one
from dpcheck.audits.trials.fingerprints import content
class Colour(enum.Enum):
    RED = 1
class Plain:
    def __init__(self): self.words = {"a", "b", "c"}; self.self = self
    def __call__(self, data, rng, trials): return {"x", "y", "z"} | self.words
frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.Categorical(["u", "v"])})
dates = pd.Series(pd.to_datetime(["2020", None]))
values = [
    lambda data, rng, trials: data in {"p", "q", "r"}, Plain(), Plain().__call__, Colour.RED, gauss, np.exp,
    np.add.reduce, functools.partial(max, key=len), functools.lru_cache(Plain), per_run(lambda data: gauss(0, 1)),
    stats.laplace(0, 1), likelihood_ratio(law=lambda data: stats.laplace(data)), replace_one(0, 1, n=3), frame, dates,
    sp.csr_array(np.eye(3)), {"k", "l", 3, None}, {"k": 1, "l": 2}, np.random.default_rng(0), datetime.date(2020, 1, 1),
    np.array([{"a"}, None], object), np.ma.masked_array([1, 2], [0, 1]), np.zeros(2, dtype=[("a", "f8"), ("b", "U3")]),
]
padding = [object() for _ in range(int(sys.argv[1]))]  # other addresses
print([content(value) for value in values])
"""


def test_fingerprints_are_the_same_in_every_process() -> None:
    said = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", STABLE, seed * 3]
        said.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert said[0] == said[1]
    assert len(set(eval(said[0]))) == len(eval(said[0]))


# Data ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Record:
    name: str
    values: Any


hashable = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3) | st.binary()
arrays = hnp.arrays(
    st.sampled_from(["f8", "f4", "i8", "bool", "U2", "M8[D]"]), hnp.array_shapes(max_dims=2, max_side=3)
)
leaves = hashable | arrays
data = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.frozensets(hashable, max_size=3)
        | st.builds(Record, st.text(max_size=2), inner)
    ),
    max_leaves=8,
)


def told(value: Any) -> Any:
    """The value as text that has equal parts exactly where it has: an oracle that shares no code."""
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(told, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(sorted(f'{told(k)}: {told(v)}' for k, v in value.items()))})"
    if isinstance(value, frozenset):
        return f"set({', '.join(sorted(map(told, value)))})"
    if isinstance(value, Record):
        return f"Record({told(value.name)}, {told(value.values)})"
    return f"{type(value).__name__} {value!r}"


def rebuilt(value: Any) -> Any:
    """Equal, of new objects, built in another order."""
    if isinstance(value, np.ndarray):
        return np.asfortranarray(value.copy())
    if isinstance(value, list | tuple):
        return type(value)(rebuilt(item) for item in value)
    if isinstance(value, dict):
        return {key: rebuilt(item) for key, item in reversed(value.items())}
    if isinstance(value, frozenset):
        return frozenset(sorted(value, key=repr))
    return Record(value.name, rebuilt(value.values)) if isinstance(value, Record) else value


def changed(value: Any) -> Iterator[Any]:
    """The value with one thing changed, for each thing in it."""
    if isinstance(value, np.ndarray):
        for place in range(value.size):
            raw = bytearray(value.tobytes())
            raw[place * value.itemsize] ^= 1
            yield np.frombuffer(bytes(raw), value.dtype).reshape(value.shape)
        yield value.reshape(1, *value.shape)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from (type(value)([*value[:i], other, *value[i + 1 :]]) for other in changed(item))
        yield type(value)([*value, None])
        yield tuple(value) if isinstance(value, list) else list(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: other} for other in changed(item))
        yield {**value, "another key": None}
    elif isinstance(value, frozenset):
        yield value | {"another member"}
    elif isinstance(value, Record):
        yield from (Record(value.name, other) for other in changed(value.values))
        yield Record(value.name + "x", value.values)
    else:
        yield [value]
        yield (value, "more")


@given(data)
def test_equal_data_have_equal_fingerprints(value: Any) -> None:
    assert content(rebuilt(value)) == content(value)


@given(data)
def test_a_change_anywhere_shows(value: Any) -> None:
    before = content(value)
    for other in changed(value):
        assert content(other) != before


@given(data, data)
def test_fingerprints_are_equal_where_data_are(one: Any, two: Any) -> None:
    assert (content(one) == content(two)) == (told(one) == told(two))


def test_tables_of_other_libraries_are_read_whole() -> None:
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    frame = pandas.DataFrame({"a": np.arange(2000.0), "b": ["x"] * 2000})
    other = frame.copy()
    other.loc[1234, "a"] += 1
    assert content(frame) == content(frame.copy()) != content(other)
    assert content(frame["a"]) != content(other["a"])
    assert content(frame.rename(columns={"a": "c"})) != content(frame)
    matrix = sparse.csr_array(np.eye(3))
    used = matrix.copy()
    used @ np.ones(3)
    _ = used.has_canonical_format  # kept by the matrix once asked for
    assert content(used) == content(matrix) != content(2 * matrix)


def test_what_was_only_worked_out_does_not_show() -> None:
    source = """
from functools import cached_property
class Mechanism:
    @cached_property
    def table(self):
        return [1]
"""
    one = module(source).Mechanism()
    before = content(one)
    assert one.table == [1]
    assert content(one) == before


# Checkpoints ---------------------------------------------------------------------------------------
def noisy(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.sum(data) + rng.laplace(size=trials)


LARGE = np.zeros(5000)
REPAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "code": (
        {"mechanism": module(PLAIN).plain, "pair": (0.0, 1.0)},
        {"mechanism": module(PLAIN.replace("SCALE = 1.0", "SCALE = 2.0")).plain, "pair": (0.0, 1.0)},
        "mechanism",
    ),
    "self": (
        {"mechanism": module(PLAIN).Mechanism(1.0), "pair": (0.0, 1.0)},
        {"mechanism": module(PLAIN).Mechanism(2.0), "pair": (0.0, 1.0)},
        "mechanism",
    ),
    "dict": (
        {"mechanism": lambda data, rng, trials: data["x"] + rng.laplace(size=trials), "pair": ({"x": 0}, {"x": 1})},
        {"mechanism": lambda data, rng, trials: data["x"] + rng.laplace(size=trials), "pair": ({"x": 0}, {"x": 2})},
        "data",
    ),
    "large array": (
        {"mechanism": noisy, "pair": ((LARGE,), (LARGE + np.eye(1, 5000, 2500)[0],))},
        {"mechanism": noisy, "pair": ((LARGE,), (LARGE + np.eye(1, 5000, 2501)[0],))},
        "data",
    ),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_a_checkpoint_of_other_code_or_data_is_refused(name: str, tmp_path: Path) -> None:
    before, after, part = REPAIRS[name]
    file = tmp_path / "audit.ckpt"
    first = audit(**before, **CLAIM, checkpoint=file)
    assert audit(**before, **CLAIM, checkpoint=file).counts == first.counts
    with pytest.raises(InvalidInput, match=rf"checkpoint is .*other than it was: {part}\).*delete this one"):
        audit(**after, **CLAIM, checkpoint=file)


def test_what_is_no_checkpoint_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "audit.ckpt"
    for foreign in (b"my thesis", b"dpcheck journal 2\n{", b"dpcheck journal 1\nabc\n", b"\xff" * 99):
        file.write_bytes(foreign)
        with pytest.raises(InvalidInput, match="of another kind or version"):
            audit(noisy, pair=(0.0, 1.0), **CLAIM, checkpoint=file)
        assert file.read_bytes() == foreign


class Locked:
    """A mechanism with something in it that has no content."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        with self.lock:
            return data + rng.laplace(size=trials)


def test_what_cannot_be_read_is_refused_and_a_key_stands_for_it(tmp_path: Path) -> None:
    file = tmp_path / "audit.ckpt"
    call: dict[str, Any] = {"pair": (0.0, 1.0), **CLAIM, "checkpoint": file}
    with pytest.raises(InvalidInput, match=r"mechanism.*\.lock is <unlocked.*Pass key='\.\.\.'"):
        audit(Locked(), **call)
    assert not file.exists()
    first = audit(Locked(), key="laplace", **call)
    assert audit(Locked(), key="laplace", **call).counts == first.counts
    with pytest.raises(InvalidInput, match="other than it was: key"):
        audit(Locked(), key="laplace, repaired", **call)
    for bad in ("", 3):
        with pytest.raises(InvalidInput, match="key is"):
            audit(Locked(), key=bad, **call)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [sys.stdout, (i for i in range(3)), threading.Lock()], ids=["file", "generator", "lock"]
)
def test_unreadable_data_are_named(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^data\.rows\[1\] is .*Pass key="):
        content({"rows": [0, value]}, "data")


class Unseeded:
    """Randomness of its own, which starts anew in each process."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data + self.rng.laplace(size=trials)


@pytest.mark.parametrize("mechanism", [Unseeded, lambda: per_run(lambda data: data + os.urandom(1)[0])])
def test_what_ignores_its_seed_is_not_resumed(mechanism: Any, tmp_path: Path) -> None:
    file = tmp_path / "audit.ckpt"
    first = audit(mechanism(), pair=(0.0, 1.0), **CLAIM, checkpoint=file)
    assert any("ignores its rng" in message and "checkpoint not resumed" in message for message in first.health)
    with pytest.raises(InvalidInput, match=r"a function of its rng to be resumed.*no checkpoint"):
        audit(mechanism(), pair=(0.0, 1.0), **CLAIM, checkpoint=file)


HOLD = """
import sys
from dpcheck.audits.trials.journal import Journal
journal = Journal(sys.argv[1], {})
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="locks are the system's")
def test_two_processes_do_not_write_one_checkpoint(tmp_path: Path) -> None:
    file = tmp_path / "audit.ckpt"
    command = [sys.executable, "-c", HOLD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(InvalidInput, match="one audit at a time"):
            audit(noisy, pair=(0.0, 1.0), **CLAIM, checkpoint=file)
        other.send_signal(signal.SIGKILL)
    with pytest.raises(InvalidInput, match="other than it was"):  # the lock is gone with the process
        audit(noisy, pair=(0.0, 1.0), **CLAIM, checkpoint=file)
