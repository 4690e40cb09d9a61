"""Reads headers and tensors of safetensors files on S3.

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
from ._stored import ReadTarget, TensorSpec, rows_in_place

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner, ReadItem

    from .._client import S3Client

INDEX_NAME = "model.safetensors.index.json"
SUFFIX = ".safetensors"
FIRST_READ_BYTES = 128 * 1024  # most headers are shorter
MAX_HEADER_BYTES = 100_000_000  # the format's own limit
PARALLEL_HEADS = 8
SCRATCH_BYTES = 64 * 1024**2  # scratch memory for data that cannot be fetched directly into its target
_DTYPES = {name: getattr(torch, dtype) for dtype, name in _SAFETENSORS_DTYPES.items() if hasattr(torch, dtype)}


class Header(NamedTuple):
    """The header of a file.

    Attributes:
        size: Bytes of the header, from the start of the file.
        crc64nvme: CRC64NVME of the header.
        file_size: Bytes of the file.
    """

    size: int
    crc64nvme: int
    file_size: int


class Tensor(NamedTuple):
    """Location of a tensor, or of the part of it that is in one file."""

    key: str
    etag: str
    begin: int
    spec: TensorSpec
    header: Header


class Files:
    """The safetensors files below a path."""

    def __init__(self, client: S3Client, bucket: str, key: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = key if key.endswith("/") or not key else key + "/"

    def metadata(self, parallel: int) -> Metadata:
        """Returns the metadata of all tensors in the files.

        Raises:
            ValueError: There is no file, or a file is not a safetensors file.
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
            index, _, _ = self._client.core.read(self._bucket, self._prefix + INDEX_NAME)
        except S3NotFoundError:
            pages = self._client.list_objects(self._bucket, self._prefix, delimiter="/")
            return [info.key for page in pages for info in page.object_info if info.key.endswith(SUFFIX)]
        try:
            return [self._prefix + name for name in sorted(set(json.loads(index)["weight_map"].values()))]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"s3://{self._bucket}/{self._prefix}{INDEX_NAME} is not an index of safetensors files: {error}"
            ) from error

    def _header(self, key: str) -> tuple[dict[str, Any], str, Header]:
        """Returns the entries of the header, the ETag of the file, and the header."""
        client = self._client.core
        first, about, _ = client.read(self._bucket, key, 0, FIRST_READ_BYTES)
        wrong = f"s3://{self._bucket}/{key} is not a safetensors file"
        if len(first) < 8:
            raise ValueError(f"{wrong}: it has only {len(first)} bytes")
        (length,) = struct.unpack_from("<Q", first)
        if length > MAX_HEADER_BYTES:
            raise ValueError(f"{wrong}: its header size is {length} bytes, the limit is {MAX_HEADER_BYTES}")
        end, etag = 8 + length, about.etag.strip('"')
        if len(first) < end:
            first = bytes(first) + bytes(client.read(self._bucket, key, len(first), end, etag=etag)[0])
        try:
            entries = json.loads(bytes(first[8:end]), object_pairs_hook=_without_duplicates)
        except ValueError as error:
            raise ValueError(f"{wrong}: its header is not valid JSON ({error})") from error
        if not isinstance(entries, dict):
            raise ValueError(f"{wrong}: its header is a {type(entries).__name__}, expected an object")
        if problem := _problem_of_offsets(entries, about.size - end):
            raise ValueError(f"{wrong}: {problem}")
        return entries, etag, Header(end, _core.crc64nvme(address_of(first), end), about.size)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"duplicate name {name!r}")
        found[name] = value
    return found


def _problem_of_offsets(header: dict[str, Any], data_bytes: int) -> str:
    """Checks that the tensors cover the data without gaps and overlaps, as the format requires. Returns the problem, or ""."""
    places: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not (isinstance(offsets, list) and len(offsets) == 2 and all(type(offset) is int for offset in offsets)):
            return f"the data_offsets of {name!r} are {offsets!r}, expected two integers"
        places.append((offsets[0], offsets[1], name))
    reached = 0
    for begin, end, name in sorted(places):
        if begin != reached or end < begin:
            return f"{name!r} has the data_offsets [{begin}, {end}], but the tensors before it end at {reached}"
        reached = end
    return "" if reached == data_bytes else f"its tensors have {reached} bytes, but {data_bytes} bytes follow the header"


def _add(metadata: Metadata, key: str, entries: dict[str, Any], etag: str, header: Header) -> None:
    sharding = json.loads((entries.pop("__metadata__", None) or {}).get("DCP_SHARDING_INFO", "{}"))
    for name, entry in entries.items():
        dtype = _DTYPES.get(entry["dtype"])
        if dtype is None:
            raise ValueError(f"{name!r} of {key} has the dtype {entry['dtype']}, which this version of torch does not support")
        sizes = torch.Size(entry["shape"])
        offsets = torch.Size(sharding[name]["saved_offsets"] if name in sharding else [0] * len(sizes))
        spec = TensorSpec(dtype, tuple(sizes))
        begin, end = entry["data_offsets"]
        if end - begin != spec.payload:
            raise ValueError(f"{name!r} of {key} has {end - begin} bytes; its dtype and shape require {spec.payload}")
        ends = [offset + size for offset, size in zip(offsets, sizes, strict=True)]
        known = metadata.state_dict_metadata.get(name)
        if isinstance(known, TensorStorageMetadata):
            known.chunks.append(ChunkStorageMetadata(offsets, sizes))
            known.size = torch.Size(map(max, known.size, ends))
        else:
            properties, chunks = TensorProperties(dtype=dtype), [ChunkStorageMetadata(offsets, sizes)]
            metadata.state_dict_metadata[name] = TensorStorageMetadata(properties, torch.Size(ends), chunks)
        metadata.storage_data[MetadataIndex(name, offsets)] = Tensor(key, etag, header.size + begin, spec, header)


