"""Programs for the S3 DataPipes of torchdata 0.9, as published, and torchdata's own tests of them, re-created.

torchdata_pipes.py BUCKET CASE; the Python of requirements-datapipes.txt runs it, by `python -m penstock.compat` or with
torchdata's own handler.
"""

import pickle
import sys
import unittest
from unittest.mock import MagicMock, patch

from torch.utils.data import DataLoader
from torchdata.datapipes.iter import IterableWrapper, S3FileLister, S3FileLoader, StreamReader
from torchdata.stateful_dataloader import StatefulDataLoader

bucket = sys.argv[1]
root = f"s3://{bucket}"
charades = [f"{root}/charades/Charades_v1{name}" for name in (".zip", "_480.zip", "_flow.tar", "_rgb.tar")]


class TestS3FileLister(unittest.TestCase):
    """Replaces the native handler, as torchdata/test/test_s3io.py does."""

    @patch("torchdata._torchdata")
    def test_pages_of_a_mocked_handler(self, native):
        pages = [[f"{root}/folder/a.txt", f"{root}/folder/b.csv"], []]
        for masks, expected in (("", pages[0]), ("*.csv", pages[0][1:])):
            native.S3Handler.return_value.list_files = MagicMock(side_effect=pages)
            self.assertEqual(list(S3FileLister(IterableWrapper([f"{root}/folder/"]), masks=masks)), expected)


class TestRemoteIO(unittest.TestCase):
    """The cases of test_s3_io_iterdatapipe in torchdata/test/test_remote_io.py, on a bucket with the same names."""

    def count(self, urls, **options):
        return sum(1 for _ in S3FileLister(IterableWrapper(urls), **options))

    def test_prefixes(self):
        for urls, expected in (
            ([root], 13),
            ([f"{root}/"], 13),
            ([f"{root}/charades"], 6),
            ([f"{root}/charades/"], 6),
            ([f"{root}/charad"], 6),
            ([f"{root}/charades/Charades_v1", f"{root}/charades/Charades_vu17"], 6),
            (charades[:1], 1),
            (charades, 4),
            ([*charades, f"{root}/charades/Charades_vu17"], 6),
        ):
            self.assertEqual(self.count(urls, region="us-east-1"), expected, urls)
        urls = [f"{root}/bin-images/111", f"{root}/bin-images/222"]
        self.assertEqual(self.count(urls, request_timeout_ms=10000, region="us-east-1"), 4)

    def test_incorrect_inputs(self):
        urls = ["", bucket, "s3://", "s3:///bin-images"]
        for pipe, wrong in ((S3FileLister, urls), (S3FileLoader, [*urls, f"{root}/bin-image"])):
            for url in wrong:
                with self.assertRaises(ValueError, msg=f"{url} should raise ValueError."):
                    list(pipe(IterableWrapper([url]), region="us-east-1"))

    def test_loader(self):
        self.assertEqual(sum(1 for _ in S3FileLoader([f"{root}/bin-images/1110.jpg"], region="us-east-1")), 1)
        lister = S3FileLister(IterableWrapper([f"{root}/charades/"]), region="us-east-1")
        self.assertEqual(sum(1 for _ in S3FileLoader(lister, region="us-east-1")), 6)

    def test_length(self):
        with self.assertRaisesRegex(TypeError, "S3FileListerIterDataPipe instance doesn't have valid length"):
            len(S3FileLister(IterableWrapper([root])))


def announcement():
    """The program of PyTorch's announcement of the S3 DataPipes."""
    s3_shard_urls = IterableWrapper([f"{root}/text/"]).list_files_by_s3()
    s3_shards = s3_shard_urls.load_files_by_s3()
    training_data = s3_shards.readlines(return_path=False)
    for workers in (1, 0):  # torchdata's handler hangs in a worker that is forked after its first request
        data_loader = DataLoader(training_data, batch_size=3, num_workers=workers)
        print([batch_data for _ in range(2) for batch_data in data_loader][:3])


def documentation():
    """The programs of the documentation of both DataPipes."""
    dp_s3_urls = IterableWrapper([f"{root}/text/"]).list_files_by_s3()
    sharded_s3_urls = dp_s3_urls.shuffle().sharding_filter()
    for dp_s3_files in (S3FileLoader(sharded_s3_urls), sharded_s3_urls.load_files_by_s3(buffer_size=256)):
        print(sorted((url[-5:], fd.read()[:2]) for url, fd in dp_s3_files))
    print(len(list(IterableWrapper([f"{root}/text/"]).list_files_by_s3(request_timeout_ms=100))))


def others():
    """The DataPipes of torchdata behind a loader."""
    files = IterableWrapper([f"{root}/table/1.csv"]).load_files_by_s3()
    print(list(files.parse_csv(skip_lines=1)), [row["b"] for row in files.parse_csv_as_dict()])
    print([line for _, line in files.shuffle().readlines()] == [line for _, line in files.readlines()])
    print([chunk[:4] for _, chunk in StreamReader(files)])
    tars = IterableWrapper([f"{root}/charades/Charades_v1_rgb.tar"]).load_files_by_s3()
    for mode in ("r:", "r|", "r:*"):
        print([(path[-8:], member.read()) for path, member in tars.load_from_tar(mode=mode)])
    print([sorted(sample) for sample in tars.load_from_tar().webdataset()])
    print([path[-5:] for path, _ in IterableWrapper(charades[:1]).load_files_by_s3().load_from_zip()])
    print(len(list(IterableWrapper([f"{root}/text/"]).list_files_by_s3().header(1).prefetch(2))))


def loaders():
    """DataLoader and StatefulDataLoader, with workers."""
    pipe = IterableWrapper([f"{root}/text/"]).list_files_by_s3().shuffle().sharding_filter().load_files_by_s3().readlines()
    pipe = pickle.loads(pickle.dumps(pipe))
    for method in ("fork", "spawn"):
        loader = DataLoader(pipe, batch_size=None, num_workers=2, multiprocessing_context=method)
        print(len(list(loader)), len({tuple(item) for item in loader}))

    def stateful():
        pipe = IterableWrapper([f"{root}/text/"]).list_files_by_s3().sharding_filter().load_files_by_s3().readlines()
        return StatefulDataLoader(pipe, batch_size=None, num_workers=2, multiprocessing_context="fork")

    first = stateful()
    seen = [item for _, item in zip(range(5), first, strict=False)]
    again = stateful()
    again.load_state_dict(first.state_dict())
    print(seen + list(again) == list(stateful()))


if __name__ == "__main__":
    if sys.argv[2] == "unittest":
        unittest.main(argv=sys.argv[:1])
    else:
        globals()[sys.argv[2]]()
