"""Tar shards: formats of archives, webdataset's rules, and damaged archives."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import penstock
import pytest
from bucket_io import put
from hypothesis import given, settings
from hypothesis import strategies as st
from penstock._listing import identity
from penstock.data._tar import Archive, Grouping, read_samples
from penstock.data._tar_dataset import reraise
from penstock.data._urls import expand_braces
from tar_shards import Shards, make_tar, sample_files

LONG = "a-folder-of-a-name-longer-than-100-bytes/" * 4
URL = "s3://bucket/a.tar"


def read(data: bytes, **options) -> list[dict[str, object]]:
    """The samples of an archive, without their URLs."""
    rules = {"rename_files": None, "select_files": None, "suffixes": None, "handler": reraise} | options
    found = read_samples(Archive(io.BytesIO(data), URL), URL, Grouping(**rules))
    return [{name: value for name, value in sample.items() if name != "__url__"} for sample, _, _ in found]


def sample(key: str, **files: bytes) -> dict[str, object]:
    return {"__key__": key, **files}


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=["ustar", "gnu", "pax"])
def test_pythons_archives(kind):
    names = ["short.txt", "dir/näme.txt", "d" * 90 + "/" + "n" * 90 + ".txt"]
    if kind != tarfile.USTAR_FORMAT:
        names += [LONG + "x.txt", LONG + "\u20ac.txt"]
    data = make_tar([(name, name.encode()) for name in names], format=kind)
    assert read(data) == [sample(name.removesuffix(".txt"), txt=name.encode()) for name in names]


@pytest.mark.skipif(shutil.which("tar") is None, reason="needs GNU tar")
@pytest.mark.parametrize("kind", ["v7", "oldgnu", "gnu", "ustar", "posix"])
def test_archives_of_gnu_tar(tmp_path: Path, kind: str) -> None:
    long = [] if kind in ("v7", "ustar") else [LONG + "long.bin"]
    names = ["a.bin", "b.bin", "empty.bin", "folder/c.bin", *long]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if name == "empty.bin" else name.encode() * 100)
    (tmp_path / "link.bin").symlink_to("a.bin")
    os.link(tmp_path / "a.bin", tmp_path / "twice.bin")
    order = ["a.bin", "folder", *(name for name in names if "/" not in name and name != "a.bin"), "link.bin", "twice.bin", *long]
    done = subprocess.run(["tar", f"--format={kind}", "-cf", "-", *order], cwd=tmp_path, capture_output=True, check=True)
    contents = {one["__key__"]: one["bin"] for one in read(done.stdout)}
    assert contents == {name.removesuffix(".bin"): (tmp_path / name).read_bytes() for name in names}


def test_large_numbers_and_negative_times():
    """Base-256 numbers, which GNU tar writes for times before 1970 and sizes from 8 GiB."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("a.txt")
        info.size, info.mtime, info.uid = 3, -5, 2**40
        archive.addfile(info, io.BytesIO(b"abc"))
    data = bytearray(memory.getvalue())
    data[124:136] = b"\x80" + (3).to_bytes(11, "big")  # the size
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    assert read(bytes(data)) == [sample("a", txt=b"abc")]


def test_webdatasets_rules_for_names():
    files = [
        ("__index__", b"skipped"),
        ("__meta__/x.txt", b"skipped"),
        ("a/__keep__.txt", b"kept"),
        ("no-suffix", b"skipped"),
        (".hidden", b"skipped"),
        ("a.b/c.seg.PNG", b"image"),
        ("a.b/c.cls", b"1"),
        ("a.b/d.cls", b"2"),
        ("a.b/c.cls", b"another sample"),
        ("e.", b"an empty suffix"),
        ("f.__bad__", b"marks the sample"),
        ("f.txt", b""),
    ]
    assert read(make_tar(files)) == [
        sample("a/__keep__", txt=b"kept"),
        {"__key__": "a.b/c", "seg.png": b"image", "cls": b"1"},
        sample("a.b/d", cls=b"2"),
        sample("a.b/c", cls=b"another sample"),
        {"__key__": "e", "": b"an empty suffix"},
    ]


def test_files_are_renamed_selected_and_kept_by_suffix():
    files = [("x/a.jpg", b"1"), ("x/a.txt", b"2"), ("y/b.jpg", b"3"), ("y/b.json", b"4")]
    data = make_tar(files)
    assert read(data, select_files=lambda name: name.startswith("y/")) == [sample("y/b", jpg=b"3", json=b"4")]
    assert read(data, suffixes=frozenset(["txt"])) == [sample("x/a", txt=b"2"), sample("y/b")]
    renamed = read(data, rename_files=lambda name: name.split("/")[1], select_files=lambda name: name.startswith("a"))
    assert renamed == [sample("a", jpg=b"1", txt=b"2")]


