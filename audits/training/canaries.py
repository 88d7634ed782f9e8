"""Canaries: records put into a training set, or left out, by the toss of a coin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput, MixedRelations
from dpcheck.bounds.language.guarantees import ADD_REMOVE, LABEL_ONLY, REPLACE_ONE, Relation


@dataclass(frozen=True, eq=False)
class Canaries:
    """Records to train on, and what stands in the place of each that is not: a row for a row, or nothing.

    Left out for nothing, a canary is added or removed: a guarantee about add/remove-one covers it. With `instead`, one
    record is replaced. Both are laid out as the data is: an array, a list, or a tuple of them such as (X, y).

    >>> Canaries.orthogonal(3, width=5, norm=2.0).records.shape
    (3, 5)
    """

    records: Any = field(repr=False)
    instead: Any = field(default=None, repr=False)
    relabelled: bool = False  # whether `instead` differs in labels alone

    def __post_init__(self) -> None:
        if self.instead is not None and length(self.instead) != length(self.records):
            limit = f"as many as the records ({length(self.records)})"
            raise InvalidInput("rows of instead", length(self.instead), limit, "Give each canary one stand-in.")
        if length(self.records) < 1:
            raise InvalidInput("canaries", 0, "at least one", "A few hundred show something, thousands more.")

    def __len__(self) -> int:
        return length(self.records)

    @classmethod
    def mislabelled(cls, X: Any, y: Any, *, seed: int = 0) -> Canaries:
        """These rows, held out from the data, each with a wrong label drawn from those of the others.

        Its stand-in is the same row with its own label.
        """
        X, y = np.asarray(X), np.asarray(y)
        labels, own = np.unique(y, return_inverse=True)
        if len(labels) < 2:
            raise InvalidInput("labels of the canaries", labels, "two different ones", "Pass rows of several classes.")
        moved = (own + np.random.default_rng(seed).integers(1, len(labels), len(y))) % len(labels)
        return cls((X, labels[moved]), (X, y), relabelled=True)

    @classmethod
    def at_bound(
        cls, count: int, width: int, *, norm: float = 1.0, labels: Sequence[Any] | None = None, seed: int = 0
    ) -> Canaries:
        """Rows unlike any data, as long as the bound allows: random directions, with random labels if there are any.

        Its stand-in is the opposite row, with the same label.
        """
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((count, width))
        rows *= norm / np.linalg.norm(rows, axis=1, keepdims=True)
        if labels is None:
            return cls(rows, -rows)
        y = rng.choice(np.asarray(labels), count)
        return cls((rows, y), (-rows, y))

    @classmethod
    def orthogonal(cls, count: int, width: int, *, norm: float = 1.0, seed: int = 0) -> Canaries:
        """Gradients of this norm at right angles, so that none covers another's; a stand-in is the opposite one.

        As many as the model has parameters: the axes; fewer: random directions.
        """
        if count > width:
            limit = f"at most the number of parameters ({width})"
            raise InvalidInput("canaries at right angles", count, limit, "Take fewer, or `at_bound`.")
        if count == width:
            return cls(norm * np.eye(width), -norm * np.eye(width))
        basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((width, count)))
        return cls(norm * basis.T, -norm * basis.T)

    def stand_ins(self, relation: Relation | None) -> Any:
        """What stands for a canary that is left out, so that flipping one coin makes a neighbour; None for nothing."""
        if relation is None or relation == REPLACE_ONE or (relation == LABEL_ONLY and self.relabelled):
            if self.instead is not None or relation is None:
                return self.instead
            remedy = "Give Canaries(records, instead=...), or claim it with relation=dp.ADD_REMOVE."
            raise MixedRelations("canaries without stand-ins", "added or removed", f"neighbours by {relation}", remedy)
        if relation == ADD_REMOVE:
            return None
        limit = f"neighbours by {relation}"
        raise MixedRelations("canaries", "added, removed or replaced", limit, "State the claim for one record.")

    def joined(self, data: Any, coins: np.ndarray, stand_ins: Any) -> Any:
        """The data with the canaries that the coins say, and stand-ins of the others."""
        if isinstance(self.records, tuple):
            if not isinstance(data, tuple) or len(data) != len(self.records):
                limit = f"a tuple of {len(self.records)} parts, as the canaries"
                raise InvalidInput("data", type(data).__name__, limit, "Lay out both alike: (X, y).")
            others = stand_ins if stand_ins is not None else (None,) * len(data)
            return tuple(
                _joined(part, rows, coins, other) for part, rows, other in zip(data, self.records, others, strict=True)
            )
        return _joined(data, self.records, coins, stand_ins)


def length(records: Any) -> int:
    """The number of records."""
    rows = records[0] if isinstance(records, tuple) and records else records
    try:
        return len(rows)
    except TypeError:
        raise InvalidInput("canaries", rows, "records in a row", "Pass an array with one row a canary.") from None


def _joined(data: Any, records: Any, coins: np.ndarray, stand_ins: Any) -> Any:
    if isinstance(records, list):
        kept = [row for row, coin in zip(records, coins, strict=True) if coin]
        if stand_ins is not None:
            kept = [row if coin else other for row, other, coin in zip(records, stand_ins, coins, strict=True)]
        return [*data, *kept]
    try:
        rows, data = np.asarray(records), np.asarray(data)
    except ValueError:
        raise InvalidInput(
            "data", "rows of unequal length", "an array", "Pass lists of records as canaries, too."
        ) from None
    if rows.shape[1:] != data.shape[1:]:
        limit = f"of the shape of the data's: {data.shape[1:]}"
        raise InvalidInput("shape of a canary", rows.shape[1:], limit, "Lay out data and canaries alike.")
    if stand_ins is None:
        return np.concatenate([data, rows[coins]])
    return np.concatenate([data, np.where(coins.reshape(-1, *(1,) * (rows.ndim - 1)), rows, np.asarray(stand_ins))])
