"""Errors for directory buckets and endpoints that are raised before any request is sent."""

from __future__ import annotations

import penstock
import pytest
from penstock import S3Client, S3ClientConfig


def test_renames_and_appends_in_general_purpose_buckets_are_rejected(client, bucket):
    with pytest.raises(penstock.S3Exception, match="is a general purpose bucket; copy the object and delete its source"):
        client.rename_object(bucket, "a", "b")
    with pytest.raises(penstock.S3Exception, match="is a general purpose bucket; write a new object"):
        client.append_object(bucket, "log")
    assert set(client.metrics()["requests"]) == {"CreateBucket"}  # of the fixture


def test_invalid_arguments_of_renames_and_appends_are_rejected(client):
    directory = "data--use1-az4--x-s3"
    with pytest.raises(ValueError, match="ends in /"):
        client.rename_object(directory, "a", "b/")
    with pytest.raises(ValueError, match="1 to 64"):
        client.rename_object(directory, "a", "b", client_token="t" * 65)
    with pytest.raises(ValueError, match="buffer_size must be 1 byte or more, not 0"):
        client.append_object(directory, "log", buffer_size=0)
    with pytest.raises(TypeError, match=r"buffer_size must be .*, not float"):
        client.append_object(directory, "log", buffer_size=1.5)


CONDITIONS = ("if_modified_since", "if_unmodified_since", "source_if_modified_since", "source_if_unmodified_since")


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("time", [1e30, float("inf"), float("-inf"), float("nan"), -1, 2**70])
def test_times_out_of_range_are_rejected(client, name, time):
    """The errors used to come from int() or from a conversion in the core, without the name of the argument."""
    with pytest.raises(ValueError) as error:
        client.rename_object("data--use1-az4--x-s3", "a", "b", **{name: time})
    assert str(error.value) == f"{name} must be seconds since the epoch, 0 to 9223372036 (in the year 2262), not {time!r}"
    assert client.metrics()["requests"] == {}


@pytest.mark.parametrize("name", CONDITIONS)
def test_times_that_are_not_numbers_are_rejected(client, name):
    with pytest.raises(TypeError, match=f"^{name} must be int or float or None, not str"):
        client.rename_object("data--use1-az4--x-s3", "a", "b", **{name: "2026-01-01"})


@pytest.mark.parametrize("name", ["if_match", "if_none_match", "source_if_match", "source_if_none_match"])
def test_etags_that_are_not_text_are_rejected(client, name):
    with pytest.raises(TypeError, match=f"^{name} must be str or None, not int"):
        client.rename_object("data--use1-az4--x-s3", "a", "b", **{name: 5})


def test_an_etag_of_a_delete_that_is_not_text_is_rejected(client):
    """It used to be an AttributeError of str."""
    with pytest.raises(TypeError, match="if_match must be str or None, not int"):
        client.delete_object("bucket", "k", if_match=5)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("use_fips_endpoint", "A custom endpoint cannot be combined with FIPS"),
        ("use_dualstack_endpoint", "Cannot set dual-stack in combination with a custom endpoint."),
        ("use_accelerate_endpoint", "A custom endpoint cannot be combined with S3 Accelerate"),
    ],
)
def test_endpoint_flags_are_passed_to_the_endpoint_rules(emulator, flag, message):
    config = emulator.config(S3ClientConfig(**{flag: True}))
    with pytest.raises(penstock.S3Exception) as error:
        S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=config).delete_bucket("none")
    assert message in str(error.value)


def test_flags_accept_true_false_and_none(emulator):
    S3ClientConfig(use_arn_region=False, disable_multi_region_access_points=True).validate()
    with pytest.raises(TypeError, match="use_arn_region must be bool or None, not str"):
        S3ClientConfig(use_arn_region="yes").validate()


def test_the_variable_that_disables_sessions_accepts_booleans_only(emulator, monkeypatch):
    monkeypatch.setenv("AWS_S3_DISABLE_EXPRESS_SESSION_AUTH", "yes")
    with pytest.raises(penstock.S3Exception, match="AWS_S3_DISABLE_EXPRESS_SESSION_AUTH must be true or false, not `yes`"):
        emulator.client().delete_bucket("none")


def test_a_multi_region_access_point_is_rejected_with_an_alternative():
    client = S3Client("us-east-1", s3client_config=S3ClientConfig(access_key_id="a", secret_access_key="s"))
    with pytest.raises(penstock.S3Exception, match=r"Multi-Region Access Point.*use the bucket or the access point of one"):
        client.head_object("arn:aws:s3::123456789012:accesspoint/alias.mrap", "key")
