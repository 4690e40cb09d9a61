"""S3FileLister, S3FileLoader and LineReader: torchdata's S3 DataPipes, with torch's DataPipes and both DataLoaders."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from itertools import chain

import penstock
import pytest
from bucket_io import put
from gate_server import gate_config, gate_server
from penstock._listing import identity
from penstock.datapipes._handler import S3Handler
from penstock.datapipes.iter import LineReader, S3FileLister, S3FileLoader
from torch.utils.data import DataLoader
from torch.utils.data.datapipes.iter import IterableWrapper
from torchdata.stateful_dataloader import StatefulDataLoader

COUNT = 23
WORKERS = pytest.mark.parametrize(("workers", "method"), [(0, None), (2, "fork"), (2, "spawn")], ids=["0", "2-fork", "2-spawn"])
BAD_URLS = ["", "bucket", "s3://", "s3:///key"]


@pytest.fixture
def surroundings(emulator, monkeypatch):
    """The environment of a user: credentials, region and endpoint."""
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def urls(surroundings, client, bucket):
    for number in range(COUNT):
        put(client, bucket, f"data/{number:02}.txt", f"{number}\n{number}.\n".encode())
    put(client, bucket, "data/folder/", b"")
    put(client, bucket, "other/x.csv", b"1,2\n3,4\n")
    return [f"s3://{bucket}/data/{number:02}.txt" for number in range(COUNT)]


def read(item):
    url, stream = item
    return url, stream.read()


# ---- listing


def test_prefixes_of_every_form_are_listed(urls, bucket):
    root, other = f"s3://{bucket}", f"s3://{bucket}/other/x.csv"
    for prefixes, expected in (
        ([root], [*urls, other]),
        ([f"{root}/"], [*urls, other]),
        ([f"{root}/data"], urls),
        ([f"{root}/data/"], urls),
        ([f"{root}/data/1"], urls[10:20]),
        ([f"{root}/data/2", f"{root}/data/0"], [*urls[20:], *urls[:10]]),
        ([other], [other]),
        ([*urls[:4], f"{root}/other"], [*urls[:4], other]),
        ([f"{root}/none"], []),
        ([], []),
    ):
        assert list(S3FileLister(prefixes)) == expected, prefixes
        assert list(IterableWrapper(prefixes).list_files_by_s3()) == expected, prefixes


def test_a_listing_of_several_pages(surroundings, client, bucket):
    for number in range(1003):
        put(client, bucket, f"{number:04}" + "/" * (number % 500 == 499), b"")
    pipe = S3FileLister([f"s3://{bucket}"])
    expected = [f"s3://{bucket}/{number:04}" for number in range(1003) if number % 500 != 499]
    assert [*pipe] == expected
    first = iter(pipe)
    assert [next(first) for _ in range(3)] == expected[:3]
    assert [*pipe] == expected  # a new iteration lists from the start


def test_masks_select_urls(urls, bucket):
    root = [f"s3://{bucket}"]
    assert list(S3FileLister(root, masks="*.csv")) == [f"s3://{bucket}/other/x.csv"]
    assert list(S3FileLister(root, masks=["*/00.txt", "*/x.*"])) == [urls[0], f"s3://{bucket}/other/x.csv"]
    assert list(S3FileLister(root, masks="x.csv")) == []


def test_a_listed_url_has_the_size_of_its_object(urls, bucket):
    """The loader reserves memory by it. It survives pickling."""
    (url,) = pickle.loads(pickle.dumps(list(S3FileLister([urls[10]]))))
    assert (url, url.info.size) == (urls[10], 7)


def test_len_is_the_given_length(urls):
    assert len(S3FileLister([], length=7)) == 7
    with pytest.raises(TypeError, match="S3FileLister instance doesn't have valid length"):
        len(S3FileLister([]))
    assert len(S3FileLoader(urls)) == COUNT
    with pytest.raises(TypeError):
        len(S3FileLoader(S3FileLister([])))


# ---- errors


@pytest.mark.parametrize("url", BAD_URLS)
@pytest.mark.parametrize("pipe", [S3FileLister, S3FileLoader])
def test_what_is_no_s3_url_is_a_value_error(surroundings, pipe, url):
    with pytest.raises(ValueError, match="s3://bucket/key") as caught:
        list(pipe([url]))
    assert repr(url) in str(caught.value)


def test_an_object_or_bucket_that_does_not_exist_is_named(urls, bucket):
    for pipe, url in (
        (S3FileLoader, f"s3://{bucket}/none"),
        (S3FileLoader, "s3://no-such-bucket/key"),
        (S3FileLister, "s3://no-such-bucket/data"),
    ):
        with pytest.raises(penstock.S3NotFoundError) as caught:
            list(pipe([url]))
        assert isinstance(caught.value, ValueError)
        assert url.partition("/data")[0] in str(caught.value)
        assert pickle.loads(pickle.dumps(caught.value)).bucket == caught.value.bucket
    with pytest.raises(ValueError, match="names a bucket and no object"):
        list(S3FileLoader([f"s3://{bucket}"]))


def test_objects_before_a_missing_one_are_yielded(urls, bucket):
    iterator = iter(S3FileLoader([urls[0], f"s3://{bucket}/none", urls[1]]))
    assert next(iterator)[0] == urls[0]
    with pytest.raises(penstock.S3NotFoundError, match="/none"):
        next(iterator)


def test_an_error_of_a_worker_keeps_its_type(urls, bucket):
    loader = DataLoader(S3FileLoader([f"s3://{bucket}/none"]), batch_size=None, num_workers=1, multiprocessing_context="fork")
    with pytest.raises(penstock.S3NotFoundError, match=f"s3://{bucket}/none"):
        list(loader)


def test_arguments_out_of_range_are_named():
    for make, kind, text in (
        (lambda: S3FileLister([], length=-2), ValueError, "length must be -1 .unknown. or the number of URLs, not -2"),
        (lambda: S3FileLister([], request_timeout_ms=0), ValueError, "request_timeout_ms must be -1 .* at least 1 milli.* not 0"),
        (lambda: S3FileLister([], region=None), TypeError, "region"),
        (lambda: S3FileLister([], masks=7), TypeError, "masks"),
        (lambda: S3FileLister("s3://bucket/one"), TypeError, "not the one URL 's3://bucket/one'; put it in a list"),
        (lambda: S3FileLister(7), TypeError, "source_datapipe"),
        (lambda: S3FileLister([], timeout=7), TypeError, "timeout"),
        (lambda: S3FileLoader([], buffer_size=-1), ValueError, "buffer_size must be at least 1 byte, not -1"),
        (lambda: S3FileLoader([], buffer_size=b"1"), TypeError, "buffer_size must be int or str, not bytes"),
        (lambda: S3FileLoader([], multi_part_download="no"), TypeError, "multi_part_download"),
        (lambda: S3FileLoader([], endpoint=7), TypeError, "endpoint"),
        (lambda: S3FileLoader([], s3client_config={}), TypeError, "s3client_config"),
        (lambda: LineReader([], skip_lines=-1), ValueError, "skip_lines must be 0 or more lines, not -1"),
    ):
        with pytest.raises(kind, match=text):
            make()


# ---- settings


def settings(pipe):
    return pipe.handler.client.s3client_config


def test_the_arguments_are_settings_of_the_client(surroundings):
    assert settings(S3FileLister([], request_timeout_ms=2500)).idle_timeout == 2.5
    assert settings(S3FileLister([], request_timeout_ms=100)).idle_timeout == 1
    assert settings(S3FileLister([])).idle_timeout is None
    assert settings(S3FileLoader([], buffer_size=256)).look_ahead_bytes == 256
    assert settings(S3FileLoader([], buffer_size=0)).look_ahead_bytes == 128 * 1024**2
    config = penstock.S3ClientConfig(max_attempts=2, look_ahead_bytes=7)
    assert (settings(S3FileLoader([], s3client_config=config)).max_attempts, settings(S3FileLoader([])).max_attempts) == (2, None)
    assert settings(S3FileLoader([], s3client_config=config)).look_ahead_bytes == 7
    assert S3FileLoader([], region="eu-west-1").handler.client.region == "eu-west-1"
    assert S3FileLoader([]).handler.client.region == "us-east-1"


def test_the_environment_variables_of_torchdata(surroundings, monkeypatch):
    monkeypatch.setenv("S3_BUFFER_SIZE", "1000")
    assert settings(S3FileLoader([])).look_ahead_bytes == 1000
    assert settings(S3FileLoader([], buffer_size=5)).look_ahead_bytes == 5
    assert settings(S3FileLoader([], buffer_size="5KiB")).look_ahead_bytes == 5120
    monkeypatch.setenv("S3_BUFFER_SIZE", "64MiB")
    assert settings(S3FileLoader([], buffer_size="0")).look_ahead_bytes == 64 << 20
    monkeypatch.setenv("S3_BUFFER_SIZE", "1k")
    with pytest.raises(ValueError, match=r"S3_BUFFER_SIZE must be a number of bytes, or a text such as .*; not '1k'"):
        S3FileLoader([])
    monkeypatch.delenv("S3_BUFFER_SIZE")
    monkeypatch.setenv("S3_ENDPOINT_URL", "http://minio:9000")
    assert S3FileLister([]).handler.client.endpoint == "http://minio:9000"
    monkeypatch.setenv("S3_ENDPOINT_URL", "minio:9000")
    assert S3FileLister([]).handler.client.endpoint == "https://minio:9000"
    monkeypatch.setenv("S3_USE_HTTPS", "0")
    assert S3FileLister([]).handler.client.endpoint == "http://minio:9000"
    assert S3FileLister([], endpoint="http://other").handler.client.endpoint == "http://other"
    monkeypatch.setenv("S3_VERIFY_SSL", "0")
    with pytest.raises(ValueError, match=r"S3_VERIFY_SSL=0 is not supported.*AWS_CA_BUNDLE"):
        S3FileLister(["s3://b"]).handler.client  # noqa: B018
    for name in ("S3_VERIFY_SSL", "S3_ENDPOINT_URL", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="S3_USE_HTTPS=0 without S3_ENDPOINT_URL"):
        S3FileLister([]).handler.client  # noqa: B018


# ---- loading


def test_every_object_is_loaded_in_order(urls):
    expected = [(url, f"{number}\n{number}.\n".encode()) for number, url in enumerate(urls)]
    assert [read(item) for item in S3FileLoader(urls)] == expected
    pipe = IterableWrapper(urls).load_files_by_s3()
    assert [read(item) for item in pipe] == [read(item) for item in pipe] == expected


def test_a_stream_behaves_like_a_bytes_io(surroundings, client, bucket):
    content = b"".join(b"%d\r\n" % number for number in range(5000)) + b"end"
    put(client, bucket, "k", content)
    for options in ({}, {"multi_part_download": False}, {"buffer_size": 100}):
        for make in (lambda stream: stream, lambda stream: pickle.loads(pickle.dumps(stream))):
            ((_, stream),) = S3FileLoader([f"s3://{bucket}/k"], **options)
            stream, model = make(stream), io.BytesIO(content)
            memory, expected = bytearray(9), bytearray(9)
            for call in (
                lambda file: file.read(3),
                lambda file: file.readline(),
                lambda file: next(iter(file)),
                lambda file: file.seek(-20, io.SEEK_END),
                lambda file: file.tell(),
                lambda file: file.readlines(),
                lambda file: file.seek(7),
                lambda file: file.readlines(4000),
                lambda file: file.tell(),
                lambda file: file.getvalue(),
                lambda file: bytes(file.getbuffer()),
                lambda file: file.tell(),
                lambda file: [*file][-2:],
                lambda file: (file.seekable(), file.readable(), file.writable() and False),
            ):
                assert call(stream) == call(model)
            stream.seek(1)
            model.seek(1)
            assert (stream.readinto(memory), bytes(memory)) == (model.readinto(expected), bytes(expected))
            stream.close()
            with pytest.raises(ValueError, match="closed"):
                stream.read()


def test_a_pickled_stream_keeps_its_position(urls):
    ((_, stream),) = S3FileLoader(urls[12:13])
    stream.read(3)
    copy = pickle.loads(pickle.dumps(stream))
    assert (copy.tell(), copy.read(), copy.getvalue()) == (3, b"12.\n", b"12\n12.\n")
    assert stream.read() == b"12.\n"


def test_readlines_of_a_reader_is_that_of_io(client, bucket):
    """Over several windows of the reader: a line may begin in one and end in the next."""
    content = b"".join(b"x" * (number * 37 % 3001) + b"\n" for number in range(7000))
    put(client, bucket, "k", content)
    for size in (0, 1, len(content)):
        reader, model = client.get_object(bucket, "k"), io.BufferedReader(io.BytesIO(content))
        for file in (reader, model):
            file.seek(size)
        for hint in (1, 100_000, 2_000_000, -1):
            assert reader.readlines(hint) == model.readlines(hint)
            assert reader.tell() == model.tell()
        assert reader.readlines(5) == reader.readlines(None) == []


def test_lines_before_a_failed_read_are_not_lost(emulator, client, bucket):
    content = b"".join(b"%07d\n" % number for number in range(1_600_000))
    put(client, bucket, "k", content)
    reader = client.get_object(bucket, "k")
    assert reader.readlines(1) == [b"0000000\n"]
    put(client, bucket, "k", content + b"x")  # later requests fail: the reader is pinned to the first version
    with pytest.raises(penstock.S3PreconditionFailedError):
        reader.readlines()
    assert reader.tell() == 8
    assert reader.readlines(1) == [b"0000001\n"]


# ---- look-ahead


def test_the_next_objects_are_read_in_advance():
    with gate_server(b"x" * 100, together=16) as (gate, endpoint):
        pipe = S3FileLoader([f"s3://b/{i}" for i in range(32)], endpoint=endpoint, s3client_config=gate_config())
        assert [stream.read() for _, stream in pipe] == [b"x" * 100] * 32
        assert gate.timed_out == 0


def test_look_ahead_stays_within_the_buffer():
    """Objects of unknown size count as 1 MiB, or as half of the buffer if that is less."""
    with gate_server(b"x" * 1000, together=1) as (gate, endpoint):
        urls = [f"s3://b/{i}" for i in range(64)]
        pipe = S3FileLoader(urls, buffer_size=4000, endpoint=endpoint, s3client_config=gate_config())
        iterator = iter(pipe)
        next(iterator)
        assert len(gate.requested) <= 2
        assert sum(1 for _ in iterator) == 63


def test_without_multi_part_download_an_object_is_read_by_one_request_at_a_time(surroundings, client, bucket, monkeypatch):
    put(client, bucket, "k", bytes(20 * 1024**2))
    url = [f"s3://{bucket}/k"]
    for options, parallel in (({"multi_part_download": False}, 1), ({"multi_part_download": True}, None)):
        pipe = S3FileLoader(url, **options)
        assert pipe.handler.client.parallel_parts == parallel
        ((_, stream),) = pipe
        assert isinstance(stream.file_obj, io.BytesIO) == (parallel == 1)
        assert len(stream.read()) == 20 * 1024**2
    monkeypatch.setenv("S3_MULTI_PART_DOWNLOAD", "OFF")
    assert S3FileLoader(url).handler.client.parallel_parts == 1
    assert S3FileLoader(url, multi_part_download=True).handler.client.parallel_parts is None


# ---- lines


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_with_every_option(surroundings, client, bucket, newline):
    lines = [f"{'é' * (number % 700)}{number}" for number in range(1500)]
    for name, last in (("a", newline), ("b", "")):
        put(client, bucket, name, (newline.join(lines) + last).encode())
    urls = [f"s3://{bucket}/a", f"s3://{bucket}/b"]
    pipe = IterableWrapper(urls).load_files_by_s3()
    plain = [line.encode() for line in lines]
    assert list(pipe.readlines(return_path=False)) == plain * 2
    assert list(pipe.readlines()) == [(url, line) for url in urls for line in plain]
    assert list(pipe.readlines(decode=True, return_path=False)) == lines * 2
    assert list(pipe.readlines(skip_lines=1490, return_path=False)) == plain[1490:] * 2
    assert list(pipe.readlines(skip_lines=9999)) == []
    ends = [line + newline.encode() for line in plain]
    assert list(pipe.readlines(strip_newline=False, return_path=False)) == [*ends, *ends[:-1], plain[-1]]
    assert list(pipe.readlines(decode=True, encoding="ascii", return_path=False))[:3] == ["0", "1", "2"]
    with pytest.raises(UnicodeDecodeError):
        list(pipe.readlines(decode=True, encoding="ascii", errors="strict"))


def test_a_line_reader_closes_each_file():
    files = [io.BytesIO(b"1\n2\n"), io.BytesIO(b"3")]
    assert list(LineReader([("a", files[0]), ("b", files[1])])) == [("a", b"1"), ("a", b"2"), ("b", b"3")]
    assert all(file.closed for file in files)


@pytest.mark.parametrize("kind", ["files", "lines"])
def test_a_second_iteration_ends_the_first(urls, kind):
    files = S3FileLoader(urls)
    pipe = files if kind == "files" else files.readlines()
    first = iter(pipe)
    assert next(first)
    assert next(iter(pipe))
    with pytest.raises(RuntimeError, match="invalidated"):
        list(first)
    assert len(list(pipe)) == COUNT * (1 if kind == "files" else 2)


class Files:
    """Opens its files for each iteration."""

    def __iter__(self):
        return ((name, io.BytesIO(data)) for name, data in (("a", b"1\n2\n"), ("b", b"3")))


def test_a_second_iteration_over_other_files_ends_the_first():
    pipe = LineReader(Files())
    first = iter(pipe)
    assert next(first) == ("a", b"1")
    assert next(iter(pipe)) == ("a", b"1")
    with pytest.raises(RuntimeError, match="invalidated"):
        list(first)


# ---- DataLoaders


def lines_of(bucket, sharded=True):
    urls = IterableWrapper([f"s3://{bucket}/data/"]).list_files_by_s3()
    return (urls.shuffle().sharding_filter() if sharded else urls).load_files_by_s3().readlines(return_path=False)


@WORKERS
def test_a_sharded_pipeline_yields_every_line_once(urls, bucket, workers, method):
    loader = DataLoader(lines_of(bucket), batch_size=4, num_workers=workers, multiprocessing_context=method)
    expected = sorted(line for number in range(COUNT) for line in (b"%d" % number, b"%d." % number))
    for _ in range(2):
        assert sorted(chain(*loader)) == expected


def test_without_sharding_every_worker_yields_every_line(urls, bucket):
    loader = DataLoader(lines_of(bucket, sharded=False), batch_size=None, num_workers=2, multiprocessing_context="fork")
    assert len(list(loader)) == COUNT * 2 * 2


def test_streams_pass_through_the_queue_of_a_worker(urls, bucket):
    loader = DataLoader(S3FileLoader(urls), batch_size=5, num_workers=1, collate_fn=identity, multiprocessing_context="fork")
    assert [read(item) for batch in loader for item in batch] == [read(item) for item in S3FileLoader(urls)]


def test_the_client_of_the_parent_is_not_used_by_a_forked_worker(urls):
    pipe = S3FileLoader(urls)
    first = [read(item) for item in pipe]  # the parent opens connections
    loader = DataLoader(pipe.map(read), batch_size=None, num_workers=1, multiprocessing_context="fork")
    assert [tuple(item) for item in loader] == first


@WORKERS
def test_a_stateful_data_loader_resumes_exactly(urls, bucket, workers, method):
    def loader():
        pipe = IterableWrapper([f"s3://{bucket}/data/"]).list_files_by_s3().sharding_filter().load_files_by_s3()
        return StatefulDataLoader(
            pipe.readlines(return_path=False), batch_size=3, num_workers=workers, multiprocessing_context=method
        )

    full = [list(batch) for batch in loader()]
    interrupted = loader()
    seen = [list(batch) for _, batch in zip(range(5), interrupted, strict=False)]
    again = loader()
    again.load_state_dict(pickle.loads(pickle.dumps(interrupted.state_dict())))
    assert seen + [list(batch) for batch in again] == full


# ---- imports


def test_torchdata_is_not_imported():
    program = "import sys, penstock.datapipes.iter; print([name for name in sys.modules if name.startswith('torchdata')])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_torchdata_that_cannot_be_imported_is_not_needed(tmp_path):
    """torchdata 0.9 on a system without libcurl.so.4."""
    (tmp_path / "torchdata-0.9.0.dist-info").mkdir()
    (tmp_path / "torchdata-0.9.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: torchdata\nVersion: 0.9.0\n")
    (tmp_path / "torchdata/datapipes").mkdir(parents=True)
    (tmp_path / "torchdata/__init__.py").write_text("")
    (tmp_path / "torchdata/datapipes/__init__.py").write_text("raise ImportError('libcurl.so.4: cannot open')")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import penstock.datapipes.iter; print('done')"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "done\n"


def test_a_torch_without_datapipes_is_reported():
    program = """
import sys
sys.modules["torch.utils.data.datapipes.datapipe"] = None
sys.modules["torch.utils.data.datapipes._hook_iterator"] = None
sys.modules["torch.utils.data"] = type(sys)("torch.utils.data")
sys.modules["torch.utils.data.datapipes"] = None
try:
    import penstock.datapipes.iter
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("penstock.datapipes.iter needs torch.utils.data.datapipes, and 'torch.utils"), done.stderr


def test_a_failed_page_is_listed_again(surroundings, client):
    handler = S3Handler()
    with pytest.raises(penstock.S3NotFoundError):
        handler.list_files("s3://listed-later/")
    client.create_bucket("listed-later")
    put(client, "listed-later", "k", b"")
    assert handler.list_files("s3://listed-later/") == ["s3://listed-later/k"]
    assert handler.list_files("s3://listed-later/") == []


def test_lines_of_text_files():
    files = [("a", io.StringIO("1\n2\n")), ("b", io.StringIO("3"))]
    assert list(LineReader(files)) == [("a", "1"), ("a", "2"), ("b", "3")]
    assert list(LineReader([("a", io.StringIO("1\n"))], decode=True, return_path=False)) == ["1"]
