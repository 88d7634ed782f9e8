"""The index of claims: fresh, enough to find a claim by, and no edit re-judges more than depends on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dpcheck.bounds import index
from dpcheck.bounds.index import File, closure
from dpcheck.bounds.language.errors import UnknownName
from dpcheck.bounds.registry import entries, library
from dpcheck.verdicts import rows as module
from dpcheck.verdicts.catalogue import catalogue, current
from dpcheck.verdicts.dependencies import files_below, imports_of, module_names, reads_all_claims
from dpcheck.verdicts.indexing import made, write_index
from dpcheck.verdicts.rows import Catalogue, as_recorded

ROOT = Path(__file__).parents[2]
RENEW = "the index is stale: run `dpcheck verify --record` (or, to renew the index alone, `dpcheck verify ID --record`)"


@pytest.fixture(scope="module")
def now() -> Catalogue:
    """The catalogue of this very code."""
    return made()


@pytest.fixture
def own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the committed index, and no cache; what is remembered of it is forgotten."""
    shutil.copytree(index.FOLDER, tmp_path / "index")
    shutil.copytree(module.SHOWN, tmp_path / "shown")
    monkeypatch.setattr(index, "FOLDER", tmp_path / "index")
    monkeypatch.setattr(module, "SHOWN", tmp_path / "shown")
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    for remembered in (index.claims, index.files, index.tells_all_claims, current):
        remembered.cache_clear()


# Fresh ---------------------------------------------------------------------------------------------
def test_the_index_is_fresh(now: Catalogue) -> None:
    """If this fails, a file was edited since the last `dpcheck verify --record`."""
    edited = {name for name in {**index.files(), **now.files} if index.files().get(name) != now.files.get(name)}
    assert not edited, RENEW
    assert [*index.claims().items()] == [(claim_id, row.module) for claim_id, row in now.rows.items()], RENEW
    recorded = as_recorded()
    assert recorded is not None, RENEW
    assert not [k for k, row in now.rows.items() if recorded.rows[k] != row], RENEW
    assert {name: now.symbols[name] for name in recorded.symbols} == recorded.symbols, RENEW


def test_writing_it_anew_changes_nothing(now: Catalogue, own_index: Path) -> None:
    """Byte for byte, so that a diff of the index shows what has changed and no more."""
    before = {path: path.read_bytes() for path in own_index.rglob("*.json")}
    recorded = as_recorded()
    (own_index / "shown" / "gone99.json").write_text("{}")
    for same in (now, recorded):
        assert same is not None
        write_index(same)
        assert {path: path.read_bytes() for path in own_index.rglob("*.json")} == before, RENEW


def test_rows_say_what_the_claims_say() -> None:
    rows = catalogue()
    assert [*rows] == [*entries()]
    for claim_id, entry in entries().items():
        claim, row = entry.claim, rows[claim_id]
        assert row.source == str(claim.source)
        assert (row.statement, row.says, row.corrects) == (claim.text(), claim.says, claim.corrects)
        assert (row.theme, row.algorithm, row.kind) == (entry.theme, entry.algorithm, claim.kind)
        assert row.module == claim.module
        assert sum(line.startswith(("assumes: ", "added: ")) for line in row.details) == len(claim.assumes)
        assert {*row.symbols} == {str(s) for s in claim.symbols} <= current().symbols.keys()


# What depends on what ------------------------------------------------------------------------------
def invalidated(now: Catalogue, changed: str) -> set[str]:
    """The claims that an edit of one module would have judged anew."""
    edited = replace(now.files.get(changed, File("", ())), digest="edited")
    after = replace(now, files={**now.files, changed: edited} if changed in now.files else now.files)
    return {k for k in now.rows if after.contents[k] != now.contents[k]}


def claims_in(*stems: str) -> set[str]:
    return {k for k, e in entries().items() if e.algorithm in stems}


def test_an_algorithms_file_invalidates_itself_and_who_uses_it(now: Catalogue) -> None:
    lost = invalidated(now, "dpcheck.bounds.library.mechanisms.laplace")
    assert claims_in("laplace") <= lost
    assert not lost & claims_in("gradient_descent", "rrpsgd", "gaussian", "subsampling")
    cited = invalidated(now, "dpcheck.bounds.library.mechanisms.subsampling")
    assert cited >= claims_in("subsampling") | {"zhang17.theorem4", "zhang17.section4.minibatch"}
    assert not cited & claims_in("gradient_descent", "laplace", "gaussian")
    imported = invalidated(now, "dpcheck.bounds.library.convex.gradient_descent")
    assert imported >= claims_in("gradient_descent", "outpert_gd")


