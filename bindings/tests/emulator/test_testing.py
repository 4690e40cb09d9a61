"""penstock.testing.Emulator: life cycle, options and bad options."""

from __future__ import annotations

import json
import re
import socket
import urllib.request

import penstock
import pytest
from bucket_io import get, put
from penstock.testing import Emulator


def test_two_emulators_are_independent():
    with Emulator() as one, Emulator() as other:
        one.client().create_bucket("only-here")
        put(one.client(), "only-here", "k", b"x")
        with pytest.raises(penstock.S3NotFoundError):
            get(other.client(), "only-here", "k")


def test_reset_removes_all_buckets(emulator):
    with Emulator() as own_emulator:
        client = own_emulator.client()
        client.create_bucket("b-1")
        own_emulator.reset()
        with pytest.raises(penstock.S3NotFoundError):
            put(client, "b-1", "k", b"x")


def test_a_reset_by_the_admin_api_removes_all_buckets():
    with Emulator() as own_emulator:
        client = own_emulator.client()
        client.create_bucket("b-1")
        urllib.request.urlopen(
            urllib.request.Request(f"{own_emulator.admin_endpoint}/_penstock/reset", method="POST"), timeout=10
        )
        assert client.list_buckets() == []


def test_objects_in_a_data_directory_survive_a_restart(tmp_path):
    with Emulator(data=str(tmp_path / "s3")) as own_emulator:
        own_emulator.client().create_bucket("kept")
        put(own_emulator.client(), "kept", "k", b"x" * 100_000)
    with Emulator(data=str(tmp_path / "s3"), durability="strict") as own_emulator:
        assert get(own_emulator.client(), "kept", "k") == b"x" * 100_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"journal_size": -1},
            'journal_size must be 0 to 1099511627776 bytes, a number or a text such as "64MiB" or "10GB"; not -1',
        ),
        ({"journal_size": "2TiB"}, "journal_size must be 0 to 1099511627776 bytes"),
        ({"journal_size": "64m"}, "not '64m'"),
        ({"journal_size": 1000}, "journal size must be 131072 "),
        ({"scrub_rate": "1kB"}, "scrub rate must be 65536 "),
        ({"first_byte_delay": 61}, 'first_byte_delay must be 0 to 60 seconds, a number or a text such as "25ms" or "1s"; not 61'),
        ({"first_byte_delay": "25"}, "not '25'"),
        ({"durability": "some"}, "durability must be 'relaxed' or 'strict', not 'some'"),
        ({"fail_seed": -1}, "fail_seed must be 0 to 18446744073709551615, not -1"),
        ({"port": 70_000}, "port must be 0 to 65535, not 70000"),
        ({"durability": "strict"}, "strict durability needs a data directory"),
        ({"faults": [{"do": {"slow_down": {}}, "when": {"probability": float("nan")}}]}, "faults[0].when.probability is nan"),
        ({"limits": {"latency": {"first_byte_ms": float("inf")}}}, "limits.latency.first_byte_ms is inf"),
    ],
)
def test_an_option_out_of_range_is_named_with_its_value(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Emulator(**options)


# An empty value would have the effect of None: objects kept in memory instead of on disk, a listener without a token.
@pytest.mark.parametrize(
    "option", ["data", "access_keys", "users", "tls_cert", "tls_key", "admin_token", "limits", "log", "faults", "region"]
)
def test_an_empty_option_is_refused(option):
    with pytest.raises(ValueError, match=rf"{option}.*(is empty; give it a value, or leave it out|'')"):
        Emulator(**{option: [] if option == "access_keys" else ""})


def test_the_default_memory_limit_is_none_not_zero():
    with pytest.raises(ValueError, match="memory_limit must be 1048576 or more, not 0"):
        Emulator(memory_limit=0)


def test_sizes_and_durations_are_numbers_or_texts():
    with Emulator(journal_size="128 KiB", memory_limit="1.5MiB", first_byte_delay="5ms", scrub_rate="1MB") as own_emulator:
        client = client_without_retries(own_emulator)
        client.create_bucket("b-1")
        with pytest.raises(penstock.S3Exception, match="InsufficientStorage"):
            put(client, "b-1", "k", b"x" * 1_600_000)
        put(client, "b-1", "k", b"x" * 1_000_000)
    with Emulator(first_byte_delay=0.001):
        pass


def test_seeding_from_an_empty_path_is_refused(emulator):
    with pytest.raises(ValueError, match="directory is empty"):
        emulator.seed("seeded", "")


def test_an_empty_document_is_a_value():
    with Emulator(limits={}) as own_emulator:
        own_emulator.client().create_bucket("b-1")


def test_a_stopped_emulator_is_unavailable():
    own_emulator = Emulator()
    client = client_without_retries(own_emulator)
    own_emulator.stop()
    own_emulator.stop()
    with pytest.raises(penstock.S3UnavailableError):
        client.create_bucket("b-1")


def client_without_retries(emulator: Emulator) -> penstock.S3Client:
    return emulator.client(penstock.S3ClientConfig(max_attempts=1))


def test_injected_failures_are_retried_and_counted():
    with Emulator(fail_rate=0.3, fail_seed=7) as own_emulator:
        client = own_emulator.client()
        client.create_bucket("b-1")
        for i in range(40):
            put(client, "b-1", f"k{i}", b"x")
        stats = client.metrics()
        assert stats["throttled"] == own_emulator.stats()["injected_failures"] > 0
        assert stats["retries"] == stats["throttled"]
        assert stats["failures"] == 0


def test_fail_rate_of_one_ends_in_a_clear_error():
    with Emulator(fail_rate=1.0) as own_emulator:
        client = own_emulator.client(penstock.S3ClientConfig(max_attempts=3))
        with pytest.raises(
            penstock.S3ThrottledError, match=r"Request throttled \(CreateBucket s3://b-1/.*SlowDown HTTP 503.*3 attempts"
        ):
            client.create_bucket("b-1")


def test_log_has_one_line_per_request_and_no_secret(tmp_path):
    log = tmp_path / "log"
    with Emulator(log=str(log)) as own_emulator:
        client = own_emulator.client()
        client.create_bucket("b-1")
        put(client, "b-1", "k", b"x")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["operation"] for line in lines] == ["CreateBucket", "PutObject"]
    assert "penstock-secret" not in log.read_text()
    assert "Signature" not in log.read_text()


