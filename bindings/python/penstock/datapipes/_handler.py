"""S3Handler: lists the URLs below a prefix and opens objects, with the settings of torchdata's S3 DataPipes."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any

from .. import _core
from .._client import S3Client
from .._config import S3ClientConfig, check_type, endpoint_of_environment, size_of
from .._exceptions import S3Exception, S3InvalidArgumentError
from .._objects import ObjectInfo, S3BucketKeyData, parse_s3_uri
from .._prefetcher import Prefetcher
from .._session import GBIT_PER_CONNECTION
from .._user_agent import UserAgent
from .._versions import is_directory_bucket
from ..s3reader import S3ReaderConstructor
from ._errors import also_value_error

if TYPE_CHECKING:
    from ..s3reader import S3Reader

MAX_READ_AHEAD_BYTES = 32 * 1024**2  # of one object; malloc maps larger blocks anew each time, which is slow
LEAST_TIMEOUT_S = 1.0  # aws-sdk-cpp's shortest: libcurl counts the time without progress in whole seconds


def _number_of_environment(name: str) -> int | None:
    text = os.environ.get(name)
    return size_of(f"the environment variable {name}", int(text) if text.isdecimal() else text) if text else None


def _endpoint_of_environment() -> str | None:
    """Returns the endpoint of ``S3_ENDPOINT_URL``, with the scheme of ``S3_USE_HTTPS`` if it has none; None: unset."""
    if os.environ.get("S3_VERIFY_SSL", "")[:1] == "0":
        raise S3InvalidArgumentError(
            "S3_VERIFY_SSL=0 is not supported: certificates are always verified; unset it, and name the certificate authority of"
            " the endpoint in AWS_CA_BUNDLE"
        )
    plain = os.environ.get("S3_USE_HTTPS", "")[:1] == "0"
    endpoint = os.environ.get("S3_ENDPOINT_URL")
    if endpoint:
        return endpoint if "://" in endpoint else f"{'http' if plain else 'https'}://{endpoint}"
    if plain and not endpoint_of_environment():
        raise S3InvalidArgumentError(
            "S3_USE_HTTPS=0 without S3_ENDPOINT_URL is not supported: requests to AWS are always encrypted; unset it, or set"
            " S3_ENDPOINT_URL"
        )
    return None


class ListedUrl(str):
    """A URL with the entry of its object in the listing: the prefetcher gets the size from it."""

    info: ObjectInfo

    def __reduce__(self) -> tuple[Any, ...]:
        return _listed_url, (str(self), self.info)


def _listed_url(url: str, info: ObjectInfo) -> ListedUrl:
    listed = ListedUrl(url)
    listed.info = info
    return listed


def object_of(url: str) -> S3BucketKeyData:
    """Returns the object of a URL.

    Raises:
        ValueError: `url` is not ``s3://bucket/key``.
    """
    bucket, key = parse_s3_uri(url)
    if not key:
        raise ValueError(f"{url!r} names a bucket and no object; write s3://bucket/key, or list it with S3FileLister")
    return S3BucketKeyData(bucket, key, url.info if isinstance(url, ListedUrl) else None)


class S3Handler:
    """Lists and reads the objects of ``s3://`` URLs. Picklable; each process makes its own client, for its first request.

    :meth:`list_files`, :meth:`clear_marker`, :meth:`s3_read` and the setters are the interface of torchdata's native handler of
    the same name.

    Args:
        request_timeout_ms: Milliseconds without progress after which an attempt of a request fails and is repeated. Less than
            1000 counts as 1000, as in torchdata. -1: Penstock's default, ``S3ClientConfig.idle_timeout``.
        region: AWS region. Empty: ``AWS_REGION``, ``AWS_DEFAULT_REGION``, the profile.
        buffer_size: The most bytes that are read in advance. None or 0: ``S3_BUFFER_SIZE``, else the setting ``look_ahead_bytes``
            of `s3client_config`.
        multi_part_download: Whether the parts of one object are read in parallel. None: False if ``S3_MULTI_PART_DOWNLOAD`` is
            ``OFF``, else True.
        endpoint: URL of an S3-compatible service; None: ``S3_ENDPOINT_URL``, ``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``,
            else AWS.
        s3client_config: All other settings; None: defaults.

    Raises:
        TypeError: An argument is of another type.
        ValueError: `request_timeout_ms`, `buffer_size` or ``S3_BUFFER_SIZE`` is out of range.

    Thread safety: use from one thread at a time.
    """

    _default_region = ""
    _unparallel = ("S3_MULTI_PART_DOWNLOAD", "OFF")  # the environment variable, and its value that switches parallel parts off

    def __init__(
        self,
        request_timeout_ms: int = -1,
        region: str = "",
        *,
        buffer_size: int | str | None = None,
        multi_part_download: bool | None = None,
        endpoint: str | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        check_type("request_timeout_ms", request_timeout_ms, (int,))
        check_type("region", region, (str,))
        check_type("multi_part_download", multi_part_download, (bool, NoneType))
        check_type("endpoint", endpoint, (str, NoneType))
        check_type("s3client_config", s3client_config, (S3ClientConfig, NoneType))
        if request_timeout_ms != -1 and request_timeout_ms < 1:
            raise ValueError(f"request_timeout_ms must be -1 (the default) or at least 1 millisecond, not {request_timeout_ms}")
        self._request_timeout_ms = request_timeout_ms
        self._region = region
        self._endpoint = endpoint
        self._config = s3client_config
        variable, off = self._unparallel
        self._multi_part_download = os.environ.get(variable) != off if multi_part_download is None else multi_part_download
        self._buffer_size = _number_of_environment("S3_BUFFER_SIZE")
        self._client: S3Client | None = None
        self._pages: Iterator[list[str]] | None = None
        self._listed_url = self._last_key = ""
        if buffer_size not in (None, 0, "0"):
            self.set_buffer_size(buffer_size)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pages": None}

    @property
    def client(self) -> S3Client:
        if self._client is None:
            self._client = self._make_client()
        return self._client

    def _make_client(self) -> S3Client:
        endpoint = self._endpoint or _endpoint_of_environment()
        region = self._region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or self._default_region
        config = replace(self._config or S3ClientConfig(), **self._settings())
        return S3Client(region, endpoint=endpoint, user_agent=UserAgent(["md/datapipes"]), s3client_config=config)

    def _settings(self) -> dict[str, Any]:
        """Returns the fields of the configuration that the arguments and environment variables determine."""
        settings: dict[str, Any] = {}
        if self._request_timeout_ms != -1:
            settings["idle_timeout"] = max(LEAST_TIMEOUT_S, self._request_timeout_ms / 1000)
        if self._buffer_size:
            settings["look_ahead_bytes"] = self._buffer_size
        if not self._multi_part_download:
            settings["throughput_target_gbps"] = GBIT_PER_CONNECTION
        return settings

    def set_buffer_size(self, buffer_size: int | str) -> None:
        """Limits the bytes that are read before they are needed. For the client's first request and later.

        Raises:
            TypeError: `buffer_size` is neither an int nor a str.
            ValueError: It is not positive, or a text that is not a size.
        """
        check_type("buffer_size", buffer_size, (int, str))
        size = size_of("buffer_size", buffer_size)
        if size < 1:
            raise ValueError(f"buffer_size must be at least 1 byte, not {buffer_size}; for the default, omit it")
        self._buffer_size = size
        self._client = None

    def set_multi_part_download(self, multi_part_download: bool) -> None:
        """Selects whether the parts of one object are read in parallel. For the client's first request and later."""
        self._multi_part_download = bool(multi_part_download)
        self._client = None

    # ---- listing

    def pages(self, url: str, start_after: str = "") -> Iterator[list[str]]:
        """Yields the URLs below a prefix in pages that are not empty. Keys that end with ``/`` (folders) are left out.

        Args:
            url: ``s3://bucket/prefix`` or ``s3://bucket``.
            start_after: List only keys after this one. Directory buckets do not support it.

        Raises:
            S3Exception: The listing failed. Also a ValueError.
            ValueError: `url` has no bucket or another scheme.
        """
        bucket, prefix = parse_s3_uri(url)
        try:
            for objects, _, _ in _core.Lister(self.client.core, bucket, prefix, start_after=start_after):
                urls: list[str] = [
                    _listed_url(f"s3://{bucket}/{info.key}", info) for info in objects if not info.key.endswith("/")
                ]
                if urls:
                    yield urls
        except S3Exception as error:
            raise also_value_error(error) from None

    def list_files(self, url: str) -> list[str]:
        """Returns the next page of the URLs below a prefix; empty: there are no more. :meth:`clear_marker` starts anew.

        After an error the next call lists the same page again, in a directory bucket the first one.
        """
        if self._pages is None or url != self._listed_url:
            self._pages, self._listed_url, self._last_key = self.pages(url), url, ""
        try:
            page = next(self._pages, [])
        except BaseException:  # it has ended the generator
            after = "" if is_directory_bucket(parse_s3_uri(url)[0]) else self._last_key
            self._pages = self.pages(url, after)
            raise
        if page:
            self._last_key = parse_s3_uri(page[-1])[1]
        return page

    def clear_marker(self) -> None:
        """Makes :meth:`list_files` start at the first page."""
        self._pages = None

    # ---- reading

    def prefetch(self, urls: Iterable[str]) -> Prefetcher:
        """Returns an iterator of the readers of `urls`, which reads the next objects in advance. For :meth:`open`.

        Reads at most `buffer_size` bytes in advance, and at most half of that or 32 MiB of one object. Takes URLs before their
        readers are used.
        """
        budget = self.client.s3client_config._look_ahead
        limit = min(MAX_READ_AHEAD_BYTES, max(1, budget // 2))  # the next object is read while one is used
        return Prefetcher(self.client, map(object_of, urls), S3ReaderConstructor.default(), budget, limit)

    def open(self, reader: S3Reader) -> tuple[str, io.BufferedIOBase]:
        """Waits for the first bytes of a reader's object, or for all of them if its parts are not read in parallel.

        Returns:
            The object's URL, and a file at the start of the object.

        Raises:
            S3Exception: The object cannot be read. Also a ValueError.
        """
        url = f"s3://{reader.bucket}/{reader.key}"
        try:
            if not self._multi_part_download:
                return url, io.BytesIO(reader.read())
            reader.read1(1)
        except S3Exception as error:
            raise also_value_error(error) from None
        reader.seek(0)
        return url, reader

    def s3_read(self, url: str) -> bytes:
        """Returns the bytes of an object.

        Raises:
            S3Exception: The object cannot be read. Also a ValueError.
            ValueError: `url` is not ``s3://bucket/key``.
        """
        bucket, key, _ = object_of(url)
        try:
            return self.client.get_object(bucket, key).read()
        except S3Exception as error:
            raise also_value_error(error) from None
