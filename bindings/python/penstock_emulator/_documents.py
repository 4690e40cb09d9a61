"""Configuration documents of the emulator, passed as values, as paths of JSON files, or as names of presets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._json_text import json_text

_PRESETS = ("aws-standard", "aws-strict", "aws-express")


def limits_json(limits: str | os.PathLike[str] | Mapping[str, Any] | None) -> str:
    """Returns `limits` as JSON text, or unchanged if it is the name of a preset; empty for None."""
    if limits is None:
        return ""
    if isinstance(limits, Mapping):
        return json_text(limits, "limits")
    if limits in _PRESETS:
        return str(limits)
    try:
        return Path(limits).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(
            f"limits {str(limits)!r} is neither a preset ({', '.join(_PRESETS)}) nor the path of a JSON file"
        ) from None


def read_json(path: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return document
