"""audit_training(): one training run with canaries included by coins, and what it shows of them."""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcheck.audits.statistics.intervals import checked_level
from dpcheck.audits.training.canaries import Canaries
from dpcheck.audits.training.canary_bounds import (
    CanaryBound,
    CoinScores,
    Question,
    detectable,
    from_any,
    from_curve,
    from_mean_gap,
    from_separate,
)
from dpcheck.audits.training.canary_scores import NAMED, Compared, Score, checked_scores, overlap
from dpcheck.audits.training.training_result import TrainingAudit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import one_of
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP, checked_delta
from dpcheck.progress import Meter

Train = Callable[[Any, np.random.Generator], Any]
DELTA = 1e-5
ROUNDING = 1e-6
COMPARED = "loss difference"
ASSUMPTIONS = (None, "curve", "separate", "gaussian")


@dataclass(frozen=True)
class FittedCopy:
    """Trains a copy of an estimator, with a random_state of its own where it takes one."""

    estimator: Any

    def __call__(self, data: Any, rng: np.random.Generator) -> Any:
        model = copy.deepcopy(self.estimator)
        if "random_state" in (model.get_params() if hasattr(model, "get_params") else {}):
            model.set_params(random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "random_state is given")  # an audit is to be replayed
            return model.fit(*data) if isinstance(data, tuple) else model.fit(data)


def audit_training(
    train: Train | Any,
    data: Any,
    *,
    canaries: Canaries | Any,
    score: Score | str = "loss",
    guarantee: Guarantee | None,
    runs: int = 1,
    seed: int = 0,
    alpha: float = 0.05,
    delta: float | None = None,
    assume: str | None = None,
    reference: Any = None,
    guesses: int | None = None,
    progress: bool | None = None,
) -> TrainingAudit:
    """Train once with each canary included by a fair coin, guess the coins, and bound epsilon from below.

    `train(data, rng)` returns a model, drawing all noise from `rng`; or it is an estimator with `fit`. `canaries` are
    `Canaries`, or records to add, laid out as `data` is. `score` says how much a canary looks trained on: "loss",
    "loss difference" to a model trained on none of them, "dot product" with a released update, or your own
    `score(model, records)`; a `reference` model's score is subtracted. It must not know the coins.

    The bound holds at level alpha for every mechanism, whatever the canaries do to each other. `assume` may add, at
    your own word: "curve" (the trade-off curve has the claim's form: GaussianDP, ZCDP or RenyiDP), "separate" (and each
    canary shows through a release of its own, as gradients at right angles do under Gaussian noise), "gaussian" (scores
    with independent Gaussian noise: their mean gap). The last two are refused where canaries' gradients overlap, the
    last also where scores do not look Gaussian; `health` says so and the bound is then the first. Choose before you
    look.
    A claim about replaced records needs canaries with stand-ins; one about added and removed records leaves them out.
    `delta` is the claim's own, or where its epsilon is wanted (1e-5). `runs` trains several times with fresh coins;
    Ctrl-C keeps those that are done. `guesses` fixes how many coins are guessed. Raises InvalidInput for bad arguments.

    >>> from dpcheck.bounds.language.guarantees import GaussianDP
    >>> def noisy_sum(gradients, rng):
    ...     return gradients.sum(axis=0) + rng.standard_normal(gradients.shape[1])  # should be 4 for this claim
    >>> audit_training(noisy_sum, np.zeros((0, 500)), canaries=Canaries.orthogonal(500, 500), score="dot product",
    ...                guarantee=GaussianDP(0.5)).violated
    True
    """
    started = time.perf_counter()
    kept = canaries if isinstance(canaries, Canaries) else Canaries(canaries)
    asked = question(kept, guarantee, runs, alpha, delta, assume, guesses)
    stand_ins = kept.stand_ins(None if guarantee is None else guarantee.relation)
    trained = train if callable(train) and not isinstance(train, type) else estimator_of(train)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput("seed", seed, "an integer >= 0", "Use seed=0.")
    *seeds, for_reference = np.random.SeedSequence(int(seed)).spawn(runs + 1)
    score_of = chosen_score(score)
    if score == COMPARED and reference is None:
        none = kept.joined(data, np.zeros(len(kept), bool), stand_ins)
        reference = trained(none, np.random.default_rng(for_reference))
    if reference is not None:
        score_of = Compared(score_of, reference)

    scores, coins, stopped = [], [], False
    with Meter("training", "runs", total=runs, shown=progress) as meter:
        try:
            for done, child in enumerate(seeds, start=1):
                toss, noise = (np.random.default_rng(part) for part in child.spawn(2))
                coin = toss.random(len(kept)) < 0.5
                model = trained(kept.joined(data, coin, stand_ins), noise)
                scores.append(checked_scores(score_of(model, kept.records), kept.records))
                coins.append(coin)
                meter.update(done)
        except KeyboardInterrupt:
            if not coins:
                raise  # nothing is known yet
            scores, stopped = scores[: len(coins)], True
    seen = CoinScores(np.array(scores), np.array(coins))
    asked = replace(asked, coins=seen.size, guesses=guesses and min(int(guesses), seen.size))
    relation = "replaced by stand-ins" if stand_ins is not None else "left out"
    gradients = kept if score == "dot product" else None
    result = conclude(seen, asked, assume, gradients, f"canaries in, or {relation}", seed)
    health = (*result.health, *([f"stopped by hand after {len(coins)} of {runs} runs"] if stopped else []))
    return replace(result, health=health, seconds=time.perf_counter() - started)


