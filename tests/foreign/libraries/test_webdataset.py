"""webdataset and penstock.data on the same shards: equal samples; and webdataset's readers and writers on our client."""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import penstock
import pytest
import webdataset
from penstock.data import S3TarDataset, register_webdataset
from penstock.testing import Emulator
from torch.utils.data import DataLoader
from webdataset.gopen import gopen_schemes

LONG = "a-folder-of-a-name-longer-than-100-bytes/" * 4
_numbers = itertools.count()


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        yield instance


@pytest.fixture
def bucket(emulator: Emulator) -> Iterator[str]:
    name = f"webdataset-{next(_numbers)}"
    emulator.client().create_bucket(name)
    register_webdataset("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())
    yield name
    del gopen_schemes["s3"]


def put(emulator: Emulator, bucket: str, key: str, data: bytes) -> None:
    with emulator.client().put_object(bucket, key) as writer:
        writer.write(data)


def ours(emulator: Emulator, uris: str | list[str], **options: Any) -> list[dict[str, Any]]:
    settings = {"endpoint": emulator.endpoint, "s3client_config": emulator.config()} | options
    return list(S3TarDataset.from_objects(uris, region="us-east-1", **settings))


def theirs(uris: str | list[str], **options: Any) -> list[dict[str, Any]]:
    return list(webdataset.WebDataset(uris, shardshuffle=False, **options))


def equal_samples(emulator: Emulator, uris: str | list[str], **options: Any) -> list[dict[str, Any]]:
    """The samples that both read, which are equal, in their order and in the order of their files too."""
    found, expected = ours(emulator, uris, **options), theirs(uris, **options)
    assert [list(sample.items()) for sample in found] == [list(sample.items()) for sample in expected]
    return found


def test_shards_of_webdatasets_writer(emulator: Emulator, bucket: str) -> None:
    """The writer too writes through our client."""
    with webdataset.ShardWriter(f"s3://{bucket}/train-%06d.tar", maxcount=7, verbose=0) as sink:
        for number in range(20):
            image = random.Random(number).randbytes(20_000 + 1000 * number)
            sink.write({"__key__": f"set/{number:04}", "jpg": image, "cls": number, "json": {"number": number}})
    samples = equal_samples(emulator, f"s3://{bucket}/train-{{000000..000002}}.tar")
    assert [sample["__key__"] for sample in samples] == [f"set/{number:04}" for number in range(20)]
    assert [json.loads(sample["json"])["number"] for sample in samples] == list(range(20))


def test_a_shard_that_an_exception_closes_is_not_published(emulator: Emulator, bucket: str) -> None:
    with (
        pytest.raises(KeyError, match="inside"),
        webdataset.ShardWriter(f"s3://{bucket}/train-%06d.tar", maxcount=2, verbose=0) as sink,
    ):
        for number in range(3):
            sink.write({"__key__": str(number), "cls": number})
        raise KeyError("inside")
    listed = emulator.client().list_objects(bucket)
    assert [info.key for page in listed for info in page.object_info] == ["train-000000.tar"]


@pytest.mark.skipif(shutil.which("tar") is None, reason="needs GNU tar")
@pytest.mark.parametrize("kind", ["v7", "oldgnu", "gnu", "ustar", "posix"])
def test_shards_of_gnu_tar(emulator: Emulator, bucket: str, tmp_path: Path, kind: str) -> None:
    long = [] if kind in ("v7", "ustar") else [LONG + "long.bin", LONG + "ä.txt"]
    names = [
        "a.bin",
        "a.txt",
        "dir.d/b.seg.PNG",
        "dir.d/b.cls",
        "dir.d/.hidden",
        "README",
        "d" * 60 + "/" + "n" * 30 + ".x",
        *long,
    ]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode() * 300)
    (tmp_path / "link.txt").symlink_to("a.txt")
    order = ["--sort=name", "."] if kind == "gnu" else [*names, "dir.d", "link.txt"]
    done = subprocess.run(["tar", f"--format={kind}", "-cf", "-", *order], cwd=tmp_path, capture_output=True, check=True)
    put(emulator, bucket, "gnu.tar", done.stdout)
    assert equal_samples(emulator, f"s3://{bucket}/gnu.tar")


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=["ustar", "gnu", "pax"])
@pytest.mark.parametrize("seed", range(4))
def test_shards_of_pythons_tarfile_with_random_names(emulator: Emulator, bucket: str, kind: int, seed: int) -> None:
    chance = random.Random(seed)
    parts = ["a", "b.c", "__x__", ".d", "E", "", "__meta", "n" * 60, "ü", "é\u20ac", "x y", "__key__z"]
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w", format=kind) as archive:
        for number in range(60):
            folder = "".join(chance.choice(parts) + "/" for _ in range(chance.randrange(3)))
            name = f"{folder}{chance.choice(parts)}{number // 3}{chance.choice(['.JPG', '.seg.png', '', '.', '.cls'])}"
            info = tarfile.TarInfo(f"{name}{number}" if "." in name else name)
            info.type = chance.choice([tarfile.REGTYPE] * 6 + [tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.AREGTYPE])
            info.linkname = "a"
            info.size = chance.randrange(3000) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(chance.randbytes(info.size)))
    put(emulator, bucket, "python.tar", memory.getvalue())
    assert len(equal_samples(emulator, f"s3://{bucket}/python.tar")) > 10