def test_a_file_of_evidence_invalidates_the_claims_it_attaches_to(now: Catalogue) -> None:
    (file,) = {m for m in now.rows["zhang17.theorem5.privacy"].attached if m.endswith(".rrpsgd")}
    lost = invalidated(now, file)
    assert lost >= {"zhang17.lemma4", "zhang17.theorem5.privacy", "zhang17.theorem6.chi2"}
    assert "zhang17.equation2" not in lost  # the same file of claims, but no check of this one


@pytest.mark.parametrize(
    "changed", ["dpcheck.bounds", "dpcheck.bounds.language.claim", "dpcheck.verdicts.judging", "dpcheck"]
)
def test_what_all_import_invalidates_all(now: Catalogue, changed: str) -> None:
    assert invalidated(now, changed) == now.rows.keys()


def test_the_auditor_invalidates_what_is_audited(now: Catalogue) -> None:
    lost = invalidated(now, "dpcheck.audits.statistics.intervals")
    assert lost >= {k for k, row in now.rows.items() if "audit" in row.checks}
    assert not lost & {k for k, row in now.rows.items() if not row.attached}


@pytest.mark.parametrize(
    "changed",
    [
        "dpcheck.cli.main",
        "dpcheck.report.terminal",
        "dpcheck.datasets.openml",
        "dpcheck.estimators.base",
        "dpcheck.verdicts.catalogue",
        "dpcheck.verdicts.verify",
    ],
)
def test_what_no_evidence_imports_invalidates_nothing(now: Catalogue, changed: str) -> None:
    assert index.path_of(changed) is not None
    assert invalidated(now, changed) == set()


def test_checks_that_read_all_claims_depend_on_all_of_them(now: Catalogue) -> None:
    reading = {k for k, row in now.rows.items() if row.reads_all}
    assert {"dwang20.table3.1", "dwang20.table3.2"} & now.rows.keys() <= reading
    assert reading
    assert len(reading) < len(now.rows) / 10
    for name in index.modules_in(index.LIBRARY)[::7]:
        assert reading <= invalidated(now, name)


def test_every_claim_depends_on_the_files_that_it_is_judged_by(now: Catalogue) -> None:
    for row in now.rows.values():
        reached = closure(now.depends(row), now.files)
        assert {row.module, *row.attached, *(now.rows[c].module for c in row.cites)} <= reached


# A claim of each kind of check, judged in a process of its own.
JUDGED = ["zhang17.theorem4.step", "zhang17.lemma2.corrected", "zhang17.algorithm1.pure"]


@pytest.mark.parametrize("claim_id", [*JUDGED, "dwang20.table3.1"])
def test_judging_imports_no_file_that_the_index_does_not_know(claim_id: str, now: Catalogue, tmp_path: Path) -> None:
    """What a run really imports is within what the sources say it may."""
    script = (
        "import sys; from dpcheck.bounds.language.evidence import Effort\n"
        "from dpcheck.verdicts.verify import verify_one\n"
        f"verify_one({claim_id!r}, Effort())\n"
        "print(*(m for m in sys.modules if m.split('.')[0] == 'dpcheck'))"
    )
    around = os.environ | {"DPCHECK_CACHE": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=around, cwd=ROOT)
    loaded = set(run.stdout.split())
    assert now.rows[claim_id].module in loaded, run.stderr
    finding = files_below(["dpcheck.verdicts.verify", "dpcheck.verdicts.attached", "dpcheck.bounds.registry"])
    assert loaded <= closure(now.depends(now.rows[claim_id]), now.files) | finding.keys()


# Reading imports -----------------------------------------------------------------------------------
def test_imports_are_read_from_the_source() -> None:
    import ast

    source = """
import a.b
from c import d
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import never
else:
    import otherwise
def f():
    from late import g
"""
    body = ast.parse(source).body
    assert {*module_names(body, late=True)} - {"typing", "typing.TYPE_CHECKING"} == {
        *("a.b", "c", "c.d", "otherwise", "late", "late.g")
    }
    assert "late" not in {*module_names(body, late=False)}


def test_packages_and_late_imports_count() -> None:
    assert "dpcheck.bounds.relations.solving" in imports_of("dpcheck.bounds.language.claim")  # late
    assert {"dpcheck", "dpcheck.bounds", "dpcheck.bounds.language"} <= {*imports_of("dpcheck.bounds.language.claim")}
    assert "dpcheck.datasets.openml" not in imports_of("dpcheck.datasets")  # for who asks for `load`


def test_closure() -> None:
    files = {"a": File("", ("b", "unknown")), "b": File("", ("c", "a")), "c": File("", ()), "d": File("", ("a",))}
    assert closure(["a", "unknown"], files) == {"a", "b", "c"}


