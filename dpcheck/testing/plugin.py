"""The pytest plugin: fixed seeds by test, options, and a closing summary with the run's false-alarm probability.

Loads nothing of the auditor; a run without audits pays for this file alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dpcheck.testing import history
from dpcheck.testing import run_ledger as ledger

PROPERTY = "dpcheck"  # audits travel from xdist's workers as user properties of the test's report
KNOWN: pytest.StashKey[Mapping[str, Any] | None] = pytest.StashKey()
SHOWN = 20  # tests listed without -v


def pytest_addoption(parser: pytest.Parser) -> None:
    """--dpcheck-..."""
    group = parser.getgroup("dpcheck", "differential privacy audits")
    group.addoption(
        "--dpcheck-budget",
        type=_trials,
        metavar="N",
        help="runs per dataset of every audit, in place of the tests' own max_trials: 2e4 for a quick look, 1e6 for a "
        "nightly run; a pass says what it would have caught",
    )
    group.addoption(
        "--dpcheck-seed",
        type=_seed,
        default=0,
        metavar="S",
        help="base of all seeds (default 0). Each test adds its name, so a test has one outcome until this changes; "
        "another base draws fresh runs, with the same false-alarm rate",
    )
    group.addoption(
        "--dpcheck-report",
        choices=("html", "json"),
        help="write every audit of the run to a file: test, outcome, claim, bound, power, event, pair, seed, health",
    )
    group.addoption(
        "--dpcheck-report-file",
        metavar="FILE",
        help="which file (default dpcheck-report.html or dpcheck-report.json); its folder must exist",
    )
    group.addoption(
        "--dpcheck-history",
        metavar="FILE",
        help="evidence adds up in this file from run to run, at one false-alarm rate for all of them, until the "
        "mechanism changes; keep it under version control or in the cache of your CI",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Check the options before anything runs."""
    config.addinivalue_line("markers", "dpcheck: a test that audits a mechanism (set by dpcheck itself)")
    path = report_file(config)
    if path is not None and not path.parent.is_dir():
        raise pytest.UsageError(f"--dpcheck-report-file {path}: its folder does not exist; create it first")
    if path is None and config.getoption("dpcheck_report_file"):
        raise pytest.UsageError("--dpcheck-report-file needs --dpcheck-report=html or --dpcheck-report=json")
    config.stash[KNOWN] = remembered(config)
    if not hasattr(config, "workerinput"):  # under xdist the controller alone gathers and writes
        config.pluginmanager.register(TestRun(config), "dpcheck-run")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark audits, and free those under hypothesis of its deadline: an audit's time depends on the machine."""
    function = getattr(item, "obj", None)
    inner = getattr(getattr(function, "hypothesis", None), "inner_test", function)
    direct = "assert_private" in getattr(getattr(inner, "__code__", None), "co_names", ())
    if not (getattr(inner, "is_dpcheck_test", False) or direct):
        return
    item.add_marker("dpcheck")
    if getattr(function, "is_hypothesis_test", False):
        _drop_deadline(function)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Audits made meanwhile (in fixtures, too) belong to this test."""

    options = item.config.option

    def enter(entry: ledger.Entry) -> None:
        kept = entry if options.dpcheck_report == "html" else ledger.without_page(entry)
        item.user_properties.append((PROPERTY, json.dumps(kept)))

    about = (options.dpcheck_seed, options.dpcheck_budget, enter, item.config.stash[KNOWN], options.dpcheck_history)
    with ledger.running(ledger.RunningTest(item.nodeid, *about)):
        yield


@dataclass(frozen=True, eq=False)  # pytest keeps plugins in sets
class TestRun:
    """The audits of one run, as the reports of its tests bring them in."""

    config: pytest.Config
    entries: list[ledger.Entry] = field(default_factory=list)
    failed: dict[str, bool] = field(default_factory=dict)  # whether they are to audit something

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in a test's audits when it is over."""
        if report.failed:
            self.failed[report.nodeid] = PROPERTY in report.keywords
        if report.when == "teardown":
            self.entries.extend(json.loads(str(value)) for name, value in report.user_properties if name == PROPERTY)

    def pytest_sessionfinish(self) -> None:
        """Write the report."""
        path = report_file(self.config)
        if path is not None:
            write = ledger.html_report if report_kind(self.config) == "html" else ledger.json_report
            try:
                path.write_text(write(self.entries, self.unaudited), encoding="utf-8")
            except OSError as error:
                pytest.exit(f"--dpcheck-report: {path} was not written ({error})", pytest.ExitCode.USAGE_ERROR)
        kept = self.config.getoption("dpcheck_history")
        known = self.config.stash[KNOWN]
        if known is not None:
            try:
                history.write(Path(kept), known, self.entries)
            except OSError as error:
                said = f"--dpcheck-history {kept}: this run is not remembered ({error})"
                pytest.exit(said, pytest.ExitCode.USAGE_ERROR)

    @property
    def unaudited(self) -> list[str]:
        """Tests that failed before an audit was over, as where the mechanism raised."""
        return [name for name, audits in self.failed.items() if audits and name not in ledger.by_test(self.entries)]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """One line per test, then the false-alarm probability of the whole run."""
        if not self.entries and not self.unaudited:
            return
        terminalreporter.section("dpcheck")
        tests = list(ledger.by_test(self.entries).items())
        listed = tests if self.config.option.verbose > 0 else tests[:SHOWN]
        for name, own in listed:
            terminalreporter.write_line(ledger.line_of(name, own, name in self.failed))
        if len(listed) < len(tests):
            terminalreporter.write_line(f"... and {len(tests) - len(listed)} more; -v shows all")
        terminalreporter.write_line(ledger.closing_line(self.entries, self.unaudited))
        path = report_file(self.config)
        if path is not None:
            terminalreporter.write_line(f"report: {path}")


def remembered(config: pytest.Config) -> Mapping[str, Any] | None:
    """What the history has to say, if one is kept."""
    kept = config.getoption("dpcheck_history")
    if kept is None:
        return None
    if not Path(kept).parent.is_dir():
        raise pytest.UsageError(f"--dpcheck-history {kept}: its folder does not exist; create it first")
    try:
        return history.read(Path(kept))
    except history.Unreadable as error:
        raise pytest.UsageError(f"--dpcheck-history: {error}") from error


def report_kind(config: pytest.Config) -> str | None:
    """html, json or none."""
    kind: str | None = config.getoption("dpcheck_report")
    return kind


def report_file(config: pytest.Config) -> Path | None:
    """Where the report goes, if one is wanted."""
    kind = report_kind(config)
    return Path(config.getoption("dpcheck_report_file") or f"dpcheck-report.{kind}") if kind else None


def _drop_deadline(function: Any) -> None:
    """Only the deadline that nobody asked for; one set by hand is refused with a sentence when the audit starts."""
    settings = sys.modules["hypothesis"].settings
    function = getattr(function, "__func__", function)
    own = getattr(function, "_hypothesis_internal_use_settings", None)
    if own is not None and own.deadline == settings.default.deadline:
        function._hypothesis_internal_use_settings = settings(own, deadline=None)


def _trials(text: str) -> int:
    return _whole("--dpcheck-budget", text, 20)


def _seed(text: str) -> int:
    return _whole("--dpcheck-seed", text, 0)


def _whole(option: str, text: str, least: int) -> int:
    try:
        value = float(text.replace("_", ""))
        whole = int(value)
    except (ValueError, OverflowError):
        value, whole = 0.5, 0
    if whole != value or whole < least:
        raise pytest.UsageError(f"{option} is {text}; it must be a whole number >= {least}, for example 100000")
    return whole
