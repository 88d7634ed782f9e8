"""`dpcheck compare`, `tables`, `measure`, and `bounds ID --solve-for SYMBOL`: theory put to use."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from dpcheck.bounds.language.errors import UnknownName

# What computes is imported by the commands that need it: a parser must be quick.
OK = 0
LOSSES = {"logistic": "Logistic", "sigmoid": "Sigmoid", "huber": "Huber", "squared": "Squared"}


def add_compare(commands: Any) -> None:
    """The sub-commands and their options."""
    side = commands.add_parser(
        "compare", help="bounds side by side: dpcheck compare dp_svrg dp_gd --n 1e5 --d 50 --eps 1", allow_abbrev=False
    )
    side.add_argument("names", nargs="+", metavar="NAME", help="stems of algorithms or ids of claims")
    side.add_argument("--over", default="n", metavar="SYMBOL", help="the symbol that curves run over (default n)")
    side.add_argument("--measure", metavar="SYMBOL", help="the error that is bounded, where names share several")
    side.add_argument("--losses", choices=("strong", "convex", "any"), help="the assumption on the losses")
    side.add_argument("--privacy", choices=("pure", "approx"), help="the kind of privacy")
    add_output(side)
    side.set_defaults(run=run_compare)

    printed = commands.add_parser(
        "tables", help="printed comparison tables, regenerated from claims", allow_abbrev=False
    )
    printed.add_argument("ids", nargs="*", metavar="ID", help="for example dwang20.table3.2 (default: list them)")
    printed.add_argument("--json", action="store_true", help="as JSON")
    printed.set_defaults(run=run_tables)

    against = commands.add_parser(
        "measure", help="measured error against bounds: dpcheck measure outpert_gd --over n 100 200 400",
        allow_abbrev=False,
    )  # fmt: skip
    against.add_argument("solver", metavar="STEM", help="the algorithm")
    against.add_argument("--over", nargs="+", required=True, metavar=("SYMBOL", "VALUE"), help="one of n, d, eps, T")
    against.add_argument(
        "--loss", choices=sorted(LOSSES), default="logistic", help="on synthetic data (default logistic)"
    )
    against.add_argument("--l2", type=float, default=0.0, help="regulariser (default 0)")
    against.add_argument("--n", type=int, default=1000, help="records (default 1000)")
    against.add_argument("--d", type=int, default=5, help="dimension (default 5)")
    against.add_argument("--eps", type=float, default=1.0, help="default 1")
    against.add_argument("--delta", type=float, default=1e-5, help="default 1e-5; 0 for pure privacy")
    against.add_argument("--calibration", choices=("certified", "stated"), default="certified")
    against.add_argument("--trials", type=int, default=200, help="runs at each value (default 200)")
    against.add_argument("--seed", type=int, default=0, help="reproduces the result bit for bit (default 0)")
    add_output(against)
    against.set_defaults(run=run_measure)


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it: .png, .svg or .pdf")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run_compare(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """The table, the crossings, and the picture if asked for."""
    from dpcheck.cli.main import parse_options
    from dpcheck.report import theory
    from dpcheck.theory.comparison import compare

    found = compare(
        *args.names, over=args.over, measure=args.measure, losses=args.losses, privacy=args.privacy,
        **parse_options(rest),
    )  # fmt: skip
    return show(found, theory.comparison_page(found), args, out, err)


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
    from dpcheck.cli.main import number
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
    found = measure(
        args.solver, (lambda value: made(**{symbol: value})) if symbol in sizes else made(), grid,
        guarantee=guarantee, trials=args.trials, seed=args.seed, calibration=args.calibration,
    )  # fmt: skip
    return show(found, theory.measurement_page(found), args, out, err)


def run_solve(found: Any, symbol: str, values: dict[str, float], out: Console) -> int:
    """`dpcheck bounds ID --solve-for n --error 0.01 ...`."""
    from dpcheck.bounds.language.symbols import TABLE
    from dpcheck.bounds.proving.solving import TARGETS
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