def test_two_files_with_one_suffix_are_an_error_unless_the_handler_continues():
    data = make_tar([("a.txt", b"1"), ("a.TXT", b"2"), ("b.txt", b"3")])
    with pytest.raises(
        ValueError, match=r"two files with the suffix 'txt' in the sample 'a', the second, 'a\.TXT', at offset 1024"
    ):
        read(data)
    assert read(data, handler=lambda error: True) == [sample("a", txt=b"1"), sample("b", txt=b"3")]


ENDINGS = [
    (0, "at offset 0: the archive ends without the block of zeros"),
    (100, "at offset 0: the archive ends within a header"),
    (512 + 300, r"at offset 512: the archive ends at offset 812, within the member '000/0000\.jpg' of 700 bytes"),
    (512 + 1024, "at offset 1536: the archive ends without the block of zeros"),
]


@pytest.mark.parametrize(("size", "message"), ENDINGS, ids=[str(size) for size, _ in ENDINGS])
def test_an_archive_that_ends_early_is_an_error(size, message):
    data = make_tar(sample_files(0, 3))
    with pytest.raises(penstock.S3DataLossError, match=rf"^{URL} is damaged or incomplete {message}") as caught:
        read(data[:size])
    assert (caught.value.bucket, caught.value.key) == ("bucket", "a.tar")


def test_no_end_is_silent():
    """Every prefix of an archive is an error, up to its end mark."""
    data = make_tar(sample_files(0, 2, size=10))
    end = len(data.rstrip(b"\0")) // 512 * 512 + 1024  # the first block of zeros follows the last member
    for size in range(0, end, 128):
        with pytest.raises(penstock.S3DataLossError):
            read(data[:size])
    assert len(read(data[:end])) == 2


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_header_is_an_error(choices):
    data = bytearray(make_tar(sample_files(0, 2)))
    headers = [at for at in range(0, len(data), 512) if data[at + 257 : at + 262] == b"ustar"]
    outside_checksum = st.integers(0, 147) | st.integers(156, 511)  # a leading zero of the checksum may be a space as well
    at = choices.draw(st.sampled_from(headers)) + choices.draw(outside_checksum)
    data[at] ^= choices.draw(st.integers(1, 255))
    with pytest.raises((penstock.S3DataLossError, ValueError)):
        read(bytes(data))


def test_a_hole_of_zeros_is_not_taken_for_the_end():
    data = bytearray(make_tar(sample_files(0, 4)))
    begin = data.index(b"000/0001.jpg")
    data[begin : begin + 1024] = bytes(1024)
    with pytest.raises(penstock.S3DataLossError, match=rf"at offset \d+: data follows the end mark at offset {begin}"):
        read(bytes(data))
    with pytest.raises(penstock.S3DataLossError, match="data follows the end mark"):
        read(make_tar(sample_files(0, 1)) * 2)  # two archives, of which other programs read one


