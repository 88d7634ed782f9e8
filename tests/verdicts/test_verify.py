"""From claims to verdicts: selection, seeds, the store, the record, replays."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Kind, Verdict
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, UnknownName
from dpcheck.bounds.registry import entries
from dpcheck.verdicts import record as record_room
from dpcheck.verdicts import replaying, verify
from dpcheck.verdicts.catalogue import current, select
from dpcheck.verdicts.judging import evidence_of
from dpcheck.verdicts.record import differences, record, recorded, recorded_of
from dpcheck.verdicts.verify import Judgement, Store, entry_of, libraries, run, verify_one, with_standing

QUICK, V = Effort(), Verdict.VACUOUS
FEW = ["zhang17.lemma9", "zhang17.lemma9.exact", "zhang17.theorem4.step"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "record"
    shutil.copytree(record_room.FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(record_room, "FOLDER", copy)
    return copy


def told(judgement: Judgement) -> list[Any]:
    """All that must not depend on who ran it: verdict, figures, details, counterexamples, seeds."""
    rows = [{k: v for k, v in e.to_json().items() if k != "seconds"} for e in judgement.evidence]
    return [judgement.id, judgement.verdict, rows]


# Selection -----------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(entries())), st.integers(2, 4))
def test_a_beginning_selects_what_begins_so(claim_id: str, words: int) -> None:
    beginning = ".".join(claim_id.split(".")[:words])
    found = select([beginning])
    assert claim_id in found
    assert found == [k for k in entries() if k == beginning or k.startswith(beginning + ".")]


@pytest.mark.parametrize("kind", Kind)
def test_filters_meet(kind: Kind) -> None:
    expected = [k for k, e in entries().items() if e.claim.kind == kind and e.algorithm == "outpert_gd"]
    if expected:
        assert select(source="zhang17", algorithm="outpert_gd", kind=kind.value) == expected
    else:
        with pytest.raises(InvalidInput, match="met by a claim"):
            select(source="zhang17", algorithm="outpert_gd", kind=kind.value)


def test_no_filter_selects_all() -> None:
    assert select() == [*entries()]
    assert select(["zhang17"]) == [k for k in entries() if k.startswith("zhang17.")]


@pytest.mark.parametrize("names", [["zhang17.lemma99"], ["zhang17.lemma9", "zhang17.lemma99"], ["nobody"]])
def test_one_unknown_name_is_enough(names: list[str]) -> None:
    with pytest.raises(UnknownName, match=f"claim is {names[-1]}"):
        select(names)


# Running -------------------------------------------------------------------------------------------
def test_workers_change_nothing() -> None:
    """Symbolic, accountant, worst-case, property and audit: bit for bit."""
    ids = [*FEW, "zhang17.lemma2.corrected", "zhang17.algorithm1.pure"]
    alone, shared = ({j.id: told(j) for j in run(ids, QUICK, executor=k, fresh=True)} for k in (1, 2))
    assert alone == shared
    assert alone.keys() == set(ids)


def test_the_seed_is_the_claims_own() -> None:
    """Not that of its place in the run. Where chance decides another seed is another run; a search looks the same."""

    @dataclass(frozen=True)
    class Seen:
        kind: str

        def run(self, claim: Claim, effort: Effort) -> Evidence:
            return Evidence(self.kind, Verdict.SUPPORTED, "", seed=effort.seed)

    kinds = ("symbolic", "accountant", "worst-case", "property", "audit", "rate")
    checks: Any = [Seen(kind) for kind in kinds]
    claims = [entry_of(claim_id).claim for claim_id in ("zhang17.lemma9", "zhang17.lemma2")]
    first, again, other, elsewhere = (
        {e.check: e.seed for e in evidence_of(claim, checks, Effort(seed=seed))}
        for claim, seed in ((claims[0], 0), (claims[0], 0), (claims[0], 1), (claims[1], 0))
    )
    assert first == again
    assert {kind for kind in kinds if first[kind] != other[kind]} == {"audit", "rate"}
    assert all(first[kind] != elsewhere[kind] for kind in kinds)


def test_a_second_run_reads_the_store(own_cache: Path) -> None:
    first = {j.id: j for j in run(FEW, QUICK, executor=1)}
    files = {f: f.stat().st_mtime_ns for f in own_cache.rglob("*.json")}
    assert sorted(f.stem for f in files if f.stem != "catalogue") == sorted(FEW)  # kept if the index is stale
    second = {j.id: j for j in run(FEW, QUICK, executor=1)}
    assert [told(j) for j in second.values()] == [told(first[k]) for k in second]
    assert {k: j.seconds for k, j in second.items()} == {k: j.seconds for k, j in first.items()}
    assert {f: f.stat().st_mtime_ns for f in own_cache.rglob("*.json")} == files


def test_a_stopped_run_goes_on_where_it_was(own_cache: Path) -> None:
    judgements = run(FEW, QUICK, executor=1)
    done = next(judgements)
    judgements.close()
    assert [f.stem for f in own_cache.rglob("zhang17*.json")] == [done.id]
    assert {j.id for j in run(FEW, QUICK, executor=1)} == set(FEW)


@pytest.mark.parametrize("damage", ["", "null", "{", '{"verdict": "PROVED"}', '{"verdict": "MAYBE", "evidence": []}'])
def test_a_damaged_store_costs_the_resume_only(own_cache: Path, damage: str) -> None:
    (before,) = run(FEW[:1], QUICK, executor=1)
    (file,) = own_cache.rglob("zhang17*.json")
    file.write_text(damage)
    (after,) = run(FEW[:1], QUICK, executor=1)
    assert told(after) == told(before)
    assert json.loads(file.read_text())["verdict"] == before.verdict


def test_effort_has_a_store_of_its_own() -> None:
    assert len({Store(e).folder for e in (QUICK, Effort(seed=1), Effort(thorough=True))}) == 3


def test_libraries_have_a_store_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "sympy" in libraries()
    before = Store(QUICK).folder
    monkeypatch.setattr(verify, "libraries", lambda: "sympy 99")
    assert Store(QUICK).folder != before


def test_other_content_is_judged_anew(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept is read for the content it was made from, and no other."""
    run_once = [*run(FEW[:1], QUICK, executor=1)]
    assert Store(QUICK).read(FEW[0]) is not None
    other = replace(current(), files={k: replace(f, digest="other") for k, f in current().files.items()})
    monkeypatch.setattr(verify, "current", lambda: other)
    assert Store(QUICK).read(FEW[0]) is None
    assert [told(j) for j in run(FEW[:1], QUICK, executor=1)] == [told(j) for j in run_once]


