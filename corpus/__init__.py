"""Bugs that happened in public code, rebuilt as small mechanisms with correct twins, for every detector to run over.

`python -m corpus` runs them and prints the table of docs/real-bugs.md; `--write` writes the page, and
`--detector module:function` runs one of your own.
"""

from corpus.accountants import CASES as ACCOUNTANTS
from corpus.arithmetic import CASES as ARITHMETIC
from corpus.case import Case, Side, Trained
from corpus.composition import CASES as COMPOSITION
from corpus.data_dependent import CASES as DATA_DEPENDENT
from corpus.detectors import Said
from corpus.local_reports import CASES as LOCAL_REPORTS
from corpus.matrices import CASES as MATRICES
from corpus.randomness import CASES as RANDOMNESS
from corpus.sampling import CASES as SAMPLING
from corpus.scales import CASES as SCALES
from corpus.selections import CASES as SELECTIONS
from corpus.training import CASES as TRAINING
from corpus.votes import CASES as VOTES

CASES: tuple[Case, ...] = (
    *SCALES,
    *MATRICES,
    *ARITHMETIC,
    *DATA_DEPENDENT,
    *RANDOMNESS,
    *LOCAL_REPORTS,
    *SELECTIONS,
    *VOTES,
    *COMPOSITION,
    *TRAINING,
    *SAMPLING,
    *ACCOUNTANTS,
)

__all__ = ["CASES", "Case", "Said", "Side", "Trained"]