def test_selecting_and_renaming(emulator: Emulator, bucket: str) -> None:
    with webdataset.TarWriter(f"s3://{bucket}/a.tar") as sink:
        for number in range(10):
            sink.write({"__key__": f"x/{number}", "txt": "text", "cls": number})
    options = {"rename_files": lambda name: name.replace("x/", "y/"), "select_files": lambda name: "3" not in name}
    samples = equal_samples(emulator, f"s3://{bucket}/a.tar", **options)
    assert [sample["__key__"] for sample in samples] == [f"y/{number}" for number in range(10) if number != 3]


def test_webdatasets_decoders_and_handlers(emulator: Emulator, bucket: str) -> None:
    with webdataset.TarWriter(f"s3://{bucket}/a.tar") as sink:
        for number in range(5):
            sink.write({"__key__": str(number), "cls": number, "json": {"n": number}})
    put(emulator, bucket, "b.tar", b"no archive" * 100)
    uris = [f"s3://{bucket}/a.tar", f"s3://{bucket}/b.tar", f"s3://{bucket}/a.tar"]
    decoder = webdataset.autodecode.Decoder([webdataset.autodecode.basichandlers])
    samples = ours(emulator, uris, decode=decoder, handler=webdataset.ignore_and_continue)
    assert [sample["json"]["n"] for sample in samples] == [*range(5), *range(5)]
    with pytest.raises(penstock.S3DataLossError, match=r"b\.tar is damaged or incomplete at offset 0"):
        ours(emulator, uris, handler=webdataset.reraise_exception)


def test_a_webdataset_in_workers_reads_large_shards(emulator: Emulator, bucket: str) -> None:
    data = os.urandom(1 << 20)
    for shard in range(2):
        with webdataset.TarWriter(f"s3://{bucket}/{shard}.tar") as sink:
            for number in range(24):
                sink.write({"__key__": f"{shard}-{number}", "bin": data[number:]})
    dataset = webdataset.WebDataset(f"s3://{bucket}/{{0..1}}.tar", shardshuffle=False, nodesplitter=webdataset.split_by_node)
    loader = DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context="fork")
    found = {sample["__key__"]: sample["bin"] for sample in loader}
    assert found == {f"{shard}-{number}": data[number:] for shard in range(2) for number in range(24)}


def test_errors_of_webdatasets_streams_name_the_url(bucket: str) -> None:
    with pytest.raises(penstock.S3NotFoundError, match=f"s3://{bucket}/none.tar"):
        theirs(f"s3://{bucket}/none.tar")
    with pytest.raises(ValueError, match="names a bucket and no object"):
        webdataset.gopen(f"s3://{bucket}")
    with pytest.raises(TypeError, match="unknown option 'timeout'"):
        webdataset.gopen(f"s3://{bucket}/a.tar", timeout=3)
