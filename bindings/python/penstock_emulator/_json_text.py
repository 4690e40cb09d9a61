"""JSON text of documents that callers pass as Python values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any


def json_text(document: Any, place: str) -> str:
    """Returns `document` as JSON text.

    Args:
        document: A value that ``json.dumps`` accepts.
        place: The name of the document in error messages.

    Raises:
        ValueError: The document contains NaN or an infinity; the message gives its path.
    """
    try:
        return json.dumps(document, allow_nan=False)
    except ValueError:
        found = _find_non_finite(document, place)
        if found is None:
            raise
        where, number = found
        raise ValueError(f"{where} is {number}, which JSON cannot represent; give a finite number") from None


def _find_non_finite(value: Any, place: str) -> tuple[str, float] | None:
    """Returns the path and value of the first number that is NaN or infinite; None: there is none."""
    if isinstance(value, float):
        return None if math.isfinite(value) else (place, value)
    if isinstance(value, Mapping):
        members = [(f"{place}.{name}", member) for name, member in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        members = [(f"{place}[{i}]", member) for i, member in enumerate(value)]
    else:
        return None
    return next((found for where, member in members if (found := _find_non_finite(member, where))), None)