def test_a_store_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    monkeypatch.setenv("DPCHECK_CACHE", str(blocked))
    (found,) = run(FEW[:1], QUICK, executor=1)
    assert found.verdict is Verdict.REFUTED


# The record ----------------------------------------------------------------------------------------
def as_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.json")}


def edit(folder: Path, **verdicts: str | None) -> None:
    """Other verdicts in the record of zhang17; None takes a claim out."""
    path = folder / "zhang17.json"
    rows = json.loads(path.read_text())
    for name, verdict in verdicts.items():
        row = rows.pop(f"zhang17.{name}", {})
        rows |= {} if verdict is None else {f"zhang17.{name}": row | {"verdict": verdict}}
    path.write_text(json.dumps(rows))


def test_the_record_has_one_file_for_each_document() -> None:
    for path in record_room.FOLDER.glob("*.json"):
        assert {claim_id.split(".")[0] for claim_id in json.loads(path.read_text())} == {path.stem}
    assert recorded_of("zhang17.lemma9") == recorded()["zhang17.lemma9"]
    assert recorded_of("zhang17.lemma99") == recorded_of("nobody.lemma1") == {}


def test_running_writes_no_record(own_record: Path) -> None:
    before = as_bytes(own_record)
    differences([*run(FEW, QUICK, executor=1)])
    assert as_bytes(own_record) == before


def test_recording_keeps_the_rest_and_drops_the_gone(own_record: Path) -> None:
    before = as_bytes(own_record)
    edit(own_record, lemma9="PROVED", gone1="PROVED")
    (own_record / "gone99.json").write_text('{"gone99.lemma1": {"verdict": "PROVED"}}')
    done = [verify_one("zhang17.lemma9", QUICK)]
    assert differences(done) == [("zhang17.lemma9", "PROVED", "REFUTED")]
    record(done)
    assert differences(done) == []
    assert recorded().keys() == entries().keys()
    assert recorded()["zhang17.lemma9"]["replay"] == done[0].replay
    assert as_bytes(own_record) == before  # the same verdicts give the same files


def test_what_was_never_recorded_differs(own_record: Path) -> None:
    for path in own_record.glob("*.json"):
        path.unlink()
    done = [verify_one("zhang17.lemma9", QUICK)]
    assert differences(done) == [("zhang17.lemma9", "not recorded", "REFUTED")]


# Judgements ----------------------------------------------------------------------------------------
def piece(verdict: Verdict, point: dict[str, Any] | None = None, check: str = "symbolic") -> Evidence:
    return Evidence(check, verdict, f"{verdict} by {check}", counterexample=point)


def test_the_replay_is_that_of_the_refutation() -> None:
    """A check that found nothing may still carry the point it looked at."""
    looked, refuted = piece(Verdict.UNCHECKED, {"eps": 1.0}), piece(Verdict.REFUTED, {"eps": 2.0, "n": 3}, "accountant")
    found = Judgement("zhang17.lemma9", Verdict.REFUTED, (looked, refuted))
    assert found.replay == "dpcheck replay zhang17.lemma9 --check accountant eps=2 n=3"
    assert found.to_json()["counterexample"] == {"eps": 2.0, "n": 3}
    assert found.telling is refuted


