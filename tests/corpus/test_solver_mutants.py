"""Mistakes planted in our own solvers are noticed: a share of them here, all of them on docs/solver-mutants.md.

Audits and statistical promises have a false-alarm rate of 1e-6; a solver without a mistake is noticed by none of them,
which test_conformance.py shows of every one.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from corpus.mistakes import MISTAKES
from corpus.solver_mutants import Looked, broken_promise, caught, fitting, harmless, look, looked_at, mutant_of, page
from corpus.solver_mutants import subject as subject_of
from dpcheck.solvers.finding import solvers

QUICK = ("laplace", "gaussian", "dp_gd", "dp_fw_l2")  # cheap to look at, and every mistake but one fits one of them
ALL = fitting(QUICK)
SHARE = [ALL[i] for i in np.random.default_rng(20).choice(len(ALL), 6, replace=False)]


@pytest.mark.parametrize(("stem", "mistake"), SHARE, ids=[f"{stem}: {mistake}" for stem, mistake in SHARE])
def test_mutants_are_noticed_or_harmless(stem: str, mistake: str) -> None:
    said = look((stem, mistake))
    assert said.noticed or said.harmless


def test_a_step_that_is_not_counted_is_noticed_though_no_audit_sees_it() -> None:
    said = look(("dp_gd", "one step too few is counted"))
    assert not said.audited
    assert "accounts for" in said.promise


def test_noise_after_the_projection_is_no_mistake_of_privacy_and_noticed() -> None:
    """On an average of iterates, far inside of the set; where nothing is added to the output, it is no mistake."""
    said = look(("bassily_sgd", "noise after the projection"))
    assert not said.audited
    assert "made of the noisy answers" in said.promise
    assert "noise after the projection" not in {mistake for _, mistake in fitting(["dp_fw_l1"])}


def test_mistakes_of_every_kind_fit_somewhere() -> None:
    kinds = {
        "sensitivity",
        "clipping",
        "noise scale",
        "composition",
        "sampling",
        "seed reuse",
        "projection before noise",
    }
    kinds |= {"off by one", "wrong norm", "wrong relation"}
    assert kinds <= {mistake.kind for mistake in MISTAKES}
    assert {mistake for _, mistake in fitting([*QUICK, "dp_sgd"])} == {mistake.name for mistake in MISTAKES}


def test_what_has_no_mistake_is_noticed_by_nobody() -> None:
    solver = solvers()["gaussian"].example().solver
    assert broken_promise(solver) == ""
    assert not caught(solver, subject_of(solver))


def test_a_mutant_that_keeps_its_promise_is_harmless() -> None:
    """The honest account decides, not the mistake's name."""
    mistake = next(m for m in MISTAKES if m.name == "half the noise")
    honest = solvers()["gaussian"].example().solver
    assert harmless(honest, subject_of(honest), mistake)  # with all its noise
    assert not harmless(mutant_of("gaussian", mistake.name), subject_of(honest), mistake)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    journal = tmp_path / "looked.jsonl"
    known = Looked("gaussian", "half the noise", False, "a promise", True)
    journal.write_text(json.dumps(asdict(known)) + "\n" + '{"stem": "gaus', encoding="utf-8")  # a line half written
    assert looked_at([("gaussian", "half the noise")], journal=journal) == [known]
    both = [("gaussian", "half the noise"), ("gaussian", "a fixed seed")]
    assert looked_at(both, journal=journal) == looked_at(both, journal=journal)
    assert len(journal.read_text(encoding="utf-8").splitlines()) == 3


def test_the_page_names_what_was_missed() -> None:
    said = [
        Looked("gaussian", "half the noise", False, "a promise", True),
        Looked("laplace", "half the noise", False, "", False),
        Looked("dp_gd", "half the noise", True, "", False),
    ]
    text = page(said, 3)
    assert "| half the noise | noise scale | 3 | 1 | 1 of 2 | 1 of 2 | 1 of 2 |" in text
    assert f"Looked at: 3 of 9, of 3 of {len(solvers())} solvers, drawn with seed 4." in page(said, 9, seed=4)
    assert text.endswith("## Missed\n\n- `laplace`: half the noise\n")
