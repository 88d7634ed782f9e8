"""Where the audits of a benchmark run. Those that measure time have no such choice: they need a machine alone."""

from __future__ import annotations

import argparse


def add_executor(parser: argparse.ArgumentParser) -> None:
    """--executor, as `dpcheck audit` has it: dpcheck.audits.trials.spreading opens what it names."""
    words = "processes:N or dask:ADDRESS; the figures are the same (default processes:2)"
    parser.add_argument("--executor", default="processes:2", metavar="WHERE", help=words)
