"""The target of a command: client, bucket and key, and access to the objects below."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from .._client import S3Client
from .._config import S3ClientConfig
from .._exceptions import S3InvalidArgumentError, S3NotFoundError
from .._listing import S3BucketIterable
from .._objects import ObjectInfo, parse_s3_uri
from ._names import METADATA, folder_of, is_metadata, rank_of_metadata


class Place(NamedTuple):
    """A folder or file in a bucket. `folder` ends with a slash, or is empty for the whole bucket."""

    client: S3Client
    bucket: str
    key: str

    @property
    def folder(self) -> str:
        name = self.key.rstrip("/")
        return f"{name}/" if name else ""

    def uri(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"

    def objects(self, prefix: str) -> list[ObjectInfo]:
        """Lists all objects below a prefix. Raises if any page of the listing fails, so the list is always complete."""
        return [item.object_info for item in S3BucketIterable(self.client, self.bucket, prefix) if item.object_info is not None]

    def info(self, key: str) -> ObjectInfo | None:
        """Returns the current properties of an object; None if it does not exist."""
        try:
            head = self.client.head_object(self.bucket, key)
        except S3NotFoundError as error:
            if error.code == "NoSuchBucket":
                raise
            return None
        return ObjectInfo(key, head.etag, head.size, head.last_modified, head.storage_class)

    def read(self, key: str, start: int = 0, end: int | None = None, version_id: str = "") -> bytes:
        """Reads the bytes [start, end) of an object."""
        return self.client.core.read(self.bucket, key, start, end, version_id=version_id)[0]


def place_of(options: argparse.Namespace) -> Place:
    """Returns the target that the arguments name.

    Raises:
        ValueError: An argument, or a setting of the environment or profile, is invalid.
    """
    try:
        bucket, key = parse_s3_uri(options.uri)
        config = S3ClientConfig(profile=options.profile, force_path_style=options.path_style)
        client = S3Client(options.region, endpoint=options.endpoint, s3client_config=config)
        client.core  # noqa: B018 -- checks the endpoint
    except S3InvalidArgumentError as error:
        raise ValueError(str(error)) from None
    return Place(client, bucket, key)


def metadata_below(place: Place, folder: str) -> list[str]:
    """Returns the keys of a folder's metadata: ``.metadata``, else the metadata of each rank, by rank. May be empty."""
    if place.info(folder + METADATA) is not None:
        return [folder + METADATA]
    keys = [info.key for info in place.objects(folder + "__") if folder_of(info.key) == folder]
    return sorted((key for key in keys if is_metadata(key)), key=lambda key: rank_of_metadata(key) or 0)


def kind_of(place: Place) -> tuple[str, str]:
    """Returns ("dcp", folder) or ("file", key) for the checkpoint at a place.

    Raises:
        S3NotFoundError: There is no checkpoint.
    """
    if is_metadata(place.key):
        return "dcp", folder_of(place.key)
    if place.key and not place.key.endswith("/") and place.info(place.key) is not None:
        return "file", place.key
    if metadata_below(place, place.folder):
        return "dcp", place.folder
    error = S3NotFoundError(
        f"there is no checkpoint at {place.uri(place.key)}: neither that object nor {place.uri(place.folder + METADATA)};"
        f" `penstock checkpoint ls {place.uri(place.folder)}` lists the checkpoints below it"
    )
    error.code, error.bucket, error.key = "NoSuchKey", place.bucket, place.key
    raise error
