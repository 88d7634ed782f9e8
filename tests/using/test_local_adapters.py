"""Local protocols of other libraries, attacked through our adapters (tools/check-local), and a published bug planted.

Audits have a false-alarm rate of 1e-6. Set DPCHECK_ADAPTERS=required to turn a missing library into a failure.
"""

from __future__ import annotations

import importlib
import os
import random
from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.adapters import multi_freq_ldpy, pure_ldp
from dpcheck.adapters.hashed_reports import HashedReports

EPS, K = 2.0, 6
CLIENTS = [
    ("DEClient", {}),
    ("UEClient", {}),
    ("UEClient", {"use_oue": True}),
    ("HEClient", {}),
    ("LHClient", {"use_olh": True}),
]
FUNCTIONS = ["GRR.GRR_Client", "UE.UE_Client", "SS.SS_Client", "LH.LH_Client"]


def library(name: str) -> Any:
    """A library, or the reason why its tests do not run here."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if os.environ.get("DPCHECK_ADAPTERS") == "required":
            raise
        return pytest.skip(f"{name} does not import here ({error}): run tools/check-local")


def attacked(mechanism: Any, neighbours: dp.Neighbours, claimed: float, first: int | None = None) -> bool:
    """`first` is the number of the first item, for reports that are hashed."""
    promise = dp.PureDP(claimed, relation=dp.LOCAL)
    asked: dict[str, Any] = {"max_trials": 4000, "alpha": 1e-6, "executor": 1}
    if first is not None:
        asked["attack"] = dp.likelihood_ratio(HashedReports(round(np.exp(EPS)) + 1, first))
    return dp.audit(mechanism, neighbours=neighbours, guarantee=promise, **asked).violated


@pytest.mark.parametrize(("name", "options"), CLIENTS)
def test_clients_of_pure_ldp_keep_their_epsilon_and_no_less(name: str, options: dict[str, Any]) -> None:
    oracles = library("pure_ldp.frequency_oracles")
    made = getattr(oracles, name)(epsilon=EPS, d=K, **options)
    assert pure_ldp.guarantee(made) == dp.PureDP(EPS, relation=dp.LOCAL)
    first = 1 if name == "LHClient" else None
    assert not attacked(pure_ldp.client(made), pure_ldp.neighbours(made), EPS, first)
    assert attacked(pure_ldp.client(made), pure_ldp.neighbours(made), EPS / 3, first)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_clients_of_multi_freq_ldpy_keep_their_epsilon_and_no_less(name: str) -> None:
    part, _, function = name.partition(".")
    found = getattr(library(f"multi_freq_ldpy.pure_frequency_oracles.{part}"), function)
    mechanism = multi_freq_ldpy.client(found, K, EPS)
    first = 0 if part == "LH" else None
    assert not attacked(mechanism, multi_freq_ldpy.neighbours(K), EPS, first)
    assert attacked(mechanism, multi_freq_ldpy.neighbours(K), EPS / 3, first)


class BrokenUE:
    """The client's own interface, with pure-LDP's published bug: the true bit is drawn as another, then set as well."""

    epsilon, d = 1.0, K

    def privatise(self, item: int) -> np.ndarray:
        q = 1 / (np.exp(self.epsilon) + 1)
        bits = (np.random.random(self.d) < q).astype(float)  # noqa: NPY002
        if random.random() < 0.5:
            bits[item - 1] = 1.0
        return bits


class MendedUE(BrokenUE):
    """The same as it was mended."""

    def privatise(self, item: int) -> np.ndarray:
        bits = super().privatise(item)
        bits[item - 1] = float(random.random() < 0.5)
        return bits


@pytest.mark.parametrize("made", [BrokenUE(), MendedUE()], ids=["broken", "mended"])
def test_the_published_bug_is_found(made: BrokenUE) -> None:
    found = attacked(pure_ldp.client(made), pure_ldp.neighbours(made), made.epsilon)
    assert found is not isinstance(made, MendedUE)


def test_audits_of_their_clients_can_be_replayed() -> None:
    mechanism = pure_ldp.client(MendedUE())
    one, other = (mechanism(2, np.random.default_rng(3), 20) for _ in range(2))
    assert np.array_equal(one, other)


def test_what_is_no_client_is_named() -> None:
    for wrong in (3, BrokenUE):
        with pytest.raises(dp.InvalidInput, match="client"):
            pure_ldp.client(wrong)
    with pytest.raises(dp.InvalidInput, match="client"):
        multi_freq_ldpy.client(3, 4, 1.0)
