"""`dpcheck claims`, `bounds`, `replay`: one claim, or the list of them. Formulas are imported by who computes."""

from __future__ import annotations

import argparse

from rich.console import Console

from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.evidence import Verdict
from dpcheck.cli.parser import number, parse_options
from dpcheck.report import terminal
from dpcheck.verdicts.catalogue import catalogue, current, select
from dpcheck.verdicts.record import recorded, recorded_of

OK, DIFFERENT = 0, 1


def run_claims(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """One claim's page, or the list."""
    row = catalogue().get(args.names[0]) if len(args.names) == 1 else None
    if row is not None:
        shown = terminal.claim_page if out.is_terminal else terminal.claim_as_rows
        out.print(shown(row, current().symbols, recorded_of(row.id)))
        return OK
    ids = select(args.names, args.source, args.algorithm, args.kind)
    if out.is_terminal:
        out.print(terminal.claim_list(ids, recorded(), out.width))
    else:
        out.print(terminal.claim_rows(ids, recorded()))
    return OK


def run_bounds(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Evaluate a claim's right-hand side at the given numbers."""
    from dpcheck.bounds.language.claim import Claim, pretty
    from dpcheck.bounds.language.symbols import TABLE
    from dpcheck.bounds.registry import StatementParts, library

    values = parse_options(rest)
    if args.solve_for is not None:
        from dpcheck.cli.theory_commands import run_solve

        return run_solve(library[args.id], args.solve_for, values, out)
    unknown = sorted(values.keys() - {row.name for row in TABLE.values()})
    if unknown:
        raise UnknownName("option", f"--{unknown[0]}", "a symbol's name", f"See `dpcheck claims {args.id}`.")
    found = library[args.id]
    claim: Claim = found.pick(set(values)) if isinstance(found, StatementParts) else found
    value = claim.evaluate(**values)
    out.print(f"{claim.id}: {claim.text()}")
    out.print(f"{pretty(claim.subject)}: {float(value):.6g}", style="bold")
    verdict = recorded_of(claim.id).get("verdict", "not recorded")
    out.print("verdict:", terminal.coloured(verdict))
    if verdict == Verdict.REFUTED:
        better = [row.id for row in catalogue().values() if row.corrects == claim.id]
        out.print(f"This claim is refuted; corrected: {', '.join(better) or 'none'}", style="red")
    return OK


def run_replay(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Exit 0 if the counterexample shows again, 1 if it does not."""
    from dpcheck.bounds.language.symbols import printed_name
    from dpcheck.verdicts.replaying import replay, shows
    from dpcheck.verdicts.verify import AGAINST, plain

    point = {}
    for pair in rest:
        name, sign, text = pair.partition("=")
        if not sign:
            raise InvalidInput("point", pair, "NAME=VALUE", "For example eps=40.")
        point[name] = number(name, text)
    found, row = replay(args.id, args.check, point), catalogue()[args.id]
    out.print(f"{row.id} ({row.source})", style="bold")
    out.print(f"says: {row.says}")
    out.print(f"states: {row.statement}")
    shown_at = ", ".join(f"{printed_name(k)} = {plain(v)}" for k, v in point.items())
    out.print(f"at: {shown_at}")
    out.print(f"found: {found.figure} ({found.detail})")
    shown = found.verdict if found.verdict in AGAINST else "a gap in the proof"
    out.print(terminal.coloured(shown if shows(found) else "does not show here"))
    return OK if shows(found) else DIFFERENT
