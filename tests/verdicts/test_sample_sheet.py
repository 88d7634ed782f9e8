"""tools/sample-verdicts: a sheet that alone is enough to sign a verdict or to object."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from dpcheck.report.sample_sheet import hypotheses, sheet
from dpcheck.verdicts.catalogue import CatalogueRow

TOOL = Path(__file__).resolve().parents[2] / "tools" / "sample-verdicts"
ROW = CatalogueRow(
    "zhang17.lemma1",
    "convex",
    "a",
    "zhang17",
    "Lemma 1",
    "privacy",
    "σ = L/ε",
    "Noise enough.",
    line=12,
    cites=("zhang17.lemma2",),
    details=("assumes: ε ≤ 1", "added: δ ≤ 1/2"),
    symbols=("sigma",),
)
RECORD = {
    "zhang17.lemma1": {
        "verdict": "REFUTED",
        "replay": "dpcheck replay zhang17.lemma1 --check symbolic eps=1",
        "severity": "rate: by d",
        "instead": "zhang17.lemma1.corrected: σ = dL/ε",
        "evidence": [
            {
                "check": "accountant",
                "verdict": "SUPPORTED",
                "figure": "holds there",
                "detail": "",
                "part": "at 3 points",
            },
            {"check": "symbolic", "verdict": "REFUTED", "figure": "reaches 2, stated 1", "detail": "at the corner"},
            {
                "check": "citation",
                "verdict": "UNCHECKED",
                "figure": "uses zhang17.lemma2, which needs n ≥ 2",
                "detail": "",
            },
        ],
    },
    "zhang17.lemma2": {
        "verdict": "PROVED",
        "replay": None,
        "evidence": [
            {"check": "symbolic", "verdict": "PROVED", "figure": "by algebra", "detail": "", "premises": ["Jensen"]}
        ],
    },
}
ROWS = {"zhang17.lemma1": ROW, "zhang17.lemma2": replace(ROW, id="zhang17.lemma2", statement="a ≤ b", cites=())}
SYMBOLS = {"sigma": "σ (--sigma): scale of the noise (parameter)"}


def test_a_claim_with_all_that_a_reader_needs() -> None:
    text = sheet(2, 0, ROWS, RECORD, SYMBOLS)
    for words in (
        "Lemma 1, line 12 of the text",
        "**Whose**: printed",
        "`σ = L/ε`",
        "σ scale of the noise",
        "printed**: ε ≤ 1",
        "added by us**: δ ≤ 1/2",
        "rate: by d",
        "**Instead**: zhang17.lemma1.corrected",
        "By a counterexample**: REFUTED. reaches 2, stated 1 (at the corner)",
        "at 3 points**: SUPPORTED",
        "given, not checked here: Jensen",
        "`dpcheck replay zhang17.lemma1 --check symbolic eps=1`",
        "**Uses** zhang17.lemma2, PROVED: `a ≤ b`",
        "needs n ≥ 2",
        "- [ ] signed",
    ):
        assert words in text, words
    assert text.index("reaches 2") < text.index("holds there")  # what decided comes first


def test_a_condition_of_a_correction_is_not_called_printed() -> None:
    mended = replace(
        ROW,
        id="zhang17.lemma1.corrected",
        provenance="correction",
        corrects="zhang17.lemma1",
        details=("assumes: ε ≤ 1", "assumes: δ ≤ 1/4"),
    )
    said = list(hypotheses(mended, {**ROWS, mended.id: mended}))
    assert said == ["- **Hypotheses, printed**: ε ≤ 1", "- **Hypotheses of this version**: δ ≤ 1/4"]
    (reading,) = hypotheses(replace(ROW, provenance="our reading", details=("assumes: ε ≤ 1",)), ROWS)
    assert reading == "- **Hypotheses**: ε ≤ 1"


def test_a_seed_draws_the_same_claims() -> None:
    assert sheet(1, 5, ROWS, RECORD, SYMBOLS) == sheet(1, 5, ROWS, RECORD, SYMBOLS)
    assert len({sheet(1, seed, ROWS, RECORD, SYMBOLS).split("\n## ")[1] for seed in range(8)}) == 2


def test_the_tool_writes_a_sheet(tmp_path: Path) -> None:
    file = tmp_path / "sheet.md"
    run = subprocess.run(
        [sys.executable, str(TOOL), "3", "--seed", "1", "--out", str(file)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert file.read_text(encoding="utf-8").count("\n## ") == 3
