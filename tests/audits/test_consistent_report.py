"""Every number that a person sees agrees with every other: text, JSON, HTML, the failing test, the command line."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcheck import progress
from dpcheck.audits import AuditResult, audit, replace_one
from dpcheck.audits.pairs.pair_in_words import difference, pair_words
from dpcheck.audits.result import shown_delta
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from dpcheck.cli.main import main
from dpcheck.report.audit_page import audit_page
from dpcheck.testing import run_ledger as ledger
from dpcheck.testing.assertions import PrivacyViolation, assert_private

NUMBER = r"(1 - )?[-+.e\d]+|inf"


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.normal(size=trials)


def leak(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.full(trials, float(data))


CASES: dict[str, tuple[Any, Any, Guarantee | None, dict[str, Any]]] = {
    "pass": (laplace, (0.0, 1.0), PureDP(1.0), {}),
    "violation": (laplace, (0.0, 2.0), PureDP(1.0), {}),
    "leak": (leak, (0.0, 1.0), PureDP(1.0), {}),
    "leak in few trials": (leak, (0.0, 1.0), PureDP(0.1), {"max_trials": 60}),
    "too few": (laplace, (0.0, 1.0), PureDP(8.0), {"max_trials": 100}),
    "no claim": (laplace, (0.0, 1.0), None, {}),
    "near delta 1": (gaussian, (0.0, 20.0), GaussianDP(6.0), {"max_trials": 20_000}),
    "approx": (laplace, (0.0, 2.0), ApproxDP(0.5, 0.01), {}),
    "early": (laplace, (0.0, 3.0), PureDP(1.0), {"stop_early": True}),
    "early curve": (gaussian, (0.0, 3.0), ZCDP(0.5), {"stop_early": True}),
    "early pass": (laplace, (0.0, 1.0), PureDP(1.0), {"stop_early": True, "max_trials": 300}),
    "gdp": (gaussian, (0.0, 1.5), GaussianDP(1.0), {"assume": "gdp"}),
}


def result_of(name: str) -> AuditResult:
    mechanism, pair, claim, more = CASES[name]
    return audit(mechanism, pair=pair, guarantee=claim, **{"max_trials": 4000, "alpha": 1e-3, **more})


def value(text: str) -> float:
    """What `shown_delta` and the formats write."""
    return 1 - float(text[4:]) if text.startswith("1 - ") else float(text)


def numbers(text: str) -> dict[str, float]:
    """The figures that a report in words gives."""
    found = re.search(rf"epsilon\s+>=? (?P<epsilon>{NUMBER}) at delta = (?P<delta>{NUMBER})", text)
    assert found is not None, text
    told = {name: value(found[name]) for name in ("epsilon", "delta")}
    told["alpha"] = float(re.search(r"(?:false-alarm rate|probability at most) ([-+.e\d]+)", text)[1])  # type: ignore[index]
    counts = re.search(r"(\d+) against (\d+) of (\d+) runs", text)
    assert counts is not None
    told |= {name: float(counts[i + 1]) for i, name in enumerate(("hits", "others", "runs"))}
    for name, pattern in (("claimed", rf"claimed ({NUMBER})"), ("trials", r"(\d+) trials per dataset")):
        if (part := re.search(pattern, text)) is not None:
            told[name] = float(part[1])
    return told


def agree(told: dict[str, float], said: dict[str, Any]) -> None:
    """Numbers in words are those of the JSON, to the digits that words give."""
    names = {"epsilon": "epsilon_lower", "delta": "delta", "alpha": "alpha", "claimed": "claimed", "trials": "trials"}
    for name, full in names.items():
        if name in told:
            digits = 6e-3 if name == "delta" else 6e-4
            assert told[name] == pytest.approx(float(said[full]), rel=digits, abs=1e-9), name
    if told["delta"] > 0.9:
        assert 1 - told["delta"] == pytest.approx(1 - said["delta"], rel=0.02, abs=1e-15)
    assert [told["hits"], told["others"], told["runs"]] == said["counts"]


@pytest.mark.parametrize("name", CASES)
def test_text_json_and_page_agree(name: str) -> None:
    result = result_of(name)
    said = json.loads(result.to_json())
    page = html.unescape(re.sub(r"<[^>]+>", " ", audit_page("it", result)))
    for text in (repr(result), page):
        agree(numbers(text), said)
        assert result.verdict in text


@pytest.mark.parametrize("name", CASES)
def test_no_line_contradicts_another(name: str) -> None:
    """Seen: VIOLATED beside "too few trials to catch any violation"; "would have been flagged" without a claim;
    34 against 2 of 40 runs beside 37 trials; "epsilon >= 1, claimed 1" as a violation.
    """
    result = result_of(name)
    text = repr(result)
    hits, others, runs = result.counts
    assert 0 <= hits <= runs
    assert 0 <= others <= runs <= result.trials
    if name.startswith("early"):
        assert runs == result.trials
    assert ("inf" in text) is False
    assert not (result.violated and ("too few trials" in text or "power" in text))
    assert ("power" in text) == (result.guarantee is not None and not result.violated)
    assert ("no number" in text) == ("power" in text and math.isinf(result.detectable_epsilon))
    assert ("flagged" in text) <= (result.guarantee is not None)
    assert ("VIOLATED" in text) == result.violated
    if result.violated:
        sign = ">" if result.epsilon_lower == result.claimed else ">="
        assert f"epsilon    {sign} " in text
        assert result.epsilon_lower >= result.claimed


@pytest.mark.parametrize("name", ["violation", "leak", "near delta 1", "early", "early curve"])
def test_the_failing_test_says_the_same(name: str) -> None:
    mechanism, pair, claim, more = CASES[name]
    assert claim is not None
    entries: list[dict[str, Any]] = []
    with (
        ledger.running(ledger.RunningTest("test_x.py::test_it", 0, None, entries.append)),
        pytest.raises(PrivacyViolation) as caught,
    ):
        assert_private(mechanism, pair=pair, guarantee=claim, **{"max_trials": 4000, "alpha": 1e-3, **more})
    result = caught.value.result
    said = json.loads(result.to_json())
    agree(numbers(str(caught.value)), said)
    assert result.finding in ledger.line_of("test_it", entries, failed=True)
    assert html.escape(result.finding) in ledger.html_report(entries)
    assert json.loads(ledger.json_report(entries))["entries"][0]["epsilon_lower"] == said["epsilon_lower"]


MODULE = """
import time
import numpy as np
def noisy(data, rng, trials):
    return data.sum() + rng.laplace(size=trials)
