"""The reference connector's S3LightningCheckpoint and ours: each loads the other's checkpoints, and a Trainer accepts either."""

from __future__ import annotations

import penstock.lightning
import pytest
import s3torchconnector
import torch
from penstock.testing import Emulator
from s3torchconnector.lightning import S3LightningCheckpoint


@pytest.fixture
def emulator():
    with Emulator() as instance:
        yield instance


def test_each_lightning_plugin_loads_the_others_checkpoints(emulator, monkeypatch):
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    emulator.client().create_bucket("bucket")
    theirs = S3LightningCheckpoint("us-east-1", s3torchconnector.S3ClientConfig(force_path_style=True), emulator.endpoint)
    ours = penstock.lightning.S3LightningCheckpoint("us-east-1", emulator.config(), emulator.endpoint)
    state = {"epoch": 3, "state_dict": {"large": torch.randn(5_000_000), "bf16": torch.ones(7, dtype=torch.bfloat16)}}
    for saves, loads in ((theirs, ours), (ours, theirs)):
        saves.save_checkpoint(state, "s3://bucket/run/last.ckpt")
        loaded = loads.load_checkpoint("s3://bucket/run/last.ckpt", weights_only=True)
        assert loaded["epoch"] == 3
        assert all(torch.equal(tensor, loaded["state_dict"][name]) for name, tensor in state["state_dict"].items())
        loads.remove_checkpoint("s3://bucket/run/last.ckpt")
    assert [page.object_info for page in emulator.client().list_objects("bucket")] == [[]]
