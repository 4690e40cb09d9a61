"""Safetensors files on S3: what their headers say, and their tensors' bytes.

Source: https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import base64
import json
import struct
from array import array
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)

from .. import _core
from .._exceptions import S3DataLossError, S3NotFoundError
from ._boxes import Box, Rows
from ._layout import address_of
from ._shard import _SAFETENSORS_DTYPES
from ._stored import Kind, Want, rows_in_place

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner, ReadItem

    from .._client import S3Client

INDEX_NAME = "model.safetensors.index.json"
SUFFIX = ".safetensors"
FIRST_READ_BYTES = 128 * 1024  # most headers are shorter
MOST_HEADER_BYTES = 100_000_000  # the format's own limit
PARALLEL_HEADS = 8
SCRATCH_BYTES = 64 * 1024**2  # of what cannot land in its tensor, at a time
_DTYPES = {name: getattr(torch, dtype) for dtype, name in _SAFETENSORS_DTYPES.items() if hasattr(torch, dtype)}


class Header(NamedTuple):
    """The header of a file: it takes the file's first `size` bytes; and the size of the file."""

    size: int
    crc64nvme: int
    file_size: int


class Tensor(NamedTuple):
    """Where a tensor, or the part of it that a file has, lies."""

    key: str
    etag: str
    begin: int
    kind: Kind
    header: Header


class Files:
    """The safetensors files below a path."""

    def __init__(self, client: S3Client, bucket: str, key: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = key if key.endswith("/") or not key else key + "/"

    def metadata(self, parallel: int) -> Metadata:
        """Of all their tensors.

        Raises:
            ValueError: There is none, or one is no safetensors file; names it.
        """
        keys = self._keys()
        if not keys:
            raise ValueError(f"s3://{self._bucket}/{self._prefix} has no {SUFFIX} file")
        metadata = Metadata(state_dict_metadata={}, storage_data={}, storage_meta=StorageMeta())
        with ThreadPoolExecutor(max(1, parallel)) as pool:
            for key, (entries, etag, header) in zip(keys, pool.map(self._header, keys), strict=True):
                _add(metadata, key, entries, etag, header)
        return metadata

    def _keys(self) -> list[str]:
        try:
            index, _ = self._client.core.read(self._bucket, self._prefix + INDEX_NAME)
        except S3NotFoundError:
            pages = self._client.list_objects(self._bucket, self._prefix, delimiter="/")
            return [info.key for page in pages for info in page.object_info if info.key.endswith(SUFFIX)]
        try:
            return [self._prefix + name for name in sorted(set(json.loads(index)["weight_map"].values()))]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"s3://{self._bucket}/{self._prefix}{INDEX_NAME} is no index of safetensors files: {error}"
            ) from error

    def _header(self, key: str) -> tuple[dict[str, Any], str, Header]:
        """The entries of one file's header, the file's ETag, and the header."""
        client = self._client.core
        first, about = client.read(self._bucket, key, 0, FIRST_READ_BYTES)
        wrong = f"s3://{self._bucket}/{key} is no safetensors file"
        if len(first) < 8:
            raise ValueError(f"{wrong}: it has {len(first)} bytes")
        (length,) = struct.unpack_from("<Q", first)
        if length > MOST_HEADER_BYTES:
            raise ValueError(f"{wrong}: its header would have {length} bytes, more than {MOST_HEADER_BYTES}")
        end, etag = 8 + length, about.etag.strip('"')
        if len(first) < end:
            first = bytes(first) + bytes(client.read(self._bucket, key, len(first), end, etag=etag)[0])
        try:
            entries = json.loads(bytes(first[8:end]), object_pairs_hook=_without_duplicates)
        except ValueError as error:
            raise ValueError(f"{wrong}: its header is no JSON ({error})") from error
        if not isinstance(entries, dict):
            raise ValueError(f"{wrong}: its header is a {type(entries).__name__}")
        if problem := _problem_of_offsets(entries, about.size - end):
            raise ValueError(f"{wrong}: {problem}")
        return entries, etag, Header(end, _core.crc64nvme(address_of(first), end), about.size)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} is there twice")
        found[name] = value
    return found


