"""Promises of every solver about its privacy: noise, sensitivity, audits, densities. Each fails with what it saw."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
from scipy import stats

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput, shown
from dpcheck.bounds.language.guarantees import ADD_REMOVE, LOCAL_ATTRIBUTE
from dpcheck.bounds.privacy.laws import Gaussian, L2Laplace, Laplace, Selected, WishartDifference
from dpcheck.bounds.privacy.release import Release
from dpcheck.kernels.exact_wisharts import dimension
from dpcheck.kernels.noisy_answers import part_of
from dpcheck.problems.problem import Problem
from dpcheck.settings import KEY
from dpcheck.solver import Calibrated, Solver
from dpcheck.testing.movement import Broken, differing, movement, must
from dpcheck.testing.subjects import Subject, Untried

ADDED = (Gaussian, Laplace, L2Laplace, WishartDifference)  # laws whose noise is looked at
REPEATED, REPEATED_TO = 8, 1e-6  # trials whose steps are repeated, and how exactly, relative to noise and output
BANDS = (0.5, 1.0, 2.0)  # ratios up to these enter the identity of densities, which makes it one of bounded numbers


# Noise -----------------------------------------------------------------------------------------------
def stated_noise_is_the_claims(subject: Subject) -> None:
    """The published noise is what a named claim's own formula gives."""
    solver, data = subject.solver, subject.pair[0]
    given: list[tuple[str, float]] = []
    evaluate = Claim.evaluate

    def noted(claim: Claim, **values: Any) -> Any:
        found = evaluate(claim, **values)
        given.append((claim.id, float(found)))
        return found

    try:
        with mock.patch.object(Claim, "evaluate", noted):
            solver.must_suit(data, subject.guarantee, "stated")
            released, claims = solver.stated(data, subject.guarantee, solver.plan(data, subject.guarantee))
    except InvalidInput as refusal:
        raise Untried(f"no published noise here: {refusal}") from None
    must(claims, "no claim is named")
    known = {claim.id for claim in claims}
    for part in released.parts:
        scale = float(part.law.scale)
        forms = [form for name, value in given if name in known for form in as_noise(value, part)]
        if scale > 0:  # an algorithm that was printed without noise has no formula for it
            must(np.isclose(scale, forms, rtol=1e-9).any(), f"noise {scale:g} is no value of {', '.join(known)}")


def as_noise(value: float, part: Any) -> tuple[float, ...]:
    """A claim's value as a scale of noise: it is one, its square, or the epsilon of a selection."""
    selection = (2 * float(part.sensitivity) / value,) if isinstance(part.law, Selected) and value else ()
    return (value, float(np.sqrt(abs(value))), *selection)


def certified_noise_is_the_accounts(subject: Subject) -> None:
    """Certified noise is what the account of the release gives; no setting scales it."""
    for solver in (subject.solver, *variations(subject.solver)):
        data, promised = subject.pair[0], subject.guarantee
        try:
            plan = solver.plan(data, promised)
            honest = solver.release(data, plan).calibrated(promised)
            done = solver.calibrated(data, promised)
        except InvalidInput:
            continue  # a setting that this guarantee or these data do not go with
        for part, due in zip(done.released.parts, honest.parts, strict=True):
            least = float(due.law.scale) * (1 - 1e-9)
            must(float(part.law.scale) >= least, f"{solver}: noise {part.law.scale:g}, the account asks for {least:g}")
        must_have_its_noise(replace(subject, solver=solver), done)


def variations(solver: Solver) -> Iterator[Solver]:
    """The solver with one setting changed, for each that can be."""
    for setting in fields(solver):
        value = getattr(solver, setting.name)
        limit = setting.metadata.get(KEY)
        tries = (0.5, 2) if value is None else (not value,) if isinstance(value, bool) else halved(value)
        for other in tries:
            if limit is None or other == value:
                continue
            try:
                changed = replace(solver, **{setting.name: other})
            except InvalidInput:
                continue
            yield changed
            break


