"""Requests that are signed and not sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from .._session import Session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Pairs, PresignOptions
    from ._rare_results import PresignedPost, PresignedRequest


class Presigning(Session):
    """Signs requests for programs without credentials."""

    def presign(
        self,
        operation: Literal["get", "head", "put", "delete", "upload_part"],
        bucket: str,
        key: str,
        *,
        expires_in: int | str = 3600,
        **request: Unpack[PresignOptions],
    ) -> PresignedRequest:
        """Signs a request without sending it.

        Args:
            operation: The method of this class whose request is signed.
            expires_in: Seconds until the URL expires, 1 to 604,800, or a text such as ``"1h"``. It expires earlier together with
                temporary credentials, and with the session of a directory bucket, within 5 minutes. A session that would end
                too early is replaced, unless it is younger than 30 s.
            request: Other arguments of that method, except its data; see :class:`penstock.requests.PresignOptions`.
                A timeout has no effect.

        Raises:
            TypeError: `operation` is unknown, or has no such argument.
            S3UnauthenticatedError: The client has no credentials.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-presigned-url.html
        """
        if operation not in ("get", "head", "put", "delete", "upload_part"):
            given = repr(operation) if isinstance(operation, str) else type(operation).__name__
            raise TypeError(f"operation must be 'get', 'head', 'put', 'delete' or 'upload_part', not {given}")
        result = self._call(f"presign_{operation}", bucket=bucket, key=key, expires_in=expires_in, **request)
        return cast("PresignedRequest", result)

    def presign_post(
        self,
        bucket: str,
        key: str,
        *,
        fields: Pairs | None = None,
        starts_with: Pairs | None = None,
        content_length_range: tuple[int, int] | None = None,
        expires_in: int | str = 3600,
    ) -> PresignedPost:
        """Signs a form for uploads by browsers. General purpose buckets only.

        Args:
            key: Key. If it ends in ``${filename}``, S3 puts the name of the uploaded file there.
            fields: Further fields with fixed values, for example ``{"Content-Type": "image/png"}``.
            starts_with: Fields that the browser fills, with the prefix that their values must have.
            content_length_range: Least and greatest size of the file in bytes.
            expires_in: Seconds until the form expires, 1 to 604,800, or a text such as ``"1h"``.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
        """
        result = self._call(
            "presign_post", bucket=bucket, key=key, fields=fields, starts_with=starts_with,
            content_length_range=content_length_range, expires_in=expires_in,
        )  # fmt: skip
        return cast("PresignedPost", result)
