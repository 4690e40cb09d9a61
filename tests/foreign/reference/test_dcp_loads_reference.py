"""Distributed checkpoints that the Amazon S3 Connector saved load with Penstock, bit for bit."""

from __future__ import annotations

import os
from types import SimpleNamespace
from unittest import mock

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from penstock.dcp import S3StorageReader
from penstock.testing import Emulator
from s3torchconnector.dcp import S3StorageReader as ConnectorReader
from s3torchconnector.dcp import S3StorageWriter as ConnectorWriter
from s3torchconnector.dcp.s3_prefix_strategy import BinaryPrefixStrategy, RoundRobinPrefixStrategy
from torch.distributed.checkpoint.filesystem import FileSystemReader


@pytest.fixture(scope="module")
def checkpoints():
    with Emulator() as emulator:
        emulator.client().create_bucket("checkpoints")
        with mock.patch.dict(os.environ, emulator.environment()):
            yield SimpleNamespace(emulator=emulator, uri="s3://checkpoints/run")


def random_state(value: float) -> dict:
    torch.manual_seed(int(value))
    model = {
        "weight": torch.randn(300, 200) * value,
        "bias": torch.randn(200).to(torch.bfloat16),
        "transposed": torch.randn(20, 30).t(),
    }
    return {"model": model, "empty": torch.zeros(0, 4), "scalar": torch.tensor(value), "step": int(value)}


def zeroed_state() -> dict:
    model = {"weight": torch.zeros(300, 200), "bias": torch.zeros(200, dtype=torch.bfloat16), "transposed": torch.zeros(30, 20)}
    return {"model": model, "empty": torch.zeros(0, 4), "scalar": torch.tensor(0.0), "step": 0}


def check_equal(loaded: dict, saved: dict) -> None:
    assert loaded["step"] == saved["step"]
    assert torch.equal(loaded["scalar"], saved["scalar"])
    for name, value in saved["model"].items():
        assert torch.equal(loaded["model"][name].view(torch.uint8), value.contiguous().view(torch.uint8)), name


STRATEGIES = {
    "default": lambda: None,
    "round robin": lambda: RoundRobinPrefixStrategy(user_prefixes=["a", "b"]),
    "binary": lambda: BinaryPrefixStrategy(epoch_num=4),
}


class ReadByTorch(S3StorageReader):
    """Penstock's readers, called as torch's loop calls them."""

    read_data = FileSystemReader.read_data


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_our_reader_loads_what_the_reference_saved(checkpoints, strategy, threads):
    saved = random_state(threads + 1)
    uri = f"{checkpoints.uri}/{threads}-{id(strategy)}"
    writer = ConnectorWriter("us-east-1", uri, prefix_strategy=strategy(), thread_count=threads)
    dcp.save(saved, storage_writer=writer, no_dist=True)
    loaded = zeroed_state()
    dcp.load(loaded, storage_reader=S3StorageReader("us-east-1", uri), no_dist=True)
    check_equal(loaded, saved)


def test_all_reader_constructors_load_the_same(checkpoints):
    saved = random_state(7)
    uri = f"{checkpoints.uri}/kinds"
    dcp.save(saved, storage_writer=ConnectorWriter("us-east-1", uri), no_dist=True)
    kinds = penstock.S3ReaderConstructor
    for constructor in (None, kinds.dcp_optimized(), kinds.sequential(), kinds.range_based()):
        loaded = zeroed_state()
        dcp.load(loaded, storage_reader=S3StorageReader("us-east-1", uri, reader_constructor=constructor), no_dist=True)
        check_equal(loaded, saved)
    loaded = zeroed_state()
    dcp.load(loaded, storage_reader=ConnectorReader("us-east-1", uri), no_dist=True)
    check_equal(loaded, saved)


def test_dcp_optimized_readers_send_as_many_requests_as_the_reference(checkpoints):
    """Penstock sends as many requests as the connector with the same plan and gap."""
    saved = {f"{i:02}": torch.randn(5000) for i in range(12)}
    uri = f"{checkpoints.uri}/pattern"
    dcp.save(saved, storage_writer=ConnectorWriter("us-east-1", uri), no_dist=True)
    from s3torchconnector.s3reader import S3ReaderConstructor as ConnectorConstructor

    def requests(reader, constructor) -> int:
        wanted = {key: torch.zeros(5000) for key in ("00", "01", "04", "11")}
        last_entry = max(entry.number for entry in checkpoints.emulator.journal().entries())
        dcp.load(wanted, storage_reader=reader("us-east-1", uri, reader_constructor=constructor), no_dist=True)
        assert all(torch.equal(wanted[key], saved[key]) for key in wanted)
        entries = checkpoints.emulator.journal().entries(after=last_entry, operations="GetObject")
        return sum(entry.key.endswith(".distcp") for entry in entries)

    for gap, expected in ((0, 3), (50_000, 2), (float("inf"), 1)):
        assert requests(S3StorageReader, penstock.S3ReaderConstructor.dcp_optimized(gap)) == expected
        assert requests(ConnectorReader, ConnectorConstructor.dcp_optimized(gap)) == expected


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [("sequential", ()), ("range_based", ()), ("range_based", (0,)), ("range_based", (100_000,))],
    ids=["sequential", "range_based", "range_based(0)", "range_based(100000)"],
)
def test_readers_request_the_references_ranges(checkpoints, kind, arguments):
    saved = {f"{i:02}": torch.randn(5000) for i in range(12)}
    uri = f"{checkpoints.uri}/ranges-{kind}-{len(arguments) and arguments[0]}"
    dcp.save(saved, storage_writer=ConnectorWriter("us-east-1", uri), no_dist=True)
    from s3torchconnector.s3reader import S3ReaderConstructor as ConnectorConstructor

    def requests(reader, constructors) -> list[tuple[str, object]]:
        wanted = {key: torch.zeros(5000) for key in ("00", "01", "04", "11")}
        last_entry = checkpoints.emulator.journal().last
        constructor = getattr(constructors, kind)(*arguments)
        dcp.load(wanted, storage_reader=reader("us-east-1", uri, reader_constructor=constructor), no_dist=True)
        assert all(torch.equal(wanted[key], saved[key]) for key in wanted)
        entries = checkpoints.emulator.journal().entries(after=last_entry)
        return [(entry.operation, entry.range) for entry in entries if entry.key.endswith(".distcp")]

    connector_requests = requests(ConnectorReader, ConnectorConstructor)
    assert len(connector_requests) == {(): 1 if kind == "sequential" else 2, (0,): 85, (100_000,): 6}[arguments]
    assert requests(ReadByTorch, penstock.S3ReaderConstructor) == connector_requests
    # S3StorageReader's loop reads a whole item at once, to verify it.
    penstock_requests = requests(S3StorageReader, penstock.S3ReaderConstructor)
    assert len(penstock_requests) == {(): len(connector_requests), (0,): 5, (100_000,): 4}[arguments]
