"""The commands and their options. Nothing that works is imported here: each names the function that will run it."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.evidence import Kind

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

DESCRIPTION = "The command line: verify, audit, claims, bounds, compare, tables, measure, replay."
TAKES_REST = ("bounds", "compare", "replay")  # these take any symbol's name
RELATIONS = ("replace_one", "add_remove", "local")
LOSSES = {"logistic": "Logistic", "sigmoid": "Sigmoid", "huber": "Huber", "squared": "Squared"}


def build_parser() -> argparse.ArgumentParser:
    """`run` of what is parsed is MODULE:FUNCTION, of this package."""
    parser = argparse.ArgumentParser(prog="dpcheck", description=DESCRIPTION, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_verify(commands)
    add_audit(commands)
    add_claims(commands)
    add_theory(commands)
    add_replay(commands)
    return parser


def add_verify(commands: Commands) -> None:
    """`dpcheck verify`."""
    check = commands.add_parser("verify", help="judge every published statement", allow_abbrev=False)
    add_filters(check)
    check.add_argument("--thorough", action="store_true", help="spend more: more points, trials and cases")
    check.add_argument("--record", action="store_true", help="write the verdicts to the committed record")
    check.add_argument("--json", metavar="FILE", type=Path, help="write all verdicts and evidence to FILE")
    check.add_argument("--table", action="store_true", help="show every claim, not one screen")
    check.add_argument("--html", metavar="FILE", type=Path, help="write a page to search and filter to FILE")
    check.add_argument("--markdown", metavar="FILE", type=Path, help="write the page of all verdicts to FILE")
    check.add_argument("--recorded", action="store_true", help="judge nothing: write --html or --markdown as recorded")
    check.add_argument("--workers", type=int, metavar="N", help="processes (default: one per core)")
    check.add_argument("--fresh", action="store_true", help="judge again what an earlier run has judged")
    check.add_argument("--seed", type=int, default=0, help="the integer all randomness comes from (default 0)")
    check.add_argument("--by-chance", action="store_true", help="only claims whose checks draw samples, as --seed says")
    check.add_argument(
        "--mutants", action="store_true", help="falsify each statement and see whether its checks notice"
    )
    check.add_argument("--sample", type=int, metavar="N", help="with --mutants: a random share of N of them")
    check.set_defaults(run="verify_command:run_verify")


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Which claims: by beginning of id, document, algorithm, kind."""
    parser.add_argument("names", nargs="*", metavar="ID", help="ids or their beginnings: zhang17, zhang17.theorem1")
    parser.add_argument("--source", help="only this document")
    parser.add_argument("--algorithm", help="only this algorithm (file stem)")
    parser.add_argument("--kind", choices=[kind.value for kind in Kind], help="only this kind of claim")


def add_audit(commands: Commands) -> None:
    """`dpcheck audit`."""
    parser = commands.add_parser(
        "audit", help="attack a mechanism: dpcheck audit my_pkg.my_module:mechanism --epsilon 1", allow_abbrev=False
    )
    parser.add_argument("target", metavar="MODULE:NAME", help="a function (data, rng, trials) -> outputs")
    parser.add_argument("--per-run", action="store_true", help="the function makes ONE run: f(data, rng) or f(data)")
    claim = parser.add_argument_group("the claim (none: measure epsilon at --delta)")
    claim.add_argument("--epsilon", type=float, metavar="E")
    claim.add_argument("--delta", type=float, metavar="D", help="default 0")
    claim.add_argument("--rho", type=float, metavar="R", help="zero-concentrated DP instead of --epsilon")
    claim.add_argument("--mu", type=float, metavar="M", help="Gaussian DP instead of --epsilon")
    where = parser.add_argument_group("where to attack: a relation to search, or a pair")
    for name in RELATIONS:
        option = "--" + name.replace("_", "-")
        where.add_argument(option, nargs=2, type=float, metavar=("LOW", "HIGH"), help="records between LOW and HIGH")
    where.add_argument("--n", type=int, metavar="N", help="records (default 10)")
    where.add_argument("--d", type=int, metavar="D", help="columns of a record (default: records are numbers)")
    where.add_argument("--ball", choices=("l1", "l2", "linf"), help="records of at most this norm HIGH")
    where.add_argument("--pair", type=Path, metavar="FILE.npz", help="two arrays: the dataset and its neighbour")
    how = parser.add_argument_group("how")
    how.add_argument("--trials", type=whole, default=1_000_000, metavar="N", help="per dataset (default 1e6)")
    how.add_argument("--alpha", type=float, default=0.05, metavar="A", help="false-alarm rate (default 0.05)")
    how.add_argument("--seed", type=int, default=0, metavar="S", help="reproduces the result bit for bit (default 0)")
    how.add_argument("--attack", default="auto", metavar="NAME", help="default: chosen on pilot trials")
    how.add_argument("--assume", choices=("gdp",), help="a stronger bound, if the noise is Gaussian; dropped otherwise")
    how.add_argument("--stop-early", action="store_true", help="stop as soon as the claim is refuted")
    how.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core if the function is slow)")
    how.add_argument("--checkpoint", type=Path, metavar="FILE", help="keep progress here; a rerun resumes")
    how.add_argument("--key", metavar="NAME", help="stands for mechanism and data where a checkpoint cannot read them")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="as JSON, to FILE or standard output")
    parser.add_argument("--html", type=Path, metavar="FILE", help="as a page, with the trade-off curve")
    parser.set_defaults(run="audit_command:run_audit")


