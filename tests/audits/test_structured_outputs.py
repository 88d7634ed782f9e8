"""Audits of what people release: dictionaries, text, tables, sets, long tuples. Each was once one opaque digest.

Audits have fixed seeds and a false-alarm rate of 1e-6 each; the same mechanisms with enough noise pass.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import itertools
import json
import pickle
import struct
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import AuditResult, audit, per_run
from dpcheck.audits.outputs.encoding import encoding_of
from dpcheck.bounds.language.guarantees import PureDP

pandas = pytest.importorskip("pandas")

ALPHA = 1e-6
TRIALS = 1500
Answer = collections.namedtuple("Answer", "n count")


@dataclasses.dataclass
class Release:
    count: float
    note: str


class Tensor:
    """As tensors of other libraries look from outside."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return np.asarray(self.values)


DAY = dt.datetime(2020, 1, 1)
# A release of one number, and how the event reads.
FORMS: dict[str, tuple[Any, str]] = {
    "dict": (lambda x: {"count": x}, "output['count'] >= 0."),
    "nested": (lambda x: {"a": {"b": [1, {"c": x}]}}, "output['a']['b'][1]['c'] >= 0."),
    "dict of arrays": (lambda x: {"w": np.array([1.0, x])}, "output['w'][1] >= 0."),
    "dataclass": (lambda x: Release(x, "ok"), "output.count >= 0."),
    "named tuple": (lambda x: Answer(3, x), "output.count >= 0."),
    "json": (lambda x: json.dumps({"n": 10, "count": x}), "number 2 in output >= 0."),
    "formatted": (lambda x: f"about {x:.6f} people", "number 1 in output >= 0."),
    "bytes": (lambda x: str(x).encode(), "number 1 in output >= 0."),
    "packed": (lambda x: struct.pack("<d", x), "output as doubles[0] >= 0."),
    "Decimal": (decimal.Decimal, "output >= 0."),
    "datetime": (lambda x: DAY + dt.timedelta(seconds=x), "output >= 1577836800."),
    "Series": (lambda x: pandas.Series({"a": 1.0, "b": x}), "output['b'] >= 0."),
    "DataFrame": (lambda x: pandas.DataFrame({"x": [1.0, x], "y": ["u", "v"]}), "output['x'][1] >= 0."),
    "tensor": (lambda x: Tensor([[1.0, x]]), "output[0, 1] >= 0."),
    "fractional key": (lambda x: {x: "here", 3: 4}, "sorted keys of output[0] >= 0."),
    "set of fractions": (lambda x: {x + 100.0, 3}, "sorted(output)[0] >= 100."),
    "long tuple": (lambda x: (*["x"] * 81, x, None), "output[81] >= 0."),
    "long list": (lambda x: [0.0] * 70 + [x], "output[70] >= 0."),
}


def noisy(form: Any, scale: float) -> Any:
    return per_run(lambda data, rng: form(data + rng.laplace(scale=scale)))


def run(mechanism: Any, claim: float = 1.0, **more: Any) -> AuditResult:
    asked = {"max_trials": TRIALS, "alpha": ALPHA, **more}
    return audit(mechanism, pair=(0.0, 1.0), guarantee=PureDP(claim), **asked)


@pytest.mark.parametrize("name", FORMS)
def test_a_number_is_found_wherever_it_stands(name: str) -> None:
    """True epsilon 20, claimed 1: as large a bound as for the bare number; and with noise for the claim, no alarm."""
    form, words = FORMS[name]
    bare = run(noisy(float, 0.05))
    found = run(noisy(form, 0.05))
    assert found.violated
    assert found.epsilon_lower >= 0.95 * bare.epsilon_lower
    assert str(found.event).startswith(words)
    assert not run(noisy(form, 1.0), max_trials=600).violated


