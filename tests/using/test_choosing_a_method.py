"""The page docs/choosing-a-method.md shows what the commands print; `python tests/using/test_choosing_a_method.py`
writes its outputs anew. A block that ends in ... shows the first parts of an output.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dpcheck.cli import account_command, rank_command
from dpcheck.cli.parser import build_parser, parse_options
from dpcheck.report.ranking_page import needs_page, ranking_page
from dpcheck.report.theory import as_text, comparison_page
from dpcheck.theory.account import NoisyRelease, account
from dpcheck.theory.comparison import compare
from dpcheck.theory.need import need
from dpcheck.theory.ranking import rank

PAGE = Path(__file__).parents[2] / "docs" / "choosing-a-method.md"
BLOCK = re.compile(r"```text\n\$ (dpcheck .*)\n((?:(?!```).*\n)*)```")
WIDTH = 118


def printed(command: str) -> str:
    """What a terminal of that width shows."""
    args, rest = build_parser().parse_known_args(shlex.split(command)[1:])
    given = parse_options(rest)
    if args.command == "rank":
        return as_text(ranking_page(rank(n=args.n, **rank_command.asked(args), **given)), WIDTH)
    if args.command == "need":
        return as_text(needs_page(need(error=args.error, **rank_command.asked(args), **given)), WIDTH)
    if args.command == "compare":
        return as_text(comparison_page(compare(*args.names, **given)), WIDTH)
    own = {name: value for name in account_command.FIELDS if (value := getattr(args, name)) is not None}
    return str(account(NoisyRelease(**own), delta=args.delta, eps=args.eps))


def as_shown(command: str, shown: str) -> str:
    """The output as it is now, as far as the page shows it."""
    parts, now = shown.rstrip("\n").split("\n\n"), printed(command).split("\n\n")
    return "\n\n".join([*now[: len(parts) - 1], "..."] if parts[-1] == "..." else now)


def written(page: str) -> str:
    """The page with every output as it is now."""
    return BLOCK.sub(lambda found: f"```text\n$ {found[1]}\n{as_shown(found[1], found[2])}\n```", page)


@pytest.mark.parametrize(
    ("command", "shown"), BLOCK.findall(PAGE.read_text(encoding="utf-8")), ids=lambda text: text.split("\n")[0][:40]
)
def test_the_page_shows_what_is_printed(command: str, shown: str) -> None:
    assert shown.rstrip("\n") == as_shown(command, shown), "run this file as a program to write the page anew"


def test_the_commands_of_the_page_are_found() -> None:
    found = [command.split()[1] for command, _ in BLOCK.findall(PAGE.read_text(encoding="utf-8"))]
    assert found == ["rank", "need", "compare", "account", "account"]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
