"""What the text of lwang21, chapter 4, says of its tables is counted in the tables, and could fail."""

from __future__ import annotations

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.nonconvex import dp_srm_experiments as printed


def test_what_a_table_shows_is_counted() -> None:
    """DP-AGD's gradient norm on a9a is the smaller one at both levels; a table that says otherwise is supported."""
    assert printed.smaller(printed.A9A, printed.GRADIENT) == {
        "DP-GD": [True] * 2,
        "DP-AGD": [False] * 2,
        "RRPSGD": [True] * 2,
    }
    kinder = {
        level: {**rows, "DP-AGD": (*rows["DP-AGD"][:3], 1.0)}  # planted
        for level, rows in printed.A9A.items()
    }
    for table, verdict in ((printed.A9A, Verdict.REFUTED), (kinder, Verdict.SUPPORTED)):
        check = printed.printed(printed.smaller(table, printed.GRADIENT))
        assert check.run(printed.gradient_a9a, Effort()).verdict is verdict
