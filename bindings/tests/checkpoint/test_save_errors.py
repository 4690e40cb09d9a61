"""Exceptions of a failing upload during torch.save."""

from __future__ import annotations

import penstock
import pytest
import torch

STATE = {"a": torch.zeros(40 << 18), "b": torch.zeros(30 << 18)}  # 40 and 30 MiB


def test_torch_save_raises_the_error_of_the_upload(emulator) -> None:
    checkpoint = penstock.S3Checkpoint(region="us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())
    with pytest.raises(penstock.S3NotFoundError), checkpoint.writer("s3://no-such-bucket/k") as writer:
        torch.save({**STATE, "c": torch.zeros(40 << 18)}, writer)


def test_ctrl_c_in_torch_save_is_a_keyboard_interrupt(client, bucket) -> None:
    writer = client.put_object(bucket, "k")
    stream = writer.stream

    class Interrupted:
        def write(self, data: object) -> int:
            raise KeyboardInterrupt

        def __getattr__(self, name: str) -> object:
            return getattr(stream, name)

    with pytest.raises(KeyboardInterrupt), writer:
        writer.stream = Interrupted()
        torch.save(STATE, writer)
    assert not any(page.object_info for page in client.list_objects(bucket))


def test_another_exception_of_the_block_is_raised_unchanged(client, bucket) -> None:
    with pytest.raises(RuntimeError, match="mine"), client.put_object(bucket, "k") as writer:
        writer.write(b"x")
        raise RuntimeError("mine")
