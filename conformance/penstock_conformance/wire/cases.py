"""Loads the cases from the folder `cases`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "cases"
SCHEMA = Path(__file__).parent / "case.schema.json"
PROVENANCES = ("recorded", "documented", "rfc", "two_foreign_servers", "derived")


@dataclass(frozen=True)
class Case:
    """A request and the expected response. `name` is unique and has the form `topic/case`."""

    name: str
    provenance: str
    source: str
    request: Mapping[str, Any]
    expect: Mapping[str, Any]
    setup: list[Mapping[str, Any]] = field(default_factory=list)
    bucket: str = "plain"
    needs: list[str] = field(default_factory=list)


def load(folder: Path = FOLDER, pattern: str = "") -> list[Case]:
    """All cases whose names contain `pattern`, in the order of the files and their lines.

    Raises:
        ValueError: two cases have the same name.
    """
    cases: list[Case] = []
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        for entry in document["cases"]:
            known = {key: value for key, value in entry.items() if key not in ("name", "source")}
            cases.append(Case(name=f"{path.stem}/{entry['name']}", source=entry.get("source", document["source"]), **known))
    names = [case.name for case in cases]
    duplicates = {name for name in names if names.count(name) > 1}
    if duplicates:
        raise ValueError(f"duplicate case names: {', '.join(sorted(duplicates))}")
    return [case for case in cases if pattern in case.name]