def interrupted(data, rng, trials, seen=[]):
    seen.append(trials)
    if sum(seen) > 3000:
        raise KeyboardInterrupt
    return data.sum() + rng.laplace(size=trials)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "consistent_module.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("mode", [(), ("--stop-early",)])
def test_the_command_line_says_the_same_and_promised_no_more(
    mode: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen: 1.004 so far, then 0.7266 certified. A short audit prints nothing: what it would show is looked at."""
    told: list[str] = []
    update = progress.Meter.update
    monkeypatch.setattr(progress.Meter, "update", lambda *seen: (told.append(seen[-1]), update(*seen))[1])
    words = ["consistent_module:noisy", "--epsilon", "1.2", "--replace-one", "0", "1", "--n", "2", "--trials", "20000"]
    assert main(["audit", *words, *mode, "--json", "out.json", "--html", "out.html"]) == 0
    heard = capsys.readouterr()
    said = json.loads(Path("out.json").read_text())
    agree(numbers(heard.out), said)
    agree(numbers(html.unescape(re.sub(r"<[^>]+>", " ", Path("out.html").read_text()))), said)
    sofar = [float(bound) for bound in re.findall(r"epsilon >= (\S+) certified so far", "\n".join(told))]
    assert sofar
    assert max(sofar) <= said["epsilon_lower"] * (1 + 1e-3)
    assert "searching for a pair" in told


def test_a_stop_in_the_search_counts_what_was_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seen: "stopped after 0 of 2000 trials" after eight seconds of search."""
    words = ["consistent_module:interrupted", "--epsilon", "1", "--replace-one", "0", "1", "--trials", "20000"]
    assert main(["audit", *words, "--json", "out.json"]) == 130
    said = json.loads(Path("out.json").read_text())
    assert said["stage"] == "search"
    assert 500 < said["trials"] < 3000
    assert f"stopped after {said['trials']} of 20000 trials (searching for a pair)" in capsys.readouterr().out


def test_stages_are_told_and_their_runs_add_up() -> None:
    told: list[tuple[str, int]] = []

    class Watch:
        def stage(self, name: str, done: int, total: int) -> None:
            told.append((name, done))

        def __call__(self, done: int, total: int, bound: float) -> None:
            told.append(("test", done))

    near = replace_one(low=0.0, high=1.0, n=3)
    result = audit(_sum, neighbours=near, guarantee=PureDP(1.0), max_trials=4000, progress=Watch())
    names, done = zip(*told, strict=True)
    assert list(dict.fromkeys(names)) == ["search", "pilot", "test"]
    assert list(done) == sorted(done)
    assert done[-1] == result.trials
    before = max(count for name, count in told if name != "test")
    assert before == result.trials - result.counts[2]


def _sum(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data.sum() + rng.laplace(size=trials)


@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.3, 0.9746, 0.99999, 1 - 1e-12])
def test_no_delta_is_shown_as_another(delta: float) -> None:
    assert value(shown_delta(delta)) == pytest.approx(delta, rel=6e-3)
    assert shown_delta(delta) != "1"


def test_a_pair_is_shown_whole_or_by_where_it_differs() -> None:
    long, other = np.zeros(100), np.zeros(100)
    other[41] = 0.5
    assert pair_words((np.zeros(2), np.ones(2))) == "array([0., 0.])  and  array([1., 1.])"
    assert "record 41 is 0.0 in the first, 0.5 in the second" in pair_words((long, other))
    assert "result.pair[0]" in pair_words((long, other))
    assert "(100,)" in pair_words((long, other))
    assert difference(long, np.append(long, 7.0)) == "record 100, 7.0, is in the second only"
    assert difference([3, 1, 2], [1, 2]) == "record 0, 3, is in the first only"
    assert difference((long, 0), (other, 0)) == "part 0, record 41 is 0.0 in the first, 0.5 in the second"
    assert difference({"a": 1, "b": 2}, {"a": 1, "b": 3}) == "key 'b' is 2 in the first, 3 in the second"
    assert difference({"a": 1}, {"a": 1, "c": 3}) == "key 'c', 3, is in the second only"
    assert "1 more" in difference(np.zeros(9), np.ones(9) * (np.arange(9) < 2))
    assert difference("left", "right") == "the dataset is 'left' in the first, 'right' in the second"
