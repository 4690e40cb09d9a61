"""The calls in the reference connector's documentation: datasets, the client, checkpoints, DCP, Lightning."""

import sys

import lightning
import torch
import torch.distributed.checkpoint as dcp
from s3torchconnector import (
    S3Checkpoint,
    S3ClientConfig,
    S3Exception,
    S3IterableDataset,
    S3MapDataset,
    S3ReaderConstructor,
)
from s3torchconnector._s3client import S3Client
from s3torchconnector.dcp import BinaryPrefixStrategy, HexPrefixStrategy, S3PrefixStrategyBase, S3StorageReader, S3StorageWriter
from s3torchconnector.dcp.s3_prefix_strategy import RoundRobinPrefixStrategy
from s3torchconnector.lightning import S3LightningCheckpoint

REGION = "us-east-1"
bucket = sys.argv[1]


class CustomPrefixStrategy(S3PrefixStrategyBase):
    def generate_prefix(self, rank: int) -> str:
        return f"custom_{'abc'[rank % 3]}/{rank}/"


def datasets() -> None:
    client = S3Client(region=REGION)
    for number in range(10):
        with client.put_object(bucket, f"images/{number}") as writer:
            writer.write(b"x" * number)
    uris = [f"s3://{bucket}/images/{number}" for number in range(10)]
    config = S3ClientConfig(throughput_target_gbps=5.0, part_size=8 * 1024 * 1024, max_attempts=5)
    by_prefix = S3MapDataset.from_prefix(f"s3://{bucket}/images/", region=REGION, s3client_config=config)
    assert len(by_prefix) == 10
    item = by_prefix[3]
    assert (item.bucket, item.key, item.read()) == (bucket, "images/3", b"xxx")
    of_objects = S3IterableDataset.from_objects(uris, region=REGION, transform=lambda reader: len(reader.read()))
    assert list(of_objects) == list(range(10))
    ranged = S3ReaderConstructor.range_based(buffer_size=16 * 1024)
    sharded = S3IterableDataset.from_prefix(
        f"s3://{bucket}/images", region=REGION, enable_sharding=True, reader_constructor=ranged, transform=lambda r: r.key
    )
    assert len(list(torch.utils.data.DataLoader(sharded, batch_size=None, num_workers=2))) == 10
    client.copy_object(bucket, "images/1", bucket, "copied")
    assert client.head_object(bucket, "copied").size == 1
    assert [info.key for page in client.list_objects(bucket, "cop") for info in page.object_info] == ["copied"]
    client.delete_object(bucket, "copied")
    try:
        client.get_object(bucket, "copied").read()
    except S3Exception as error:
        assert "Service error: The key does not exist" in str(error)


def single_files() -> None:
    checkpoint = S3Checkpoint(region=REGION)
    model = torch.nn.Linear(4, 4)
    with checkpoint.writer(f"s3://{bucket}/epoch0.ckpt") as writer:
        torch.save(model.state_dict(), writer)
    with checkpoint.reader(f"s3://{bucket}/epoch0.ckpt") as reader:
        model.load_state_dict(torch.load(reader))


def distributed() -> None:
    state = {"model": {"weight": torch.randn(100, 10)}, "step": 7}
    strategies = (
        None,
        RoundRobinPrefixStrategy(user_prefixes=["shard1", "shard2"]),
        BinaryPrefixStrategy(epoch_num=5, min_prefix_length=8),
        HexPrefixStrategy(epoch_num=None, min_prefix_length=4, prefix_count=16),
        CustomPrefixStrategy(),
    )
    for number, strategy in enumerate(strategies):
        path = f"s3://{bucket}/dcp/{number}/"
        writer = S3StorageWriter(
            region=REGION, path=path, s3client_config=S3ClientConfig(part_size=16 * 1024**2), prefix_strategy=strategy,
            thread_count=2,
        )  # fmt: skip
        dcp.save(state, storage_writer=writer)
        for reader_constructor in (None, S3ReaderConstructor.dcp_optimized(max_gap_size=1024), S3ReaderConstructor.default()):
            loaded = {"model": {"weight": torch.zeros(100, 10)}, "step": 0}
            reader = S3StorageReader(region=REGION, path=path, reader_constructor=reader_constructor)
            dcp.load(loaded, storage_reader=reader)
            assert torch.equal(loaded["model"]["weight"], state["model"]["weight"])
            assert loaded["step"] == 7


class Tiny(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, _):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def with_lightning() -> None:
    plugin = S3LightningCheckpoint(REGION)
    loader = torch.utils.data.DataLoader(torch.randn(8, 2), batch_size=4)
    quiet = {"accelerator": "cpu", "logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        plugins=[plugin], default_root_dir=f"s3://{bucket}/lightning/", max_epochs=1, enable_checkpointing=False, **quiet
    )
    trainer.fit(Tiny(), loader)
    trainer.save_checkpoint(f"s3://{bucket}/lightning/model.ckpt")
    model = Tiny()
    resumed = lightning.Trainer(plugins=[plugin], max_epochs=2, enable_checkpointing=False, **quiet)
    resumed.fit(model, loader, ckpt_path=f"s3://{bucket}/lightning/model.ckpt")
    assert resumed.current_epoch == 2


if __name__ == "__main__":
    datasets()
    single_files()
    distributed()
    with_lightning()
    print("done")
