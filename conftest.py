"""Runs the Python blocks of README.md and docs/ as tests; fixes hypothesis's seed unless one is asked for."""

import pytest
from hypothesis import settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/*.md"],
).pytest()


def pytest_configure(config: pytest.Config) -> None:
    """Never flaky: the same examples in every run, and others on request (--hypothesis-seed=N)."""
    settings.register_profile("fixed", derandomize=True, deadline=None)
    settings.register_profile("asked", derandomize=False, deadline=None)
    settings.load_profile("fixed" if config.getoption("--hypothesis-seed", None) is None else "asked")
