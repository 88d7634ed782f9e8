"""Objects of other libraries and of classes that nobody knows: tables, sparse matrices, tensors, anything that can be
copied. Each is read into parts by the reader of audits/outputs/canonical.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

OPAQUE = "something that cannot be read: "


class FormReader(Protocol):
    """What reads the parts."""

    form: dict[str, Any]

    def walk(self, value: Any, path: str) -> None: ...

    def items(self, value: Any, path: str) -> None: ...

    def array(self, value: Any, path: str) -> None: ...

    def entries(self, array: np.ndarray, path: str) -> None: ...

    def mapping(self, value: Mapping[Any, Any], path: str) -> None: ...

    def attributes(self, kind: str, fields: Mapping[str, Any], path: str, words: str = ...) -> None: ...


def read_foreign(reader: FormReader, value: Any, path: str) -> None:
    """Whatever it is, by how it looks from outside."""
    if is_tensor(value):
        reader.array(from_tensor(value), path)
    elif type(value).__module__.partition(".")[0] == "pandas":
        read_pandas(reader, value, path)
    elif hasattr(value, "tocoo") and hasattr(value, "shape"):
        read_sparse(reader, value, path)
    elif hasattr(value, "__array__"):
        if getattr(value, "__dict__", None):
            reader.attributes(type(value).__qualname__, vars(value), path)
        reader.array(np.asarray(value), path)
    else:
        read_object(reader, value, path)


def is_tensor(value: Any) -> bool:
    """Whether it is one of PyTorch, wherever it lives."""
    return hasattr(value, "detach") and hasattr(value, "numpy")


def is_frame(value: Any) -> bool:
    """Whether it is a DataFrame of pandas."""
    return hasattr(value, "columns") and hasattr(value, "iloc")


def from_tensor(value: Any) -> np.ndarray:
    """As an array; types that numpy does not have (bfloat16) as doubles, which hold them."""
    here = value.detach().cpu()
    try:
        return np.asarray(here.numpy())
    except TypeError:
        return np.asarray(here.double().numpy())


def read_pandas(reader: FormReader, value: Any, path: str) -> None:
    """Frames by column and series by position, with their labels; missing values are a value of their own."""
    kind = type(value).__name__
    reader.form[f"kind of {path}"] = kind
    if hasattr(value, "columns"):
        read_labels(reader, value.columns, f"columns of {path}")
        read_labels(reader, value.index, f"index of {path}")
        met: dict[str, int] = {}
        for name, column in value.items():
            words = f"{path}[{name!r}]"
            met[words] = met.get(words, 0) + 1
            read_column(reader, column, words if met[words] == 1 else f"{words} (the {met[words]}th of that name)")
    elif hasattr(value, "index") and hasattr(value, "iloc"):
        reader.form[f"name of {path}"] = repr(value.name)
        labels = read_labels(reader, value.index, f"index of {path}")
        if len(set(labels)) == len(labels) > 0:
            for label, item in zip(labels, value.tolist(), strict=True):
                reader.walk(item, f"{path}[{label}]")
        else:
            read_column(reader, value, path)
    elif hasattr(value, "left") and hasattr(value, "right"):
        reader.attributes(kind, {"left": value.left, "right": value.right, "closed": value.closed}, path)
    elif hasattr(value, "ordinal") and hasattr(value, "freqstr"):
        reader.attributes(kind, {"ordinal": value.ordinal, "freqstr": value.freqstr}, path)
    elif hasattr(value, "dtype"):
        reader.form[f"name of {path}"] = repr(getattr(value, "name", None))
        read_column(reader, value, path)
    elif kind in ("NAType", "NaTType"):
        reader.form[path] = repr(value)
    else:
        read_object(reader, value, path)


def read_column(reader: FormReader, column: Any, path: str) -> None:
    """The entries of a column; of a categorical one the categories, too."""
    if str(column.dtype) == "category":
        reader.items(list(getattr(column, "cat", column).categories), f"categories of {path}")
    reader.form[f"len({path})"] = float(len(column))
    reader.entries(np.asarray(column), path)


def read_labels(reader: FormReader, index: Any, path: str) -> list[str]:
    """What rows or columns are called; plain counting (0, 1, 2, ...) has no words."""
    reader.form[f"len({path})"] = float(len(index))
    if any(name is not None for name in index.names):
        reader.items(list(index.names), f"name of {path}")
    if getattr(index, "start", None) == 0 and index.step == 1:
        return []
    labels = list(index)
    if labels == list(range(len(labels))):
        return []
    reader.items(labels, path)
    return [repr(label) for label in labels]


def read_sparse(reader: FormReader, value: Any, path: str) -> None:
    """Entries that are not zero."""
    value = value.tocoo(copy=True)
    value.sum_duplicates()
    reader.form[f"kind of {path}"] = "sparse"
    reader.form[f"shape of {path}"] = repr(tuple(int(size) for size in value.shape))
    places = zip(*(axis.tolist() for axis in value.coords), strict=True)
    for place, entry in zip(places, value.data.tolist(), strict=True):
        if entry != 0:
            reader.walk(entry, f"{path}[{', '.join(map(str, place))}]")


def read_object(reader: FormReader, value: Any, path: str) -> None:
    """By what it would be copied from; what cannot be copied cannot be read."""
    kind = type(value).__qualname__
    if isinstance(value, type):
        reader.form[path] = f"{value.__module__}.{value.__qualname__}"
        return
    try:
        made = value.__reduce_ex__(2)
    except Exception:  # whatever a foreign class raises
        made = None
    if isinstance(made, str):
        reader.form[path] = f"{kind} {made}"
    elif not isinstance(made, tuple) or kind == "function":
        reader.form[path] = f"{OPAQUE}{kind}"
    else:
        read_made(reader, kind, value, made, path)


def read_made(reader: FormReader, kind: str, value: Any, made: tuple[Any, ...], path: str) -> None:
    """From the parts that copy and pickle use: arguments, state, entries, items."""
    function, arguments, state, entries, items = (*made, None, None, None)[:5]
    if getattr(function, "__name__", "") in ("__newobj__", "_reconstructor", "__newobj_ex__"):
        arguments = arguments[1:]
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):  # slots
        state = {**(state[0] or {}), **state[1]}
    if not (state or arguments or entries or items or hasattr(value, "__dict__") or hasattr(value, "__slots__")):
        reader.form[path] = f"{OPAQUE}{kind}"
        return
    named = state if isinstance(state, dict) and all(isinstance(name, str) for name in state) else {}
    reader.attributes(kind, named, path)
    if arguments:
        reader.walk(arguments, f"arguments of {path}")
    if state is not None and not named and state != {}:
        reader.walk(state, f"state of {path}")
    if entries is not None:
        reader.items(list(entries), path)
    if items is not None:
        reader.mapping(dict(items), path)
