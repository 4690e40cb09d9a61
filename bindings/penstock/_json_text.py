"""Documents that callers give as Python values, as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any


def json_text(document: Any, place: str) -> str:
    """JSON of `document`.

    Args:
        document: What ``json.dumps`` takes.
        place: Names the document in messages.

    Raises:
        ValueError: it has a number that JSON cannot say; the message names its place.
    """
    try:
        return json.dumps(document, allow_nan=False)
    except ValueError:
        found = _without_json(document, place)
        if found is None:
            raise
        where, number = found
        raise ValueError(f"{where} is {number}, which is no number of JSON's; give a finite one") from None


def _without_json(value: Any, place: str) -> tuple[str, float] | None:
    if isinstance(value, float):
        return None if math.isfinite(value) else (place, value)
    if isinstance(value, Mapping):
        members = [(f"{place}.{name}", member) for name, member in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        members = [(f"{place}[{i}]", member) for i, member in enumerate(value)]
    else:
        return None
    return next((found for where, member in members if (found := _without_json(member, where))), None)
