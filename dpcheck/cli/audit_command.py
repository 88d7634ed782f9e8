"""`dpcheck audit pkg.module:mechanism`: attack a mechanism from the command line.

Progress and errors go to standard error, the result to standard output; Ctrl-C keeps what is known.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from dpcheck.audits import AuditResult, Neighbours, Replayed, add_remove, audit, one_user, per_run, replace_one, replay
from dpcheck.audits.trials.watching import STAGES, Watch
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import REPLACE_ONE, ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, Relation
from dpcheck.cli.executor_option import executor_asked
from dpcheck.report.audit_page import audit_page
from dpcheck.report.layout import hanging, tabbed
from dpcheck.verdicts.written import write_whole

OK, VIOLATED, UNSEEN, INTERRUPTED = 0, 1, 3, 130
MADE_BY: dict[str, Callable[..., Neighbours]] = {
    "replace_one": replace_one,
    "add_remove": add_remove,
    "local": one_user,
}


def run_audit(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Exit 0 not violated, 1 violated, 3 a replay that does not see through, 130 stopped."""
    options = options_of(args)
    mechanism = found(args.target)
    if args.method == "replay":
        return run_replay(per_run(mechanism) if args.per_run else mechanism, options, args, out)
    watch = Watch(args.trials)
    try:
        with executor_asked(args) as executor, watch:
            run = per_run(mechanism) if args.per_run else mechanism
            result = audit(run, **options, executor=executor, progress=watch)
    except KeyboardInterrupt:
        return stopped(watch, args, out, err)
    show(result, args, out)
    if any(message.startswith("stopped by hand") for message in result.health):
        return kept(args, err)
    return VIOLATED if result.violated else OK


def run_replay(mechanism: Any, options: dict[str, Any], args: argparse.Namespace, out: Console) -> int:
    """The same under the same noise."""
    result = replay(
        mechanism,
        options["pair"],
        options["guarantee"],
        neighbours=options["neighbours"],
        seed=args.seed,
        hostile=args.hostile,
    )
    show(result, args, out)
    return VIOLATED if result.violated else OK if result.kept else UNSEEN


def stopped(watch: Watch, args: argparse.Namespace, out: Console, err: Console) -> int:
    """Stopped before the engine had a result to give: say how far it came."""
    known = {"interrupted": True, "stage": watch.name, "trials": watch.done, "epsilon_lower": watch.bound}
    if args.json is not None:
        write_json(json.dumps(known), args.json, out)
    if args.json != "-":
        where = f" ({STAGES[watch.name]})" if watch.name in STAGES else ""
        text = f"stopped after {watch.done} of {watch.total} trials{where}, before any bound could be certified"
        out.print(text)
    return kept(args, err)


def kept(args: argparse.Namespace, err: Console) -> int:
    """Say where the rest is to be had."""
    if args.checkpoint is not None:
        err.print(f"kept in {args.checkpoint}; the same command goes on from there", style="yellow")
    return INTERRUPTED


def show(result: AuditResult | Replayed, args: argparse.Namespace, out: Console) -> None:
    """To the terminal and the files that were asked for."""
    if args.json is not None:
        write_json(result.to_json(), args.json, out)
    if args.html is not None:
        write_whole(args.html.resolve(), audit_page(args.target, result, replay=args.asked))
    if args.json != "-":
        for label, text in result.lines():
            out.print(hanging(f"{label:<11}", text, 11) if out.is_terminal else tabbed(label, text))


def write_json(text: str, where: str, out: Console) -> None:
    """To a file, or to standard output for '-'."""
    if where == "-":
        out.file.write(text + "\n")
    else:
        write_whole(Path(where).resolve(), text + "\n")