def _problem_of_offsets(header: dict[str, Any], data_bytes: int) -> str:
    """Whether the tensors are the data, each byte once, as the format requires. Empty: they are."""
    places: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not (isinstance(offsets, list) and len(offsets) == 2 and all(type(offset) is int for offset in offsets)):
            return f"the data_offsets of {name!r} are {offsets!r}, not two numbers"
        places.append((offsets[0], offsets[1], name))
    reached = 0
    for begin, end, name in sorted(places):
        if begin != reached or end < begin:
            return f"{name!r} has the data_offsets [{begin}, {end}], where the tensors before it end at {reached}"
        reached = end
    return "" if reached == data_bytes else f"its tensors are {reached} bytes, and {data_bytes} follow the header"


def _add(metadata: Metadata, key: str, entries: dict[str, Any], etag: str, header: Header) -> None:
    sharding = json.loads((entries.pop("__metadata__", None) or {}).get("DCP_SHARDING_INFO", "{}"))
    for name, entry in entries.items():
        dtype = _DTYPES.get(entry["dtype"])
        if dtype is None:
            raise ValueError(f"{name!r} of {key} is {entry['dtype']}, which this version of torch does not have")
        sizes = torch.Size(entry["shape"])
        offsets = torch.Size(sharding[name]["saved_offsets"] if name in sharding else [0] * len(sizes))
        kind = Kind(dtype, tuple(sizes))
        begin, end = entry["data_offsets"]
        if end - begin != kind.payload:
            raise ValueError(f"{name!r} of {key} has {end - begin} bytes; its type and shape take {kind.payload}")
        ends = [offset + size for offset, size in zip(offsets, sizes, strict=True)]
        known = metadata.state_dict_metadata.get(name)
        if isinstance(known, TensorStorageMetadata):
            known.chunks.append(ChunkStorageMetadata(offsets, sizes))
            known.size = torch.Size(map(max, known.size, ends))
        else:
            properties, chunks = TensorProperties(dtype=dtype), [ChunkStorageMetadata(offsets, sizes)]
            metadata.state_dict_metadata[name] = TensorStorageMetadata(properties, torch.Size(ends), chunks)
        metadata.storage_data[MetadataIndex(name, offsets)] = Tensor(key, etag, header.size + begin, kind, header)


class _Landing(NamedTuple):
    """A wanted box: of scratch memory where it does not land in its target."""

    want: Want
    tensor: Tensor
    box: Box
    scratch: torch.Tensor | None

    def pieces(self) -> Iterator[int]:
        kind = self.tensor.kind
        memory = self.want.target if self.scratch is None else self.scratch
        assert memory is not None
        rows = Rows(self.box.lengths, kind.strides, memory.stride(), kind.itemsize)
        first = self.tensor.begin + self.box.first(kind.strides) * kind.itemsize
        strips = rows.strips(first, memory.data_ptr()) if rows.levels else [(first, memory.data_ptr(), rows.run, 1, 0, 0)]
        for begin, address, size, count, step, memory_step in strips:
            for i in range(count if size else 0):
                yield from (begin + i * step, address + i * memory_step, size)

    def whole(self) -> torch.Tensor | None:
        """Memory with all bytes of the tensor as they are in the file; None: only some were fetched, or in other strides."""
        memory = self.want.target if self.scratch is None else self.scratch
        assert memory is not None
        kind = self.tensor.kind
        same = self.box.lengths == kind.sizes and memory.dtype == kind.dtype and memory.is_contiguous()
        return memory if same and memory.device.type == "cpu" else None

    def deliver(self, planner: LoadPlanner) -> None:
        target = self.want.target
        assert target is not None
        if self.scratch is not None:
            source = self.scratch
            for dim, (start, size) in enumerate(zip(self.want.box.offsets, self.want.box.lengths, strict=True)):
                source = source.narrow(dim, start - self.box.offsets[dim], size)
            target.copy_(source)
        planner.commit_tensor(self.want.request, target)


