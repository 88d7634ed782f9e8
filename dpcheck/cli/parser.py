"""The commands and their options. Nothing that works is imported here: each names the function that will run it."""

from __future__ import annotations

import argparse
import math
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcheck import __version__
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.evidence import Kind

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

DESCRIPTION = (
    "Checks the theory of differentially private learning: what a theorem says, what code does, what an attacker sees."
)
CLOSING = (
    "`dpcheck COMMAND --help` has examples of each command. In a pipe every record is one line, its parts separated by "
    "tabs; NO_COLOR is heeded. `dpcheck completion bash` (or zsh, fish) prints a script that completes ids and options."
)
TAKES_SYMBOLS = ("bounds", "compare")  # these take any symbol's name as an option
TAKES_REST = (
    *TAKES_SYMBOLS,
    "replay",
    "rank",
    "need",
)  # these say themselves what is wrong with a word that they do not list
RELATIONS = ("replace_one", "add_remove", "local")
LOSSES = {"logistic": "Logistic", "sigmoid": "Sigmoid", "huber": "Huber", "squared": "Squared"}
TARGET = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")
SHELLS = ("bash", "zsh", "fish")


class HelpLayout(argparse.HelpFormatter):
    """Prose is wrapped, examples are not: a command is copied whole."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        blocks = (block if block.startswith("  ") else textwrap.fill(block, width) for block in text.split("\n"))
        return "\n".join(blocks)

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        if action.nargs == "*" and isinstance(action.metavar, tuple):
            return f"[{' '.join(action.metavar)}]"  # all of them, or none
        return super()._format_args(action, default_metavar)


def build_parser() -> argparse.ArgumentParser:
    """`run` of what is parsed is MODULE:FUNCTION, of this package."""
    parser = argparse.ArgumentParser(
        prog="dpcheck",
        description=DESCRIPTION,
        epilog=CLOSING,
        allow_abbrev=False,
        formatter_class=HelpLayout,
    )
    parser.add_argument("--version", action="version", version=f"dpcheck {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_verify(commands)
    add_audit(commands)
    add_claims(commands)
    add_theory(commands)
    add_rank(commands)
    add_need(commands)
    add_account(commands)
    add_replay(commands)
    add_completion(commands)
    return parser


def add_command(commands: Commands, name: str, run: str, does: str, *examples: str) -> argparse.ArgumentParser:
    """A command with what it does and how it is called; `run` is MODULE:FUNCTION."""
    shown = "".join(f"\n  {example}" for example in examples)
    parser = commands.add_parser(
        name,
        help=does,
        description=f"{does[0].upper()}{does[1:]}.",
        allow_abbrev=False,
        epilog=f"example{'s' if len(examples) > 1 else ''}:{shown}",
        formatter_class=HelpLayout,
    )
    parser.set_defaults(run=run, examples=examples)
    return parser


def add_verify(commands: Commands) -> None:
    """`dpcheck verify`."""
    check = add_command(
        commands,
        "verify",
        "verify_command:run_verify",
        "judge every published statement",
        "dpcheck verify zhang17.lemma9",
        "dpcheck verify --source zhang17 --kind privacy --table",
    )
    add_filters(check)
    check.add_argument("--thorough", action="store_true", help="spend more: more points, trials and cases")
    check.add_argument("--record", action="store_true", help="write the verdicts to the committed record")
    check.add_argument("--json", metavar="FILE", type=Path, help="write all verdicts and evidence to FILE")
    check.add_argument("--table", action="store_true", help="show every claim, not one screen")
    check.add_argument("--html", metavar="FILE", type=Path, help="write a page to search and filter to FILE")
    check.add_argument("--markdown", metavar="FILE", type=Path, help="write the page of all verdicts to FILE")
    check.add_argument("--recorded", action="store_true", help="judge nothing: write --html or --markdown as recorded")
    add_executor(check, "one per core")
    check.add_argument("--fresh", action="store_true", help="judge again what an earlier run has judged")
    check.add_argument("--seed", type=int, default=0, help="the integer all randomness comes from (default 0)")
    check.add_argument("--by-chance", action="store_true", help="only claims whose checks draw samples, as --seed says")
    check.add_argument(
        "--mutants", action="store_true", help="falsify each statement and see whether its checks notice"
    )
    check.add_argument("--sample", type=int, metavar="N", help="with --mutants: a random share of N of them")
    add_quiet(check)


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Which claims: by beginning of id, document, algorithm, kind."""
    parser.add_argument("names", nargs="*", metavar="ID", help="ids or their beginnings: zhang17, zhang17.theorem1")
    parser.add_argument("--source", help="only this document")
    parser.add_argument("--algorithm", help="only this algorithm (file stem)")
    parser.add_argument("--kind", choices=[kind.value for kind in Kind], help="only this kind of claim")


