"""A service whose listings never end: every page is empty, and has a new token for the next page."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from typing import NamedTuple

import penstock
from http_responses import ReceivedRequest, responding

_BODIES = {
    "versions": "<ListVersionsResult><NextKeyMarker>{}</NextKeyMarker><NextVersionIdMarker>v</NextVersionIdMarker>{}"
    "</ListVersionsResult>",
    "uploads": "<ListMultipartUploadsResult><NextKeyMarker>{}</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>{}"
    "</ListMultipartUploadsResult>",
    "list-type": "<ListBucketResult><NextContinuationToken>{}</NextContinuationToken>{}</ListBucketResult>",
}
_STARTED = 5  # pages
_ENDED = 200  # pages at most, if a signal arrives before the fifth one
TIMEOUT_S = 60


class EndlessListing(NamedTuple):
    """The service.

    Attributes:
        client: A client of the service.
        received: The requests.
        started: Set once some pages were requested. The last of them is sent after :meth:`signal`.
        signalled: Set by :meth:`signal`.
    """

    client: penstock.S3Client
    received: list[ReceivedRequest]
    started: threading.Event
    signalled: threading.Event

    def signal(self, process: subprocess.Popen[bytes], number: int) -> None:
        """Sends a signal to a process that lists."""
        assert self.started.wait(TIMEOUT_S)
        process.send_signal(number)
        self.signalled.set()

    def check_ended(self) -> None:
        """Checks that the process ended because of the signal, and not later by chance."""
        assert len(self.received) <= _ENDED

    def environment(self) -> dict[str, str]:
        """Settings of a client in another process."""
        return {
            "AWS_ENDPOINT_URL": str(self.client.endpoint),
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "AWS_REGION": "us-east-1",
        }


@contextlib.contextmanager
def endless_listing(*, cycle: int | None = None, last: int | None = None) -> Iterator[EndlessListing]:
    """Runs the service.

    Args:
        cycle: The tokens repeat after this number of pages; None: they never do.
        last: The number of pages after which the listing ends after all, so that a test fails instead of running for ever.
    """
    started, signalled = threading.Event(), threading.Event()
    pages = 0

    def body(request: ReceivedRequest) -> bytes:
        nonlocal pages
        pages += 1
        if pages == _STARTED:
            started.set()
            if last is None:
                signalled.wait(TIMEOUT_S)
        template = next(text for name, text in _BODIES.items() if name in request.target)
        token = pages % cycle if cycle else pages
        truncated = "false" if pages == last else "true"
        return template.format(f"p/{token:09}", f"<IsTruncated>{truncated}</IsTruncated>").encode()

    with responding(200, body=body) as (client, received):
        yield EndlessListing(client, received, started, signalled)
