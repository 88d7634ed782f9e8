"""Early stopping, the Gaussian assumption, pair search, checkpoints: each holds its level and has its teeth."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import AuditResult, MechanismFailed, audit, group, label_only, per_run, replace_one
from dpcheck.audits.audit import Tested as Counts
from dpcheck.audits.scores.attacks import Coordinate
from dpcheck.audits.sequential import best_bets, log_growth
from dpcheck.audits.statistics.event_choice import Choice, Target
from dpcheck.audits.statistics.intervals import anytime
from dpcheck.audits.statistics.ratio import ratio_bound
from dpcheck.audits.trials.plan import BY_HAND
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP, PureDP


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def early(distance: float, **more: Any) -> AuditResult:
    asked = {"guarantee": PureDP(1.0), "max_trials": 4000, "alpha": 1e-6, "stop_early": True, **more}
    return audit(laplace, pair=(0.0, distance), **asked)


@pytest.mark.parametrize("seed", range(4))
def test_early_stopping_flags_a_violation_early_and_a_true_claim_never(seed: int) -> None:
    """False-alarm rate 1e-6 each, at all times together."""
    found = early(2.5, seed=seed)
    assert found.violated
    assert found.trials < 1500
    assert found.epsilon_lower >= 1
    passed = early(1.0, seed=seed)
    assert not passed.violated
    assert passed.trials == 4000
    assert passed.epsilon_lower < 1


def test_early_stopping_works_for_every_guarantee() -> None:
    worse = audit(gaussian, pair=(0.0, 2.0), guarantee=GaussianDP(1.0), stop_early=True, alpha=1e-6, max_trials=20_000)
    assert worse.violated
    fair = audit(gaussian, pair=(0.0, 1.0), guarantee=GaussianDP(1.0), stop_early=True, alpha=1e-6, max_trials=20_000)
    assert not fair.violated
    with pytest.raises(InvalidInput):
        audit(laplace, pair=(0.0, 1.0), guarantee=None, stop_early=True)


def test_a_bet_has_mean_one_at_most_under_every_private_law() -> None:
    """Exact: all laws of three cells on a grid that satisfy both inequalities."""
    rng = np.random.default_rng(2)
    c, delta = np.e, 0.01
    for _ in range(50):
        (theta,) = best_bets(rng.integers(0, 40, (2, 2, 2)), np.array([c]), delta, 1.0)
        cells = np.array([[0, 0], [0, 1], [1, 0]])
        p, q = rng.dirichlet(np.ones(3), 4000), rng.dirichlet(np.ones(3), 4000)
        fair = (p[:, 2] <= c * q[:, 2] + delta) & (q[:, 1] <= c * p[:, 1] + delta)
        grown = np.exp([[log_growth(theta, c, delta, cells[[i]], cells[[j]])[0] for j in range(3)] for i in range(3)])
        mean = np.einsum("ni,nj,ij->n", p[fair], q[fair], grown)
        assert mean.max() <= 1 + 1e-9
        assert np.einsum("ni,nj,ij->n", p[~fair], q[~fair], grown).max() > 1 or np.allclose(theta[:2], 0)


def test_bets_found_side_by_side_are_those_found_alone() -> None:
    """Newton's steps go on for one where they are done for another."""
    rng, c = np.random.default_rng(3), np.exp([0.01, 0.5, 1.0, 3.0, 20.0, 59.0])
    for _ in range(20):
        cells, delta = rng.integers(0, 300, (2, 2, 2)), float(rng.choice([0.0, 1e-5, 0.1]))
        together = best_bets(cells, c, delta, 33.0)
        assert np.allclose(together, [best_bets(cells, c[[i]], delta, 33.0)[0] for i in range(len(c))], rtol=1e-4)
        assert np.all(together[:, :2] >= 0)


def test_gdp_is_strong_on_gaussians_and_says_what_it_assumes() -> None:
    claim = ApproxDP(4.3772, 1e-5)  # mu = 1
    asked: dict[str, Any] = {"guarantee": claim, "max_trials": 20_000, "assume": "gdp", "alpha": 1e-6}
    fair = audit(gaussian, pair=(0.0, 1.0), **asked)
    assert not fair.violated
    assert fair.epsilon_lower > 3.9
    assert "if the noise is Gaussian" in repr(fair)
    assert audit(gaussian, pair=(0.0, 1.2), **asked).violated
    with pytest.raises(InvalidInput, match="delta"):
        audit(gaussian, pair=(0.0, 1.0), guarantee=PureDP(1.0), assume="gdp", max_trials=1000)