def test_who_imports_a_registry_may_read_any_claim(now: Catalogue) -> None:
    assert reads_all_claims(["dpcheck.bounds.proving.consistency"], now.files)
    assert not reads_all_claims(["dpcheck.bounds.proving.proofs"], now.files)


# Stale, damaged, missing ---------------------------------------------------------------------------
DAMAGES = (None, "", "{", "[]", '{"convex.dp_gd": 3}', '{"dpcheck": 3}')
PARTS = ("index/claims.json", "index/files.json", "shown/zhang17.json")


@pytest.mark.parametrize(("name", "damage"), [(PARTS[(i + j) % 3], DAMAGES[i]) for i in range(6) for j in (0, 1)])
def test_a_damaged_index_costs_time_only(own_index: Path, name: str, damage: str | None) -> None:
    (own_index / name).unlink() if damage is None else (own_index / name).write_text(damage)
    assert [*catalogue()] == [*entries()]
    assert library["zhang17.lemma2"] is entries()["zhang17.lemma2"].claim
    assert len(library["zhang17.theorem2"].claims) > 1


def test_a_stale_index_is_made_anew_once_and_kept(own_index: Path) -> None:
    files = json.loads((own_index / "index" / "files.json").read_text())
    files["dpcheck.bounds.language.claim"] = "0000"
    (own_index / "index" / "files.json").write_text(json.dumps(files))
    kept = own_index / "cache" / "dpcheck" / "catalogue.json"
    assert not index.tells_all_claims()
    first = current()
    assert first.files == made().files
    written = kept.stat().st_mtime_ns
    current.cache_clear()
    assert (current().rows, current().files, current().contents) == (first.rows, first.files, first.contents)
    assert kept.stat().st_mtime_ns == written
    for damage in ("", "{", '{"files": 1}', '{"files": {"dpcheck": ["", []]}, "rows": {}}'):
        kept.write_text(damage)
        current.cache_clear()
        assert current().rows == first.rows


def test_a_claim_that_has_left_its_file_is_looked_for_elsewhere(own_index: Path) -> None:
    """As after a merge: the index names a wrong file, one that is gone, or a claim that is gone."""
    claims = json.loads((own_index / "index" / "claims.json").read_text())
    claims["convex.no_such_file"] = ["zhang17.lemma2"]
    claims["mechanisms.laplace"] += ["zhang17.lemma3", "zhang17.lemma99"]
    files = json.loads((own_index / "index" / "files.json").read_text())
    (own_index / "index" / "claims.json").write_text(json.dumps(claims))
    files["claims.json"] = index.text_digest(own_index / "index" / "claims.json")
    (own_index / "index" / "files.json").write_text(json.dumps(files))
    assert index.claims()["zhang17.lemma2"].endswith("no_such_file")
    assert library["zhang17.lemma2"] is entries()["zhang17.lemma2"].claim
    assert library["zhang17.lemma3"] is entries()["zhang17.lemma3"].claim
    with pytest.raises(UnknownName, match=r"Did you mean zhang17\.lemma9"):
        library["zhang17.lemma99"]


# In a process of its own ---------------------------------------------------------------------------
@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project to edit."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "dpcheck", folder / "dpcheck", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def in_copy(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    around = os.environ | {"DPCHECK_CACHE": str(folder / "cache"), "PYTHONPATH": str(folder), "COLUMNS": "200"}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=around, capture_output=True, text=True)


NEW = """
from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.symbols import Delta1, eps, sigma
from sympy import Eq

source = Source("zhang17", "nowhere")
added = Claim("zhang17.remark.added", source, Kind.IDENTITY, "Just added.", Eq(sigma, Delta1 / eps))
"""


def test_an_edit_is_judged_anew_and_an_added_claim_is_found(copy: Path) -> None:
    """One file edited: its claim is refuted now, another's verdict is read. One added: found without the index."""

    def verdicts() -> dict[str, str]:
        names = ["zhang17.lemma1.laplace", "zhang17.lemma10.corrected"]
        in_copy(copy, "-m", "dpcheck.cli.main", "verify", *names, "--workers", "1", "--json", "v.json")
        return {row["id"]: row["verdict"] for row in json.loads((copy / "v.json").read_text())}

    assert verdicts()["zhang17.lemma1.laplace"] == "PROVED"
    (kept,) = (copy / "cache").rglob("zhang17.lemma10.corrected.json")
    written = kept.stat().st_mtime_ns
    file = copy / "dpcheck" / "bounds" / "library" / "mechanisms" / "laplace.py"
    assert not file.is_symlink()
    text = file.read_text()
    file.write_text(text.replace("AtMost(Delta1 / sigma", "AtMost(2 * Delta1 / sigma"))
    assert file.read_text() != text
    assert verdicts()["zhang17.lemma1.laplace"] == "REFUTED"
    assert kept.stat().st_mtime_ns == written
    file.with_name("added.py").write_text(NEW)
    script = (
        "from dpcheck.cli.main import main; main(['claims', 'zhang17.remark.added'])\n"
        "import dpcheck as dp; print(dp.bounds['zhang17.remark.added'].says, len(dp.bounds))"
    )
    asked = in_copy(copy, "-c", script)
    *page, last = asked.stdout.splitlines()
    assert any("Just added." in line for line in page), asked.stderr
    assert last == f"Just added. {len(entries()) + 1}"


