"""Errors of a client's construction name the field and the types, and never contain a secret."""

from __future__ import annotations

import traceback
from pathlib import Path

import penstock
import pytest
from http_responses import responding
from penstock import S3Client, S3ClientConfig

SECRET = "TOPSECRETKEY"
KEYS = {"access_key_id": "AKID", "secret_access_key": SECRET, "session_token": "TOPSECRETTOKEN"}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("look_ahead_bytes", 2e9, "S3ClientConfig.look_ahead_bytes must be int or str, not float"),
        ("max_attempts", 1.5, "S3ClientConfig.max_attempts must be int or None, not float"),
        ("part_size", 8.5e6, "S3ClientConfig.part_size must be int or str or None, not float"),
        ("profile", 3, "S3ClientConfig.profile must be str or None, not int"),
        ("force_path_style", "yes", "S3ClientConfig.force_path_style must be bool, not str"),
        ("session_token", SECRET.encode(), "S3ClientConfig.session_token must be str or None, not bytes"),
    ],
)
def test_a_wrong_type_in_the_configuration_is_named_without_secrets(field: str, value: object, message: str) -> None:
    with pytest.raises(TypeError) as error:
        S3Client("us-east-1", s3client_config=S3ClientConfig(**{**KEYS, field: value})).head_object("b", "k")
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("region", "endpoint", "message"),
    [
        (None, None, "region must be str, not NoneType"),
        ("us-east-1", Path("x"), "endpoint must be str or None, not PosixPath"),
    ],
)
def test_a_wrong_type_of_the_client_is_named_without_secrets(region: object, endpoint: object, message: str) -> None:
    with pytest.raises(TypeError) as error:
        S3Client(region, endpoint=endpoint, s3client_config=S3ClientConfig(**KEYS)).head_object("b", "k")
    assert "SECRET" not in str(error.value)
    assert str(error.value) == message


@pytest.mark.parametrize("place", ["region", "endpoint", "profile", "access_key_id", "secret_access_key", "session_token"])
def test_text_that_utf_8_cannot_encode_is_refused_without_secrets(place: str) -> None:
    fields = {"region": "us-east-1", "endpoint": "http://127.0.0.1:9", "profile": None, **KEYS}
    fields[place] = f"{fields[place] or ''}\udc80"
    region, endpoint = fields.pop("region"), fields.pop("endpoint")
    with pytest.raises(penstock.S3InvalidArgumentError) as error:
        S3Client(region, endpoint=endpoint, s3client_config=S3ClientConfig(**fields)).head_object("b", "k")
    assert place in str(error.value)
    assert "'\\udc80' at position" in str(error.value)
    assert "TOPSECRET" not in "".join(traceback.format_exception(error.value))
    assert error.value.__context__ is None


def test_an_error_of_the_core_contains_no_secrets(monkeypatch) -> None:
    """The default text of pybind11 contains every argument."""
    monkeypatch.setattr(S3ClientConfig, "validate", lambda config: None)
    client = S3Client("us-east-1", s3client_config=S3ClientConfig(**KEYS, max_attempts="5"))
    with pytest.raises(TypeError, match="a client setting has the wrong type") as error:
        client.head_object("b", "k")
    assert "TOPSECRET" not in "".join(traceback.format_exception(error.value))
    assert error.value.__context__ is None


def test_credentials_that_a_server_repeats_are_redacted(monkeypatch, capfd) -> None:
    """A server may repeat the headers of a request in its error document or request id."""
    monkeypatch.setenv("PENSTOCK_LOG", "debug")
    echo = f"{SECRET} TOPSECRETTOKEN AWS4-HMAC-SHA256 Credential=AKID, Signature=deadbeef00"
    body = f"<Error><Code>{echo}</Code><Message>{echo}</Message><Echo>{echo}</Echo></Error>".encode()
    config = S3ClientConfig(**KEYS, force_path_style=True, max_attempts=2)
    headers = {"x-amz-request-id": echo, "x-amz-id-2": echo, "x-amz-bucket-region": echo}
    for status in (400, 403, 503):
        with responding(status, headers=headers, body=body, config=config) as (client, _):
            for call in (lambda c: c.get_object("b", "k").read(), lambda c: c.delete_object("b", "k")):
                with pytest.raises(penstock.S3Exception, match=r"\*\*\*") as error:
                    call(client)
                shown = "".join(traceback.format_exception(error.value)) + repr(error.value) + repr(vars(error.value))
                assert "TOPSECRET" not in shown
                assert "deadbeef00" not in shown
    logged = "".join(capfd.readouterr())
    assert "***" in logged
    assert "TOPSECRET" not in logged
    assert "deadbeef00" not in logged


@pytest.mark.parametrize("target", [float("inf"), float("nan"), 10**400])
def test_a_throughput_target_that_is_not_finite_is_refused(target: float) -> None:
    with pytest.raises(
        penstock.S3InvalidArgumentError, match=r"throughput_target_gbps must be more than 0 and less than 1e9 Gbit/s, not "
    ):
        S3ClientConfig(throughput_target_gbps=target).validate()


def test_a_timeout_out_of_range_names_both_limits() -> None:
    for value in (0, 1e9):
        with pytest.raises(
            penstock.S3InvalidArgumentError, match=r"must be None \(.*\) or more than 0 and less than 1e9 seconds"
        ):
            S3ClientConfig(attempt_timeout=value).validate()


@pytest.mark.parametrize("value", [1, [], {}, "", "text"])
def test_a_wrong_type_of_the_user_agent_or_configuration_is_rejected_by_the_constructor(value: object) -> None:
    for name, wanted in (("user_agent", "UserAgent"), ("s3client_config", "S3ClientConfig")):
        with pytest.raises(TypeError) as error:
            S3Client("us-east-1", **{name: value})
        assert str(error.value) == f"{name} must be {wanted} or None, not {type(value).__name__}"


def test_a_negative_throughput_target_is_rejected() -> None:
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"throughput_target_gbps must be .*, not -5"):
        S3ClientConfig(throughput_target_gbps=-5).validate()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_invalid_proxy_is_reported_without_its_password(monkeypatch, capfd, scheme: str) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    for variable in (f"{scheme}_proxy", "ALL_PROXY"):
        for url, said in ((f"sock5://u:{SECRET}@127.0.0.1:1", "'sock5'"), (f"http://u:{SECRET}", "no port from 0 to 65535")):
            with monkeypatch.context() as patch:
                patch.setenv(variable, url)
                config = S3ClientConfig(**KEYS, max_attempts=2)
                client = S3Client("us-east-1", endpoint=f"{scheme}://127.0.0.1:9", s3client_config=config)
                with pytest.raises(penstock.S3InvalidArgumentError, match=f"{variable} .*{said}") as error:
                    client.head_object("b", "k")
            assert SECRET not in str(error.value)
    assert SECRET not in "".join(capfd.readouterr())
