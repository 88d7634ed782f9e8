"""The pytest plugin in real runs: named failures, fixed seeds, xdist, hypothesis, the closing summary."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.testing import run_ledger as ledger

pytest_plugins = ["pytester"]

HEAD = """
import time
import dpcheck as dp
import numpy as np
import pytest

near = dp.replace_one(low=0, high=1, n=5)
claim = dp.PureDP(1.0)

def mean(factor=1.0):
    def noisy_mean(data, rng, trials):
        return data.mean() + rng.laplace(scale=factor / len(data), size=trials)
    return noisy_mean
"""

SUITE = (
    HEAD
    + """
@dp.private(guarantee=claim, neighbours=near, max_trials=20_000)
def test_good():
    return mean()

@dp.private(guarantee=claim, neighbours=near, max_trials=20_000)
def test_half_the_noise():
    return mean(0.5)

class TestClass:
    @pytest.mark.parametrize("factor", [1.0, 2.0])
    @dp.private(guarantee=claim, neighbours=near, alpha=1e-3, max_trials=20_000)
    def test_method(self, factor):
        return mean(factor)

@pytest.fixture
def audited():
    return dp.assert_private(mean(), guarantee=claim, neighbours=near, max_trials=20_000)

def test_fixture(audited):
    assert not audited.violated

@dp.private(guarantee=claim, neighbours=near, max_trials=20_000)
def test_constant():
    return lambda data, rng, trials: np.zeros(trials)

hidden = np.random.default_rng(1)

@dp.private(guarantee=claim, neighbours=near, max_trials=20_000)
def test_own_rng():                      # as a secure generator: correct, and no seed repeats its runs
    return lambda data, rng, trials: data.mean() + hidden.laplace(scale=0.2, size=trials)

@dp.private(guarantee=claim, neighbours=near, max_trials=20_000)
def test_own_rng_broken():
    return lambda data, rng, trials: data.mean() + hidden.laplace(scale=0.1, size=trials)

@dp.private(guarantee=claim, neighbours=near, max_trials=20_000)
def test_raises():
    def raising(data):
        return 1 / 0
    return lambda data, rng, trials: raising(data)

@dp.private(guarantee=claim, neighbours=near, max_trials=20_000)
def test_nan():
    return lambda data, rng, trials: np.where(rng.random(trials) < 0.1, np.nan, rng.random(trials))

@dp.private(guarantee=claim, neighbours=near, max_trials=30)
def test_too_small():
    return mean()

@dp.private(guarantee=claim, neighbours=near, pair=(np.zeros(5), np.ones(5)))
def test_no_neighbours():
    return mean()

@dp.private(guarantee=claim, pair=(np.zeros(5), np.zeros(5)))
def test_equal():
    return mean()

@dp.private(guarantee=claim, neighbours=near)
def test_forgot_to_return():
    mean()
"""
)

FAILURES = {
    "test_half_the_noise": "noisy_mean is not as private as claimed",
    "test_constant": "deterministic",
    "test_own_rng_broken": "not bit for bit: it draws from a source of its own",
    "test_raises": "ZeroDivisionError: division by zero",
    "test_nan": "NaN",
    "test_too_small": "too few trials",
    "test_no_neighbours": "must be neighbours",
    "test_equal": "equal datasets",
    "test_forgot_to_return": "End the function with `return mechanism`",
}


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:randomly", *options)


def test_every_outcome_is_named_and_workers_change_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_suite=SUITE)
    alone = run(pytester, "-n0", "--dpcheck-report=json")
    alone.assert_outcomes(passed=5, failed=len(FAILURES))
    report = json.loads(Path("dpcheck-report.json").read_text())
    shared = run(pytester, "-n2", "--dpcheck-report=json", "--dpcheck-report-file=two.json")
    shared.assert_outcomes(passed=5, failed=len(FAILURES))
    _each_failure_names(alone.stdout.str())
    _summary_is_complete(alone.stdout.str())
    _summary_is_complete(shared.stdout.str())
    assert _facts(json.loads(Path("two.json").read_text())) == _facts(report)


def _each_failure_names(said: str) -> None:
    for name, words in FAILURES.items():
        part = said.split(f"_ {name} _")[1].split("\n____")[0]
        assert words in part, (name, part)
    assert "executor.py" not in said  # a refusal says what to do, without the engine's frames
    raised = said.split("_ test_raises _")[1].split("\n____")[0]
    assert "return 1 / 0" in raised
    assert len(raised.splitlines()) <= 40  # two short functions of the user's, whole; no frame of the engine
    broken = said.split("_ test_half_the_noise _")[1].split("\n____")[0]
    for line in ("claimed ", "found ", "first ", "second ", "event ", "replay ", "--dpcheck-seed=0"):
        assert f"  {line}" in broken or line in broken
    assert 'pytest "test_suite.py::test_half_the_noise"' in broken


def _summary_is_complete(said: str) -> None:
    lines = [line for line in said.splitlines() if line.startswith(("PRIVATE", "VIOLATED", "UNHEALTHY"))]
    assert sum(line.startswith("PRIVATE") for line in lines) == 5
    assert [x.split(":")[2] for x in lines if "a source of its own" in x] == ["test_own_rng"]
    assert all("would have been flagged with probability 0.99" in x for x in lines if x.startswith("PRIVATE"))
    assert sum(line.startswith("VIOLATED") for line in lines) == 2
    # Nine audits came to a result: two at alpha = 1e-3, seven at 1e-6.
    assert "9 audits in 9 tests, 2 flagged" in said
    assert f"total false-alarm probability of this run: at most {2e-3 + 7e-6:.3g}" in said


def _facts(report: dict[str, Any]) -> list[tuple[Any, ...]]:
    """All of a report that the seed fixes; a mechanism with an rng of its own is not fixed by it."""
    names = ("test", "outcome", "seed", "trials", "event", "epsilon_lower", "pair", "alpha")
    return sorted(tuple(e[n] for n in names) for e in report["entries"] if "own_rng" not in e["test"])


GIVEN = (
    HEAD
    + """
