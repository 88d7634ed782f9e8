"""What pieces of evidence add up to."""

from hypothesis import given
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Evidence, Kind, Verdict, judge

AGAINST = (Verdict.REFUTED, Verdict.NOT_REPRODUCED)


def piece(verdict, check="symbolic", **more):
    return Evidence(check, verdict, "", **more)


def test_a_gap_in_one_piece_of_a_kind_is_a_gap():
    assert judge([piece(Verdict.PROVED), piece(Verdict.UNCHECKED)]) is Verdict.UNCHECKED
    assert judge([piece(Verdict.PROVED), piece(Verdict.UNCHECKED, "rate")]) is Verdict.PROVED
    assert judge([piece(Verdict.PROVED, part="eps <= 1")]) is Verdict.UNCHECKED
    assert judge([piece(Verdict.REFUTED, part="eps <= 1")]) is Verdict.REFUTED


@given(st.lists(st.tuples(st.sampled_from(list(Verdict)), st.sampled_from(["symbolic", "rate", "audit"])), max_size=5))
def test_an_experiment_is_never_refuted(found):
    pieces = [piece(verdict, check) for verdict, check in found]
    assert judge(pieces, Kind.EXPERIMENT) is not Verdict.REFUTED
    refuted = any(verdict is Verdict.REFUTED for verdict, _ in found)
    held = {v for v, _ in found} & {Verdict.PROVED, Verdict.CERTIFIED, Verdict.LOOSE}
    if refuted and not held:
        assert judge(pieces, Kind.EXPERIMENT) is Verdict.NOT_REPRODUCED
        assert judge(pieces, Kind.UTILITY) is Verdict.REFUTED
    same_kind = [piece(verdict) for verdict, _ in found]
    assert judge([*same_kind, piece(Verdict.UNCHECKED)], Kind.UTILITY) in (Verdict.UNCHECKED, *AGAINST)
