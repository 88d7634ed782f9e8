"""Errors read the same in another process, whatever they hold; and one of a missing package names it."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcheck
from dpcheck import audits, bounds
from dpcheck.audits import audit
from dpcheck.audits.outputs.returned import FailedRun
from dpcheck.bounds.language.claim import Effort
from dpcheck.bounds.language.errors import DpcheckError, InvalidInput, MissingDependency
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.verdicts import verify
from dpcheck.verdicts.catalogue import catalogue


class Awkward(Exception):
    """Can be pickled, but not read back, whoever else has taught pickle about exceptions (Dask does)."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _unreadable, (str(self),)


def _unreadable(text: str) -> None:
    raise TypeError(text)


LOCK = threading.Lock()
VALUES: dict[str, Any] = {
    "dict[int, str]": {1: "gone"},
    "str": "text",
    "int": 7,
    "float": 1.5,
    "Any": LOCK,
    "object": LOCK,
    "Exception": Awkward(1, 2),
    "Path": Path("here"),
}


def every_error() -> list[type[DpcheckError]]:
    """All of them, wherever they are defined."""
    for package in (bounds, audits, dpcheck):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.", onerror=lambda name: None):
            if found.name.startswith("dpcheck.adapters."):
                continue  # their libraries live in an environment of their own
            importlib.import_module(found.name)

    def below(kind: type[DpcheckError]) -> Iterator[type[DpcheckError]]:
        yield kind
        for child in kind.__subclasses__():
            yield from below(child)

    return sorted({kind for kind in below(DpcheckError) if "tests" not in kind.__module__}, key=lambda k: k.__name__)


def example(kind: type[DpcheckError]) -> DpcheckError:
    """One of these, with values that do not survive pickling where any value may stand."""
    if kind.__init__ is Exception.__init__:
        return kind("a sentence", LOCK)
    arguments = list(inspect.signature(kind).parameters.values())
    result = audit(lambda data, rng, trials: rng.random(trials), pair=(0, 1), guarantee=PureDP(1.0), max_trials=100)
    return kind(*(result if "AuditResult" in a.annotation else VALUES[a.annotation] for a in arguments))


def test_every_error_survives_pickling_and_copying() -> None:
    kinds = every_error()
    assert {
        "InvalidInput",
        "MissingDependency",
        "FailedRun",
        "PrivacyViolation",
        "NotCertified",
        "DataUnavailable",
    } <= {kind.__name__ for kind in kinds}
    for kind in kinds:
        error = example(kind)
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(again) is kind
            assert str(again) == str(error)
            assert repr(again.args) == repr(error.args)
            assert repr(vars(again)) == repr(vars(error))


def test_what_can_be_pickled_stays_itself() -> None:
    again = pickle.loads(pickle.dumps(InvalidInput("n", np.arange(3), "small", "Use less.")))
    assert np.array_equal(again.value, np.arange(3))
    assert isinstance(pickle.loads(pickle.dumps(FailedRun(3, Awkward(1, 2)))).cause, str)


def _absent() -> None:
    raise MissingDependency("hypothesis", "the property check", "verify")


def test_an_error_of_a_worker_is_that_error_and_not_a_broken_pool() -> None:
    with ProcessPoolExecutor(1) as pool, pytest.raises(MissingDependency, match=r"pip install 'dpcheck\[verify\]'"):
        pool.submit(_absent).result()


@pytest.mark.parametrize("workers", [1, 2])
def test_without_the_extra_verify_names_the_package_and_the_claim(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers are forked from a process in which the packages cannot be imported."""
    assert "zhang17.lemma2.corrected" in catalogue()
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))
    for name in ("hypothesis", "sklearn"):
        monkeypatch.setitem(sys.modules, name, None)
    ids = ["zhang17.lemma2.corrected", "zhang17.lemma9"]
    with pytest.raises(MissingDependency, match=r"hypothesis is not installed.*zhang17\.lemma2\.corrected.*\[verify\]"):
        list(verify.run(ids, Effort(), executor=workers, fresh=True))
