"""``penstock checkpoint verify``: every object there, of its size, and what it was when it was written."""

from __future__ import annotations

import argparse
import zipfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from .._exceptions import S3DataLossError, S3Exception
from .._objects import ObjectInfo
from . import _dcp
from ._archive import RangeFile
from ._catalog import checkpoints_of
from ._dcp import Item
from ._output import many, print_json, size_text, table
from ._place import Place, kind_of, metadata_below, place_of

OK, MISSING, DAMAGED, UNVERIFIED = "ok", "missing", "damaged", "unverified"
PARALLEL = 4  # objects at a time; each is read in several parts
WINDOW = 8 * 1024**2
_ZIP_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True)
class Verdict:
    """`by`: what the bytes were compared with. `detail`: what is wrong, or not known."""

    key: str
    state: str
    size: int
    by: str = ""
    detail: str = ""


def verify(place: Place) -> list[Verdict]:
    """One verdict for each object of a checkpoint; reads all of them."""
    kind, key = kind_of(place)
    if kind == "file":
        info = place.info(key)
        assert info is not None
        return [_verdict(place, info, [Item("", key, 0, info.size)])]
    items: dict[str, list[Item]] = defaultdict(list)
    checkpoint = _dcp.read_all(place, key, metadata_below(place, key))
    said = checkpoint.metadata[0].removeprefix(key) if len(checkpoint.metadata) == 1 else "the ranks' metadata"
    for item in checkpoint.items:
        items[item.key].append(item)
    there = {info.key: info for info in place.objects(key)}
    there |= {name: info for name in items if name not in there and (info := place.info(name)) is not None}

    ends = checkpoint.ends()

    def one(name: str) -> Verdict:
        info = there.get(name)
        end = ends.get(name, 0)  # nothing refers to the metadata itself
        if info is None:
            return Verdict(name, MISSING, 0, detail=f"{said} refers to {end:,} bytes of it")
        if info.size < end:
            return Verdict(name, DAMAGED, info.size, detail=f"has {info.size:,} bytes where {said} refers to {end:,}")
        if info.size > end > 0:
            detail = f"has {info.size:,} bytes where {said} accounts for {end:,}: it is of another save"
            return Verdict(name, DAMAGED, info.size, detail=detail)
        return _verdict(place, info, items[name])

    with ThreadPoolExecutor(PARALLEL) as pool:
        verdicts = list(pool.map(one, [*checkpoint.metadata, *sorted(ends)]))
    return verdicts + _unpublished(key, list(there.values()))


def _unpublished(folder: str, objects: list[ObjectInfo]) -> list[Verdict]:
    """The metadata of a rank that others of a save without collectives, or its own shards, show to be missing."""
    ranks = [each.unpublished for each in checkpoints_of(objects) if each.key == folder]
    detail = "other ranks have one, or this one has shards: it did not finish its save"
    return [Verdict(f"{folder}__{rank}.metadata", MISSING, 0, detail=detail) for rank in ranks if rank is not None]


def _verdict(place: Place, info: ObjectInfo, items: list[Item]) -> Verdict:
    """Of an object that is there: its stored checksum's, else that of the zip records which it consists of."""
    try:
        algorithm = _read_through(place, info)
        if algorithm:
            return Verdict(info.key, OK, info.size, algorithm)
        unknown = ""
        for item in items:
            problem, known = _zip_problem(place, item)
            if problem and known:
                return Verdict(info.key, DAMAGED, info.size, "zip crc32", problem)
            unknown = unknown or problem
        if unknown:
            return Verdict(info.key, UNVERIFIED, info.size, "zip crc32", unknown)
    except S3DataLossError as error:
        return Verdict(info.key, DAMAGED, info.size, detail=str(error))
    except S3Exception as error:
        if error.code in ("NoSuchKey", "404"):
            return Verdict(info.key, MISSING, 0, detail="it was deleted while this ran")
        raise
    if not items:
        return Verdict(info.key, UNVERIFIED, info.size, detail="S3 keeps no checksum of the whole object")
    return Verdict(info.key, OK, info.size, "zip crc32")


def _read_through(place: Place, info: ObjectInfo) -> str:
    """Reads an object that has a checksum, which the core holds it to. Returns the algorithm; empty: there is none."""
    stored = place.client._client.head_object(place.bucket, info.key).checksums
    algorithm = next((name for name, _ in stored if name in ("crc64nvme", "crc32c", "crc32")), "")
    if algorithm:
        for _ in place.client._get_object_stream(place.bucket, info.key):
            pass
    return algorithm


def _zip_problem(place: Place, item: Item) -> tuple[str, bool]:
    """("", True): its records are what their CRC-32 say; (what is wrong, whether it is known to be)."""
    what = f"item {item.name!r}" if item.name else "the file"
    if item.length == 0:
        return "", True
    if item.transforms:
        return f"{what} is stored by {', '.join(item.transforms)}, which has no CRC-32 of torch's", False
    if place.read(item.key, item.offset, item.offset + min(4, item.length)) != _ZIP_MAGIC:
        return f"{what} is no zip file, and S3 keeps no checksum of the whole object", False
    try:
        with zipfile.ZipFile(RangeFile(place, item.key, item.offset, item.length, window=WINDOW)) as archive:
            bad = archive.testzip()
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        return f"{what}: {error}", True
    return (f"{what}: record {bad!r} is not what its CRC-32 says" if bad else ""), True


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    verdicts = verify(place)
    bad = [each for each in verdicts if each.state in (MISSING, DAMAGED)]
    if options.json:
        documents = [asdict(each) | {"uri": place.uri(each.key)} for each in verdicts]
        print_json({"uri": place.uri(place.key), "intact": not bad, "objects": documents})
        return 1 if bad else 0
    rows = [(each.state, each.by or "-", size_text(each.size), place.uri(each.key), each.detail) for each in verdicts]
    print(table(("STATE", "BY", "SIZE", "OBJECT", ""), rows, right="2"))
    unverified = sum(each.state == UNVERIFIED for each in verdicts)
    print(
        f"{many(len(verdicts), 'object')}, {size_text(sum(each.size for each in verdicts))}: "
        + (f"{len(bad)} missing or damaged" if bad else "all there")
        + (f", {unverified} without anything to verify them by" if unverified else "")
    )
    return 1 if bad else 0