HEAVY = ("sympy", "scipy", "numpy", "dpcheck.bounds.language.claim", "dpcheck.bounds.registry", "dpcheck.audits")
OTHERS = (
    *("dpcheck.bounds.library.nonconvex.dp_srm", "dpcheck.bounds.proving.citations", "dpcheck.solver"),
    *("dpcheck.evidence", "dpcheck.audits", "scipy.stats", "scipy.signal", "scipy.optimize", "matplotlib"),
)


AUDITING = ("sympy", "scipy.stats", "dpcheck.bounds.language.claim", "dpcheck.solver", "dpcheck.theory", "sklearn")
SOLVING = ("dpcheck.solver", "dpcheck.audits", "dpcheck.evidence", "scipy.stats", "scipy.signal", "matplotlib")
POINT = "'--d', '50', '--eps', '1', '--L', '1', '--beta', '0.25', '--mu', '0.01'"


@pytest.mark.parametrize(
    "steps",
    [
        [
            ("import dpcheck", (*HEAVY, "rich", "argparse")),
            ("import dpcheck.bounds", (*HEAVY, "rich")),
            ("import dpcheck.testing.plugin", HEAVY),
            ("main(['--help'])", (*HEAVY, "rich")),
            ("main(['claims', 'zhang17.lemma2'])", HEAVY),
            ("main(['claims', '--algorithm', 'dp_gd'])", HEAVY),
            ("main(['verify', '--help'])", HEAVY),
            ("main(['audit', '--help'])", HEAVY),
            ("import dpcheck as dp; dp.ApproxDP(1, 1e-5)", ("sympy", "scipy.stats", "dpcheck.audits")),
            ("dp.audit, dp.private", AUDITING),
        ],
        [
            ("main(['bounds', 'zhang17.lemma2', '--n', '10', '--T', '1', '--L', '1', '--eta', '0.5'])", OTHERS),
            ("import dpcheck as dp; len(dp.bounds['zhang17.theorem2'].claims)", OTHERS),
            ("dp.bounds.get('zhang17.lemma99')", OTHERS),
            (f"main(['bounds', 'zhang17.theorem2.pure', '--solve-for', 'n', '--error', '0.01', {POINT}])", SOLVING),
        ],
    ],
    ids=["without mathematics", "without solvers"],
)
def test_nothing_is_imported_that_is_not_needed(steps: list[tuple[str, tuple[str, ...]]]) -> None:
    """That is what makes it quick, on a fresh index; a test of time would depend on the machine."""
    script = (
        "import sys\n"
        "def main(words):\n"
        "    from dpcheck.cli.main import main\n"
        "    try: assert main(words) == 0\n"
        "    except SystemExit as stopped: assert not stopped.code\n"
    )
    for code, absent in steps:
        script += f"{code}\nfound = [name for name in {absent!r} if name in sys.modules]\n"
        script += f"assert not found, ({code!r}, found)\n"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr


def test_a_second_run_imports_no_mathematics(tmp_path: Path) -> None:
    around = os.environ | {"DPCHECK_CACHE": str(tmp_path / "cache"), "COLUMNS": "200"}
    code = (
        "import sys; from dpcheck.cli.main import main; code = main(['verify', 'zhang17.lemma9', '--workers', '1']);"
        f"print(code, [m for m in {HEAVY!r} if m in sys.modules])"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=around, capture_output=True, text=True)
        for _ in range(2)
    )
    assert first.stdout.splitlines()[-1].startswith("0 ['sympy'"), first.stderr
    assert second.stdout.splitlines()[-1] == "0 []", second.stderr
    assert second.stdout.splitlines()[:-3] == first.stdout.splitlines()[:-3]


def test_one_claim_is_the_same_however_it_is_found() -> None:
    script = (
        "import sys, dpcheck as dp\n"
        "claim = dp.bounds['zhang17.lemma2']\n"
        "from dpcheck.bounds.registry import entries, library\n"
        "assert library['zhang17.lemma2'] is claim is entries()['zhang17.lemma2'].claim\n"
        "assert list(library) == list(dp.bounds) == list(entries())\n"
        "assert all(library[key] is entry.claim for key, entry in entries().items())\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
