"""Follows docs/adding-an-algorithm.md word for word in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding-an-algorithm.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```text\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for room in ("bounds", "audits", "dpcheck", "pyproject.toml"):
        source = ROOT / room
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / room)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(project, *command):
    path = {"PYTHONPATH": str(project), "DPCHECK_CACHE": str(project / "cache"), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=project, env={**os.environ, **path}, capture_output=True, text=True
    )


def test_the_page_adds_three_files_and_changes_none():
    assert sorted(FILES) == [
        "bounds/library/mechanisms/noisy_mean.py",
        "dpcheck/solvers/mechanisms/noisy_mean.py",
        "tests/mechanisms/test_noisy_mean.py",
    ]
    assert not [name for name in FILES if (ROOT / name).exists()]


def test_verdicts_are_as_the_page_says_and_recording_settles_them(project):
    first = run(project, "dpcheck.cli.main", "verify", "--algorithm", "noisy_mean", "--workers", "1")
    assert first.returncode == 1, first.stderr
    assert "not recorded" in first.stdout
    assert re.search(r"zhang17\.example1 .*REFUTED", first.stdout)
    assert re.search(r"zhang17\.example1\.corrected .*PROVED", first.stdout)
    page = run(project, "dpcheck.cli.main", "claims", "zhang17.example1")
    assert page.returncode == 0
    assert "bounds/library/mechanisms/noisy_mean.py" in page.stdout
    recording = run(project, "dpcheck.cli.main", "verify", "--algorithm", "noisy_mean", "--record", "--workers", "1")
    assert recording.returncode == 0, recording.stderr
    assert run(project, "dpcheck.cli.main", "verify", "--algorithm", "noisy_mean", "--workers", "1").returncode == 0


def test_the_test_of_the_page_passes(project):
    options = ["-o", "addopts=", "-p", "no:cacheprovider", "tests/mechanisms/test_noisy_mean.py"]
    found = run(project, "pytest", *options)
    assert found.returncode == 0, found.stdout
    assert "2 passed" in found.stdout