def add_claims(commands: Commands) -> None:
    """`dpcheck claims` and `bounds`."""
    listing = commands.add_parser("claims", help="list the claims, or show one", allow_abbrev=False)
    add_filters(listing)
    listing.set_defaults(run="claim_commands:run_claims")

    evaluate = commands.add_parser(
        "bounds", help="evaluate a claim: dpcheck bounds ID --n 10000 --eps 1 ...", allow_abbrev=False
    )
    evaluate.add_argument("id")
    evaluate.add_argument("--solve-for", metavar="SYMBOL", help="the value at which the bound comes down to --error")
    evaluate.set_defaults(run="claim_commands:run_bounds")


def add_theory(commands: Commands) -> None:
    """`dpcheck compare`, `tables` and `measure`."""
    side = commands.add_parser(
        "compare", help="bounds side by side: dpcheck compare dp_svrg dp_gd --n 1e5 --d 50 --eps 1", allow_abbrev=False
    )
    side.add_argument("names", nargs="+", metavar="NAME", help="stems of algorithms or ids of claims")
    side.add_argument("--over", default="n", metavar="SYMBOL", help="the symbol that curves run over (default n)")
    side.add_argument("--measure", metavar="SYMBOL", help="the error that is bounded, where names share several")
    side.add_argument("--losses", choices=("strong", "convex", "any"), help="the assumption on the losses")
    side.add_argument("--privacy", choices=("pure", "approx"), help="the kind of privacy")
    add_output(side)
    side.set_defaults(run="theory_commands:run_compare")

    printed = commands.add_parser(
        "tables", help="printed comparison tables, regenerated from claims", allow_abbrev=False
    )
    printed.add_argument("ids", nargs="*", metavar="ID", help="for example dwang20.table3.2 (default: list them)")
    printed.add_argument("--json", action="store_true", help="as JSON")
    printed.set_defaults(run="theory_commands:run_tables")

    against = commands.add_parser(
        "measure",
        help="measured error against bounds: dpcheck measure outpert_gd --over n 100 200 400",
        allow_abbrev=False,
    )
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
    against.set_defaults(run="theory_commands:run_measure")


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it: .png, .svg or .pdf")
    parser.add_argument("--json", action="store_true", help="as JSON")


def add_replay(commands: Commands) -> None:
    """`dpcheck replay`."""
    again = commands.add_parser(
        "replay", help="show a counterexample again: dpcheck replay ID --check KIND NAME=VALUE ...", allow_abbrev=False
    )
    again.add_argument("id")
    again.add_argument("--check", required=True, help="the kind of check that found it")
    again.set_defaults(run="claim_commands:run_replay")


# Numbers -------------------------------------------------------------------------------------------
def parse_options(rest: list[str]) -> dict[str, float]:
    """--n 10000 --eps 1 as numbers by name."""
    if len(rest) % 2 or any(not name.startswith("--") for name in rest[::2]):
        raise InvalidInput("options", " ".join(rest), "pairs of --NAME VALUE", "For example --n 10000 --eps 1.")
    return {name[2:]: number(name[2:], text) for name, text in zip(rest[::2], rest[1::2], strict=True)}


def number(name: str, text: str) -> float:
    """A finite number, whole ones as int (seeds are), or the sentence that says which was not one."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    raise InvalidInput(name, text, "a finite number", f"For example {name}=1.")


def whole(text: str) -> int:
    """1000000, 1e6 and 1_000_000 are the same number."""
    value = float(text.replace("_", ""))
    if not value.is_integer():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number")
    return int(value)
