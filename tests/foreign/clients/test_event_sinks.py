"""Event sinks: changes by boto3, received by Python's HTTP server and read from files."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from event_receiver import Received, receiving
from penstock_emulator import Emulator

QUEUE = "arn:aws:sqs:us-east-1:111122223333:images"
TOPIC = "arn:aws:sns:us-east-1:111122223333:removals"


def boto_of(emulator: Emulator, region: str = "us-east-1") -> Any:
    return boto3.client(
        "s3", endpoint_url=emulator.endpoint, region_name=region, aws_access_key_id=emulator.access_key_id,
        aws_secret_access_key=emulator.secret_access_key, config=Config(s3={"addressing_style": "path"}),
    )  # fmt: skip


def watch(client: Any, bucket: str = "watched") -> None:
    client.create_bucket(Bucket=bucket)
    queues = [{"QueueArn": QUEUE, "Events": ["s3:ObjectCreated:*"]}]
    topics = [{"TopicArn": TOPIC, "Events": ["s3:ObjectRemoved:*"]}]
    client.put_bucket_notification_configuration(
        Bucket=bucket,
        NotificationConfiguration={"QueueConfigurations": queues, "TopicConfigurations": topics},
        SkipDestinationValidation=True,
    )


def change(client: Any, count: int = 5) -> None:
    for number in range(count):
        client.put_object(Bucket="watched", Key=f"in/{number % 2}", Body=bytes(number))
    client.delete_object(Bucket="watched", Key="in/0")


def keys_and_sizes(requests: list[Received]) -> list[tuple[str, int]]:
    objects = [request.message["Records"][0]["s3"]["object"] for request in requests]
    return [(each["key"], each["size"]) for each in objects]


def delivery_failures(emulator: Emulator) -> int:
    """Of all emulators of this process."""
    return int(emulator.stats()["diagnostics"].get("events.delivery_failed", 0))


def test_a_webhook_receives_the_messages_in_their_order() -> None:
    with receiving() as queue, receiving() as others:
        sinks = {"arn:aws:sqs:*:images": queue.url("/hook?token=x"), "*": others.url()}
        with Emulator(event_sinks=sinks) as emulator:
            client = boto_of(emulator)
            watch(client)
            change(client)
            puts, [removal] = queue.take(5), others.take(1)
            events = emulator.events()
        assert keys_and_sizes(puts) == [("in/0", 0), ("in/1", 1), ("in/0", 2), ("in/1", 3), ("in/0", 4)]
        assert [request.message for request in [*puts, removal]] == [event["message"] for event in events]
        assert {request.path for request in puts} == {"/hook?token=x"}
        first = puts[0].headers
        assert first["host"] == f"127.0.0.1:{queue.port}"
        assert first["content-type"] == "application/json"
        assert (first["x-penstock-destination"], first["x-penstock-namespace"]) == (QUEUE, "default")
        assert [int(request.headers["x-penstock-event"]) for request in puts] == [1, 2, 3, 4, 5]
        assert removal.headers["x-penstock-destination"] == TOPIC
        assert removal.message["Records"][0]["eventName"] == "ObjectRemoved:Delete"


def test_an_event_is_sent_until_it_is_acknowledged() -> None:
    answers = iter([503, 404, 302])
    with receiving(lambda _: next(answers, 204)) as receiver:
        with Emulator(event_sinks={"*": receiver.url()}) as emulator:
            client = boto_of(emulator)
            watch(client)
            change(client, 2)
            requests = receiver.take(6)
        numbers = [int(request.headers["x-penstock-event"]) for request in requests]
        assert numbers == [1, 1, 1, 1, 2, 3]
        assert requests[0].message == requests[3].message


def test_delivered_events_stay_readable_and_are_marked() -> None:
    with receiving() as receiver, Emulator(event_sinks={QUEUE: receiver.url()}) as emulator:
        client = boto_of(emulator)
        watch(client)
        change(client, 1)
        receiver.take(1)
        put, removal = emulator.events()
        while not put["delivered"]:
            put, removal = emulator.events()
        assert not removal["delivered"]  # the topic has no sink


def test_a_webhook_that_never_responds_delays_no_request_and_no_stop() -> None:
    release = threading.Event()

    def block(_: Received) -> int:
        release.wait()
        return 200

    with receiving(block) as receiver:
        with Emulator(event_sinks={"*": receiver.url()}) as emulator:
            client = boto_of(emulator)
            watch(client)
            receiver.received = type(receiver.received)()
            change(client, 20)
            assert len(client.list_objects_v2(Bucket="watched")["Contents"]) == 1
            receiver.take(1)
        # The emulator has stopped although the first request is still open.
        assert receiver.received.empty()
        release.set()


def test_a_webhook_with_tls_receives_the_messages(certificate: tuple[Path, Path]) -> None:
    with (
        receiving(certificate=certificate) as receiver,
        Emulator(event_sinks={"*": receiver.url()}, event_sink_ca=str(certificate[0])) as emulator,
    ):
        client = boto_of(emulator)
        watch(client)
        change(client, 2)
        assert keys_and_sizes(receiver.take(3)[:2]) == [("in/0", 0), ("in/1", 1)]


def test_a_webhook_with_an_unknown_certificate_gets_nothing(certificate: tuple[Path, Path]) -> None:
    with receiving(certificate=certificate) as receiver, Emulator(event_sinks={"*": receiver.url()}) as emulator:
        client = boto_of(emulator)
        watch(client)
        failures = delivery_failures(emulator)
        change(client, 1)
        while delivery_failures(emulator) < failures + 2:
            pass
        assert receiver.received.empty()
        assert not any(event["delivered"] for event in emulator.events())


def test_a_webhook_that_starts_later_receives_the_events() -> None:
    with receiving() as receiver:
        port = receiver.port
    with Emulator(event_sinks={"*": f"http://localhost:{port}/events"}) as emulator:
        client = boto_of(emulator)
        watch(client)
        change(client, 2)
        with receiving(port=port) as receiver:
            assert keys_and_sizes(receiver.take(3)[:2]) == [("in/0", 0), ("in/1", 1)]


def test_namespaces_share_the_sinks() -> None:
    with receiving() as receiver, Emulator(event_sinks={"*": receiver.url()}) as emulator:
        space = emulator.create_namespace("other")
        client = boto3.client(
            "s3", endpoint_url=space.endpoint, region_name="us-east-1", aws_access_key_id=space.access_key_id,
            aws_secret_access_key=space.secret_access_key, config=Config(s3={"addressing_style": "path"}),
        )  # fmt: skip
        watch(client)
        change(client, 1)
        assert {request.headers["x-penstock-namespace"] for request in receiver.take(2)} == {"other"}


def test_a_file_has_a_line_per_message(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Emulator(event_sinks={QUEUE: f"file:{path}"}) as emulator:
        client = boto_of(emulator)
        watch(client)
        change(client)
        events = [event for event in emulator.events() if event["destination"] == QUEUE]
        while not all(event["delivered"] for event in emulator.events() if event["destination"] == QUEUE):
            pass
    assert [json.loads(line) for line in path.read_text().splitlines()] == [event["message"] for event in events]


def test_events_outlive_the_emulator_until_they_are_delivered(tmp_path: Path) -> None:
    with Emulator(data=str(tmp_path / "data")) as emulator:
        client = boto_of(emulator)
        watch(client)
        change(client, 3)
    for expected in ([1, 2, 3, 4], [5]):
        with receiving() as receiver, Emulator(data=str(tmp_path / "data"), event_sinks={"*": receiver.url()}) as emulator:
            if expected == [5]:
                boto_of(emulator).put_object(Bucket="watched", Key="later", Body=b"")
            requests = receiver.take(len(expected))
            while not all(event["delivered"] for event in emulator.events()):
                pass
        assert [int(request.headers["x-penstock-event"]) for request in requests] == expected


def test_event_bridge_receives_its_own_structure() -> None:
    with receiving() as receiver, Emulator(event_sinks={"arn:aws:events:*": receiver.url()}) as emulator:
        client = boto_of(emulator)
        client.create_bucket(Bucket="bridged")
        client.put_bucket_notification_configuration(Bucket="bridged", NotificationConfiguration={"EventBridgeConfiguration": {}})
        assert client.get_bucket_notification_configuration(Bucket="bridged")["EventBridgeConfiguration"] == {}
        put = client.put_object(Bucket="bridged", Key="a key/ä", Body=b"12345")
        client.delete_object(Bucket="bridged", Key="a key/ä")
        requests = receiver.take(2)
    created, deleted = (request.message for request in requests)
    # EventBridge's rules for S3 match these members.
    assert (created["source"], created["detail-type"]) == ("aws.s3", "Object Created")
    assert created["resources"] == ["arn:aws:s3:::bridged"]
    assert created["detail"]["bucket"] == {"name": "bridged"}
    assert created["detail"]["reason"] == "PutObject"
    assert created["detail"]["requester"] == created["account"]
    assert created["detail"]["request-id"] == put["ResponseMetadata"]["RequestId"]
    thing = created["detail"]["object"]
    assert (thing["key"], thing["size"], thing["etag"]) == ("a key/ä", 5, put["ETag"].strip('"'))
    assert (deleted["detail-type"], deleted["detail"]["deletion-type"]) == ("Object Deleted", "Permanently Deleted")
    assert requests[0].headers["x-penstock-destination"] == f"arn:aws:events:us-east-1:{created['account']}:event-bus/default"


def test_bad_event_sinks_are_refused(tmp_path: Path) -> None:
    for sinks, message in (
        ({"queue": "file:/a"}, "event sink 'queue': expected an ARN"),
        ({"arn:q": "ftp://host/"}, "event sink 'arn:q': the target must begin with file:, http:// or https://"),
        ({"arn:q": "http://host:99999/"}, "the port '99999' must be 1 to 65535"),
        ({"arn:q=": "file:/a"}, "must not contain '='"),
        ({"arn:q": f"file:{tmp_path}"}, "cannot be opened: Is a directory"),
    ):
        with pytest.raises(ValueError, match=message.replace("(", r"\(")):
            Emulator(event_sinks=sinks)
    with pytest.raises(ValueError, match=r"event sinks: the CA file '.*' cannot be used: it is not a regular file"):
        Emulator(event_sinks={"arn:q": "https://host/"}, event_sink_ca=str(tmp_path))
    with pytest.raises(TypeError, match=r"event_sinks\['arn:q'\]"):
        Emulator(event_sinks={"arn:q": 1})  # type: ignore[dict-item]