from hypothesis import given, settings
from hypothesis import strategies as st

def slow(factor):
    def noisy_mean(data, rng, trials):
        time.sleep(0.01)                  # 70 times: over the default deadline of 200 ms
        return mean(factor)(data, rng, trials)
    return noisy_mean

@settings(max_examples=5)
@given(factor=st.floats(1, 3))
@dp.private(guarantee=claim, pair=(np.zeros(5), np.eye(5)[0]), max_trials=2000)
def test_holds(factor):
    return slow(factor)

@settings(max_examples=10)
@given(factor=st.floats(0.2, 3))
def test_broken(factor):
    dp.assert_private(mean(factor), guarantee=claim, pair=(np.zeros(5), np.eye(5)[0]), max_trials=2000)

@settings(max_examples=5)
@given(pair=dp.strategies.neighbouring(near))
def test_drawn_pairs(pair):
    dp.assert_private(mean(), guarantee=claim, pair=pair, neighbours=near, max_trials=2000)

hidden = np.random.default_rng(1)

@settings(max_examples=10)
@given(st.integers(0, 3))
def test_unseeded(_):                     # at this alpha flagged now and then, not each time
    mechanism = lambda data, rng, trials: data.mean() + hidden.laplace(scale=0.2, size=trials)
    dp.assert_private(mechanism, guarantee=claim, pair=(np.zeros(5), np.eye(5)[0]), max_trials=2000, alpha=0.5)

def indirect():
    dp.assert_private(slow(1), guarantee=claim, neighbours=near, max_trials=2000)

@settings(deadline=200)                   # the default outside CI; hypothesis has none where CI is set
@given(st.none())
def test_deadline(_):
    indirect()
"""
)


def test_hypothesis_never_calls_it_flaky(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_given=GIVEN)
    result = run(pytester, "-n0")
    result.assert_outcomes(passed=2, failed=3)
    said = result.stdout.str()
    assert "Flaky" not in said
    assert "distinct failures" not in said
    assert "DeadlineExceeded" not in said
    assert "Add @settings(deadline=None)" in said
    assert "VIOLATED test_given.py::test_broken" in said
    assert "PRIVATE test_given.py::test_holds: 5 audits" in said


OPTIONS = (
    HEAD
    + """
@dp.private(guarantee=claim, neighbours=near, max_trials=20_000)
def test_good():
    return mean()
"""
)


def test_options_set_budget_seed_and_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_options=OPTIONS)
    options = ("--dpcheck-budget=3e1", "--dpcheck-seed=3", "--dpcheck-report=html", "--dpcheck-report-file=r.html")
    result = run(pytester, "-n0", *options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*too few trials (30)*", "UNHEALTHY *"])
    seed = ledger.RunningTest("test_options.py::test_good", 3, None, print).seed
    page = Path("r.html").read_text()
    assert f"seed={seed}<" in page
    assert "30 trials per dataset" in page
    assert "--dpcheck-seed=3 --dpcheck-budget=30" in re.sub("<[^>]+>", "", page)
    assert "total false-alarm probability of this run: at most 1e-06" in page


REPLAYED = (
    HEAD
    + """
again = {"guarantee": claim, "neighbours": near, "method": "replay"}

