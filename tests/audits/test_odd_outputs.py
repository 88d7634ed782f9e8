"""Outputs that once crashed an audit, or made it contradict itself. False alarms: 1e-6 each; warnings are errors."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import audit, per_run
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, PureDP

ODD: dict[str, Any] = {
    "complex on one dataset": lambda d, rng, n: rng.normal(size=n) + (1j if d else 0),
    "another width now and then": lambda d, rng, n: rng.normal(size=(n, 3 if rng.random() < 0.05 else 2)) + d,
    "no columns": lambda d, rng, n: np.zeros((n, 0)),
    "subnormal": lambda d, rng, n: 1e-320 * rng.normal(size=(n, 4)),
    "nearly the largest": lambda d, rng, n: 1e308 * rng.choice([-1.5, -0.5, 0.5, 1.5], size=n),
    "arrays of any length": per_run(lambda d, rng: rng.normal(size=3 if rng.random() < 0.1 else 2) + d),
    "matrices": per_run(lambda d, rng: np.matrix([[rng.normal(), d]])),
    "deep": per_run(lambda d, rng: nested(1200)),
}


SILENT = ("no columns", "subnormal", "nearly the largest", "deep")  # these do not look at the data
LOUD = ("complex on one dataset", "matrices")  # these tell them for certain


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", ODD)
def test_odd_outputs_have_a_result(name: str, early: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for trials in (30, 40 if name == "deep" else 400):  # depth is what the deep one tries
            for claim in (PureDP(1.0), GaussianDP(1.0)) if trials > 30 else (PureDP(1.0),):
                asked: dict[str, Any] = {"pair": (0, 1), "guarantee": claim, "max_trials": trials, "alpha": 1e-6}
                result = audit(ODD[name], stop_early=early, **asked)
                hits, others, runs = result.counts
                assert 0 <= min(hits, others) <= max(hits, others) <= runs <= result.trials <= trials
                assert np.isfinite(result.epsilon_lower)
                assert not (result.violated and name in SILENT)
                assert result.violated or name not in LOUD or trials < 400


@pytest.mark.parametrize(
    ("claim", "delta"), [(ApproxDP(3000.0, 1e-5), None), (GaussianDP(60.0), 1e-5), (ZCDP(2000.0), 1e-5)]
)
def test_no_power_below_the_claim(claim: Any, delta: float | None) -> None:
    """A claim of 3000 was said to be flagged from 1519 on."""
    asked: dict[str, Any] = {"pair": (0, 1), "assume": "gdp", "max_trials": 4000, "delta": delta}
    result = audit(lambda d, rng, n: d + rng.normal(size=n), guarantee=claim, **asked)
    assert result.detectable_epsilon > result.claimed
    assert not any(message.startswith("too few trials") for message in result.health)


SETS = """
import sys
import numpy as np
from dpcheck.audits import audit
from dpcheck.bounds.language.guarantees import PureDP

WORDS = "alpha beta gamma delta epsilon zeta eta theta".split()


def words(data, rng, trials):
    return [set(rng.choice(WORDS, size=3).tolist()) for _ in range(trials)]


print(audit(words, pair=(0, 1), guarantee=PureDP(1.0), max_trials=200, checkpoint=sys.argv[1]).counts)
"""


def test_sets_are_read_in_the_same_order_by_every_process(tmp_path: Path) -> None:
    """A second process was told that the mechanism ignores its rng."""
    script = tmp_path / "sets.py"
    script.write_text(SETS)
    said = [
        subprocess.run(
            [sys.executable, str(script), str(tmp_path / "audit.ckpt")],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
