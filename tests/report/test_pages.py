"""Pages that need nothing else: what they must show, that nothing is fetched, that nothing is taken for markup."""

from __future__ import annotations

import html
import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import AuditResult, audit, replace_one
from dpcheck.bounds.language.evidence import DOCUMENTS, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.cli.main import main
from dpcheck.report.audit_page import LONGEST, audit_page
from dpcheck.report.tradeoff_curve import curve_of, curve_svg
from dpcheck.report.verdict_browser import Browser, proof_steps, verdict_browser
from dpcheck.testing import run_ledger as ledger
from dpcheck.testing.assertions import assert_private
from dpcheck.verdicts.catalogue import catalogue, current
from dpcheck.verdicts.record import recorded

MOST_BYTES_A_CLAIM = 8_300  # formulas as MathML; the page is a twelfth of that in a compressed transfer
EMPTY = {"meta", "input", "br", "wbr", "line", "polyline", "polygon", "circle", "mspace"}


class Checker(HTMLParser):
    """Opens and closes every element, names no address but its own, and gathers ids and links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in EMPTY:
            self.open.append(tag)
        values = dict(attrs)
        assert tag not in ("link", "img", "iframe", "object", "embed")
        assert not {"src", "srcset", "xlink:href", "onclick", "onload"} & values.keys()
        self.ids += [values["id"]] if values.get("id") else []
        self.links += [values["href"]] if values.get("href") else []

    def handle_endtag(self, tag: str) -> None:
        assert tag in EMPTY or self.open.pop() == tag


def checked(page: str) -> Checker:
    """A page that is whole, offline, and has no id twice."""
    found = Checker()
    found.feed(page)
    found.close()
    assert found.open == []
    assert len(set(found.ids)) == len(found.ids)
    assert all(link.startswith("#") for link in found.links)
    assert not re.search(r"https?://|@import|url\(", page)
    return found


def text_of(part: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", part))


# Verdicts ------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def verdicts() -> str:
    return verdict_browser([*catalogue()], recorded(), current(), "all of them")


@pytest.fixture(scope="module")
def claims(verdicts: str) -> dict[str, str]:
    """The view of each claim."""
    parts = re.findall(r"<article id='([^']+)'>(.*?)</article>", verdicts, re.DOTALL)
    return dict(parts)


def test_the_page_of_verdicts_is_whole(verdicts: str, claims: dict[str, str]) -> None:
    found = checked(verdicts)
    assert len(verdicts.encode()) < MOST_BYTES_A_CLAIM * len(claims)
    assert set(claims) == set(catalogue())
    assert {link[1:] for link in found.links if link != "#" and not link.startswith("#?")} <= {*found.ids}
    assert verdicts.count("<tr data-id=") == len(claims)


def test_each_claim_shows_what_is_known(claims: dict[str, str]) -> None:
    """Verdict, place, words, statement as mathematics, each hypothesis, each figure, severity, replay."""
    known = recorded()
    for claim_id, row in catalogue().items():
        view, kept = claims[claim_id], known.get(claim_id, {})
        said, titles = text_of(view), html.unescape(" ".join(re.findall(r"title='([^']*)'", view)))
        for words in (kept.get("verdict", "not recorded"), DOCUMENTS[row.document], row.place, row.says, row.kind):
            assert words in said, (claim_id, words)
        assert "<math" in view.partition("<section>")[0]
        for label, _, hypothesis in (detail.partition(": ") for detail in row.details):
            if label in ("assumes", "added"):
                assert hypothesis in said or hypothesis in titles, (claim_id, hypothesis)
        for piece in kept.get("evidence", []):
            for words in re.split(r"\b\w+(?:=| in )(?=[-.\d\[])", piece["figure"]):  # names are the document's instead
                assert words in said, claim_id
            assert all(premise in said for premise in piece.get("premises", ())), claim_id
        assert kept.get("severity", "") in said
        assert kept.get("replay") is None or kept["replay"] in said
        assert said.count("added") >= sum(detail.startswith("added: ") for detail in row.details)


def test_a_counterexample_is_in_the_documents_symbols(claims: dict[str, str]) -> None:
    symbols, shown = current().symbols, 0
    for claim_id, kept in recorded().items():
        if kept["verdict"] != Verdict.REFUTED or not kept["replay"]:
            continue
        part = claims[claim_id].partition("<h3>counterexample</h3>")[2].partition("</section>")[0]
        point = [word.partition("=")[::2] for word in shlex.split(kept["replay"]) if "=" in word]
        assert part.count("<tr>") == len(point)
        for name, number in point:
            assert f"title='{number}'" in part
            meaning = symbols.get(name, "").partition("): ")[2].partition(" (")[0]
            assert meaning in re.sub(r"\s+", " ", text_of(part))
            shown += bool(meaning)
        if "eps" in dict(point):
            assert "<mi>ε</mi>" in part
    assert shown > 100


def test_figures_are_in_the_documents_symbols() -> None:
    odd = {"check": "accountant", "verdict": "REFUTED", "figure": "at eps=0.5, words=2, delta in [0, 1]", "detail": ""}
    record = {"zhang17.lemma2": {"verdict": "REFUTED", "replay": None, "evidence": [odd]}}
    page = verdict_browser(["zhang17.lemma2"], record, current(), "one")
    assert page.count("at ε = 0.5, words=2, δ in [0, 1]") == 2  # in the listing, and in the claim's view


def test_a_refuted_claim_leads_to_its_correction(claims: dict[str, str]) -> None:
    known, seen = recorded(), 0
    for row in catalogue().values():
        if row.corrects in claims and known.get(row.corrects, {}).get("verdict") == Verdict.REFUTED:
            part = claims[row.corrects].partition("<h3>use instead</h3>")[2].partition("</section>")[0]
            assert f"href='#{row.id}'" in part
            assert known[row.id]["verdict"] in part
            words = known[row.corrects].get("instead", "").partition(f"{row.statement}, ")[2]
            assert words in text_of(part)
            seen += 1
    assert seen > 20


def test_a_proof_is_shown_step_by_step() -> None:
    text = "Δ_t ≤ x + y [by (1): ‖a[k]‖ ≤ b] ≤ 2·x [algebra] = z [zhang17.lemma2]"
    assert proof_steps(text) == [
        ("Δ_t ≤ x + y", "by (1): ‖a[k]‖ ≤ b"),
        ("≤ 2·x", "algebra"),
        ("= z", "zhang17.lemma2"),
    ]
    for sentence in ("", "exact laws", "[356] output perturbation: printed x", "x ≤ y [algebra] and then words"):
        assert proof_steps(sentence) == []


def test_some_claims_alone() -> None:
    """Claims that are not on the page are named, not linked."""
    page = verdict_browser(["zhang17.lemma2"], recorded(), current(), "one")
    assert [link for link in checked(page).links if "lemma2.corrected" in link] == []
    assert "zhang17.lemma2.corrected" in text_of(page)
    here, other = Browser(["zhang17.lemma2"], recorded(), current()), catalogue()["zhang17.lemma3"]
    said = here.linked("by zhang17.lemma2.corrected, as zhang17.lemma2.", other)
    assert said.startswith("by zhang17.lemma2.corrected, as <a href='#zhang17.lemma2'>")


def test_what_is_not_recorded_is_said() -> None:
    page = verdict_browser(["zhang17.lemma2"], {}, current(), "one")
    checked(page)
    assert "data-verdict='not recorded'" in page


def test_nothing_is_taken_for_markup() -> None:
    odd = {"check": "audit", "verdict": "REFUTED", "figure": "<b>&'\"", "detail": "<script>alert(1)</script>"}
    record = {"zhang17.lemma2": {"verdict": "REFUTED", "replay": "dpcheck replay x <i>=2", "evidence": [odd]}}
    page = verdict_browser(["zhang17.lemma2"], record, current(), "<u>lead</u>")
    checked(page)
    assert not re.search(r"<b>&|<script>alert|<i>=|<u>lead", page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_verify_writes_it_from_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without judging, or before it: who stops at once has the page."""

    def judging(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpcheck.verdicts.verify.run", judging)
    for options, code in ((("--recorded", "--markdown", str(tmp_path / "v.md")), 0), ((), 130)):
        file = tmp_path / f"{code}.html"
        assert main(["verify", "zhang17", "--html", str(file), *options]) == code
        assert "claims, as recorded" in file.read_text()
        checked(file.read_text())
    assert (tmp_path / "v.md").read_text().startswith("# Verdicts")
    assert "claims, as recorded" in capsys.readouterr().out


def test_a_run_replaces_what_was_recorded(tmp_path: Path) -> None:
    file = tmp_path / "v.html"
    assert main(["verify", "zhang17.lemma9.exact", "--html", str(file), "--workers", "1"]) == 0
    assert "1 claim, judged in this run" in file.read_text()


@pytest.mark.parametrize("options", [(), ("--json", "v.json"), ("--html", "v.html", "--record")])
def test_recorded_is_for_pages(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "zhang17.lemma2", "--recorded", *options]) == 2
    assert "for pages: --html or --markdown" in re.sub(r"\s+", " ", capsys.readouterr().err)
    assert not [*tmp_path.iterdir()]


