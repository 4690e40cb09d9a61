"""Open files: reads, and writes that only a close publishes."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import gzip
import io
import pickle
import random
import threading
import warnings
import zipfile
from array import array

import fsspec
import penstock
import pytest
import torch
from bucket_io import get, keys, put
from file_systems import file_system, storage_options
from forked import in_child
from penstock.fsspec import PenstockFileSystem

MIB = 1024**2


@pytest.fixture
def fs(emulator):
    return file_system(emulator)


def open_uploads(client, bucket):
    return client._client.list_multipart_uploads(bucket)


# ---- text with a byte order mark


@pytest.mark.parametrize("encoding", ["utf-16", "UTF16", "utf-32", "utf-8-sig", "utf-16-le", "utf-8"])
@pytest.mark.parametrize("name", ["p.txt", "p.txt.gz"])
def test_text_is_written_like_to_a_local_file(fs, client, bucket, tmp_path, encoding, name):
    def write(target):
        with target as file:
            print("h\u00e9llo", file=file)
            file.write("again")

    path = f"{bucket}/{name}"
    write(fs.open(path, "wt", encoding=encoding, compression="infer"))
    write((tmp_path / "p").open("wt", encoding=encoding))
    raw = get(client, bucket, name)
    assert (gzip.decompress(raw) if name.endswith(".gz") else raw) == (tmp_path / "p").read_bytes()
    assert fs.open(path, "rt", encoding=encoding, compression="infer").read() == "h\u00e9llo\nagain"
    with fs.open(f"{bucket}/a.txt", "at", encoding=encoding) as file:
        file.write("one ")
    with fs.open(f"{bucket}/a.txt", "at", encoding=encoding) as file:
        file.write("two")
    if encoding != "utf-8-sig":  # this codec writes a mark at every opening, like to a local file that cannot seek
        assert fs.open(f"{bucket}/a.txt", "rt", encoding=encoding).read() == "one two"


def test_text_file_without_text_is_empty(fs, client, bucket):
    fs.open(f"{bucket}/e.txt", "wt", encoding="utf-16").close()
    assert get(client, bucket, "e.txt") == b""


# ---- reading


def test_reads_like_a_file(fs, client, bucket):
    data = b"one\ntwo\nthree" * 1000
    put(client, bucket, "k", data)
    with fs.open(f"s3://{bucket}/k") as file:
        assert (file.size, file.mode, file.path, file.closed) == (len(data), "rb", f"{bucket}/k", False)
        assert (file.readable(), file.seekable(), file.writable()) == (True, True, False)
        assert (file.read(5), file.tell(), file.readline(), file.read1(2)) == (data[:5], 5, b"wo\n", b"th")
        buffer = bytearray(7)
        assert file.readinto(buffer) == 7
        assert (file.seek(-3, io.SEEK_END), file.read()) == (len(data) - 3, b"ree")
        file.seek(0)
        assert list(file) == data.splitlines(keepends=True)
        with pytest.raises(io.UnsupportedOperation):
            file.fileno()
    assert file.closed
    with fs.open(f"{bucket}/k", "r", encoding="ascii") as text:
        assert text.read() == data.decode()


def test_opening_a_missing_file_raises(fs, bucket):
    with pytest.raises(FileNotFoundError):
        fs.open(f"{bucket}/missing")
    with pytest.raises(IsADirectoryError):
        fs.open(bucket)
    with pytest.raises(NotImplementedError, match=r"r\+b"):
        fs.open(f"{bucket}/k", "r+b")


def test_cached_listing_saves_the_request_of_opening(emulator, client, bucket):
    put(client, bucket, "d/k", b"data")
    fs = file_system(emulator, use_listings_cache=True)
    fs.ls(f"{bucket}/d")
    after = emulator.journal().last
    assert fs.open(f"{bucket}/d/k").read() == b"data"
    assert [entry.operation for entry in emulator.journal().entries(after=after)] == ["GetObject"]


def test_open_file_pickles_with_its_position(fs, client, bucket):
    put(client, bucket, "k", b"0123456789")
    file = fs.open(f"{bucket}/k")
    file.seek(4)
    assert pickle.loads(pickle.dumps(file)).read() == b"456789"


def test_reader_can_be_chosen(fs, client, bucket, emulator):
    put(client, bucket, "k", bytes(3 * MIB))
    after = emulator.journal().last
    with fs.open(f"{bucket}/k", reader=penstock.S3ReaderConstructor.range_based(buffer_size=0)) as file:
        file.seek(100)
        file.read(10)
    assert emulator.journal().ranges(bucket, "k", after=after).fetched == [(100, 110)]


def test_reads_like_those_of_pyarrow(fs, client, bucket, emulator):
    """Reads the footer first, then columns at various offsets, each by one request for exactly its bytes."""
    data = random.Random(5).randbytes(3 * MIB)
    put(client, bucket, "k", data)
    chunks = [(2 * MIB + 5, 70_000), (1000, 300), (MIB, 131_072), (17, 1)]
    with fs.open(f"{bucket}/k", "rb") as file:
        assert (file.seek(0, io.SEEK_END), file.tell(), file.closed) == (len(data), len(data), False)
        after = emulator.journal().last
        file.seek(len(data) - 65_536)
        assert file.read(65_536) == data[-65_536:]
        assert file.seek(-8, io.SEEK_END) == len(data) - 8
        assert file.read(8) == data[-8:]
        for begin, size in chunks:
            assert file.seek(begin) == begin
            buffer = memoryview(bytearray(size))
            assert (file.readinto(buffer), file.tell()) == (size, begin + size)
            assert buffer == data[begin : begin + size]
        assert (file.seek(len(data)), file.read(10), file.readinto(bytearray(10))) == (len(data), b"", 0)
    entries = emulator.journal().entries(after=after, bucket=bucket)
    assert {entry.operation for entry in entries} == {"GetObject"}
    assert len(entries) <= 1 + len(chunks)
    assert sum(entry.bytes_out for entry in entries) <= 65_536 + sum(max(size, 65_536) for _, size in chunks)


def test_writes_like_those_of_pyarrow(fs, client, bucket):
    """Writes its own buffers and asks for the position after each. The closed file exists; closing it twice is allowed."""
    pieces = [b"PAR1", array("d", range(1000)), memoryview(bytes(MIB)), b"", bytearray(b"footer")]
    file = fs.open(f"{bucket}/k", "wb")
    at = 0
    for piece in pieces:
        size = memoryview(piece).nbytes
        assert (file.tell(), file.write(piece), file.tell()) == (at, size, at + size)
        at += size
    file.flush()
    assert (file.writable(), file.readable(), keys(client, bucket)) == (True, False, [])
    file.close()
    file.close()
    assert get(client, bucket, "k") == b"".join(memoryview(piece).cast("B") for piece in pieces)


def test_zip_files_and_numpy_like_readers(fs, client, bucket):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("a", b"x" * 100_000)
    put(client, bucket, "z.zip", memory.getvalue())
    with fs.open(f"{bucket}/z.zip") as file, zipfile.ZipFile(file) as archive:
        assert archive.read("a") == b"x" * 100_000


# ---- writing


def test_nothing_is_published_before_close(fs, client, bucket):
    file = fs.open(f"{bucket}/k", "wb")
    assert file.write(b"hello ") == 6
    file.write(memoryview(b"world"))
    assert (file.tell(), file.writable(), file.readable(), file.seekable()) == (11, True, False, False)
    assert keys(client, bucket) == []
    file.close()
    file.close()
    assert get(client, bucket, "k") == b"hello world"
    with pytest.raises(ValueError, match="closed"):
        file.write(b"x")


def leave_with(fs, path):
    with fs.open(path, "wb") as file:
        file.write(b"x" * 70 * MIB)
        raise KeyError("halfway")


def leave_text(fs, path):
    with fs.open(path, "w") as file:
        file.write("half")
        raise KeyError("halfway")


def leave_compressed(fs, path):
    with fs.open(path, "wb", compression="gzip") as file:
        file.write(b"half")
        raise KeyError("halfway")


def leave_compressed_text(fs, path):
    with fs.open(path, "wt", compression="bz2") as file:
        file.write("half")
        raise KeyError("halfway")


def leave_fsspec_open(fs, path):
    with fsspec.open(f"s3://{path}", "wb", **fs.storage_options) as file:
        file.write(b"half")
        raise KeyError("halfway")


def leave_fsspec_open_text(fs, path):
    with fsspec.open(f"s3://{path}", "wt", compression="gzip", **fs.storage_options) as file:
        file.write("half")
        raise KeyError("halfway")


def leave_closing(fs, path):
    with contextlib.closing(fs.open(path, "wb")) as file:
        file.write(b"half")
        raise KeyError("halfway")


def leave_exit_stack(fs, path):
    with contextlib.ExitStack() as stack:
        stack.callback(fs.open(path, "wb").close)
        raise KeyError("halfway")


def leave_text_wrapper(fs, path):
    with io.TextIOWrapper(fs.open(path, "wb")) as file:
        file.write("half")
        raise KeyError("halfway")


def leave_entered_exit_stack(fs, path):
    with contextlib.ExitStack() as stack:
        stack.enter_context(fs.open(path, "wb")).write(b"half")
        raise KeyError("halfway")


@contextlib.contextmanager
def opened_by_a_generator(fs, path):
    file = fs.open(path, "wb")
    try:
        yield file
    finally:
        file.close()


def leave_generator(fs, path):
    with opened_by_a_generator(fs, path) as file:
        file.write(b"half")
        raise KeyError("halfway")


def leave_finally(fs, path):
    file = fs.open(path, "wb")
    try:
        file.write(b"half")
        raise KeyError("halfway")
    finally:
        file.close()


class ClosesInNestedCalls:
    """Closes a file `depth` calls below its ``__exit__``."""

    def __init__(self, held, depth=15):
        self.held, self.depth = held, depth

    def __enter__(self):
        return self.held

    def __exit__(self, kind, value, trace):
        self.close_below(self.depth)

    def close_below(self, depth):
        if depth:
            self.close_below(depth - 1)
        else:
            self.held.close()


def leave_deep(fs, path):
    with ClosesInNestedCalls(fs.open(path, "wb")) as file:
        file.write(b"half")
        raise KeyError("halfway")


def leave_deep_text(fs, path):
    with ClosesInNestedCalls(fsspec.open(f"s3://{path}", "wt", compression="gzip", **fs.storage_options)) as file:
        file.open().write("half")
        raise KeyError("halfway")


def leave_while_handling(fs, path):
    try:
        raise ValueError("handled since before the file was opened")
    except ValueError:
        with fsspec.open(f"s3://{path}", "wb", **fs.storage_options) as file:
            file.write(b"half")
            raise KeyError("halfway") from None


def leave_pickled(fs, path):
    with contextlib.closing(fs.open(path, "wb")) as file:
        torch.save({"w": torch.ones(10)}, file)
        raise KeyError("halfway")


def leave_zip(fs, path):
    """ZipFile writes its directory, which would make the file look complete, when the block ends."""
    with contextlib.closing(fs.open(path, "wb")) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("one", "half")
        raise KeyError("halfway")


@pytest.mark.parametrize(
    "leave",
    [
        leave_with,
        leave_text,
        leave_compressed,
        leave_compressed_text,
        leave_fsspec_open,
        leave_fsspec_open_text,
        leave_closing,
        leave_exit_stack,
        leave_text_wrapper,
        leave_entered_exit_stack,
        leave_generator,
        leave_finally,
        leave_deep,
        leave_deep_text,
        leave_while_handling,
        leave_pickled,
        leave_zip,
    ],
)
def test_block_that_raises_publishes_nothing(fs, client, bucket, leave, monkeypatch):
    """fsspec closes, and thereby publishes, the files of a block that raises."""
    monkeypatch.setitem(__import__("sys").modules["fsspec.registry"]._registry, "s3", type(fs))
    put(client, bucket, "k", b"before")
    with pytest.raises(KeyError, match="halfway"):
        leave(fs, f"{bucket}/k")
    gc.collect()
    assert get(client, bucket, "k") == b"before"
    assert open_uploads(client, bucket) == []


@pytest.mark.parametrize("mode", ["wb", "w", "xb", "ab"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_garbage_collected_file_publishes_nothing(fs, client, bucket, mode, compression):
    file = fs.open(f"{bucket}/k", mode, compression=compression)
    file.write("x" if mode == "w" else b"x")
    with contextlib.suppress(Warning):
        del file
        gc.collect()
    assert keys(client, bucket) == []


class BreakingPacker(io.BufferedIOBase):
    """A compressor that raises while it holds some of the data."""

    error: BaseException

    def __init__(self, file, mode="wb"):
        self.file = file

    def write(self, data):
        self.file.write(bytes(data)[:1])
        raise self.error


STOPS = [KeyboardInterrupt(), asyncio.CancelledError(), MemoryError()]


@pytest.fixture
def breaking(request, monkeypatch):
    """Registers a compression that raises during a write. Returns its name."""
    monkeypatch.setattr(BreakingPacker, "error", request.param, raising=False)
    monkeypatch.setitem(fsspec.compression.compr, "breaking", BreakingPacker)
    return "breaking"


@pytest.mark.parametrize("breaking", STOPS, indirect=True, ids=repr)
def test_data_that_a_compressor_lost_is_not_published(fs, client, bucket, breaking):
    file = fs.open(f"{bucket}/k", "wb", compression=breaking)
    with pytest.raises(type(BreakingPacker.error)):
        file.write(b"hello")
    file.close()
    assert keys(client, bucket) == []
    assert open_uploads(client, bucket) == []


@pytest.mark.parametrize("breaking", STOPS, indirect=True, ids=repr)
def test_failed_compression_in_close_publishes_nothing(fs, client, bucket, breaking):
    file = fs.open(f"{bucket}/k", "wt", compression=breaking)
    file.write("hello")
    with pytest.raises(type(BreakingPacker.error)):
        file.close()
    file.close()
    assert keys(client, bucket) == []


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_failed_flush_in_close_publishes_nothing(fs, client, bucket, monkeypatch, stop):
    file = fs.open(f"{bucket}/k", "wt")
    file.write("hello")

    def flush():
        raise stop

    monkeypatch.setattr(file, "flush", flush)
    with pytest.raises(type(stop)):
        file.close()
    monkeypatch.undo()
    file.close()
    assert keys(client, bucket) == []


def test_close_after_discard_publishes_nothing(fs, client, bucket):
    file = fs.open(f"{bucket}/k", "wb")
    file.write(b"x" * 70 * MIB)
    file.discard()
    file.close()
    file.commit()
    assert keys(client, bucket) == []
    assert open_uploads(client, bucket) == []


def test_files_opened_while_an_exception_is_handled_are_published(fs, client, bucket):
    try:
        raise KeyError("handled")
    except KeyError:
        with fs.open(f"{bucket}/a", "wb") as file:
            file.write(b"a")
        with fsspec.open(f"penstock://{bucket}/b", "w", **fs.storage_options) as file:
            file.write("b")
        file = fs.open(f"{bucket}/c", "wb")
        file.write(b"c")
        file.close()

    class Reports:
        def __enter__(self):
            return self

        def __exit__(self, kind, value, trace):
            with fs.open(f"{bucket}/d", "wb") as file:
                file.write(b"d")
            return True

    with Reports():
        raise KeyError("reported")
    assert keys(client, bucket) == ["a", "b", "c", "d"]


def test_with_block_without_error_publishes_while_an_outer_exception_is_handled(fs, client, bucket):
    with contextlib.ExitStack() as stack:
        for mode, compression in (("wb", None), ("w", None), ("w", "gzip")):
            stack.enter_context(fs.open(f"{bucket}/{mode}{compression}", mode, compression=compression))
        stack.enter_context(contextlib.suppress(KeyError))
        raise KeyError("suppressed before the files are left")
    assert keys(client, bucket) == ["wNone", "wbNone", "wgzip"]


@pytest.mark.parametrize("mode", ["wb", "w"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_commit_publishes_while_an_exception_is_handled(fs, client, bucket, mode, compression):
    file = fs.open(f"{bucket}/k", mode, compression=compression)
    file.write("x" if mode == "w" else b"x")
    try:
        raise StopIteration
    except StopIteration:
        file.commit()
        file.close()
    with fs.open(f"{bucket}/k", "rb", compression=compression) as file:
        assert file.read() == b"x"


def test_close_while_an_exception_is_handled_raises_it_with_a_note(fs, client, bucket, caplog):
    """The caller must not assume that the object was published."""
    file = fs.open(f"{bucket}/k", "wb")
    file.write(b"x")
    error = KeyError("handled")
    with pytest.raises(KeyError) as raised:
        try:
            raise error
        except KeyError:
            file.close()
    assert raised.value is error
    note = f"s3://{bucket}/k was not published: close() was called while KeyError was being handled. Call commit() to publish"
    assert note in caplog.text
    assert note in "".join(getattr(error, "__notes__", [note]))
    file.close()
    assert keys(client, bucket) == []
    assert open_uploads(client, bucket) == []


def dropped_text_wrapper(fs, path):
    io.TextIOWrapper(fs.open(path, "wb")).write("half")


def dropped_buffer(fs, path):
    io.BufferedWriter(fs.open(path, "wb")).write(b"half")


def dropped_open_file(fs, path):
    fsspec.open(f"penstock://{path}", "wt", **fs.storage_options).open().write("half")


def dropped_compressed_wrapper(fs, path):
    io.TextIOWrapper(fs.open(path, "wb", compression="gzip")).write("half")


@pytest.mark.parametrize("drop", [dropped_text_wrapper, dropped_buffer, dropped_open_file, dropped_compressed_wrapper])
def test_garbage_collected_wrapper_publishes_nothing(fs, client, bucket, drop):
    """The io module closes a wrapped file when the wrapper is garbage collected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        drop(fs, f"{bucket}/k")
        gc.collect()
    assert keys(client, bucket) == []
    assert open_uploads(client, bucket) == []


