"""``penstock checkpoint verify``: checks that every object exists, has its size, and matches its checksums."""

from __future__ import annotations

import argparse
import struct
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from .. import _core
from .._exceptions import S3DataLossError, S3Exception, S3InvalidArgumentError
from .._objects import ObjectInfo
from ..s3reader._zip_directory import Directory, entries_of, find_directory
from ..s3reader._zip_records import MAGIC, TAIL_BYTES, Held, check_archive, check_records
from ..s3reader._zip_records import Verdict as Checked
from . import _dcp
from ._catalog import checkpoints_of
from ._dcp import Item
from ._names import above, folder_of, is_shard
from ._output import many, print_json, size_text, table
from ._place import Place, kind_of, metadata_below, place_of

MAX_NAMED = 20  # values of which the metadata is damaged, in one line
OK, MISSING, DAMAGED, UNVERIFIED = "ok", "missing", "damaged", "unverified"
PARALLEL = 4  # objects that are verified in parallel; each is read in several parts
HELD = 8 * 1024**2  # bytes; smaller items are held in memory, of larger ones the zip directory is read first


@dataclass(frozen=True)
class Verdict:
    """The result for one object.

    Attributes:
        key: Key of the object.
        state: `OK`, `MISSING`, `DAMAGED` or `UNVERIFIED`.
        size: Size in bytes.
        by: Name of the checksum that verified the object; empty: none.
        detail: Description of the problem.
    """

    key: str
    state: str
    size: int
    by: str = ""
    detail: str = ""


def verify(place: Place) -> list[Verdict]:
    """Reads all objects of a checkpoint, or one shard of a distributed checkpoint. Returns one verdict for each.

    Raises:
        S3InvalidArgumentError: The place is a shard, and there is no metadata that describes its items.
    """
    kind, key = kind_of(place)
    if kind == "dcp":
        return _verify_folder(place, key)
    if is_shard(key):
        return _verify_folder(place, _folder_of_shard(place, key), key)
    info = place.info(key)
    assert info is not None
    if info.size == 0:
        return [Verdict(key, DAMAGED, 0, detail="is empty; a checkpoint file is not")]
    return [_verdict(place, info, [Item("", key, 0, info.size)])]


def _folder_of_shard(place: Place, key: str) -> str:
    """Returns the nearest folder above a shard that has metadata."""
    folder = folder_of(key)
    found = next((each for each in (folder, *above(folder)) if metadata_below(place, each)), None)
    if found is None:
        raise S3InvalidArgumentError(
            f"{place.uri(key)} is a shard of a distributed checkpoint, and no folder above it has a .metadata object, which"
            " describes its items: the save did not finish, or its metadata was deleted"
        )
    return found


def _verify_folder(place: Place, key: str, shard: str | None = None) -> list[Verdict]:
    """Verifies the distributed checkpoint in the folder `key`, or only its object `shard`."""
    items: dict[str, list[Item]] = defaultdict(list)
    checkpoint = _dcp.read_all(place, key, metadata_below(place, key))
    source = checkpoint.metadata[0].removeprefix(key) if len(checkpoint.metadata) == 1 else "the ranks' metadata"
    for item in checkpoint.items:
        items[item.key].append(item)
    listed = place.objects(key) if shard is None else []
    there = {info.key: info for info in listed}
    wanted = items if shard is None else (shard,)
    there |= {name: info for name in wanted if name not in there and (info := place.info(name)) is not None}

    ends = checkpoint.ends()

    def one(name: str) -> Verdict:
        info = there.get(name)
        end = ends.get(name, 0)  # 0 for the metadata
        if info is None:
            return Verdict(name, MISSING, 0, detail=f"{source} refers to {end:,} bytes of it")
        if info.size < end:
            return Verdict(name, DAMAGED, info.size, detail=f"has {info.size:,} bytes, but {source} refers to {end:,}")
        if info.size > end > 0:
            detail = f"has {info.size:,} bytes, but {source} accounts for {end:,}: the object is of another save"
            return Verdict(name, DAMAGED, info.size, detail=detail)
        if damage := checkpoint.damage.get(name):
            more = f"; and {len(damage) - MAX_NAMED:,} more" if len(damage) > MAX_NAMED else ""
            return Verdict(name, DAMAGED, info.size, detail="; ".join(damage[:MAX_NAMED]) + more)
        return _verdict(place, info, items[name])

    if shard is not None:
        return [one(shard)]
    with ThreadPoolExecutor(PARALLEL) as pool:
        verdicts = list(pool.map(one, [*checkpoint.metadata, *sorted(ends)]))
    return verdicts + _unpublished(key, list(there.values()))


def _unpublished(folder: str, objects: list[ObjectInfo]) -> list[Verdict]:
    """Returns verdicts for missing metadata of ranks: other ranks have metadata, or the rank has shards."""
    ranks = [each.unpublished for each in checkpoints_of(objects) if each.key == folder]
    detail = "other ranks have metadata, or this rank has shards: this rank has not finished its save"
    return [Verdict(f"{folder}__{rank}.metadata", MISSING, 0, detail=detail) for rank in ranks if rank is not None]