# Audits --------------------------------------------------------------------------------------------
def noisy(scale: float) -> Any:
    return lambda data, rng, trials: np.sum(data) + rng.laplace(scale=scale, size=trials)


def result_of(scale: float, claim: Guarantee, **options: Any) -> AuditResult:
    where = {"neighbours": replace_one(low=0, high=1, n=3)} if "pair" not in options else {}
    return audit(noisy(scale), guarantee=claim, max_trials=20_000, seed=1, **where, **options)


def test_an_audit_shows_pair_event_power_and_replay() -> None:
    result = result_of(1.0, PureDP(1.0))
    page = audit_page("shop:sum", result, replay="dpcheck audit shop:sum --epsilon 1")
    checked(page)
    said = text_of(page)
    for name, words in result.lines():
        assert name in ("verdict", "pair") or words in said
    for words in (str(result.event), repr(result.pair[0]), repr(result.pair[1]), "dpcheck audit shop:sum --epsilon 1"):
        assert words in said
    assert "<svg" in page


@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(0.5, 1e-3)])
def test_the_event_lies_on_the_measured_curve(pair: tuple[float, float], claim: Guarantee) -> None:
    """Whichever dataset it favours. The mirror image of the point, the easy mistake, lies off it."""
    result = result_of(0.5, claim, pair=pair)
    drawn = curve_of(result)
    x, y = drawn["event"]
    curve = np.array(drawn["measured"])

    def inside(at: float, height: float) -> bool:
        low, high = (np.interp(at, curve[:, 0], curve[:, k]) for k in (2, 3))
        return bool(low - 0.02 <= height <= high + 0.02)

    assert inside(x, y)
    assert not inside(1 - x, 1 - y)
    claimed = np.array(drawn["claimed"])
    assert np.all(claimed[:, 1] <= 1 - claimed[:, 0] + 1e-9)
    assert result.violated
    assert y < np.interp(x, claimed[:, 0], claimed[:, 1])  # what a violation looks like


