"""``penstock checkpoint ls``."""

from __future__ import annotations

import argparse
from typing import Any

from ._catalog import Checkpoint, catalog
from ._output import many, print_json, size_text, table, time_text
from ._place import Place, place_of


def document(place: Place, checkpoint: Checkpoint) -> dict[str, Any]:
    """Returns the JSON document of a checkpoint: sizes in bytes, times in UTC; `ranks` have metadata of their own."""
    return {
        "uri": place.uri(checkpoint.key),
        "step": checkpoint.step,
        "kind": checkpoint.kind,
        "ranks": checkpoint.ranks,
        "complete": checkpoint.complete,
        "size": checkpoint.size,
        "objects": len(checkpoint.objects),
        "modified": time_text(checkpoint.modified),
    }


def _kind(checkpoint: Checkpoint) -> str:
    ranks = checkpoint.ranks
    kind = checkpoint.kind if ranks is None else f"{checkpoint.kind}, {many(ranks, 'rank')}"
    return kind if checkpoint.complete else f"{kind}, unfinished"


def rows(place: Place, checkpoints: list[Checkpoint]) -> str:
    cells = [
        (
            "-" if each.step is None else each.step,
            _kind(each),
            size_text(each.size),
            len(each.objects),
            time_text(each.modified),
            place.uri(each.key),
        )
        for each in checkpoints
    ]
    return table(("STEP", "KIND", "SIZE", "OBJECTS", "TIME", "URI"), cells, right="023")


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    found = catalog(place)
    if options.json:
        print_json([document(place, each) for each in found])
    elif found:
        print(rows(place, found))
    else:
        print(f"no checkpoints below {place.uri(place.folder)}")
    return 0
