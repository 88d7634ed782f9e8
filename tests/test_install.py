"""What is installed: one import name, beside a user's own `audits/`, `bounds.py` and `tests/`, from wheel and sdist."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE")
ROOMS = ("dpcheck", "bounds", "audits")


def build(tree: Path, kind: str, out: Path) -> Path:
    """A wheel or an sdist of a tree, by the build system that pyproject.toml names; nothing is downloaded."""
    out.mkdir(exist_ok=True)
    code = f"import setuptools.build_meta as build; print(build.build_{kind}({str(out)!r}))"
    run = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return out / run.stdout.split()[-1]


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a build reads, with its links as links."""
    folder = tmp_path_factory.mktemp("tree")
    for room in ROOMS:
        shutil.copytree(ROOT / room, folder / room, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    return build(tree, "wheel", tree / "dist")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder)]
    subprocess.run([*command, str(wheel)], check=True, capture_output=True)
    return folder


def run(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the wheel and the dependencies, without this checkout: -S skips editable installs."""
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    around["PYTHONPATH"] = os.pathsep.join([str(installed), sysconfig.get_paths()["purelib"]])
    around["DPCHECK_CACHE"] = str(cwd / "cache")
    return subprocess.run([sys.executable, "-S", *arguments], cwd=cwd, env=around, capture_output=True, text=True)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A user's folder, with the names that ours have in the repository."""
    (tmp_path / "audits").mkdir()
    (tmp_path / "audits" / "__init__.py").write_text("MINE = 'the audits of a user'\n")
    (tmp_path / "bounds.py").write_text("MINE = 'the bounds of a user'\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").write_text("")
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "tests" / "test_mine.py").write_text(TEST)
    return tmp_path


SCRIPT = """
import audits
import bounds
import dpcheck as dp


def noisy(data, rng, trials):
    return data.sum() + rng.laplace(scale=1.0, size=trials)


def almost_bare(data, rng, trials):
    return data.sum() + rng.laplace(scale=0.1, size=trials)


if __name__ == "__main__":
    near, claim = dp.replace_one(low=0, high=1, n=3), dp.PureDP(1.0)
    found = [dp.audit(m, neighbours=near, guarantee=claim, max_trials=20_000).violated for m in (noisy, almost_bare)]
    print(found, bounds.MINE, audits.MINE, dp.bounds["zhang17.lemma2"].id, dp.__file__, sep="|")
"""
TEST = """
import audits
import bounds
import dpcheck as dp
from script import almost_bare, noisy

near = dp.replace_one(low=0, high=1, n=3)


@dp.private(guarantee=dp.PureDP(1.0), neighbours=near)
def test_mine():
    assert (bounds.MINE, audits.MINE) == ("the bounds of a user", "the audits of a user")
    return noisy


@dp.private(guarantee=dp.PureDP(1.0), neighbours=near)
def test_bare():
    return almost_bare
"""


# What is in it -------------------------------------------------------------------------------------
def test_the_wheel_claims_one_name(wheel: Path) -> None:
    names = names_in(wheel)
    assert {name.split("/")[0] for name in names} == {"dpcheck", "-".join(wheel.name.split("-")[:2]) + ".dist-info"}
    for room in ROOMS:
        below = ROOT if room == "dpcheck" else ROOT / "dpcheck"
        sources = {path.relative_to(ROOT / room).as_posix() for path in (ROOT / room).rglob("*.py")}
        inside = f"{(below / room).relative_to(ROOT).as_posix()}/"
        assert {f"{inside}{source}" for source in sources} <= {*names}
    data = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dpcheck").glob("verdicts/*/*.json")}
    data |= {f"dpcheck/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "bounds").rglob("*.json")}
    data |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "dpcheck" / "report" / "assets").iterdir()}
    assert {"dpcheck/report/assets/page.css", "dpcheck/report/assets/page.js"} <= data
    assert len(data) > 10
    assert data | {"dpcheck/py.typed"} <= {*names}


def test_an_sdist_builds_the_same_wheel(tree: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(build(tree, "sdist", tmp_path / "dist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.glob("dpcheck-*")
    assert names_in(build(unpacked, "wheel", tmp_path / "again")) == names_in(wheel)


# Beside a user's own files -------------------------------------------------------------------------
def test_a_script_beside_its_own_audits_and_bounds(installed: Path, hostile: Path) -> None:
    """Both see what they import: the script its own, dpcheck its own."""
    done = run(installed, hostile, "script.py")
    assert done.returncode == 0, done.stderr
    found, bounds, audits, claim, file = done.stdout.strip().split("|")
    assert found == "[False, True]"
    assert (bounds, audits) == ("the bounds of a user", "the audits of a user")
    assert claim == "zhang17.lemma2"
    assert Path(file).is_relative_to(installed)


def test_a_test_run_with_the_plugin(installed: Path, hostile: Path) -> None:
    done = run(installed, hostile, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "tests")
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "PrivacyViolation" in done.stdout
    assert "tests/test_mine.py::test_bare" in done.stdout.split("== dpcheck ==")[-1]


def test_the_commands_of_an_installed_package(installed: Path, hostile: Path) -> None:
    """Its index is the one that was committed, and fresh: nothing had to be made anew."""
    page = run(installed, hostile, "-m", "dpcheck.cli.main", "claims", "zhang17.lemma2")
    assert "LOOSE" in page.stdout, page.stderr
    judged = run(installed, hostile, "-m", "dpcheck.cli.main", "verify", "zhang17.lemma9", "--workers", "1")
    assert judged.returncode == 0, judged.stderr
    written = run(installed, hostile, "-m", "dpcheck.cli.main", "verify", "zhang17", "--recorded", "--html", "v.html")
    assert written.returncode == 0, written.stderr
    assert "color-scheme: dark" in (hostile / "v.html").read_text(encoding="utf-8")  # its style came along
    assert not [*(hostile / "cache").rglob("catalogue.json")], "run `dpcheck verify --record`"


@pytest.mark.parametrize("name", ["bounds", "audits", "tests"])
def test_no_generic_name_is_installed(name: str, installed: Path, tmp_path: Path) -> None:
    """Neither by the wheel nor by the editable install that these tests run in."""
    wanted = f"import importlib.util as u; spec = u.find_spec({name!r}); print(spec and spec.origin)"
    assert run(installed, tmp_path, "-c", wanted).stdout.strip() == "None"
    ours = subprocess.run([sys.executable, "-c", wanted], cwd=tmp_path, capture_output=True, text=True).stdout.strip()
    assert ours == "None" or not Path(ours).is_relative_to(ROOT)