def test_the_curve_is_drawn_where_it_is() -> None:
    picture = curve_svg(
        {"event": [0.25, 0.5], "measured": [[0, 1, 0.9, 1], [1, 0, 0, 0.1]], "claimed": [[0, 1], [1, 0]]}
    )
    assert "<circle class='event' cx='158.0' cy='212.0'" in picture
    assert "class='measured' points='58.0,12.0 458.0,412.0'" in picture
    assert "class='band'" in picture
    bare = curve_svg({"event": None})
    assert "class='measured'" not in bare
    assert "claimed" not in bare


def test_a_long_dataset_is_cut() -> None:
    long = list(range(5000))
    page = audit_page("it", result_of(1.0, PureDP(1.0), pair=(long, [*long[:-1], 4998])))
    assert "characters more" in page
    assert len(page) < 4 * LONGEST + 60_000


# Test runs -----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def entries() -> list[ledger.Entry]:
    found: list[ledger.Entry] = []
    for name, scale in (("test_it.py::test_good", 1.0), ("test_it.py::test_<b>bare</b>", 0.3)):
        with ledger.running(ledger.RunningTest(name, 0, None, found.append)):
            try:
                assert_private(noisy(scale), pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=20_000)
            except AssertionError:
                assert scale < 1
    return found


def test_a_run_shows_each_audit(entries: list[ledger.Entry]) -> None:
    page = ledger.html_report(entries)
    checked(page)
    said = text_of(page)
    assert "<b>bare" not in page
    assert said.count("type II error") == len(entries) == 2
    for entry in entries:
        for words in (entry["test"], entry["finding"], entry["event"], entry["replay"], entry["outcome"]):
            assert words in said
    assert entries[0]["would_catch"] in said
    assert ledger.closing_line(entries) in said


def test_json_has_no_curves(entries: list[ledger.Entry]) -> None:
    for entry in json.loads(ledger.json_report(entries))["entries"]:
        assert "page" not in entry
        assert entry["replay"].startswith('pytest "test_it.py::')


def test_a_run_without_audits_has_a_page() -> None:
    checked(ledger.html_report([]))
    assert "0 audits" in ledger.html_report([])
