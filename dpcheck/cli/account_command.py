"""`dpcheck account`: what noisy answers cost together, or the noise that keeps to an epsilon."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rich.console import Console
from rich.text import Text

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.cli.parser import number
from dpcheck.report.layout import rows_to

OK = 0
FIELDS = ("noise", "rate", "steps", "sampling", "law")


def run_account(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Bounds on epsilon under each relation; in a pipe one line each."""
    from dpcheck.cli.theory_commands import json_safe
    from dpcheck.theory.account import RELATIONS, NoisyRelease, account

    own = {name: value for name in FIELDS if (value := getattr(args, name)) is not None}
    releases = [NoisyRelease(**own)] if own or not args.release else []
    releases += [NoisyRelease(**parsed(text)) for text in args.release]
    relation = None if args.relation is None else RELATIONS[args.relation]
    found = account(*releases, delta=args.delta, eps=args.eps, relation=relation)
    if args.json:
        out.print_json(json.dumps(json_safe(found.to_json()), ensure_ascii=False))
    elif out.is_terminal:
        out.print(Text(str(found)))
    else:
        rows_to(out, ("relation", "eps_low", "eps_high", "delta", "noise"), found.rows)
    return OK


def parsed(text: str) -> dict[str, Any]:
    """noise=1.1,rate=0.01,steps=1000 as the fields of a release."""
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or name not in FIELDS:
            limit = f"NAME=VALUE with NAME one of {', '.join(FIELDS)}"
            raise InvalidInput("part of --release", part, limit, "For example noise=1.1,rate=0.01,steps=1000.")
        found[name] = value if name in ("sampling", "law") else number(name, value)
    return found
