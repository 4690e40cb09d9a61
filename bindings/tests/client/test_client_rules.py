"""Rules of the reference connector's client that programs rely on: lazy construction, request headers, logs, streams."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import pickle
import platform
import threading

import penstock
import pytest
import torch
from bucket_io import get, put
from forked import in_child
from http_responses import responding
from hypothesis import given, settings
from hypothesis import strategies as st
from penstock import ObjectInfo, S3Client, S3ClientConfig, S3IterableDataset, S3MapDataset, S3ReaderConstructor
from penstock._streams import GetObjectStream
from penstock._user_agent import UserAgent
from penstock.testing import Emulator
from reader_kinds import KINDS, every_kind

DATA = bytes(range(256)) * 40


# ---- construction is lazy


@settings(max_examples=100, deadline=None)
@given(st.integers(), st.floats(allow_nan=True), st.integers(1, 10), st.text(), st.text())
def test_a_client_keeps_any_constructor_arguments(part_size, throughput, attempts, region, comment):
    config = S3ClientConfig(throughput, part_size, max_attempts=attempts)
    client = S3Client(region, endpoint="", user_agent=UserAgent([comment]), s3client_config=config)
    assert (client.region, client.endpoint, client.s3client_config) == (region, "", config)
    assert client.user_agent_prefix == UserAgent.get_default_prefix() + (f" ({comment})" if comment else "")
    again = pickle.loads(pickle.dumps(client))
    assert (again.region, again.user_agent_prefix) == (client.region, client.user_agent_prefix)


def test_a_configuration_does_not_change():
    config = S3ClientConfig()
    for field in dataclasses.fields(config):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(config, field.name, 1)
    with pytest.raises(
        ValueError, match=r"^requester_pays=True requires authenticated requests and cannot be combined with unsign"
    ):
        S3ClientConfig(requester_pays=True, unsigned=True)


def test_constructors_and_readers_send_no_request():
    with responding(404) as (client, received):
        config = client.s3client_config
        checkpoint = penstock.S3Checkpoint("us-east-1", endpoint=client.endpoint, s3client_config=config)
        assert (checkpoint.region, checkpoint.endpoint) == ("us-east-1", client.endpoint)
        readers = [
            checkpoint.reader("s3://bucket/k"),
            *(client.get_object("b", "k", reader_constructor=kind) for kind in KINDS.values()),
        ]
        for reader in readers:
            assert (reader.tell(), reader.key) == (0, "k")
            reader.close()
        client.list_objects("bucket")
        S3MapDataset.from_prefix("s3://bucket/", region="us-east-1", endpoint=client.endpoint, s3client_config=config)
        assert received == []
        with pytest.raises(penstock.S3NotFoundError):
            client.head_object("bucket", "k")
        assert [(each.method, each.target) for each in received] == [("HEAD", "/bucket/k")]


def test_clients_with_different_configurations_are_independent(emulator, bucket):
    clients = [emulator.client(S3ClientConfig(part_size=n << 20, max_attempts=n)) for n in (5, 6, 7)]
    wrong = S3Client(
        "us-east-1", endpoint=emulator.endpoint, s3client_config=S3ClientConfig(unsigned=True, force_path_style=True)
    )
    put(clients[0], bucket, "k", DATA)
    with pytest.raises(penstock.S3AccessDeniedError):
        get(wrong, bucket, "k")
    assert [get(client, bucket, "k") for client in clients] == [DATA] * 3
    assert len({id(client._client) for client in clients}) == 3


def test_threads_share_one_core_client(emulator, bucket):
    client, made = emulator.client(), []
    start = threading.Barrier(8)

    def use():
        start.wait()
        made.append(client._client)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(map(id, made))) == 1


def test_after_a_fork_parent_and_child_use_their_clients(client, bucket):
    """With s3torchconnector, the parent loses its connections and the child cannot use clients created before the fork."""
    put(client, bucket, "k", DATA)
    dataset = S3MapDataset.from_prefix(
        f"s3://{bucket}/", region="us-east-1", endpoint=client.endpoint, s3client_config=client.s3client_config
    )
    assert dataset[0].read() == DATA
    kept = client._client
    assert in_child(lambda: str(get(client, bucket, "k") == dataset[0].read() == DATA)) == "True"
    assert client._client is kept
    assert get(client, bucket, "k") == dataset[0].read() == DATA


# ---- requests


def test_requester_pays_is_sent_with_every_request():
    config = S3ClientConfig(requester_pays=True, force_path_style=True, access_key_id="a", secret_access_key="b", max_attempts=1)
    headers = {"ETag": '"e"', "Last-Modified": "Wed, 01 Jan 2025 00:00:00 GMT"}
    with responding(404, headers=headers, config=config) as (client, received):
        for use in (
            lambda: get(client, "bucket", "k"),
            lambda: put(client, "bucket", "k", b"x"),
            lambda: next(client.list_objects("bucket")),
            lambda: client.head_object("bucket", "k"),
            lambda: client.copy_object("bucket", "a", "bucket", "b"),
            lambda: client.delete_object("bucket", "k"),
        ):
            with pytest.raises(penstock.S3NotFoundError):
                use()
    assert [each.headers.get("x-amz-request-payer") for each in received] == ["requester"] * 6
    assert all("authorization" in each.headers for each in received)


def test_an_unsigned_client_sends_no_signature():
    with responding(404) as (client, received), pytest.raises(penstock.S3NotFoundError):
        get(client, "bucket", "k")
    assert "authorization" not in received[0].headers
    assert "x-amz-request-payer" not in received[0].headers


def test_a_storage_class_is_stored_with_the_object(client, bucket):
    client.put_object(bucket, "k", "STANDARD_IA").close()
    assert client.head_object(bucket, "k").storage_class == "STANDARD_IA"
    assert client.put_object(bucket, "k", storage_class="GLACIER").close() is None
    assert client.list_objects(bucket).__next__().object_info[0].storage_class == "GLACIER"


def test_the_user_agent_names_product_platform_and_comments(tmp_path):
    prefix = UserAgent.get_default_prefix()
    python = ".".join(platform.python_version_tuple()[:2])
    assert prefix.split(" ") == [
        f"penstock/{penstock.__version__}", "ua/2.1", f"os/linux#{platform.release()}", f"lang/python#{python}",
        f"md/arch#{platform.machine().lower()}", f"md/pytorch#{torch.__version__}",
    ]  # fmt: skip
    log = tmp_path / "log"
    with Emulator(log=str(log)) as emulator:
        client = emulator.client()
        client.create_bucket("bucket")
        put(client, "bucket", "k", b"x")
        place = {"region": "us-east-1", "endpoint": emulator.endpoint, "s3client_config": emulator.config()}
        list(S3MapDataset.from_prefix("s3://bucket/", **place))
        ranged = S3ReaderConstructor.range_based()
        for reader in S3IterableDataset.from_prefix("s3://bucket/", reader_constructor=ranged, **place):
            reader.read()
        penstock.S3Checkpoint(**place).reader("s3://bucket/k").read()
        S3Client(user_agent=UserAgent(["mine", "", "second\r\n\x01\u20ac"]), **place).head_object("bucket", "k")
    said = [json.loads(line)["user_agent"] for line in log.read_text().splitlines()]
    of_datasets = [agent.partition(" (")[2].partition(")")[0] for agent in said if "md/dataset" in agent]
    assert set(of_datasets) == {
        "md/dataset#map md/reader_type#sequential", "md/dataset#iterable md/reader_type#range_based",
    }  # fmt: skip
    assert all(agent.startswith(prefix) for agent in said)
    assert said[-1].startswith(prefix + " (mine; second____)")


@pytest.mark.parametrize("comments", ["text", ("a",), {"a"}])
def test_comments_are_a_list(comments):
    with pytest.raises(ValueError, match=r"^Argument comments must be a List\[str\]$"):
        UserAgent(comments)


def test_an_endpoint_argument_has_precedence_over_the_environment(emulator, bucket, client, monkeypatch):
    put(client, bucket, "k", DATA)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert get(S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config()), bucket, "k") == DATA
    monkeypatch.setenv("AWS_ENDPOINT_URL", emulator.endpoint)
    assert get(S3Client("us-east-1", s3client_config=emulator.config()), bucket, "k") == DATA


# ---- logs


def test_every_verb_is_logged_as_the_reference_does(client, bucket, caplog):
    put(client, bucket, "k", b"x")
    info = client.list_objects(bucket).__next__().object_info[0]
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="penstock"):
        client.get_object(bucket, "k")
        client.get_object(bucket, "k", object_info=info)
        client.head_object(bucket, "k")
        client.put_object(bucket, "k").close()
        client.list_objects(bucket, "pre")
        client.copy_object(bucket, "k", bucket, "k2")
        client.delete_object(bucket, "k2")
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", f"GetObject s3://{bucket}/k, object_info is None=True"),
        ("DEBUG", f"GetObject s3://{bucket}/k, object_info is None=False"),
        ("DEBUG", f"HeadObject s3://{bucket}/k"),
        ("DEBUG", f"PutObject s3://{bucket}/k"),
        ("DEBUG", f"ListObjects s3://{bucket}/pre"),
        ("DEBUG", f"CopyObject s3://{bucket}/k to s3://{bucket}/k2"),
        ("DEBUG", f"DeleteObject s3://{bucket}/k2"),
    ]


# ---- streams


@every_kind
def test_readers_open_their_streams_by_get_object_stream(client, bucket, kind, monkeypatch):
    put(client, bucket, "k", DATA)
    opened = []

    def counting(self, bucket, key, start=None, end=None):
        opened.append((start, end))
        return inner(self, bucket, key, start, end)

    inner = S3Client._get_object_stream
    monkeypatch.setattr(S3Client, "_get_object_stream", counting)
    assert client.get_object(bucket, "k", reader_constructor=KINDS[kind]).read() == DATA
    assert len(opened) == 1


def test_a_stream_yields_bytes_and_has_a_position(client, bucket):
    put(client, bucket, "k", DATA)
    stream = client._get_object_stream(bucket, "k", 10, 5000)
    assert (stream.bucket, stream.key, stream.tell()) == (bucket, "k", 10)
    assert iter(stream) is stream
    got = b""
    for block in stream:
        assert type(block) is bytes
        got += block
        assert stream.tell() == 10 + len(got)
    assert got == DATA[10:5000]
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(stream)
    assert b"".join(client._get_object_stream(bucket, "k", 10)) == DATA[10:]
    assert b"".join(client._get_object_stream(bucket, "k", None, 7)) == DATA  # without a start, the end is ignored
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(client._get_object_stream(bucket, "k", 0, 5)._client)


def test_a_stream_reports_a_missing_object_at_its_first_block(client, bucket):
    stream = client._get_object_stream(bucket, "missing")
    assert isinstance(stream, GetObjectStream)
    with pytest.raises(penstock.S3NotFoundError, match="The key does not exist"):
        next(stream)


@every_kind
def test_a_known_size_needs_no_head_request(client, bucket, kind):
    put(client, bucket, "k", DATA)
    info = client.list_objects(bucket).__next__().object_info[0]
    known = client.get_object(bucket, "k", object_info=info, reader_constructor=KINDS[kind])
    before = sum(client.metrics()["requests"].values())
    assert known.seek(0, io.SEEK_END) == len(DATA)
    assert sum(client.metrics()["requests"].values()) == before


def test_object_info_and_head_results_keep_64_bit_integers():
    info = ObjectInfo("k", '"e"', 2**64 - 1, -(2**63))
    assert (info.storage_class, info.restore_status) == (None, None)
    assert pickle.loads(pickle.dumps(info)) == info
    assert "18446744073709551615" in repr(info)
    head = penstock.HeadObjectResult('"e"', 2**64 - 1, 2**63 - 1)
    assert pickle.loads(pickle.dumps(head)) == head
    assert not hasattr(head, "key")
