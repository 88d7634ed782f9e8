"""`--executor processes:4`, `--executor dask:ADDRESS` and `--workers 4`: where a command's work runs."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dpcheck.bounds.language.errors import InvalidInput


def executor_asked(args: argparse.Namespace) -> AbstractContextManager[Any]:
    """The executor, closed with the block; None where nothing was asked for."""
    if args.workers is not None and args.executor is not None:
        given = f"--workers {args.workers} and --executor {args.executor}"
        raise InvalidInput("executor", given, "one of them", "--workers N is short for --executor processes:N.")
    if args.workers is not None and args.workers < 1:
        raise InvalidInput("workers", args.workers, "a whole number >= 1", "Use 1 to run in this process.")
    if args.executor is None:
        return nullcontext(args.workers)
    from dpcheck.audits.trials.spreading import opened  # only now: a command that needs none starts at once

    return opened(args.executor)
