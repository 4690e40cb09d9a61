"""Texts of exceptions: they start with the reference connector's words, which programs match, and continue with details."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import penstock
import pytest
from bucket_io import get, put
from http_responses import responding
from penstock import S3Client, S3ClientConfig
from penstock._exceptions import from_error
from penstock.testing import Emulator

NOWHERE = "no-such-bucket-here"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda c, b: get(c, b, "missing"), "Service error: The key does not exist"),
        (lambda c, b: get(c, NOWHERE, "k"), "Service error: The bucket does not exist"),
        (lambda c, b: next(c.list_objects(NOWHERE)), "Service error: The bucket does not exist"),
        (lambda c, b: c.delete_object(NOWHERE, "k"), "Service error: The bucket does not exist"),
        (lambda c, b: c.head_object(b, "missing"), "Service error: The object was not found"),
        (lambda c, b: c.head_object(NOWHERE, "k"), "Service error: The object was not found"),
        (lambda c, b: c.copy_object(b, "missing", b, "k"), "Service error: The object was not found"),
        (lambda c, b: c.copy_object(NOWHERE, "k", b, "k"), "Service error: The object was not found"),
    ],
)
def test_a_missing_key_or_bucket_has_the_references_message(client, bucket, call, text):
    with pytest.raises(penstock.S3NotFoundError) as caught:
        call(client, bucket)
    assert str(caught.value).startswith(text + " (")
    assert "404 HTTP 404" not in str(caught.value)
    assert (caught.value.status, caught.value.attempts) == (404, 1)


def test_a_copy_to_a_missing_bucket_is_not_found(client, bucket):
    put(client, bucket, "k", b"x")
    with pytest.raises(penstock.S3NotFoundError, match=r"^Service error: The object was not found \("):
        client.copy_object(bucket, "k", NOWHERE, "k")


def test_deleting_a_missing_object_succeeds(client, bucket):
    assert client.delete_object(bucket, "missing") is None


@pytest.mark.parametrize(("body", "said"), [("<Error><Message>not you</Message></Error>", "not you"), ("", "")])
def test_access_denied_has_the_references_message(body, said):
    with responding(403, body=body.encode()) as (client, _), pytest.raises(penstock.S3AccessDeniedError) as caught:
        get(client, "bucket", "k")
    assert str(caught.value).startswith(f"Client error: Forbidden: {said}")


def test_the_last_throttled_attempt_has_the_references_message():
    config = S3ClientConfig(unsigned=True, force_path_style=True, max_attempts=1)
    body = b"<Error><Code>SlowDown</Code></Error>"
    with responding(503, body=body, config=config) as (client, _), pytest.raises(penstock.S3ThrottledError) as caught:
        get(client, "bucket", "k")
    assert str(caught.value).startswith("Client error: Request throttled (")


def test_a_wrong_region_error_names_the_right_region():
    body = b"<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-3</Region></Error>"
    with responding(400, body=body) as (client, _), pytest.raises(penstock.S3WrongRegionError) as caught:
        get(client, "bucket", "k")
    assert str(caught.value).startswith("Client error: Wrong region (expecting eu-west-3) (")
    assert caught.value.region == "eu-west-3"


@pytest.mark.parametrize("region", ["evil.example/x", "nowhere-1"])
def test_a_redirect_to_an_unknown_region_fails_one_call_only(emulator, bucket, client, region):
    put(client, bucket, "k", b"content")
    emulator.faults().set(
        [{"when": {"bucket": bucket}, "do": {"redirect": {"status": 301, "region": region}}, "limit": {"times": 1}}]
    )
    fresh = emulator.client(S3ClientConfig(max_attempts=2))
    with pytest.raises(penstock.S3WrongRegionError) as caught:
        get(fresh, bucket, "k")
    assert "AWS_REGION" not in str(caught.value)
    emulator.faults().clear(forget=True)
    assert get(fresh, bucket, "k") == b"content"


def test_missing_credentials_have_the_references_message(emulator, bucket, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    client = S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=S3ClientConfig(force_path_style=True))
    with pytest.raises(penstock.S3UnauthenticatedError, match=r"^Client error: No signing credentials available: "):
        get(client, bucket, "k")


def test_an_invalid_endpoint_is_an_error_at_the_first_request():
    config = S3ClientConfig(access_key_id="a", secret_access_key="b")
    reader = S3Client("us-east-1", endpoint="INVALID", s3client_config=config)
    text = (
        "^Client error: Failed to construct request: Invalid S3 endpoint: endpoint could not be resolved:"
        " Custom endpoint `INVALID` was not a valid URI"
    )
    with pytest.raises(penstock.S3Exception, match=text):
        reader.head_object("bucket", "k")


@pytest.mark.parametrize("part_size", [756, 8000, 5 * 1024**3 + 1])
def test_a_part_size_that_s3_rejects_is_an_error_at_first_use_and_in_validate(emulator, part_size):
    config = S3ClientConfig(part_size=part_size)
    client = S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=config)
    text = "^invalid configuration: part size must be at between 5MiB and 5GiB"
    for use in (lambda: get(client, "b", "k"), lambda: client.put_object("b", "k"), config.validate):
        with pytest.raises(penstock.S3Exception, match=text):
            use()


@pytest.mark.parametrize("attempts", [-1, 0, 65, 10**6])
def test_attempts_out_of_range_raise_an_s3_exception(emulator, attempts):
    """In s3torchconnector, native code panics with an exception that `except Exception` does not catch."""
    config = S3ClientConfig(max_attempts=attempts)
    client = S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=config)
    for use in (lambda: get(client, "b", "k"), config.validate):
        with pytest.raises(ValueError, match=rf"max_attempts must be 1 to 64 \(1 means no retries\), not {attempts}") as caught:
            use()
        assert isinstance(caught.value, penstock.S3Exception)


def test_a_valid_configuration_is_valid():
    assert S3ClientConfig().validate() is None
    assert S3ClientConfig(max_attempts=64, part_size=5 * 1024**3).validate() is None


def test_a_pickled_exception_keeps_its_arguments_and_attributes():
    several = pickle.loads(pickle.dumps(penstock.S3Exception("one", 2, None)))
    assert type(several) is penstock.S3Exception
    assert several.args == ("one", 2, None)
    assert (several.code, several.status) == ("", 0)
    for kind in ("not_found", "throttled", "timeout", "data_loss", "invalid_argument", "unheard_of"):
        error = from_error(
            kind=kind, message="m", code="C", status=499, request_id="r", host_id="h", operation="GetObject", bucket="b", key="k",
            region="x", attempts=2,
        )  # fmt: skip
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)
        assert isinstance(again, penstock.S3Exception)


@pytest.mark.parametrize("arguments", [(None, "k"), ("b", None), (1, "k")])
def test_a_bucket_or_key_that_is_not_text_is_a_type_error(client, arguments):
    for call in (client.head_object, client.delete_object):
        with pytest.raises(TypeError, match=r"^(bucket|key) must be str, not \w+$"):
            call(*arguments)


def test_an_empty_key_is_an_error_at_first_use(emulator, bucket):
    checkpoint = penstock.S3Checkpoint("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())
    reader = checkpoint.reader(f"s3://{bucket}")
    with pytest.raises(penstock.S3Exception, match="the object key is empty"):
        reader.read()
    with pytest.raises(penstock.S3Exception, match="the object key is empty"), checkpoint.writer(f"s3://{bucket}/") as writer:
        writer.write(b"x")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('ongoing-request="true"', (True, None)),
        # 21 December 2012, 00:00:00 UTC, by `date -u +%s`; s3torchconnector's expiry is always 0.
        ('ongoing-request="false", expiry-date="Fri, 21 Dec 2012 00:00:00 GMT"', (False, 1356048000_000)),
        ('ongoing-request="false", expiry-date="whenever"', (False, None)),
        ("nonsense", None),
        ("", None),
    ],
)
def test_the_restore_status_has_the_expiry(header, expected):
    headers = {"ETag": '"e"', "Last-Modified": "Wed, 01 Jan 2025 00:00:00 GMT", "x-amz-storage-class": "GLACIER"}
    headers |= {"x-amz-restore": header} if header else {}
    with responding(200, headers=headers) as (client, _):
        head = client.head_object("bucket", "k")
    status = head.restore_status
    assert (None if status is None else (status.in_progress, status.expiry)) == expected
    assert head.storage_class == "GLACIER"
    assert pickle.loads(pickle.dumps(head)) == head


@pytest.mark.parametrize("region", ["us\r\neast", "us east", "-us", "us-east-1/x", "a" * 64])
def test_an_invalid_region_is_named_in_one_line_with_the_rule(region):
    """The line breaks of the region used to be part of the message."""
    with pytest.raises(penstock.S3InvalidArgumentError) as error:
        penstock.S3Client(region, endpoint="http://localhost:1").head_object("b", "k")
    shown = region.replace("\r", "\\r").replace("\n", "\\n")
    assert f"It is `{shown}`; use letters, digits and hyphens between them, at most 63, as in us-east-1" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_names_with_control_characters_are_escaped_in_messages_and_kept_in_attributes(client, bucket):
    key = "a\nb\x01\x85\u2028\u00e9"
    with pytest.raises(penstock.S3NotFoundError) as error:
        client.get_object(bucket, key).read()
    assert f"s3://{bucket}/a\\nb\\x01\\x85\\u2028\u00e9," in str(error.value)
    assert error.value.key == key


def test_a_dead_proxy_is_named_without_its_credentials():
    """The message used to name only the server behind the proxy."""
    program = (
        "import penstock; penstock.S3Client('us-east-1', endpoint='http://s3.invalid:9000', s3client_config="
        "penstock.S3ClientConfig(max_attempts=1, unsigned=True)).head_object('bucket', 'k')"
    )
    environment = os.environ | {"http_proxy": "http://user:secret@127.0.0.1:1", "no_proxy": "", "NO_PROXY": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert "refused by the proxy 127.0.0.1:1 (http_proxy) on the way to s3.invalid:9000: nothing listens there" in done.stderr
    assert "secret" not in done.stderr


def of(kind, message, **facts):
    """The exception for an error of the core."""
    known = {"code": "", "status": 0, "request_id": "", "host_id": "", "operation": "PutObject", "bucket": "b", "key": "k"}
    return from_error(kind=kind, message=message, **{**known, "region": "", "attempts": 1, **facts})


def test_the_message_of_a_throttled_request_is_kept():
    """With only 'Request throttled', a caller could not know that the rename may have happened."""
    text = "Please reduce your request rate. (an earlier attempt of this call got no clear answer and may have been carried out)"
    error = of("throttled", text, code="SlowDown", status=503, attempts=2)
    assert str(error) == f"Client error: Request throttled (PutObject s3://b/k, SlowDown HTTP 503, 2 attempts): {text}"


def test_a_throttled_upload_reports_that_it_may_have_been_created():
    of_begin = {"operation": "CreateMultipartUpload"}
    with Emulator() as own_emulator:
        client = own_emulator.client(S3ClientConfig(max_attempts=2))
        client.create_bucket("b-1")
        lost = {"do": {"reset": {}, "at": "after_commit"}, "when": of_begin, "limit": {"times": 1}}
        own_emulator.faults().set([lost, {"do": {"error": {"code": "SlowDown", "status": 503}}, "when": of_begin}])
        with pytest.raises(penstock.S3ThrottledError, match="may have been carried out"):
            client.create_multipart_upload("b-1", "k")


def test_a_missing_source_after_a_lost_response_may_have_been_renamed():
    text = "No such key. (an earlier attempt of this call got no clear answer and may have been carried out)"
    error = of("not_found", text, code="NoSuchKey", status=404, operation="RenameObject", attempts=2)
    assert str(error).startswith(
        "Service error: The key does not exist (RenameObject s3://b/k, NoSuchKey HTTP 404, 2 attempts): "
    )
    assert str(error).endswith(text)


@pytest.mark.parametrize(("status", "says"), [(301, "the bucket is in another region"), (307, "redirected")])
def test_a_redirect_without_a_region_reports_the_response(status, says):
    with responding(status) as (client, received), pytest.raises(penstock.S3WrongRegionError) as caught:
        get(client, "bucket", "k")
    assert str(caught.value).startswith(
        f"Client error: Wrong region (the response names none) (GetObject s3://bucket/k, HTTP {status}, 1 attempt): {says}"
        f" (answered {status} by 127.0.0.1:"
    )
    assert len(received) == 1


def test_a_redirect_to_the_same_region_reports_the_response():
    headers = {"x-amz-bucket-region": "eu-west-3"}
    body = b"<Error><Code>PermanentRedirect</Code><Message>Elsewhere</Message></Error>"
    with responding(301, headers=headers, body=body) as (client, _), pytest.raises(penstock.S3WrongRegionError) as caught:
        get(client, "bucket", "k")
    assert str(caught.value).startswith("Client error: Wrong region (expecting eu-west-3) (GetObject s3://bucket/k, ")
    assert "Elsewhere (the response names region eu-west-3, to which the request was sent" in str(caught.value)
    assert len(caught.value.attempt_history) == 2


@pytest.mark.parametrize(
    ("use", "requests", "says"),
    [
        (lambda client: list(client.list_objects("bucket")), 2, "its root is <html>"),
        (lambda client: client.copy_object("bucket", "a", "bucket", "b"), 2, "its root is <html>"),
        (lambda client: client.head_object("bucket", "k"), 2, "has no ETag"),
        (lambda client: get(client, "bucket", "k"), 2, "has no ETag"),
        (
            lambda client: put(client, "bucket", "k", b"x"),
            4,
            "it contains a web page",
        ),  # with HEAD requests that look for the object
    ],
)
def test_a_web_page_is_reported_as_not_s3(use, requests, says):
    """The request used to be sent ten times within 15 s; put_object reported success and get_object returned the page."""
    page = b"<html><head><title>Sign in</title></head><body>first<br>then</body></html>"
    with responding(200, headers={"Content-Type": "text/html"}, body=page) as (client, received):
        with pytest.raises(penstock.S3Exception, match=says) as caught:
            use(client)
        address = client.endpoint.removeprefix("http://")
        assert f"the response came from {address}, which may not be an S3 endpoint" in str(caught.value)
    assert len(received) == requests
