"""penstock.fsspec and s3fs return the same for the same calls, and write the same objects."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from fsspec_calls import Calls
from penstock.fsspec import S3FileSystem
from penstock.testing import Emulator

HERE = Path(__file__).parent
COMPARED = ("ContentType", "CacheControl", "ContentLanguage", "Metadata", "ServerSideEncryption", "StorageClass", "TagCount")


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        yield instance


def prepared(boto: Any, name: str) -> str:
    boto.create_bucket(Bucket=name)
    boto.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    boto.create_multipart_upload(Bucket=name, Key="open/upload")
    return name


def heads(boto: Any, bucket: str) -> dict[str, dict[str, Any]]:
    found = {}
    for entry in boto.list_objects_v2(Bucket=bucket).get("Contents", []):
        head = boto.head_object(Bucket=bucket, Key=entry["Key"])
        found[entry["Key"]] = {name: head.get(name) for name in COMPARED} | {"size": entry["Size"]}
    return found


@pytest.fixture(scope="module")
def compared(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    keys = {"aws_access_key_id": emulator.access_key_id, "aws_secret_access_key": emulator.secret_access_key}
    boto = boto3.client(
        "s3", endpoint_url=emulator.endpoint, region_name=emulator.region, config=Config(s3={"addressing_style": "path"}), **keys
    )
    theirs, ours = prepared(boto, "of-s3fs"), prepared(boto, "of-penstock")
    environment = {**os.environ, **{name.upper(): value for name, value in keys.items()}}
    environment.pop("PYTHONPATH", None)  # its packages are built for another environment
    command = [os.environ["PENSTOCK_CLIENTS_PYTHON"], str(HERE / "fsspec_calls.py"), emulator.endpoint, theirs]
    command.append(str(tmp_path_factory.mktemp("s3fs")))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr

    def make(**more: Any) -> S3FileSystem:
        base = {"endpoint_url": emulator.endpoint, "key": emulator.access_key_id, "secret": emulator.secret_access_key}
        return S3FileSystem(**{**base, "version_aware": True, "skip_instance_cache": True, **more})

    calls = Calls(make(), make, ours, tmp_path_factory.mktemp("penstock"))
    return {
        "s3fs": {**json.loads(done.stdout), "objects": heads(boto, theirs)},
        "penstock": {**calls.results(), "objects": heads(boto, ours)},
    }


@pytest.mark.parametrize("name", [*(name for name in dir(Calls) if name.startswith("of_")), "objects"])
def test_fsspec_returns_what_s3fs_returns(compared: dict[str, Any], name: str) -> None:
    assert not str(compared["s3fs"][name]).startswith("failed"), compared["s3fs"][name]
    assert compared["penstock"][name] == compared["s3fs"][name]
