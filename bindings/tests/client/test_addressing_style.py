"""Where the bucket is in a URL: compared with botocore, and requests to the emulator by host names."""

from __future__ import annotations

from urllib.parse import urlsplit

import boto3
import penstock
import pytest
from botocore.config import Config
from penstock import S3ClientConfig

KEYS = {"access_key_id": "AKID", "secret_access_key": "secret"}
ENDPOINTS = [
    "http://localhost:9000",
    "http://minio:9000",
    "https://s3.store.example",
    "http://127.0.0.1:9000",
    "http://[::1]:9000",
]


def ours(endpoint: str | None, **settings: object) -> str:
    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=S3ClientConfig(**KEYS | settings))
    return client.presign("get", "bucket", "key").url.partition("?")[0]


def of_botocore(endpoint: str, style: str | None) -> str:
    client = boto3.session.Session().client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="AKID", aws_secret_access_key="secret",
        config=Config(signature_version="s3v4", s3={"addressing_style": style} if style else {}),
    )  # fmt: skip
    url: str = client.generate_presigned_url("get_object", Params={"Bucket": "bucket", "Key": "key"})
    return url.partition("?")[0]


@pytest.mark.parametrize("style", [None, "auto", "path", "virtual"])
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_services_other_than_aws_are_addressed_as_by_botocore(endpoint, style) -> None:
    assert ours(endpoint, addressing_style=style) == of_botocore(endpoint, style)


@pytest.mark.parametrize("endpoint", [None, "https://s3.us-east-1.amazonaws.com"])
def test_aws_is_addressed_by_virtual_hosts_unless_path_style_is_set(endpoint) -> None:
    """botocore uses path style at an endpoint_url of AWS too. AWS recommends virtual hosts."""
    for style in (None, "auto", "virtual"):
        assert ours(endpoint, addressing_style=style) == "https://bucket.s3.us-east-1.amazonaws.com/key"
    for settings in ({"addressing_style": "path"}, {"force_path_style": True}):
        assert ours(endpoint, **settings) == "https://s3.us-east-1.amazonaws.com/bucket/key"


def test_the_order_of_addressing_styles(tmp_path, monkeypatch) -> None:
    (tmp_path / "config").write_text("[default]\ns3 =\n  addressing_style = virtual\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    assert ours("http://minio:9000") == "http://bucket.minio:9000/key" == of_botocore("http://minio:9000", None)
    monkeypatch.setenv("PENSTOCK_ADDRESSING_STYLE", "path")
    assert ours("http://minio:9000") == ours(None).replace("https://s3.us-east-1.amazonaws.com", "http://minio:9000")
    assert ours("http://minio:9000", addressing_style="virtual") == "http://bucket.minio:9000/key"
    monkeypatch.setenv("PENSTOCK_ADDRESSING_STYLE", "virtual")
    assert ours("http://minio:9000", force_path_style=True) == "http://minio:9000/bucket/key"


@pytest.mark.parametrize(
    ("host", "style", "target"),
    [
        ("localhost", None, "/{bucket}/k"),
        ("s3.localhost", None, "/{bucket}/k"),
        ("localhost", "virtual", "/k"),
        ("s3.localhost", "virtual", "/k"),
    ],
)
def test_the_emulator_is_reached_by_its_host_names(emulator, bucket, host, style, target) -> None:
    """Names below localhost are those of this machine (RFC 6761), without an entry in a name server."""
    config = S3ClientConfig(
        access_key_id=emulator.access_key_id, secret_access_key=emulator.secret_access_key, addressing_style=style
    )
    port = urlsplit(emulator.endpoint).port
    client = penstock.S3Client("us-east-1", endpoint=f"http://{host}:{port}", s3client_config=config)
    client.put(bucket, "k", b"x")
    assert client.get(bucket, "k").body == b"x"
    targets = [entry.target for entry in emulator.journal().entries(bucket=bucket) if entry.operation.endswith("Object")]
    assert targets == [target.format(bucket=bucket)] * 2


def test_contradictory_and_unknown_styles_are_refused(emulator, monkeypatch) -> None:
    with pytest.raises(ValueError, match="force_path_style=True and addressing_style='virtual' contradict each other"):
        S3ClientConfig(force_path_style=True, addressing_style="virtual")
    with pytest.raises(penstock.S3InvalidArgumentError, match="addressing_style must be None or one of auto, path, virtual"):
        S3ClientConfig(addressing_style="host").validate()
    monkeypatch.setenv("PENSTOCK_ADDRESSING_STYLE", "host")
    with pytest.raises(penstock.S3InvalidArgumentError, match="PENSTOCK_ADDRESSING_STYLE must be auto, virtual or path"):
        ours(emulator.endpoint)
