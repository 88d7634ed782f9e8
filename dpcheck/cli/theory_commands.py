"""`dpcheck compare`, `tables`, `measure`, and `bounds ID --solve-for SYMBOL`: theory put to use."""

from __future__ import annotations

import argparse
import json
import math
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.text import Text

from dpcheck.bounds.language.errors import DpcheckError, InvalidInput, UnknownName
from dpcheck.bounds.language.evidence import Kind
from dpcheck.cli.executor_option import executor_asked
from dpcheck.cli.parser import LOSSES, number, parse_options
from dpcheck.report.layout import rows_to

OK = 0  # what computes is imported by the command that needs it


def run_compare(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """The table, the crossings, and the picture if asked for."""
    from dpcheck.report import theory
    from dpcheck.theory.comparison import compare

    if args.local:
        return compare_local(args, parse_options(rest), out)
    if not args.names:
        raise InvalidInput("NAME", "not given", "a stem or the id of a claim, or several", what_to_compare())
    found = compare(
        *args.names,
        over=args.over,
        measure=args.measure,
        losses=args.losses,
        privacy=args.privacy,
        **parse_options(rest),
    )
    if args.json or out.is_terminal:
        return show(found, theory.comparison_page(found), args, out, err)
    if args.plot is not None:
        found.plot(args.plot)
        err.print(Text(f"drawn: {args.plot}"))
    rows_to(out, theory.COMPARED, theory.comparison_rows(found))
    return OK


def compare_local(args: argparse.Namespace, sizes: dict[str, float], out: Console) -> int:
    """Randomisers for each question, and what is lost against a curator who is trusted with the records."""
    from dpcheck.local import which
    from dpcheck.report import theory

    if args.names or args.plot is not None or sizes.keys() != {"n", "d", "eps"}:
        given = ", ".join([*args.names, *(f"--{name}" for name in sizes)]) or "nothing"
        raise InvalidInput("compare --local", given, "--n, --d and --eps", "Add `--n 1e6 --d 64 --eps 1`, for example.")
    found = which(**sizes)
    if args.json:
        out.print_json(json.dumps([one.to_json() for one in found]))
    elif out.is_terminal:
        out.print(theory.local_page(found))
    else:
        rows_to(out, theory.LOCALLY, theory.local_rows(found))
    return OK


def what_to_compare() -> str:
    """How to ask, and the algorithms that have a bound on their error."""
    from dpcheck.theory.claim_choice import candidates
    from dpcheck.verdicts.catalogue import catalogue

    known = []
    for stem in sorted({row.algorithm for row in catalogue().values() if row.kind == Kind.UTILITY}):
        with suppress(DpcheckError):
            known += [stem] if candidates(stem) else []
    return f"For example `dpcheck compare dp_svrg dp_gd --n 1e5 --eps 1`. Algorithms with bounds: {', '.join(known)}."


def run_tables(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """The list, or printed and regenerated cells side by side."""
    from dpcheck.bounds.proving import tables
    from dpcheck.report import theory

    found = [tables.regenerate(tables.table_named(name)) for name in args.ids or (tables.tables() if args.json else ())]
    if args.json:
        out.print_json(json.dumps([one.to_json() for one in found], ensure_ascii=False))
    elif not found:
        out.print(theory.table_list())
    for one in found if not args.json else ():
        out.print(theory.regenerated_page(one))
    return OK


def run_measure(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Run the solver on synthetic data and set its error beside its bounds."""
    from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
    from dpcheck.datasets import linear_synthetic, logistic_synthetic
    from dpcheck.problems import losses
    from dpcheck.report import theory
    from dpcheck.theory.measurement import measure

    loss = getattr(losses, LOSSES[args.loss])
    symbol, *texts = args.over
    grid = {symbol: [number(symbol, text) for text in texts]}
    sizes = {"n": args.n, "d": args.d}

    def made(**changed: int) -> Any:
        here = {**sizes, **changed}
        data = (logistic_synthetic if loss.labels == "sign" else linear_synthetic)(**here, seed=args.seed)
        return data.problem(loss(), l2=args.l2)

    guarantee = ApproxDP(args.eps, args.delta) if args.delta > 0 else PureDP(args.eps)
    with executor_asked(args) as executor:
        found = measure(
            args.solver,
            (lambda value: made(**{symbol: value})) if symbol in sizes else made(),
            grid,
            guarantee=guarantee,
            trials=args.trials,
            seed=args.seed,
            calibration=args.calibration,
            executor=executor,
        )
    return show(found, theory.measurement_page(found), args, out, err)


def run_solve(found: Any, symbol: str, values: dict[str, float], out: Console) -> int:
    """`dpcheck bounds ID --solve-for n --error 0.01 ...`."""
    from dpcheck.bounds.language.symbols import TABLE
    from dpcheck.bounds.relations.solving import TARGETS
    from dpcheck.report import theory

    unknown = sorted(values.keys() - {row.name for row in TABLE.values()} - set(TARGETS))
    if unknown:
        raise UnknownName("option", f"--{unknown[0]}", "a symbol's name or --error", "See `dpcheck claims ID`.")
    out.print(theory.solved_page(found.solve_for(symbol, **values)))
    return OK


def show(found: Any, page: Any, args: argparse.Namespace, out: Console, err: Console) -> int:
    """To the terminal, as JSON, and as a picture."""
    if args.plot is not None:
        found.plot(args.plot)
    if args.json:
        out.print_json(json.dumps(json_safe(found.to_json()), ensure_ascii=False))
    else:
        out.print(page)
    if args.plot is not None:
        err.print(Text(f"drawn: {args.plot}"))
    return OK


def json_safe(value: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {k: json_safe(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(v) for v in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
