"""Reads headers and tensors of safetensors files on S3.

Source: https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import bisect
import json
import math
import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
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
from .._checkpoint_format._pieces import piece_bytes, piece_count
from .._exceptions import S3DataLossError, S3NotFoundError
from .._objects import crc_text
from . import _safetensors_crcs
from ._boxes import SHORT_ROW, Box, Rows
from ._safetensors_crcs import Crcs, address_of
from ._shard import _SAFETENSORS_DTYPES
from ._stored_items import ReadTarget, TensorSpec, is_addressable, takes_bytes

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner, ReadItem

    from .._client import S3Client

INDEX_NAME = "model.safetensors.index.json"
SUFFIX = ".safetensors"
FIRST_READ_BYTES = 128 * 1024  # most headers are shorter
MAX_HEADER_BYTES = 100_000_000  # the format's own limit
PARALLEL_HEADS = 8
# Bytes that a load may read in addition to compare the pieces at the ends of its rows: these, and 1/EXTRA_SHARE of its bytes.
EXTRA_BYTES = 4 * 1024**2
EXTRA_SHARE = 16
SCRATCH_BYTES = 64 * 1024**2  # scratch memory for data that cannot be fetched directly into its target
_DTYPES = {name: getattr(torch, dtype) for dtype, name in _SAFETENSORS_DTYPES.items() if hasattr(torch, dtype)}


class Header(NamedTuple):
    """The header of a file.

    Attributes:
        size: Bytes of the header, from the start of the file.
        crc64nvme: CRC64NVME of the header.
        file_size: Bytes of the file.
        crcs: CRC64NVMEs of the pieces of all tensors; None: the header has none.
    """

    size: int
    crc64nvme: int
    file_size: int
    crcs: Sequence[int] | None


class Tensor(NamedTuple):
    """Location of a tensor, or of the part of it that is in one file. `crcs`: None if the header has none."""

    key: str
    etag: str
    begin: int
    spec: TensorSpec
    header: Header
    crcs: Crcs | None


class Files:
    """The safetensors files below a path."""

    def __init__(self, client: S3Client, bucket: str, key: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = key if key.endswith("/") or not key else key + "/"

    def metadata(self, parallel: int) -> Metadata:
        """Returns the metadata of all tensors in the files.

        Raises:
            ValueError: There is no file, a file is not a safetensors file, or files without an index overlap.
        """
        keys, indexed = self._keys()
        if not keys:
            raise ValueError(f"s3://{self._bucket}/{self._prefix} has no {SUFFIX} file")
        metadata = Metadata(state_dict_metadata={}, storage_data={}, storage_meta=StorageMeta())
        with ThreadPoolExecutor(max(1, parallel)) as pool:
            for key, (entries, etag, header) in zip(keys, pool.map(self._header, keys), strict=True):
                _add(metadata, key, entries, etag, header)
        if not indexed:
            self._refuse_overlaps(metadata)
        return metadata

    def _refuse_overlaps(self, metadata: Metadata) -> None:
        for name, tensor in metadata.state_dict_metadata.items():
            if not isinstance(tensor, TensorStorageMetadata):
                continue
            if sum(chunk.sizes.numel() for chunk in tensor.chunks) > tensor.size.numel():
                raise ValueError(
                    f"several files of s3://{self._bucket}/{self._prefix} have the same elements of {name!r}, for example"
                    " files of two saves; remove those of one of them, or save to a new path"
                )

    def _keys(self) -> tuple[list[str], bool]:
        """Returns the keys of the files, and whether an index names them."""
        try:
            index, _, _ = self._client.core.read(self._bucket, self._prefix + INDEX_NAME)
        except S3NotFoundError:
            pages = self._client.list_objects(self._bucket, self._prefix, delimiter="/")
            return [info.key for page in pages for info in page.object_info if info.key.endswith(SUFFIX)], False
        try:
            return [self._prefix + name for name in sorted(set(json.loads(index)["weight_map"].values()))], True
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"s3://{self._bucket}/{self._prefix}{INDEX_NAME} is not an index of safetensors files: {error}"
            ) from error

    def _header(self, key: str) -> tuple[dict[str, Any], str, Header]:
        """Returns the entries of the header, the ETag of the file, and the header."""
        wrong = f"s3://{self._bucket}/{key} is not a safetensors file"
        data, etag, file_size = self._header_bytes(key, wrong)
        try:
            entries = json.loads(data[8:], object_pairs_hook=_without_duplicates)
        except ValueError as error:
            raise ValueError(f"{wrong}: its header is not valid JSON ({error})") from error
        if not isinstance(entries, dict):
            raise ValueError(f"{wrong}: its header is a {type(entries).__name__}, expected an object")
        if problem := _problem_of_offsets(entries, file_size - len(data)):
            raise ValueError(f"{wrong}: {problem}")
        try:
            crcs = _safetensors_crcs.crcs_in(data)
        except ValueError as error:
            raise ValueError(f"{wrong}: its checksums are invalid ({error})") from error
        return entries, etag, Header(len(data), _core.crc64nvme(address_of(data), len(data)), file_size, crcs)

    def _header_bytes(self, key: str, wrong: str) -> tuple[bytes, str, int]:
        """Returns the header, the ETag of the file and the size of the file. Reads a damaged header once more."""
        client = self._client.core
        data, etag, file_size = self._read_header(key, wrong, None)
        damage = _safetensors_crcs.header_damage(data)
        again = damage is not None and client.may_repeat
        if again:
            data, _, _ = self._read_header(key, wrong, etag)
            damage = _safetensors_crcs.header_damage(data)
        if damage is not None:
            raise S3DataLossError(
                _damage_text(f"s3://{self._bucket}/{key}", 0, len(data), f"{damage.found:016x}", damage.expected, again)
            )
        return data, etag, file_size

    def _read_header(self, key: str, wrong: str, etag: str | None) -> tuple[bytes, str, int]:
        client = self._client.core
        first, about, _ = client.read(self._bucket, key, 0, FIRST_READ_BYTES, etag=etag)
        if len(first) < 8:
            raise ValueError(f"{wrong}: it has only {len(first)} bytes")
        (length,) = struct.unpack_from("<Q", first)
        if length > MAX_HEADER_BYTES:
            raise ValueError(f"{wrong}: its header size is {length} bytes, the limit is {MAX_HEADER_BYTES}")
        end, etag = 8 + length, about.etag.strip('"')
        if len(first) < end:
            first = bytes(first) + bytes(client.read(self._bucket, key, len(first), end, etag=etag)[0])
        return bytes(first[:end]), etag, about.size


def _damage_text(path: str, begin: int, end: int, found: str, expected: str, again: bool) -> str:
    twice = " in two reads" if again else ""
    return (
        f"{path}: bytes {begin} to {end} have the CRC64NVME {found}{twice}, and were saved with {expected}: the data was"
        " corrupted in transfer or in storage; retry, or load another checkpoint"
    )


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
    pieces = 0
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
        crcs = None
        if header.crcs is not None:
            count = piece_count(spec.sizes, spec.itemsize)
            values = header.crcs[pieces : pieces + count]
            crcs = Crcs(piece_bytes(spec.sizes, spec.itemsize), values)
            pieces += count
        metadata.storage_data[MetadataIndex(name, offsets)] = Tensor(key, etag, header.size + begin, spec, header, crcs)
    if header.crcs is not None and pieces != len(header.crcs):
        raise ValueError(f"{key} has the checksums of {len(header.crcs)} pieces, and its tensors have {pieces}")


class _Extra(NamedTuple):
    """Bytes of a tensor, from offset `begin`, that are read to compare a piece of which a request needs a part only."""

    begin: int
    memory: torch.Tensor

    @staticmethod
    def of(begin: int, end: int) -> _Extra:
        return _Extra(begin, torch.empty(end - begin, dtype=torch.uint8, device="cpu"))

    def segment(self) -> tuple[int, int, int]:
        return self.begin, self.memory.data_ptr(), self.memory.nbytes


class _PendingRead(NamedTuple):
    """A box of a tensor to fetch, into `scratch` or, if that is None, directly into the target.

    Attributes:
        before: Bytes before the box that are fetched to compare its first piece.
        after: Bytes after the box that are fetched to compare its last piece.
    """

    read: ReadTarget
    tensor: Tensor
    box: Box
    scratch: torch.Tensor | None
    before: _Extra | None = None
    after: _Extra | None = None

    @property
    def _memory(self) -> torch.Tensor:
        memory = self.read.target if self.scratch is None else self.scratch
        assert memory is not None
        return memory

    @property
    def own_bytes(self) -> int:
        """Bytes of memory that this read holds until it is delivered."""
        extras = sum(extra.memory.nbytes for extra in (self.before, self.after) if extra is not None)
        return extras + (self.scratch.nbytes if self.scratch is not None else 0)

    def segments(self) -> Iterator[tuple[int, int, int]]:
        """Yields (offset in the tensor, address, size) of the bytes to fetch, in ascending order."""
        if self.before is not None:
            yield self.before.segment()
        spec, memory = self.tensor.spec, self._memory
        rows = Rows(self.box.lengths, spec.strides, memory.stride(), spec.itemsize)
        first = self.box.first(spec.strides) * spec.itemsize
        for begin, address, size, count, step, memory_step in rows.strips(first, memory.data_ptr()):
            for i in range(count):
                yield begin + i * step, address + i * memory_step, size
        if self.after is not None:
            yield self.after.segment()

    def pieces(self) -> Iterator[int]:
        for begin, address, size in self.segments():
            yield from (self.tensor.begin + begin, address, size)

    def damage(self) -> _safetensors_crcs.PieceDamage | None:
        """Compares the fetched bytes with their checksums."""
        crcs = self.tensor.crcs
        if crcs is None:
            return None
        return _safetensors_crcs.damage_of(crcs, self.tensor.spec.payload, self.segments())

    def whole(self) -> torch.Tensor | None:
        """Returns the memory that holds the bytes of the whole tensor as in the file; None if there is no such memory."""
        spec, memory = self.tensor.spec, self._memory
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


def _pending_read(request: ReadItem, tensor: Tensor, planner: LoadPlanner, verify_all: bool) -> _PendingRead:
    read = ReadTarget(request)
    read.target = target = planner.resolve_tensor(request).detach()
    if tuple(target.size()) != read.box.lengths:
        raise ValueError(
            f"{request.storage_index}: the stored size is {read.box.lengths}, the target size {tuple(target.size())}"
        )
    sizes = tensor.spec.sizes
    has_gaps = verify_all and not read.box.is_run(sizes)
    if is_addressable(target) and takes_bytes(target, tensor.spec) and not has_gaps:
        rows = Rows(read.box.lengths, tensor.spec.strides, target.stride(), tensor.spec.itemsize)
        if not rows.levels or rows.run >= SHORT_ROW:
            return _PendingRead(read, tensor, read.box, None)
    box = Box((0,) * len(sizes), sizes) if has_gaps else read.box.widened(sizes, tensor.spec.itemsize)
    return _PendingRead(read, tensor, box, torch.empty(box.lengths, dtype=tensor.spec.dtype, device="cpu"))


class _Completion:
    """Completes the pieces at the ends of a read, within a limit for all reads of a load unless all bytes must be compared."""

    def __init__(self, verify_all: bool) -> None:
        self._left: float = math.inf if verify_all else EXTRA_BYTES

    def complete(self, one: _PendingRead) -> _PendingRead:
        """Returns the read with the bytes that its first and last piece lack, if it is contiguous in the file."""
        spec, crcs = one.tensor.spec, one.tensor.crcs
        size = one.box.elements * spec.itemsize
        self._left += size // EXTRA_SHARE
        if crcs is None or size in (0, spec.payload) or not one.box.is_run(spec.sizes):
            return one
        begin = one.box.first(spec.strides) * spec.itemsize
        end = begin + size
        start = begin - begin % crcs.piece_bytes
        stop = min(end + -end % crcs.piece_bytes, spec.payload)
        before = _Extra.of(start, begin) if self._takes(begin - start) else None
        after = _Extra.of(end, stop) if self._takes(stop - end) else None
        return one._replace(before=before, after=after)

    def _takes(self, size: int) -> bool:
        if not 0 < size <= self._left:
            return False
        self._left -= size
        return True


def load_tensors(
    client: S3Client,
    bucket: str,
    requests: Iterable[ReadItem],
    stored: dict[Any, Tensor],
    planner: LoadPlanner,
    *,
    verify_all: bool,
) -> None:
    """Fetches the requested tensors and delivers them to the planner, whose hooks run on the calling thread.

    Raises:
        S3DataLossError: Bytes do not have the checksum that the file's header, or S3, has for them, or with `verify_all` cannot
            be compared.
        S3Exception: A request failed, or a file was replaced after its header was read.
    """
    pending: list[_PendingRead] = []
    held = 0
    checks = _Checks(client, bucket, verify_all)
    completion = _Completion(verify_all)
    for request in sorted(requests, key=lambda each: stored[each.storage_index][:3]):
        tensor = stored[request.storage_index]
        pending.append(completion.complete(_pending_read(request, tensor, planner, verify_all)))
        held += pending[-1].own_bytes
        if held >= SCRATCH_BYTES:
            _fetch(client, bucket, pending, planner, checks)
            pending, held = [], 0
    _fetch(client, bucket, pending, planner, checks)
    checks.compare()


class _Checks:
    """Compares completely fetched files whose header has no checksums with the CRC64NVME that S3 stores."""

    def __init__(self, client: S3Client, bucket: str, verify_all: bool) -> None:
        self._client = client
        self._bucket = bucket
        self._verify_all = verify_all
        self._reached: dict[tuple[str, str], tuple[int, int, int]] = {}  # (key, ETag): (file size, bytes so far, their CRC)

    def add(self, one: _PendingRead) -> None:
        """Continues the CRC of a file with the bytes of a tensor, if it directly follows the bytes so far."""
        tensor = one.tensor
        if tensor.crcs is not None:
            return
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
            S3DataLossError: The checksums of a file differ, or all must be compared and those of a file cannot be.
        """
        whole = [(key, etag, crc) for (key, etag), (size, reached, crc) in self._reached.items() if reached == size]
        if self._verify_all and len(whole) < len(self._reached):
            key = next(key for (key, _), (size, reached, _) in self._reached.items() if reached != size)
            raise self._not_comparable(key, "its header has no checksums, and the load wants only a part of the file")
        with ThreadPoolExecutor(max(1, min(len(whole), PARALLEL_HEADS))) as pool:
            for problem in pool.map(self._problem, whole):
                if problem is not None:
                    raise problem

    def _problem(self, file: tuple[str, str, int]) -> S3DataLossError | None:
        key, etag, crc = file
        about = self._client.core.head_object(self._bucket, key)
        wanted = dict(about.checksums).get("crc64nvme")
        got = crc_text(crc)
        replaced = about.etag.strip('"') != etag  # all fetched bytes are of one version
        if wanted == got and not replaced:
            return None
        if wanted is None or replaced:
            reason = "it was replaced during the load" if replaced else "neither its header nor S3 has a checksum"
            return self._not_comparable(key, reason) if self._verify_all else None
        return S3DataLossError(
            f"s3://{self._bucket}/{key}: the received bytes have the CRC64NVME {got}, and the object's is {wanted};"
            " the loaded tensors are corrupt"
        )

    def _not_comparable(self, key: str, reason: str) -> S3DataLossError:
        return S3DataLossError(
            f"s3://{self._bucket}/{key} cannot be compared with checksums: {reason}; load the checkpoint without verify_all, or"
            " save it again with S3HuggingFaceStorageWriter"
        )