def halved(value: Any) -> tuple[Any, ...]:
    """Numbers near a number; nothing for what is none."""
    if not isinstance(value, int | float):
        return ()
    return (value // 2, value + 1) if isinstance(value, int) else (value / 2, value + 1)


def must_have_its_noise(subject: Subject, done: Calibrated) -> None:
    """Fail where answers of a run do not have the noise that the release says: the first of each part, and the last."""
    data, k = subject.pair[0], 1000
    parts = done.released.parts
    if not any(isinstance(part.law, ADDED) for part in parts):
        return
    trace = subject.solver.performed(data, done, subject.seed, k, trace=True).trace
    if trace is None:
        raise Broken("no trace on request")
    method = subject.solver.method(data, done.plan, done.released)
    asked, state = method.asked_of(data, k), method.start_with(k, trace.coins)
    known: set[int] = set()
    for t in range(method.steps):
        part = part_of(done.released, t)
        if id(part) not in known or t == method.steps - 1:
            known.add(id(part))
            running = trace.stops > t
            whole = part.sampling is None
            gap = trace.answers[t] - asked(state, t, None) if whole else trace.answers[t]
            must_be_noise(subject, part, gap[running] / float(part.law.scale), whole, t)
        state = method.update(state, trace.answers[t].copy(), t)


def must_be_noise(subject: Subject, part: Release, seen: np.ndarray, whole: bool, t: int) -> None:
    """Fail where numbers in units of the noise are not of its law or, around questions not known, spread too little."""
    law, scale = part.law, float(part.law.scale)
    if not isinstance(law, ADDED) or len(seen) < 50:
        return
    if not whole:
        # Given what was asked, the spread of answers with Gaussian noise is at least a chi-square.
        spread = ((seen - seen.mean(axis=0)) ** 2).sum()
        level = stats.chi2.cdf(spread, (len(seen) - 1) * seen.shape[1]) if isinstance(law, Gaussian) else 1.0
        must(level > subject.alpha, f"{subject.solver}: answers to step {t} spread less than noise of scale {scale:g}")
        return
    if isinstance(law, WishartDifference):
        half = (dimension(seen.shape[1]) + 1) / 2  # an entry of the diagonal is a difference of Gamma variables
        gammas = np.random.default_rng(subject.seed).gamma(half, size=(2, 20 * len(seen)))
        level = stats.ks_2samp(seen[:, 0], gammas[0] - gammas[1]).pvalue
    elif isinstance(law, L2Laplace):
        level = stats.kstest(np.linalg.norm(seen, axis=1), stats.gamma(seen.shape[1]).cdf).pvalue
    else:
        level = stats.kstest(seen.ravel(), (stats.norm if isinstance(law, Gaussian) else stats.laplace).cdf).pvalue
    must(level > subject.alpha, f"{subject.solver}: the noise of step {t} is not of its law and scale {scale:g}")


def every_step_is_counted(subject: Subject) -> None:
    """As many answers go out as the release accounts for; an answer may go out in pieces that are one movement."""
    done, method = subject.ready()
    counted = sum(math.inf if part.in_pieces else float(part.steps) for part in done.released.parts)
    must(method.steps <= counted, f"{method.steps} answers are let out, {counted:g} are accounted for")


def plans_are_public(subject: Subject) -> None:
    """Plan and release are the same for both datasets of a pair."""
    for pair in (subject.pair, *(subject.random_pairs() if isinstance(subject.data, Problem) else ())):
        plans = [subject.solver.plan(data, subject.guarantee) for data in pair]
        releases = [subject.solver.release(data, plan) for data, plan in zip(pair, plans, strict=True)]
        for what, (one, other) in {"plan": plans, "release": releases}.items():
            if subject.guarantee.relation != ADD_REMOVE:
                must(same(one, other), f"{what}s of a pair differ")


def same(one: Any, other: Any) -> bool:
    """Whether two values hold the same numbers; functions are not looked into."""
    if is_dataclass(one):
        one, other = vars(one), vars(other)
    if isinstance(one, Mapping):
        return set(one) == set(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return callable(one) or bool(np.array_equal(one, other))


# Sensitivity and privacy -----------------------------------------------------------------------------
def output_is_made_of_the_answers(subject: Subject) -> None:
    """What is let out is made of the noisy answers and public numbers alone: the neighbour's steps make the same.

    What was added to it later, or taken from the records, is no part of the transcript that the account is about.
    """
    first, second = subject.pair
    done = subject.solver.calibrated(first, subject.guarantee)
    found = subject.solver.performed(first, done, subject.seed, REPEATED, trace=True)
    if found.trace is None:
        raise Broken("no trace on request")
    for data in (first,) if subject.guarantee.relation == ADD_REMOVE else (first, second):  # of one size
        method = subject.solver.method(data, done.plan, done.released)
        state, out = method.start_with(REPEATED, found.trace.coins), np.empty_like(found.w)
        for t in range(method.steps + 1):
            ends = found.trace.stops == t
            out[ends] = method.output(state)[ends]
            if t < method.steps:
                state = method.update(state, found.trace.answers[t].copy(), t)
        grain = method.grain(done.noise_std)
        apart = float(np.abs(out - found.w).max(initial=0.0))
        due = REPEATED_TO * max(grain, float(np.abs(out).max(initial=0.0)))
        must(apart <= due, f"it is {apart:.3g} from what the same steps make of the same answers")


def worst_pair_is_one(subject: Subject) -> None:
    """The worst pair are neighbours: one record (or attribute of it) differs, and nothing that is public."""
    first, second = subject.pair
    if subject.guarantee.relation == ADD_REMOVE:
        raise Untried("datasets of different sizes")
    differing(first, second)
    if subject.guarantee.relation == LOCAL_ATTRIBUTE:
        changed = int(np.sum(np.asarray(first) != np.asarray(second)))
        must(changed == 1, f"{changed} attributes of the record differ")
    if isinstance(first, Problem):
        for name in ("loss", "l2", "constraint", "row_bound", "label_bound"):
            must(getattr(first, name) == getattr(second, name), f"they differ in {name}")


def sensitivity_is_kept_and_reached(subject: Subject) -> None:
    """A record moves what is asked by no more than the release says, and on the worst pair by that."""
    reached = moved(subject, subject.pair)
    must(reached >= subject.reaches, f"the worst pair moves it by {reached:.3g} of the sensitivity")


def sensitivity_is_kept_by_others(subject: Subject) -> None:
    """Random neighbours move what is asked by no more than the release says."""
    for pair in subject.random_pairs():
        moved(subject, pair)


def moved(subject: Subject, pair: tuple[Any, Any]) -> float:
    """The largest movement of a step's question, over what the release allows; fails above 1."""
    done = subject.solver.calibrated(pair[0], subject.guarantee)
    found = movement(subject.solver, pair, done, subject.seed)
    must(found.largest <= 1 + 1e-6, f"a record moves step {found.step} by {found.largest:.6g} of its sensitivity")
    return found.largest


def certified_noise_is_private(subject: Subject) -> None:
    """Audits of output and transcript do not flag certified noise on the worst pair."""
    must(not subject.flagged(subject.mechanism(), subject.pair), "an audit of the output flags it")
    must(not subject.flagged(subject.mechanism(transcript=True), subject.pair), "an audit of the transcript flags it")


def certified_noise_is_private_on_others(subject: Subject) -> None:
    """An audit does not flag certified noise on the random pair that moves its questions most."""
    pair = max(subject.random_pairs(), key=lambda pair: moved(subject, pair))
    must(not subject.flagged(subject.mechanism(), pair), f"an audit flags it on {shown(pair)}")


def planted_bug_is_flagged(subject: Subject) -> None:
    """The same audits flag it with too little noise: of the output, or where that hides it of the transcript."""
    for transcript in (False, True):
        if subject.flagged(subject.mechanism(subject.bug, transcript=transcript), subject.pair):
            return
    raise Broken(f"noise times {subject.bug:g} is not flagged: the worst pair is not the worst")


def density_is_exact(subject: Subject) -> None:
    """The density of a transcript is exact: ratios of two laws average to what they must.

    Coins that the release does not name show at once, in densities that differ. Averages see a wrong law if they move
    by a few hundredths, with the usual number of trials.
    """
    if not subject.has_density:
        raise Untried("the law of its noise has no formula for its density")
    box: Any = subject.mechanism(subject.bug, transcript=True)
    ratios = []
    for i, data in enumerate(subject.pair):
        seen = box(data, np.random.default_rng([subject.seed, i]), 2 * subject.trials)
        own, again, other = (box.log_density(seen, d) for d in (data, data, subject.pair[1 - i]))
        must(np.array_equal(own, again, equal_nan=True), "two densities of one transcript differ: a coin is hidden")
        with np.errstate(over="ignore", invalid="ignore"):
            ratios.append((np.exp(other - own), np.exp(own - other)))
    level = subject.alpha / (4 * len(BANDS))
    for i, most in itertools.product((0, 1), BANDS):
        # E_P[q/p where q/p <= b] = Q(q/p <= b): numbers in [0, b] and in [0, 1].
        under_p, under_q = ratios[i][0], ratios[1 - i][1]
        first, second = np.where(under_p <= most, under_p, 0.0), 1.0 * (under_q <= most)
        width = half_width(first, most, level) + half_width(second, 1.0, level)
        gap = abs(first.mean() - second.mean())
        must(gap <= width, f"ratios average to {first.mean():.4g}, not to {second.mean():.4g} (within {width:.2g})")


def half_width(values: np.ndarray, largest: float, level: float) -> float:
    """How far the mean of numbers in [0, largest] is from what they average: empirical Bernstein (Maurer, Pontil)."""
    logs, k = np.log(4 / level), len(values)
    return float(np.sqrt(2 * values.var(ddof=1) * logs / k) + 7 * largest * logs / (3 * (k - 1)))
