"""Every object of a dataset exactly once, over ranks, workers, start methods, interruptions and worlds of another size."""

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
from .._suite import Check, Failed, NotRun, Suite, Trial
from ._endpoint import needs
from ._ranks import as_rank, as_worker

suite = Suite(
    "sharding",
    "Sharded datasets",
    "Ranks and workers share a prefix out: every object once, nothing twice, the documented one to each, "
    "whatever starts the workers and wherever an epoch was left.",
)

COUNTS = (0, 1, 2, 3, 5, 8, 13, 21)
WORLDS = (1, 2, 3, 4, 7)
WORKERS = (0, 1, 2, 3, 5)
PROCESS_TIMEOUT_S = 300


def item_of(reader: Any) -> tuple[str, str]:
    """What a dataset's item becomes: the key and a digest of the content. Picklable, for spawned workers."""
    return str(reader.key), hashlib.sha256(reader.read()).hexdigest()


def _content(key: str) -> bytes:
    return f"content of {key} ".encode() * (1 + len(key) % 5)


def _digest(key: str) -> str:
    return hashlib.sha256(_content(key)).hexdigest()


def _fill(trial: Trial, count: int, bucket: str = "") -> tuple[str, list[str]]:
    """URI and keys, in listing order, of so many objects."""
    needs(trial, "objects", "ranges")
    bucket = bucket or trial.bucket()
    keys = [f"of-{count}/{i:04}" for i in range(count)]
    for key in keys:
        trial.store.put(bucket, key, _content(key))
    return f"s3://{bucket}/of-{count}/", keys


def _share(trial: Trial, uri: str, rank: int, world: int, worker: int, workers: int, *, sharded: bool = True) -> list[str]:
    """Keys of one worker's share; their content is looked at."""
    with as_rank(rank, world):
        dataset = trial.client.dataset(uri, item_of, sharded=sharded)
        with as_worker(worker, workers, dataset):
            return _keys(trial, list(dataset))


def _keys(trial: Trial, items: Sequence[tuple[str, str]]) -> list[str]:
    wrong = [key for key, digest in items if digest != _digest(key)]
    trial.expect(not wrong, f"other bytes than were written: {', '.join(wrong[:5])}")
    return [key for key, _ in items]


def _expect_once(trial: Trial, found: Sequence[str], wanted: Sequence[str], where: str) -> None:
    counts = Counter(found)
    missing = [key for key in wanted if key not in counts]
    twice = [key for key, count in counts.items() if count > 1]
    trial.expect(not missing, f"{where}: {len(missing)} of {len(wanted)} objects never came, such as {', '.join(missing[:3])}")
    trial.expect(not twice, f"{where}: {len(twice)} objects came more than once, such as {', '.join(twice[:3])}")


@suite.check("exactly-once", "over all ranks and workers every object comes exactly once, and with its own bytes")
def exactly_once(trial: Trial) -> None:
    bucket = trial.bucket()
    jobs = trial.sample(list(itertools.product(COUNTS, WORLDS, WORKERS)), 12)
    filled = {count: _fill(trial, count, bucket) for count in sorted({count for count, *_ in jobs})}
    for count, world, workers in jobs:
        uri, keys = filled[count]
        shares = [_share(trial, uri, rank, world, worker, workers) for rank in range(world) for worker in range(max(workers, 1))]
        _expect_once(trial, [key for share in shares for key in share], keys, f"{count} objects, {world} ranks of {workers}")
    trial.evidence(jobs=jobs)


@suite.check("uneven-counts", "ranks differ by one object at most, whatever the count")
def uneven_counts(trial: Trial) -> None:
    bucket = trial.bucket()
    for count, world in trial.sample([(count, world) for count in COUNTS for world in WORLDS if world > 1], 6):
        uri, keys = _fill(trial, count, bucket)
        shares = [_share(trial, uri, rank, world, 0, 0) for rank in range(world)]
        sizes = [len(share) for share in shares]
        trial.expect(max(sizes) - min(sizes) <= 1, f"{count} objects over {world} ranks: {sizes}")
        _expect_once(trial, [key for share in shares for key in share], keys, f"{count} objects, {world} ranks")


