"""Promises of every solver about its runs: seeds, trials, refusals, results. Each fails with what it saw."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from dpcheck.bounds.language.errors import InvalidInput, MixedRelations, shown
from dpcheck.bounds.language.guarantees import RELATIONS, REPLACE_ONE, ApproxDP, RenyiDP
from dpcheck.kernels import blocks
from dpcheck.kernels.running import run
from dpcheck.settings import limits_of
from dpcheck.solver import Calibration, undecided
from dpcheck.testing.movement import Broken, must
from dpcheck.testing.subjects import Subject


# Seeds and trials ------------------------------------------------------------------------------------
def same_seed_same_bits(subject: Subject) -> None:
    """The same seed gives the same bits, traced or not."""
    first = subject.solved(7).w
    for again in (subject.solved(7), subject.solved(np.random.SeedSequence(7)), subject.solved(7, trace=True)):
        must(np.array_equal(again.w, first), "two runs with seed 7 differ")
    must(subject.solved(7).trace is None, "a trace that nobody asked for")
    first, again = (subject.solved(np.random.default_rng(7)).w for _ in range(2))
    must(np.array_equal(again, first), "two runs with the same generator differ")


def other_seeds_differ(subject: Subject) -> None:
    """Other seeds give other outputs, and a generator moves on."""
    rng = np.random.default_rng(subject.seed)
    runs = [subject.solved(seed, 500).w for seed in (1, 2, rng, rng)]
    for one, other in itertools.combinations(runs, 2):
        must(not np.array_equal(one, other), "500 trials are the same under two seeds")


def trials_are_independent(subject: Subject) -> None:
    """Trials are independent of the one before, and of their fellows in the block before."""
    done, method = subject.ready()
    block, most = method.block(subject.data), 2 * blocks.LARGEST_BLOCK
    w = subject.solver.performed(subject.data, done, subject.seed, min(2 * block, most)).w
    lags = [1, block] if 2 * block <= most else [1]
    for lag in lags:
        levels = [rank_correlation(column[:-lag], column[lag:]) for column in w.T]
        must(min(levels) * len(levels) * len(lags) > subject.alpha, f"trials {lag} apart are correlated")


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """The p-value of Spearman's test; a constant tells nothing."""
    if first.min() == first.max() or second.min() == second.max():
        return 1.0
    return float(stats.spearmanr(first, second).pvalue)


def blocks_run_anywhere(subject: Subject) -> None:
    """A block of trials has the same bits alone, after others, and in a copy of the mechanism."""
    (done, method), data = subject.ready(), subject.data
    block = method.block(data)
    asked: dict[str, Any] = {"seed": subject.seed, "trials": min(block, blocks.LARGEST_BLOCK) + 3}
    last = (asked["trials"] - 1) // block
    whole = run(method, done.released, data, **asked).w
    alone = run(subject.ready()[1], done.released, data, **asked, blocks=range(last, last + 1)).w
    must(np.array_equal(alone, whole[last * block :]), "the last block alone has other bits")
    mechanism = subject.mechanism()
    one, other = (m(data, np.random.default_rng(4), 7) for m in (mechanism, copied(mechanism)))
    must(np.array_equal(one, other), "a pickled mechanism has other bits")


# Refusals --------------------------------------------------------------------------------------------
def refuses_bad_settings(subject: Subject) -> None:
    """Every setting has a limit, and what the limit refuses is refused by name."""
    kind = type(subject.solver)
    limits = limits_of(kind)
    for setting in fields(kind):
        must(setting.name in limits, f"{setting.name} says not what it allows (dpcheck/settings.py)")
        bad = limits[setting.name].refuses + (() if setting.default is None else (None,))
        for value in bad:
            refused(partial(replace, subject.solver, **{setting.name: value}), setting.name, value)


def refuses_bad_calls(subject: Subject) -> None:
    """Bad trials, seeds, calibrations, guarantees and relations are refused by name."""
    solver, data, promised = subject.solver, subject.data, subject.guarantee

    def call(**changes: Any) -> Any:
        asked = {"guarantee": promised, "rng": 0, **changes}
        return lambda: solver.solution(data, **asked)

    for trials in (0, -1, 1.5, True):
        refused(call(trials=trials), "trials", trials)
    for seed in (-1, 1.5, "0"):
        refused(call(rng=seed), "seed", seed)
    refused(call(calibration="guessed"), "calibration", "guessed")
    refused(call(guarantee=1.0), "guarantee", 1.0)
    for nothing in (ApproxDP(0.0, 1e-2, relation=promised.relation), RenyiDP(2.0, 0.0, relation=promised.relation)):
        refused(call(guarantee=nothing), "eps > 0", nothing)
    for relation in (*RELATIONS, replace(REPLACE_ONE, size=2)):
        if relation not in solver.relations:
            refused(call(guarantee=replace(promised, relation=relation)), "relation", relation, MixedRelations)


def refused(call: Callable[[], Any], word: str, value: Any, error: type[InvalidInput] = InvalidInput) -> None:
    """Fail unless the call raises the typed error and names what it is about."""
    try:
        call()
    except error as raised:
        must(word in str(raised), f"the refusal of {shown(value)} does not name {word}: {raised}")
    except Exception as raised:
        raise Broken(f"{word}={shown(value)} raises {type(raised).__name__}, not {error.__name__}") from raised
    else:
        raise Broken(f"{word}={shown(value)} is accepted")


# Results ---------------------------------------------------------------------------------------------
def rests_on_names_what_is_assumed(subject: Subject) -> None:
    """Claims and hypotheses that nothing decides are listed in rests_on."""
    solver, data = subject.solver, subject.pair[0]
    plan = solver.plan(data, subject.guarantee)
    calibrations: tuple[Calibration, ...] = ("certified", "stated")
    for calibration in calibrations:
        try:
            listed = solver.solution(data, subject.guarantee, 0, calibration=calibration).rests_on
            claims = (
                solver.certifying(data, plan)
                if calibration == "certified"
                else solver.stated(data, subject.guarantee, plan)[1]
            )
        except InvalidInput:
            continue
        due = [word for claim in claims for word in (claim.id, *undecided(claim, data))]
        missing = [word for word in due if word not in listed]
        must(not missing, f"{calibration}: {missing} are not listed")
        must(calibration == "stated" or any(word.startswith("account: ") for word in listed), "no account is listed")


def results_pickle(subject: Subject) -> None:
    """Solvers and solutions survive pickling."""
    found = subject.solved(3, trace=True)
    copy = copied(found)
    must(np.array_equal(copy.w, found.w), "the outputs of the copy differ")
    must((copy.rests_on, copy.guarantee) == (found.rests_on, found.guarantee), "the copy promises something else")
    must(copied(subject.solver) == subject.solver, "the copy has other settings")


def copied(value: Any) -> Any:
    """What another process would get."""
    try:
        return pickle.loads(pickle.dumps(value))
    except Exception as failed:
        raise Broken(f"{type(value).__name__} does not pickle: {failed}") from failed
