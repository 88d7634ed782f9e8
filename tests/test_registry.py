"""Registration: every file contributes, ids are well-formed, corrections point at what they correct."""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck import bounds
from dpcheck.bounds.language.claim import DOCUMENTS, Kind
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.registry import StatementParts, claims_of, entries, library, modules_below
from dpcheck.solvers.finding import solvers
from dpcheck.verdicts.attached import checks_in
from dpcheck.verdicts.record import recorded
from dpcheck.verdicts.verify import checks_of

KINDS = "abstract|algorithm|corollary|definition|lemma|proposition|remark|section|table|theorem|example|equation|figure"
ID = re.compile(rf"({'|'.join(DOCUMENTS)})\.({KINDS})(\d+(\.\d+)*)?(\.[a-z][a-z0-9_]*)*")

# Refuted statements without a corrected claim, and why.
UNCORRECTED = {
    "zhang17.theorem4.step": "a step of a proof whose conclusion, theorem4, holds by another way",
    "zhang17.remark.population.convex": "built on remark.population.strongly_convex, which has its correction",
    "zhang17.theorem5.privacy": "the step size depends on the data: theorem5.convex.corrected has a public one",
    "wangxu19.algorithm4.only_log": "a comparison of bounds that forgets a factor of √d",
    "dwang20.algorithm4.1.19.only_log": "a comparison of bounds that forgets a factor of √d",
    "lwang21.theorem4.5.4.condition": "two theorems at odds: theorem4.5.4.cost.private has what privacy takes",
    "lwang21.theorem4.5.4.privacy": "two theorems at odds: theorem4.5.4.cost.private has what privacy takes",
    "lwang21.section5.4.condition": "experiments outside of their theorem; their noise does: section5.4.privacy",
    "lwang21.remark5.3.3": "a reading of tight; section5.4.privacy says by how much the noise is not",
    "dwang20.theorem3.1.3.queries": "theorem 3.1.1's noise, as the proof has it: theorem3.1.3.privacy.corrected",
    "dwang20.algorithm4.3.29.hessian_noise": "the noise on Hessians is a hypothesis of theorem4.3.6.corrected",
    "dwang20.theorem3.3.4.privacy.clean": "our reading of a proof; the box goes on from noise: theorem3.3.4.privacy",
    "dwang20.theorem3.2.1.largest": "our reading of “top”; by the other, the least: theorem3.2.1.privacy",
    "dwang20.theorem4.2.3": "built on theorem4.2.11; equation4.20.corrected has what is true on three wells",
    "dwang20.theorem4.2.11": "exponential in β, not polynomial, like the spectral gap: lemma4.2.1.unavoidable",
    "dwang20.theorem4.3.2.proof": "a step of a proof, off in its units: theorem4.3.2.records.corrected has both sizes",
    "dwang20.theorem4.3.6.proof": "theorem4.3.6.corrected has this very noise, for batches that are large enough",
    "lwang21.theorem3.3.5": "without curvature no data tell θ* from others: corollary3.3.7.corrected has curvature",
    "lwang21.corollary3.3.9": "theorem3.3.5 for linear regression: corollary3.3.11.corrected has curvature",
    "lwang21.corollary3.3.13": "theorem3.3.5 for logistic regression: corollary3.3.15 has curvature",
    "lwang21.corollary3.3.7.privacy": "theorem3.3.3 with μ for λ; the teacher of theorem3.3.3.corrected is not sparse",
    "dwang20.algorithm6.3.52.server": "our reading; the algorithm trusts its server, as algorithm6.3.52.approx says",
    "lssgd20.remark1": "a reading of tight; section4.privacy says by how much the noise is not",
}


# Claims --------------------------------------------------------------------------------------------
def test_every_file_of_every_theme_contributes() -> None:
    files = {(theme, stem) for theme, stem, _ in modules_below(bounds.library)}
    assert files == {(e.theme, e.algorithm) for e in entries().values()}
    folders = {p.name for p in pkgutil.iter_modules(bounds.library.__path__) if p.ispkg}
    assert {theme for theme, _ in files} == folders


@pytest.mark.parametrize("claim_id", entries())
def test_ids_are_well_formed(claim_id: str) -> None:
    assert ID.fullmatch(claim_id)
    assert library[claim_id].id == claim_id


def test_corrections_point_at_a_claim_of_the_same_place() -> None:
    corrected = [c for c in library.values() if c.corrects is not None]
    assert len(corrected) > 15
    for claim in corrected:
        original = library[claim.corrects]
        assert original.corrects is None
        assert original.source.document == claim.source.document
        assert claim.id != original.id


def test_what_is_refuted_is_corrected_or_excused() -> None:
    """What an experiment shows has nothing to put in its place."""
    corrected = {c.corrects for c in library.values()} | {c.id for c in library.values() if c.kind is Kind.EXPERIMENT}
    refuted = {k for k, row in recorded().items() if row["verdict"] == "REFUTED"}
    assert refuted - corrected == UNCORRECTED.keys()


def test_the_record_covers_every_claim_and_no_other() -> None:
    assert recorded().keys() == entries().keys()


def test_every_claim_has_a_check() -> None:
    assert [k for k, e in entries().items() if not checks_of(e)] == []


