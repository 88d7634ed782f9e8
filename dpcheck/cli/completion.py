"""Completion in a shell: a short script for each, and the words it asks dpcheck for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console

from dpcheck.bounds import index
from dpcheck.bounds.language.evidence import DOCUMENTS
from dpcheck.cli.parser import TAKES_SYMBOLS, commands_of, parser_of

OK = 0
ROOT = Path(__file__).parents[1]
SCRIPTS = {
    # Bash takes words apart at = and :, so what replaces the last part must be without what stands before it.
    "bash": """\
_dpcheck() {
    local IFS=$'\\n' before="${COMP_LINE:0:COMP_POINT}"
    local last="${before##*[[:space:]]}" part="${COMP_WORDS[COMP_CWORD]}"
    [ "$part" = "=" ] && part=""
    COMPREPLY=($(dpcheck __complete "$before" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"${last%"$part"}"}")
}
complete -o default -F _dpcheck dpcheck
""",
    "zsh": """\
#compdef dpcheck
_dpcheck() {
    local -a found
    found=("${(@f)$(dpcheck __complete "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    [[ -n "$found" ]] && compadd -Q -a found || _files
}
if [ "$funcstack[1]" = "_dpcheck" ]; then _dpcheck "$@"; else compdef _dpcheck dpcheck; fi
""",
    "fish": """\
function __dpcheck_words
    dpcheck __complete (string join -- ' ' (commandline -opc) (commandline -ct)) 2>/dev/null | string unescape
end
complete -c dpcheck -a '(__dpcheck_words)'
""",
}


def run_completion(args: argparse.Namespace, symbols: list[str], out: Console, err: Console) -> int:
    """The script; it asks this program again at each completion."""
    out.file.write(SCRIPTS[args.shell])
    return OK


# Words ---------------------------------------------------------------------------------------------
def completed(parser: argparse.ArgumentParser, asked: list[str]) -> list[str]:
    """What may stand in place of the last word of a command line; nothing where a file or a number is wanted."""
    line = " ".join(asked)
    words = line.split()[1:]
    last = words.pop() if words and not line[-1].isspace() else ""
    name, sign, text = last.partition("=")
    if sign and name.startswith("--"):  # --kind=pri
        return [f"{name}={word}" for word in starting(text, values_of(parser, words, name))]
    return starting(last, candidates(parser, words, last))


def candidates(parser: argparse.ArgumentParser, words: list[str], last: str) -> Iterable[str]:
    """All words that fit there."""
    if not words:
        return [*commands_of(parser), "--version", "--help"]
    if words[0] not in commands_of(parser):
        return []
    own = parser_of(parser, words[0])
    if last.startswith("-"):
        return [*own._option_string_actions, *symbols_of(words)]
    if words[-1].startswith("--"):
        wanted = own._option_string_actions.get(words[-1])
        if wanted is None and words[0] in TAKES_SYMBOLS:
            return []  # a number
        if wanted is not None and wanted.nargs != 0:
            return values_of(parser, words, words[-1])
    place = next((a for a in own._actions if not a.option_strings), None)
    return [] if place is None else [*(place.choices or ()), *known(place.dest)]


def values_of(parser: argparse.ArgumentParser, words: list[str], option: str) -> Iterable[str]:
    """What an option takes, where that is a list."""
    wanted = parser_of(parser, words[0])._option_string_actions.get(option) if words else None
    if wanted is None:
        return []
    return [*map(str, wanted.choices or ()), *known(wanted.dest)]


def known(dest: str) -> Iterable[str]:
    """Names that dpcheck itself has, by the name of the argument that takes them."""
    sources: dict[str, Callable[[], Iterable[str]]] = {
        "id": ids,
        "names": lambda: [*ids(), *stems("bounds/library")],
        "ids": lambda: {key for key in ids() if ".table" in key and key.count(".") < 3},
        "algorithm": lambda: stems("bounds/library"),
        "solver": lambda: stems("solvers"),
        "source": lambda: DOCUMENTS,
        "over": lambda: ("n", "d", "eps", "delta", "T"),
    }
    return sources[dest]() if dest in sources else ()


def ids() -> list[str]:
    """Claims, and the names that several share: zhang17, zhang17.theorem2."""
    found = list(index.claims())
    return [*found, *{key.rsplit(".", n)[0] for key in found for n in range(1, key.count(".") + 1)}]


def stems(folder: str) -> list[str]:
    """Algorithms, by their files."""
    return [path.stem for path in (ROOT / folder).glob("*/*.py") if not path.stem.startswith("_")]


def symbols_of(words: list[str]) -> list[str]:
    """The symbols of the claims that are named, as options."""
    if words[0] not in TAKES_SYMBOLS:
        return []
    from dpcheck.verdicts.catalogue import catalogue

    rows = [row for key, row in catalogue().items() if any(key == w or key.startswith(w + ".") for w in words[1:])]
    return [f"--{name}" for row in rows for name in row.symbols]


def starting(text: str, words: Iterable[str]) -> list[str]:
    """Those that begin so, each once, as a command line has them."""
    return sorted({escaped for word in words if (escaped := word.replace(" ", "\\ ")).startswith(text)})
