"""penstock.compat: programs for the S3 DataPipes of torchdata and for the Amazon S3 plugin for PyTorch run unchanged.

torchdata has no DataPipes here; tests/foreign has the same programs with torchdata 0.9. Each program runs in its own process.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import textwrap
import zipfile
from pathlib import Path

import penstock
import pytest
from bucket_io import put
from penstock.testing import Emulator


@pytest.fixture
def run(emulator: Emulator, tmp_path: Path):
    """Runs a program by ``python -m penstock.compat``. Returns its lines of output."""

    def run_program(program: str, *arguments: str, **more: str) -> list[str]:
        file = tmp_path / "program.py"
        file.write_text(textwrap.dedent(program))
        done = subprocess.run(
            [sys.executable, "-m", "penstock.compat", str(file), *arguments],
            env=dict(os.environ) | emulator.environment() | more, capture_output=True, text=True, timeout=150, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run_program


@pytest.fixture
def filled(client: penstock.S3Client, bucket: str) -> str:
    for number in range(6):
        put(client, bucket, f"data/{number}.txt", b"%d\n" % number * 2)
    put(client, bucket, "data/folder/", b"")
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, data in (("a/1.cls", b"7"), ("__index__/x", b"no"), ("a/1.jpg", b"image"), ("__meta__", b"no")):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        archive.addfile(tarfile.TarInfo("empty"))
    put(client, bucket, "archives/1.tar", tar.getvalue())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("b/2.cls", b"8")
        archive.writestr("b/2.jpg", b"second")
    put(client, bucket, "archives/2.zip", packed.getvalue())
    put(client, bucket, "archives/3.bin", b"whole")
    return bucket


def test_datapipes_of_a_torchdata_that_has_none(run, filled: str) -> None:
    program = """
        import sys
        from torch.utils.data import DataLoader
        from torchdata.datapipes.iter import IterableWrapper, S3FileLister, S3FileLoader
        from torchdata.datapipes.utils import StreamWrapper
        from torchdata.nodes import BaseNode  # the other modules of torchdata are its own
        import torchdata.datapipes.iter

        if __name__ == "__main__":
            urls = IterableWrapper([f"s3://{sys.argv[1]}/data/"]).list_files_by_s3().shuffle().sharding_filter()
            lines = urls.load_files_by_s3().readlines(return_path=False)
            for method in ("fork", "spawn"):
                loader = DataLoader(lines, batch_size=4, num_workers=2, multiprocessing_context=method)
                print(sorted(line for batch in loader for line in batch))
            print([type(stream).__mro__[1] is StreamWrapper for _, stream in S3FileLoader(S3FileLister(["s3://none"]), region="")]
                  if len(sys.argv) > 2 else "")
            try:
                from torchdata.datapipes.iter import CSVParser
            except ImportError as error:
                print(error)
            print(hasattr(torchdata.datapipes.iter, "__wrapped__"))
            try:
                import torchdata.datapipes.map
            except ModuleNotFoundError as error:
                print(error)
    """
    expected = str(sorted(b"%d" % number for number in range(6) for _ in range(2)))
    lines = run(program, filled)
    assert lines[:2] == [expected] * 2
    assert lines[3].startswith(
        "cannot import 'CSVParser' from torchdata.datapipes.iter: the installed torchdata has no DataPipes"
    )
    assert lines[3].endswith("pip install torchdata==0.9.0")
    assert lines[4:] == ["False", "No module named 'torchdata.datapipes.map'"]


def test_the_functions_of_the_plugin(run, filled: str) -> None:
    program = """
        import sys
        import _pywrap_s3_io
        from awsio.python.lib.io.s3.s3dataset import file_exists, get_file_size, list_files
        root = f"s3://{sys.argv[1]}"
        print(list_files(root + "/data/")[1:4] == [f"{root}/data/{i}.txt" for i in (1, 2, 3)], len(list_files(root)))
        print([file_exists(root + key) for key in ("/data/0.txt", "/data", "/none", "", "/")], file_exists("s3://no-bucket/k"))
        print(get_file_size(root + "/data/0.txt"), _pywrap_s3_io.S3Init().s3_read(root + "/data/0.txt"))
        for function in (list_files, file_exists, get_file_size, _pywrap_s3_io.S3Init().s3_read):
            for url in ("", "shor", "s3://", "s3:///no_bucket"):
                try:
                    print("no error", function, function(url))
                except ValueError:
                    pass
        for function in (get_file_size, _pywrap_s3_io.S3Init().s3_read):
            try:
                function(root + "/none")
            except ValueError as error:
                print(type(error).__name__, f"{root}/none" in str(error))
    """
    assert run(program, filled) == [
        "True 9",
        "[True, False, False, False, False] False",
        "4 b'0\\n0\\n'",
        "S3NotFoundError True",
        "S3NotFoundError True",
    ]


def test_the_datasets_of_the_plugin(run, filled: str) -> None:
    program = """
        import random, sys
        from torch.utils.data import DataLoader
        from awsio.python.lib.io.s3.s3dataset import S3Dataset, S3IterableDataset, ShuffleDataset

        class Sizes(S3Dataset):
            def __getitem__(self, index):
                url, data = super().__getitem__(index)
                return url[-5:], len(data)

        if __name__ == "__main__":
            root = f"s3://{sys.argv[1]}"
            dataset = S3Dataset([root + "/data/5.txt", root + "/data/"])
            print(len(dataset), dataset[0][1], dataset[1][0] == root + "/data/0.txt", dataset.urls_list[0][-5:])
            for method in ("fork", "spawn"):
                loader = DataLoader(Sizes(root + "/data/"), batch_size=None, num_workers=2, multiprocessing_context=method)
                print([tuple(item) for item in loader])
            archives = S3IterableDataset(root + "/archives/")
            print(len(archives), [(name.rpartition("/")[2], data) for name, data in archives])
            dataset = S3IterableDataset(root + "/data/")
            loader = DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context="spawn")
            print(sorted(url[-5:] for url, _ in loader))
            shuffled = S3IterableDataset(root + "/data/", shuffle_urls=True)
            orders = []
            for epoch in (0, 1, 0):
                shuffled.set_epoch(epoch)
                orders.append([url[-5:-4] for url, _ in shuffled])
            random.seed(0)
            print(orders[0] == orders[2] != orders[1], orders[0] == random.sample(list("012345"), 6))
            items = [url[-5:-4] for url, _ in ShuffleDataset(S3IterableDataset(root + "/data/"), buffer_size=4)]
            print(sorted(items), items[0] in "01234")
            print(list(ShuffleDataset(range(5), 0)), sorted(ShuffleDataset(range(5), 100)))
            try:
                S3Dataset(root + "/none")
            except AssertionError as error:
                print(error)
    """
    sizes = [(f"{number}.txt", 4) for number in range(6)]
    members = [("1.cls", b"7"), ("1.jpg", b"image"), ("empty", b""), ("2.cls", b"8"), ("2.jpg", b"second"), ("3.bin", b"whole")]
    assert run(program, filled) == [
        "7 b'5\\n5\\n' True 5.txt",
        str(sizes),
        str(sizes),
        f"3 {members}",
        str([name for name, _ in sizes]),
        "True True",
        f"{[*'012345']} True",
        "[0, 1, 2, 3, 4] [0, 1, 2, 3, 4]",
        f"The directory s3://{filled}/none does not contain any objects.",
    ]


def test_ranks_of_the_plugin_share_the_objects(run, filled: str) -> None:
    program = """
        import sys
        import torch.distributed as dist
        from awsio.python.lib.io.s3.s3dataset import S3IterableDataset
        dist.is_initialized = lambda: True
        dist.get_world_size = lambda: 2
        for rank in range(2):
            dist.get_rank = lambda: rank
            print([url[-5:-4] for url, _ in S3IterableDataset(f"s3://{sys.argv[1]}/data/")])
    """
    assert run(program, filled) == ["['0', '2', '4']", "['1', '3', '5']"]


def test_the_environment_variables_of_the_plugin(run) -> None:
    program = """
        import os
        os.environ.pop("AWS_DEFAULT_REGION")
        from _pywrap_s3_io import S3Init
        client = S3Init().client
        print(client.region, client.endpoint, client.parallel_parts, client.s3client_config.proxy,
              client.s3client_config.look_ahead_bytes)
    """
    more = {"AWS_REGION": "", "S3_ENDPOINT_URL": "h:1", "S3_USE_HTTPS": "0", "S3_DISABLE_MULTI_PART_DOWNLOAD": "ON"}
    more |= {"S3_PROXY_HOST": "proxy", "S3_PROXY_PORT": "3128", "S3_BUFFER_SIZE": "4096"}
    assert run(program, **more) == ["us-west-2 http://h:1 1 http://proxy:3128 4096"]


def test_only_the_named_package_is_replaced() -> None:
    program = """
        import sys
        import penstock.compat
        penstock.compat.install("awsio")
        import awsio
        for name in ("torchdata.datapipes", "awsio.turbo"):
            try:
                __import__(name)
            except ModuleNotFoundError as error:
                print(error)
        sys.modules["torchdata.datapipes.iter.load.s3io"] = sys
        penstock.compat.install("s3torchconnector")
        try:
            penstock.compat.install()
        except RuntimeError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "No module named 'torchdata.datapipes'",
        "No module named 'awsio.turbo': penstock.compat replaces the Amazon S3 plugin for PyTorch, which has none",
        "torchdata.datapipes.iter.load.s3io is already imported, from no file; call penstock.compat.install() first",
    ]