def question(
    canaries: Canaries,
    claim: Guarantee | None,
    runs: int,
    alpha: float,
    delta: float | None,
    assume: str | None,
    guesses: int | None,
) -> Question:
    """The arguments, checked."""
    if not (isinstance(runs, int | np.integer) and runs >= 1):
        raise InvalidInput("runs", runs, "a whole number >= 1", "One run is what this audit is made for.")
    if assume is not None:
        one_of("assume", assume, ASSUMPTIONS[1:], "Drop it: no assumption is the safe choice.")
    delta = None if delta is None else checked_delta(delta)
    if claim is not None and not isinstance(claim, Guarantee):
        raise InvalidInput("guarantee", claim, "a guarantee or None", "Pass dp.ApproxDP(8, 1e-5) for example.")
    own = {PureDP: 0.0, ApproxDP: getattr(claim, "delta", 0.0)}.get(type(claim))
    if own is not None and delta not in (None, own):
        raise InvalidInput("delta", delta, f"the claim's own, {own:g}", "Drop it, or claim a curve such as GaussianDP.")
    at = own if own is not None else checked_delta(DELTA if delta is None else delta)
    if claim is not None and math.isinf(claim.epsilon(at)):
        raise InvalidInput("delta", at, f"one that {claim} reaches", "Pass delta=1e-5.")
    if assume == "curve" and (claim is None or isinstance(claim, PureDP | ApproxDP)):
        remedy = "Claim dp.GaussianDP(mu) or dp.ZCDP(rho) with delta=1e-5, or drop assume."
        raise InvalidInput("assume", assume, "None for a claim of one epsilon and delta, or none", remedy)
    if assume == "separate" and claim is None:
        raise InvalidInput("assume", assume, "None without a claim", "Claim a curve: dp.GaussianDP(mu).")
    if assume == "gaussian" and at == 0:
        limit = "None at delta = 0, where Gaussian noise has no epsilon"
        raise InvalidInput("assume", assume, limit, "Claim dp.ApproxDP or dp.GaussianDP.")
    if assume is None and checked_level(alpha) <= at:
        limit = f"above delta = {at:g}, with which probability private training may show every coin"
        raise InvalidInput("alpha", alpha, limit, "Raise alpha, or assume a curve.")
    coins = int(runs) * len(canaries)
    if guesses is not None and not (isinstance(guesses, int | np.integer) and 1 <= guesses <= coins):
        raise InvalidInput("guesses", guesses, f"a whole number from 1 to {coins}", "Drop it: the number is planned.")
    return Question(coins, float(at), checked_level(alpha), claim, None if guesses is None else int(guesses))


def estimator_of(train: Any) -> FittedCopy:
    """An estimator with `fit`."""
    if isinstance(train, type) or not callable(getattr(train, "fit", None)):
        raise InvalidInput("train", train, "train(data, rng) -> model, or an estimator with fit", "Pass an instance.")
    return FittedCopy(train)


def chosen_score(score: Score | str) -> Score:
    """By name, or your own."""
    if callable(score):
        return score
    known = {**NAMED, COMPARED: NAMED["loss"]}
    return known[one_of("score", score, sorted(known), "Use a name, or a function f(model, records).")]


def conclude(
    seen: CoinScores, asked: Question, assume: str | None, gradients: Canaries | None, neighbours: str, seed: int
) -> TrainingAudit:
    """The bound that was asked for, beside the one that assumes nothing."""
    right = seen.right()
    plain = bound = from_any(right, asked)
    health: list[str] = []
    if assume is not None:
        bound = assumed(seen, right, asked, assume, gradients)
        if bound.refused:
            health.append(f"assume={assume!r} was dropped: {bound.refused}; this bound assumes nothing")
            bound, assume = plain, None
    violated = bound.refutes(asked.claim, asked.claimed)
    power = math.inf if asked.claim is None or violated else detectable(asked, assume)
    if asked.claim is not None and not violated and math.isinf(power):
        health.append(f"{asked.coins} coins are too few to refute this claim: take more canaries, or runs")
    if asked.coins > 1 and np.all(seen.scores == seen.scores[:, :1]):
        health.append("all scores are the same: they tell nothing")
    elif bound.epsilon == 0:
        health.append("these scores do not tell which canaries were trained on: a stronger attack might")
    return TrainingAudit(
        violated=violated,
        epsilon_lower=bound.epsilon,
        delta=asked.delta,
        alpha=asked.alpha,
        bound=bound,
        without=None if bound is plain else plain,
        detectable_epsilon=power,
        neighbours=neighbours,
        seconds=0.0,
        seed=seed,
        guarantee=asked.claim,
        claimed=asked.claimed,
        scores=seen.scores,
        coins=seen.coins,
        health=tuple(health),
    )


def assumed(
    seen: CoinScores, right: np.ndarray, asked: Question, assume: str, gradients: Canaries | None
) -> CanaryBound:
    """The bound under an assumption; refused where gradients that are known overlap."""
    if assume == "curve":
        return from_curve(right, asked)
    if gradients is not None and (ratio := overlap(gradients.records)) > 1 + ROUNDING:
        said = f"the canaries' gradients overlap ({ratio:.3g} times the effect of one, at right angles 1)"
        return CanaryBound(assume, 0.0, "", refused=said)
    return from_separate(right, asked) if assume == "separate" else from_mean_gap(seen, asked)
