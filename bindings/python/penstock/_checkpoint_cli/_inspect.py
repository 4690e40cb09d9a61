"""``penstock checkpoint inspect``."""

from __future__ import annotations

import argparse
from typing import Any

from . import _archive, _dcp
from ._dcp import Entry
from ._output import many, one_line, print_json, size_text, table
from ._place import Place, kind_of, metadata_below, place_of

MAX_NAME = 80  # characters of a printed name; keys of Lightning's callbacks have 220, with a common prefix


def _shortened(name: str) -> str:
    """Replaces the middle of a long name by an ellipsis."""
    if len(name) <= MAX_NAME:
        return name
    begin = (MAX_NAME - 3) // 2
    return f"{name[:begin]}...{name[begin + 3 - MAX_NAME :]}"


def _document(entry: Entry) -> dict[str, Any]:
    shape = None if entry.shape is None else list(entry.shape)
    return {"name": entry.name, "shape": shape, "dtype": entry.dtype or None, "bytes": entry.size, "chunks": entry.chunks}


def _row(document: dict[str, Any]) -> tuple[str, ...]:
    shape = "(pickled)" if document["shape"] is None else str(document["shape"])
    size = "?" if document["bytes"] is None else size_text(document["bytes"])
    return (_shortened(document["name"]) or "(the whole file)", shape, document["dtype"] or "-", size, str(document["chunks"]))


def inspect(place: Place) -> dict[str, Any]:
    """Returns the document that `--json` prints. Reads the metadata of a directory, or zip directory and data.pkl of a file."""
    kind, key = kind_of(place)
    foreign: list[str] = []
    if kind == "dcp":
        checkpoint = _dcp.read_all(place, key, metadata_below(place, key))
        entries, objects = checkpoint.entries, len(checkpoint.ends()) + len(checkpoint.metadata)
    else:
        info = place.info(key)
        entries, foreign = _archive.inspect(place, key, 0 if info is None else info.size)
        objects = 1
    return {
        "uri": place.uri(key),
        "kind": kind,
        "objects": objects,
        "tensors": [_document(entry) for entry in entries if entry.shape is not None],
        "other": [_document(entry) for entry in entries if entry.shape is None],
        "classes": foreign,
    }


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    found = inspect(place)
    if options.json:
        print_json(found)
        return 0
    rows = [_row(each) for each in (*found["tensors"], *found["other"])]
    print(table(("NAME", "SHAPE", "DTYPE", "SIZE", "CHUNKS"), rows, right="34"))
    total = size_text(sum(each["bytes"] or 0 for each in found["tensors"]))
    where = f"{many(found['objects'], 'object')} of {one_line(found['uri'])}"
    print(f"{many(len(found['tensors']), 'tensor')}, {total}, in {where}")
    if any(len(each["name"]) > MAX_NAME for each in (*found["tensors"], *found["other"])):
        print(f"Names longer than {MAX_NAME} characters are shortened; --json prints them in full.")
    if found["classes"]:
        print(f"torch.load(weights_only=True) may reject: {one_line(', '.join(found['classes']))}")
    return 0
