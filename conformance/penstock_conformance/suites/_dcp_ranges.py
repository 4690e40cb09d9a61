"""Reads of a distributed checkpoint load: complete, without duplicates, few extra bytes, of one object version."""

from __future__ import annotations

import math
import tempfile
import threading
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemWriter
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from .._proxy import Exchange, Forward, Response
from .._records import Range, coalesced, length, union, without
from .._suite import Suite, Trial
from ..clients import Loader
from ._endpoint import needs

suite = Suite(
    "dcp-ranges",
    "Ranges of distributed checkpoints",
    "Partial loads of a checkpoint that torch has saved: which bytes are read, how often, by how many requests, "
    "and whether all are of one object version.",
)

MIB = 1 << 20
#: Maximum gap in bytes between items that one request covers.
GAPS: tuple[float, ...] = (0, 4096, 32 * MIB, math.inf)
LARGE = 33 * MIB  # exceeds the default gap
MIN_PART = 5 * MIB  # clients do not split a range into smaller requests
WAIT_S = 10.0  # for a second concurrent read
QUIET_S = 1.0  # without a new read: no further read is expected


@dataclass
class Saved:
    """A checkpoint in a bucket: its tensors, and for each the key and range of its item and the range of its payload."""

    uri: str
    bucket: str
    state: dict[str, torch.Tensor]
    items: dict[str, tuple[str, Range]]
    payloads: dict[str, Range]
    objects: dict[str, bytes]

    def of(self, names: Sequence[str], key: str) -> list[Range]:
        """Ranges of these tensors' items in an object."""
        return [place for name in names for object_key, place in [self.items[name]] if object_key == key]

    def files(self, names: Sequence[str]) -> list[str]:
        return sorted({self.items[name][0] for name in names})