@dp.private(**again)
def test_good():
    return mean()

@dp.private(**again)
def test_half():
    return mean(0.5)

@dp.private(**again)
def test_unread():
    return lambda data, rng, trials: data.mean() + rng.gamma(2.0, size=trials)

@dp.private(**again, suppress=("not seen through",))
def test_accepted():
    return lambda data, rng, trials: data.mean() + rng.gamma(2.0, size=trials)
"""
)


@pytest.mark.parametrize("kind", ["html", "json"])
def test_replays_are_entered_with_audits(pytester: pytest.Pytester, kind: str) -> None:
    pytester.makepyfile(test_replays=REPLAYED)
    result = run(pytester, "-n0", f"--dpcheck-report={kind}")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "PRIVATE *::test_good: read to the end on these 60 pairs*(epsilon 1, claimed 1, *runs by replay)",
            "VIOLATED *::test_half: epsilon 2, claimed 1",
            "UNHEALTHY *::test_unread: epsilon unknown, claimed 1",
            "PRIVATE *::test_accepted: not seen through, as the test accepts*",
            "4 audits in 4 tests, 1 flagged; total false-alarm probability of this run: at most 2.4e-06",
        ]
    )
    assert "test_half" in Path(f"dpcheck-report.{kind}").read_text()


def test_the_report_names_tests_that_failed_without_an_audit(pytester: pytest.Pytester) -> None:
    """Seen: a page on which everything passed, and a red run whose mechanism had raised."""
    pytester.makepyfile(
        test_broken=HEAD
        + """
@dp.private(guarantee=claim, neighbours=near)
def test_raises():
    return lambda data, rng, trials: 1 / 0


def test_of_something_else():
    assert False
