"""Requests for buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from .._exceptions import S3ConflictError
from .._session import Session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CallOptions, Grantees, Pairs
    from ._rare_results import BucketInfo, HeadBucketResult


def is_already_owned(error: S3ConflictError) -> bool:
    """Whether ``create_bucket`` failed because this account owns the bucket."""
    return error.code == "BucketAlreadyOwnedByYou"


class BucketRequests(Session):
    """Requests for buckets."""

    def create_bucket(
        self,
        bucket: str,
        *,
        acl: str | None = None,
        grant_full_control: Grantees | None = None,
        grant_read: Grantees | None = None,
        grant_read_acp: Grantees | None = None,
        grant_write: Grantees | None = None,
        grant_write_acp: Grantees | None = None,
        object_lock_enabled: bool = False,
        object_ownership: str | None = None,
        **options: Unpack[CallOptions],
    ) -> None:
        """Creates a bucket. Does nothing if this account already owns it.

        A name such as ``base--usw2-az1--x-s3`` creates a directory bucket in the named zone.

        Args:
            acl: A canned ACL. Not with grants.
            grant_full_control: Grantees: ``id="..."``, ``uri="..."`` or ``emailAddress="..."``. The other grants likewise.
            grant_read: Who may list the objects.
            grant_read_acp: Who may read the ACL.
            grant_write: Who may create objects.
            grant_write_acp: Who may write the ACL.
            object_lock_enabled: Allow retention and legal holds of objects.
            object_ownership: ``"BucketOwnerEnforced"`` (S3's default), ``"BucketOwnerPreferred"`` or ``"ObjectWriter"``.
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3ConflictError: Another account owns the bucket (BucketAlreadyExists).

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html
        """
        try:
            self._call(
                "create_bucket", bucket=bucket, acl=acl, grant_full_control=grant_full_control, grant_read=grant_read,
                grant_read_acp=grant_read_acp, grant_write=grant_write, grant_write_acp=grant_write_acp,
                object_lock_enabled=object_lock_enabled, object_ownership=object_ownership, **options,
            )  # fmt: skip
        except S3ConflictError as error:
            if not is_already_owned(error):
                raise

    def delete_bucket(self, bucket: str, **options: Unpack[CallOptions]) -> None:
        """Deletes an empty bucket.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3ConflictError: The bucket is not empty (BucketNotEmpty).
            S3NotFoundError: The bucket does not exist.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucket.html
        """
        self._call("delete_bucket", bucket=bucket, **options)

    def head_bucket(self, bucket: str, **options: Unpack[CallOptions]) -> HeadBucketResult:
        """Checks that a bucket exists and is accessible. Returns its region.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3NotFoundError: The bucket does not exist.
            S3AccessDeniedError: It exists, but access is denied.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
        """
        return cast("HeadBucketResult", self._call("head_bucket", bucket=bucket, **options))

    def list_buckets(self, **options: Unpack[CallOptions]) -> list[BucketInfo]:
        """Returns the general purpose buckets of the account. :meth:`list_directory_buckets` returns the others.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html
        """
        return cast("list[BucketInfo]", self._call("list_buckets", **options))

    def get_bucket_versioning(self, bucket: str, **options: Unpack[CallOptions]) -> str | None:
        """Returns ``"Enabled"``, ``"Suspended"`` or, if the bucket was never versioned, None.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html
        """
        return cast("str | None", self._call("get_bucket_versioning", bucket=bucket, **options))

    def put_bucket_versioning(self, bucket: str, status: Literal["Enabled", "Suspended"], **options: Unpack[CallOptions]) -> None:
        """Enables or suspends versioning.

        Args:
            status: ``"Enabled"`` or ``"Suspended"``.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html
        """
        self._call("put_bucket_versioning", bucket=bucket, status=status, **options)

    def get_bucket_tagging(self, bucket: str, **options: Unpack[CallOptions]) -> dict[str, str]:
        """Returns the tags of a bucket.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3NotFoundError: The bucket has no tags (NoSuchTagSet).

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketTagging.html
        """
        return cast("dict[str, str]", self._call("get_bucket_tagging", bucket=bucket, **options))

    def put_bucket_tagging(self, bucket: str, tags: Pairs, **options: Unpack[CallOptions]) -> None:
        """Replaces all tags of a bucket.

        Args:
            tags: At most 50 tags.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html
        """
        self._call("put_bucket_tagging", bucket=bucket, tags=tags, **options)