def add_quiet(parser: argparse._ActionsContainer) -> None:
    """For long work."""
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def add_audit(commands: Commands) -> None:
    """`dpcheck audit`."""
    parser = add_command(
        commands,
        "audit",
        "audit_command:run_audit",
        "attack a mechanism and bound its epsilon from below",
        "dpcheck audit my_package.my_module:mechanism --epsilon 1 --replace-one 0 1 --n 10",
        "dpcheck audit my_module:one_run --per-run --epsilon 1 --delta 1e-5 --add-remove --values 0 1",
        "dpcheck audit my_module:mechanism --method replay --epsilon 1 --replace-one 0 1 --hostile",
    )
    parser.add_argument("target", metavar="MODULE:NAME", help="a function (data, rng, trials) -> outputs")
    parser.add_argument("--per-run", action="store_true", help="the function makes ONE run: f(data, rng) or f(data)")
    claim = parser.add_argument_group("the claim (none: measure epsilon at --delta)")
    claim.add_argument("--epsilon", type=float, metavar="E", help="the promised epsilon")
    claim.add_argument("--delta", type=float, metavar="D", help="default 0")
    claim.add_argument("--rho", type=float, metavar="R", help="zero-concentrated DP instead of --epsilon")
    claim.add_argument("--mu", type=float, metavar="M", help="Gaussian DP instead of --epsilon")
    where = parser.add_argument_group("where to attack: a relation to search, or a pair")
    for name in RELATIONS:
        option = "--" + name.replace("_", "-")
        words = "records between LOW and HIGH, or alone with --values"
        where.add_argument(option, nargs="*", type=float, metavar=("LOW", "HIGH"), help=words)
    where.add_argument("--values", nargs="+", type=value, metavar="V", help="records are exactly these: 0 1, or a b c")
    where.add_argument("--n", type=int, metavar="N", help="records (default 10)")
    where.add_argument("--d", type=int, metavar="D", help="columns of a record (default: records are numbers)")
    where.add_argument("--ball", choices=("l1", "l2", "linf"), help="records of at most this norm HIGH")
    where.add_argument("--pair", type=Path, metavar="FILE.npz", help="two arrays: the dataset and its neighbour")
    how = parser.add_argument_group("how")
    how.add_argument(
        "--method",
        choices=("audit", "replay"),
        default="audit",
        help="replay: a few runs under the same noise, and the loss read off (exit code 3 where it cannot be)",
    )
    how.add_argument("--hostile", action="store_true", help="replay NaN, infinite and extreme records, too")
    how.add_argument("--trials", type=whole, default=1_000_000, metavar="N", help="per dataset (default 1e6)")
    how.add_argument("--alpha", type=float, default=0.05, metavar="A", help="false-alarm rate (default 0.05)")
    how.add_argument("--seed", type=int, default=0, metavar="S", help="reproduces the result bit for bit (default 0)")
    how.add_argument("--attack", default="auto", metavar="NAME", help="default: chosen on pilot trials")
    how.add_argument("--assume", choices=("gdp",), help="a stronger bound, if the noise is Gaussian; dropped otherwise")
    how.add_argument("--stop-early", action="store_true", help="stop as soon as the claim is refuted")
    add_executor(how, "one a core if the function is slow")
    how.add_argument("--checkpoint", type=Path, metavar="FILE", help="keep progress here; a rerun resumes")
    how.add_argument("--key", metavar="NAME", help="stands for mechanism and data where a checkpoint cannot read them")
    add_quiet(how)
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="as JSON, to FILE or standard output")
    parser.add_argument("--html", type=Path, metavar="FILE", help="as a page, with the trade-off curve")


def add_claims(commands: Commands) -> None:
    """`dpcheck claims` and `bounds`."""
    listing = add_command(
        commands,
        "claims",
        "claim_commands:run_claims",
        "list the claims with their verdicts, or show one",
        "dpcheck claims --kind privacy",
        "dpcheck claims zhang17.theorem2.pure",
        "dpcheck claims zhang17 | grep REFUTED | cut -f1    # in a pipe: id, verdict, place, what it says",
    )
    add_filters(listing)

    evaluate = add_command(
        commands,
        "bounds",
        "claim_commands:run_bounds",
        "evaluate a claim's right-hand side, or solve it for a symbol; symbols are options: --n 10000 or --n=10000",
        "dpcheck bounds zhang17.lemma2 --n=10000 --L 1 --T 100 --eta 0.1",
        "dpcheck bounds zhang17.theorem2 --solve-for n --error 0.01 --d 50 --eps 1 --L 1 --beta 1 --mu 0.1",
    )
    evaluate.add_argument("id", metavar="ID", help="a claim, or the common beginning of its parts")
    evaluate.add_argument("--solve-for", metavar="SYMBOL", help="the value at which the bound comes down to --error")