def test_the_replay_survives_a_shell() -> None:
    found = Judgement("zhang17.lemma9", Verdict.REFUTED, (piece(Verdict.REFUTED, {"smaller error": 0.5}),))
    assert found.replay == "dpcheck replay zhang17.lemma9 --check symbolic 'smaller error=0.5'"


def test_only_refutations_replay() -> None:
    clash = (piece(Verdict.PROVED), piece(Verdict.REFUTED, {"eps": 1.0}))
    found = Judgement("zhang17.lemma9", Verdict.UNCHECKED, clash)
    assert found.replay is None
    assert found.to_json()["counterexample"] is None
    nothing = Judgement("zhang17.lemma9", Verdict.UNCHECKED, ())
    assert nothing.telling is None
    assert nothing.to_json()["check"] is None


# Citations -----------------------------------------------------------------------------------------
def test_what_a_claim_rests_on_is_named_when_it_falls(own_record: Path) -> None:
    """By this run's verdicts first, by the record where the run did not judge; and it changes no verdict."""
    done = [verify_one("zhang17.theorem2.approx.proof", QUICK), verify_one("zhang17.lemma12.convex", QUICK)]
    explicit, convex = with_standing(done)
    assert explicit.gaps == []  # lemma7 stands
    assert convex.gaps == []
    fallen = [*done, Judgement("zhang17.lemma7", Verdict.REFUTED, ()), Judgement("zhang17.lemma11.convex", V, ())]
    explicit, convex, *_ = with_standing(fallen)
    assert [g.figure for g in explicit.gaps] == ["rests on zhang17.lemma7, which is refuted"]
    assert [g.figure for g in convex.gaps] == ["rests on zhang17.lemma11.convex, which is vacuous"]
    assert [j.verdict for j in (explicit, convex)] == [j.verdict for j in done]
    edit(own_record, lemma7="REFUTED")
    assert with_standing(done[:1])[0].to_json()["gaps"] == ["rests on zhang17.lemma7, which is refuted"]


def test_a_gap_is_evidence_without_a_vote_that_replays() -> None:
    found = verify_one("zhang17.theorem1.strongly_convex", QUICK)
    assert found.verdict is Verdict.REFUTED
    (gap,) = found.gaps
    assert gap.figure == "uses zhang17.lemma3, which needs n ≥ 2; here n = 1 is allowed"
    assert found.telling is not None
    assert found.telling.check == "accountant"
    again = replaying.replay(found.id, "citation", gap.counterexample or {})
    assert replaying.shows(again)
    assert again.figure == gap.figure
    assert not replaying.shows(replaying.replay(found.id, "citation", {**(gap.counterexample or {}), "n": 2.0}))


# Replays -------------------------------------------------------------------------------------------
def test_a_replay_outside_the_hypotheses_is_refused() -> None:
    """eps = 40 breaks eps <= 1, under which the corrected formula is stated: it refutes nothing."""
    with pytest.raises(HypothesisViolated, match=r"zhang17.algorithm1.approx.corrected does not apply.*ε ≤ 1"):
        replaying.replay("zhang17.algorithm1.approx.corrected", "accountant", {"eps": 40.0, "delta": 1e-3})
    shown = replaying.replay("zhang17.algorithm1.approx", "accountant", {"eps": 40.0, "delta": 1e-3})
    assert shown.verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim_id", "kind", "point", "words"),
    [
        ("zhang17.lemma9", "symbolic", {"eps": -2.0, "q": 0.1}, "eps is -2.0"),
        ("zhang17.lemma9", "symbolic", {"eps": float("nan"), "q": 0.1}, "eps is nan"),
        ("zhang17.lemma9", "symbolic", {"eps": 2.0}, r"complete, with \['q'\]"),
        ("zhang17.theorem1", "accountant", {"eps": 36.0}, "complete, with delta"),
        ("zhang17.theorem3.pure", "symbolic", {"x": 3.0}, r"with one of \['D'\]"),
        ("zhang17.theorem5.privacy", "audit", {"seed": 3}, "complete, with trials"),
        ("zhang17.lemma2", "property", {"n": 3}, "complete, with"),
        ("zhang17.lemma9", "audit", {"eps": 2.0}, r"check is audit; it must be one of \['symbolic'\]"),
        ("zhang17.lemma99", "symbolic", {}, "claim is zhang17.lemma99"),
        ("zhang17.theorem2", "symbolic", {}, "one of its parts: zhang17.theorem2.pure"),
    ],
)
def test_a_bad_replay_is_one_sentence(claim_id: str, kind: str, point: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        replaying.replay(claim_id, kind, point)


def test_a_point_where_nothing_is_wrong() -> None:
    assert replaying.replay("zhang17.lemma9", "symbolic", {"eps": 0.1, "q": 0.1}).verdict is Verdict.UNCHECKED


def test_by_chance_are_the_claims_that_draw_samples() -> None:
    asked = ["zhang17.lemma2", "dwang20.theorem3.1.6", "wangxu19.section.experiments.eps", "zhang17.theorem1"]
    assert verify.by_chance(asked) == asked[1:]
