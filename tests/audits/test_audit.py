"""The auditor: no false alarm (alpha = 1e-6 each, fixed seeds), and the same call flags a planted violation."""

from __future__ import annotations

import functools
import json
import traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from dpcheck.audits import AuditResult, MechanismFailed, add_remove, audit, one_user, per_run, replace_one
from dpcheck.audits.audit import Tested as Counts
from dpcheck.bounds.language.errors import InvalidInput, MixedRelations
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP

ALPHA = 1e-6
MU = float(optimize.brentq(lambda m: float(GaussianDP(m).profile(1.0)) - 1e-5, 0.01, 3.0))


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def vectors(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.asarray(data) + rng.standard_normal((trials, len(data)))


def response(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.where(rng.random(trials) < np.e / (1 + np.e), data, 1 - data)


def run(mechanism: Any, pair: Any, guarantee: Guarantee | None, **more: Any) -> AuditResult:
    return audit(mechanism, pair=pair, guarantee=guarantee, **{"max_trials": 30_000, "alpha": ALPHA, **more})


# Mechanism, pair at distance one, a true guarantee, and a pair under which the same guarantee is false.
CASES: dict[str, tuple[Any, Any, Guarantee, Any]] = {
    "laplace pure": (laplace, (0.0, 1.0), PureDP(1.0), (0.0, 1.5)),
    "laplace zcdp": (laplace, (0.0, 1.0), PureDP(1.0).to_zcdp(), (0.0, 3.0)),
    "gaussian approx": (gaussian, (0.0, MU), ApproxDP(1.0, 1e-5), (0.0, 3 * MU)),
    "gaussian gdp": (gaussian, (0.0, 1.0), GaussianDP(1.0), (0.0, 1.3)),
    "gaussian zcdp": (gaussian, (0.0, 1.0), ZCDP(0.5), (0.0, 2.0)),
    "gaussian renyi": (gaussian, (0.0, 1.0), RenyiDP(4.0, 2.0), (0.0, 2.0)),
    "vectors gdp": (vectors, (np.zeros(5), np.full(5, 5**-0.5)), GaussianDP(1.0), (np.zeros(5), np.full(5, 0.7))),
    "response": (response, (0, 1), PureDP(1.0), None),
}


@pytest.mark.parametrize("name", CASES)
def test_true_guarantees_pass_and_false_ones_fail(name: str) -> None:
    mechanism, pair, guarantee, worse = CASES[name]
    result = run(mechanism, pair, guarantee)
    assert not result.violated
    assert result.trials <= 30_000
    assert result.alpha == ALPHA
    if worse is None:
        assert run(mechanism, pair, PureDP(0.8)).violated
        return
    found = run(mechanism, worse, guarantee)
    assert found.violated
    assert found.epsilon_lower > guarantee.epsilon(found.delta)


def test_measures_without_a_claim() -> None:
    result = run(laplace, (0.0, 1.0), None, max_trials=100_000)
    assert 0.9 < result.epsilon_lower <= 1
    assert not result.violated
    assert "measured" in repr(result)
    assert run(gaussian, (0.0, 1.0), None, delta=1e-2).delta == 1e-2


def test_the_event_is_what_was_counted() -> None:
    result = run(laplace, (0.0, 1.0), PureDP(1.0))
    fresh = [result.event(laplace(data, np.random.default_rng(9), 20_000)).mean() for data in result.pair]
    favoured, other = fresh if result.direction == "first" else fresh[::-1]
    hits, others, runs = result.counts
    assert favoured == pytest.approx(hits / runs, abs=0.02)
    assert other == pytest.approx(others / runs, abs=0.02)


def test_a_null_mechanism_measures_nothing() -> None:
    result = run(lambda data, rng, trials: rng.standard_normal(trials), (0, 1), None, alpha=0.01)
    assert result.epsilon_lower < 0.05


@pytest.mark.parametrize("workers", [1, 2])
def test_same_bits_for_any_number_of_workers(workers: int) -> None:
    alone = run(laplace, (0.0, 1.0), PureDP(1.0))
    for pool in (ThreadPoolExecutor, ProcessPoolExecutor):
        with pool(workers) as executor:
            shared = run(laplace, (0.0, 1.0), PureDP(1.0), executor=executor)
        assert _facts(shared) == _facts(alone)
    assert _facts(run(laplace, (0.0, 1.0), PureDP(1.0), seed=1)) != _facts(alone)


def test_finds_a_pair_by_itself() -> None:
    def mean(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data.mean() + rng.laplace(scale=1 / len(data), size=trials)

    def wrong(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data.mean() + rng.laplace(scale=0.4 / len(data), size=trials)

    near = replace_one(low=0, high=1, n=10)
    assert not audit(mean, neighbours=near, guarantee=PureDP(1.0), max_trials=30_000, alpha=ALPHA).violated
    found = audit(wrong, neighbours=near, guarantee=PureDP(1.0), max_trials=30_000, alpha=ALPHA)
    assert found.violated
    assert near.is_pair(*found.pair)


OUTPUTS: dict[str, Any] = {
    "bool": lambda bit, rng: bool(rng.random() < (0.9 if bit else 0.3)),
    "string": lambda bit, rng: "yes" if rng.random() < (0.9 if bit else 0.3) else "no",
    "none": lambda bit, rng: None if rng.random() < (0.9 if bit else 0.3) else 1.5,
    "tuple": lambda bit, rng: (rng.random() < 0.5, "a" if rng.random() < (0.9 if bit else 0.3) else "b"),
    "ragged": lambda bit, rng: [1] * (3 if rng.random() < (0.9 if bit else 0.3) else 1),
    "mixed": lambda bit, rng: rng.random() if rng.random() < (0.9 if bit else 0.3) else "abort",
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_outputs_of_any_kind(kind: str) -> None:
    """The true epsilon is log(0.7 / 0.1) = 1.95 (1.10 the other way)."""
    mechanism = per_run(OUTPUTS[kind])
    assert not run(mechanism, (0, 1), PureDP(1.95), max_trials=4000).violated
    found = run(mechanism, (0, 1), PureDP(1.0), max_trials=4000)
    assert found.violated
    assert found.event(mechanism(1, np.random.default_rng(0), 50)).dtype == bool


def test_a_kind_of_output_the_pilot_never_saw_is_no_accident() -> None:
    """Numbers in the pilot, an abort in one of thousands of later runs; and numpy's types equal Python's."""

    def rare(data: int, rng: np.random.Generator) -> Any:
        return None if rng.random() < 2e-4 else float(rng.laplace(data))

    assert not run(per_run(rare), (0, 1), PureDP(1.2), seed=3).violated

    def types(data: int, rng: np.random.Generator) -> Any:
        value = int(rng.integers(3))
        return (
            [value, (value,), np.int64(value), "x"][int(rng.integers(4))]
            if data
            else [value, (value,), value, "x"][int(rng.integers(4))]
        )

    assert not run(per_run(types), (0, 1), PureDP(0.2)).violated


def test_per_run_without_rng_is_seeded_and_says_so() -> None:
    def coin(data: float) -> float:
        return data + np.random.laplace()  # noqa: NPY002

    first, second = (run(per_run(coin), (0.0, 3.0), PureDP(1.0), max_trials=2000) for _ in range(2))
    assert _facts(first) == _facts(second)
    assert any("global state" in message for message in first.health)


def test_deterministic_mechanisms_are_named() -> None:
    constant = run(lambda data, rng, trials: np.zeros(trials), (0, 1), PureDP(1.0))
    assert not constant.violated
    assert "deterministic" in constant.health[0]
    leak = run(lambda data, rng, trials: np.full(trials, float(data)), (0, 1), PureDP(1.0))
    assert leak.violated
    assert leak.epsilon_lower > 6
    assert "no epsilon holds" in leak.health[0]


def test_a_mechanism_that_ignores_its_rng_is_named() -> None:
    hidden = np.random.default_rng(3)
    result = run(lambda data, rng, trials: hidden.random(trials), (0, 1), PureDP(1.0))
    assert any("ignores its rng" in message for message in result.health)


def test_any_object_may_be_data() -> None:
    class Problem:
        shift = 2.0

    found = run(
        lambda data, rng, trials: data.shift + rng.laplace(size=trials),
        (Problem(), type("Q", (), {"shift": 0.0})()),
        PureDP(1.0),
    )
    assert found.violated
    json.loads(found.to_json())


def test_result_shows_itself() -> None:
    result = run(laplace, (0.0, 1.0), PureDP(1.0))
    said = json.loads(result.to_json())
    assert {
        "violated",
        "epsilon_lower",
        "delta",
        "alpha",
        "trials",
        "seconds",
        "pair",
        "event",
        "direction",
        "detectable_epsilon",
        "curve",
        "seed",
        "guarantee",
    } <= set(said)
    assert "0.99" in repr(result)
    assert "<table" in result._repr_html_()
    assert result.curve is not None
    assert np.all(result.curve.type_two_low <= result.curve.type_two)
    pytest.importorskip("matplotlib").use("Agg")
    assert result.plot() is not None


def test_progress_counts_up() -> None:
    seen: list[tuple[int, int, float]] = []
    run(laplace, (0.0, 1.0), PureDP(1.0), progress=lambda *now: seen.append(now))
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1][0] == seen[-1][1] == 30_000


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_trials": 0},
        {"max_trials": -5},
        {"max_trials": 2.5},
        {"alpha": 0.0},
        {"alpha": 1.5},
        {"seed": -1},
        {"attack": "magic"},
        {"guarantee": 1.0},
        {"guarantee": None, "delta": 2.0},
        {"guarantee": GaussianDP(1.0), "delta": 0.0},
        {"pair": (1,)},
        {"pair": None},
        {"mechanism": 3},
        {"mechanism": lambda data, rng, trials: 0.0},
        {"mechanism": lambda data, rng, trials: np.zeros(trials + 1)},
        {"mechanism": lambda data, rng, trials: np.full(trials, np.nan)},
        {"attack": lambda outputs: np.zeros(3)},
        {"pair": (np.zeros(3), np.ones(3)), "neighbours": replace_one(0, 1, n=3)},
        {"assume": "magic"},
    ],
)
def test_bad_input_is_typed(wrong: dict[str, Any]) -> None:
    call: dict[str, Any] = {
        "mechanism": laplace,
        "pair": (0.0, 1.0),
        "guarantee": PureDP(1.0),
        "max_trials": 100,
        **wrong,
    }
    with pytest.raises(InvalidInput) as caught:
        audit(call.pop("mechanism"), **call)
    assert "must be" in str(caught.value)


def test_relations_are_not_mixed() -> None:
    with pytest.raises(MixedRelations):
        audit(laplace, neighbours=add_remove(0, 1, n=3), guarantee=PureDP(1.0))
    assert not audit(laplace, neighbours=one_user(0, 1), guarantee=PureDP(1.0), max_trials=5000, alpha=ALPHA).violated


def test_a_raise_names_trial_seed_and_dataset() -> None:
    def fragile(data: int, rng: np.random.Generator) -> float:
        value = float(rng.random())
        if data == 1 and value > 0.999:
            raise ZeroDivisionError("pole")
        return value

    with pytest.raises(MechanismFailed, match=r"second dataset in trial \d+ \(seed=7\): ZeroDivisionError: pole"):
        run(per_run(fragile), (0, 1), PureDP(1.0), seed=7)


def test_a_raise_shows_the_mechanisms_frames_and_not_ours() -> None:
    """Seen: ninety lines. A mechanism deep in a library is cut to its last lines."""

    def deep(level: int) -> float:
        return deep(level - 1) + 1 if level else 1 / 0

    def broken(data: int, rng: np.random.Generator, trials: int) -> float:
        return deep(30 if data else 1)

    for wrapped in (broken, per_run(lambda data, rng: broken(data, rng, 1))):
        with pytest.raises(MechanismFailed) as raised:
            audit(wrapped, pair=(0, 1), guarantee=PureDP(1.0), max_trials=100)
        lines = "".join(traceback.format_exception(raised.value)).splitlines()
        assert len(lines) <= 25
        assert sum("/audits/" in line for line in lines) == sum("tests/audits" in line for line in lines) + 1
        assert isinstance(raised.value.__cause__, ZeroDivisionError)
        assert "in deep" in raised.value.where
    with pytest.raises(MechanismFailed) as raised:
        audit(broken, pair=(1, 0), guarantee=PureDP(1.0), max_trials=100)
    assert len(raised.value.where.splitlines()) <= 13


class TestPerRun:
    """How a function of one run is given its rng."""

    @staticmethod
    def drawn(function: Any) -> list[float]:
        return [float(x) for x in per_run(function)(5.0, np.random.default_rng(1), 2)]

    def test_by_name_wherever_it_stands(self) -> None:
        """Seen: f(data, eps=1.0, rng=None) was given None."""
        first = self.drawn(lambda data, rng: data + rng.random())
        assert self.drawn(lambda data, eps=1.0, rng=None: data + rng.random()) == first
        assert self.drawn(lambda data, *, generator: data + generator.random()) == first
        assert self.drawn(lambda data, source: data + source.random()) == first
        assert self.drawn(lambda *given: given[0] + given[1].random()) == first

    def test_random_state_with_a_default_is_a_number(self) -> None:
        """Generators are not taken by all that is called so."""
        seen = per_run(lambda data, scale=2.0, random_state=None: random_state)(0, np.random.default_rng(1), 50)
        assert len(set(seen.tolist())) == 50
        assert all(float(seed).is_integer() for seed in seen)
        assert self.drawn(lambda data, random_state: random_state.random())[0] < 1

    def test_without_one_the_global_state_is_seeded(self) -> None:
        def old(data: float, scale: float = 1.0) -> float:
            return data + np.random.laplace(scale=scale)  # noqa: NPY002 - what it is for

        assert per_run(old).global_state
        assert self.drawn(old) == self.drawn(old)

    @pytest.mark.parametrize(
        "function",
        [lambda data, eps, rng: 0, lambda data, source, eps: 0, lambda data, rng, *, eps: 0, lambda data, *, eps: 0],
    )
    def test_what_else_it_needs_is_asked_for(self, function: Any) -> None:
        with pytest.raises(InvalidInput, match=r"also needs eps.*functools\.partial\(f, eps="):
            per_run(function)
        assert per_run(functools.partial(function, eps=1.0)) is not None


def _facts(result: AuditResult) -> tuple[Any, ...]:
    return result.epsilon_lower, result.counts, result.event.sentence, result.direction, result.trials


def test_a_narrow_violation_is_told_from_the_claim_and_asks_to_be_confirmed() -> None:
    """Seen: "epsilon >= 1, claimed 1", and no word that one tight mechanism in twenty is reported so."""
    asked: dict[str, Any] = {"pair": (0.0, 2.0), "max_trials": 4000}
    bound = audit(laplace, guarantee=PureDP(1.0), **asked).epsilon_lower
    near = PureDP(bound * (1 - 1e-7))
    text = repr(audit(laplace, guarantee=near, **asked))
    shown = text.split("epsilon    >= ")[1].split()[0]
    assert shown != f"{near.eps:.4g}"
    assert float(shown) > near.eps
    assert "up to 5% of the audits" in text
    assert "confirm" not in repr(audit(laplace, guarantee=PureDP(1.0), alpha=1e-6, **asked))
    assert "confirm" not in repr(audit(laplace, guarantee=PureDP(3.0), **asked))


@pytest.mark.parametrize(("shown", "worked_out"), [(None, False), (False, False), (True, True)])
def test_no_bound_is_worked_out_that_nobody_is_shown(
    shown: bool | None, worked_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took half of the time of a small audit; who asks for progress, by a function too, gets it."""
    asked: list[float] = []
    plain = Counts.by_hand
    monkeypatch.setattr(Counts, "by_hand", lambda self, *args: (asked.append(1.0), plain(self, *args))[1])
    quiet = run(laplace, (0.0, 1.0), PureDP(1.0), max_trials=2000, progress=shown)
    assert bool(asked) == worked_out
    told: list[float] = []
    loud = run(
        laplace, (0.0, 1.0), PureDP(1.0), max_trials=2000, progress=lambda done, total, bound: told.append(bound)
    )
    assert told
    assert quiet.epsilon_lower == loud.epsilon_lower
