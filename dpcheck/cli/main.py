"""The command line: a parser that imports none of the work, then the one command that was asked for."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from collections.abc import Sequence

from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.cli.parser import TAKES_REST, build_parser, target_first, without_symbols

OK, USAGE, INTERRUPTED = 0, 2, 130
COMPLETE = "__complete"  # what the scripts of `dpcheck completion` call


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; errors of the user's become one sentence and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser()
    if words[:1] == [COMPLETE]:
        from dpcheck.cli.completion import completed

        sys.stdout.writelines(f"{word}\n" for word in completed(parser, words[1:]))
        return OK
    asked = shlex.join(["dpcheck", *words])
    words, symbols = without_symbols(parser, target_first(words))
    args, rest = parser.parse_known_args(words)
    args.asked = asked
    if rest and args.command not in TAKES_REST:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    from dpcheck.progress import Meter, shown_as
    from dpcheck.report.layout import screen

    out, err = screen(), screen(stderr=True)
    quiet, terminal = getattr(args, "quiet", False), err.is_terminal
    module, _, function = args.run.partition(":")
    try:
        with (
            shown_as("nothing" if quiet else "bar" if terminal else "lines"),
            Meter(f"dpcheck {args.command}", shown="bar" if terminal and not quiet else "nothing"),
        ):
            run = getattr(importlib.import_module(f"dpcheck.cli.{module}"), function)
            return int(run(args, [*symbols, *rest], out, err))
    except DpcheckError as error:
        if where := getattr(error, "where", ""):  # in the user's own code
            err.print(where)
        err.print(f"dpcheck: {error}", style="red")
        return USAGE
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        err.print(f"dpcheck: {error}", style="red")
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
