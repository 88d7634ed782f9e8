"""The settings of zhang17's experiments against the losses that the library runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.convex import smooth_erm_settings as theory
from dpcheck.bounds.library.convex.smooth_erm_experiments import TABLE3
from dpcheck.problems.losses import Huber, Logistic


@given(knee=st.floats(0.1, 5), residual=st.floats(-20, 20))
@settings(max_examples=60, deadline=None)
def test_the_huber_loss_of_the_library_has_the_printed_slope(knee: float, residual: float) -> None:
    slope = float(Huber(knee).derivative(residual, 0.0))
    assert abs(slope) <= theory.huber.evaluate(knee=knee)
    printed = residual**2 / 2 if abs(residual) <= knee else knee * (abs(residual) - knee / 2)
    assert float(Huber(knee).value(residual, 0.0)) == pytest.approx(printed)


@given(margin=st.floats(1e-2, 30))
@settings(max_examples=60, deadline=None)
def test_the_logistic_loss_of_the_library_is_the_corrected_one(margin: float) -> None:
    right = float(Logistic().value(margin, 1.0))
    assert right <= theory.logistic_corrected.evaluate()
    assert math.log1p(math.exp(1 + margin)) > theory.logistic.evaluate()
    assert abs(float(Logistic().derivative(margin, 1.0))) <= theory.logistic_lipschitz.evaluate()


def test_table_2_has_the_data_sets_of_table_3() -> None:
    assert [data.name for data in theory.TABLE2] == list(dict.fromkeys(row.data for row in TABLE3))


def test_the_columns_of_two_codings_by_hand() -> None:
    """A number, a category of three values and one of two: both, all but one of each, and a column of ones."""
    data = theory.DataSet("toy", 3, 0, 3, 1, (3, 2))
    X = np.array([[0.5, 1, 0, 0, 1, 0, 1], [0.1, 0, 1, 0, 0, 1, 1], [0.2, 0, 0, 1, 1, 0, 1]])
    assert theory.columns(data) == X.shape[1]
    assert theory.least_columns(data) == 4


def test_only_adult_has_more_features_than_columns() -> None:
    odd = [data.name for data in theory.TABLE2 if not theory.least_columns(data) <= data.d <= theory.columns(data)]
    assert odd == ["ADULT"]
    check = theory.table2.checks[0]
    rows = {name: [True] * len(held) for name, held in check.rows.items()}
    assert replace(check, rows=rows).run(theory.table2, Effort()).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("batch", [1, 10, 50])
def test_batches_cost_little_at_the_settings(batch: int) -> None:
    """Sampling brings m L², the noise 32 d L² log(n/δ) log(1/δ)/ε²; at ε = 2 and d = 12 the second is 10⁴ times 1."""
    noise = 12 * 32 * math.log(6497 / 1e-3) * math.log(1e3) / 4
    assert (batch + noise) / (1 + noise) <= theory.batch_utility.evaluate()
    assert (1000 + noise) / (1 + noise) > theory.batch_utility.evaluate()
