"""S3LightningCheckpoint without a Trainer: saving, loading, removing, errors; with both packages of Lightning."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import lightning
import lightning.pytorch.plugins.io as lightning_io
import penstock
import pytest
import torch
from bucket_io import get, keys, put
from penstock.lightning import S3LightningCheckpoint, _packages
from penstock.s3reader.checkpoint import CheckpointReader


@pytest.fixture
def checkpoint(emulator):
    return S3LightningCheckpoint("us-east-1", s3client_config=emulator.config(), endpoint=emulator.endpoint)


def state():
    generator = torch.Generator().manual_seed(7)
    return {"epoch": 3, "state_dict": {f"w{i}": torch.randn(100_000, generator=generator) for i in range(30)}}


def same(one, other):
    return one["epoch"] == other["epoch"] and all(torch.equal(t, other["state_dict"][n]) for n, t in one["state_dict"].items())


def test_saves_loads_and_removes(checkpoint, client, bucket):
    url = f"s3://{bucket}/run/epoch=3.ckpt"
    saved = state()
    checkpoint.save_checkpoint(saved, url)
    assert same(saved, checkpoint.load_checkpoint(url))
    assert same(saved, checkpoint.load_checkpoint(url, map_location="cpu", weights_only=True))
    checkpoint.remove_checkpoint(url)
    checkpoint.remove_checkpoint(url)  # already removed
    assert keys(client, bucket) == []
    assert checkpoint.teardown() is None
    assert isinstance(checkpoint, lightning_io.CheckpointIO)
    assert checkpoint.region == "us-east-1"


def test_loads_with_the_checkpoint_reader(checkpoint, bucket, emulator, monkeypatch):
    """Sends no HeadObject request, and reads in parallel."""
    url = f"s3://{bucket}/k.ckpt"
    saved = {"epoch": 0, "state_dict": {f"w{i}": torch.randn(1_000_000) for i in range(12)}}
    checkpoint.save_checkpoint(saved, url)
    load, readers = torch.load, []
    monkeypatch.setattr(torch, "load", lambda reader, *rest, **more: readers.append(reader) or load(reader, *rest, **more))
    journal = emulator.journal()
    after = journal.last
    assert same(saved, checkpoint.load_checkpoint(url))
    assert type(readers[0]) is CheckpointReader
    assert readers[0].closed
    assert journal.count(after=after, operations="HeadObject") == 0
    assert journal.max_concurrency(after=after, operations="GetObject", bucket=bucket) > 1


def test_failed_save_keeps_the_previous_object(checkpoint, client, bucket):
    class Unpicklable:
        def __reduce__(self):
            raise KeyError("halfway")

    put(client, bucket, "k", b"before")
    with pytest.raises(KeyError, match="halfway"):
        checkpoint.save_checkpoint({"w": torch.zeros(20_000_000), "bad": Unpicklable()}, f"s3://{bucket}/k")
    assert get(client, bucket, "k") == b"before"
    assert client._client.list_multipart_uploads(bucket) == []


@pytest.mark.parametrize("method", ["save_checkpoint", "load_checkpoint", "remove_checkpoint"])
def test_paths_must_be_strings(checkpoint, method):
    arguments = ({},) if method == "save_checkpoint" else ()
    with pytest.raises(TypeError) as caught:
        getattr(checkpoint, method)(*arguments, Path("a"))
    assert str(caught.value) == "'PosixPath' is not a supported type for 'path'. Must be a string formatted as an S3 uri."
    with pytest.raises(ValueError, match="Only s3:// URIs are supported"):
        getattr(checkpoint, method)(*arguments, "gs://bucket/key")
    with pytest.raises(ValueError, match="Bucket name must be non-empty"):
        getattr(checkpoint, method)(*arguments, "s3:///key")


def test_errors_equal_those_of_the_reference(checkpoint, bucket):
    with pytest.raises(penstock.S3Exception, match=r"^Service error: The key does not exist"):
        checkpoint.load_checkpoint(f"s3://{bucket}/missing")
    with pytest.raises(penstock.S3Exception):
        checkpoint.save_checkpoint({}, "s3://no-such-bucket-here/k")


def test_empty_key_never_removes_the_bucket(checkpoint, client, bucket):
    put(client, bucket, "k", b"")
    for url in (f"s3://{bucket}", f"s3://{bucket}/"):
        with pytest.raises(ValueError):
            checkpoint.remove_checkpoint(url)
    assert keys(client, bucket) == ["k"]


def test_weights_only_is_the_default_of_torch_from_lightning_2_6_on(checkpoint, bucket, monkeypatch):
    seen = []
    monkeypatch.setattr(torch, "load", lambda reader, map_location, weights_only: seen.append((map_location, weights_only)) or {})
    url = f"s3://{bucket}/k"
    checkpoint.save_checkpoint({}, url)
    checkpoint.load_checkpoint(url)
    checkpoint.load_checkpoint(url, "cpu", False)
    monkeypatch.setattr(lightning, "__version__", "2.5.9")
    checkpoint.load_checkpoint(url)
    checkpoint.load_checkpoint(url, weights_only=True)
    assert seen == [(None, None), ("cpu", False), (None, False), (None, True)]


def test_code_in_a_checkpoint_requires_weights_only_false(checkpoint, bucket):
    url = f"s3://{bucket}/k"
    checkpoint.save_checkpoint({"path": Path("a")}, url)
    with pytest.raises(pickle.UnpicklingError):
        checkpoint.load_checkpoint(url)
    assert checkpoint.load_checkpoint(url, weights_only=False) == {"path": Path("a")}


def test_user_agent_contains_lightning(checkpoint):
    assert checkpoint._client.user_agent_prefix.endswith(f"(lightning; {lightning.__version__})")


def test_local_paths_use_the_checkpoint_io_of_lightning(checkpoint, tmp_path):
    """ddp_spawn and notebooks pass the weights between processes in a temporary file."""
    path = str(tmp_path / ".temp.ckpt")
    saved = state()
    checkpoint.save_checkpoint(saved, path)
    assert same(saved, torch.load(path))
    assert same(saved, checkpoint.load_checkpoint(path))
    assert same(saved, checkpoint.load_checkpoint(path, weights_only=True))
    checkpoint.remove_checkpoint(path)
    assert not Path(path).exists()


def test_storage_options(checkpoint, client, bucket):
    url = f"s3://{bucket}/k"
    options = {"storage_class": "STANDARD_IA", "metadata": {"step": 7}, "content_type": "application/x-checkpoint"}
    checkpoint.save_checkpoint({}, url, options)
    head = client._client.head_object(bucket, "k")
    assert (head.storage_class, head.content_type, head.user_metadata) == (
        "STANDARD_IA", "application/x-checkpoint", [("step", "7")],
    )  # fmt: skip
    with pytest.raises(penstock.S3PreconditionFailedError):
        checkpoint.save_checkpoint({}, url, storage_options={"if_none_match": True})
    with pytest.raises(ValueError, match="'colour'; supported: storage_class"):
        checkpoint.save_checkpoint({}, url, {"colour": "red"})
    with pytest.raises(TypeError, match="storage_options must be a dict or None, not int"):
        checkpoint.save_checkpoint({}, url, 7)


def test_directory_is_removed_with_its_content(checkpoint, client, bucket):
    for key in ("run/c.ckpt/__0_0.distcp", "run/c.ckpt/.metadata", "run/c.ckpt2", "run/other"):
        put(client, bucket, key, b"")
    checkpoint.remove_checkpoint(f"s3://{bucket}/run/c.ckpt")
    assert keys(client, bucket) == ["run/c.ckpt2", "run/other"]


def test_without_list_permission_only_the_object_is_removed(checkpoint, client, bucket, emulator):
    put(client, bucket, "k", b"")
    faults = emulator.faults()
    faults.set(
        [{"when": {"operation": "ListObjectsV2", "bucket": bucket}, "do": {"error": {"code": "AccessDenied", "status": 403}}}]
    )
    try:
        checkpoint.remove_checkpoint(f"s3://{bucket}/k")
    finally:
        faults.clear()
    assert keys(client, bucket) == []


def test_pickles(checkpoint, bucket):
    checkpoint.save_checkpoint({"epoch": 1}, f"s3://{bucket}/k")
    copy = pickle.loads(pickle.dumps(checkpoint))
    assert copy.load_checkpoint(f"s3://{bucket}/k") == {"epoch": 1}


def test_asynchronous_saves(checkpoint, client, bucket):
    from lightning.pytorch.plugins.io import AsyncCheckpointIO

    background = AsyncCheckpointIO(checkpoint)
    saved = state()
    background.save_checkpoint(saved, f"s3://{bucket}/k")
    saved["state_dict"]["w0"].zero_()  # the next training step
    background.teardown()
    assert not torch.equal(checkpoint.load_checkpoint(f"s3://{bucket}/k")["state_dict"]["w0"], saved["state_dict"]["w0"])
    with pytest.raises(penstock.S3NotFoundError):
        background.save_checkpoint({}, "s3://no-such-bucket-here/k")  # raises it if the save has failed already
        background.teardown()


def run(program):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False
    )


def test_missing_lightning_raises_module_not_found():
    result = run("""
        import sys

        class Missing:
            def find_spec(self, name, path=None, target=None):
                if name in ("lightning", "pytorch_lightning"):
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Missing())
        import penstock
        penstock.S3Client
        try:
            import penstock.lightning
        except ModuleNotFoundError as error:
            print(error)
    """)
    expected = "penstock.lightning needs lightning, which is not installed; run pip install 'penstock[lightning]'\n"
    assert result.stdout == expected, result.stderr


def test_works_with_the_other_package():
    result = run("""
        import pytorch_lightning as pl
        import penstock.lightning as ours
        plugin = ours.S3LightningCheckpoint("us-east-1")
        trainer = pl.Trainer(plugins=[plugin], accelerator="cpu", logger=False, enable_progress_bar=False)
        assert trainer.strategy.checkpoint_io is plugin
        assert issubclass(ours.S3ModelCheckpoint, pl.callbacks.ModelCheckpoint)
        import lightning.pytorch as other
        plugin = ours.S3LightningCheckpoint("us-east-1")
        trainer = other.Trainer(plugins=[plugin], accelerator="cpu", logger=False, enable_progress_bar=False)
        assert trainer.strategy.checkpoint_io is plugin
        print("both")
    """)
    assert result.stdout.endswith("both\n"), result.stderr


def test_replaces_the_module_of_the_reference():
    result = run("""
        import penstock.compat
        penstock.compat.install()
        from s3torchconnector.lightning import S3LightningCheckpoint
        from s3torchconnector.lightning.s3_lightning_checkpoint import S3LightningCheckpoint as Same
        import penstock.lightning
        print(S3LightningCheckpoint is Same is penstock.lightning.S3LightningCheckpoint)
    """)
    assert result.stdout == "True\n", result.stderr


def test_order_of_arguments_equals_the_reference():
    assert _packages.version() >= (2, 6)
    config = penstock.S3ClientConfig(max_attempts=3)
    plugin = S3LightningCheckpoint("us-east-1", config, "http://localhost:1")
    assert (plugin._client.s3client_config, plugin._client.endpoint) == (config, "http://localhost:1")