def wrong_norm(X: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Rows of l2 norm 1, but the noise per coordinate fits one coordinate only."""
    return X.mean(axis=0) + rng.laplace(scale=2 / len(X), size=(trials, X.shape[1]))


def clipped_too_late(x: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.clip(x.mean(), 0, 1) + rng.laplace(scale=1 / len(x), size=trials)


def local_median(x: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    s, k = np.sort(x), len(x) // 2
    return s[k] + rng.laplace(scale=max(s[k + 1] - s[k], s[k] - s[k - 1], 1e-3), size=trials)


def open_below(x: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.minimum(x, 1).sum() + rng.laplace(scale=2.0, size=trials)


def fair_mean(x: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return x.mean() + rng.laplace(scale=1 / len(x), size=trials)


SEARCHES: dict[str, tuple[Any, Any, int]] = {
    "wrong norm": (wrong_norm, replace_one(high=1, n=5, d=4, ball="l2"), 100_000),
    "clipped too late": (clipped_too_late, replace_one(-10, 10, n=5), 20_000),
    "local median": (local_median, replace_one(0, 1, n=5), 20_000),
    "open below": (open_below, replace_one(-3, 1, n=4), 20_000),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_the_search_finds_the_pair(name: str) -> None:
    """False-alarm rate 1e-6."""
    mechanism, near, trials = SEARCHES[name]
    found = audit(mechanism, neighbours=near, guarantee=PureDP(1.0), max_trials=trials, alpha=1e-6)
    assert found.violated
    assert near.is_pair(*found.pair)
    assert found.trials <= trials


def test_the_search_raises_no_alarm_on_a_private_mean() -> None:
    """False-alarm rate 1e-6 each."""
    for near, eps in ((replace_one(0, 1, n=6), 1.0), (group(replace_one(0, 1, n=6), 2), 1.0)):
        result = audit(fair_mean, neighbours=near, guarantee=PureDP(eps), max_trials=20_000, alpha=1e-6)
        assert not result.violated
    near = label_only(0, 1, n=4, d=2)

    def labels(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data[1].sum() + rng.laplace(scale=2.0, size=trials)

    assert not audit(labels, neighbours=near, guarantee=PureDP(1.0), max_trials=20_000, alpha=1e-6).violated
    assert audit(labels, neighbours=near, guarantee=PureDP(0.5), max_trials=20_000, alpha=1e-6).violated


@pytest.mark.parametrize("more", [{}, {"stop_early": True}, {"neighbours": replace_one(0, 1, n=1), "pair": None}])
def test_a_checkpoint_resumes_bit_for_bit(tmp_path: Path, more: dict[str, Any]) -> None:
    def fragile(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        fragile.calls += 1  # type: ignore[attr-defined]
        if fragile.calls == fragile.limit:  # type: ignore[attr-defined]
            raise OSError("power cut")
        return np.ravel(data)[0] + rng.laplace(size=trials)

    asked: dict[str, Any] = {"pair": (0.0, 1.0), "guarantee": PureDP(1.0), "max_trials": 20_000, **more}
    fragile.calls, fragile.limit = 0, 0  # type: ignore[attr-defined]
    whole = audit(fragile, **asked)
    total = fragile.calls  # type: ignore[attr-defined]
    file = tmp_path / "audit.ckpt"
    for limit in (total // 3, total // 3, 0):
        fragile.calls, fragile.limit = 0, limit  # type: ignore[attr-defined]
        try:
            resumed = audit(fragile, checkpoint=file, key="its calls are counted", **asked)
        except MechanismFailed:
            with file.open("ab") as torn:
                torn.write(b"half a record")
    assert fragile.calls < total  # type: ignore[attr-defined]
    assert (resumed.epsilon_lower, resumed.counts, resumed.event.sentence, resumed.trials) == (
        whole.epsilon_lower,
        whole.counts,
        whole.event.sentence,
        whole.trials,
    )
    with pytest.raises(InvalidInput, match=r"checkpoint.*numbers"):
        audit(fragile, checkpoint=file, key="its calls are counted", **{**asked, "seed": 5})


SCRIPT = """
import sys, time
from dpcheck.audits import audit
from dpcheck.bounds.language.guarantees import PureDP
def slow(data, rng, trials):
    time.sleep(0.005)
    return data + rng.laplace(size=trials)
print(audit(slow, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=20_000, checkpoint=sys.argv[1]).counts)
"""


def test_a_killed_process_resumes(tmp_path: Path) -> None:
    file = tmp_path / "killed.ckpt"
    command = [sys.executable, "-c", SCRIPT, str(file)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE)
    for _ in range(200):
        time.sleep(0.05)
        if file.exists() and file.stat().st_size > 20_000:
            break
    first.send_signal(signal.SIGKILL)
    first.communicate()
    resumed = subprocess.run(command, capture_output=True, text=True, check=True)
    fresh = subprocess.run([*command[:-1], str(tmp_path / "other")], capture_output=True, text=True, check=True)
    assert resumed.stdout == fresh.stdout


def test_ctrl_c_keeps_what_is_known() -> None:
    def stop(done: int, total: int, bound: float) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    result = audit(laplace, pair=(0.0, 3.0), guarantee=PureDP(1.0), max_trials=20_000, alpha=1e-6, progress=stop)
    assert result.violated
    assert result.trials < 20_000
    assert any("stopped by hand" in message for message in result.health)


def test_ctrl_c_under_early_stopping_keeps_the_wealth() -> None:
    """The bound may be read at any time, so a stop by hand costs nothing: it is the one that was shown."""
    shown: list[float] = []

    def stop(done: int, total: int, bound: float) -> None:
        shown.append(bound)
        if done > total // 2:
            raise KeyboardInterrupt

    asked: dict[str, Any] = {"guarantee": PureDP(1.0), "max_trials": 4000, "stop_early": True}
    result = audit(laplace, pair=(0.0, 1.0), progress=stop, **asked)
    assert result.epsilon_lower == shown[-1] > 0
    assert not result.violated
    assert result.trials < 4000
    assert any("stopped by hand" in message for message in result.health)


def test_a_stop_by_hand_and_a_full_run_share_one_alpha() -> None:
    """Whoever stops when the bound looks good has two chances to err: their levels must add up to alpha."""
    alpha, counts = 0.05, np.array([[700], [200]])
    choice = Choice(Coordinate(0), 0.0, True, "first", Target(0.0, 0.0), 0.7, 0.2, 1.1)
    ended, stopped = (Counts(choice, counts, 1000, 1000, by_hand).bound(0.0, alpha) for by_hand in (False, True))
    most = ratio_bound(700, 200, 1000, delta=0.0, alpha=(1 - BY_HAND) * alpha)
    p_low, q_high = anytime(700, 1000, BY_HAND * alpha / 2)[0], anytime(200, 1000, BY_HAND * alpha / 2)[1]
    assert (ended, stopped) == (most, pytest.approx(math.log(p_low / q_high)))
    assert 0 < stopped < ended


def test_named_attacks_and_your_own() -> None:
    def vector(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data + rng.laplace(size=(trials, 3))

    asked: dict[str, Any] = {"pair": (0.0, 1.0), "guarantee": PureDP(3.0), "max_trials": 8000, "alpha": 1e-6}
    for attack in ("auto", "coordinates", "projections", "histogram", "learned", lambda rows: rows.sum(axis=1)):
        assert not audit(vector, attack=attack, **asked).violated
        assert audit(vector, attack=attack, **{**asked, "guarantee": PureDP(0.3)}).violated


def test_bits_see_a_floating_point_leak_that_values_do_not() -> None:
    """Noise on a fine grid is private as a number, but 0.1 + grid and 0.2 + grid have different low bits."""

    def grid(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data + np.round(rng.laplace(scale=1000.0, size=trials) * 64) / 64

    asked: dict[str, Any] = {"pair": (0.0, 0.1), "guarantee": PureDP(1.0), "max_trials": 20_000, "alpha": 1e-6}
    assert not audit(grid, attack="coordinates", **asked).violated
    assert audit(grid, attack="bits", **asked).violated


def test_mixed_tuples_use_tables() -> None:
    def pick(bit: int, rng: np.random.Generator) -> tuple[str, int]:
        return ("x", int(rng.integers(3))) if rng.random() < (0.7 if bit else 0.3) else ("y", 0)

    result = audit(per_run(pick), pair=(0, 1), guarantee=PureDP(0.4), max_trials=4000, alpha=1e-6, attack="atoms")
    assert result.violated
    assert "table" in str(result.event)