def _landing(request: ReadItem, tensor: Tensor, planner: LoadPlanner) -> _Landing:
    want = Want(request)
    want.target = planner.resolve_tensor(request).detach()
    if tuple(want.target.size()) != want.box.lengths:
        raise ValueError(
            f"{request.storage_index} has {want.box.lengths} elements to give; its target {tuple(want.target.size())}"
        )
    if rows_in_place(want, tensor.kind) is not None:
        return _Landing(want, tensor, want.box, None)
    box = want.box.widened(tensor.kind.sizes, tensor.kind.itemsize)
    return _Landing(want, tensor, box, torch.empty(box.lengths, dtype=tensor.kind.dtype, device="cpu"))


def read(client: S3Client, bucket: str, requests: Iterable[ReadItem], stored: dict[Any, Tensor], planner: LoadPlanner) -> None:
    """Fetches what is asked for and hands it to the planner, whose hooks run on this thread.

    Raises:
        S3Exception: Something could not be fetched, or a file is another than its header was read from.
    """
    landings: list[_Landing] = []
    scratch = 0
    checks = _Checks(client, bucket)
    for request in sorted(requests, key=lambda each: stored[each.storage_index][:3]):
        landings.append(_landing(request, stored[request.storage_index], planner))
        if landings[-1].scratch is not None:
            scratch += landings[-1].scratch.nbytes
        if scratch >= SCRATCH_BYTES:
            _fetch(client, bucket, landings, planner, checks)
            landings, scratch = [], 0
    _fetch(client, bucket, landings, planner, checks)
    checks.compare()


class _Checks:
    """Compares files of which all bytes were fetched with the CRC64NVME that S3 has of them."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket
        self._reached: dict[tuple[str, str], tuple[int, int, int]] = {}  # file: size, bytes so far, their CRC

    def add(self, landing: _Landing) -> None:
        """Continues the CRC of a file with a tensor that follows what was fetched so far."""
        tensor = landing.tensor
        header, payload = tensor.header, tensor.kind.payload
        size, reached, crc = self._reached.get(tensor[:2], (header.file_size, header.size, header.crc64nvme))
        memory = landing.whole()
        if tensor.begin == reached and memory is not None:
            crc = _core.crc64nvme(memory.data_ptr(), payload, crc)
            reached += payload
        self._reached[tensor[:2]] = (size, reached, crc)

    def compare(self) -> None:
        """One HEAD for each file that was fetched whole.

        Raises:
            S3DataLossError: Its bytes are not those that S3 has the checksum of.
        """
        whole = [(key, etag, crc) for (key, etag), (size, reached, crc) in self._reached.items() if reached == size]
        with ThreadPoolExecutor(max(1, min(len(whole), PARALLEL_HEADS))) as pool:
            for problem in pool.map(self._problem, whole):
                if problem is not None:
                    raise problem

    def _problem(self, file: tuple[str, str, int]) -> S3DataLossError | None:
        key, etag, crc = file
        about = self._client.core.head_object(self._bucket, key)
        wanted = dict(about.checksums).get("crc64nvme")
        got = base64.b64encode(crc.to_bytes(8, "big")).decode()
        if about.etag.strip('"') != etag or wanted in (None, got):
            return None  # replaced since: the bytes that were fetched are all of one version
        return S3DataLossError(
            f"s3://{self._bucket}/{key}: the bytes that were received have the CRC64NVME {got}, and the object's is {wanted};"
            " the loaded tensors are not what was saved"
        )


def _fetch(client: S3Client, bucket: str, landings: list[_Landing], planner: LoadPlanner, checks: _Checks) -> None:
    by_file: dict[tuple[str, str], array[int]] = {}
    for landing in landings:
        by_file.setdefault(landing.tensor[:2], array("Q")).extend(landing.pieces())
    reader = _core.RangeReader(client.core)
    try:
        for token, ((key, etag), pieces) in enumerate(by_file.items()):
            if pieces:
                reader.start(bucket, key, pieces, landings, token, etag)
        while (ended := reader.next()) is not None:
            if ended[2] is not None:
                raise ended[2]
    finally:
        # Nothing may be written any more once the caller has his tensors back.
        reader.cancel()
        while reader.next() is not None:
            pass
    for landing in landings:
        checks.add(landing)
        landing.deliver(planner)
