"""The node cache: what a second reading requests, and what happens to damaged files, replaced objects and full disks."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import penstock
import pytest
from bucket_io import put
from command_runs import Penstock
from penstock.testing import Emulator, Journal
from torch.utils.data import DataLoader

MIB = 1024**2
LONG = bool(os.environ.get("PENSTOCK_LONG"))
KILLS = 2_000 if LONG else 6
SIZES = {"a": 3 * MIB + 17, "b": 100_000, "c": MIB, "d": 1, "e": 12 * MIB}


@pytest.fixture
def cached(client: penstock.S3Client, tmp_path: Path) -> penstock.S3Client:
    config = replace(client.s3client_config, cache=str(tmp_path / "cache"), cache_size="256MiB", hedge_reads=False)
    return penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=config)


@pytest.fixture
def journal(emulator: Emulator) -> Journal:
    return emulator.journal()


@pytest.fixture
def objects(client: penstock.S3Client, bucket: str) -> dict[str, bytes]:
    data = {key: random.Random(key).randbytes(size) for key, size in SIZES.items()}
    for key, content in data.items():
        put(client, bucket, key, content)
    return data


def _received(journal: Journal, bucket: str, after: int) -> int:
    """Returns the bytes of objects that were sent."""
    return sum(entry.bytes_out for entry in journal.entries(operations="GetObject", bucket=bucket, after=after))


def _blocks(cached: penstock.S3Client) -> Iterator[Path]:
    folder = Path(cached.s3client_config.cache or "") / "v2"
    return (path for path in folder.glob("??/*") if path.is_file())


def _dataset(kind: type, cached: penstock.S3Client, bucket: str, **more: object):
    return kind.from_prefix(
        f"s3://{bucket}/", region=cached.region, endpoint=cached.endpoint, s3client_config=cached.s3client_config,
        transform=_key_and_digest, **more,
    )  # fmt: skip


def _key_and_digest(reader: penstock.S3Reader) -> tuple[str, str]:
    return reader.key, hashlib.sha256(reader.read()).hexdigest()


def _digests(objects: dict[str, bytes]) -> list[tuple[str, str]]:
    return sorted((key, hashlib.sha256(data).hexdigest()) for key, data in objects.items())


@pytest.mark.parametrize("kind", [penstock.S3MapDataset, penstock.S3IterableDataset])
def test_a_second_epoch_sends_no_request_for_data(cached, bucket, objects, journal, kind):
    for epoch in range(2):
        dataset = _dataset(kind, cached, bucket)
        after = journal.last
        read = list(dataset) if kind is penstock.S3IterableDataset else [dataset[i] for i in range(len(dataset))]
        assert sorted(read) == _digests(objects)
        assert _received(journal, bucket, after) == (sum(SIZES.values()) if epoch == 0 else 0)
        if epoch == 1:
            assert journal.count(operations="GetObject", bucket=bucket, after=after) == 0


@pytest.mark.parametrize("kind", [penstock.S3MapDataset, penstock.S3IterableDataset])
def test_data_loader_workers_share_the_cache(cached, bucket, objects, journal, kind):
    dataset = _dataset(kind, cached, bucket, **({"enable_sharding": True} if kind is penstock.S3IterableDataset else {}))
    after = journal.last
    for _ in range(3):
        loader = DataLoader(dataset, batch_size=None, num_workers=2, shuffle=kind is penstock.S3MapDataset)
        assert sorted(map(tuple, loader)) == _digests(objects)
    assert _received(journal, bucket, after) == sum(SIZES.values())


def test_get_object_asks_for_the_version_only(cached, bucket, objects, journal):
    hits = 0
    for first in (True, False):
        after = journal.last
        hits = cached.metrics()["cache"]["hit_bytes"]
        for key, data in objects.items():
            assert cached.get_object(bucket, key).read() == data
        assert _received(journal, bucket, after) == (sum(SIZES.values()) if first else 0)
        assert journal.count(operations="HeadObject", bucket=bucket, after=after) == len(SIZES)
    assert cached.metrics()["cache"]["hit_bytes"] - hits == sum(SIZES.values())


def test_eight_processes_download_each_byte_once(client, cached, bucket, objects, journal):
    command = [sys.executable, str(Path(__file__).with_name("cache_worker.py")), client.endpoint or ""]
    environment = _environment(client)
    after = journal.last
    workers = [
        subprocess.Popen(
            [*command, cached.s3client_config.cache or "", bucket, "", "1"], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    for worker in workers:
        out, _ = worker.communicate(timeout=100)
        assert worker.returncode == 0
        assert sorted(tuple(line.split()) for line in out.splitlines()) == _digests(objects)
    assert _received(journal, bucket, after) == sum(SIZES.values())


def _environment(client: penstock.S3Client) -> dict[str, str]:
    config = client.s3client_config
    return os.environ | {
        "AWS_ACCESS_KEY_ID": config.access_key_id or "",
        "AWS_SECRET_ACCESS_KEY": config.secret_access_key or "",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }


def test_a_killed_process_leaves_no_wrong_byte(client, cached, bucket, objects):
    """Kills a reader KILLS times, each time after another number of objects and at an arbitrary moment of the next."""
    digests = set(_digests(objects))
    random_kill = random.Random(5)
    command = [sys.executable, str(Path(__file__).with_name("cache_worker.py")), client.endpoint or ""]
    for _ in range(KILLS):
        arguments = [*command, cached.s3client_config.cache or "", bucket, "", "100"]
        with subprocess.Popen(arguments, env=_environment(client), stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            for _ in range(random_kill.randrange(1, 3 * len(SIZES))):
                assert tuple(worker.stdout.readline().split()) in digests
            if random_kill.random() < 0.5:  # so that the next process has to download
                for block in sorted(_blocks(cached))[:2]:
                    block.unlink(missing_ok=True)
            worker.kill()
        for key, data in objects.items():
            assert cached.get_object(bucket, key).read() == data
    assert penstock._core.cache_verify(cached.s3client_config.cache or "")["damaged"] == 0


def test_a_replaced_object_is_read_anew(client, cached, bucket):
    for version in (b"one" * 1000, b"two" * 5000, b"3" * 3000):
        put(client, bucket, "k", version)
        for _ in range(2):
            assert cached.get_object(bucket, "k").read() == version


def test_damaged_blocks_are_downloaded_again(cached, bucket, objects, tmp_path):
    for key, data in objects.items():
        assert cached.get_object(bucket, key).read() == data
    damage = random.Random(3)
    for block in sorted(_blocks(cached)):
        content = bytearray(block.read_bytes())
        content[damage.randrange(len(content))] ^= 0x40
        block.write_bytes(content)
    again = penstock.S3Client(cached.region, endpoint=cached.endpoint, s3client_config=cached.s3client_config)
    for key, data in objects.items():
        assert again.get_object(bucket, key).read() == data
    stats = penstock._core.cache_stats(cached.s3client_config.cache or "")
    assert stats["damaged"] == sum(-(-size // MIB) for size in SIZES.values())


def test_reads_survive_a_full_disk(client, bucket, objects, tmp_path):
    """Writes fail as on a full disk: after the first half of each block."""
    program = f"""
