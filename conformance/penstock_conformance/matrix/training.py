"""Operations of training jobs, each with its oracle: checkpoints, datasets, distributed checkpoints, files."""

from __future__ import annotations

import functools
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from penstock import S3Checkpoint, S3IterableDataset, S3MapDataset
from penstock.dcp import S3StorageReader, S3StorageWriter
from penstock.fsspec import PenstockFileSystem
from torch.distributed.checkpoint.state_dict_loader import load as dcp_load
from torch.distributed.checkpoint.state_dict_saver import save as dcp_save

from .trials import BYTES, PART, Environment, Operation, Trial, written

ITEMS = tuple(f"kept/data/{number}" for number in range(5))


@functools.cache
def state_of(size: str, seed: int) -> dict[str, Any]:
    """A checkpoint of that size, with values from the seed."""
    made = torch.Generator().manual_seed(seed)
    return {"weights": torch.rand(BYTES[size] // 4, generator=made), "bias": torch.rand(100, generator=made), "step": seed}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else bool(one == other)


# ---- one file


def _saved(environment: Environment, key: str, size: str, seed: int) -> str:
    file = io.BytesIO()
    torch.save(state_of(size, seed), file)
    environment.put(key, file.getvalue())
    return key


def _checkpoint_of(environment: Environment) -> S3Checkpoint:
    return S3Checkpoint(environment.region, endpoint=environment.endpoint, s3client_config=environment.config)


def _file_state(environment: Environment, key: str, size: str, old: int, new: int) -> Any:
    """Returns a `Trial.state` for a file of torch.save."""

    def state() -> str:
        data = environment.get(key)
        if data is None:
            return f"{key}: no object"
        try:
            found = torch.load(io.BytesIO(data), weights_only=True)
        except Exception as error:
            return f"{key}: torch.load fails for its {len(data)} bytes: {error}"
        if same(found, state_of(size, new)):
            return "after"
        return "before" if same(found, state_of(size, old)) else f"{key}: another checkpoint"

    return state


def _torch_save(environment: Environment, size: str) -> Trial:
    key, checkpoint, saved = _saved(environment, environment.key(), size, 1), _checkpoint_of(environment), state_of(size, 2)

    def run() -> None:
        with checkpoint.writer(f"s3://{environment.bucket}/{key}") as writer:
            torch.save(saved, writer)  # type: ignore[arg-type]

    return Trial(run, lambda got: got is None, _file_state(environment, key, size, 1, 2))


def _torch_load(environment: Environment, size: str) -> Trial:
    key = environment.once(("saved", size), lambda: _saved(environment, f"kept/{size}.pt", size, 1))
    checkpoint = _checkpoint_of(environment)
    return Trial(
        lambda: torch.load(checkpoint.reader(f"s3://{environment.bucket}/{key}"), weights_only=True),  # type: ignore[arg-type]
        lambda got: same(got, state_of(size, 1)),
        verified=True,
        parsed=True,
    )


def _lightning_save(environment: Environment, size: str) -> Trial:
    from penstock.lightning import S3LightningCheckpoint

    key, saved = _saved(environment, environment.key(), size, 1), state_of(size, 2)
    plugin = S3LightningCheckpoint(environment.region, s3client_config=environment.config, endpoint=environment.endpoint)
    return Trial(
        lambda: plugin.save_checkpoint(saved, f"s3://{environment.bucket}/{key}"),
        lambda got: got is None,
        _file_state(environment, key, size, 1, 2),
    )


def _lightning_load(environment: Environment, size: str) -> Trial:
    from penstock.lightning import S3LightningCheckpoint

    key = environment.once(("saved", size), lambda: _saved(environment, f"kept/{size}.pt", size, 1))
    plugin = S3LightningCheckpoint(environment.region, s3client_config=environment.config, endpoint=environment.endpoint)
    return Trial(
        lambda: plugin.load_checkpoint(f"s3://{environment.bucket}/{key}", weights_only=True),
        lambda got: same(got, state_of(size, 1)),
        verified=True,
        parsed=True,
    )


# ---- datasets


def _items(environment: Environment, size: str) -> str:
    def make() -> str:
        for number, key in enumerate(ITEMS[: 5 if size == "small" else 2]):
            environment.put(f"{key}-{size}", environment.content(size, number))
        for key in environment.keys("kept/data/"):
            if key.endswith(size):
                environment.clean.copy_object(
                    environment.bucket, key, environment.bucket, key.replace("kept/data/", f"kept/data-{size}/")
                )
        return f"s3://{environment.bucket}/kept/data-{size}/"

    return str(environment.once(("items", size), make))


def _names(size: str) -> list[str]:
    return [f"kept/data-{size}/{number}-{size}" for number in range(5 if size == "small" else 2)]


def _content_of(environment: Environment, size: str) -> list[bytes]:
    return [environment.content(size, number) for number in range(5 if size == "small" else 2)]


def _map_dataset(environment: Environment, size: str) -> Trial:
    uri = _items(environment, size)

    def run() -> list[bytes]:
        data = S3MapDataset.from_prefix(
            uri,
            region=environment.region,
            endpoint=environment.endpoint,
            s3client_config=environment.config,
            transform=lambda r: r.read(),
        )
        return [data[number] for number in range(len(data))]

    return Trial(run, lambda got: got == _content_of(environment, size), verified=True)


def _iterable_dataset(environment: Environment, size: str) -> Trial:
    uri = _items(environment, size)

    def run() -> list[bytes]:
        data = S3IterableDataset.from_prefix(
            uri,
            region=environment.region,
            endpoint=environment.endpoint,
            s3client_config=environment.config,
            transform=lambda r: r.read(),
        )
        return list(data)

    # Prefetching reads objects larger than a part by ranges, for which S3 has no checksum.
    return Trial(run, lambda got: got == _content_of(environment, size), verified=size == "small")


def _names_of_a_dataset(environment: Environment, size: str) -> Trial:
    """Iterates without reading the objects, so that prefetched data is discarded."""
    uri = _items(environment, size)

    def run() -> list[str]:
        data = S3IterableDataset.from_prefix(
            uri, region=environment.region, endpoint=environment.endpoint, s3client_config=environment.config
        )
        return [reader.key for reader in data]

    return Trial(run, lambda got: got == _names(size))


# ---- distributed checkpoints


def _dcp_save_at(environment: Environment, path: str, config: Any, size: str, seed: int) -> None:
    writer = S3StorageWriter(environment.region, path, config, endpoint=environment.endpoint, thread_count=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp_save(state_of(size, seed), storage_writer=writer, no_dist=True)


def _dcp_load_at(environment: Environment, path: str, config: Any, size: str) -> dict[str, Any]:
    state = {**{name: torch.full_like(t, -1) for name, t in state_of(size, 0).items() if name != "step"}, "step": -1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = S3StorageReader(environment.region, path, config, endpoint=environment.endpoint)
        dcp_load(state, storage_reader=reader, no_dist=True)
    return state


def _dcp_save(environment: Environment, size: str) -> Trial:
    path, clean = f"s3://{environment.bucket}/{environment.key()}", environment.emulator.config()
    _dcp_save_at(environment, path, clean, size, 1)

    def state() -> str:
        found = _dcp_load_at(environment, path, clean, size)
        if same(found, state_of(size, 2)):
            return "after"
        return "before" if same(found, state_of(size, 1)) else "a mixture of two checkpoints"

    return Trial(lambda: _dcp_save_at(environment, path, environment.config, size, 2), lambda got: got is None, state)


def _dcp_load(environment: Environment, size: str) -> Trial:
    path = f"s3://{environment.bucket}/kept/dcp-{size}"
    environment.once(("dcp", size), lambda: _dcp_save_at(environment, path, environment.emulator.config(), size, 1))
    return Trial(lambda: _dcp_load_at(environment, path, environment.config, size), lambda got: same(got, state_of(size, 1)))


# ---- files


def _files(environment: Environment) -> PenstockFileSystem:
    return PenstockFileSystem(
        key=environment.emulator.access_key_id, secret=environment.emulator.secret_access_key, endpoint_url=environment.endpoint,
        client_kwargs={"region_name": environment.region}, skip_instance_cache=True,
        max_attempts=environment.config.max_attempts, part_size=PART,
    )  # fmt: skip


def _fs_get(environment: Environment, size: str) -> Trial:
    key, files = environment.stored(size), _files(environment)

    def run() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            files.get_file(f"{environment.bucket}/{key}", f"{folder}/got")
            return Path(folder, "got").read_bytes()

    return Trial(run, lambda got: got == environment.content(size), verified=True)


def _fs_put(environment: Environment, size: str) -> Trial:
    key, files, data = environment.key(), _files(environment), environment.content(size)

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "given").write_bytes(data)
            files.put_file(f"{folder}/given", f"{environment.bucket}/{key}")

    return Trial(run, lambda got: got is None, written(environment, key, None, data))


def _fs_append(environment: Environment, size: str) -> Trial:
    key, files = environment.stored(size, environment.key()), _files(environment)
    old = environment.content(size)

    def run() -> None:
        with files.open(f"{environment.bucket}/{key}", "ab") as file:
            file.write(old[:PART])

    return Trial(run, lambda got: got is None, written(environment, key, old, old + old[:PART]))


def _fs_move(environment: Environment, size: str) -> Trial:
    source, target, files = environment.key(), environment.key(), _files(environment)
    environment.stored(size, source)
    data = environment.content(size)

    def state() -> str:
        there = environment.get(source), environment.get(target)
        if there == (None, data):
            return "after"
        return "before" if there in ((data, None), (data, data)) else "neither the source nor the target is whole"

    return Trial(
        lambda: files.mv(f"{environment.bucket}/{source}", f"{environment.bucket}/{target}"), lambda got: got is None, state
    )


def _fs_find(environment: Environment, size: str) -> Trial:
    _items(environment, size)
    files = _files(environment)
    return Trial(
        lambda: files.find(f"{environment.bucket}/kept/data-{size}"),
        lambda got: got == [f"{environment.bucket}/{name}" for name in _names(size)],
    )


def _fs_remove(environment: Environment, size: str) -> Trial:
    del size
    prefix = environment.key()
    for number in range(3):
        environment.stored("small", f"{prefix}/{number}")
    files = _files(environment)

    def state() -> str:
        return "before" if environment.keys(prefix) else "after"

    return Trial(lambda: files.rm(f"{environment.bucket}/{prefix}", recursive=True), lambda got: got is None, state)


OPERATIONS = (
    Operation("torch.save", _torch_save),
    Operation("torch.load", _torch_load),
    Operation("Lightning save", _lightning_save),
    Operation("Lightning load", _lightning_load),
    Operation("map dataset", _map_dataset),
    Operation("iterable dataset", _iterable_dataset),
    Operation("dataset, nothing read", _names_of_a_dataset),
    Operation("dcp.save", _dcp_save),
    Operation("dcp.load", _dcp_load),
    Operation("fsspec get", _fs_get),
    Operation("fsspec put", _fs_put),
    Operation("fsspec append", _fs_append),
    Operation("fsspec move", _fs_move),
    Operation("fsspec find", _fs_find, ("small",)),
    Operation("fsspec remove", _fs_remove, ("small",)),
)