def _state(trial: Trial, tensors: int, large: bool) -> dict[str, torch.Tensor]:
    made = torch.Generator().manual_seed(trial.random.randrange(1 << 31))
    sizes = [trial.random.choice((1, 17, 300, 4000, 50_000)) for _ in range(tensors)]
    state = {f"t{i:02}": torch.randn(size, generator=made) for i, size in enumerate(sizes)}
    if large:
        state["t07-large"] = torch.arange(LARGE // 4, dtype=torch.float32)
    return dict(sorted(state.items()))  # by name, which places the large tensor between others


def _save(trial: Trial, *, tensors: int = 20, large: bool = False, threads: int = 1) -> Saved:
    """Saves with torch's FileSystemWriter, and uploads the files."""
    needs(trial, "objects", "ranges")
    bucket, path = trial.bucket(), "run/step-1"
    state = _state(trial, tensors, large)
    objects = {}
    with tempfile.TemporaryDirectory() as folder, _without_warnings():
        writer = FileSystemWriter(folder, thread_count=threads, sync_files=False)
        metadata = save(state, storage_writer=writer, no_dist=True)
        for file in Path(folder).iterdir():
            objects[f"{path}/{file.name}"] = file.read_bytes()
    for key, data in objects.items():
        trial.store.put(bucket, key, data)
    items, payloads = {}, {}
    for index, info in metadata.storage_data.items():
        key = f"{path}/{info.relative_path}"
        items[index.fqn] = (key, (info.offset, info.offset + info.length))
        payload = state[index.fqn].numpy().tobytes()
        begin = objects[key].index(payload, info.offset, info.offset + info.length)
        payloads[index.fqn] = (begin, begin + len(payload))
    return Saved(f"s3://{bucket}/{path}", bucket, state, items, payloads, objects)


@contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _load(trial: Trial, saved: Saved, names: Sequence[str], loader: Loader, gap: float) -> dict[str, torch.Tensor]:
    target = {name: torch.full_like(saved.state[name], -1) for name in names}
    trial.forget()
    with _without_warnings():
        try:
            load(target, storage_reader=loader(saved.uri, gap), no_dist=True)
        except CheckpointException as error:  # derives from BaseException
            raise next(iter(error.failures.values()))[0] from None
    return target


def _chosen(trial: Trial, saved: Saved) -> list[str]:
    """About half of the tensors, so that there are gaps, including the first and the last."""
    names = [name for name in saved.state if "large" not in name]
    return sorted({names[0], names[-1], *trial.random.sample(names, len(names) // 2)})


@dataclass
class Job:
    """One load: its error, if any, and the ranges that it read."""

    name: str
    saved: Saved
    names: list[str]
    gap: float
    problem: str
    fetched: dict[str, list[Range]]


def _jobs(trial: Trial) -> list[Job]:
    """Loads with each loader and gap; cached per client."""
    return trial.bench.once(f"dcp-ranges/{trial.client.name}", lambda: _load_all(trial))


def _load_all(trial: Trial) -> list[Job]:
    saved = _save(trial, large=True)
    jobs = []
    for loader_name, loader in trial.client.loaders().items():
        for gap in GAPS:
            for _ in range(5 if trial.thorough else 1):
                names = _chosen(trial, saved)
                try:
                    loaded = _load(trial, saved, names, loader, gap)
                    wrong = [name for name in names if not torch.equal(loaded[name], saved.state[name])]
                    problem = f"wrong values: {', '.join(wrong)}" if wrong else ""
                except Exception as error:
                    problem = f"{type(error).__name__}: {error}"
                fetched = {key: trial.records.fetched(key) for key in saved.files(names)}
                jobs.append(Job(f"{loader_name}, gap {_size(gap)}", saved, names, gap, problem, fetched))
    return jobs


def _size(gap: float) -> str:
    return "unlimited" if math.isinf(gap) else f"{gap // MIB:.0f} MiB" if gap >= MIB else f"{gap:.0f} B"


@suite.check("exact-coverage", "a load reads every byte of the requested tensors, and their values are correct")
def exact_coverage(trial: Trial) -> None:
    for job in _jobs(trial):
        trial.expect(not job.problem, f"{job.name}: {job.problem}")
        for key, fetched in job.fetched.items():
            needed = [job.saved.payloads[name] for name in job.names if job.saved.items[name][0] == key]
            missing = without(needed, fetched)
            trial.expect(not missing, f"{job.name}: ranges of {key} not read: {missing[:5]}")


@suite.check("over-read", "a load reads only the requested items and gaps up to the maximum size")
def over_read(trial: Trial) -> None:
    rows = []
    for job in _jobs(trial):
        for key, fetched in job.fetched.items():
            items = job.saved.of(job.names, key)
            extra = without(fetched, coalesced(items, job.gap))
            trial.expect(not extra, f"{job.name}: {length(extra)} unnecessary bytes of {key}: {extra[:5]}")
            rows.append([job.name, length(items), length(fetched), length(without(fetched, items)), len(fetched)])
    trial.table("bytes and requests per load", ("load", "requested", "read", "gaps", "requests"), rows)


@suite.check("no-byte-twice", "a load reads no byte of an object twice")
def no_byte_twice(trial: Trial) -> None:
    for job in _jobs(trial):
        for key, fetched in job.fetched.items():
            repeated = length(fetched) - length(union(fetched))
            trial.expect(repeated == 0, f"{job.name}: {repeated} bytes of {key} read twice: {sorted(fetched)[:8]}")


@suite.check("coalesced", "items within the maximum gap are read by one request, or by parts of at least 5 MiB")
def coalesced_requests(trial: Trial) -> None:
    for job in _jobs(trial):
        for key, fetched in job.fetched.items():
            groups = coalesced(job.saved.of(job.names, key), job.gap)
            limit = sum(max(1, -(-(end - begin) // MIN_PART)) for begin, end in groups)
            counts = f"{len(fetched)} requests for {len(groups)} merged ranges of {key}, at most {limit} expected"
            trial.expect(len(fetched) <= limit, f"{job.name}: {counts}")


@suite.check("each-object-once", "a full load reads each file and the metadata once")
def each_object_once(trial: Trial) -> None:
    saved = _save(trial, threads=3)
    for loader_name, loader in trial.client.loaders().items():
        with trial.case(loader_name):
            names = list(saved.state)
            loaded = _load(trial, saved, names, loader, 32 * MIB)
            wrong = [name for name in names if not torch.equal(loaded[name], saved.state[name])]
            trial.expect(not wrong, f"wrong values: {', '.join(wrong)}")
            for key in saved.objects:
                fetched, size = trial.records.fetched(key), len(saved.objects[key])
                trial.expect(length(fetched) <= size, f"{fetched} read of {key}, which has {size} bytes")


@suite.check("parallel", "a load with the client's default loader reads several files concurrently")
def parallel(trial: Trial) -> None:
    saved = _save(trial, threads=4)
    for i, (loader_name, loader) in enumerate(trial.client.loaders().items()):
        barrier = _ReadBarrier(saved.files(list(saved.state)))
        with trial.case(loader_name), trial.proxy.using(barrier.hook):
            _load(trial, saved, list(saved.state), loader, 0)
            if i == 0:  # the default loader
                trial.expect(barrier.max_concurrent > 1, f"sequential requests for {len(saved.objects) - 1} files")
        trial.evidence(**{loader_name: barrier.max_concurrent})


class _ReadBarrier:
    """Delays reads until two are in progress, so that the result does not depend on timing."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = set(keys)
        self._changed = threading.Condition()
        self._in_progress = 0
        self._timed_out = False
        self.max_concurrent = 0

    def hook(self, exchange: Exchange, forward: Forward) -> Response:
        if exchange.record.operation != "GetObject" or exchange.record.key not in self._keys:
            return forward(exchange)
        with self._changed:
            self._in_progress += 1
            self.max_concurrent = max(self.max_concurrent, self._in_progress)
            self._changed.notify_all()
            released = self._changed.wait_for(lambda: self.max_concurrent > 1 or self._timed_out, WAIT_S)
            self._timed_out = self._timed_out or not released  # sequential readers wait only once
        try:
            return forward(exchange)
        finally:
            with self._changed:
                self._in_progress -= 1


# ---- one version of each object


@suite.check("one-etag", "reads of an object send its ETag as If-Match, except those that began before it was known")
def one_etag(trial: Trial) -> None:
    saved = _save(trial, tensors=90)
    (key,) = saved.files(list(saved.state))
    names = list(saved.state)[::2]
    for loader_name, loader in trial.client.loaders().items():
        first = _HoldFirstResponse(key)
        with trial.case(loader_name), trial.proxy.using(first.hook):
            _load(trial, saved, names, loader, 0)
            reads = trial.records.of("GetObject", key=key)
            unpinned = [read for read in reads if not read.if_match and "versionId" not in read.query]
            wrong = [read for read in reads if read.if_match and read.if_match != reads[0].etag]
            # The bound is generous: requests sent before the first response may arrive at the proxy after it.
            counts = f"{len(unpinned)} of {len(reads)} reads have no If-Match, {first.eager} began before the first response"
            trial.expect(len(unpinned) <= max(2 * first.eager, len(reads) // 2), counts)
            trial.expect(not wrong, f"{len(wrong)} reads have another ETag in If-Match")
            trial.evidence(**{loader_name: counts})


class _HoldFirstResponse:
    """Delays the first response until the client sends no further reads."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._changed = threading.Condition()
        self._released = False
        self.eager = 0

    def hook(self, exchange: Exchange, forward: Forward) -> Response:
        if exchange.record.operation != "GetObject" or exchange.record.key != self._key:
            return forward(exchange)
        with self._changed:
            if not self._released:
                self.eager += 1
                self._changed.notify_all()
            while not self._released:
                if not self._changed.wait(QUIET_S):
                    self._released = True
                    self._changed.notify_all()
        return forward(exchange)


@suite.check("replaced-meanwhile", "a load during which an object is replaced fails, or returns one version")
def replaced_meanwhile(trial: Trial) -> None:
    needs(trial, "one version")
    for loader_name, loader in trial.client.loaders().items():
        saved = _save(trial)
        names = _chosen(trial, saved)
        (key,) = saved.files(names)
        other = _inverted(saved, key)
        with trial.case(loader_name), trial.proxy.using(_ReplaceAfterFirstRead(trial, saved.bucket, key, other).hook):
            try:
                loaded = _load(trial, saved, names, loader, 0)
            except Exception as error:
                trial.evidence(**{loader_name: f"{type(error).__name__}: {error}"[:300]})
                continue
            old = [name for name in names if torch.equal(loaded[name], saved.state[name])]
            trial.expect(
                len(old) in (0, len(names)),
                f"the load succeeded with a mixture: {len(old)} of {len(names)} tensors are of the old version",
            )


def _inverted(saved: Saved, key: str) -> bytes:
    """The object with inverted payloads and matching CRC-32s; the layout is unchanged."""
    data = bytearray(saved.objects[key])
    for name, (begin, end) in saved.payloads.items():
        item_key, (_, item_end) = saved.items[name]
        if item_key == key:
            before = zlib.crc32(data[begin:end]).to_bytes(4, "little")
            data[begin:end] = data[begin:end].translate(_INVERTED)
            data[end:item_end] = data[end:item_end].replace(before, zlib.crc32(data[begin:end]).to_bytes(4, "little"))
    return bytes(data)


_INVERTED = bytes(255 - byte for byte in range(256))


class _ReplaceAfterFirstRead:
    """Overwrites an object after the response to its first read."""

    def __init__(self, trial: Trial, bucket: str, key: str, data: bytes) -> None:
        self._trial, self._bucket, self._key, self._data = trial, bucket, key, data
        self._lock = threading.Lock()
        self._replaced = False

    def hook(self, exchange: Exchange, forward: Forward) -> Response:
        if exchange.record.operation != "GetObject" or exchange.record.key != self._key:
            return forward(exchange)
        with self._lock:  # serializes reads: the first is of the old version, all others of the new version
            response = forward(exchange)
            if not self._replaced:
                self._replaced = True
                self._trial.store.put(self._bucket, self._key, self._data)
            return response
