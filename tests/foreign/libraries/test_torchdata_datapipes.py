"""Programs for the S3 DataPipes of torchdata 0.9 run on Penstock, and torchdata's own DataPipes on the emulator."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from penstock.testing import Emulator

PROGRAM = str(Path(__file__).parent / "torchdata_pipes.py")
ON_PENSTOCK = ["-m", "penstock.compat"]


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as instance:
        client = instance.client()
        client.create_bucket("datapipes")

        def put(key: str, data: bytes) -> None:
            with client.put_object("datapipes", key) as writer:
                writer.write(data)

        tar, packed = io.BytesIO(), io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as archive:
            for name, data in (("1.cls", b"7"), ("1.jpg", b"image"), ("2.cls", b"8"), ("2.jpg", b"other")):
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("a.txt", b"1")
        for name in ("v1.zip", "v1_480.zip", "v1_flow.tar", "v1_rgb.tar", "vu17_a", "vu17_b"):
            content = {"zip": packed, "tar": tar}.get(name[-3:])
            put(f"charades/Charades_{name}", content.getvalue() if content else b"x")
        put("charades/", b"")
        for number in (1110, 1111, 2220, 2221):
            put(f"bin-images/{number}.jpg", b"jpg")
        for name in ("a", "b"):
            put(f"text/{name}.txt", b"".join(b"%b%d\n" % (name.encode(), number) for number in range(20)))
        put("table/1.csv", b"a,b\n1,2\n3,4\n")
        yield instance


def run(emulator: Emulator, case: str, *options: str) -> str:
    environment = dict(os.environ) | emulator.environment() | {"S3_ENDPOINT_URL": emulator.endpoint}
    done = subprocess.run(
        [os.environ["PENSTOCK_DATAPIPES_PYTHON"], "-W", "ignore", *options, PROGRAM, "datapipes", case],
        env=environment, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout + done.stderr * (case == "unittest")


def test_the_tests_of_torchdata_pass_on_penstock(emulator: Emulator) -> None:
    assert "Ran 5 tests" in run(emulator, "unittest", *ON_PENSTOCK)


def test_the_tests_of_torchdata_pass_with_its_own_handler(emulator: Emulator) -> None:
    """The emulator serves aws-sdk-cpp, and the re-created tests hold for what they were written for."""
    assert "Ran 5 tests" in run(emulator, "unittest")


@pytest.mark.parametrize("case", ["announcement", "documentation", "others"])
def test_published_programs_print_the_same_on_penstock(emulator: Emulator, case: str) -> None:
    theirs = run(emulator, case)
    assert theirs.count("\n") >= 2
    assert run(emulator, case, *ON_PENSTOCK) == theirs


def test_loaders_with_workers(emulator: Emulator) -> None:
    assert run(emulator, "loaders", *ON_PENSTOCK) == "40 40\n40 40\nTrue\n"


@pytest.mark.parametrize(
    "order", ["penstock.datapipes.iter, torchdata.datapipes.iter", "torchdata.datapipes.iter, penstock.datapipes.iter"]
)
def test_both_can_be_imported_in_either_order(emulator: Emulator, order: str) -> None:
    program = f"""
import {order}
pipe = torchdata.datapipes.iter.IterableWrapper(["s3://datapipes/table/"]).list_files_by_s3().load_files_by_s3()
print(type(pipe).__module__, [row for row in pipe.parse_csv()])
"""
    done = subprocess.run(
        [os.environ["PENSTOCK_DATAPIPES_PYTHON"], "-W", "ignore", "-c", program],
        env=dict(os.environ) | emulator.environment(), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.stdout == "penstock.datapipes.iter [['a', 'b'], ['1', '2'], ['3', '4']]\n", done.stderr


def test_nodes_need_a_newer_torchdata() -> None:
    program = "try: import penstock.datapipes.nodes\nexcept ImportError as error: print(error)"
    done = subprocess.run([os.environ["PENSTOCK_DATAPIPES_PYTHON"], "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == (
        "penstock.datapipes.nodes needs torchdata 0.10 or later, and 0.9 is installed: pip install 'torchdata>=0.10'\n"
    ), done.stderr
