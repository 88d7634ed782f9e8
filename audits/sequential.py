"""stop_early: a test by betting that may be watched all the time and stopped at the first proof.

Against (eps, delta), with c = e^eps, A favouring the first dataset and B the second, one run on each gives
    E(x, y) = (nu + a 1[x in A] - c b 1[x in B]) (2 - nu - (a + b) delta - c a 1[y in A] + b 1[y in B]).
For a, b >= 0 with both factors nonnegative its mean is at most 1 whenever the guarantee holds: the means of the
factors add up to 2 or less, so their product is 1 or less. A product of such bets, each fixed before its runs,
exceeds 1/alpha at any time ever with probability at most alpha (Ville). Bets are fitted to all earlier runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from dpcheck.audits.outputs.encoding import Encoding, encoding_of
from dpcheck.audits.outputs.event_in_words import sentence_of
from dpcheck.audits.outputs.returned import joined
from dpcheck.audits.pairs.neighbours import Pair
from dpcheck.audits.result import AuditResult, Curve, Event, curve_of
from dpcheck.audits.scores.attacks import aimed
from dpcheck.audits.statistics.epsilon import Direction
from dpcheck.audits.statistics.event_choice import Choice, Target, best_choice, evidence
from dpcheck.audits.statistics.intervals import anytime
from dpcheck.audits.statistics.power import POWER, TAIL, Rates, View, no_power, power_of
from dpcheck.audits.statistics.ratio import LARGEST
from dpcheck.audits.trials.executor import Chunk
from dpcheck.audits.trials.pilot import PROBES, health_of, prospects
from dpcheck.audits.trials.plan import PROBE, TEST, AuditPlan
from dpcheck.bounds.language.errors import InvalidInput

FIRST_BATCH = 24
GROWTH = 0.15
LARGEST_BATCH = 2**15
MOST_KEPT = 40_000  # rows kept for refitting; later runs only add to the counts
REFIT = 1.3  # runs after a fit over those before it
MOST_FITS = 1 + math.ceil(math.log(MOST_KEPT / FIRST_BATCH) / math.log(REFIT))
CURVE_POINTS = 21
# Pseudo-runs, alike on both datasets, that pull a bet towards nothing; with several, bettors share the capital.
SHRINK = (33.0,)
LADDER = (0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # multiples of the claim, tested side by side
CLAIM = LADDER.index(1.0)
LEAST_STEP = 0.5  # of the ladder beyond the claim, whose multiples say nothing where it is small
RIVALS = 8  # goals on a curve that are compared by how fast bets against them grow
SETTLED = (
    1 / 8
)  # of the runs that the proof will about take, or of all there are: for the choice of the goal on a curve


SIDES: tuple[Direction, Direction] = ("first", "second")


def best_bets(cells: np.ndarray, c: np.ndarray, delta: float, shrink: float) -> np.ndarray:
    """For each c, the (a, b, nu) that would have grown fastest on these counts: (2 datasets, in A or not, in B or not).

    A stake below 0 is no bet: then the best without it is taken, or none.
    """
    counts = cells.reshape(2, 4).astype(float)
    pooled = counts.sum(axis=0) + 0.05
    counts = counts + shrink * pooled / pooled.sum()
    in_a, in_b, all_four = np.array([0.0, 0, 1, 1]), np.array([0.0, 1, 0, 1]), np.ones((len(c), 4))
    stake = c[:, None]
    scale = np.stack([c, c, np.ones(len(c))], axis=1)  # stakes in units of what they may be at most: e^eps may be huge
    one = np.stack([in_a * all_four, -stake * in_b, all_four], axis=2) / scale[:, None]
    two = np.stack([-stake * in_a - delta, (in_b - delta) * all_four, -all_four], axis=2) / scale[:, None]
    best, value, open_ = np.tile([0.0, 0.0, 1.0], (len(c), 1)), np.zeros(len(c)), np.full(len(c), True)
    for free in ([0, 1, 2], [0, 2], [1, 2]):
        at = np.flatnonzero(open_)
        if len(at) == 0:
            break
        theta, found = _newton(counts, one[at][..., free], two[at][..., free])
        is_bet = np.all(theta[:, :-1] >= 0, axis=1)
        better = is_bet & (found > value[at])
        whole = np.zeros((len(at), 3))
        whole[:, free] = theta
        best[at[better]], value[at[better]] = whole[better], found[better]
        if len(free) == 3:
            open_[at[is_bet]] = False
    return best / scale


def _newton(counts: np.ndarray, one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximise sum counts0 log(one theta) + counts1 log(2 + two theta): concave, from the bet that changes nothing.

    Many such sums side by side: one and two are (sums, 4 cells, unknowns).
    """
    theta = np.zeros((len(one), one.shape[2]))
    theta[:, -1] = 1.0

    def odds(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (one @ at[..., None])[..., 0], 2 + (two @ at[..., None])[..., 0]

    def value(at: np.ndarray) -> np.ndarray:
        f, g = odds(at)
        inside = (f.min(axis=1) > 1e-9) & (g.min(axis=1) > 1e-9)
        logs = np.log(np.maximum(f, 1e-9)) @ counts[0] + np.log(np.maximum(g, 1e-9)) @ counts[1]
        return np.where(inside, logs, -np.inf)

    now, going = value(theta), np.full(len(theta), True)
    across, down = one.transpose(0, 2, 1), two.transpose(0, 2, 1)
    for _ in range(30):
        f, g = odds(theta)
        gradient = across @ (counts[0] / f)[..., None] + down @ (counts[1] / g)[..., None]
        curve = (across * (counts[0] / f**2)[:, None]) @ one + (down * (counts[1] / g**2)[:, None]) @ two
        ridge = 1e-9 + 1e-13 * curve.max(axis=(1, 2))  # stakes on what was never seen are free
        step = np.linalg.solve(curve + ridge[:, None, None] * np.eye(theta.shape[1]), gradient)[..., 0]
        size = np.ones((len(theta), 1))
        after = value(theta + step)
        while (short := going & (after < now) & (size[:, 0] > 1e-6)).any():
            size[short] /= 2
            after = value(theta + size * step)
        going &= size[:, 0] > 1e-6
        theta = np.where(going[:, None], theta + size * step, theta)
        gained = going & (after - now >= 1e-7)
        now, going = np.where(going, after, now), gained
        if not going.any():
            break
    return theta, now


def log_growth(theta: np.ndarray, c: float, delta: float, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """log E of each run, from memberships (runs, 2) in A and B on each dataset."""
    a, b, nu = theta
    f = nu + a * first[:, 0] - c * b * first[:, 1]
    g = 2 - nu - (a + b) * delta - c * a * second[:, 0] + b * second[:, 1]
    return np.log(np.maximum(f, 1e-300)) + np.log(np.maximum(g, 1e-300))


@dataclass
class RunsSeen:
    """How often a score, since it was fitted, passed each point of a grid: (2 datasets, points)."""

    grid: np.ndarray
    above: np.ndarray
    runs: int = 0

    @classmethod
    def by(cls, scores: np.ndarray) -> RunsSeen:
        """A grid of quantiles of the scores that are known, and nothing counted yet."""
        grid = np.unique(np.quantile(scores, np.linspace(0.02, 0.98, CURVE_POINTS), method="lower"))
        return cls(grid, np.zeros((2, len(grid)), dtype=np.int64))

    def count(self, first: np.ndarray, second: np.ndarray) -> None:
        """Scores of a batch."""
        for side, scores in enumerate((first, second)):
            self.above[side] += len(scores) - np.searchsorted(np.sort(scores), self.grid, side="left")
        self.runs += len(first)

    def curve(self, alpha: float) -> Curve | None:
        """The trade-off with limits that hold at any time, for every point and error, and for every fit there may be.

        So it does not matter when the audit stopped, nor which fit had the most runs to show.
        """
        if self.runs == 0:
            return None
        level = alpha / (2 * len(self.grid) * MOST_FITS)
        return curve_of(self.above[0], self.above[1], self.runs, lambda above: anytime(above, self.runs, level))


@dataclass
class Wager:
    """The current events, the counts they are judged by, and the wealth against every rung of the ladder.

    Both events are cut from one score; `seen` counts its values, `shown` those of the fit with the most runs so far.
    `met` counts, on each dataset, hits of A, hits of B and runs among `late` batches, by the events of their time: what
    events show to runs they were not fitted to.
    """

    goal: Target
    alpha: float
    events: tuple[Choice, Choice]
    seen: RunsSeen
    shown: RunsSeen | None = None
    settled: bool = True
    cells: np.ndarray = field(default_factory=lambda: np.zeros((2, 2, 2)))
    met: np.ndarray = field(default_factory=lambda: np.zeros((2, 3)))
    wealth: np.ndarray = field(default_factory=lambda: np.full((len(LADDER), len(SHRINK)), -math.log(len(SHRINK))))
    highest: np.ndarray = field(default_factory=lambda: np.zeros(len(LADDER)))

    def membership(self, scores: np.ndarray) -> np.ndarray:
        """Which runs lie in A, and which in B."""
        return np.stack([event.holds(scores) for event in self.events], axis=1)

    def pulls(self) -> list[float]:
        """The pseudo-runs of each bettor: near delta = 1, a few that are alike would make every bet a loss."""
        room = min(1.0, (1 - self.goal.delta) / max(self.goal.delta, 0.5))
        return [max(0.5, room * shrink) for shrink in SHRINK]

    def rungs(self) -> np.ndarray:
        """The epsilons tested side by side; the claim is one of them."""
        multiple, claim = np.array(LADDER), self.goal.epsilon
        return np.where(multiple <= 1, multiple * claim, claim + (multiple - 1) * max(claim, LEAST_STEP))

    def bet(self, first: np.ndarray, second: np.ndarray, late: bool) -> int | None:
        """Bet on a batch with what is known; the run at which the claim and all rungs below had fallen, if they did.

        A goal that is not settled is not bet on, and runs after the fall are not counted.
        """
        scores = [self.events[0].score(rows) for rows in (first, second)]
        ours, theirs = (self.membership(side) for side in scores)
        fell = self.stake(ours, theirs) if self.settled else None
        used = len(first) if fell is None else fell + 1
        self.seen.count(*(side[:used] for side in scores))
        self.learn(ours[:used], theirs[:used])
        if late:
            self.met += [[*side[:used].sum(axis=0), used] for side in (ours, theirs)]
        return fell

    def stake(self, ours: np.ndarray, theirs: np.ndarray) -> int | None:
        """The wealth against every rung after these runs, each of which was bet on with what was known before them."""
        n = len(ours)
        falls = np.full(len(LADDER), n)
        barrier = -math.log(self.alpha)
        totals = np.full((len(LADDER), n), -math.inf)
        fallen, rungs = self.highest >= barrier, self.rungs()
        falls[fallen] = -1  # nothing left to prove
        left = np.flatnonzero(~fallen & (rungs <= LARGEST))  # nobody has e^60 runs to win anything by
        c = np.exp(rungs[left])
        all_bets = [best_bets(self.cells, c, self.goal.delta, pull) for pull in self.pulls()]
        for k, i in enumerate(left):
            bets = [bet[k] for bet in all_bets]
            gains = [np.cumsum(log_growth(bet, c[k], self.goal.delta, ours, theirs)) for bet in bets]
            paths = self.wealth[i] + np.stack(gains, axis=1)
            totals[i] = np.logaddexp.reduce(paths, axis=1)
            if totals[i].max() >= barrier:
                falls[i] = int(np.argmax(totals[i] >= barrier))
            self.wealth[i] = paths[-1]
        last = max(int(falls[: CLAIM + 1].max()), 0)
        self.highest = np.maximum(self.highest, totals[:, : last + 1].max(axis=1))
        return last if last < n else None

    def learn(self, ours: np.ndarray, theirs: np.ndarray) -> None:
        """Count a batch that has been bet on."""
        for side, part in enumerate((ours, theirs)):
            np.add.at(self.cells[side], (part[:, 0].astype(int), part[:, 1].astype(int)), 1)

    def best_seen(self) -> RunsSeen:
        """The counts of the fit with the most runs."""
        return max(self.seen, self.shown or self.seen, key=lambda seen: seen.runs)

    def growth(self) -> float:
        """How fast the wealth against the claim would about grow, by the counts so far: in nats per run."""
        c, delta, counts = math.exp(min(self.goal.epsilon, LARGEST)), self.goal.delta, self.cells.reshape(2, 4)
        (bet,) = best_bets(self.cells, np.array([c]), delta, self.pulls()[0])
        inside = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        growth = (
            log_growth(bet, c, delta, inside, np.zeros((4, 2))),
            log_growth(bet, c, delta, np.zeros((4, 2)), inside),
        )
        nothing = float(growth[0][0])
        return float(sum(n @ value for n, value in zip(counts, growth, strict=True)) / counts[0].sum()) - nothing

    def refuted(self) -> bool:
        """Whether the claim, which is one of the rungs, and every rung below it have fallen."""
        return bool((self.highest[: CLAIM + 1] >= -math.log(self.alpha)).all())

    def bound(self) -> float:
        """The highest rung of an unbroken row of rejected ones: each true rung falls with probability alpha at most."""
        fallen = self.highest >= -math.log(self.alpha)
        count = len(fallen) if fallen.all() else int(np.argmin(fallen))
        return float(self.rungs()[count - 1]) if count else 0.0


def batches(trials: int) -> list[Chunk]:
    """A first batch to learn from, then batches that grow with what is known; both datasets of each in turn."""
    found, done, index = [], 0, 0
    while done < trials:
        size = FIRST_BATCH if index == 0 else int(min(max(8, GROWTH * done), LARGEST_BATCH))
        size = min(size, trials - done)
        found += [Chunk(TEST, side, index, size, done) for side in (0, 1)]
        done, index = done + size, index + 1
    return found


def audit_early(plan: AuditPlan, pair: Pair, spent: int) -> AuditResult:
    """Bet batch by batch until the claim falls or the trials run out."""
    if plan.guarantee is None:
        raise InvalidInput("stop_early", True, "False without a guarantee", "Pass the guarantee to be tested.")
    runner = plan.runner(pair)
    attack = aimed(plan.attack, plan.mechanism, runner.pair)
    probe = runner.outputs(Chunk(PROBE, 0, 0, PROBES, 0))
    encoding, wager, refit_at = encoding_of(probe), None, 0
    kept: list[list[Any]] = [[], []]
    rows = [np.zeros((0, 1)), np.zeros((0, 1))]
    raw: list[Any] = [None, None]
    done, fell, stopped = 0, None, False
    budget = plan.max_trials - spent
    try:
        for chunk, outputs in runner.results(batches(budget), None):
            raw[chunk.side] = outputs
            if chunk.side == 0:
                continue
            if wager is not None:
                late = 2 * done >= plan.max_trials - spent
                fell = wager.bet(encoding(raw[0]), encoding(raw[1]), late)
            done += chunk.trials if fell is None else fell + 1
            if fell is not None:
                break
            if done <= MOST_KEPT:
                for side in (0, 1):
                    kept[side].append(raw[side])
            if done >= refit_at and done <= MOST_KEPT:
                encoding = encoding_of(joined([*kept[0], *kept[1]]))
                rows = [encoding(joined(kept[0])), encoding(joined(kept[1]))]
                wager = refitted(plan, attack, wager, rows, budget)
                refit_at = int(REFIT * done)
            if plan.progress is not None and wager is not None:
                plan.progress(spent + done, plan.max_trials, wager.bound())
    except KeyboardInterrupt:
        if wager is None:
            raise  # nothing is known yet
        stopped = True  # the wealth may be looked at whenever one likes: this costs nothing
    assert wager is not None
    health = health_of(runner, probe, encoding, rows[0], rows[1], [len(part) for part in kept[0]])
    if stopped:
        health += (f"stopped by hand after {done} trials: the bound holds at every time at once",)
    return result_of(plan, pair, wager, encoding, spent + done, health, stopped)


def refitted(
    plan: AuditPlan,
    attack: Any,
    wager: Wager | None,
    rows: list[np.ndarray],
    budget: int,
    goals: Sequence[Target] = (),
) -> Wager:
    """New events from all that is known; the wealth stays, and so does the goal once it is settled.

    Bets are against one point of the claim's curve. It is chosen on the first runs, none of which is bet on: the more
    of them, the longer the proof will take. `goals` are those to choose from, all of the claim's if none are given.
    """
    goals = [wager.goal] if wager is not None and wager.settled else goals or plan.goals
    runs = len(rows[0])
    found = prospects(attack, rows[0], rows[1])
    leader = best_choice(found, goals, 2 * runs, plan.alpha)
    home = next(p for p in found if p.score is leader.score)
    scores = [leader.score(side) for side in rows]

    def wager_on(goal: Target) -> Wager:
        events = [home.best([goal], 2 * runs, plan.alpha, side) for side in SIDES]
        fresh = Wager(goal, plan.alpha, (events[0], events[1]), RunsSeen.by(np.concatenate(scores)))
        fresh.learn(fresh.membership(scores[0]), fresh.membership(scores[1]))
        return fresh

    fresh = wager_on(leader.target)
    if len(goals) > 1:
        rivals = [wager_on(goal) for goal in most_evident(leader, goals, scores)]
        fresh = max([fresh, *rivals], key=Wager.growth)
        proof = -math.log(plan.alpha) / max(fresh.growth(), 1e-12)
        fresh.settled = runs >= min(SETTLED * min(proof, budget), MOST_KEPT / 2)
    if wager is not None:
        fresh.wealth, fresh.highest, fresh.met = wager.wealth, wager.highest, wager.met
        fresh.shown = wager.best_seen()
    return fresh


def most_evident(choice: Choice, goals: Sequence[Target], scores: list[np.ndarray]) -> list[Target]:
    """The goals that the rates of an event speak against most."""
    p, q = ((np.count_nonzero(choice.holds(side)) + 0.5) / (len(side) + 1) for side in scores)
    if choice.direction == "second":
        p, q = q, p
    shown = [float(evidence(p, q, goal.epsilon, goal.delta)) for goal in goals]
    return [goals[i] for i in np.argsort(shown)[::-1][:RIVALS] if shown[i] > 0]


def result_of(
    plan: AuditPlan, pair: Pair, wager: Wager, encoding: Encoding, trials: int, health: tuple[str, ...], stopped: bool
) -> AuditResult:
    """What the bets have proved, and what they would have."""
    cells, goal = wager.cells, wager.goal
    n = int(cells[0].sum())
    in_a, in_b = cells[:, 1, :].sum(axis=1), cells[:, :, 1].sum(axis=1)
    slope = math.exp(min(goal.epsilon, LARGEST))
    first_better = in_a[0] - slope * in_a[1] >= in_b[1] - slope * in_b[0]
    choice = wager.events[0 if first_better else 1]
    hits = (int(in_a[0]), int(in_a[1])) if first_better else (int(in_b[1]), int(in_b[0]))
    power = no_power(plan.guarantee, wager.refuted(), stopped, health)
    if power is None:
        ours, theirs = wager.met[:, 0] if first_better else wager.met[::-1, 1]
        late = max(int(wager.met[0, 2]), 1)
        view = View(choice, float(ours), float(theirs), late, encoding.width, min(n, MOST_KEPT) // 4)
        power = power_of(BettingTest(goal, n, plan.alpha), view)
    return AuditResult(
        violated=wager.refuted(),
        epsilon_lower=wager.bound(),
        delta=goal.delta,
        alpha=float(plan.alpha),
        trials=trials,
        seconds=0.0,
        pair=(pair[0], pair[1]),
        event=Event(sentence_of(choice, encoding), choice, encoding),
        direction=choice.direction,
        detectable_epsilon=power.epsilon,
        power=power.model,
        curve=wager.best_seen().curve(plan.alpha),
        seed=plan.seed,
        guarantee=plan.guarantee,
        claimed=goal.epsilon,
        method="betting, watched all the time" + (", stopped early" if wager.refuted() else ""),
        counts=(*hits, n),
        health=health + power.health(plan.max_trials),
    )


@dataclass(frozen=True)
class BettingTest:
    """The test by betting, and how surely it is to flag."""

    goal: Target
    trials: int
    alpha: float

    def least(self, rates: Rates, low: float, high: float) -> float:
        """The least level whose event makes the wealth pass 1/alpha with probability 0.99; infinity if there is none.

        log wealth is about normal with mean n g and variance 2 n g; three nats are the price of learning the bets.
        """
        need, z = -math.log(self.alpha) + 3.0, float(special.ndtri(POWER))

        def flagged(level: float) -> bool:
            growth = self.trials * _growth(*rates(level), self.goal)
            return growth - z * math.sqrt(2 * growth) >= need

        if not flagged(high):
            return math.inf
        for _ in range(24):
            middle = (low + high) / 2
            low, high = (low, middle) if flagged(middle) else (middle, high)
        return high

    def tail(self, mu: float) -> tuple[float, float]:
        """The rates of the tail that shows the most excess over the claim, in deviations."""
        p, q, c = special.ndtr(mu - TAIL), special.ndtr(-TAIL), math.exp(self.goal.epsilon)
        excess = (p - c * q - self.goal.delta) / np.sqrt(p * (1 - p) + c * c * q * (1 - q) + 1e-300)
        best = int(excess.argmax())
        return float(p[best]), float(q[best])


def _growth(p: float, q: float, goal: Target) -> float:
    """Growth per run of the best bet on one event with these rates."""
    cells = np.array([[[1 - p, 0.0], [p, 0.0]], [[1 - q, 0.0], [q, 0.0]]]) * 1e6
    (theta,) = best_bets(cells, np.exp([goal.epsilon]), goal.delta, 0.0)
    inside, outside = np.array([[1.0, 0.0]]), np.array([[0.0, 0.0]])
    value = 0.0
    for x, px in ((inside, p), (outside, 1 - p)):
        for y, qy in ((inside, q), (outside, 1 - q)):
            value += px * qy * float(log_growth(theta, math.exp(goal.epsilon), goal.delta, x, y)[0])
    return max(value, 0.0)