def found(target: str) -> Any:
    """The mechanism that MODULE:NAME names; the current folder is importable."""
    module_name, sign, path = target.partition(":")
    if not (sign and module_name and path):
        raise InvalidInput("target", target, "MODULE:NAME", "For example my_pkg.my_module:mechanism.")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        value = importlib.import_module(module_name)
    except Exception as error:
        limit = f"importable from {here} ({type(error).__name__}: {error})"
        raise InvalidInput("module", module_name, limit, "Check the name, or run from its folder.") from error
    for name in path.split("."):
        try:
            value = getattr(value, name)
        except AttributeError:
            raise InvalidInput("name", name, f"defined in {module_name}", "Check its spelling.") from None
    if not callable(value):
        raise InvalidInput(target, value, "a function (data, rng, trials) -> outputs", "Name the function itself.")
    return value


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `audit`, checked before anything is imported or run."""
    for path in (args.html, args.checkpoint, None if args.json in (None, "-") else Path(args.json)):
        if path is not None and not path.resolve().parent.is_dir():
            raise InvalidInput("output file", str(path), "in a folder that exists", "Create the folder first.")
    if args.hostile and args.method != "replay":
        raise InvalidInput("--hostile", "given", "beside --method replay", "Add --method replay, or leave it out.")
    neighbours = neighbours_of(args)
    relation = REPLACE_ONE if neighbours is None else neighbours.relation
    guarantee = guarantee_of(args, relation)
    pair = None if args.pair is None else load_pair(args.pair)
    if pair is None and neighbours is None:
        remedy = "Add --replace-one 0 1 --n 10, or --pair file.npz."
        raise InvalidInput("where to attack", "not given", "a relation or a pair", remedy)
    names = ("alpha", "seed", "attack", "assume", "stop_early", "checkpoint", "key")
    same = {name: getattr(args, name) for name in names}
    delta = args.delta if args.epsilon is None else None
    return {
        **same,
        "pair": pair,
        "neighbours": neighbours,
        "guarantee": guarantee,
        "delta": delta,
        "max_trials": args.trials,
    }


def neighbours_of(args: argparse.Namespace) -> Neighbours | None:
    """The relation that was asked for, if any."""
    asked = [name for name in MADE_BY if getattr(args, name) is not None]
    if len(asked) > 1:
        raise InvalidInput("relation", " and ".join(asked), "one of them", "Run one audit for each.")
    if not asked and args.values is not None:
        raise InvalidInput("--values", args.values, "beside a relation", "Add --replace-one, --add-remove or --local.")
    if not asked:
        return None
    size = {} if asked[0] == "local" else {"n": 10 if args.n is None else args.n}
    return MADE_BY[asked[0]](**domain_of(args, asked[0]), **size)


def domain_of(args: argparse.Namespace, relation: str) -> dict[str, Any]:
    """The records that the relation is over: between LOW and HIGH, or the values that are listed."""
    ends, option = getattr(args, relation), "--" + relation.replace("_", "-")
    if args.values is None:
        if len(ends) != 2:
            shown = " ".join(f"{end:g}" for end in ends) or "given alone"
            raise InvalidInput(option, shown, "LOW HIGH, or given alone with --values", f"For example {option} 0 1.")
        return {"low": ends[0], "high": ends[1], "d": args.d, "ball": args.ball}
    beside = [name for name, value in ((f"{option} LOW HIGH", ends), ("--d", args.d), ("--ball", args.ball)) if value]
    if beside:
        raise InvalidInput("--values", f"given beside {' and '.join(beside)}", "the whole domain", "Leave one out.")
    return {"values": args.values}


def guarantee_of(args: argparse.Namespace, relation: Relation) -> Guarantee | None:
    """The claim that was made, if any."""
    asked = [name for name in ("epsilon", "rho", "mu") if getattr(args, name) is not None]
    if len(asked) > 1:
        raise InvalidInput("claim", " and ".join(asked), "one of them", "Run one audit for each.")
    if not asked:
        return None
    if asked[0] == "rho":
        return ZCDP(args.rho, relation=relation)
    if asked[0] == "mu":
        return GaussianDP(args.mu, relation=relation)
    if not args.delta:
        return PureDP(args.epsilon, relation=relation)
    return ApproxDP(args.epsilon, args.delta, relation=relation)


def load_pair(path: Path) -> tuple[Any, Any]:
    """The two arrays of an .npz file: `first` and `second`, or the only two there are."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, AttributeError) as error:
        limit = f"an .npz file of plain arrays ({error})"
        raise InvalidInput("pair", str(path), limit, "Write it with numpy.savez(file, first=a, second=b).") from error
    if {"first", "second"} <= set(arrays):
        return arrays["first"], arrays["second"]
    if len(arrays) != 2:
        limit = "a file of two arrays, or of ones named first and second"
        raise InvalidInput("pair", f"{path} with {sorted(arrays)}", limit, "Write it with numpy.savez(file, a, b).")
    one, two = arrays.values()
    return one, two
