"""Checkpoints between Python's torch and safetensors and the C++ library, through the example program `convert`.

Each format is written by Python, read and written in every format by C++, and read by Python again. Bits are compared.
"""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, keys, put
from penstock import S3Client
from penstock.dcp import S3StorageReader, S3StorageWriter
from penstock.testing import Emulator

safetensors_torch = pytest.importorskip("safetensors.torch")

PROGRAMS = Path(os.environ["PENSTOCK_BUILD_DIR"], "examples/cpp")
pytestmark = pytest.mark.skipif(not (PROGRAMS / "convert").exists(), reason="built without PENSTOCK_EXAMPLES or PENSTOCK_TORCH")

DTYPES = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex128, torch.bool),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.uint64),
    *(torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz),
]
NOT_IN_SAFETENSORS = {torch.complex128}


def filled(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Returns a tensor of random bits, also of NaNs; of a bool, of random values."""
    count = torch.Size(shape).numel()
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, dtype=torch.uint8).to(torch.bool)
    return torch.randint(0, 256, (count * dtype.itemsize,), dtype=torch.uint8).view(dtype).view(shape)


def tensors(dtypes: list[torch.dtype]) -> dict[str, torch.Tensor]:
    torch.manual_seed(7)
    made: dict[str, torch.Tensor] = {}
    for dtype in dtypes:
        name = str(dtype).removeprefix("torch.")
        made[f"{name}.matrix"] = filled(dtype, 5, 7)
        made[f"{name}.scalar"] = filled(dtype)
        made[f"{name}.empty"] = filled(dtype, 0, 3)
    made["large"] = filled(torch.float32, 1500, 1700)  # 10 MB
    made['größe/"quoted"\n'] = filled(torch.int8, 3)
    return made


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def assert_same(loaded: dict[str, Any], saved: dict[str, torch.Tensor]) -> None:
    assert set(loaded) == set(saved)
    for name, tensor in saved.items():
        assert (loaded[name].dtype, loaded[name].shape) == (tensor.dtype, tensor.shape), name
        assert bits(loaded[name]) == bits(tensor), name


class Formats:
    """Saves and loads in Python, and converts in C++."""

    def __init__(self, emulator: Emulator, client: S3Client, bucket: str) -> None:
        self._emulator = emulator
        self._client = client
        self._bucket = bucket

    def uri(self, key: str) -> str:
        return f"s3://{self._bucket}/{key}"

    def put(self, key: str, data: bytes) -> None:
        put(self._client, self._bucket, key, data)

    def get(self, key: str) -> bytes:
        return get(self._client, self._bucket, key)

    def shard(self) -> str:
        """The key of the shard in "in/"; a save removes the earlier one."""
        (shard,) = (key for key in keys(self._client, self._bucket, "in/") if key.endswith(".distcp"))
        return shard

    def save(self, format: str, state: dict[str, Any]) -> None:
        if format == "torch":
            file = io.BytesIO()
            torch.save(state, file)
            self.put("in", file.getvalue())
        elif format == "safetensors":
            self.put("in", safetensors_torch.save(state))
        else:
            writer = S3StorageWriter("us-east-1", self.uri("in"), endpoint=self._emulator.endpoint)
            dcp.save(dict(state), storage_writer=writer, no_dist=True)

    def load(self, format: str, like: dict[str, Any]) -> dict[str, Any]:
        if format == "torch":
            return torch.load(io.BytesIO(self.get("out")), weights_only=True)  # type: ignore[no-any-return]
        if format == "safetensors":
            return safetensors_torch.load(self.get("out"))  # type: ignore[no-any-return]
        state = {name: torch.zeros_like(value) if isinstance(value, torch.Tensor) else None for name, value in like.items()}
        reader = S3StorageReader("us-east-1", self.uri("out"), endpoint=self._emulator.endpoint)
        dcp.load(state, storage_reader=reader, no_dist=True)
        return state

    def convert(self, source: str, target: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [
            str(PROGRAMS / "convert"),
            "--from",
            f"{source}:{self.uri('in')}",
            "--to",
            f"{target}:{self.uri('out')}",
            *options,
        ]
        return self.run(command)

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        command += ["--endpoint", self._emulator.endpoint, "--region", "us-east-1"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=self.environment, check=False)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "OMP_NUM_THREADS": "1", **self._emulator.environment()}


@pytest.fixture
def formats(emulator: Emulator, client: S3Client, bucket: str, monkeypatch: pytest.MonkeyPatch) -> Formats:
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    return Formats(emulator, client, bucket)


@pytest.mark.parametrize("target", ["torch", "safetensors", "dcp"])
@pytest.mark.parametrize("source", ["torch", "safetensors", "dcp"])
def test_tensors_of_every_dtype_survive_a_conversion(formats: Formats, source: str, target: str) -> None:
    both = source, target
    saved = tensors([dtype for dtype in DTYPES if "safetensors" not in both or dtype not in NOT_IN_SAFETENSORS])
    formats.save(source, saved)
    done = formats.convert(source, target)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(saved)} tensors, 0 values\n"
    assert_same(formats.load(target, saved), saved)


def test_strides_and_shared_storages_are_kept(formats: Formats) -> None:
    base = torch.arange(24, dtype=torch.float32)
    images = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    saved = {
        "base": base,
        "view": base[4:16:2],
        "transposed": base.view(4, 6).t(),
        "expanded": base[:3].expand(2, 3),
        "images": images,
    }
    formats.save("torch", saved)
    assert formats.convert("torch", "torch").returncode == 0
    loaded = formats.load("torch", saved)
    assert_same(loaded, saved)
    assert {name: each.stride() for name, each in loaded.items()} == {name: each.stride() for name, each in saved.items()}
    loaded["base"].fill_(9)
    assert (loaded["view"] == 9).all() and (loaded["expanded"] == 9).all()


def test_non_contiguous_tensors_of_distributed_checkpoints_are_loaded(formats: Formats) -> None:
    saved = {"small": torch.randn(5, 3).t(), "large": torch.randn(700, 900).t(), "images": torch.randn(2, 64, 32, 32)}
    saved["images"] = saved["images"].to(memory_format=torch.channels_last)
    formats.save("dcp", saved)
    assert formats.convert("dcp", "torch").returncode == 0
    assert_same(formats.load("torch", saved), saved)


def test_nested_names_are_joined_and_plain_values_are_kept(formats: Formats) -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "name": "run", "best": None, "lr": 0.5}
    for format in ("torch", "dcp"):
        formats.save(format, state)
        done = formats.convert(format, "torch")
        assert done.returncode == 0, done.stderr
        loaded = formats.load("torch", {})
        assert torch.equal(loaded["model.weight"], model.weight)
        assert torch.equal(loaded["optimizer.state.0.exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"])
        assert (loaded["epoch"], loaded["name"], loaded["best"], loaded["lr"]) == (3, "run", None, 0.5)
        assert loaded["optimizer.param_groups.0.betas.1"] == 0.999


def test_values_are_saved_in_distributed_checkpoints(formats: Formats) -> None:
    state = {"a": torch.ones(2), "step": 7, "name": "run", "rate": 0.25, "flag": True}
    formats.save("torch", state)
    assert formats.convert("torch", "dcp").returncode == 0
    loaded = formats.load("dcp", state)
    assert torch.equal(loaded.pop("a"), state.pop("a"))
    assert loaded == state


def test_what_a_safetensors_file_will_lack_is_named(formats: Formats) -> None:
    formats.save("torch", {"a": torch.ones(2), "step": 7})
    done = formats.convert("torch", "safetensors")
    assert (done.returncode, done.stdout) == (0, "1 tensors, 0 values\n"), done.stderr
    assert "'step' is not a tensor and is not saved" in done.stderr
    formats.put("in", safetensors_torch.save({"a": torch.ones(2)}, {"license": "MIT"}))
    done = formats.convert("safetensors", "safetensors")
    assert done.returncode == 0, done.stderr
    assert "__metadata__ of the file is not copied" in done.stderr


class Foreign:
    """A class that a pickle names."""


def test_other_objects_are_refused_with_their_name(formats: Formats) -> None:
    formats.save("torch", {"model.a": torch.ones(2), "args": Foreign()})
    done = formats.convert("torch", "torch")
    assert done.returncode == 1
    assert "'args' is a test_cpp_checkpoints.Foreign" in done.stderr
    assert formats.convert("torch", "torch", "--prefix", "model.").returncode == 0
    assert list(formats.load("torch", {})) == ["model.a"]


def test_files_of_other_formats_are_named(formats: Formats) -> None:
    saved = {"a": torch.ones(2)}
    formats.save("torch", saved)
    assert "file of torch.save, not a safetensors file; use LoadStateDict" in formats.convert("safetensors", "torch").stderr
    assert "use LoadStateDict" in formats.convert("dcp", "torch").stderr
    formats.save("safetensors", saved)
    assert "safetensors file, not a file of torch.save; use LoadSafetensors" in formats.convert("torch", "torch").stderr
    script = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), script)
    formats.put("in", script.getvalue())
    assert "TorchScript archive" in formats.convert("torch", "torch").stderr
    legacy = io.BytesIO()
    torch.save(saved, legacy, _use_new_zipfile_serialization=False)
    formats.put("in", legacy.getvalue())
    assert "format before torch 1.6" in formats.convert("torch", "torch").stderr


def test_unusual_tensors_are_refused_and_not_called_corrupt(formats: Formats) -> None:
    for tensor in (torch.eye(3).to_sparse(), torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8)):
        formats.save("torch", {"x": tensor})
        done = formats.convert("torch", "torch")
        assert done.returncode == 1
        assert "'x': a tensor is rebuilt by torch._utils._rebuild_" in done.stderr
        assert "corrupt" not in done.stderr


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_every_protocol_are_read(formats: Formats, protocol: int) -> None:
    saved = {"a": torch.randn(3), "b": torch.zeros(2, dtype=torch.float8_e5m2)}
    file = io.BytesIO()
    torch.save(saved, file, pickle_protocol=protocol)
    formats.put("in", file.getvalue())
    done = formats.convert("torch", "torch")
    assert done.returncode == 0, done.stderr
    assert_same(formats.load("torch", saved), saved)


def test_a_flipped_bit_of_a_tensor_is_found(formats: Formats) -> None:
    saved = {"large": filled(torch.float32, 500, 500), "small": filled(torch.float32, 5)}
    for name, tensor in saved.items():
        for format in ("torch", "dcp"):
            formats.save(format, saved)
            key = "in" if format == "torch" else formats.shard()
            data = bytearray(formats.get(key))
            data[data.find(bits(tensor)) + 7] ^= 4
            formats.put(key, bytes(data))
            done = formats.convert(format, "torch")
            assert done.returncode == 1, (format, name)
            assert "CRC-32" in done.stderr, done.stderr


def test_the_inference_example_computes_what_python_computes(formats: Formats) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    formats.save("dcp", {"model": model.state_dict(), "step": 3})
    done = formats.run([str(PROGRAMS / "infer"), "--checkpoint", formats.uri("in"), "--input", "1,-2,3.5,4"])
    assert done.returncode == 0, done.stderr
    with torch.no_grad():
        expected = model(torch.tensor([[1, -2, 3.5, 4]]))[0]
    assert torch.allclose(torch.tensor([float(line) for line in done.stdout.split()]), expected, atol=1e-5)
