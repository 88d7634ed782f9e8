"""What a verdict depends on: one algorithm's file leaves the others standing, the engine does not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpcheck.bounds.registry import entries
from dpcheck.verdicts import catalogue as module
from dpcheck.verdicts.catalogue import (
    catalogue,
    closure,
    is_engine,
    is_theme,
    libraries,
    made,
    reads_all_claims,
    sources,
)

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return sources()


@pytest.fixture(scope="module")
def before(files: dict[str, str]) -> dict[str, str]:
    return contents(files)


def contents(files: dict[str, str]) -> dict[str, str]:
    """Every claim's content, with these digests of the files."""
    return {k: row.content for k, row in made(files).items()}


def invalidated(files: dict[str, str], before: dict[str, str], changed: str) -> set[str]:
    """The claims that an edit of one module would have judged anew."""
    assert changed in files
    after = contents(files | {changed: "edited"})
    return {k for k in before if after[k] != before[k]}


def claims_in(*stems: str) -> set[str]:
    return {k for k, e in entries().items() if e.algorithm in stems}


# Content -------------------------------------------------------------------------------------------
def test_an_algorithms_file_invalidates_itself_and_who_uses_it(files: dict[str, str], before: dict[str, str]) -> None:
    lost = invalidated(files, before, "dpcheck.bounds.library.mechanisms.laplace")
    assert claims_in("laplace") <= lost
    assert not lost & claims_in("gradient_descent", "rrpsgd", "gaussian", "subsampling")
    used = invalidated(
        files, before, "dpcheck.bounds.library.mechanisms.subsampling"
    )  # cited by Theorem 4 and by the baseline
    assert used >= claims_in("subsampling") | {"zhang17.theorem4", "zhang17.section4.minibatch"}
    assert not used & claims_in("gradient_descent", "laplace", "gaussian")
    imported = invalidated(files, before, "dpcheck.bounds.library.convex.gradient_descent")
    assert imported >= claims_in("gradient_descent", "outpert_gd")


def test_a_solvers_file_invalidates_the_claims_it_attaches_to(files: dict[str, str], before: dict[str, str]) -> None:
    lost = invalidated(files, before, "dpcheck.solvers.nonconvex.rrpsgd")
    assert lost >= {"zhang17.theorem4", "zhang17.theorem5.privacy", "zhang17.theorem5.general"}
    assert "zhang17.lemma4" not in lost  # the same file of claims, but no check of this solver


@pytest.mark.parametrize(
    "changed",
    [
        "dpcheck.bounds.language.claim",
        "dpcheck.bounds.proving.proofs",
        "bounds",
        "dpcheck.audits.statistics.intervals",
        "dpcheck.evidence.checks",
    ],
)
def test_the_engine_invalidates_all(files: dict[str, str], before: dict[str, str], changed: str) -> None:
    assert invalidated(files, before, changed) == before.keys()


@pytest.mark.parametrize("changed", ["dpcheck.cli.main", "dpcheck.report.terminal", "dpcheck.cli.audit_command"])
def test_what_only_shows_invalidates_nothing(files: dict[str, str], before: dict[str, str], changed: str) -> None:
    assert invalidated(files, before, changed) == set()


