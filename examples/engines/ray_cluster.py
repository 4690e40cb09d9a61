"""Ray on two nodes: a dataset of objects, Parquet by Penstock's file system, and Ray Train with its checkpoints in S3.

python ray_cluster.py uses the cluster of RAY_ADDRESS, or starts two nodes on this machine.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import penstock.ray
import pyarrow as pa
import pyarrow.parquet
import ray
import ray.train
import torch
from comparison import common
from pyarrow.fs import FSSpecHandler, PyFileSystem
from ray.train.torch import TorchTrainer, prepare_model

OBJECTS, FEATURES = 200, 25_000
EPOCHS = 2


@contextlib.contextmanager
def connected() -> Iterator[None]:
    """Connects to the cluster of RAY_ADDRESS, or to two nodes that it starts here."""
    if os.environ.get("RAY_ADDRESS"):
        ray.init()
        yield
        ray.shutdown()
        return
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 2, "object_store_memory": 100 * 1024**2}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        cluster.add_node(**node)
        ray.init(cluster.address, log_to_driver=False, logging_level="warning")
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = 8 * 1024**2  # the default, 128 MiB, is too much for so small nodes
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


def write_objects(files: Any) -> None:
    common.make_bucket()
    chance = np.random.default_rng(1)
    folder = common.uri("ray/objects")
    files.pipe({f"{folder}/{n:04}": chance.random(FEATURES, dtype=np.float32).tobytes() for n in range(OBJECTS)})
    with files.open(common.uri("ray/table/part.parquet"), "wb") as file:
        pyarrow.parquet.write_table(pa.table({"number": range(10_000)}), file)


def digests(rows: dict[str, Any]) -> dict[str, Any]:
    """Runs in the tasks that read."""
    node = ray.get_runtime_context().get_node_id()
    return {"path": rows["path"], "crc": [zlib.crc32(data) for data in rows["bytes"]], "node": [node] * len(rows["path"])}


def read_all(dataset: ray.data.Dataset) -> tuple[dict[str, int], set[str]]:
    """Returns a CRC of each object by its path, and the nodes that read."""
    rows = dataset.map_batches(digests, batch_size=None).take_all()
    return {row["path"]: row["crc"] for row in rows}, {row["node"] for row in rows}


def read_with_both_clients(systems: dict[str, Any]) -> None:
    def ours(uris: str | list[str]) -> Any:
        return read_all(ray.data.read_datasource(penstock.ray.S3Datasource(uris, region=common.REGION)))

    def theirs(uris: str | list[str]) -> Any:
        return read_all(ray.data.read_binary_files(uris, filesystem=systems["s3fs"], include_paths=True))

    folder = common.uri("ray/objects")
    for read in (ours, theirs):  # starts the workers of both nodes
        read([f"{folder}/{number:04}" for number in range(8)])
    results = comparison.compare(
        f"{OBJECTS} objects of {FEATURES * 4} bytes",
        {"penstock": lambda: ours(f"{folder}/"), "s3fs": lambda: theirs(f"{folder}/")},
    )
    (rows, nodes), (others, _) = results["penstock"], results["s3fs"]
    assert rows == others
    assert len(rows) == OBJECTS
    print(f"rows: {len(rows)}, equal to those of read_binary_files; read by {len(nodes)} nodes")


def read_parquet(systems: dict[str, Any]) -> None:
    folder = common.uri("ray/table") + "/"

    def total(system: Any) -> int:
        return sum(row["number"] for row in ray.data.read_parquet(folder, filesystem=system).take_all())

    sums = comparison.compare("read_parquet", {name: functools.partial(total, system) for name, system in systems.items()})
    assert sums["penstock"] == sums["s3fs"] == sum(range(10_000))


def train(config: dict[str, Any]) -> None:
    """Runs in each worker."""
    model = prepare_model(torch.nn.Linear(FEATURES, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    for epoch in range(config["epochs"]):
        rows = 0
        for batch in ray.train.get_dataset_shard("train").iter_torch_batches(batch_size=20):
            loss = (model(batch["features"]) - 0.5).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rows += len(batch["features"])
        metrics = {"epoch": epoch, "rows": rows, "loss": loss.item()}
        with tempfile.TemporaryDirectory() as folder:
            saved = None
            if ray.train.get_context().get_world_rank() == 0:
                torch.save({"model": model.module.state_dict(), "epoch": epoch}, Path(folder, "state.pt"))
                saved = ray.train.Checkpoint.from_directory(folder)
            ray.train.report(metrics, checkpoint=saved)


def features(row: dict[str, Any]) -> dict[str, Any]:
    return {"features": np.frombuffer(row["bytes"], dtype=np.float32)}


def fit(files: Any) -> ray.train.Result:
    objects = ray.data.read_datasource(penstock.ray.S3Datasource(common.uri("ray/objects") + "/", region=common.REGION))
    trainer = TorchTrainer(
        train,
        train_loop_config={"epochs": EPOCHS},
        datasets={"train": objects.map(features)},
        scaling_config=ray.train.ScalingConfig(num_workers=2, placement_strategy="SPREAD"),
        run_config=ray.train.RunConfig(
            name="run",
            storage_path=common.uri("ray/runs").removeprefix("s3://"),
            storage_filesystem=PyFileSystem(FSSpecHandler(files)),
        ),
    )
    return trainer.fit()


def main() -> None:
    systems = comparison.file_systems()
    files = systems["penstock"]
    write_objects(files)
    with connected():
        read_with_both_clients(systems)
        read_parquet(systems)
        result = fit(files)
    with files.open(f"{result.checkpoint.path}/state.pt") as file:
        assert torch.load(file, weights_only=True)["epoch"] == EPOCHS - 1
    print(f"ok: trained {EPOCHS} epochs on 2 nodes; the last checkpoint is {result.checkpoint.path}")


if __name__ == "__main__":
    main()
