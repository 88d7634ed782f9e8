"""Bugs that happened in public code, rebuilt as small mechanisms with correct twins, for every detector to run over.

`python -m corpus` runs them and prints the table of docs/real-bugs.md; `--write` writes the page.
"""

from corpus.case import Case
from corpus.data_dependent import CASES as DATA_DEPENDENT
from corpus.local_reports import CASES as LOCAL_REPORTS
from corpus.randomness import CASES as RANDOMNESS
from corpus.scales import CASES as SCALES
from corpus.training import CASES as TRAINING

CASES: tuple[Case, ...] = (*SCALES, *DATA_DEPENDENT, *RANDOMNESS, *LOCAL_REPORTS, *TRAINING)

__all__ = ["CASES", "Case"]
