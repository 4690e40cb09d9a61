"""penstock.compat: programs written for the reference connector run on Penstock unchanged.

Each program runs in its own process, because install() replaces the modules of s3torchconnector for the whole process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import penstock
from bucket_io import get, put
from penstock.testing import Emulator


def run(program: str, *arguments: str, emulator: Emulator | None = None, before: tuple[str, ...] = ("-c",)) -> str:
    """Runs a Python program with `arguments`. Returns its output."""
    environment = dict(os.environ) | (emulator.environment() if emulator else {})
    done = subprocess.run(
        [sys.executable, *before, textwrap.dedent(program), *arguments],
        env=environment, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


INSTALL = "import penstock.compat; penstock.compat.install()\n"


def test_every_module_of_the_reference_is_there() -> None:
    program = INSTALL + textwrap.dedent("""
        import importlib
        from penstock.compat._names import MODULES
        missing = []
        for name in MODULES:
            if "lightning" in name:
                continue
            module = importlib.import_module(name)
            missing += [f"{name}.{each}" for each in getattr(module, "__all__", ()) if not hasattr(module, each)]
        print(missing)
    """)
    assert run(program) == "[]\n"


def test_modules_of_the_reference_have_the_file_of_compat() -> None:
    program = INSTALL + textwrap.dedent("""
        import s3torchconnector, s3torchconnectorclient
        for module in (s3torchconnector, s3torchconnectorclient):
            print(module.__file__ == penstock.compat.__file__)
    """)
    assert run(program) == "True\nTrue\n"


def test_the_names_of_the_reference_are_penstock_objects() -> None:
    program = INSTALL + textwrap.dedent("""
        import penstock
        import s3torchconnector
        from s3torchconnector import S3Checkpoint, S3ClientConfig, S3Exception, S3IterableDataset, S3MapDataset, S3Reader
        from s3torchconnector import S3ReaderConstructor, S3Writer, __version__
        from s3torchconnector._s3client import S3Client
        from s3torchconnector._s3client._s3client import _active_clients, _client_lock
        from s3torchconnector.s3reader.sequential import SequentialS3Reader
        from s3torchconnectorclient import LOG_TRACE, S3Exception as Native
        import logging
        assert S3MapDataset is penstock.S3MapDataset and S3Client is penstock.S3Client
        assert S3Exception is Native is penstock.S3Exception
        assert (LOG_TRACE, logging.getLevelName(5), __version__) == (5, "TRACE", "1.5.0")
        assert sorted(s3torchconnector.__all__) == sorted({"S3IterableDataset", "S3MapDataset", "S3Checkpoint", "S3Reader",
            "S3ReaderConstructor", "S3Writer", "S3Exception", "S3ClientConfig", "__version__"})
        print("s3torchconnector.s3map_dataset" in __import__("sys").modules, len(_active_clients))
    """)
    assert run(program) == "False 0\n"


def test_a_module_that_the_reference_lacks_is_not_found() -> None:
    program = INSTALL + textwrap.dedent("""
        try:
            import s3torchconnector.turbo
        except ModuleNotFoundError as error:
            print(error)
    """)
    assert run(program).startswith("No module named 's3torchconnector.turbo': penstock.compat replaces s3torchconnector 1.5.0")


def test_install_after_an_import_of_the_reference_is_an_error() -> None:
    program = """
        import sys, types
        sys.modules["s3torchconnector"] = types.ModuleType("s3torchconnector")
        import penstock.compat
        for name in ("s3torchconnector", "boto3"):
            try:
                penstock.compat.install(name)
            except (RuntimeError, ValueError) as error:
                print(type(error).__name__, error)
    """
    lines = run(program).splitlines()
    assert lines[0] == "RuntimeError s3torchconnector is already imported, from no file; call penstock.compat.install() first"
    assert lines[1].startswith("ValueError cannot replace 'boto3'; penstock.compat.install() replaces 's3torchconnector', ")


PROGRAM = """
import sys
import torch
from s3torchconnector import S3Checkpoint, S3IterableDataset, S3MapDataset, S3ReaderConstructor

def length(item):
    return item.key, len(item.read())

