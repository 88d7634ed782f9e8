"""Runs the code blocks of README.md and docs/ as tests; fixes hypothesis's seed unless one is asked for."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import SkipTest

# Before numpy is loaded, here and in every worker: a second thread spins on a core that the other worker needs (the
# worst cases' tests took 72 s of CPU instead of 6, those of learned scores 75 instead of 4).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from tools.pages.blocks import PAGES

pytest_collect_file = PAGES.pytest()


def pytest_configure(config: pytest.Config) -> None:
    """Never flaky: the same examples in every run, and others on request (--hypothesis-seed=N)."""
    settings.register_profile("fixed", derandomize=True, deadline=None)
    settings.register_profile("asked", derandomize=False, deadline=None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background job: the programs that the
        signal.signal(signal.SIGINT, signal.default_int_handler)  # tests start and interrupt would inherit it
    settings.load_profile("fixed" if config.getoption("--hypothesis-seed", None) is None else "asked")


EVALUATED: set[tuple[str, int]] = set()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A page is read from the top: blocks above this one run first, if another worker was given them."""
    example = getattr(item, "example", None)
    if example is None:
        return
    for earlier in example.document.examples():
        place = (earlier.path, earlier.start)
        if earlier.start < example.start and place not in EVALUATED:
            with suppress(SkipTest):  # it says so itself, where it is a test of its own
                earlier.evaluate()
            EVALUATED.add(place)
    EVALUATED.add((example.path, example.start))


def pytest_collection_finish(session: pytest.Session) -> None:
    """The folder tests leaves the path: dask, also in its workers, would take tests/sparse for a library it knows."""
    folder = str(Path(__file__).parent / "tests")
    sys.path[:] = [entry for entry in sys.path if entry != folder]


@pytest.fixture(scope="session")
def dask() -> Iterator[Any]:
    """A real cluster: a scheduler, two worker processes and their nannies."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(host="127.0.0.1", silence_logs=50, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