def _verdict(place: Place, info: ObjectInfo, items: list[Item]) -> Verdict:
    """Verifies an existing object by its stored checksum and the zip records of its items. Reads it once."""
    stored = place.client.core.head_object(place.bucket, info.key).checksums
    algorithm = next((name for name, _ in stored if name in ("crc64nvme", "crc32c", "crc32")), "")
    if not algorithm and not items:
        return Verdict(info.key, UNVERIFIED, info.size, detail="S3 has no checksum of the whole object")
    damaged: list[str] = []
    unknown: list[str] = []
    try:
        _read_through(place, info, items, damaged, unknown)
    except S3DataLossError as error:
        return Verdict(info.key, DAMAGED, info.size, detail="; ".join([*damaged, str(error)]))
    except S3Exception as error:
        if error.code in ("NoSuchKey", "404"):
            return Verdict(info.key, MISSING, 0, detail="the object was deleted during this run")
        raise
    if damaged:
        as_stored = f"; the object matches its {algorithm}, so it was stored like that" if algorithm else ""
        return Verdict(info.key, DAMAGED, info.size, "zip crc32", "; ".join(damaged) + as_stored)
    if algorithm:
        return Verdict(info.key, OK, info.size, algorithm)
    if unknown:
        return Verdict(info.key, UNVERIFIED, info.size, "zip crc32", unknown[0])
    return Verdict(info.key, OK, info.size, "zip crc32")


class _Passing:
    """Reads the bytes of a stream once, in ascending order. Offsets are relative to `base`."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._block = memoryview(b"")
        self.position = 0
        self.base = 0

    def _pieces(self, end: int) -> Iterator[memoryview]:
        while self.position < end:
            if not len(self._block):
                block = next(self._blocks, None)
                if block is None:
                    return
                self._block = memoryview(block)
            piece = self._block[: end - self.position]
            self._block = self._block[len(piece) :]
            self.position += len(piece)
            yield piece

    def _to(self, position: int) -> None:
        for _ in self._pieces(position):
            pass

    def read(self, begin: int, end: int) -> bytes:
        self._to(self.base + begin)
        return b"".join(self._pieces(self.base + end))

    def crc(self, begin: int, end: int) -> int:
        self._to(self.base + begin)
        crc = 0
        for piece in self._pieces(self.base + end):
            crc = _core.crc32_of(piece, crc)
        return crc


def _read_through(place: Place, info: ObjectInfo, items: list[Item], damaged: list[str], unknown: list[str]) -> None:
    """Reads an object and adds messages about its items to `damaged` and `unknown`. The core verifies the object's checksum."""
    directories = {item: _directory(place, item) for item in items if item.length > HELD and not item.transforms}
    blocks = place.client._get_object_stream(place.bucket, info.key)
    content = _Passing(blocks)
    places = {(item.offset, item.length): item for item in items if item.length}
    for _, item in sorted(places.items()):
        what = f"item {item.name!r}" if item.name else "the file"
        if item.transforms or item.offset < content.position:
            why = f"encoded by {', '.join(item.transforms)}" if item.transforms else "part of another item"
            unknown.append(f"{what} is {why} and has no CRC-32 of torch")
            continue
        content.base = item.offset
        found = _checked(content, item, directories.get(item))
        if found.damage:
            damaged.append(f"{what}: bytes {item.offset} to {item.offset + item.length} {found.damage}")
        if found.unknown:
            unknown.append(f"{what}: {found.unknown}")
    for _ in blocks:
        pass


def _directory(place: Place, item: Item) -> tuple[bytes, Directory] | None:
    """Reads the zip directory at the end of an item that is not held in memory; None if there is none."""
    end = item.offset + item.length
    tail = place.read(item.key, max(item.offset, end - TAIL_BYTES), end)
    found = find_directory(tail, item.length)
    if found is None:
        return None
    start = item.length - len(tail)
    if found.start < start:
        return place.read(item.key, item.offset + found.start, item.offset + found.end), found
    return tail[found.start - start : found.end - start], found


def _checked(content: _Passing, item: Item, directory: tuple[bytes, Directory] | None) -> Checked:
    if directory is not None:
        found, records = check_records(content, *directory), directory[0]
    else:
        data = content.read(0, item.length if item.length <= HELD else len(MAGIC))
        if not data.startswith(MAGIC):
            return Checked(unknown="it is not a zip file, and S3 has no checksum of the whole object")
        found, at = check_archive(Held(data), len(data)), find_directory(data, len(data))
        records = data[at.start : at.end] if at else b""
    damage = "" if found.damage or not item.crc32s else _damage_of_pieces(item, records)
    return Checked(damage=damage) if damage else found


def _damage_of_pieces(item: Item, directory: bytes) -> str:
    """Compares the CRC-32 of a tensor in the zip directory with those of its pieces in the metadata."""
    count = -(-item.tensor_bytes // item.piece_bytes) if item.piece_bytes else 0
    if len(item.crc32s) != 4 * count:
        return f"have {len(item.crc32s)} bytes of checksums in the metadata, but {count} pieces"
    crcs = struct.unpack(f"<{count}I", item.crc32s)
    expected, end = crcs[0], item.piece_bytes
    for crc in crcs[1:]:
        size = min(item.piece_bytes, item.tensor_bytes - end)
        expected, end = _core.crc32_combine(expected, crc, size), end + size
    stored = [entry.crc for entry in entries_of(directory) if entry.name.endswith(b"/data/0")]
    if stored in ([expected], [0]):  # 0: saved without CRC-32s
        return ""
    shown = " and ".join(f"{crc:08x}" for crc in stored) or "none"
    return (
        f"have the CRC-32 {shown}, but {expected:08x} in the metadata: the object is of another save, or the metadata is damaged"
    )


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
        + (f", {unverified} unverified" if unverified else "")
    )
    return 1 if bad else 0