def add_theory(commands: Commands) -> None:
    """`dpcheck compare`, `tables` and `measure`."""
    side = add_command(
        commands,
        "compare",
        "theory_commands:run_compare",
        "set bounds side by side; symbols are options: --n 10000 or --n=10000",
        "dpcheck compare dp_svrg dp_gd --n 1e5 --d=50 --eps 1",
        "dpcheck compare dp_svrg dp_gd --plot rates.svg",
        "dpcheck compare --local --n 1e6 --d 64 --eps 1",
    )
    side.add_argument("names", nargs="*", metavar="NAME", help="stems of algorithms or ids of claims")
    side.add_argument("--local", action="store_true", help="local randomisers by exact error, beside a curator's")
    side.add_argument("--over", default="n", metavar="SYMBOL", help="the symbol that curves run over (default n)")
    side.add_argument("--measure", metavar="SYMBOL", help="the error that is bounded, where names share several")
    side.add_argument("--losses", choices=("strong", "convex", "any"), help="the assumption on the losses")
    side.add_argument("--privacy", choices=("pure", "approx"), help="the kind of privacy")
    add_output(side)

    printed = add_command(
        commands,
        "tables",
        "theory_commands:run_tables",
        "regenerate printed comparison tables from claims",
        "dpcheck tables",
        "dpcheck tables dwang20.table3.2",
    )
    printed.add_argument("ids", nargs="*", metavar="ID", help="for example dwang20.table3.2 (default: list them)")
    printed.add_argument("--json", action="store_true", help="as JSON")

    against = add_command(
        commands,
        "measure",
        "theory_commands:run_measure",
        "run a solver and set its error beside its bounds",
        "dpcheck measure outpert_gd --over n 100 200 400 --l2 0.1",
        "dpcheck measure dp_gd --over eps 0.1 0.5 1 2 --trials 50 --plot error.svg",
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
    against.add_argument(
        "--calibration", choices=("certified", "stated"), default="certified", help="of the noise (default certified)"
    )
    against.add_argument("--trials", type=int, default=200, help="runs at each value (default 200)")
    against.add_argument("--seed", type=int, default=0, help="reproduces the result bit for bit (default 0)")
    add_executor(against, "this one")
    add_output(against)


def add_rank(commands: Commands) -> None:
    """`dpcheck rank`."""
    best = add_command(
        commands,
        "rank",
        "rank_command:run_rank",
        "rank the methods whose hypotheses a problem meets, like with like",
        "dpcheck rank --n 1e5 --d 50 --eps 1 --loss logistic",
        "dpcheck rank --n 1e5 --d 50 --eps 1 --strongly-convex 0.01 --plot methods.svg",
    )
    best.add_argument("--n", type=whole, required=True, help="records")
    add_problem(best)
    add_executor(best, "this one")
    add_output(best)


def add_need(commands: Commands) -> None:
    """`dpcheck need`."""
    size = add_command(
        commands,
        "need",
        "rank_command:run_need",
        "say how much data each method needs for an error",
        "dpcheck need --error 0.01 --d 50 --eps 1 --loss logistic",
    )
    size.add_argument("--error", type=float, required=True, metavar="E", help="what the bound is to keep to")
    size.add_argument("--measure", metavar="SYMBOL", help="the error that is meant (default: risks)")
    add_problem(size)
    size.add_argument("--json", action="store_true", help="as JSON")


def add_problem(parser: argparse.ArgumentParser) -> None:
    """A problem without its records; numbers for other symbols of the theory follow as --NAME VALUE."""
    parser.add_argument("--d", type=whole, required=True, help="dimension")
    parser.add_argument("--eps", type=float, required=True, metavar="E", help="the epsilon to keep")
    parser.add_argument("--delta", type=float, default=1e-5, metavar="D", help="default 1e-5; 0 for pure privacy")
    parser.add_argument("--loss", default="logistic", metavar="NAME", help="logistic, huber, hinge, squared or sigmoid")
    parser.add_argument("--strongly-convex", type=float, default=0.0, metavar="MU", help="MU/2·‖w‖² in the loss")
    parser.add_argument("--row-bound", type=float, default=1.0, metavar="R", help="norm of a row at most (default 1)")
    parser.add_argument("--model", default="central", choices=("central", "local", "label"), help="default central")


def add_account(commands: Commands) -> None:
    """`dpcheck account`."""
    spent = add_command(
        commands,
        "account",
        "account_command:run_account",
        "compose noisy answers and read their epsilon",
        "dpcheck account --noise 1.1 --rate 0.01 --steps 1000 --delta 1e-5",
        "dpcheck account --eps 1 --rate 0.01 --steps 1000 --delta 1e-5",
    )
    spent.add_argument("--noise", type=float, metavar="S", help="scale of the noise over the bound on a contribution")
    spent.add_argument("--rate", type=float, metavar="Q", help="share of the records in a step (default 1: all)")
    spent.add_argument("--steps", type=whole, metavar="T", help="answers (default 1)")
    spent.add_argument("--sampling", choices=("poisson", "fixed"), help="how batches are drawn (default poisson)")
    spent.add_argument("--law", choices=("gaussian", "laplace"), help="of the noise (default gaussian)")
    spent.add_argument(
        "--release", action="append", default=[], metavar="NAME=VALUE,...", help="a further one: noise=5,law=laplace"
    )
    spent.add_argument("--delta", type=float, required=True, metavar="D", help="where epsilon is read")
    spent.add_argument("--eps", type=float, metavar="E", help="find the least noise that keeps it")
    spent.add_argument("--relation", choices=("replace-one", "add-remove"), help="default: both")
    spent.add_argument("--json", action="store_true", help="as JSON")


def add_executor(parser: argparse._ActionsContainer, otherwise: str) -> None:
    """Where the work runs; it changes no bit of a result."""
    parser.add_argument("--workers", type=int, metavar="N", help=f"processes (default: {otherwise})")
    parser.add_argument("--executor", metavar="WHERE", help="processes:N, or dask:ADDRESS of a cluster's scheduler")


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it: .png, .svg or .pdf")
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_quiet(parser)


def add_replay(commands: Commands) -> None:
    """`dpcheck replay`."""
    again = add_command(
        commands,
        "replay",
        "claim_commands:run_replay",
        "show a counterexample again",
        "dpcheck replay zhang17.lemma9 --check symbolic eps=2 q=0.1",
    )
    again.usage = "dpcheck replay [-h] ID --check KIND NAME=VALUE [NAME=VALUE ...]"
    again.add_argument("id", metavar="ID", help="the claim; the point where it fails follows, as NAME=VALUE")
    again.add_argument("--check", required=True, metavar="KIND", help="the kind of check that found it")


def add_completion(commands: Commands) -> None:
    """`dpcheck completion`."""
    shell = add_command(
        commands,
        "completion",
        "completion:run_completion",
        "print a script that completes commands, options and ids",
        "dpcheck completion bash > ~/.local/share/bash-completion/completions/dpcheck",
        "dpcheck completion zsh > ~/.zfunc/_dpcheck    # with fpath+=~/.zfunc before compinit in ~/.zshrc",
        "dpcheck completion fish > ~/.config/fish/completions/dpcheck.fish",
    )
    shell.add_argument("shell", choices=SHELLS, help="whose script")


# Symbols as options --------------------------------------------------------------------------------
def without_symbols(parser: argparse.ArgumentParser, words: list[str]) -> tuple[list[str], list[str]]:
    """The words of a command line, and apart from them the options that the command does not list: symbols.

    --n 10000 and --n=10000 are the same, and may stand before or after names.
    """
    if not words or words[0] not in TAKES_SYMBOLS:
        return words, []
    known = parser_of(parser, words[0])._option_string_actions
    kept, symbols = [], []
    left = iter(words)
    for word in left:
        name, sign, text = word.partition("=")
        if not name.startswith("--") or name in known or name == "--":
            kept.append(word)
        else:
            symbols += [name, text] if sign else [name, *([after] if (after := next(left, None)) is not None else [])]
    return kept, symbols


def target_first(words: list[str]) -> list[str]:
    """MODULE:NAME of an audit before its options, which may take as many words as follow."""
    targets = [i for i, word in enumerate(words) if TARGET.fullmatch(word)]
    if words[:1] != ["audit"] or len(targets) != 1:
        return words
    at = targets[0]
    return ["audit", words[at], *words[1:at], *words[at + 1 :]]


def parser_of(parser: argparse.ArgumentParser, command: str) -> argparse.ArgumentParser:
    """That of one command."""
    found: argparse.ArgumentParser = commands_of(parser)[command]
    return found


def commands_of(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """The parser of each command."""
    found: Any = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return dict(found.choices)


def parse_options(rest: list[str]) -> dict[str, float]:
    """--n 10000 --eps=1 as numbers by name."""
    rest = [part for word in rest for part in (word.split("=", 1) if word.startswith("--") else [word])]
    if len(rest) % 2 or any(not name.startswith("--") for name in rest[::2]):
        raise InvalidInput("options", " ".join(rest), "pairs of --NAME VALUE", "For example --n 10000 --eps=1.")
    return {name[2:]: number(name[2:], text) for name, text in zip(rest[::2], rest[1::2], strict=True)}


# Numbers -------------------------------------------------------------------------------------------
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


def value(text: str) -> float | str:
    """A record's value: a number where it reads as one, else a word."""
    try:
        return float(text)
    except ValueError:
        return text