import resource, signal, sys, runpy
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({MIB // 2}, {MIB // 2}))
sys.argv = ["cache_worker.py", {client.endpoint!r}, {str(tmp_path / "cache")!r}, {bucket!r}, "", "2"]
runpy.run_path({str(Path(__file__).with_name("cache_worker.py"))!r}, run_name="__main__")
"""
    run = subprocess.run(
        [sys.executable, "-c", program], env=_environment(client), stdout=subprocess.PIPE, text=True, timeout=100, check=True
    )
    assert sorted(tuple(line.split()) for line in run.stdout.splitlines()) == sorted(_digests(objects) * 2)
    stats = penstock._core.cache_stats(str(tmp_path / "cache"))
    assert stats["errors"] > 0
    assert penstock._core.cache_verify(str(tmp_path / "cache"))["damaged"] == 0


def test_a_cache_that_cannot_be_made_is_not_used(client, bucket, objects, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    config = replace(client.s3client_config, cache="/proc/penstock-cache")
    other = penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=config)
    assert other.get_object(bucket, "b").read() == objects["b"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cache": "relative/path"}, "must be an absolute path, not 'relative/path'"),
        ({"cache": "/nul\0character"}, "contains a NUL character"),
        ({"cache_size": "5MB"}, "cache_size must be None or 16777216 to .*, not 5000000"),
        ({"cache_size": 1}, "cache_size must be None or 16777216 to .*, not 1$"),
        ({"cache_size": "plenty"}, "cache_size must be a number of bytes, or a text such as .*; not 'plenty'"),
    ],
)
def test_wrong_cache_settings_are_refused(client, bucket, settings, message):
    config = replace(client.s3client_config, **settings)
    other = penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=config)
    with pytest.raises(penstock.S3InvalidArgumentError, match=message):
        other.head_object(bucket, "k")


def test_a_directory_that_others_may_write_is_refused(client, bucket, tmp_path):
    (tmp_path / "v2").mkdir()
    (tmp_path / "v2").chmod(0o777)
    config = replace(client.s3client_config, cache=str(tmp_path))
    other = penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=config)
    with pytest.raises(penstock.S3InvalidArgumentError, match="others may write to it"):
        other.head_object(bucket, "k")


def test_the_environment_turns_the_cache_on(client, bucket, objects, journal, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE_DIR", str(tmp_path / "of-environment"))
    monkeypatch.setenv("PENSTOCK_CACHE_SIZE", "20MB")
    other = penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=client.s3client_config)
    for _ in range(2):
        assert other.get_object(bucket, "a").read() == objects["a"]
    assert other.metrics()["cache"]["hit_bytes"] == SIZES["a"]
    off = replace(client.s3client_config, cache="")
    without = penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=off)
    assert without.get_object(bucket, "a").read() == objects["a"]
    assert without.metrics()["cache"]["hits"] == 0


def test_objects_with_a_customer_key_are_never_cached(client, bucket, tmp_path):
    config = replace(client.s3client_config, sse_customer_key=os.urandom(32), cache=str(tmp_path / "cache"))
    encrypted = penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=config)
    put(encrypted, bucket, "k", b"secret" * 1000)
    for _ in range(2):
        assert encrypted.get_object(bucket, "k").read() == b"secret" * 1000
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_cache_command(cached, bucket, objects, penstock_command: Penstock):
    directory = cached.s3client_config.cache or ""
    for key, data in objects.items():
        assert cached.get_object(bucket, key).read() == data
    listed = penstock_command("cache", "ls", "--directory", directory, "--json").documents
    assert {(row["bucket"], row["key"], row["cached_bytes"]) for row in listed} == {
        (bucket, key, size) for key, size in SIZES.items()
    }
    assert f"s3://{bucket}/a" in penstock_command("cache", "ls", "--directory", directory).out
    (stats,) = penstock_command("cache", "stats", "--directory", directory, "--json").documents
    assert stats["miss_bytes"] == sum(SIZES.values())
    assert "of the bytes that were read" in penstock_command("cache", "stats", "--directory", directory).out
    assert "0 blocks, 0 B: damaged" in penstock_command("cache", "verify", "--directory", directory).out
    next(_blocks(cached)).write_bytes(b"damaged")
    assert penstock_command("cache", "verify", "--directory", directory, "--json", status=1).documents[0]["damaged"] == 1
    (pruned,) = penstock_command("cache", "prune", "--directory", directory, "--keep", "0", "--json").documents
    assert pruned["kept_bytes"] == 0
    assert not list(_blocks(cached))


def test_the_cache_command_names_what_is_missing(penstock_command: Penstock, tmp_path, monkeypatch):
    monkeypatch.delenv("PENSTOCK_CACHE_DIR", raising=False)
    assert "give --directory DIR" in penstock_command("cache", "ls", status=2).err
    assert str(tmp_path) in penstock_command("cache", "stats", "--directory", tmp_path, status=1).err
    assert "prune needs --keep SIZE" in penstock_command("cache", "prune", "--directory", tmp_path, status=2).err
