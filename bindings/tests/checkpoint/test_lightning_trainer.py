"""Trainers with S3 paths: root directory, ModelCheckpoint, loggers, resuming. Verified by objects and the journal."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import textwrap
import warnings
from collections import Counter

import fsspec
import lightning.pytorch as pl
import pytest
import torch
from bucket_io import get, keys, put
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.plugins.io import AsyncCheckpointIO
from lightning_models import Line, batches, trainer
from penstock.fsspec import S3FileSystem
from penstock.lightning import S3LightningCheckpoint, S3ModelCheckpoint

pytestmark = pytest.mark.filterwarnings("ignore:.*isinstance.treespec.*", "ignore:Checkpoint directory .* exists")


@pytest.fixture(autouse=True)
def s3_of_the_environment(emulator, monkeypatch):
    """Configures everything by the environment. Importing penstock.lightning has registered `s3://`."""
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()
    assert fsspec.get_filesystem_class("s3") is S3FileSystem


@pytest.fixture
def plugin(emulator):
    return S3LightningCheckpoint("us-east-1", s3client_config=emulator.config(), endpoint=emulator.endpoint)


@pytest.fixture
def journal(emulator, bucket, client):
    """Checks after the test that no upload is open, and that no save was published twice."""
    after = emulator.journal().last
    yield emulator.journal()
    assert client._client.list_multipart_uploads(bucket) == []
    entries = emulator.journal().entries(after=after, bucket=bucket)
    published = Counter(entry.invocation for entry in entries if entry.operation in ("PutObject", "CompleteMultipartUpload"))
    assert all(count == 1 for count in published.values())


def weights(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def test_default_root_dir_on_s3(client, bucket, journal):
    """The defaults of a Trainer: a logger, its hyperparameters, a checkpoint; no plugin."""
    fit = trainer(default_root_dir=f"s3://{bucket}/runs", max_epochs=2, logger=True)
    model = Line()
    fit.fit(model, batches())
    names = keys(client, bucket)
    root = "runs/lightning_logs/version_0/"
    assert f"{root}checkpoints/epoch=1-step=4.ckpt" in names
    assert f"{root}hparams.yaml" in names
    assert b"rate: 0.1" in get(client, bucket, f"{root}hparams.yaml")
    again = Line.load_from_checkpoint(f"s3://{bucket}/{root}checkpoints/epoch=1-step=4.ckpt")
    assert torch.equal(again.layer.weight, model.layer.weight)
    assert again.hparams["rate"] == 0.1
    trainer(default_root_dir=f"s3://{bucket}/runs", max_epochs=1, logger=True).fit(Line(), batches())
    assert any(name.startswith("runs/lightning_logs/version_1/") for name in keys(client, bucket))


def test_csv_logs_are_appended(client, bucket, journal):
    logger = CSVLogger(f"s3://{bucket}/logs", name="line", flush_logs_every_n_steps=1)
    fit = trainer(logger=logger, max_epochs=3, default_root_dir=f"s3://{bucket}/root")
    fit.fit(Line(), batches())
    rows = list(csv.DictReader(io.StringIO(get(client, bucket, "logs/line/version_0/metrics.csv").decode())))
    assert [int(row["step"]) for row in rows if row["loss"]] == list(range(6))
    assert {"loss", "score", "epoch", "step"} <= rows[0].keys()


def test_best_and_last_checkpoints_are_kept(client, bucket, journal, plugin):
    best = ModelCheckpoint(f"s3://{bucket}/c", "{epoch}", monitor="score", mode="min", save_top_k=2, save_last=True)
    fit = trainer(callbacks=[best], plugins=[plugin], max_epochs=4)
    fit.fit(Line(scores=(5.0, 1.0, 9.0, 3.0)), batches())
    assert keys(client, bucket) == ["c/epoch=1.ckpt", "c/epoch=3.ckpt", "c/last.ckpt"]
    assert best.best_model_path == f"s3://{bucket}/c/epoch=1.ckpt"
    assert best.last_model_path == f"s3://{bucket}/c/last.ckpt"
    best.to_yaml()
    assert b"epoch=1.ckpt: 1.0" in get(client, bucket, "c/best_k_models.yaml")


def test_second_run_does_not_overwrite_the_first(client, bucket, journal, plugin):
    for _ in range(2):
        saver = ModelCheckpoint(f"s3://{bucket}/c", "{epoch}")
        trainer(callbacks=[saver], plugins=[plugin], max_epochs=1).fit(Line(), batches())
    assert keys(client, bucket) == ["c/epoch=0-v1.ckpt", "c/epoch=0.ckpt"]


def test_resumes_at_the_saved_step(client, bucket, journal, plugin):
    saver = ModelCheckpoint(f"s3://{bucket}/c", "{epoch}", save_top_k=-1)
    first = Line()
    trainer(callbacks=[saver], plugins=[plugin], max_epochs=2).fit(first, batches())
    reached = weights(first)
    second, started = Line(), {}

    class Look(pl.Callback):
        def on_train_start(self, fit, model):
            started.update(weights(model), epoch=fit.current_epoch, step=fit.global_step)

    resumed = trainer(callbacks=[Look()], plugins=[plugin], max_epochs=3, enable_checkpointing=False)
    resumed.fit(second, batches(), ckpt_path=f"s3://{bucket}/c/epoch=1.ckpt")
    assert (started.pop("epoch"), started.pop("step")) == (2, 4)
    assert all(torch.equal(value, reached[name]) for name, value in started.items())
    assert resumed.global_step == 6


@pytest.mark.parametrize("with_plugin", [True, False])
def test_resumes_from_the_last_checkpoint(bucket, plugin, journal, with_plugin):
    """Lightning's ModelCheckpoint never finds it on a remote path."""
    plugins = [plugin] if with_plugin else []
    options = {"plugins": plugins, "default_root_dir": f"s3://{bucket}/run"}
    trainer(callbacks=[S3ModelCheckpoint(save_last=True)], max_epochs=2, **options).fit(Line(), batches())
    resumed = trainer(callbacks=[S3ModelCheckpoint(save_last=True)], max_epochs=3, **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*no last checkpoint available.*")
        resumed.fit(Line(), batches(), ckpt_path="last")
    assert resumed.ckpt_path == f"s3://{bucket}/run/checkpoints/last.ckpt"
    assert resumed.global_step == 6


def test_missing_last_checkpoint_warns(bucket, plugin, journal):
    first = trainer(callbacks=[S3ModelCheckpoint(f"s3://{bucket}/c", save_last=True)], plugins=[plugin], max_epochs=1)
    with pytest.warns(UserWarning, match="no last checkpoint available"):
        first.fit(Line(), batches(), ckpt_path="last")
    assert first.global_step == 2


def fit_and_resume(kind, bucket, plugin):
    """Runs two epochs, then two more from the first run's checkpoint. Keeps one checkpoint, with the best score."""
    options = {"filename": "{epoch}", "monitor": "score", "mode": "min", "save_top_k": 1}
    first = kind(f"s3://{bucket}/c", **options)
    trainer(callbacks=[first], plugins=[plugin], max_epochs=2).fit(Line(), batches())
    resumed_from = first.best_model_path
    second = kind(f"s3://{bucket}/c", **options)
    resumed = trainer(callbacks=[second], plugins=[plugin], max_epochs=4)
    resumed.fit(Line(), batches(), ckpt_path=resumed_from)
    return resumed_from.removeprefix(f"s3://{bucket}/")


def test_checkpoint_that_a_run_resumed_from_is_kept(client, bucket, plugin, journal):
    """Lightning's ModelCheckpoint deletes it."""
    resumed_from = fit_and_resume(S3ModelCheckpoint, bucket, plugin)
    assert keys(client, bucket) == [resumed_from, "c/epoch=3.ckpt"]


def test_restores_the_state_of_lightnings_model_checkpoint(bucket, plugin, journal):
    options = {"filename": "{epoch}", "monitor": "score", "mode": "min", "save_top_k": 2, "save_last": True}
    first = ModelCheckpoint(f"s3://{bucket}/c", **options)
    trainer(callbacks=[first], plugins=[plugin], max_epochs=2).fit(Line(scores=(1.0, 2.0)), batches())
    second = S3ModelCheckpoint(f"s3://{bucket}/c", **options)
    trainer(callbacks=[second], plugins=[plugin], max_epochs=3).fit(Line(scores=(1.0, 2.0, 3.0)), batches(), ckpt_path="last")
    assert second.best_model_path == first.best_model_path
    assert sorted(second.best_k_models) == sorted(first.best_k_models)


def test_checkpoints_in_other_directories_are_kept(client, bucket, plugin):
    mine = S3ModelCheckpoint(f"s3://{bucket}/c")
    fit = trainer(callbacks=[mine], plugins=[plugin], max_epochs=1)
    fit.fit(Line(), batches())
    for previous, removed in [
        (f"s3://{bucket}/c/a.ckpt", True),
        (f"s3://{bucket}//c/a.ckpt/", True),
        (f"s3://{bucket}/c/now.ckpt", False),
        (f"s3a://{bucket}/c/now.ckpt", False),
        (f"s3://{bucket}/c2/a.ckpt", False),
        (f"s3://{bucket}/other/a.ckpt", False),
    ]:
        assert mine._should_remove_checkpoint(fit, previous, f"s3://{bucket}/c/now.ckpt") is removed


def test_local_directories_behave_like_in_lightning(tmp_path):
    saver = S3ModelCheckpoint(str(tmp_path), "{epoch}", save_last=True, monitor="score", mode="min")
    trainer(callbacks=[saver], max_epochs=3).fit(Line(), batches())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["epoch=2.ckpt", "last.ckpt"]
    resumed = trainer(callbacks=[S3ModelCheckpoint(str(tmp_path), save_last=True)], max_epochs=4)
    resumed.fit(Line(), batches(), ckpt_path="last")
    assert resumed.ckpt_path == str(tmp_path / "last.ckpt")


def test_only_weights(client, bucket, plugin, journal):
    saver = ModelCheckpoint(f"s3://{bucket}/c", "{epoch}", save_weights_only=True)
    trainer(callbacks=[saver], plugins=[plugin], max_epochs=1).fit(Line(), batches())
    saved = plugin.load_checkpoint(f"s3://{bucket}/c/epoch=0.ckpt", weights_only=True)
    assert "optimizer_states" not in saved
    assert set(saved["state_dict"]) == {"layer.weight", "layer.bias"}


def test_asynchronous_saves(client, bucket, plugin, journal):
    saver = ModelCheckpoint(f"s3://{bucket}/c", "{epoch}", save_top_k=-1)
    model = Line()
    trainer(callbacks=[saver], plugins=[AsyncCheckpointIO(plugin)], max_epochs=3).fit(model, batches())
    assert keys(client, bucket) == ["c/epoch=0.ckpt", "c/epoch=1.ckpt", "c/epoch=2.ckpt"]
    last = plugin.load_checkpoint(f"s3://{bucket}/c/epoch=2.ckpt", weights_only=False)
    assert torch.equal(last["state_dict"]["layer.weight"], model.layer.weight)


def test_failed_save_ends_the_fit_and_publishes_nothing(client, bucket, plugin, emulator):
    """The previous checkpoint is kept."""
    put(client, bucket, "c/epoch=0.ckpt", b"before")
    saver = ModelCheckpoint(f"s3://{bucket}/c", "{epoch}", enable_version_counter=False)
    faults = emulator.faults()
    faults.set([{"when": {"operation": "PutObject", "bucket": bucket}, "do": {"error": {"status": 403, "code": "AccessDenied"}}}])
    try:
        with pytest.raises(Exception, match="Forbidden"):
            trainer(callbacks=[saver], plugins=[plugin], max_epochs=1).fit(Line(), batches())
    finally:
        faults.clear()
    assert get(client, bucket, "c/epoch=0.ckpt") == b"before"


def test_validates_and_tests_from_s3(bucket, plugin, journal):
    class Tested(Line):
        def test_step(self, batch, batch_idx):
            self.log("w", self.layer.weight.sum())

    model = Tested()
    fit = trainer(callbacks=[ModelCheckpoint(f"s3://{bucket}/c", "{epoch}")], plugins=[plugin], max_epochs=1)
    fit.fit(model, batches())
    fresh = Tested()
    result = fit.test(fresh, batches(), ckpt_path=f"s3://{bucket}/c/epoch=0.ckpt", verbose=False)
    assert result[0]["w"] == pytest.approx(model.layer.weight.item())
    fit.save_checkpoint(f"s3://{bucket}/own.ckpt", storage_options={"metadata": {"who": "me"}})
    assert plugin._client._client.head_object(bucket, "own.ckpt").user_metadata == [("who", "me")]


def test_processes_on_one_machine_pass_the_weights_by_a_local_file(client, bucket, emulator):
    """The reference connector raises an error for this file, and the fit fails."""
    program = f"""
        from lightning.pytorch.callbacks import ModelCheckpoint
        from lightning_models import Line, batches, trainer
        from penstock.lightning import S3LightningCheckpoint

        model = Line()
        before = model.layer.weight.item()
        saver = ModelCheckpoint("s3://{bucket}/c", "{{epoch}}")
        plugin = S3LightningCheckpoint("us-east-1")
        fit = trainer(strategy="ddp_fork", devices=2, callbacks=[saver], plugins=[plugin], max_epochs=1)
        fit.fit(model, batches())
        print(model.layer.weight.item() != before)
    """
    environment = {**os.environ, **emulator.environment(), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False, env=environment)
    assert done.stdout.endswith("True\n"), done.stderr
    assert keys(client, bucket) == ["c/epoch=0.ckpt"]