def load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_an_imported_claim_stays_with_its_own_file(tmp_path: Path) -> None:
    """A file that comes first by name must not take over the claims it imports."""
    file = tmp_path / "aaa_first.py"
    file.write_text(
        "from dpcheck.bounds.library.convex.gradient_descent import lemma2, lemma3 as other\n"
        "from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source\n"
        "from dpcheck.bounds.language.symbols import L, ratio\n"
        "def made(name):\n"
        "    return Claim(f'zhang17.remark.{name}', Source('zhang17', 'here'), Kind.UTILITY, '.', Rate(ratio, L))\n"
        "own = made('own')\n"
        "first, second = [made(name) for name in ('first', 'second')]\n"
    )
    try:
        found = [c.id for c in claims_of(load(file, "aaa_first"))]
        assert found == ["zhang17.remark.own", "zhang17.remark.first", "zhang17.remark.second"]
    finally:
        del sys.modules["aaa_first"]
    assert entries()["zhang17.lemma2"].algorithm == "gradient_descent"


def test_a_claim_made_by_another_files_function_stands_where_it_was_made(tmp_path: Path) -> None:
    """The function's file is not the claim's: `library/nonconvex/dp_srm_experiments.py` makes its tables so."""
    (tmp_path / "bbb_maker.py").write_text(
        "from dataclasses import replace\n"
        "from dpcheck.bounds.library.convex.gradient_descent import lemma2\n"
        "def again(name): return replace(lemma2, id=f'zhang17.remark.{name}')\n"
        "kept = again('kept')\n"
    )
    (tmp_path / "ccc_user.py").write_text("from bbb_maker import again, kept\nmine = again('mine')\n")
    try:
        maker, user = (load(tmp_path / f"{name}.py", name) for name in ("bbb_maker", "ccc_user"))
        assert [c.id for c in claims_of(maker)] == ["zhang17.remark.kept"]
        assert [c.id for c in claims_of(user)] == ["zhang17.remark.mine"]
    finally:
        for name in ("bbb_maker", "ccc_user"):
            sys.modules.pop(name, None)


# Names ---------------------------------------------------------------------------------------------
POINT = {"n": 1000, "d": 5, "eps": 1.0, "L": 1.0, "beta": 0.25, "mu": 0.01}


def test_parts_are_picked_by_the_symbols_given() -> None:
    parts = library["zhang17.theorem2"]
    assert isinstance(parts, StatementParts)
    assert parts.pick(set(POINT)).id == "zhang17.theorem2.pure"
    assert parts.pick({*POINT, "delta"}).id == "zhang17.theorem2.approx"
    assert parts.pick({*POINT, "D", "T"}).id == "zhang17.theorem2.pure.proof"
    assert parts.evaluate(**POINT) == library["zhang17.theorem2.pure"].evaluate(**POINT)
    approx = {**POINT, "delta": 1e-5}
    assert parts.evaluate(**approx) == library["zhang17.theorem2.approx"].evaluate(**approx)
    assert not any(c.corrects for c in parts.claims)


def test_too_few_symbols_name_the_parts() -> None:
    with pytest.raises(InvalidInput, match=r"zhang17.theorem2.pure.*Name the part"):
        library["zhang17.theorem2"].evaluate(n=10)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(entries())), st.data())
def test_a_misspelt_id_gets_near_ones(claim_id: str, data: st.DataObject) -> None:
    """One letter of the number or the words lost: the error still names a real claim."""
    at = data.draw(st.integers(claim_id.index(".") + 1, len(claim_id) - 1))
    wrong = claim_id[:at] + "§" + claim_id[at + 1 :]
    with pytest.raises(UnknownName) as caught:
        library[wrong]
    hinted = re.findall(r"\w+\d\d\.[\w.]*\w", caught.value.remedy)
    assert hinted
    assert all(name in entries() for name in hinted)


def test_a_name_like_nothing() -> None:
    with pytest.raises(UnknownName, match="dpcheck claims"):
        library["qqqqqq"]
    assert "qqqqqq" not in library
    assert library.get("qqqqqq") is None
    assert len(library) == len([*library])


# Solvers -------------------------------------------------------------------------------------------
def test_solvers_stand_beside_their_claims() -> None:
    stems = {e.algorithm for e in entries().values()}
    assert solvers().keys() <= stems
    assert {"outpert_gd", "rrpsgd", "bassily_sgd"} <= solvers().keys()
    assert all(solver.name == stem for stem, solver in solvers().items())


def test_files_of_evidence_attach_their_checks() -> None:
    attached = entries()["zhang17.lemma2"]
    assert [c.kind for c in checks_of(attached)] == [*(c.kind for c in attached.claim.checks), "property"]


def test_a_check_of_an_unknown_claim_is_refused() -> None:
    module = ModuleType("dpcheck_evidence_of_nothing")
    module.CHECKS = {"zhang17.lemma2": [], "zhang17.lemma99": []}
    sys.modules[module.__name__] = module
    try:
        with pytest.raises(UnknownName, match=r"CHECKS of dpcheck_evidence_of_nothing.py is zhang17.lemma99"):
            checks_in(module.__name__, entries())
    finally:
        del sys.modules[module.__name__]


def test_seven_kinds_of_check_are_in_use() -> None:
    kinds = {c.kind for e in entries().values() for c in checks_of(e)}
    assert kinds == {"symbolic", "accountant", "worst-case", "audit", "rate", "property", "exact"}


def test_a_solver_is_found_by_stem_or_class_without_the_others() -> None:
    script = (
        "import sys, dpcheck as dp\n"
        "from dpcheck.solvers.finding import solver_named, solvers\n"
        "found = dp.solvers.OutputPerturbationGD\n"
        "assert solver_named('outpert_gd') is found and solver_named('dp_pgd_experiments') is None\n"
        "assert solver_named('no_such') is None and solver_named('../dp_gd') is None\n"
        "assert 'dpcheck.solvers.nonconvex.dp_srm' not in sys.modules\n"
        "assert all(solver_named(stem) is solver for stem, solver in solvers().items())\n"
        "assert all(getattr(dp.solvers, solver.__name__) is solver for solver in solvers().values())\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
