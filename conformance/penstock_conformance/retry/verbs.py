"""The verbs by the API of each client: Penstock, boto3 and s3torchconnector."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from penstock import S3Client, S3Exception
from penstock.requests import CompletedPart

from .._access import Access
from .._store import client, client_config
from .._verdict import NotRun

KEY, OTHER = "object", "other"
DATA = bytes(range(256)) * 8
RECORD = b"appended"
PART_BYTES = 5 << 20


class Fixture:
    """A bucket with the objects and uploads that a verb needs. Its requests bypass the injected faults.

    Thread safety: one thread.
    """

    def __init__(self, access: Access, bucket: str) -> None:
        self.bucket = bucket
        self._client = client(access)
        self.upload = ""
        self.parts: list[CompletedPart] = []
        self.etag = ""

    def put(self, key: str, data: bytes = DATA) -> None:
        self._client._client.put_object(self.bucket, key, data)

    def prepare(self, verb: str) -> None:
        """Creates what the verb needs."""
        core = self._client._client
        if verb not in (
            "PutObject",
            "PutObject, If-None-Match",
            "CreateMultipartUpload",
            "UploadPart",
            "CompleteMultipartUpload",
        ):
            self.put(KEY)
            self.etag = core.head_object(self.bucket, KEY).etag
        if verb in ("UploadPart", "UploadPartCopy", "CompleteMultipartUpload", "AbortMultipartUpload"):
            self.upload = self._client.create_multipart_upload(self.bucket, OTHER)
        if verb == "CompleteMultipartUpload":
            self.parts = [self._client.upload_part(self.bucket, OTHER, self.upload, 1, DATA)]

    def get(self, key: str) -> bytes | None:
        try:
            return self._client.get_object(self.bucket, key).read()
        except S3Exception as error:
            if error.status != 404:
                raise
            return None

    def keys(self) -> list[str]:
        return [info.key for page in self._client.list_objects(self.bucket) for info in page.object_info]

    def uploads(self) -> list[tuple[str, str]]:
        return self._client._client.list_multipart_uploads(self.bucket)

    def clear(self) -> None:
        """Aborts open uploads, so that the bucket can be deleted."""
        for key, upload in self.uploads():
            self._client._client.abort_multipart_upload(self.bucket, key, upload)


#: Whether the verb was executed, for verbs that change the bucket.
DONE: dict[str, Callable[[Fixture], bool]] = {
    "PutObject": lambda fixture: fixture.get(KEY) == DATA,
    "PutObject, If-None-Match": lambda fixture: fixture.get(KEY) == DATA,
    "PutObject, If-Match": lambda fixture: fixture.get(KEY) == DATA[::-1],
    "DeleteObject": lambda fixture: fixture.get(KEY) is None,
    "DeleteObjects": lambda fixture: fixture.keys() == [],
    "CopyObject": lambda fixture: fixture.get(OTHER) == DATA,
    "CreateMultipartUpload": lambda fixture: bool(fixture.uploads()) or fixture.get(OTHER) == DATA,
    "CompleteMultipartUpload": lambda fixture: fixture.get(OTHER) == DATA,
    "AbortMultipartUpload": lambda fixture: not fixture.uploads(),
    "PutObject, append": lambda fixture: fixture.get(KEY) == DATA + RECORD,
    "RenameObject": lambda fixture: (fixture.get(KEY), fixture.get(OTHER)) == (None, DATA),
}


class Verbs(ABC):
    """Calls a client's API for each verb."""

    def __init__(self, access: Access) -> None:
        self.access = access

    @abstractmethod
    def call(self, verb: str, fixture: Fixture) -> Any:
        """Executes the verb. Returns what it reads, if anything; raises what the client raises.

        Raises:
            NotImplementedError: the client does not support the verb.
        """


class Penstock(Verbs):
    """penstock.S3Client and its core client."""

    def call(self, verb: str, fixture: Fixture) -> Any:
        config = dataclasses.replace(client_config(self.access), max_attempts=4, hedge_reads=False)
        client = S3Client(self.access.region, endpoint=self.access.endpoint, s3client_config=config)
        core, bucket = client._client, fixture.bucket

        def append() -> None:
            with client.append_object(bucket, KEY) as writer:
                writer.write(RECORD)

        calls: dict[str, Callable[[], Any]] = {
            "GetObject": lambda: client.get_object(bucket, KEY).read(),
            "HeadObject": lambda: client.head_object(bucket, KEY).size,
            "ListObjectsV2": lambda: [info.key for page in client.list_objects(bucket) for info in page.object_info],
            "PutObject": lambda: core.put_object(bucket, KEY, DATA),
            "PutObject, If-None-Match": lambda: core.put_object(bucket, KEY, DATA, if_none_match=True),
            "PutObject, If-Match": lambda: core.put_object(bucket, KEY, DATA[::-1], if_match=fixture.etag),
            "DeleteObject": lambda: client.delete_object(bucket, KEY),
            "DeleteObjects": lambda: core.delete_objects(bucket, [KEY]),
            "CopyObject": lambda: client.copy_object(bucket, KEY, bucket, OTHER),
            "CreateMultipartUpload": lambda: client.create_multipart_upload(bucket, OTHER),
            "UploadPart": lambda: client.upload_part(bucket, OTHER, fixture.upload, 1, DATA),
            "UploadPartCopy": lambda: client.upload_part_copy(
                bucket, OTHER, fixture.upload, 1, bucket, KEY, src_range=(0, len(DATA))
            ),
            "CompleteMultipartUpload": lambda: client.complete_multipart_upload(bucket, OTHER, fixture.upload, fixture.parts),
            "AbortMultipartUpload": lambda: core.abort_multipart_upload(bucket, OTHER, fixture.upload),
            "CreateSession": lambda: client.get_object(bucket, KEY).read(),
            "PutObject, append": append,
            "RenameObject": lambda: client.rename_object(bucket, KEY, OTHER),
        }
        return calls[verb]()


