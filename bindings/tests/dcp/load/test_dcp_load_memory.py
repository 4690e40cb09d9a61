"""Memory use of a load in addition to its tensors is bounded, with any conversion and size."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import penstock
import pytest
import torch
from checkpoints import Checkpoints
from penstock.dcp import _load
from penstock.testing import Emulator

MIB = 1024**2


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket)


def peak_above(emulator: Emulator, uri: str, dtype: str, elements: int) -> int:
    """Returns the peak memory, in MiB, that loading one tensor of `dtype` adds to a process that holds the tensor."""
    program = f"""
        import threading, time, torch, penstock
        import torch.distributed.checkpoint as dcp
        from penstock.dcp import S3StorageReader
        config = penstock.S3ClientConfig(
            access_key_id={emulator.access_key_id!r}, secret_access_key={emulator.secret_access_key!r})
        reader = S3StorageReader("us-east-1", {uri!r}, config, endpoint={emulator.endpoint!r})
        dcp.load({{"small": torch.zeros(3)}}, storage_reader=reader, no_dist=True)
        state = {{"large": torch.zeros({elements}, dtype=torch.{dtype}).fill_(1)}}
        def memory_fields():
            with open("/proc/self/status") as status:
                return {{line.split()[0]: int(line.split()[1]) for line in status if line.startswith("Vm")}}
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        before = memory_fields()["VmRSS:"]
        dcp.load(state, storage_reader=reader, no_dist=True)
        assert state["large"][-1] == 7, state["large"][-1]
        print((memory_fields()["VmHWM:"] - before) // 1024)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("by_penstock", [False, True], ids=["torch", "penstock"])
def test_large_tensor_is_in_memory_once_even_if_converted(checkpoints: Checkpoints, by_penstock: bool) -> None:
    checkpoints.by_penstock = by_penstock
    elements = 50_000_000  # 200 MB
    uri = checkpoints.save({"large": torch.full((elements,), 7.0), "small": torch.ones(3)})
    assert peak_above(checkpoints.emulator, uri, "float32", elements) <= 64
    assert peak_above(checkpoints.emulator, uri, "bfloat16", elements) <= 160


def test_arena_waits_for_its_copies() -> None:
    class Event:
        waited = 0

        def synchronize(self) -> None:
            self.waited += 1

    arena = _load.Arena(64, pinned=False)
    event = Event()
    arena.events.append(event)
    arena.wait()
    assert event.waited == 1
    assert arena.events == []


def test_scratch_memory_is_bounded_and_reused(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    waits: list[int] = []

    class Arena(_load.Arena):
        def __init__(self, size: int, pinned: bool) -> None:
            super().__init__(size, pinned)
            made.append(size)

        def wait(self) -> None:
            waits.append(id(self))
            super().wait()

    monkeypatch.setattr(_load, "Arena", Arena)
    saved = {f"tensor {i}": torch.randn(3_000_000) for i in range(12)}
    uri = checkpoints.save(saved)
    state = {name: torch.zeros(3_000_000, dtype=torch.float64) for name in saved}
    checkpoints.load(state, uri)
    assert all(torch.equal(state[name], saved[name].double()) for name in saved)
    assert sum(made) <= 80 * MIB < sum(each.nbytes for each in saved.values())
    assert set(made) == {8 * MIB}
    assert len(waits) > len(made)  # each is waited for when it is reused, and once more at the end


DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.mark.parametrize("device", DEVICES)
def test_tensors_on_every_device_are_loaded(checkpoints: Checkpoints, device: str) -> None:
    """Tensors on a GPU are copied from pinned memory."""
    saved = {"large": torch.randn(10_000_000), "half": torch.randn(1000, 100), "step": 3}
    uri = checkpoints.save(saved)
    state = {
        "large": torch.zeros(10_000_000, device=device),
        "half": torch.zeros(1000, 100, device=device, dtype=torch.bfloat16),
        "step": 0,
    }
    checkpoints.load(state, uri)
    assert torch.equal(state["large"].cpu(), saved["large"])
    assert torch.equal(state["half"].cpu(), saved["half"].bfloat16())