@suite.check("documented-share", "object i is rank i % W's and there worker (i // W) % N's, in listing order")
def documented_share(trial: Trial) -> None:
    uri, keys = _fill(trial, 23)
    for world, workers in trial.sample([(w, n) for w in WORLDS for n in WORKERS if n], 4):
        for rank, worker in itertools.product(range(world), range(workers)):
            mine = [key for i, key in enumerate(keys) if i % world == rank and i // world % workers == worker]
            found = _share(trial, uri, rank, world, worker, workers)
            trial.expect_equal(found, mine, f"rank {rank} of {world}, worker {worker} of {workers}")


@suite.check("more-workers-than-objects", "workers for whom nothing is left end without an object and without an error")
def more_workers_than_objects(trial: Trial) -> None:
    uri, keys = _fill(trial, 2)
    for world, workers in ((1, 5), (3, 2), (4, 4)):
        shares = [_share(trial, uri, r, world, w, workers) for r in range(world) for w in range(workers)]
        _expect_once(trial, [key for share in shares for key in share], keys, f"{world} ranks of {workers}")


@suite.check("whole-without-sharding", "without sharding every rank and worker has the whole data set")
def whole_without_sharding(trial: Trial) -> None:
    uri, keys = _fill(trial, 5)
    for rank, worker in ((0, 0), (1, 1)):
        found = _share(trial, uri, rank, 2, worker, 2, sharded=False)
        trial.expect_equal(found, keys, f"rank {rank}, worker {worker}")


@suite.check("made-before-the-group", "a dataset that was made before the process group was is shared out all the same")
def made_before_the_group(trial: Trial) -> None:
    uri, keys = _fill(trial, 7)
    found: list[str] = []
    for rank in range(2):
        dataset = trial.client.dataset(uri, item_of, sharded=True)
        with as_rank(rank, 2):
            found += _keys(trial, list(dataset))
    _expect_once(trial, found, keys, "2 ranks")


@suite.check("each-epoch-whole", "a second iteration of the same dataset has the same share again")
def each_epoch_whole(trial: Trial) -> None:
    uri, keys = _fill(trial, 8)
    with as_rank(1, 3):
        dataset = trial.client.dataset(uri, item_of, sharded=True)
        for epoch in (1, 2):
            trial.expect_equal(_keys(trial, list(dataset)), keys[1::3], f"epoch {epoch}")


@suite.check("each-object-fetched-once", "an object's bytes are asked for by the one whose share it is in, and once")
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
        claim = f"DataLoader workers started by {method} share the objects out, each exactly once"
        yield Check(f"start-method/{method}", claim, functools.partial(_start_method, method=method))


def _start_method(trial: Trial, method: str) -> None:
    from torch.utils.data import DataLoader

    if method not in multiprocessing.get_all_start_methods():
        raise NotRun(f"this platform does not start processes by {method}")
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
                loaders.append(iter(loader))  # all of them start at the same time
        found = [item for loader in loaders for item in loader]
        _expect_once(trial, _keys(trial, found), keys, f"{world} ranks of {workers}")


@suite.check("process-group", "ranks of a real process group (gloo) share the objects out, each exactly once")
def process_group(trial: Trial) -> None:
    uri, keys = _fill(trial, 7)
    trial.client.dataset(uri, item_of, sharded=True)  # a client that has none says so at once
    for world, workers in ((2, 0), (3, 2)) if trial.thorough else ((2, 0),):
        with tempfile.TemporaryDirectory() as folder:
            found = _in_processes(trial, uri, world, workers, Path(folder) / "meeting")
        _expect_once(trial, found, keys, f"{world} ranks of {workers}")


def _in_processes(trial: Trial, uri: str, world: int, workers: int, meeting: Path) -> list[str]:
    client = type(trial.client)
    job = {
        "client": f"{client.__module__}:{client.__qualname__}",
        "access": dataclasses.asdict(trial.client.access),
        "uri": uri,
        "world_size": world,
        "workers": workers,
        "meeting": str(meeting),
    }
    command = [sys.executable, "-m", f"{__package__}._rank_process"]
    processes: list[subprocess.Popen[str]] = []
    found: list[str] = []
    try:
        for rank in range(world):
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes.append(process)
            _tell(process, json.dumps({**job, "rank": rank}))
        for rank, process in enumerate(processes):
            output, _ = process.communicate(timeout=PROCESS_TIMEOUT_S)
            if process.returncode:
                raise Failed(f"rank {rank} of {world} ended with status {process.returncode}")
            answer = json.loads(output.splitlines()[-1])
            if "not run" in answer:
                raise NotRun(answer["not run"])
            found += answer["keys"]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return found


def _tell(process: subprocess.Popen[str], text: str) -> None:
    """All of its standard input. One that ends without reading it says so by its status."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(text)
    process.stdin = None


# ---- interruptions


@suite.check("resumed", "an epoch that was left and taken up again anywhere has every object exactly once")
def resumed(trial: Trial) -> None:
    trial.client.check_resumable()
    uri, keys = _fill(trial, 17)
    for world, workers in trial.sample([(1, 0), (2, 0), (3, 2), (1, 3)], 3):
        for rank, worker in itertools.product(range(world), range(max(workers, 1))):
            mine = [key for i, key in enumerate(keys) if i % world == rank and i // world % max(workers, 1) == worker]
            for taken in trial.sample(range(len(mine) + 1), 3):
                with as_rank(rank, world):
                    first, state = _interrupted(trial, uri, worker, workers, taken)
                    rest = _taken_up(trial, uri, worker, workers, state)
                where = f"rank {rank} of {world}, worker {worker} of {workers}, left after {taken}"
                trial.expect_equal(first + rest, mine, where)


@suite.check("resumed-twice", "a second interruption goes on from where the first resumption had come")
def resumed_twice(trial: Trial) -> None:
    trial.client.check_resumable()
    uri, keys = _fill(trial, 9)
    seen, state = _interrupted(trial, uri, 0, 0, 2)
    dataset = trial.client.dataset(uri, item_of, sharded=True)
    dataset.load_state_dict(state)
    items = list(itertools.islice(dataset, 3))
    seen += _keys(trial, items) + _taken_up(trial, uri, 0, 0, json.loads(json.dumps(dataset.state_dict())))
    trial.expect_equal(seen, keys, "left after 2 and after 3 more")


@suite.check("resumed-in-a-loader", "torchdata's StatefulDataLoader with workers goes on with what it had not given out")
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
        _expect_once(trial, _keys(trial, [*seen, *again]), keys, f"left after {taken}")


@suite.check(
    "changed-world", "a state from a world of another size is refused, or goes on so that no object is lost or comes twice"
)
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
        refused, rest = 0, []
        for rank in range(after):
            try:
                with as_rank(rank, after):
                    rest += _taken_up(trial, uri, 0, 0, states[rank % before])
            except ValueError:
                refused += 1
        name = f"from {before} ranks to {after}"
        outcomes[name] = "refused" if refused == after else "resumed"
        if 0 < refused < after:
            trial.expect(False, f"{name}: {refused} of {after} ranks refused the state, the others went on with it")
        elif not refused:
            _expect_once(trial, seen + rest, keys, name)
    trial.evidence(outcomes=outcomes)


def _interrupted(trial: Trial, uri: str, worker: int, workers: int, taken: int) -> tuple[list[str], Any]:
    """Keys of the first `taken` items, and the state then, as it travels."""
    dataset = trial.client.dataset(uri, item_of, sharded=True)
    with as_worker(worker, workers, dataset):
        iterator = iter(dataset)
        items = list(itertools.islice(iterator, taken))
        return _keys(trial, items), json.loads(json.dumps(dataset.state_dict()))


def _taken_up(trial: Trial, uri: str, worker: int, workers: int, state: Any) -> list[str]:
    dataset = trial.client.dataset(uri, item_of, sharded=True)
    with as_worker(worker, workers, dataset):
        dataset.load_state_dict(state)
        return _keys(trial, list(dataset))