class _PendingRead(NamedTuple):
    """A box of a tensor to fetch, into `scratch` or, if that is None, directly into the target."""

    read: ReadTarget
    tensor: Tensor
    box: Box
    scratch: torch.Tensor | None

    def pieces(self) -> Iterator[int]:
        spec = self.tensor.spec
        memory = self.read.target if self.scratch is None else self.scratch
        assert memory is not None
        rows = Rows(self.box.lengths, spec.strides, memory.stride(), spec.itemsize)
        first = self.tensor.begin + self.box.first(spec.strides) * spec.itemsize
        strips = rows.strips(first, memory.data_ptr()) if rows.levels else [(first, memory.data_ptr(), rows.run, 1, 0, 0)]
        for begin, address, size, count, step, memory_step in strips:
            for i in range(count if size else 0):
                yield from (begin + i * step, address + i * memory_step, size)

    def whole(self) -> torch.Tensor | None:
        """Returns the memory that holds the bytes of the whole tensor as in the file; None if there is no such memory."""
        memory = self.read.target if self.scratch is None else self.scratch
        assert memory is not None
        spec = self.tensor.spec
        same = self.box.lengths == spec.sizes and memory.dtype == spec.dtype and memory.is_contiguous()
        return memory if same and memory.device.type == "cpu" else None

    def deliver(self, planner: LoadPlanner) -> None:
        target = self.read.target
        assert target is not None
        if self.scratch is not None:
            source = self.scratch
            for dim, (start, size) in enumerate(zip(self.read.box.offsets, self.read.box.lengths, strict=True)):
                source = source.narrow(dim, start - self.box.offsets[dim], size)
            target.copy_(source)
        planner.commit_tensor(self.read.request, target)


def _pending_read(request: ReadItem, tensor: Tensor, planner: LoadPlanner) -> _PendingRead:
    read = ReadTarget(request)
    read.target = planner.resolve_tensor(request).detach()
    if tuple(read.target.size()) != read.box.lengths:
        raise ValueError(
            f"{request.storage_index}: the stored size is {read.box.lengths}, the target size {tuple(read.target.size())}"
        )
    if rows_in_place(read, tensor.spec) is not None:
        return _PendingRead(read, tensor, read.box, None)
    box = read.box.widened(tensor.spec.sizes, tensor.spec.itemsize)
    return _PendingRead(read, tensor, box, torch.empty(box.lengths, dtype=tensor.spec.dtype, device="cpu"))


def load_tensors(
    client: S3Client, bucket: str, requests: Iterable[ReadItem], stored: dict[Any, Tensor], planner: LoadPlanner
) -> None:
    """Fetches the requested tensors and delivers them to the planner, whose hooks run on the calling thread.

    Raises:
        S3Exception: A request failed, or a file was replaced after its header was read.
    """
    pending: list[_PendingRead] = []
    scratch = 0
    checks = _Checks(client, bucket)
    for request in sorted(requests, key=lambda each: stored[each.storage_index][:3]):
        pending.append(_pending_read(request, stored[request.storage_index], planner))
        if pending[-1].scratch is not None:
            scratch += pending[-1].scratch.nbytes
        if scratch >= SCRATCH_BYTES:
            _fetch(client, bucket, pending, planner, checks)
            pending, scratch = [], 0
    _fetch(client, bucket, pending, planner, checks)
    checks.compare()


class _Checks:
    """Compares completely fetched files with the CRC64NVME that S3 stores."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket
        self._reached: dict[tuple[str, str], tuple[int, int, int]] = {}  # (key, ETag): (file size, bytes so far, their CRC)

    def add(self, one: _PendingRead) -> None:
        """Continues the CRC of a file with the bytes of a tensor, if it directly follows the bytes so far."""
        tensor = one.tensor
        header, payload = tensor.header, tensor.spec.payload
        size, reached, crc = self._reached.get(tensor[:2], (header.file_size, header.size, header.crc64nvme))
        memory = one.whole()
        if tensor.begin == reached and memory is not None:
            crc = _core.crc64nvme(memory.data_ptr(), payload, crc)
            reached += payload
        self._reached[tensor[:2]] = (size, reached, crc)

    def compare(self) -> None:
        """Compares the checksums. Sends one HeadObject request for each completely fetched file.

        Raises:
            S3DataLossError: The checksums of a file differ.
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
            return None  # a replaced object cannot be compared; all fetched bytes are of one version
        return S3DataLossError(
            f"s3://{self._bucket}/{key}: the received bytes have the CRC64NVME {got}, and the object's is {wanted};"
            " the loaded tensors are corrupt"
        )


def _fetch(client: S3Client, bucket: str, pending: list[_PendingRead], planner: LoadPlanner, checks: _Checks) -> None:
    by_file: dict[tuple[str, str], array[int]] = {}
    for one in pending:
        by_file.setdefault(one.tensor[:2], array("Q")).extend(one.pieces())
    reader = _core.RangeReader(client.core)
    try:
        for token, ((key, etag), pieces) in enumerate(by_file.items()):
            if pieces:
                reader.start(bucket, key, pieces, pending, token, etag)
        while (ended := reader.next()) is not None:
            if ended[2] is not None:
                raise ended[2]
    finally:
        # No request may write to the tensors after this function returns.
        reader.cancel()
        while reader.next() is not None:
            pass
    for one in pending:
        checks.add(one)
        one.deliver(planner)
