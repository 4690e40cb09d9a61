"""What a load of a distributed checkpoint fetches: everything it needs, nothing twice, little else, of one version."""

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

from .._proxy import Answer, Exchange, Forward
from .._records import Range, coalesced, length, union, without
from .._suite import Suite, Trial
from ..clients import Loader
from ._endpoint import needs

suite = Suite(
    "dcp-ranges",
    "Ranges of distributed checkpoints",
    "Loads of parts of a checkpoint that torch itself has saved: which bytes are asked for, how often, in how many requests, "
    "and whether all of them are of one version of the object.",
)

MIB = 1 << 20
#: The most bytes between two items that still come by one request.
GAPS: tuple[float, ...] = (0, 4096, 32 * MIB, math.inf)
LARGE = 33 * MIB  # more than the default gap
LEAST_PART = 5 * MIB  # bytes of one request, below which a client does not cut
WAIT_S = 10.0  # for a second read beside the first
QUIET_S = 1.0  # without a further read, after which none is taken to come


@dataclass
class Saved:
    """A checkpoint in a bucket: its tensors, and where each one's item and its payload are."""

    uri: str
    bucket: str
    state: dict[str, torch.Tensor]
    items: dict[str, tuple[str, Range]]
    payloads: dict[str, Range]
    objects: dict[str, bytes]

    def of(self, names: Sequence[str], key: str) -> list[Range]:
        """Items of these tensors in an object."""
        return [place for name in names for object_key, place in [self.items[name]] if object_key == key]

    def files(self, names: Sequence[str]) -> list[str]:
        return sorted({self.items[name][0] for name in names})


