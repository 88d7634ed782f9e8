"""One claim over the life of a project: evidence of many visits multiplies until the claim falls, or never does.

Each visit bets against the claim with fresh runs (sequential.py). A pilot from the claim's own seed chooses the event,
so it is the same one at every visit as long as the mechanism is; bets are fitted to all earlier visits. The wealth is
carried along: for a true claim it ever passes 1/alpha, however many visits there are, with probability at most alpha
(Ville). So a violation too small for one visit falls in time, and nobody pays for looking often.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from dpcheck.audits.outputs.encoding import Encoding
from dpcheck.audits.pairs.neighbours import Pair
from dpcheck.audits.past import REMEDY, Past
from dpcheck.audits.result import AuditResult
from dpcheck.audits.scores.attacks import aimed
from dpcheck.audits.sequential import LADDER, SHRINK, Wager, refitted, result_of
from dpcheck.audits.statistics import independence
from dpcheck.audits.statistics.event_choice import Target
from dpcheck.audits.trials.executor import Runner, chunk_size, chunks
from dpcheck.audits.trials.pilot import run_pilot
from dpcheck.audits.trials.plan import TEST, AuditPlan
from dpcheck.bounds.language.errors import InvalidInput

LEAST_BATCH = 64  # runs between two fits of the bets


def audit_again(plan: AuditPlan, pair: Pair, spent: int, past: Past) -> AuditResult:
    """One more visit. Its result speaks of all visits, and its `past` is what the next one takes."""
    if plan.guarantee is None:
        raise InvalidInput("past", past, "None without a guarantee", "Pass the guarantee to be tested.")
    runner = plan.runner(pair)
    pilot = run_pilot(plan, runner, None, plan.max_trials - spent)
    ahead = plan.max_trials - spent - pilot.trials
    attack = aimed(plan.attack, plan.mechanism, runner.pair)
    wager = refitted(plan, attack, None, [pilot.first, pilot.second], ahead, _goals(plan, past))
    learned = wager.cells.copy()
    wager.settled = True
    wager.cells = learned + past.counts()
    wager.met = _met(past.counts())
    if past.wealth:
        wager.wealth, wager.highest = np.array(past.wealth).reshape(wager.wealth.shape), np.array(past.highest)
    runs = _bet(wager, replace(plan, seed=fresh_seed(plan.seed, past.visits)).runner(pair), pilot.encoding, plan, ahead)
    wager.cells = wager.cells - learned
    after = Past(
        past.visits + 1,
        wager.goal.delta,
        tuple(wager.cells.ravel().tolist()),
        tuple(wager.wealth.ravel().tolist()),
        tuple(wager.highest.tolist()),
    )
    health = pilot.health
    if not any(message.startswith(independence.NAME) for message in health):
        *hits, sizes = np.array(runs).T
        dependent = independence.complaint_of_counts(np.stack(hits, axis=1), sizes)
        health += () if dependent is None else (dependent,)
    found = result_of(plan, pair, wager, pilot.encoding, spent + pilot.trials + after.runs, health, False)
    often = "1 visit" if after.visits == 1 else f"{after.visits} visits"
    return replace(found, method=f"betting over {often}, {after.runs} runs", past=after)


def fresh_seed(seed: int, visits: int) -> int:
    """Of the next visit: no two visits share a run, and one that is repeated has the same."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {visits}".encode(), digest_size=8).digest(), "big")


def _goals(plan: AuditPlan, past: Past) -> list[Target]:
    """Bets of all visits are against one point of the claim's curve: the first chooses it."""
    goals = [goal for goal in plan.goals if past.delta is None or goal.delta == past.delta]
    rungs = len(LADDER) * len(SHRINK)
    if not goals or (past.visits and (len(past.wealth) != rungs or len(past.highest) != len(LADDER))):
        raise InvalidInput("past", past, f"of visits to {plan.guarantee}", REMEDY)
    return goals


def _met(cells: np.ndarray) -> np.ndarray:
    """On each dataset: hits of A, hits of B and runs."""
    return np.stack([cells[:, 1, :].sum(axis=1), cells[:, :, 1].sum(axis=1), cells.sum(axis=(1, 2))], axis=1)


def _bet(wager: Wager, runner: Runner, encoding: Encoding, plan: AuditPlan, trials: int) -> list[tuple[int, int, int]]:
    """Bet batch by batch until the claim has fallen: the hits of A on each dataset and the runs, batch by batch."""
    calls, done, raw = [], 0, [np.zeros(0), np.zeros(0)]
    size = chunk_size(max(plan.max_trials, 32 * LEAST_BATCH), encoding.width)
    for chunk, outputs in runner.results(chunks(TEST, trials, size), None):
        raw[chunk.side] = encoding(outputs)
        if chunk.side == 0:
            continue
        before = wager.met.copy()
        fell = wager.bet(raw[0], raw[1], late=True)
        now = (wager.met - before).astype(int)
        calls.append((int(now[0, 0]), int(now[1, 0]), int(now[0, 2])))
        done += chunk.trials
        if fell is not None:
            break
        if plan.progress is not None:
            plan.progress(plan.max_trials - trials + done, plan.max_trials, wager.bound())
    return calls
