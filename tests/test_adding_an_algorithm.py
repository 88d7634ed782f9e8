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
    for room in ("bounds", "audits", "dpcheck"):
        shutil.copytree(ROOT / room, folder / room, symlinks=True)  # dpcheck/bounds and dpcheck/audits stay links
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(project, *command):
    path = {"PYTHONPATH": str(project), "DPCHECK_CACHE": str(project / "cache"), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=project, env={**os.environ, **path}, capture_output=True, text=True
    )


def test_the_page_adds_one_file_a_room_and_changes_none():
    assert sorted(FILES) == [
        "bounds/library/mechanisms/one_bit_mean.py",
        "dpcheck/evidence/mechanisms/one_bit_mean.py",
        "dpcheck/solvers/mechanisms/one_bit_mean.py",
        "tests/mechanisms/test_one_bit_mean.py",
    ]
    assert not [name for name in FILES if (ROOT / name).exists()]


def test_verdicts_are_as_the_page_says_and_recording_settles_them(project):
    verify = ("dpcheck.cli.main", "verify", "--algorithm", "one_bit_mean", "--workers", "1")
    first = run(project, *verify)
    assert first.returncode == 1, first.stderr
    assert "not recorded" in first.stdout
    assert re.search(r"zhang17\.example1\tREFUTED", first.stdout)
    assert re.search(r"zhang17\.example1\.corrected\tCERTIFIED", first.stdout)
    page = run(project, "dpcheck.cli.main", "claims", "zhang17.example1")
    assert page.returncode == 0
    assert "bounds/library/mechanisms/one_bit_mean.py" in page.stdout
    recording = run(project, *verify, "--record")
    assert recording.returncode == 0, recording.stderr
    assert run(project, *verify).returncode == 0


def test_the_tests_of_the_page_pass(project):
    options = ["-o", "addopts=", "-p", "no:cacheprovider", "tests/mechanisms/test_one_bit_mean.py"]
    found = run(project, "pytest", *options)
    assert found.returncode == 0, found.stdout
    assert "3 passed" in found.stdout
