"""Shell completion: which words are offered, and that a shell understands the script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpcheck.cli.completion import SCRIPTS
from dpcheck.cli.main import main
from dpcheck.cli.parser import SHELLS, build_parser, commands_of, parser_of
from dpcheck.verdicts.record import recorded


def offered(line: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["__complete", line]) == 0
    return capsys.readouterr().out.split("\n")[:-1]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("dpcheck ", [*commands_of(build_parser()), "--version"]),
        ("dpcheck me", ["measure"]),
        ("dpcheck claims zhang17.theorem2.", ["zhang17.theorem2.pure", "zhang17.theorem2.approx.proof.corrected"]),
        ("dpcheck claims zhang17.theorem", ["zhang17.theorem2", "zhang17.theorem2.pure"]),
        ("dpcheck verify --kind=p", ["--kind=privacy"]),
        ("dpcheck verify --kind l", ["lower\\ bound"]),
        ("dpcheck verify --source z", ["zhang17"]),
        ("dpcheck verify --algorithm outp", ["outpert_gd"]),
        ("dpcheck bounds zhang17.lemma2 --e", ["--eta", "--end_norm"]),
        ("dpcheck compare dp_svrg dp_k", ["dp_katyusha"]),
        ("dpcheck measure outp", ["outpert_gd"]),
        ("dpcheck audit shop:half --stop", ["--stop-early"]),
        ("dpcheck audit shop:half --ball ", ["l1", "l2", "linf"]),
        ("dpcheck tables lwang21.", ["lwang21.table2.1"]),
        ("dpcheck completion ", list(SHELLS)),
    ],
)
def test_words_that_fit(line: str, some: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    last = line.rsplit(" ", 1)[1]
    found = offered(line, capsys)
    assert set(some) <= set(found)
    assert all(word.startswith(last) for word in found)
    assert found == sorted(set(found))


@pytest.mark.parametrize(
    "line",
    ["dpcheck frobnicate x", "dpcheck audit x --pair ", "dpcheck bounds zhang17.lemma2 --n ", "dpcheck verify --seed="],
)
def test_nothing_where_a_file_or_a_number_goes(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert offered(line, capsys) == []


def test_every_id_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert recorded().keys() <= set(offered("dpcheck claims ", capsys))


def test_every_option_of_every_command_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    parser = build_parser()
    for command in commands_of(parser):
        assert parser_of(parser, command)._option_string_actions.keys() <= set(offered(f"dpcheck {command} -", capsys))


def install(folder: Path) -> None:
    """A program that the scripts find."""
    program = folder / "dpcheck"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dpcheck.cli.main "$@"\n')
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("line", "words", "reply"),
    [
        ("dpcheck mea", "dpcheck mea", "measure"),
        ("dpcheck verify --kind=pri", "dpcheck verify --kind = pri", "privacy"),
        ("dpcheck verify --kind=l", "dpcheck verify --kind = l", "lower\\ bound"),
        ("dpcheck bounds zhang17.lemma2 --et", "dpcheck bounds zhang17.lemma2 --et", "--eta"),
    ],
)
def test_bash_puts_the_word_in_place(line: str, words: str, reply: str, tmp_path: Path) -> None:
    """Bash cuts words at = and wants only what follows it."""
    install(tmp_path)
    (tmp_path / "script").write_text(SCRIPTS["bash"])
    told = f"""
        PATH={tmp_path}:$PATH; source {tmp_path}/script
        COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _dpcheck; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    said = subprocess.run(["bash", "-c", told], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == [reply]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("dpcheck mea", "measure"),
        ("dpcheck verify --kind=pri", "--kind=privacy"),
        ("dpcheck verify --kind l", "lower bound"),
        ("dpcheck bounds zhang17.lemma2 --et", "--eta"),
    ],
)
def test_fish_is_told_the_whole_word(line: str, reply: str, tmp_path: Path) -> None:
    install(tmp_path)
    (tmp_path / "script").write_text(SCRIPTS["fish"])
    told = f'source {tmp_path}/script; complete -C "{line}"'
    surroundings = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    said = subprocess.run(["fish", "-c", told], capture_output=True, text=True, env=surroundings, cwd=tmp_path)
    assert (said.stdout.splitlines(), said.stderr) == ([reply], "")


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_asks_the_program_and_parses(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "dpcheck __complete" in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)
