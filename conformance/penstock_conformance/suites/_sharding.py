"""Sharded datasets: each object exactly once across ranks, workers, start methods, interruptions and changed world sizes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import multiprocessing
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .._bench import Bench
from .._suite import Check, Suite, Trial
from .._verdict import Failed, NotRun
from ._endpoint import needs
from ._ranks import as_rank, as_worker

suite = Suite(
    "sharding",
    "Sharded datasets",
    "Ranks and workers divide the objects of a prefix: each object once, in the documented share, "
    "for each start method and after interruptions.",
)

COUNTS = (0, 1, 2, 3, 5, 8, 13, 21)
WORLDS = (1, 2, 3, 4, 7)
WORKERS = (0, 1, 2, 3, 5)
PROCESS_TIMEOUT_S = 300


def item_of(reader: Any) -> tuple[str, str]:
    """The transform: key and content digest of an object. Picklable, for spawned workers."""
    return str(reader.key), hashlib.sha256(reader.read()).hexdigest()


def _content(key: str) -> bytes:
    return f"content of {key} ".encode() * (1 + len(key) % 5)


def _digest(key: str) -> str:
    return hashlib.sha256(_content(key)).hexdigest()


def _fill(trial: Trial, count: int, bucket: str = "") -> tuple[str, list[str]]:
    """Creates `count` objects; returns their URI and keys in listing order."""
    needs(trial, "objects", "ranges")
    bucket = bucket or trial.bucket()
    keys = [f"of-{count}/{i:04}" for i in range(count)]
    for key in keys:
        trial.store.put(bucket, key, _content(key))
    return f"s3://{bucket}/of-{count}/", keys


def _share(trial: Trial, uri: str, rank: int, world: int, worker: int, workers: int, *, sharded: bool = True) -> list[str]:
    """Keys of one worker's share. Checks the contents."""
    with as_rank(rank, world):
        dataset = trial.client.dataset(uri, item_of, sharded=sharded)
        with as_worker(worker, workers, dataset):
            return _keys(trial, list(dataset))


def _keys(trial: Trial, items: Sequence[tuple[str, str]]) -> list[str]:
    wrong = [key for key, digest in items if digest != _digest(key)]
    trial.expect(not wrong, f"wrong content: {', '.join(wrong[:5])}")
    return [key for key, _ in items]


def _expect_once(trial: Trial, found: Sequence[str], wanted: Sequence[str], where: str) -> None:
    counts = Counter(found)
    missing = [key for key in wanted if key not in counts]
    repeated = [key for key, count in counts.items() if count > 1]
    trial.expect(not missing, f"{where}: {len(missing)} of {len(wanted)} objects missing, such as {', '.join(missing[:3])}")
    trial.expect(not repeated, f"{where}: {len(repeated)} objects more than once, such as {', '.join(repeated[:3])}")


@suite.check("exactly-once", "across all ranks and workers, each object is read exactly once, with its content")
def exactly_once(trial: Trial) -> None:
    bucket = trial.bucket()
    jobs = trial.sample(list(itertools.product(COUNTS, WORLDS, WORKERS)), 12)
    filled = {count: _fill(trial, count, bucket) for count in sorted({count for count, *_ in jobs})}
    for count, world, workers in jobs:
        uri, keys = filled[count]
        shares = [_share(trial, uri, rank, world, worker, workers) for rank in range(world) for worker in range(max(workers, 1))]
        _expect_once(trial, [key for share in shares for key in share], keys, f"{count} objects, {world} ranks of {workers}")
    trial.evidence(jobs=jobs)


@suite.check("uneven-counts", "the shares of ranks differ by at most one object")
def uneven_counts(trial: Trial) -> None:
    bucket = trial.bucket()
    for count, world in trial.sample([(count, world) for count in COUNTS for world in WORLDS if world > 1], 6):
        uri, keys = _fill(trial, count, bucket)
        shares = [_share(trial, uri, rank, world, 0, 0) for rank in range(world)]
        sizes = [len(share) for share in shares]
        trial.expect(max(sizes) - min(sizes) <= 1, f"{count} objects over {world} ranks: {sizes}")
        _expect_once(trial, [key for share in shares for key in share], keys, f"{count} objects, {world} ranks")