class Boto3(Verbs):
    """boto3 with the standard retry mode."""

    def call(self, verb: str, fixture: Fixture) -> Any:
        import boto3
        from botocore.config import Config

        client: Any = boto3.session.Session().client(
            "s3", endpoint_url=self.access.endpoint, region_name=self.access.region, aws_access_key_id=self.access.access_key,
            aws_secret_access_key=self.access.secret_key, aws_session_token=self.access.session_token,
            # An append needs the checksum algorithm of the object, CRC64NVME, which boto3 does not support without the CRT.
            config=Config(
                retries={"mode": "standard"}, s3={"addressing_style": "path"},
                request_checksum_calculation="when_required" if verb == "PutObject, append" else "when_supported",
            ),
        )  # fmt: skip
        at = {"Bucket": fixture.bucket, "Key": KEY}
        upload = {"Bucket": fixture.bucket, "Key": OTHER, "UploadId": fixture.upload}
        source = {"Bucket": fixture.bucket, "Key": KEY}

        def upload_part() -> Any:
            """Creates an upload, because those of the fixture accept only CRC64NVME checksums."""
            begun = client.create_multipart_upload(Bucket=fixture.bucket, Key=OTHER)
            return client.upload_part(**upload | {"UploadId": begun["UploadId"]}, PartNumber=1, Body=DATA)

        parts = {"Parts": [{"PartNumber": part.part_number, "ETag": part.etag} for part in fixture.parts]}
        calls: dict[str, Callable[[], Any]] = {
            "GetObject": lambda: bytes(client.get_object(**at)["Body"].read()),
            "HeadObject": lambda: client.head_object(**at)["ContentLength"],
            "ListObjectsV2": lambda: [entry["Key"] for entry in client.list_objects_v2(Bucket=fixture.bucket)["Contents"]],
            "PutObject": lambda: client.put_object(**at, Body=DATA),
            "PutObject, If-None-Match": lambda: client.put_object(**at, Body=DATA, IfNoneMatch="*"),
            "PutObject, If-Match": lambda: client.put_object(**at, Body=DATA[::-1], IfMatch=fixture.etag),
            "DeleteObject": lambda: client.delete_object(**at),
            "DeleteObjects": lambda: client.delete_objects(Bucket=fixture.bucket, Delete={"Objects": [{"Key": KEY}]}),
            "CopyObject": lambda: client.copy_object(Bucket=fixture.bucket, Key=OTHER, CopySource=source),
            "CreateMultipartUpload": lambda: client.create_multipart_upload(Bucket=fixture.bucket, Key=OTHER),
            "UploadPart": upload_part,
            "UploadPartCopy": lambda: client.upload_part_copy(**upload, PartNumber=1, CopySource=source),
            "CompleteMultipartUpload": lambda: client.complete_multipart_upload(**upload, MultipartUpload=parts),
            "AbortMultipartUpload": lambda: client.abort_multipart_upload(**upload),
            "CreateSession": lambda: bytes(client.get_object(**at)["Body"].read()),
            "PutObject, append": lambda: client.put_object(**at, Body=RECORD, WriteOffsetBytes=len(DATA)),
            "RenameObject": lambda: client.rename_object(Bucket=fixture.bucket, Key=OTHER, RenameSource=KEY),
        }
        return calls[verb]()


class Reference(Verbs):
    """S3Client of s3torchconnector, which always uploads in parts."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        if access.ca and access.endpoint.startswith("https:"):
            raise NotRun("s3torchconnector has no setting for a CA certificate")

    def call(self, verb: str, fixture: Fixture) -> Any:
        from s3torchconnector import S3ClientConfig
        from s3torchconnector._s3client import S3Client as Connector

        config = S3ClientConfig(force_path_style=True, max_attempts=4)
        client: Any = Connector(self.access.region, endpoint=self.access.endpoint, s3client_config=config)
        bucket = fixture.bucket

        def put() -> None:
            with client.put_object(bucket, OTHER) as writer:
                writer.write(DATA)

        calls: dict[str, Callable[[], Any]] = {
            "GetObject": lambda: client.get_object(bucket, KEY).read(),
            "HeadObject": lambda: client.head_object(bucket, KEY).size,
            "ListObjectsV2": lambda: [info.key for page in client.list_objects(bucket) for info in page.object_info],
            "DeleteObject": lambda: client.delete_object(bucket, KEY),
            "CopyObject": lambda: client.copy_object(bucket, KEY, bucket, OTHER),
            "CreateMultipartUpload": put,
            "UploadPart": put,
            "CompleteMultipartUpload": put,
        }
        if verb not in calls:
            raise NotImplementedError(verb)
        return calls[verb]()


#: Expected results of reads.
READS: dict[str, Any] = {"GetObject": DATA, "HeadObject": len(DATA), "ListObjectsV2": [KEY], "CreateSession": DATA}
OF_CLIENT: dict[str, type[Verbs]] = {"penstock": Penstock, "boto3": Boto3, "s3torchconnector": Reference}