def test_bad_options_are_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises((ValueError, penstock.testing.EmulatorError), match=str(port)):
            Emulator(port=port)
    with pytest.raises((ValueError, penstock.testing.EmulatorError), match="no-such-certificate"):
        Emulator(tls_cert="no-such-certificate.pem", tls_key="no-such-key.pem")
    file = tmp_path / "file"
    file.write_text("not a directory")
    with pytest.raises((ValueError, penstock.testing.EmulatorError), match="file"):
        Emulator(data=str(file))
    with pytest.raises((ValueError, penstock.testing.EmulatorError), match=r"1\.5"):
        Emulator(fail_rate=1.5)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"port": "80"}, TypeError, "port must be int, not str"),
        ({"memory_limit": 1.5}, TypeError, "memory_limit must be int or str, not float"),
        ({"fail_rate": "0.5"}, TypeError, "fail_rate must be int or float, not str"),
        ({"data": 1}, TypeError, "data must be str or None, not int"),
        ({"region": None}, TypeError, "region must be str, not NoneType"),
        ({"users": 1}, TypeError, "users must be str or PathLike or Mapping or None, not int"),
        ({"access_keys": {"a": "b"}}, TypeError, "access_keys must be list or tuple or None, not dict"),
        ({"access_keys": [("a", 1)]}, TypeError, r"access_keys\[0\]\[1\] must be str, not int"),
        ({"access_keys": [("a",)]}, ValueError, r"access_keys\[0\] must have two members, an access key id and a secret, not 1"),
        ({"tls_cert": b"cert.pem"}, TypeError, "tls_cert must be str or None, not bytes"),
    ],
)
def test_options_of_a_wrong_type_are_named(options, error, message):
    with pytest.raises(error, match=message):
        Emulator(**options)
