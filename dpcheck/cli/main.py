"""The command line: a parser that imports none of the work, then the one command that was asked for."""

from __future__ import annotations

import importlib
import shlex
import sys
from collections.abc import Sequence

from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.cli.parser import TAKES_REST, build_parser

OK, USAGE, INTERRUPTED = 0, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; errors of the user's become one sentence and exit code 2."""
    parser = build_parser()
    args, rest = parser.parse_known_args(argv)
    args.asked = shlex.join(["dpcheck", *(sys.argv[1:] if argv is None else argv)])
    if rest and args.command not in TAKES_REST:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    from rich.console import Console

    out, err = Console(), Console(stderr=True)
    module, _, function = args.run.partition(":")
    try:
        run = getattr(importlib.import_module(f"dpcheck.cli.{module}"), function)
        return int(run(args, rest, out, err))
    except DpcheckError as error:
        err.print(f"dpcheck: {error}", style="red", markup=False, highlight=False)
        return USAGE
    except BrokenPipeError:
        return OK
    except OSError as error:
        err.print(f"dpcheck: {error}", style="red", markup=False, highlight=False)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