@suite.check("documented-share", "object i of the listing belongs to rank i % W and there to worker (i // W) % N")
def documented_share(trial: Trial) -> None:
    uri, keys = _fill(trial, 23)
    for world, workers in trial.sample([(w, n) for w in WORLDS for n in WORKERS if n], 4):
        for rank, worker in itertools.product(range(world), range(workers)):
            mine = [key for i, key in enumerate(keys) if i % world == rank and i // world % workers == worker]
            found = _share(trial, uri, rank, world, worker, workers)
            trial.expect_equal(found, mine, f"rank {rank} of {world}, worker {worker} of {workers}")


@suite.check("more-workers-than-objects", "workers without a share return no object and no error")
def more_workers_than_objects(trial: Trial) -> None:
    uri, keys = _fill(trial, 2)
    for world, workers in ((1, 5), (3, 2), (4, 4)):
        shares = [_share(trial, uri, r, world, w, workers) for r in range(world) for w in range(workers)]
        _expect_once(trial, [key for share in shares for key in share], keys, f"{world} ranks of {workers}")


@suite.check("whole-without-sharding", "without sharding, each rank and worker reads the whole dataset")
def whole_without_sharding(trial: Trial) -> None:
    uri, keys = _fill(trial, 5)
    for rank, worker in ((0, 0), (1, 1)):
        found = _share(trial, uri, rank, 2, worker, 2, sharded=False)
        trial.expect_equal(found, keys, f"rank {rank}, worker {worker}")


@suite.check("made-before-the-group", "a dataset created before the process group is sharded as well")
def made_before_the_group(trial: Trial) -> None:
    uri, keys = _fill(trial, 7)
    found: list[str] = []
    for rank in range(2):
        dataset = trial.client.dataset(uri, item_of, sharded=True)
        with as_rank(rank, 2):
            found += _keys(trial, list(dataset))
    _expect_once(trial, found, keys, "2 ranks")


@suite.check("each-epoch-whole", "a second iteration of a dataset has the same share")
def each_epoch_whole(trial: Trial) -> None:
    uri, keys = _fill(trial, 8)
    with as_rank(1, 3):
        dataset = trial.client.dataset(uri, item_of, sharded=True)
        for epoch in (1, 2):
            trial.expect_equal(_keys(trial, list(dataset)), keys[1::3], f"epoch {epoch}")


@suite.check("each-object-fetched-once", "an object is read only by the rank that owns it, and once")
def each_object_fetched_once(trial: Trial) -> None:
    uri, keys = _fill(trial, 13)
    for rank in range(3):
        _share(trial, uri, rank, 3, 0, 0)
    for key in keys:
        ranges = trial.records.fetched(key)
        trial.expect_equal(ranges, [(0, len(_content(key)))], f"reads of {key}")
    trial.evidence(requests=len(trial.records), listings=len(trial.records.of("ListObjectsV2")))


# ---- processes


@suite.generate
def _start_methods(_: Bench) -> Iterator[Check]:
    for method in ("fork", "spawn", "forkserver"):
        claim = f"DataLoader workers started by {method} read each object exactly once"
        yield Check(f"start-method/{method}", claim, functools.partial(_start_method, method=method))


def _start_method(trial: Trial, method: str) -> None:
    from torch.utils.data import DataLoader

    if method not in multiprocessing.get_all_start_methods():
        raise NotRun(f"this platform does not support the start method {method}")
    uri, keys = _fill(trial, 7)
    jobs = ((1, 3), (2, 2), (3, 1)) if trial.thorough else ((2, 2),) if method == "fork" else ((2, 1),)
    for world, workers in jobs:
        loaders = []
        for rank in range(world):
            with as_rank(rank, world):
                dataset = trial.client.dataset(uri, item_of, sharded=True)
                loader = DataLoader(
                    dataset, batch_size=None, num_workers=workers, multiprocessing_context=method, timeout=PROCESS_TIMEOUT_S
                )
                loaders.append(iter(loader))  # starts the workers of all ranks
        found = [item for loader in loaders for item in loader]
        _expect_once(trial, _keys(trial, found), keys, f"{world} ranks of {workers}")


@suite.check("process-group", "the ranks of a process group (gloo) read each object exactly once")
def process_group(trial: Trial) -> None:
    uri, keys = _fill(trial, 7)
    trial.client.dataset(uri, item_of, sharded=True)  # raises NotRun if the client has no datasets
    for world, workers in ((2, 0), (3, 2)) if trial.thorough else ((2, 0),):
        with tempfile.TemporaryDirectory() as folder:
            found = _in_processes(trial, uri, world, workers, Path(folder) / "rendezvous")
        _expect_once(trial, found, keys, f"{world} ranks of {workers}")


def _in_processes(trial: Trial, uri: str, world: int, workers: int, rendezvous: Path) -> list[str]:
    client = type(trial.client)
    job = {
        "client": f"{client.__module__}:{client.__qualname__}",
        "access": dataclasses.asdict(trial.client.access),
        "uri": uri,
        "world_size": world,
        "workers": workers,
        "rendezvous": str(rendezvous),
    }
    command = [sys.executable, "-m", f"{__package__}._rank_process"]
    processes: list[subprocess.Popen[str]] = []
    found: list[str] = []
    try:
        for rank in range(world):
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes.append(process)
            _send(process, json.dumps({**job, "rank": rank}))
        for rank, process in enumerate(processes):
            output, _ = process.communicate(timeout=PROCESS_TIMEOUT_S)
            if process.returncode:
                raise Failed(f"rank {rank} of {world} exited with status {process.returncode}")
            response = json.loads(output.splitlines()[-1])
            if "not run" in response:
                raise NotRun(response["not run"])
            found += response["keys"]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return found


def _send(process: subprocess.Popen[str], text: str) -> None:
    """Writes the whole standard input. The exit status shows if the process ended without reading it."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(text)
    process.stdin = None


# ---- interruptions


@suite.check("resumed", "an epoch that is interrupted anywhere and resumed has each object exactly once")
def resumed(trial: Trial) -> None:
    trial.client.check_resumable()
    uri, keys = _fill(trial, 17)
    for world, workers in trial.sample([(1, 0), (2, 0), (3, 2), (1, 3)], 3):
        for rank, worker in itertools.product(range(world), range(max(workers, 1))):
            mine = [key for i, key in enumerate(keys) if i % world == rank and i // world % max(workers, 1) == worker]
            for taken in trial.sample(range(len(mine) + 1), 3):
                with as_rank(rank, world):
                    first, state = _interrupted(trial, uri, worker, workers, taken)
                    rest = _resumed(trial, uri, worker, workers, state)
                where = f"rank {rank} of {world}, worker {worker} of {workers}, interrupted after {taken}"
                trial.expect_equal(first + rest, mine, where)


@suite.check("resumed-twice", "an epoch that is interrupted and resumed twice has each object exactly once")
def resumed_twice(trial: Trial) -> None:
    trial.client.check_resumable()
    uri, keys = _fill(trial, 9)
    seen, state = _interrupted(trial, uri, 0, 0, 2)
    dataset = trial.client.dataset(uri, item_of, sharded=True)
    dataset.load_state_dict(state)
    items = list(itertools.islice(dataset, 3))
    seen += _keys(trial, items) + _resumed(trial, uri, 0, 0, json.loads(json.dumps(dataset.state_dict())))
    trial.expect_equal(seen, keys, "interrupted after 2 and after 3 more")


@suite.check("resumed-in-a-loader", "torchdata's StatefulDataLoader with workers resumes after the last returned item")
def resumed_in_a_loader(trial: Trial) -> None:
    trial.client.check_resumable()
    try:
        from torchdata.stateful_dataloader import StatefulDataLoader
    except ModuleNotFoundError:
        raise NotRun("needs torchdata; pip install torchdata") from None
    uri, keys = _fill(trial, 9)
    for taken in trial.sample(range(1, 9), 1):

        def loader() -> Any:
            dataset = trial.client.dataset(uri, item_of, sharded=True)
            return StatefulDataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context="fork")

        first = loader()
        iterator = iter(first)
        seen = [next(iterator) for _ in range(taken)]
        state = first.state_dict()
        del iterator
        again = loader()
        again.load_state_dict(state)
        _expect_once(trial, _keys(trial, [*seen, *again]), keys, f"interrupted after {taken}")


@suite.check("changed-world", "a state of another world size is rejected, or resumed without losing or repeating an object")
def changed_world(trial: Trial) -> None:
    trial.client.check_resumable()
    uri, keys = _fill(trial, 11)
    outcomes = {}
    for before, after in ((2, 3), (3, 1), (1, 2)):
        seen, states = [], []
        for rank in range(before):
            with as_rank(rank, before):
                first, state = _interrupted(trial, uri, 0, 0, 2)
            seen += first
            states.append(state)
        rejected, rest = 0, []
        for rank in range(after):
            try:
                with as_rank(rank, after):
                    rest += _resumed(trial, uri, 0, 0, states[rank % before])
            except ValueError:
                rejected += 1
        name = f"from {before} ranks to {after}"
        outcomes[name] = "rejected" if rejected == after else "resumed"
        if 0 < rejected < after:
            trial.expect(False, f"{name}: {rejected} of {after} ranks rejected the state, the others resumed from it")
        elif not rejected:
            _expect_once(trial, seen + rest, keys, name)
    trial.evidence(outcomes=outcomes)


def _interrupted(trial: Trial, uri: str, worker: int, workers: int, taken: int) -> tuple[list[str], Any]:
    """Keys of the first `taken` items, and the state at that point after a round trip through JSON."""
    dataset = trial.client.dataset(uri, item_of, sharded=True)
    with as_worker(worker, workers, dataset):
        iterator = iter(dataset)
        items = list(itertools.islice(iterator, taken))
        return _keys(trial, items), json.loads(json.dumps(dataset.state_dict()))


def _resumed(trial: Trial, uri: str, worker: int, workers: int, state: Any) -> list[str]:
    """Keys of the rest of the epoch."""
    dataset = trial.client.dataset(uri, item_of, sharded=True)
    with as_worker(worker, workers, dataset):
        dataset.load_state_dict(state)
        return _keys(trial, list(dataset))