EQUAL: dict[str, Any] = {
    "sets": lambda d, rng: {0, 8} if d else {8, 0},
    "growing sets": lambda d, rng: {0, 8, int(rng.integers(3))} if d else {int(rng.integers(3)), 8, 0},
    "keys": lambda d, rng: {"a": 1, "b": 2} if d else {"b": 2, "a": 1},
    "zeros": lambda d, rng: (0.0 if d else -0.0, "x", int(rng.integers(3))),
    "types": lambda d, rng: {"a": True, "b": rng.normal()} if d else {"a": 1.0, "b": rng.normal()},
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_outputs_tell_nothing(name: str) -> None:
    assert run(per_run(EQUAL[name]), 0.1).epsilon_lower == 0
    assert run(per_run(lambda d, rng: (EQUAL[name](0, rng), d < 0.5 or rng.random() < 0.1)), 0.1).violated


MEMBERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "set": (
        lambda d, rng: frozenset([*([0] if d else []), *rng.normal(size=3).tolist()]),
        ("0 in output", "0 not in output"),
    ),
    "key": (
        lambda d, rng: {"red": rng.normal(), **({"green": 2} if d else {})},
        ("key 'green' of output is absent", "output['green'] is a number"),
    ),
    "none": (lambda d, rng: None if d and rng.random() < 0.9 else rng.normal(), ("output is None",)),
    "word": (
        lambda d, rng: {"x": rng.normal(), "c": "red" if d else "blue"},
        ("output['c'] is 'blue'", "output['c'] is 'red'"),
    ),
    "NaN": (lambda d, rng: (1, rng.normal() if d else float("nan")), ("output[1] is NaN", "output[1] >= ")),
    "length": (lambda d, rng: rng.normal(size=int(4 + d)).tolist(), ("len(output) >= 5", "len(output) < 5")),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_events_are_said_in_the_users_terms(name: str) -> None:
    """A member, a key, None, a word, a length that betray the dataset."""
    mechanism, words = MEMBERS[name]
    found = run(per_run(mechanism))
    assert found.violated
    assert found.epsilon_lower > 4
    assert any(said in str(found.event) for said in words)


def test_the_likeliest_outputs_of_a_table_are_named() -> None:
    def pick(data: float, rng: np.random.Generator) -> Any:
        return ["ab", ("x", 1), 7][int(rng.choice(3, p=[0.8, 0.1, 0.1] if data else [0.1, 0.1, 0.8]))]

    said = str(run(per_run(pick)).event)
    assert said.startswith(("output is 'ab'", "output is 7", "output is other than"))
    assert "'ab'" in said or "7" in said


def test_batches_may_be_frames_records_and_tensors() -> None:
    def frame(data: float, rng: np.random.Generator, trials: int) -> Any:
        return pandas.DataFrame({"age": rng.normal(size=trials), "count": data + rng.laplace(scale=0.05, size=trials)})

    for wrap, words in (
        (lambda batch: batch, "output['count']"),
        (lambda batch: batch.assign(place="here"), "output['count']"),
        (lambda batch: batch.to_records(index=False), "output['count']"),
        (lambda batch: Tensor(batch.to_numpy()), "output[1]"),
        (lambda batch: batch["count"], "output"),
    ):
        found = run(lambda data, rng, trials, wrap=wrap: wrap(frame(data, rng, trials)))
        assert found.violated
        assert str(found.event).startswith(f"{words} ")


def test_large_integers_keep_their_digits() -> None:
    found = run(lambda data, rng, trials: 2**60 + int(data) * rng.integers(0, 2, size=trials))
    assert found.violated
    assert "digits of output" in str(found.event) or "output is" in str(found.event)


def test_what_nobody_can_read_is_said() -> None:
    shut = run(per_run(lambda data, rng: {"x": rng.normal(), "log": (line for line in ())}))
    assert any("output['log'] holds generator, which cannot be read" in message for message in shut.health)
    secret = run(per_run(lambda data, rng: "".join(rng.choice(list("abcdefgh"), size=12))))
    assert any(
        message.startswith("not looked at: output is one of many texts that hardly repeat") for message in secret.health
    )
    keys = run(per_run(lambda data, rng: {f"id{rng.integers(2**60)}": 1}))
    assert any("and others that hardly repeat" in message for message in keys.health)
    assert "not looked at" not in str(run(noisy(FORMS["json"][0], 1.0)).health)


def test_the_event_reads_outputs_as_they_are_returned() -> None:
    mechanism = noisy(FORMS["dataclass"][0], 0.05)
    found = run(mechanism)
    inside = found.event(mechanism(1.0, np.random.default_rng(1), 200))
    assert inside.mean() > 0.99
    assert found.event([Release(0.0, "ok"), Release(2.0, "other"), None]).tolist() == [False, True, False]


def test_encodings_travel() -> None:
    outputs = noisy(FORMS["nested"][0], 1.0)(0.0, np.random.default_rng(0), 50)
    encoding = encoding_of(outputs)
    assert np.array_equal(pickle.loads(pickle.dumps(encoding))(outputs), encoding(outputs))


def test_lists_with_gaps_are_read_position_by_position() -> None:
    """A list of numbers that now and then has a None: the same column either way."""

    def gaps(data: float, rng: np.random.Generator) -> list[Any]:
        return [rng.normal(), None if rng.random() < 0.5 else 1.0, data + rng.laplace(scale=0.05)]

    found = run(per_run(gaps))
    assert found.violated
    assert str(found.event).startswith("output[2] >= 0.")


def test_codes_of_text_do_not_know_the_dataset() -> None:
    """Texts that hardly repeat: which of them have a code must not depend on where they were seen first."""

    def words(data: float, rng: np.random.Generator) -> str:
        return "".join(rng.choice(list("abcdefgh"), size=5))

    outputs = [words(0.0, np.random.default_rng([0, i])) for i in range(4000)]
    rows = encoding_of(np.array(outputs, dtype=object))(outputs)
    first, second = rows[:2000], rows[2000:]
    for column in range(rows.shape[1]):
        for value in np.unique(rows[:, column]):
            a, b = (first[:, column] == value).sum(), (second[:, column] == value).sum()
            assert abs(a - b) <= 6 * np.sqrt(a + b)


def test_a_string_of_bits_is_read_bit_by_bit() -> None:
    def bits(data: float, rng: np.random.Generator) -> str:
        drawn = rng.random(40) < 0.5
        drawn[17] = rng.random() < (0.95 if data else 0.05)
        return "".join("01"[int(bit)] for bit in drawn)

    found = run(per_run(bits), attack="coordinates")
    assert found.violated
    assert "output[17] is" in str(found.event)
    assert run(per_run(bits)).violated
    assert not found.health or "not looked at" not in str(found.health)


def test_complex_numbers_have_two_parts() -> None:
    def turned(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return rng.normal(size=trials) + 1j * (data + rng.laplace(scale=0.05, size=trials))

    assert str(run(turned).event).startswith("output.imag >= 0.")


# Each passed once, with a power named: beside an honest number, something that tells the datasets apart for certain.
NAMES = ["".join(letters) for letters in itertools.product("abcdefghi", repeat=3)]
HIDDEN: dict[str, Any] = {
    "interval": lambda d, rng: pandas.Interval(d + rng.laplace(scale=0.05), 5.0),
    "index of a frame": lambda d, rng: pandas.DataFrame({"n": [1, 2]}, index=[d + rng.laplace(scale=0.05), 9.5]),
    "large integer": lambda d, rng: 10**24 + int(1e6 * (d + rng.laplace(scale=0.05))),
    "large decimal": lambda d, rng: decimal.Decimal(10**20) + decimal.Decimal(d + rng.laplace(scale=0.05)),
    "digits in text": lambda d, rng: json.dumps({"wei": 3 * 10**24 + int(1e6 * (d + rng.laplace(scale=0.05)))}),
    "spelling": lambda d, rng: f"{rng.random():.4E}" if d else f"{rng.random():.4e}",
    "mask": lambda d, rng: np.ma.array([1.0, 2.0, rng.random()], mask=[0, d > 0, 0]),
    "twice the same name": lambda d, rng: pandas.DataFrame([[d, 0.0]], columns=["a", "a"]),
    "attribute of an array": lambda d, rng: measured(rng.random(3), "m" if d else "km"),
    "order": lambda d, rng: collections.OrderedDict([("a", 1), ("b", 2)][:: -1 if d else 1]),
    "word somewhere": lambda d, rng: rng.permutation([*["cat", "dog"] * 20, "hiv" if d else "flu"]).tolist(),
    "huge integer among floats": lambda d, rng: rng.random() if rng.random() < 0.5 else 2**60 + int(d),
}


class Measured(np.ndarray):
    unit: str


def measured(values: np.ndarray, unit: str) -> np.ndarray:
    found = values.view(Measured)
    found.unit = unit
    return found


@pytest.mark.parametrize("name", HIDDEN)
def test_nothing_hides_beside_an_honest_number(name: str) -> None:
    found = run(per_run(lambda d, rng: {"h": d + rng.laplace(), "x": HIDDEN[name](d, rng)}))
    assert found.violated
    assert found.epsilon_lower > 2
    assert run(per_run(lambda d, rng: HIDDEN[name](d, rng))).violated


UNSAID: dict[str, Any] = {
    "a number now and then": lambda d, rng: "error 5" if rng.random() < 0.01 else letters(rng),
    "one text in fifty": lambda d, rng: letters(rng) if rng.random() < 0.02 else "ok",
    "one key in fifty": lambda d, rng: {letters(rng): 1} if rng.random() < 0.02 else {},
    "more names than codes": lambda d, rng: NAMES[int(rng.integers(len(NAMES)))],
    "labels": lambda d, rng: pandas.DataFrame({"n": [1]}, index=[letters(rng)]),
}


def letters(rng: np.random.Generator) -> str:
    return "".join(rng.choice(list("abcdefgh"), size=12))


@pytest.mark.parametrize("name", UNSAID)
def test_what_was_not_looked_at_is_said_and_no_power_is_named(name: str) -> None:
    passed = run(per_run(lambda d, rng: {"h": d + rng.laplace(), "x": UNSAID[name](d, rng)}), max_trials=6000)
    assert not passed.violated
    assert "not looked at" in str(passed.health)
    assert np.isinf(passed.detectable_epsilon)
    assert passed.power.startswith("not looked at")


BATCHES: dict[str, Any] = {
    "labels": lambda x, d: pandas.DataFrame({"h": x}, index=[f"u{d}"] * len(x)),
    "labels of a series": lambda x, d: pandas.Series(x, index=[f"u{d}"] * len(x)),
    "masked": lambda x, d: np.ma.array(np.stack([x, x], axis=1), mask=np.stack([x > 9, x > 9 - 20 * d], axis=1)),
    "missing": lambda x, d: pandas.DataFrame({"h": x, "m": np.where(x > 9 - 20 * d, np.nan, 1.0)}),
    "twice the same name": lambda x, d: pandas.DataFrame(np.stack([x, x + 9 * d], axis=1), columns=["a", "a"]),
    "times": lambda x, d: np.array([np.datetime64("2020-01-01") + np.timedelta64(int(d), "D")] * len(x)),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches_lose_nothing(name: str) -> None:
    assert run(lambda d, rng, trials: BATCHES[name](d + rng.laplace(size=trials), d)).violated