def _fetch(client: S3Client, bucket: str, pending: list[_PendingRead], planner: LoadPlanner, checks: _Checks) -> None:
    _receive(client, bucket, pending)
    _verify(client, bucket, pending)
    for one in pending:
        checks.add(one)
        one.deliver(planner)


def _verify(client: S3Client, bucket: str, fetched: list[_PendingRead]) -> None:
    """Compares the fetched bytes with their checksums. Reads the damaged ones once more, alone.

    If requests may not be repeated, reads only those again whose memory another read may have overwritten.

    Raises:
        S3DataLossError: They are still damaged.
    """
    for one in [each for each in fetched if each.damage() is not None]:
        again = client.core.may_repeat or _shares_memory(one, fetched)
        if again:
            _receive(client, bucket, [one])
        if (damage := one.damage()) is not None:
            tensor = one.tensor
            place = f"s3://{bucket}/{tensor.key}, tensor {one.read.request.storage_index.fqn!r}"
            begin, end = tensor.begin + damage.begin, tensor.begin + damage.end
            raise S3DataLossError(_damage_text(place, begin, end, f"{damage.found:016x}", f"{damage.expected:016x}", again))


def _shares_memory(one: _PendingRead, fetched: Iterable[_PendingRead]) -> bool:
    """Whether another read writes to memory of this one, because the caller loads two values into one tensor."""
    own = sorted((address, address + size) for _, address, size in one.segments())
    for other in fetched:
        for _, address, size in other.segments() if other is not one else ():
            before = bisect.bisect_left(own, (address + size, 0)) - 1  # the last segment that starts before this one's end
            if before >= 0 and own[before][1] > address:
                return True
    return False


def _receive(client: S3Client, bucket: str, pending: list[_PendingRead]) -> None:
    by_file: dict[tuple[str, str], array[int]] = {}
    for one in pending:
        by_file.setdefault(one.tensor[:2], array("Q")).extend(one.pieces())
    reader = _core.RangeReader(client.core, parallel=client.parallel_parts)
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
