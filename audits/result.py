"""AuditResult: what an audit found, with what certainty, and how to see it again."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcheck.audits.outputs.encoding import Encoding
from dpcheck.audits.outputs.foreign import is_frame
from dpcheck.audits.outputs.returned import checked_outputs
from dpcheck.audits.pairs.pair_in_words import pair_words
from dpcheck.audits.past import Past
from dpcheck.audits.statistics.epsilon import Direction
from dpcheck.audits.statistics.event_choice import Choice
from dpcheck.audits.statistics.intervals import clopper_pearson
from dpcheck.bounds.language.errors import MissingDependency
from dpcheck.bounds.language.guarantees import Guarantee

LONG = ("curve", "guarantee", "pair", "past", "without")  # fields that JSON has in another form
SURE = 1e-6  # a false-alarm rate that needs no second look


@dataclass(frozen=True)
class Event:
    """A set of outputs: a sentence for people, and a callable from outputs to booleans."""

    sentence: str
    choice: Choice | None = field(default=None, repr=False)
    encoding: Encoding | None = field(default=None, repr=False)

    def __call__(self, outputs: Any) -> np.ndarray:
        """Which of these outputs (as the mechanism returns them) fall into the event."""
        assert self.choice is not None
        assert self.encoding is not None
        rows = self.encoding(checked_outputs(outputs, len(outputs)))
        return self.choice.holds(self.choice.score(rows))

    def __str__(self) -> str:
        return self.sentence


Limits = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Curve:
    """Measured trade-off: type I and type II error at thresholds fixed beforehand, with simultaneous limits.

    All four arrays of limits hold together with probability 1 - alpha (under assume="gdp", if the scores are Gaussian
    as they look). `trials` runs per dataset went into it.
    """

    type_one: np.ndarray
    type_two: np.ndarray
    type_one_low: np.ndarray
    type_one_high: np.ndarray
    type_two_low: np.ndarray
    type_two_high: np.ndarray
    trials: int

    def to_json(self) -> dict[str, Any]:
        """Lists of numbers."""
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(self).items()}


def curve_from_counts(first_above: np.ndarray, second_above: np.ndarray, trials: int, alpha: float) -> Curve:
    """The curve of "score >= threshold says first", alpha shared by the points and both errors."""
    level = alpha / (2 * max(1, len(first_above)))
    return curve_of(first_above, second_above, trials, lambda above: clopper_pearson(above, trials, level))


def curve_of(first_above: np.ndarray, second_above: np.ndarray, trials: int, limits: Limits) -> Curve:
    """The same with other limits; where low scores say "first", of the opposite test, whose limits are the same."""
    if second_above.sum() > first_above.sum():
        first_above, second_above = trials - first_above, trials - second_above
    type_one, type_two = second_above / trials, 1 - first_above / trials
    tpr_low, tpr_high = limits(first_above)
    return Curve(type_one, type_two, *limits(second_above), 1 - tpr_high, 1 - tpr_low, trials)


@dataclass(frozen=True, eq=False)
class AuditResult:
    """The outcome of an audit.

    `epsilon_lower` exceeds the true epsilon (at `delta`) with probability at most `alpha`. `trials` counts runs
    per dataset in all stages. `detectable_epsilon` is the smallest true epsilon that this audit would have
    flagged with probability 0.99, by the model (statistics/power.py) that `power` says in words; it is infinite where
    none supports a number, and `power` says why. `direction` says on which dataset of `pair` the
    event is likelier. `curve` is the trade-off of tests by the event's score; under `stop_early`, of a score that
    enough runs met before it was refitted (None if there were no such runs). `claimed` is the guarantee's epsilon at
    `delta`, and `health` what a reader should know before trusting a pass. `counts` are the hits of `event` on the
    dataset it favours, on the other, and the runs of each. `assumes` is what the bound rests on beside independent runs
    ("" for nothing); `without` is then the same audit's result without it. `past` is what the next visit takes, if
    visits add up.
    """

    violated: bool
    epsilon_lower: float
    delta: float
    alpha: float
    trials: int
    seconds: float
    pair: tuple[Any, Any] = field(repr=False)
    event: Event
    direction: Direction
    detectable_epsilon: float
    curve: Curve | None = field(repr=False)
    seed: int
    guarantee: Guarantee | None
    claimed: float = 0.0
    method: str = "exact ratio test"
    counts: tuple[int, int, int] = (0, 0, 0)
    health: tuple[str, ...] = ()
    assumes: str = ""
    without: AuditResult | None = field(default=None, repr=False)
    power: str = ""
    past: Past | None = None

    def __repr__(self) -> str:
        return "\n".join(f"{name:<11}{text}" for name, text in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """The result in named lines, the verdict first."""
        claim = "no claim" if self.guarantee is None else str(self.guarantee)
        before = self.trials - self.counts[2]
        chosen = f" ({before} of them to choose what to test)" if before else ""
        lines = [
            ("verdict", f"{self.verdict}: {claim}"),
            ("epsilon", f"{self.finding}  (false-alarm rate {self.alpha:g})"),
            *self._anyway(),
            ("event", f"{self.event}, likelier on the {self.direction} dataset: {self.counted}"),
            ("pair", pair_words(self.pair)),
            *([] if self.violated or self.guarantee is None else [("power", self.would_catch)]),
            ("cost", f"{self.trials} trials per dataset{chosen}, {self.seconds:.2f} s, {self.method}"),
            ("replay", f"seed={self.seed}"),
        ]
        if self.violated and self.alpha > SURE:
            text = f"up to {100 * self.alpha:g}% of the audits of a mechanism that just keeps its promise say this"
            lines.append(("confirm", f"{text}: run again with another seed and alpha={SURE:g}"))
        if self._might_assume():
            lines.append(("hint", "the scores look Gaussian: assume='gdp' bounds far more tightly, if the noise is"))
        return lines + [("health", message) for message in self.health]

    @property
    def condition(self) -> str:
        """What a sentence about the bound must add: ", if the noise is Gaussian", or nothing."""
        return f", if {self.assumes}" if self.assumes else ""

    @property
    def verdict(self) -> str:
        """In a word or two; a violation that rests on an assumption says so."""
        if self.guarantee is None:
            return "measured"
        proved = self.without is not None and self.without.violated
        return f"VIOLATED{'' if proved else self.condition}" if self.violated else "not violated"

    @property
    def finding(self) -> str:
        """The bound, where it holds and what was claimed there: the only place where these are put into words.

        A claim that fell just so is exceeded, if not by any number that could be named.
        """
        sign = ">" if self.violated and self.epsilon_lower <= self.claimed else ">="
        claimed = "" if self.guarantee is None else f", claimed {self.claimed:.4g}"
        return f"{sign} {self._shown_epsilon()} at delta = {shown_delta(self.delta)}{self.condition}{claimed}"

    @property
    def counted(self) -> str:
        """The counts behind the bound."""
        hits, others, runs = self.counts
        return f"{hits} against {others} of {runs} runs"

    @property
    def would_catch(self) -> str:
        """What a pass is worth and by which model, or why no number is named."""
        if not math.isfinite(self.detectable_epsilon):
            return f"no number: {self.power}"
        caught = f"epsilon >= {self.detectable_epsilon:.4g} would have been flagged with probability 0.99"
        return f"{caught}{self.condition}{' and' if self.assumes else ','} if {self.power}"

    def _anyway(self) -> list[tuple[str, str]]:
        if self.without is None:
            return []
        proved = " (violated)" if self.without.violated else ""
        return [("anyway", f"{self.without.finding}, whatever the noise{proved}")]

    def _might_assume(self) -> bool:
        """Whether an assumption would help: an event of scores that look Gaussian, at delta > 0, refuted nothing."""
        looks = self.event.choice is not None and self.event.choice.normal and self.method == "exact ratio test"
        tried = bool(self.assumes) or any("assume=" in message for message in self.health)
        return looks and self.delta > 0 and not self.violated and not tried

    def _shown_epsilon(self) -> str:
        """Four digits, or as many as tell it from a smaller claim."""
        digits, alike = 4, self.violated and self.epsilon_lower > self.claimed
        while digits < 17 and alike and f"{self.epsilon_lower:.{digits}g}" == f"{self.claimed:.{digits}g}":
            digits += 1
        return f"{self.epsilon_lower:.{digits}g}"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(t)}</td></tr>" for n, t in self.lines())
        return f"<table class='dpcheck-audit'>{rows}</table>"

    def to_json(self) -> str:
        """Every field, as a JSON object."""
        values = {k: getattr(self, k) for k in self.__dataclass_fields__ if k not in LONG}
        values["event"] = self.event.sentence
        values["guarantee"] = None if self.guarantee is None else str(self.guarantee)
        values["pair"] = [_plain(data) for data in self.pair]
        values["curve"] = None if self.curve is None else self.curve.to_json()
        values["without"] = None if self.without is None else json.loads(self.without.to_json())
        values["past"] = None if self.past is None else self.past.to_json()
        return json.dumps({k: _number(v) for k, v in values.items()})

    def plot(self, axes: Any = None) -> Any:
        """The measured trade-off curve with its band, against the claimed one. Needs matplotlib."""
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise MissingDependency("matplotlib", "plotting", "plot") from error
        ax = axes if axes is not None else pyplot.subplots()[1]
        if self.curve is not None:
            c = self.curve
            order = np.argsort(c.type_one)
            ax.plot(c.type_one[order], c.type_two[order], label="measured")
            ax.fill_between(c.type_one[order], c.type_two_low[order], c.type_two_high[order], alpha=0.2)
        if self.guarantee is not None:
            grid = np.linspace(0, 1, 201)
            ax.plot(grid, self.guarantee.tradeoff(grid), "--", label=f"claimed: {self.guarantee}")
        ax.set(xlabel="type I error", ylabel="type II error", title=self.verdict)
        ax.legend()
        return ax


def shown_delta(delta: float) -> str:
    """Three digits, of its distance from 1 where that is what matters.

    >>> shown_delta(1e-5), shown_delta(0.9746), shown_delta(1 - 2.5e-7)
    ('1e-05', '0.9746', '1 - 2.5e-07')
    """
    return f"1 - {1 - delta:.3g}" if delta > 0.99 else f"{delta:.4g}" if delta > 0.9 else f"{delta:.3g}"


def _plain(data: Any) -> Any:
    if isinstance(data, np.ndarray):
        return data.tolist()
    if isinstance(data, tuple | list):
        return [_plain(item) for item in data]
    if isinstance(data, np.generic):
        return data.item()
    if is_frame(data):
        return {str(name): _plain(column) for name, column in data.to_dict("list").items()}
    return data if isinstance(data, int | float | str | bool) or data is None else repr(data)


def _number(value: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


Progress = Callable[[int, int, float], None]
