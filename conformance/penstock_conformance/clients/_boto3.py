"""boto3 under test. It has no datasets and no checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import boto3
from botocore.config import Config

from .._access import Access
from . import Client


class Boto3(Client):
    """boto3 with default settings and path-style addressing."""

    name: ClassVar[str] = "boto3"

    @property
    def version(self) -> str:
        return str(boto3.__version__)

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._client = self.client()  # shared by all requests; created before other threads start

    def client(self, **config: Any) -> Any:
        """A client with a session of its own."""
        return boto3.session.Session().client(
            "s3",
            endpoint_url=self.access.endpoint,
            region_name=self.access.region,
            aws_access_key_id=self.access.access_key,
            aws_secret_access_key=self.access.secret_key,
            aws_session_token=self.access.session_token,
            config=Config(s3={"addressing_style": "path"}, **config),
        )

    def keys(self, bucket: str, prefix: str) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [entry["Key"] for page in pages for entry in page.get("Contents", [])]

    def rename(self, bucket: str, source: str, target: str) -> None:
        self._client.rename_object(Bucket=bucket, Key=target, RenameSource=source)

    def reach(self, bucket: str, region: str, *, path_style: bool) -> None:
        style = Config(s3={"addressing_style": "path" if path_style else "virtual"}, retries={"total_max_attempts": 1})
        keys = {"aws_access_key_id": self.access.access_key, "aws_secret_access_key": self.access.secret_key}
        boto3.session.Session().client("s3", region_name=region, config=style, **keys).head_object(Bucket=bucket, Key="key")

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self._client.put_object(Bucket=bucket, Key=key, Body=data)

    def write(self, bucket: str, key: str, pieces: Iterable[bytes]) -> None:
        self._client.upload_fileobj(_File(pieces), bucket, key)

    def put_if(self, bucket: str, key: str, data: bytes, *, etag: str | None) -> None:
        condition = {"IfNoneMatch": "*"} if etag is None else {"IfMatch": etag}
        self._client.put_object(Bucket=bucket, Key=key, Body=data, **condition)

    def get(self, bucket: str, key: str) -> bytes:
        data: bytes = self._client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return data


class _File:
    """A readable file over an iterator of bytes."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._rest) < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._rest += piece
        end = len(self._rest) if size < 0 else size
        data, self._rest = self._rest[:end], self._rest[end:]
        return data
