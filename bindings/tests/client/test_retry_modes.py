"""Retry modes, limits, hedging and the history of a failed request, through S3ClientConfig and the emulator's faults."""

import contextlib
import pickle
from collections.abc import Iterator

import pytest
from penstock import S3Client, S3ClientConfig, S3Exception, S3InvalidArgumentError, S3TimeoutError
from penstock.testing import Emulator


def client_of(emulator: Emulator, **fields: object) -> S3Client:
    return emulator.client(S3ClientConfig(**fields))


@contextlib.contextmanager
def faulty(emulator: Emulator, rule: dict[str, object]) -> Iterator[None]:
    emulator.faults().set([rule])
    try:
        yield
    finally:
        emulator.faults().clear(forget=True)


def attempts(failing: S3Client, bucket: str) -> int:
    with pytest.raises(S3Exception) as raised:
        failing.head_object(bucket, "key")
    return raised.value.attempts


@pytest.fixture
def failing(emulator, bucket):
    """A bucket where every HeadObject fails with an internal error."""
    rule = {"when": {"operation": "HeadObject", "bucket": bucket}, "do": {"error": {"code": "InternalError"}}}
    with faulty(emulator, rule):
        yield bucket


def test_the_standard_mode_makes_three_attempts(emulator, failing):
    assert attempts(client_of(emulator, retry_mode="standard"), failing) == 3


def test_the_environment_chooses_the_mode(emulator, failing, monkeypatch):
    monkeypatch.setenv("AWS_NEW_RETRIES_2026", "true")
    assert attempts(client_of(emulator), failing) == 3
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    assert attempts(client_of(emulator), failing) == 2


def test_attempts_come_from_the_argument_then_the_environment_then_the_profile(emulator, failing, monkeypatch, tmp_path):
    (tmp_path / "config").write_text("[default]\nmax_attempts = 4\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    assert attempts(client_of(emulator), failing) == 4
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    assert attempts(client_of(emulator), failing) == 2
    assert attempts(client_of(emulator, max_attempts=3), failing) == 3
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert attempts(client_of(emulator, max_attempts=10, retry_mode="standard"), failing) == 10, (
        "although 10 equals the old default"
    )


def test_an_error_has_the_history_of_its_attempts(emulator, failing):
    with pytest.raises(S3Exception) as raised:
        client_of(emulator, max_attempts=3).head_object(failing, "key")
    error = raised.value
    history = error.attempt_history
    assert [(one.status, one.code) for one in history] == [(500, "500")] * 3
    assert all(one.address == emulator.endpoint.removeprefix("http://") for one in history)
    assert all(one.request_id for one in history) and history[-1].request_id == error.request_id
    assert history[0].at < history[1].at < history[2].at and history[0].seconds >= 0
    assert pickle.loads(pickle.dumps(error)).attempt_history == history
    notes = getattr(error, "__notes__", None)
    assert notes is None or (len(notes) == 3 and history[0].address in notes[0])


def test_a_request_sent_once_has_no_history(client, bucket):
    with pytest.raises(S3Exception) as raised:
        client.head_object(bucket, "nothing")
    assert raised.value.attempt_history == ()


@pytest.fixture
def hanging(emulator, bucket):
    """A bucket where no GetObject gets a response."""
    with faulty(emulator, {"when": {"operation": "GetObject", "bucket": bucket}, "do": {"stall": {"ms": 3_600_000}}}):
        yield bucket


def test_an_attempt_that_times_out_is_retried(emulator, hanging):
    with pytest.raises(S3TimeoutError) as raised:
        client_of(emulator, attempt_timeout=0.2, max_attempts=2).get_object(hanging, "key").read()
    assert raised.value.attempts == 2


def test_the_operation_timeout_ends_all_attempts(emulator, hanging):
    with pytest.raises(S3TimeoutError):
        client_of(emulator, operation_timeout=0.2).get_object(hanging, "key").read()


def test_a_stalled_read_is_retried_by_the_low_speed_limit(emulator, bucket, client):
    content = bytes(range(256)) * 1000
    with client.put_object(bucket, "key") as writer:
        writer.write(content)
    rules = [
        {"do": {"stall": {"ms": 3_600_000}, "at": "body_out@100000"}, "limit": {"times": 1}},
        {"do": {"stall": {"ms": 3_600_000}}, "limit": {"times": 1}},
    ]
    for rule in rules:
        with faulty(emulator, {"when": {"operation": "GetObject", "bucket": bucket}, **rule}):
            limited = client_of(emulator, low_speed_limit=1, operation_timeout=25.0)
            assert limited.get_object(bucket, "key").read() == content


def test_a_too_slow_attempt_names_the_python_setting(emulator, hanging):
    with pytest.raises(S3TimeoutError, match=r"no byte moved for 5000 ms .* \(low_speed_limit\) \(GetObject ") as raised:
        client_of(emulator, low_speed_limit=1, max_attempts=1).get_object(hanging, "key").read()
    assert raised.value.setting == "low_speed_limit"
    assert pickle.loads(pickle.dumps(raised.value)).setting == "low_speed_limit"


def test_an_attempt_without_progress_names_its_setting(emulator, hanging):
    with pytest.raises(S3TimeoutError, match=r"no byte moved for 200 ms .* \(idle_timeout\) \(GetObject ") as raised:
        client_of(emulator, idle_timeout=0.2, max_attempts=1).get_object(hanging, "key").read()
    assert raised.value.setting == "idle_timeout"


def test_a_tiny_timeout_is_not_treated_as_no_timeout(emulator, hanging):
    for name in ("attempt_timeout", "operation_timeout"):
        with pytest.raises(S3TimeoutError):
            client_of(emulator, **{name: 1e-12}, max_attempts=1).get_object(hanging, "key").read()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("retry_mode", "fast"),
        ("attempt_timeout", 0),
        ("operation_timeout", -1.0),
        ("connect_timeout", 0),
        ("idle_timeout", -0.5),
        ("low_speed_limit", -1),
        ("low_speed_limit", 2**64),
    ],
)
def test_invalid_settings_are_named(field, value):
    with pytest.raises(S3InvalidArgumentError, match=field):
        S3ClientConfig(**{field: value}).validate()
