"""boto3 under test: objects; it has neither datasets nor checkpoints."""

from __future__ import annotations

from typing import Any, ClassVar

import boto3
from botocore.config import Config

from . import Client


class Boto3(Client):
    """boto3 with its defaults, and path-style addressing."""

    name: ClassVar[str] = "boto3"

    @property
    def version(self) -> str:
        return str(boto3.__version__)

    def client(self, **config: Any) -> Any:
        """A client of its own session."""
        return boto3.session.Session().client(
            "s3",
            endpoint_url=self.access.endpoint,
            region_name=self.access.region,
            aws_access_key_id=self.access.access_key,
            aws_secret_access_key=self.access.secret_key,
            aws_session_token=self.access.session_token,
            config=Config(s3={"addressing_style": "path"}, **config),
        )

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self.client().put_object(Bucket=bucket, Key=key, Body=data)

    def get(self, bucket: str, key: str) -> bytes:
        data: bytes = self.client().get_object(Bucket=bucket, Key=key)["Body"].read()
        return data
