"""The verbs in the words of each client: our own, boto3 and the reference connector."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from penstock import S3Client, S3Exception

from .._bench import Access
from .._store import client, client_config
from .._suite import NotRun

KEY, OTHER = "object", "other"
DATA = bytes(range(256)) * 8
RECORD = b"appended"
PART_BYTES = 5 << 20


class Scene:
    """A bucket, and what is in it before a verb is tried; past all faults.

    Thread safety: one thread.
    """

    def __init__(self, access: Access, bucket: str) -> None:
        self.bucket = bucket
        self._client = client(access)
        self.upload = ""
        self.parts: list[tuple[int, str, str]] = []
        self.etag = ""

    def put(self, key: str, data: bytes = DATA) -> None:
        self._client._client.put_object(self.bucket, key, data)

    def prepare(self, verb: str) -> None:
        """What the verb needs to find."""
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
            self.upload = core.create_multipart_upload(self.bucket, OTHER)
        if verb == "CompleteMultipartUpload":
            self.parts = [core.upload_part(self.bucket, OTHER, self.upload, 1, DATA)]

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
        """Gives open uploads up, for the bucket to be removed."""
        for key, upload in self.uploads():
            self._client._client.abort_multipart_upload(self.bucket, key, upload)


#: What is there where the verb was done; None: nothing that stays.
DONE: dict[str, Callable[[Scene], bool]] = {
    "PutObject": lambda scene: scene.get(KEY) == DATA,
    "PutObject, If-None-Match": lambda scene: scene.get(KEY) == DATA,
    "PutObject, If-Match": lambda scene: scene.get(KEY) == DATA[::-1],
    "DeleteObject": lambda scene: scene.get(KEY) is None,
    "DeleteObjects": lambda scene: scene.keys() == [],
    "CopyObject": lambda scene: scene.get(OTHER) == DATA,
    "CreateMultipartUpload": lambda scene: bool(scene.uploads()) or scene.get(OTHER) == DATA,
    "CompleteMultipartUpload": lambda scene: scene.get(OTHER) == DATA,
    "AbortMultipartUpload": lambda scene: not scene.uploads(),
    "PutObject, append": lambda scene: scene.get(KEY) == DATA + RECORD,
    "RenameObject": lambda scene: (scene.get(KEY), scene.get(OTHER)) == (None, DATA),
}


class Verbs(ABC):
    """A client's way to send each verb. `operations` has S3's own where the client sends another one for it."""

    def __init__(self, access: Access) -> None:
        self.access = access

    @abstractmethod
    def call(self, verb: str, scene: Scene) -> Any:
        """Sends it; returns bytes or keys of what reads, raises what the client raises.

        Raises:
            NotImplementedError: the client has no such verb.
        """


class Ours(Verbs):
    """Of penstock.S3Client and the client below it."""

    def call(self, verb: str, scene: Scene) -> Any:
        config = dataclasses.replace(client_config(self.access), max_attempts=4, hedge_reads=False)
        client = S3Client(self.access.region, endpoint=self.access.endpoint, s3client_config=config)
        core, bucket = client._client, scene.bucket

        def append() -> None:
            with client.append_object(bucket, KEY) as writer:
                writer.write(RECORD)

        calls: dict[str, Callable[[], Any]] = {
            "GetObject": lambda: client.get_object(bucket, KEY).read(),
            "HeadObject": lambda: client.head_object(bucket, KEY).size,
            "ListObjectsV2": lambda: [info.key for page in client.list_objects(bucket) for info in page.object_info],
            "PutObject": lambda: core.put_object(bucket, KEY, DATA),
            "PutObject, If-None-Match": lambda: core.put_object(bucket, KEY, DATA, if_none_match=True),
            "PutObject, If-Match": lambda: core.put_object(bucket, KEY, DATA[::-1], if_match=scene.etag),
            "DeleteObject": lambda: client.delete_object(bucket, KEY),
            "DeleteObjects": lambda: core.delete_objects(bucket, [KEY]),
            "CopyObject": lambda: client.copy_object(bucket, KEY, bucket, OTHER),
            "CreateMultipartUpload": lambda: core.create_multipart_upload(bucket, OTHER),
            "UploadPart": lambda: core.upload_part(bucket, OTHER, scene.upload, 1, DATA),
            "UploadPartCopy": lambda: core.upload_part_copy(bucket, OTHER, scene.upload, 1, bucket, KEY, 0, len(DATA)),
            "CompleteMultipartUpload": lambda: core.complete_multipart_upload(
                bucket, OTHER, scene.upload, scene.parts, len(DATA)
            ),
            "AbortMultipartUpload": lambda: core.abort_multipart_upload(bucket, OTHER, scene.upload),
            "CreateSession": lambda: client.get_object(bucket, KEY).read(),
            "PutObject, append": append,
            "RenameObject": lambda: client.rename_object(bucket, KEY, OTHER),
        }
        return calls[verb]()


class Boto3(Verbs):
    """Of boto3, in its standard mode."""

    def call(self, verb: str, scene: Scene) -> Any:
        import boto3
        from botocore.config import Config

        client: Any = boto3.session.Session().client(
            "s3", endpoint_url=self.access.endpoint, region_name=self.access.region, aws_access_key_id=self.access.access_key,
            aws_secret_access_key=self.access.secret_key, aws_session_token=self.access.session_token,
            # An append has to have the kind of checksum that the object has, a CRC64NVME, which boto3 alone cannot make.
            config=Config(
                retries={"mode": "standard"}, s3={"addressing_style": "path"},
                request_checksum_calculation="when_required" if verb == "PutObject, append" else "when_supported",
            ),
        )  # fmt: skip
        at = {"Bucket": scene.bucket, "Key": KEY}
        upload = {"Bucket": scene.bucket, "Key": OTHER, "UploadId": scene.upload}
        source = {"Bucket": scene.bucket, "Key": KEY}

        def upload_part() -> Any:
            """To an upload of its own: one of ours takes CRC64NVMEs alone."""
            begun = client.create_multipart_upload(Bucket=scene.bucket, Key=OTHER)
            return client.upload_part(**upload | {"UploadId": begun["UploadId"]}, PartNumber=1, Body=DATA)

        parts = {"Parts": [{"PartNumber": number, "ETag": etag} for number, etag, _ in scene.parts]}
        calls: dict[str, Callable[[], Any]] = {
            "GetObject": lambda: bytes(client.get_object(**at)["Body"].read()),
            "HeadObject": lambda: client.head_object(**at)["ContentLength"],
            "ListObjectsV2": lambda: [entry["Key"] for entry in client.list_objects_v2(Bucket=scene.bucket)["Contents"]],
            "PutObject": lambda: client.put_object(**at, Body=DATA),
            "PutObject, If-None-Match": lambda: client.put_object(**at, Body=DATA, IfNoneMatch="*"),
            "PutObject, If-Match": lambda: client.put_object(**at, Body=DATA[::-1], IfMatch=scene.etag),
            "DeleteObject": lambda: client.delete_object(**at),
            "DeleteObjects": lambda: client.delete_objects(Bucket=scene.bucket, Delete={"Objects": [{"Key": KEY}]}),
            "CopyObject": lambda: client.copy_object(Bucket=scene.bucket, Key=OTHER, CopySource=source),
            "CreateMultipartUpload": lambda: client.create_multipart_upload(Bucket=scene.bucket, Key=OTHER),
            "UploadPart": upload_part,
            "UploadPartCopy": lambda: client.upload_part_copy(**upload, PartNumber=1, CopySource=source),
            "CompleteMultipartUpload": lambda: client.complete_multipart_upload(**upload, MultipartUpload=parts),
            "AbortMultipartUpload": lambda: client.abort_multipart_upload(**upload),
            "CreateSession": lambda: bytes(client.get_object(**at)["Body"].read()),
            "PutObject, append": lambda: client.put_object(**at, Body=RECORD, WriteOffsetBytes=len(DATA)),
            "RenameObject": lambda: client.rename_object(Bucket=scene.bucket, Key=OTHER, RenameSource=KEY),
        }
        return calls[verb]()


class Reference(Verbs):
    """Of the connector's S3Client: it uploads in parts, whatever the size."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        if access.ca and access.endpoint.startswith("https:"):
            raise NotRun("s3torchconnector cannot be told which certificate to trust")

    def call(self, verb: str, scene: Scene) -> Any:
        from s3torchconnector import S3ClientConfig
        from s3torchconnector._s3client import S3Client as Connector

        config = S3ClientConfig(force_path_style=True, max_attempts=4)
        client: Any = Connector(self.access.region, endpoint=self.access.endpoint, s3client_config=config)
        bucket = scene.bucket

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


#: What is right to read.
READS: dict[str, Any] = {"GetObject": DATA, "HeadObject": len(DATA), "ListObjectsV2": [KEY], "CreateSession": DATA}
OF_CLIENT: dict[str, type[Verbs]] = {"penstock": Ours, "boto3": Boto3, "s3torchconnector": Reference}
