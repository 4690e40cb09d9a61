"""S3Client: verbs, listings, errors, and use across processes."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import time

import interrupted
import penstock
import pytest
from bucket_io import get, keys, put
from forked import in_child
from penstock import S3Client, S3ClientConfig, _core

UNUSUAL_KEYS = ["a b+c", "a/../b", "./x", "//double", "ä ö/ü", "100%", "q?x=1&y#z", "tab\there", "emoji-\U0001f600", "a" * 1024]


def test_the_first_client_rejects_an_invalid_memory_limit_variable(monkeypatch):
    monkeypatch.setenv("PENSTOCK_MEMORY_LIMIT", "5MB")
    with pytest.raises(
        penstock.S3InvalidArgumentError, match=r"PENSTOCK_MEMORY_LIMIT must be 16777216 \(16MiB\) or more: .* not `5MB`"
    ):
        penstock.S3Client("us-east-1")


def test_the_memory_limit_belongs_to_the_process_and_is_checked(client):
    before = penstock.memory_limit()
    penstock.set_memory_limit(1 << 26)
    try:
        assert penstock.memory_limit() == _core.memory_usage()["limit"] == 1 << 26
        client.list_buckets()
        assert penstock.memory_limit() == 1 << 26, "a client must not change the limit"
        with pytest.raises(ValueError, match=r"the memory limit must be 16777216 bytes \(16 MiB\) or more, not 1000") as raised:
            penstock.set_memory_limit(1000)
        assert raised.value.setting == "memory_limit"
        with pytest.raises(
            penstock.S3InvalidArgumentError, match=r"the memory limit must be 16777216 bytes \(16 MiB\) or more, not -1"
        ) as raised:
            penstock.set_memory_limit(-1)
        assert raised.value.setting == "memory_limit"
        with pytest.raises(TypeError, match="limit must be int or str, not float"):
            penstock.set_memory_limit(2e9)
        assert penstock.memory_limit() == 1 << 26
    finally:
        penstock.set_memory_limit(before)
    with pytest.raises(TypeError, match="memory_limit"):
        S3ClientConfig(memory_limit=1 << 26)


def run_python(program, **environment):
    completed = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return completed.stdout + completed.stderr


def test_the_memory_limit_comes_from_the_environment_until_it_is_set():
    program = """if True:
        import os, penstock
        print(penstock.memory_limit())
        penstock.set_memory_limit(1 << 25)
        pid = os.fork()
        if pid == 0:
            os._exit(0 if penstock.memory_limit() == 1 << 25 else 1)
        assert os.waitpid(pid, 0)[1] == 0, "a forked child must inherit the limit"
    """
    assert run_python(program, PENSTOCK_MEMORY_LIMIT="64MiB") == f"{1 << 26}\n"


def test_the_error_of_an_invalid_memory_limit_variable_names_the_setting():
    program = """if True:
        import penstock
        try:
            penstock.S3Client("us-east-1")._client
        except ValueError as error:
            print(error, error.setting)
    """
    output = run_python(program, PENSTOCK_MEMORY_LIMIT="lots")
    assert output.startswith("PENSTOCK_MEMORY_LIMIT must be 16777216 (16MiB) or more")
    assert output.endswith("(memory_limit) memory_limit\n")


@pytest.mark.parametrize("key", UNUSUAL_KEYS)
def test_objects_with_unusual_keys_round_trip(client, bucket, key):
    put(client, bucket, key, key.encode())
    assert get(client, bucket, key) == key.encode()
    assert keys(client, bucket) == [key]
    client.copy_object(bucket, key, bucket, "copy")
    assert get(client, bucket, "copy") == key.encode()
    client.delete_object(bucket, key)
    assert keys(client, bucket) == ["copy"]


def test_listing_with_a_delimiter_returns_pages_and_common_prefixes(client, bucket):
    for key in ("a/1", "a/2", "b/1", "c"):
        put(client, bucket, key, b"x")
    pages = list(client.list_objects(bucket, delimiter="/", max_keys=1))
    assert [p.common_prefixes for p in pages] == [["a/"], ["b/"], []]
    assert [[o.key for o in p.object_info] for p in pages] == [[], [], ["c"]]
    stream = client.list_objects(bucket, "a/")
    page = next(stream)
    assert [(o.key, o.size, o.storage_class) for o in page.object_info] == [("a/1", 1, "STANDARD"), ("a/2", 1, "STANDARD")]
    assert stream.complete
    assert list(stream) == []


def test_head_returns_size_etag_and_last_modified(client, bucket):
    put(client, bucket, "k", b"hello")
    head = client.head_object(bucket, "k")
    assert head.size == 5
    assert head.etag == '"5d41402abc4b2a76b9719d911017c592"'  # MD5 of "hello"
    assert abs(head.last_modified - time.time()) < 60


def test_creating_an_existing_bucket_succeeds(client, bucket):
    client.create_bucket(bucket)
    client.delete_bucket(bucket)
    with pytest.raises(penstock.S3NotFoundError):
        client.delete_bucket(bucket)


def test_an_error_has_operation_object_code_and_request_id(client, bucket):
    with pytest.raises(penstock.S3NotFoundError) as caught:
        get(client, bucket, "missing")
    error = caught.value
    assert (error.code, error.status, error.operation, error.key, error.attempts) == ("NoSuchKey", 404, "GetObject", "missing", 1)
    assert error.request_id
    assert str(error) == (
        f"Service error: The key does not exist (GetObject s3://{bucket}/missing, NoSuchKey HTTP 404,"
        f" request id {error.request_id}, 1 attempt)"
    )
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.attempts) == (str(error), "NoSuchKey", 1)


def test_a_wrong_secret_is_rejected_and_not_shown(emulator, bucket):
    config = S3ClientConfig(force_path_style=True, access_key_id=emulator.access_key_id, secret_access_key="not-the-secret")
    client = S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=config)
    with pytest.raises(penstock.S3Exception) as caught:
        client.head_object(bucket, "k")
    with pytest.raises(penstock.S3Exception, match="SignatureDoesNotMatch") as caught:
        get(client, bucket, "k")
    assert caught.value.status == 403
    assert "not-the-secret" not in str(caught.value)
    assert "not-the-secret" not in repr(config)


def test_a_client_of_another_region_follows_the_redirect(emulator, bucket):
    client = S3Client("eu-west-1", endpoint=emulator.endpoint, s3client_config=emulator.config())
    with pytest.raises(penstock.S3NotFoundError):
        get(client, bucket, "k")


def test_a_refused_connection_is_an_unavailable_error():
    config = S3ClientConfig(force_path_style=True, access_key_id="a", secret_access_key="b", max_attempts=2)
    client = S3Client("us-east-1", endpoint="http://127.0.0.1:1", s3client_config=config)
    with pytest.raises(penstock.S3UnavailableError, match=r"127\.0\.0\.1.*GetObject s3://bucket/k.*2 attempts"):
        get(client, "bucket", "k")


@pytest.mark.parametrize("endpoint", ["INVALID", "ftp://x", "http://", "http://h:99999"])
def test_the_error_of_an_invalid_endpoint_contains_the_endpoint(endpoint):
    client = S3Client("us-east-1", endpoint=endpoint, s3client_config=S3ClientConfig(access_key_id="a", secret_access_key="b"))
    with pytest.raises((ValueError, penstock.S3Exception)) as caught:
        get(client, "bucket", "k")
    assert endpoint in str(caught.value)


def test_part_size_is_checked_at_first_use(emulator):
    client = S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=S3ClientConfig(part_size=756))
    with pytest.raises(penstock.S3Exception, match=r"part size must be at between 5MiB and 5GiB, not 756 bytes"):
        get(client, "b", "k")


def test_invalid_combinations_of_settings_are_rejected():
    with pytest.raises(ValueError, match="requester_pays=True requires authenticated requests"):
        S3ClientConfig(requester_pays=True, unsigned=True)
    with pytest.raises(ValueError, match="belong together"):
        S3ClientConfig(access_key_id="a")
    assert S3ClientConfig(1.0, 2, True, True, 3, "p").profile == "p"


def test_client_pickles_and_copies(client, bucket):
    put(client, bucket, "k", b"x")
    assert get(pickle.loads(pickle.dumps(client)), bucket, "k") == b"x"
    assert get(copy.deepcopy(client), bucket, "k") == b"x"


def test_fork_with_live_connections(client, bucket):
    put(client, bucket, "k", b"x")
    open_writer = client.put_object(bucket, "large")
    open_writer.write(b"y" * (9 * 1024**2))
    reader = client.get_object(bucket, "k")
    assert reader.read(0) == b""
    assert in_child(lambda: get(client, bucket, "k").decode()) == "x"
    open_writer.close()  # The child's exit has not aborted the parent's upload.
    assert get(client, bucket, "large") == b"y" * (9 * 1024**2)
    assert reader.read() == b"x"


def test_forked_child_cannot_use_the_parents_writer(client, bucket):
    writer = client.put_object(bucket, "k")
    writer.write(b"x")
    message = in_child(lambda: str(writer.write(b"y")))
    assert message.startswith("RuntimeError: ")
    assert "cannot be used after fork()" in message
    writer.close()
    assert get(client, bucket, "k") == b"x"


def test_threads_share_a_client(client, bucket):
    data = {f"k{i}": os.urandom(1000) for i in range(64)}
    failures = []

    def work(key):
        put(client, bucket, key, data[key])
        if get(client, bucket, key) != data[key]:
            failures.append(key)

    threads = [threading.Thread(target=work, args=(key,)) for key in data]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert keys(client, bucket) == sorted(data)


def test_ctrl_c_ends_a_download():
    """A download from a server that never responds ends with KeyboardInterrupt after SIGINT."""
    program = """
        import socket, sys, threading, penstock
        listener = socket.create_server(("127.0.0.1", 0))
        config = penstock.S3ClientConfig(force_path_style=True, access_key_id="a", secret_access_key="b")
        client = penstock.S3Client("us-east-1", endpoint=f"http://127.0.0.1:{listener.getsockname()[1]}", s3client_config=config)
        connection = []
        def accept():
            connection.append(listener.accept())
            connection[0][0].recv(1)
            print("waiting", flush=True)
        threading.Thread(target=accept, daemon=True).start()
        try:
            client.get_object("bucket", "key").read()
        except KeyboardInterrupt:
            sys.exit(42)
    """
    assert interrupted.exit_status(program, timeout_s=60) == 42


def test_the_trace_has_a_line_per_attempt(emulator, bucket, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_TRACE", str(tmp_path / "trace"))
    client = emulator.client()
    put(client, bucket, "k", b"hello")
    get(client, bucket, "k")
    lines = (tmp_path / "trace").read_text().splitlines()
    assert [("PutObject" in line, "GetObject" in line) for line in lines] == [(True, False), (False, True)]
    assert '"bytes_received":5' in lines[1]
    monkeypatch.setenv("PENSTOCK_TRACE", str(tmp_path / "no" / "folder"))
    with pytest.raises(ValueError, match="PENSTOCK_TRACE names"):
        get(emulator.client(), bucket, "k")


def test_importing_penstock_does_not_import_torch():
    program = "import sys, penstock; penstock.S3Client('us-east-1'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("options", "planned"),
    [
        ({}, (None, None)),
        ({"part_size": 16 << 20}, (16 << 20, None)),
        ({"part_size": 8 << 20}, (8 << 20, None)),
        ({"throughput_target_gbps": 4.0}, (None, 10)),
        ({"throughput_target_gbps": 10.0}, (None, 25)),
    ],
)
def test_downloads_are_planned_unless_configured(emulator, options, planned):
    client = S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=S3ClientConfig(**options))
    assert (client.part_size, client.parallel_parts) == planned


def test_a_download_sends_at_most_one_request_per_configured_part(emulator, client, bucket):
    data = bytes(24 << 20)
    put(client, bucket, "k", data)
    parts = emulator.client(S3ClientConfig(part_size=6 << 20, throughput_target_gbps=2.0))
    assert parts.get_object(bucket, "k").read() == data
    assert 1 < parts.metrics()["requests"]["GetObject"] <= 4


def test_keys_that_xml_cannot_represent_are_deleted_with_the_others(client, bucket):
    """S3 and the emulator reject a whole DeleteObjects request for one such key."""
    for key in ("a", "b\x01", "c\ufffe", "d\t", "e"):
        put(client, bucket, key, b"x")
    assert client._client.delete_objects(bucket, ["a", "b\x01", "c\ufffe", "d\t"]) == []
    assert keys(client, bucket) == ["e"]