def _state(trial: Trial, tensors: int, large: bool) -> dict[str, torch.Tensor]:
    made = torch.Generator().manual_seed(trial.random.randrange(1 << 31))
    sizes = [trial.random.choice((1, 17, 300, 4000, 50_000)) for _ in range(tensors)]
    state = {f"t{i:02}": torch.randn(size, generator=made) for i, size in enumerate(sizes)}
    if large:
        state["t07-large"] = torch.arange(LARGE // 4, dtype=torch.float32)
    return dict(sorted(state.items()))  # the large one lies between others


def _save(trial: Trial, *, tensors: int = 20, large: bool = False, threads: int = 1) -> Saved:
    """torch's own writer saves to a folder, and the files are uploaded as they are."""
    needs(trial, "objects", "ranges")
    bucket, path = trial.bucket(), "run/step-1"
    state = _state(trial, tensors, large)
    objects = {}
    with tempfile.TemporaryDirectory() as folder, _quiet():
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
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _load(trial: Trial, saved: Saved, names: Sequence[str], loader: Loader, gap: float) -> dict[str, torch.Tensor]:
    target = {name: torch.full_like(saved.state[name], -1) for name in names}
    trial.forget()
    with _quiet():
        try:
            load(target, storage_reader=loader(saved.uri, gap), no_dist=True)
        except CheckpointException as error:  # no Exception, as torch has it
            raise next(iter(error.failures.values()))[0] from None
    return target


def _chosen(trial: Trial, saved: Saved) -> list[str]:
    """A part of the tensors, so that there are gaps; always one on either side of the large one."""
    names = [name for name in saved.state if "large" not in name]
    return sorted({names[0], names[-1], *trial.random.sample(names, len(names) // 2)})


@dataclass
class Job:
    """One load, what was wrong with it, and what it asked for."""

    name: str
    saved: Saved
    names: list[str]
    gap: float
    problem: str
    fetched: dict[str, list[Range]]


def _jobs(trial: Trial) -> list[Job]:
    """Loads of every loader with every gap. Made once for all checks of a client."""
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
                    problem = f"other values than were saved: {', '.join(wrong)}" if wrong else ""
                except Exception as error:
                    problem = f"{type(error).__name__}: {error}"
                fetched = {key: trial.records.fetched(key) for key in saved.files(names)}
                jobs.append(Job(f"{loader_name}, gap {_size(gap)}", saved, names, gap, problem, fetched))
    return jobs


def _size(gap: float) -> str:
    return "without end" if math.isinf(gap) else f"{gap // MIB:.0f} MiB" if gap >= MIB else f"{gap:.0f} B"


@suite.check("exact-coverage", "a load fetches every byte of the tensors it was asked for, and they are right")
def exact_coverage(trial: Trial) -> None:
    for job in _jobs(trial):
        trial.expect(not job.problem, f"{job.name}: {job.problem}")
        for key, fetched in job.fetched.items():
            needed = [job.saved.payloads[name] for name in job.names if job.saved.items[name][0] == key]
            missing = without(needed, fetched)
            trial.expect(not missing, f"{job.name}: never fetched of {key}: {missing[:5]}")


@suite.check("over-read", "beside the wanted items only gaps of at most the allowed size are fetched")
def over_read(trial: Trial) -> None:
    rows = []
    for job in _jobs(trial):
        for key, fetched in job.fetched.items():
            items = job.saved.of(job.names, key)
            beside = without(fetched, coalesced(items, job.gap))
            trial.expect(not beside, f"{job.name}: {length(beside)} bytes of {key} that nothing allows: {beside[:5]}")
            rows.append([job.name, length(items), length(fetched), length(without(fetched, items)), len(fetched)])
    trial.table("bytes and requests of a load", ("load", "wanted", "fetched", "of them in gaps", "requests"), rows)


@suite.check("no-byte-twice", "no byte of an object comes twice in one load")
def no_byte_twice(trial: Trial) -> None:
    for job in _jobs(trial):
        for key, fetched in job.fetched.items():
            twice = length(fetched) - length(union(fetched))
            trial.expect(twice == 0, f"{job.name}: {twice} bytes of {key} came twice: {sorted(fetched)[:8]}")


@suite.check("coalesced", "items with at most the allowed gap between them come by one request, or by parts of 5 MiB and more")
def coalesced_requests(trial: Trial) -> None:
    for job in _jobs(trial):
        for key, fetched in job.fetched.items():
            groups = coalesced(job.saved.of(job.names, key), job.gap)
            most = sum(max(1, -(-(end - begin) // LEAST_PART)) for begin, end in groups)
            much = f"{len(fetched)} requests for {len(groups)} stretches of {key}, {most} at most"
            trial.expect(len(fetched) <= most, f"{job.name}: {much}")


@suite.check("each-object-once", "a load of everything asks for each file's bytes once, and for the metadata once")
def each_object_once(trial: Trial) -> None:
    saved = _save(trial, threads=3)
    for loader_name, loader in trial.client.loaders().items():
        with trial.case(loader_name):
            names = list(saved.state)
            loaded = _load(trial, saved, names, loader, 32 * MIB)
            wrong = [name for name in names if not torch.equal(loaded[name], saved.state[name])]
            trial.expect(not wrong, f"other values than were saved: {', '.join(wrong)}")
            for key in saved.objects:
                fetched, size = trial.records.fetched(key), len(saved.objects[key])
                trial.expect(length(fetched) <= size, f"{fetched} of {key}, of {size} bytes")


@suite.check("parallel", "a load as the client has it by itself fetches several files at the same time")
def parallel(trial: Trial) -> None:
    saved = _save(trial, threads=4)
    for i, (loader_name, loader) in enumerate(trial.client.loaders().items()):
        meeting = _Meeting(saved.files(list(saved.state)))
        with trial.case(loader_name), trial.proxy.using(meeting.hook):
            _load(trial, saved, list(saved.state), loader, 0)
            if i == 0:  # the others are there for programs that ask for them
                trial.expect(meeting.most > 1, f"one request after the other, of {len(saved.objects) - 1} files")
        trial.evidence(**{loader_name: meeting.most})


class _Meeting:
    """Holds reads back until another one is there as well: whether there is one does not depend on how fast anything is."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = set(keys)
        self._changed = threading.Condition()
        self._here = 0
        self._given_up = False
        self.most = 0

    def hook(self, exchange: Exchange, forward: Forward) -> Answer:
        if exchange.record.operation != "GetObject" or exchange.record.key not in self._keys:
            return forward(exchange)
        with self._changed:
            self._here += 1
            self.most = max(self.most, self._here)
            self._changed.notify_all()
            met = self._changed.wait_for(lambda: self.most > 1 or self._given_up, WAIT_S)
            self._given_up = self._given_up or not met  # whoever reads in turn waits once
        try:
            return forward(exchange)
        finally:
            with self._changed:
                self._here -= 1


# ---- one version of each object


@suite.check("one-etag", "reads of an object insist on its ETag by If-Match, but for those that began before it was known")
def one_etag(trial: Trial) -> None:
    saved = _save(trial, tensors=90)
    (key,) = saved.files(list(saved.state))
    names = list(saved.state)[::2]
    for loader_name, loader in trial.client.loaders().items():
        first = _FirstAlone(key)
        with trial.case(loader_name), trial.proxy.using(first.hook):
            _load(trial, saved, names, loader, 0)
            reads = trial.records.of("GetObject", key=key)
            free = [read for read in reads if not read.if_match and "versionId" not in read.query]
            wrong = [read for read in reads if read.if_match and read.if_match != reads[0].etag]
            # More than those: what the client sent before it had the first answer may arrive behind it.
            many = f"{len(free)} of {len(reads)} reads have no If-Match, {first.eager} began early"
            trial.expect(len(free) <= max(2 * first.eager, len(reads) // 2), many)
            trial.expect(not wrong, f"{len(wrong)} reads insist on another ETag")
            trial.evidence(**{loader_name: many})


class _FirstAlone:
    """Holds the first answer back until the client sends no further read without it."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._changed = threading.Condition()
        self._released = False
        self.eager = 0

    def hook(self, exchange: Exchange, forward: Forward) -> Answer:
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


@suite.check("replaced-meanwhile", "an object that is replaced during a load is an error, and never a mixture of both")
def replaced_meanwhile(trial: Trial) -> None:
    needs(trial, "one version")
    for loader_name, loader in trial.client.loaders().items():
        saved = _save(trial)
        names = _chosen(trial, saved)
        (key,) = saved.files(names)
        other = _inverted(saved, key)
        with trial.case(loader_name), trial.proxy.using(_Replacing(trial, saved.bucket, key, other).hook):
            try:
                loaded = _load(trial, saved, names, loader, 0)
            except Exception as error:
                trial.evidence(**{loader_name: f"{type(error).__name__}: {error}"[:300]})
                continue
            old = [name for name in names if torch.equal(loaded[name], saved.state[name])]
            trial.expect(
                len(old) in (0, len(names)), f"the load ended without an error, {len(old)} of {len(names)} tensors from before"
            )


def _inverted(saved: Saved, key: str) -> bytes:
    """The object with every payload's bits inverted and its CRC-32s corrected; its items are where they were."""
    data = bytearray(saved.objects[key])
    for name, (begin, end) in saved.payloads.items():
        item_key, (_, item_end) = saved.items[name]
        if item_key == key:
            before = zlib.crc32(data[begin:end]).to_bytes(4, "little")
            data[begin:end] = data[begin:end].translate(_INVERTED)
            data[end:item_end] = data[end:item_end].replace(before, zlib.crc32(data[begin:end]).to_bytes(4, "little"))
    return bytes(data)


_INVERTED = bytes(255 - byte for byte in range(256))


class _Replacing:
    """Puts another object in the place of one as soon as the first read of it was answered."""

    def __init__(self, trial: Trial, bucket: str, key: str, data: bytes) -> None:
        self._trial, self._bucket, self._key, self._data = trial, bucket, key, data
        self._lock = threading.Lock()
        self._done = False

    def hook(self, exchange: Exchange, forward: Forward) -> Answer:
        if exchange.record.operation != "GetObject" or exchange.record.key != self._key:
            return forward(exchange)
        with self._lock:  # one after the other: the first is of the old object, all others of the new one
            answer = forward(exchange)
            if not self._done:
                self._done = True
                self._trial.store.put(self._bucket, self._key, self._data)
            return answer
