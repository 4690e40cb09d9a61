"""What resumable uploads and downloads share."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from .._config import endpoint_of_environment
from .._exceptions import S3NotFoundError
from ._state_files import State
from ._urls import parse_s3

if TYPE_CHECKING:
    from .._client import S3Client

MIB = 1024**2
_CRC64NVME = (("crc64nvme", "AAAAAAAAAAA="),)

Progress = Callable[[int, "int | None"], None]


class Done(NamedTuple):
    """A transfer that has ended.

    Attributes:
        etag: ETag of the object, in quotes.
        size: Its size in bytes.
        resumed: Bytes of an earlier run that were not transferred again.
        version_id: Its version, of a download.
    """

    etag: str
    size: int
    resumed: int
    version_id: str | None = None


def read_at(fd: int, size: int, begin: int) -> bytes:
    """Reads a range of a file. Fewer bytes mean that the file ends in it."""
    data = os.pread(fd, size, begin)
    while len(data) < size and (more := os.pread(fd, size - len(data), begin + len(data))):
        data += more
    return data


def crc_of(data: bytes) -> int:
    return _core.prefix_crc(_CRC64NVME, data)


class Service(NamedTuple):
    """Where the objects of a client are. A profile may have an endpoint and keys of its own."""

    endpoint: str
    profile: str

    @classmethod
    def of(cls, client: S3Client) -> Service:
        profile = client.s3client_config.profile or os.environ.get("AWS_PROFILE", "")
        return cls(client.endpoint or endpoint_of_environment(), profile)


def discard(client: S3Client, state: State) -> None:
    """Gives up the transfer of a state: aborts its upload or removes its partial file, then removes the state."""
    header = state.header
    if header.get("operation") == "upload":
        with contextlib.suppress(S3NotFoundError):
            client.abort_multipart_upload(*parse_s3(header["target"]), header["upload_id"])
    elif header.get("operation") == "download":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(header["partial"])  # noqa: PTH108
    state.header = {}  # its file is removed at the end