if __name__ == "__main__":
    bucket = sys.argv[1]
    dataset = S3MapDataset.from_prefix(f"s3://{bucket}/data/", region="us-east-1", transform=length,
                                       reader_constructor=S3ReaderConstructor.range_based())
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context="spawn")
    print(sorted(map(tuple, loader)))
    checkpoint = S3Checkpoint(region="us-east-1")
    with checkpoint.writer(f"s3://{bucket}/model.pt") as writer:
        torch.save({"weight": torch.arange(5)}, writer)
    with checkpoint.reader(f"s3://{bucket}/model.pt") as reader:
        print(torch.load(reader)["weight"].tolist())
"""


def test_a_program_runs_unchanged_with_its_spawned_workers(
    emulator: Emulator, client: penstock.S3Client, bucket: str, tmp_path: Path
) -> None:
    for number in range(4):
        put(client, bucket, f"data/{number}", bytes(number * 100))
    program = tmp_path / "train.py"
    program.write_text(PROGRAM)
    expected = f"{[(f'data/{number}', number * 100) for number in range(4)]}\n[0, 1, 2, 3, 4]\n"
    assert run(str(program), bucket, emulator=emulator, before=("-m", "penstock.compat")) == expected
    assert get(client, bucket, "model.pt")[:2] == b"PK"
    as_module = subprocess.run(
        [sys.executable, "-m", "penstock.compat", "-m", "train", bucket],
        env=dict(os.environ) | emulator.environment(), cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert as_module.stdout == expected, as_module.stderr


def test_invalid_arguments_of_the_command_are_named() -> None:
    for arguments, text in (([], "no program given"), (["--fast"], "unknown option '--fast'"), (["no.py"], "no file 'no.py'")):
        done = subprocess.run([sys.executable, "-m", "penstock.compat", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert text in done.stderr


def test_the_native_client(emulator: Emulator, client: penstock.S3Client, bucket: str) -> None:
    program = INSTALL + textwrap.dedent("""
        import pickle, sys
        from s3torchconnectorclient._mountpoint_s3_client import (
            GetObjectStream, HeadObjectResult, ListObjectStream, MountpointS3Client, ObjectInfo, PutObjectStream, RestoreStatus,
            S3Exception, join_all_managed_threads)
        bucket = sys.argv[1]
        native = MountpointS3Client("us-east-1", "me/1 \\x07", part_size=6 << 20, max_attempts=3)
        native = pickle.loads(pickle.dumps(native))
        assert (native.region, native.user_agent_prefix, native.part_size, native.max_attempts, native.endpoint) == (
            "us-east-1", "me/1 \\x07", 6 << 20, 3, None)
        try:
            native.region = "elsewhere"
        except AttributeError as error:
            print(error)
        stream = native.put_object(bucket, "a key")
        stream.write(b"0123456789")
        stream.close()
        for late in (lambda: stream.write(b"x"), stream.close):
            try:
                late()
            except S3Exception as error:
                print(error)
        got = native.get_object(bucket, "a key", 2, 7)
        print(b"".join(got), got.tell(), got.bucket, got.key)
        try:
            list(native.get_object(bucket, "nothing"))
        except S3Exception as error:
            print(str(error)[:40])
        head = native.head_object(bucket, "a key")
        native.copy_object(bucket, "a key", bucket, "b key")
        listing = native.list_objects(bucket, max_keys=1)
        first = next(listing)
        rest = ListObjectStream._from_state(native, bucket, "", "", 1, listing.continuation_token, listing.complete)
        print([info.key for info in first.object_info], [info.key for page in rest for info in page.object_info], head.size)
        native.delete_object(bucket, "a key")
        assert pickle.loads(pickle.dumps(first.object_info[0])) == first.object_info[0]
        for wrong in (lambda: native.get_object(bucket, None), lambda: MountpointS3Client(None)):
            try:
                wrong()
            except TypeError as error:
                print(error)
        join_all_managed_threads(0.5)
    """)
    assert run(program, bucket, emulator=emulator).splitlines() == [
        "attribute 'region' of a MountpointS3Client cannot be set",
        "Cannot write to closed object",
        "Cannot close object more than once",
        f"b'23456' 7 {bucket} a key",
        "Service error: The key does not exist (G",
        "['a key'] ['b key'] 10",
        "key must be str, not NoneType",
        "region must be str, not NoneType",
    ]


def test_the_mock_in_memory() -> None:
    program = INSTALL + textwrap.dedent("""
        from s3torchconnector import S3MapDataset, S3Exception
        from s3torchconnector._s3client import MockS3Client
        from s3torchconnectorclient._mountpoint_s3_client import MockMountpointS3Client
        mock = MockMountpointS3Client("us-east-1", "bucket", part_size=2)
        mock.add_object("key", b"hello")
        client = mock.create_mocked_client()
        print(list(client.get_object("bucket", "key")), client.part_size, client.user_agent_prefix)
        mock.remove_object("key")
        try:
            list(client.get_object("bucket", "key"))
        except S3Exception as error:
            print(str(error)[:39])
        other = MockS3Client("us-east-1", "bucket")
        for number in range(3):
            other.add_object(f"p/{number}", bytes([number]))
        other.remove_object("p/1")
        dataset = S3MapDataset.from_prefix("s3://bucket/p/", region="us-east-1")
        dataset._client = other
        print([(item.key, item.read()) for item in dataset])
    """)
    assert run(program).splitlines() == [
        "[b'he', b'll', b'o'] 2 mock_client",
        "Service error: The key does not exist (",
        "[('p/0', b'\\x00'), ('p/2', b'\\x02')]",
    ]


def test_the_mock_accepts_bucket_names_that_s3_rejects() -> None:
    program = INSTALL + textwrap.dedent("""
        from s3torchconnector import S3Checkpoint, S3IterableDataset, S3MapDataset
        from s3torchconnector.dcp import S3FileSystem
        from s3torchconnector._s3client import MockS3Client
        from s3torchconnectorclient._mountpoint_s3_client import MockMountpointS3Client, S3Exception
        for bucket in ("my_bucket", "MyBucket", "b", "192.168.0.1", "B" * 255):
            mock = MockMountpointS3Client("us-east-1", bucket)
            mock.add_object("key", b"hello")
            native = mock.create_mocked_client()
            native.copy_object(bucket, "key", bucket, "copy")
            stream = native.put_object(bucket, "key 2")
            stream.write(b"world")
            stream.close()
            keys = [info.key for page in native.list_objects(bucket) for info in page.object_info]
            read = b"".join(native.get_object(bucket, "key 2")), native.head_object(bucket, "copy").size
            client = MockS3Client("us-east-1", bucket)
            client.add_object("p/0", b"0")
            datasets = [kind.from_prefix(f"s3://{bucket}/p/", region="us-east-1") for kind in (S3MapDataset, S3IterableDataset)]
            for dataset in datasets:
                dataset._client = client
            items = [(item.bucket == bucket, item.key, item.read()) for dataset in datasets for item in dataset]
            checkpoint = S3Checkpoint("us-east-1")
            checkpoint._client = client
            with checkpoint.writer(f"s3://{bucket}/ck") as writer:
                writer.write(b"state")
            files = S3FileSystem("us-east-1")
            files._client = client
            print(keys, read, items, checkpoint.reader(f"s3://{bucket}/ck").read(), files.exists(f"s3://{bucket}/ck"))
        for bucket in ("", "a b", "a/b", ".."):
            try:
                MockMountpointS3Client("us-east-1", bucket)
                print("made", bucket)
            except S3Exception:
                pass
    """)
    items = "[(True, 'p/0', b'0'), (True, 'p/0', b'0')]"
    assert run(program).splitlines() == [f"['copy', 'key', 'key 2'] (b'world', 5) {items} b'state' True"] * 5


def test_a_pickled_iterator_continues_at_its_position() -> None:
    program = INSTALL + textwrap.dedent("""
        import pickle
        from s3torchconnector._s3_bucket_iterable import S3BucketIterable, S3BucketIterator
        from s3torchconnector._s3client import S3Client, S3ClientConfig
        from penstock.testing import Emulator
        with Emulator() as emulator:
            client = emulator.client()
            client.create_bucket("bucket")
            for number in range(1005):
                with client.put_object("bucket", f"{number:04}") as writer:
                    writer.write(b"")
            iterator = S3BucketIterator(client, "bucket", "")
            first = [next(iterator).key for _ in range(10)]
            rest = [data.key for data in pickle.loads(pickle.dumps(iterator))]
            again = [data.key for data in S3BucketIterable(client, "bucket", "")]
            assert first + rest == again == [f"{number:04}" for number in range(1005)]
            print(len(rest))
    """)
    assert run(program) == "995\n"