def test_failed_file_is_not_published_at_the_end_of_its_transaction(fs, client, bucket):
    with fs.transaction:
        with contextlib.suppress(KeyError), fsspec.open(f"penstock://{bucket}/half", "wb", **fs.storage_options) as file:
            file.write(b"half")
            raise KeyError("halfway")
        with fs.open(f"{bucket}/whole", "wb") as file:
            file.write(b"whole")
    assert keys(client, bucket) == ["whole"]


def test_compressed_files_are_complete(fs, client, bucket):
    with fs.open(f"{bucket}/k.gz", "wt", compression="infer") as file:
        file.write("hello")
    assert gzip.decompress(get(client, bucket, "k.gz")) == b"hello"
    with fs.open(f"{bucket}/k.gz", "rt", compression="infer") as file:
        assert file.read() == "hello"


def test_exclusive_files(fs, client, bucket):
    with fs.open(f"{bucket}/k", "xb") as file:
        file.write(b"mine")
    with pytest.raises(FileExistsError):
        fs.open(f"{bucket}/k", "xb")
    late = fs.open(f"{bucket}/l", "xb")
    late.write(b"late")
    put(client, bucket, "l", b"first")
    with pytest.raises(FileExistsError):
        late.close()
    assert get(client, bucket, "l") == b"first"