"""
    )
    result = run(pytester, "-n0", "--dpcheck-report=json")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["0 audits in 0 tests*failed before an audit was over: test_broken.py::test_raises"])
    report = json.loads(Path("dpcheck-report.json").read_text())
    assert report["failed_without_audit"] == ["test_broken.py::test_raises"]


@pytest.mark.parametrize(
    "option",
    ["--dpcheck-budget=3", "--dpcheck-budget=inf", "--dpcheck-seed=-1", "--dpcheck-seed=x", "--dpcheck-report=pdf"],
)
def test_bad_options_are_refused(pytester: pytest.Pytester, option: str) -> None:
    assert pytester.runpytest_inprocess("-n0", option).ret == pytest.ExitCode.USAGE_ERROR


def test_report_file_is_checked_before_the_run(pytester: pytest.Pytester) -> None:
    missing = ("--dpcheck-report=json", "--dpcheck-report-file=no/such/r.json")
    for options in (missing, ("--dpcheck-report-file=r.json",)):
        assert pytester.runpytest_inprocess("-n0", *options).ret == pytest.ExitCode.USAGE_ERROR


def test_an_unused_plugin_loads_nothing_heavy() -> None:
    heavy = ("numpy", "scipy", "sympy", "audits", "bounds", "rich")
    code = f"import sys, dpcheck.testing.plugin; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_seeds_follow_the_test_and_not_its_folder() -> None:
    def seed(name: str, base: int = 0) -> int:
        return ledger.RunningTest(name, base, None, print).seed

    assert seed("a/b/test_x.py::test_y[1]") == seed("test_x.py::test_y[1]")
    assert len({seed("test_x.py::test_y"), seed("test_x.py::test_z"), seed("test_x.py::test_y", 1)}) == 3


def test_the_total_is_a_probability() -> None:
    assert ledger.total_false_alarm([{"alpha": 0.05}] * 3) == pytest.approx(0.15)
    assert ledger.total_false_alarm([{"alpha": 0.05}] * 30) == 1.0


# Outside a run ------------------------------------------------------------------------------------
def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def test_assert_private_passes_and_raises() -> None:
    result = dp.assert_private(laplace, pair=(0.0, 1.0), guarantee=dp.PureDP(1.0), must_detect=1.5)
    assert 1 < result.detectable_epsilon < 1.5
    with pytest.raises(dp.PrivacyViolation, match="laplace is not as private as claimed") as caught:
        dp.assert_private(laplace, pair=(0.0, 2.0), guarantee=dp.PureDP(1.0))
    assert 1 < caught.value.result.epsilon_lower <= 2


def test_ctrl_c_stops_the_run_and_not_just_the_audit() -> None:
    calls = iter(range(10**6))

    def impatient(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        if next(calls) == 60:
            raise KeyboardInterrupt
        return laplace(data, rng, trials)

    with pytest.raises(KeyboardInterrupt):
        dp.assert_private(impatient, pair=(0.0, 1.0), guarantee=dp.PureDP(1.0))


def test_planted_bugs_read_as_expected() -> None:
    entry = {"outcome": "violated", "finding": ">= 2 at delta = 0, claimed 1"}
    assert ledger.line_of("t", [entry], failed=False).endswith("(as the test expects)")
    assert not ledger.line_of("t", [entry], failed=True).endswith("(as the test expects)")


def test_a_pass_may_be_asked_what_it_can_catch() -> None:
    with pytest.raises(dp.Unhealthy, match=r"not 1\.01"):
        dp.assert_private(laplace, pair=(0.0, 1.0), guarantee=dp.PureDP(1.0), must_detect=1.01, max_trials=5000)


def test_health_checks_can_be_suppressed_by_name() -> None:
    def constant(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        return np.zeros(trials)

    call: dict[str, Any] = {"pair": (0, 1), "guarantee": dp.PureDP(1.0), "max_trials": 5000}
    with pytest.raises(dp.Unhealthy) as caught:
        dp.assert_private(constant, **call)
    assert caught.value.check == "deterministic"
    assert not dp.assert_private(constant, **call, suppress=("deterministic", "too few trials")).violated


def test_every_option_is_explained(pytester: pytest.Pytester) -> None:
    said = " ".join(run(pytester, "--help").stdout.str().split("differential privacy audits:")[1].split())
    for option, words in {
        "--dpcheck-budget=N": "runs per dataset of every audit",
        "--dpcheck-seed=S": "another base draws fresh runs",
        "--dpcheck-report={html,json}": "write every audit of the run to a file",
        "--dpcheck-report-file=FILE": "its folder must exist",
    }.items():
        assert option in said
        assert words in said


def test_a_secure_generator_is_tested_like_any_other() -> None:
    """Seen: "proves nothing". alpha = 1e-6 in each run; half the noise is planted, and caught in each run."""
    secure = random.SystemRandom()

    def mechanism(scale: float) -> Any:
        def noisy(data: float, rng: np.random.Generator, trials: int) -> Any:
            signs = np.array([secure.choice((-1, 1)) for _ in range(trials)])
            return data + signs * np.array([secure.expovariate(1 / scale) for _ in range(trials)])

        return noisy

    call: dict[str, Any] = {"pair": (0.0, 1.0), "guarantee": dp.PureDP(1.0), "max_trials": 5000}
    passed = dp.assert_private(mechanism(1.0), **call, must_detect=2.0)
    assert any("cannot be replayed" in message for message in passed.health)
    with pytest.raises(dp.PrivacyViolation, match="not bit for bit: it draws from a source of its own"):
        dp.assert_private(mechanism(0.4), **call)


@pytest.mark.parametrize(
    "wrong",
    [
        {"guarantee": None},
        {"guarantee": 1.0},
        {"must_detect": -1.0},
        {"suppress": "deterministic"},
        {"suppress": ("x",)},
    ],
)
def test_bad_requests_are_typed(wrong: dict[str, Any]) -> None:
    with pytest.raises(dp.InvalidInput, match="must be"):
        dp.assert_private(laplace, **{"pair": (0.0, 1.0), "guarantee": dp.PureDP(1.0), **wrong})


def test_private_needs_somewhere_to_attack_and_stands_under_given() -> None:
    with pytest.raises(dp.InvalidInput, match="neighbours to search"):
        dp.private(guarantee=dp.PureDP(1.0))

    def inner() -> None: ...

    inner.is_hypothesis_test = True  # type: ignore[attr-defined]
    with pytest.raises(dp.InvalidInput, match="Swap the two decorators"):
        dp.private(guarantee=dp.PureDP(1.0), pair=(0, 1))(inner)


def test_every_public_name_is_there() -> None:
    names = dp.__all__
    assert {"private", "assert_private", "strategies", "audit", "solvers"} <= set(names)
    assert all(getattr(dp, name) is not None for name in names)
    with pytest.raises(AttributeError, match="attribute nonsense"):
        _ = dp.nonsense


def test_a_folder_may_have_a_conftest_of_its_own(pytester: pytest.Pytester) -> None:
    """pytest then looks plugins up in a set: one that cannot be hashed ends the run before its first test."""
    for folder in ("one", "two"):
        pytester.mkdir(folder).joinpath(f"test_{folder}.py").write_text("def test_it():\n    pass\n")
    (pytester.path / "one" / "conftest.py").write_text("def pytest_runtest_logreport(report):\n    pass\n")
    assert pytester.runpytest_subprocess("one", "two", "-p", "no:cacheprovider").ret == 0