def test_libraries_invalidate_all(
    files: dict[str, str], before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "sympy" in libraries()
    monkeypatch.setattr(module, "libraries", lambda: "sympy 99")
    assert all(content != before[k] for k, content in contents(files).items())


def test_themes_and_engine() -> None:
    assert is_theme("dpcheck.bounds.library.convex.outpert_gd")
    assert is_theme("dpcheck.solvers.convex.outpert_gd")
    assert not any(
        map(
            is_theme,
            (
                "dpcheck.bounds.language.claim",
                "dpcheck.bounds.library.convex",
                "dpcheck.solvers.convex",
                "dpcheck.adapters.opendp",
            ),
        )
    )
    assert is_engine("dpcheck.bounds.library.convex")
    assert is_engine("bounds.performance.solve")
    assert not is_engine("dpcheck.cli.theory_commands")


def test_a_check_that_reads_the_registry_depends_on_every_claim() -> None:
    assert reads_all_claims("dpcheck.verdicts.verify")
    assert not reads_all_claims("dpcheck.bounds.proving.proofs")


def test_closure() -> None:
    uses = {"a": {"b"}, "b": {"c", "a"}, "c": set(), "d": {"a"}}
    assert closure(["a", "unknown"], uses) == {"a", "b", "c"}


def test_rows_say_what_the_claims_say() -> None:
    rows = catalogue()
    assert [*rows] == [*entries()]
    for claim_id, entry in entries().items():
        claim, row = entry.claim, rows[claim_id]
        assert row.source == str(claim.source)
        assert (row.statement, row.says, row.corrects) == (claim.text(), claim.says, claim.corrects)
        assert (row.theme, row.algorithm, row.kind) == (entry.theme, entry.algorithm, claim.kind)


# Kept between runs ---------------------------------------------------------------------------------
def test_a_damaged_catalogue_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path))
    kept = tmp_path / "dpcheck" / "catalogue.json"
    for damage in (None, "", "{", '{"key": 1}', '{"key": "", "rows": [{}]}'):
        if damage is not None:
            kept.write_text(damage)
        catalogue.cache_clear()
        assert [*catalogue()] == [*entries()]
        assert len(json.loads(kept.read_text())["rows"]) == len(entries())


def test_a_second_run_imports_no_mathematics_beyond_symbols(tmp_path: Path) -> None:
    """The claims, the solvers, the auditor and scipy's statistics stay on disk: that is what makes it quick."""
    surroundings = os.environ | {"DPCHECK_CACHE": str(tmp_path / "cache"), "COLUMNS": "200"}
    code = (
        "import sys; from dpcheck.cli.main import main; code = main(['verify', 'zhang17.lemma9', '--workers', '1']);"
        "print(code, [m for m in ('dpcheck.bounds.registry', 'dpcheck.bounds.proving.proofs', 'dpcheck.registry', 'audits', 'scipy.stats')"
        " if m in sys.modules])"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=surroundings, capture_output=True, text=True)
        for _ in range(2)
    )
    assert first.stdout.splitlines()[-1].startswith("0 ['dpcheck.bounds.registry'"), first.stderr
    assert second.stdout.splitlines()[-1] == "0 []", second.stderr
    table, again = (run.stdout.splitlines()[:-3] for run in (first, second))
    assert again == table


def test_a_change_in_a_copy_is_judged_anew(tmp_path: Path) -> None:
    """An edit in one file of a copy of the project: its claim is refuted now, and another's verdict is read."""
    for room in ("bounds", "audits", "dpcheck"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    surroundings = os.environ | {"DPCHECK_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def verdicts() -> dict[str, str]:
        names = ["zhang17.lemma1.laplace", "zhang17.lemma10.corrected"]
        command = [sys.executable, "-m", "dpcheck.cli.main", "verify", *names, "--workers", "1", "--json", "v.json"]
        subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True, check=False)
        return {row["id"]: row["verdict"] for row in json.loads((tmp_path / "v.json").read_text())}

    assert verdicts()["zhang17.lemma1.laplace"] == "PROVED"
    (kept,) = (tmp_path / "cache").rglob("zhang17.lemma10.corrected.json")
    written = kept.stat().st_mtime_ns
    file = tmp_path / "bounds" / "mechanisms" / "laplace.py"
    file.write_text(file.read_text().replace("Delta1 / (Delta1 / eps)", "2 * Delta1 / (Delta1 / eps)"))
    assert verdicts()["zhang17.lemma1.laplace"] == "REFUTED"
    assert kept.stat().st_mtime_ns == written


def test_a_claim_is_looked_up_in_its_own_file_alone() -> None:
    """What is asked for is the registry's own claim, and the files of other algorithms stay closed."""
    catalogue()  # kept from now on
    script = (
        "import sys, dpcheck as dp\n"
        "claim = dp.bounds['zhang17.lemma2']\n"
        "assert 'dpcheck.bounds.library.nonconvex.dp_srm' not in sys.modules\n"
        "assert len(dp.bounds['zhang17.theorem2'].claims) > 1\n"
        "assert 'dpcheck.bounds.library.nonconvex.dp_srm' not in sys.modules\n"
        "from dpcheck.bounds.registry import library\n"
        "assert library['zhang17.lemma2'] is claim and list(library) == list(dp.bounds)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