@pytest.mark.parametrize("size", [0, 10, 5 * MIB - 1, 5 * MIB, 12 * MIB])
@pytest.mark.parametrize("more", [3, 20 * MIB])
def test_appending(fs, client, bucket, size, more):
    before = bytes(range(256)) * (size // 256) + bytes(size % 256)
    fs.pipe(f"{bucket}/k", before, ContentType="text/csv", Metadata={"who": "me"})
    with fs.open(f"{bucket}/k", "ab") as file:
        assert file.tell() == size
        file.write(b"a" * more)
        file.write(b"b")
        assert file.tell() == size + more + 1
        assert get(client, bucket, "k") == before
    assert get(client, bucket, "k") == before + b"a" * more + b"b"
    info = fs.info(f"{bucket}/k")
    assert (info["ContentType"], info["Metadata"]) == ("text/csv", {"who": "me"})
    assert open_uploads(client, bucket) == []


def test_appending_to_a_large_file_does_not_read_it(fs, client, bucket, emulator):
    put(client, bucket, "k", bytes(12 * MIB))
    after = emulator.journal().last
    with fs.open(f"{bucket}/k", "a") as file:
        file.write("more")
    assert emulator.journal().count(after=after, operations="GetObject") == 0
    assert emulator.journal().count(after=after, operations="UploadPartCopy") == 1


@pytest.mark.parametrize("size", [3, 6 * MIB])
def test_failed_append_changes_nothing(fs, client, bucket, size):
    put(client, bucket, "k", b"x" * size)
    with pytest.raises(KeyError), fs.open(f"{bucket}/k", "ab") as file:
        file.write(b"y" * 20 * MIB)
        raise KeyError
    assert get(client, bucket, "k") == b"x" * size
    with fs.open(f"{bucket}/k", "ab"):
        pass
    assert get(client, bucket, "k") == b"x" * size
    assert open_uploads(client, bucket) == []


@pytest.mark.parametrize("loss", [{"reset": {}}, {"error": {"status": 404, "code": "NoSuchUpload"}}])
def test_append_succeeds_with_a_lost_response(fs, client, bucket, emulator, loss):
    """The retry of the completion finds no upload, but the append has succeeded."""
    put(client, bucket, "k", b"x" * 6 * MIB)
    faults = emulator.faults()
    rule = {"when": {"operation": "CompleteMultipartUpload", "bucket": bucket}, "do": {**loss, "at": "after_commit"}}
    faults.set([{**rule, "id": "lost", "limit": {"times": 1}}])
    try:
        with fs.open(f"{bucket}/k", "ab") as file:
            file.write(b"y")
        assert faults.account().rule("lost").fired == 1
    finally:
        faults.clear()
    assert get(client, bucket, "k") == b"x" * 6 * MIB + b"y"


@pytest.mark.parametrize("operation", ["UploadPartCopy", "UploadPart", "CompleteMultipartUpload"])
def test_refused_append_raises_the_error_of_s3(client, bucket, emulator, operation):
    """Also if aborting the upload fails."""
    put(client, bucket, "k", b"x" * 6 * MIB)
    refused = {"error": {"status": 403, "code": "AccessDenied"}}
    faults = emulator.faults()
    operations = [operation, "AbortMultipartUpload"]
    faults.set([{"when": {"operation": each, "bucket": bucket}, "do": refused} for each in operations])
    try:
        with pytest.raises(PermissionError) as caught, file_system(emulator).open(f"{bucket}/k", "ab") as file:
            file.write(b"y" * 20 * MIB)
    finally:
        faults.clear()
    assert caught.value.__cause__.operation == operation
    assert get(client, bucket, "k") == b"x" * 6 * MIB


def test_append_to_an_object_whose_upload_is_missing_keeps_the_object(client, bucket, emulator):
    """Regression: a 404 of another request was taken for a missing file, and the appended bytes replaced the file."""
    put(client, bucket, "k", b"x" * 6 * MIB)
    rule = {"when": {"operation": "UploadPartCopy", "bucket": bucket}, "do": {"error": {"status": 404, "code": "NoSuchUpload"}}}
    faults = emulator.faults()
    faults.set([rule])
    try:
        with pytest.raises(FileNotFoundError, match="UploadPartCopy"), file_system(emulator).open(f"{bucket}/k", "ab") as file:
            file.write(b"y")
        faults.check()
    finally:
        faults.clear()
    assert get(client, bucket, "k") == b"x" * 6 * MIB
    assert open_uploads(client, bucket) == []


def test_append_to_a_missing_file_does_not_replace_a_newer_one(emulator, bucket, client):
    fs = file_system(emulator)
    with pytest.raises(FileExistsError), fs.open(f"{bucket}/k", "ab") as file:
        file.write(b"mine")
        put(client, bucket, "k", b"theirs")
    assert get(client, bucket, "k") == b"theirs"


def test_append_to_a_missing_file_creates_it(fs, client, bucket):
    with fs.open(f"{bucket}/log.csv", "a", newline="") as file:
        file.write("a,b\r\n")
    assert get(client, bucket, "log.csv") == b"a,b\r\n"
    with pytest.raises(FileNotFoundError), fs.open("no-such-bucket-here/k", "ab") as file:
        file.write(b"x")


# ---- transactions


def test_transaction_publishes_at_its_end(emulator, client, bucket):
    fs = file_system(emulator, skip_instance_cache=True)
    with fs.transaction:
        for name in "ab":
            with fs.open(f"{bucket}/{name}", "wb") as file:
                file.write(name.encode() * 70 * MIB)
        assert keys(client, bucket) == []
    assert keys(client, bucket) == ["a", "b"]
    assert open_uploads(client, bucket) == []


def test_failed_transaction_publishes_nothing(emulator, client, bucket):
    fs = file_system(emulator, skip_instance_cache=True)
    with pytest.raises(KeyError), fs.transaction:
        with fs.open(f"{bucket}/a", "wb") as file:
            file.write(b"a" * 70 * MIB)
        with fs.open(f"{bucket}/b", "wb") as file:
            raise KeyError
    with fs.transaction, contextlib.suppress(KeyError), fs.open(f"{bucket}/c", "wb") as file:
        raise KeyError
    assert keys(client, bucket) == []
    assert open_uploads(client, bucket) == []
    with fs.open(f"{bucket}/d", "w") as file:  # no longer in a transaction
        file.write("d")
    assert keys(client, bucket) == ["d"]


# ---- torch


def test_torch_saves_and_loads(fs, bucket):
    state = {"w": torch.arange(3_000_000.0), "step": 7}
    with fs.open(f"{bucket}/k", "wb") as file:
        torch.save(state, file)
    with fs.open(f"{bucket}/k") as file:
        loaded = torch.load(file)
    assert torch.equal(loaded["w"], state["w"])


def test_failed_save_raises_the_error_of_the_upload(emulator):
    fs = PenstockFileSystem(**storage_options(emulator))
    with pytest.raises(FileNotFoundError), fs.open("no-such-bucket-here/k", "wb") as file:
        torch.save({"w": torch.zeros(30_000_000)}, file)


def test_a_discard_during_a_write_of_another_thread_aborts_an_upload_in_parts(emulator, fs, client, bucket):
    faults = emulator.faults()
    stall = {"stall": {"ms": 1000}, "at": "before_commit"}
    faults.set([{"when": {"operation": "UploadPart", "part": 2}, "do": stall, "limit": {"times": 1}}])
    file = fs.open(f"{bucket}/k", "wb", Tagging="a=b")  # sends parts of 16 MiB, one at a time
    errors: list[BaseException] = []

    def write() -> None:
        try:
            file.write(bytes(48 * MIB))
        except OSError as error:
            errors.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    while faults.account().rules[0].fired == 0:
        assert writer.is_alive()
    file.discard()
    assert open_uploads(client, bucket) == []
    writer.join()
    faults.clear()
    assert errors
    assert open_uploads(client, bucket) == []
    assert keys(client, bucket) == []


@pytest.mark.parametrize("attributes", [{}, {"Tagging": "a=b"}], ids=["by the engine", "part by part"])
def test_a_forked_child_cannot_end_the_upload_of_a_file_of_its_parent(fs, client, bucket, attributes):
    held = [fs.open(f"{bucket}/k", "wb", **attributes)]
    held[0].write(bytes(40 * MIB))

    def use_and_drop() -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            with pytest.raises((OSError, RuntimeError), match=r"cannot be used after fork\(\)"):
                held[0].write(bytes(40 * MIB))
            held.clear()
        return "dropped"

    assert in_child(use_and_drop) == "dropped"
    held[0].close()
    assert fs.size(f"{bucket}/k") == 40 * MIB
    assert open_uploads(client, bucket) == []