@pytest.mark.parametrize("kind", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_name_without_its_member_is_an_error(kind):
    data = make_tar([("a.txt", b""), (LONG + "x.txt", b"")], format=kind)
    extension = data[512:1024]  # the header of the long name, which the next block has
    with pytest.raises(penstock.S3DataLossError, match="at offset 512: the archive ends after a long name or a pax header"):
        read(data[:512] + extension + data[1024:1536] + bytes(1024))


@pytest.mark.parametrize("size", ["99999999999999999999", "-1", "", "1.5"])
def test_a_pax_size_that_no_member_has_is_an_error(size):
    member = tarfile.TarInfo("a.txt")
    member.pax_headers = {"size": size}
    data = member.tobuf(tarfile.PAX_FORMAT) + bytes(1024)
    with pytest.raises(penstock.S3DataLossError, match="the pax header has an invalid size"):
        read(data)


def test_unsupported_archives_name_the_fix(tmp_path):
    data = make_tar(sample_files(0, 1))
    with pytest.raises(ValueError, match=r"is compressed \(gzip\): store archives uncompressed"):
        read(gzip.compress(data))
    with pytest.raises(ValueError, match="global pax header with the record 'path'"):
        read(make_tar([("a.txt", b"")], format=tarfile.PAX_FORMAT, pax_headers={"path": "x.txt"}))
    assert read(make_tar([("a.txt", b"")], format=tarfile.PAX_FORMAT, pax_headers={"comment": "x"})) == [sample("a", txt=b"")]
    with (tmp_path / "holes.bin").open("wb") as file:
        file.truncate(1 << 20)
    for kind in ("gnu", "posix"):
        command = ["tar", f"--format={kind}", "--sparse", "-cf", "-", "holes.bin"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        with pytest.raises(ValueError, match=r"sparse file 'holes\.bin' at offset \d+, which is not supported"):
            read(done.stdout)


def test_a_name_of_gigabytes_is_refused():
    data = bytearray(make_tar([(LONG + "x.txt", b"")], format=tarfile.GNU_FORMAT))
    data[124:136] = b"%011o\0" % (4 << 30)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    with pytest.raises(penstock.S3DataLossError, match="the name or pax header has 4294967296 bytes"):
        read(bytes(data))


def test_a_handler_continues_with_the_next_shard_or_ends(emulator, client, bucket):
    good, bad = make_tar(sample_files(0, 2)), make_tar(sample_files(1, 3))[:2500]
    for number, data in enumerate([good, bad, good]):
        put(client, bucket, f"s/{number}.tar", data)
    shards = Shards(emulator, bucket, [])
    errors = []

    def keys(result):
        def handler(error):
            errors.append(str(error))
            return result

        return [one["__key__"] for one in shards.dataset("s/", decode=identity, handler=handler)]

    assert keys(True) == ["000/0000", "000/0001", "000/0000", "000/0001"]
    assert keys(False) == ["000/0000", "000/0001"]
    assert errors[0] == errors[1]
    assert errors[0].startswith(f"s3://{bucket}/s/1.tar is damaged or incomplete at offset ")
    iterator = iter(shards.dataset("s/", decode=identity))
    next(iterator), next(iterator)
    for _ in range(2):  # the end of the iteration would hide the error
        with pytest.raises(penstock.S3DataLossError):
            next(iterator)


def test_a_handler_leaves_out_samples_that_decode_refuses(emulator, client, bucket):
    put(client, bucket, "s/0.tar", make_tar([(f"{i}.txt", str(i).encode()) for i in range(6)]))
    shards = Shards(emulator, bucket, [])

    def odd(one):
        number = int(one["txt"])
        if number % 2 == 0:
            raise ValueError(number)
        return number

    assert list(shards.dataset("s/", decode=odd, handler=lambda error: True)) == [1, 3, 5]
    assert list(shards.dataset("s/", decode=odd, handler=lambda error: error.args[0] < 2)) == [1]
    with pytest.raises(ValueError, match="0"):
        next(iter(shards.dataset("s/", decode=odd)))


@pytest.mark.parametrize("size", [1_500_000, 9_000_000])
def test_members_larger_than_a_part(emulator, client, bucket, size):
    files = [(f"{i}.bin", os.urandom(size)) for i in range(3)]
    put(client, bucket, "large/0.tar", make_tar(files))
    dataset = Shards(emulator, bucket, []).dataset("large/", decode=identity)
    assert [one["bin"] for one in dataset] == [data for _, data in files]
    iterator = iter(dataset)
    assert next(iterator)["bin"] == files[0][1]
    dataset.load_state_dict(dataset.state_dict())
    assert [one["bin"] for one in dataset] == [data for _, data in files[1:]]


def test_files_that_are_not_selected_are_not_fetched(emulator, client, bucket):
    files = [(f"{i}.{kind}", bytes(size)) for i in range(4) for kind, size in (("bin", 10_000_000), ("cls", 1))]
    put(client, bucket, "large/0.tar", make_tar(files))
    dataset = Shards(emulator, bucket, []).dataset("large/", suffixes=["cls"], decode=identity)
    assert [one["cls"] for one in dataset] == [b"\0"] * 4
    assert dataset._get_client().metrics()["bytes_received"] < 30_000_000


EXPANDED = {
    "a": ["a"],
    "{000..011..}": ["{000..011..}"],
    "{08..11}": ["08", "09", "10", "11"],
    "{3..1}": ["3", "2", "1"],
    "x{a,b}{0..1}y": ["xa0y", "xa1y", "xb0y", "xb1y"],
    "{a,{b,c}d}": ["a", "bd", "cd"],
    "{one}": ["{one}"],
    "{unclosed": ["{unclosed"],
    "{x}{1..2}": ["{x}1", "{x}2"],
    "{,a}": ["", "a"],
}


@pytest.mark.parametrize("text", EXPANDED)
def test_braces_expand_as_in_bash(text):
    assert expand_braces(text) == EXPANDED[text]


def test_braces_with_too_many_numbers_are_refused():
    with pytest.raises(ValueError, match="more than 10000000 numbers"):
        expand_braces("{0..99999999999}")
