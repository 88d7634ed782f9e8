"""The first things a person types: --version, --help, a command without its names, options in any order."""

from __future__ import annotations

import shlex

import pytest

from dpcheck import __version__
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.cli.main import main
from dpcheck.cli.parser import TAKES_REST, build_parser, commands_of, parse_options, without_symbols

COMMANDS = commands_of(build_parser())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"dpcheck {__version__}\n"


@pytest.mark.parametrize("columns", ["60", "80", "200"])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_parse(
    command: str, columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    examples = COMMANDS[command].get_default("examples")
    assert examples
    for example in examples:
        assert f"\n  {example}\n" in text  # whole, on one line
        words = shlex.split(example, comments=True)
        words = words[1 : next((i for i, word in enumerate(words) if word in "|>"), len(words))]
        parser = build_parser()
        args, rest = parser.parse_known_args(without_symbols(parser, words)[0])
        assert args.command == command
        assert not rest or command in TAKES_REST


def test_every_option_says_what_it_is_for() -> None:
    bare = [
        (command, action.dest) for command, parser in COMMANDS.items() for action in parser._actions if not action.help
    ]
    assert bare == []


def test_the_list_of_commands_has_each_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    for command, parser in COMMANDS.items():
        assert command in text
        assert parser.description is not None
        assert parser.description[1:-1] in text


@pytest.mark.parametrize(
    "words",
    [
        "bounds zhang17.lemma2 --n 10 --L 1 --T 3 --eta 0.1",
        "bounds zhang17.lemma2 --n=10 --L=1 --T 3 --eta=0.1",
        "bounds --n=10 --L 1 zhang17.lemma2 --eta 0.1 --T 3",
    ],
)
def test_symbols_take_both_forms_in_any_order(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(words)) == 0
    assert "Δ_T: 0.09" in capsys.readouterr().out


def test_symbols_are_pairs() -> None:
    assert parse_options(["--n=10", "--eps", "0.5", "--delta=1e-5"]) == {"n": 10, "eps": 0.5, "delta": 1e-5}
    for words in (["--n"], ["n=3"], ["--n", "1", "2"]):
        with pytest.raises(InvalidInput, match="pairs of --NAME VALUE"):
            parse_options(words)


def test_other_options_take_both_forms(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for asked in (["--n=1e4", "--losses=strong"], ["--n", "1e4", "--losses", "strong"], ["--n=1e5", "--losses=strong"]):
        assert main(["compare", "--eps", "1", "dp_svrg", "dp_gd", *asked]) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1] != found[2]


def test_compare_without_names_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Seen: "options is --n --d ...", of all things."""
    assert main(["compare", "--n", "1e5", "--d=50"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dpcheck: NAME is not given")
    assert "dpcheck compare dp_svrg dp_gd --n 1e5 --eps 1" in said
    assert " outpert_gd," in said
    assert "gradient_descent" not in said  # no bound to compare
