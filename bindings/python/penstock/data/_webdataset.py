"""register_webdataset: makes webdataset read and write ``s3://`` URLs through this package's client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._client import S3Client
from .._objects import parse_s3_uri
from .._user_agent import UserAgent

if TYPE_CHECKING:
    from .._config import S3ClientConfig


class Opener:
    """A handler of ``webdataset.gopen.gopen_schemes``."""

    def __init__(self, client: S3Client) -> None:
        self._client = client

    def __call__(self, url: str, mode: str = "rb", bufsize: int = 8192, **options: Any) -> Any:
        """Opens an object.

        Args:
            url: ``s3://bucket/key``.
            mode: ``"rb"`` reads the object; ``"wb"`` writes it, and publishes it when the stream is closed.
            bufsize: Ignored: the reader and the writer choose the sizes of their requests.
            **options: Refused, since webdataset defines none for objects.

        Raises:
            TypeError: There are `options`.
            ValueError: `url` names no object, or `mode` is another one.
        """
        del bufsize
        if options:
            raise TypeError(f"unknown option {min(options)!r} for {url!r}; pass settings to register_webdataset")
        bucket, key = parse_s3_uri(url)
        if not key:
            raise ValueError(f"{url!r} names a bucket and no object; write s3://bucket/key")
        if mode == "wb":
            return self._client.put_object(bucket, key)
        if mode != "rb":
            raise ValueError(f"the mode must be 'rb' or 'wb', not {mode!r}")
        reader = self._client.get_object(bucket, key)
        reader.prefetch()  # type: ignore[attr-defined]
        return reader


def register_webdataset(
    region: str = "", *, endpoint: str | None = None, s3client_config: S3ClientConfig | None = None, scheme: str = "s3"
) -> None:
    """Makes ``webdataset.WebDataset("s3://...")`` and its writers use this package's client, in this process.

    Forked workers inherit this. If workers are spawned, call it in a module that they import, outside of
    ``if __name__ == "__main__":``.

    Args:
        region: AWS region of the buckets; empty: ``AWS_REGION``, ``AWS_DEFAULT_REGION``, the profile.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        scheme: The scheme of the URLs that webdataset sends to the client.

    Raises:
        ModuleNotFoundError: webdataset is not installed.
    """
    try:
        from webdataset.gopen import gopen_schemes
    except ModuleNotFoundError as error:
        if error.name != "webdataset":
            raise
        raise ModuleNotFoundError("register_webdataset needs webdataset: pip install webdataset", name="webdataset") from None
    client = S3Client(region, endpoint=endpoint, user_agent=UserAgent(["md/webdataset"]), s3client_config=s3client_config)
    gopen_schemes[scheme] = Opener(client)
