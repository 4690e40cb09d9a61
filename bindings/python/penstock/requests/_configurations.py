"""Configurations of buckets and objects, as the documents that S3 stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from .._session import Session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Buffer, CallOptions

BucketConfigurationKind: TypeAlias = Literal[
    "accelerate", "acl", "analytics", "cors", "encryption", "intelligent_tiering", "inventory", "lifecycle", "location",
    "logging", "metrics", "notification", "object_lock", "ownership_controls", "policy", "policy_status", "public_access_block",
    "replication", "request_payment", "tagging", "versioning", "website",
]  # fmt: skip
ObjectConfigurationKind: TypeAlias = Literal["acl", "legal_hold", "retention"]


class ConfigurationRequests(Session):
    """Requests for the configurations of buckets and objects. Documents are XML, the one of ``"policy"`` is JSON."""

    def get_bucket_configuration(
        self, bucket: str, kind: BucketConfigurationKind, *, id: str | None = None, **options: Unpack[CallOptions]
    ) -> bytes:
        """Returns a configuration of a bucket, as S3 sent it.

        Args:
            kind: For example ``"lifecycle"``, ``"policy"``, ``"notification"``, ``"cors"`` or ``"encryption"``.
            id: Id of the configuration, of ``"analytics"``, ``"intelligent_tiering"``, ``"inventory"`` and ``"metrics"``.
            options: See :class:`penstock.requests.CallOptions`.

        Returns:
            The document. Of a bucket without this configuration, that of ``"versioning"``, ``"logging"``, ``"notification"`` and
            ``"accelerate"`` is an empty element.

        Raises:
            S3NotFoundError: The bucket does not have this configuration, for example NoSuchLifecycleConfiguration.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLifecycleConfiguration.html and the pages like it
        """
        return cast("bytes", self._call("get_bucket_configuration", bucket=bucket, kind=kind, id=id, **options))

    def put_bucket_configuration(
        self,
        bucket: str,
        kind: BucketConfigurationKind,
        document: str | Buffer,
        *,
        id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> None:
        """Replaces a configuration of a bucket.

        Args:
            kind: As in :meth:`get_bucket_configuration`, except ``"location"`` and ``"policy_status"``, which can only be read.
            document: The document, which is sent unchanged, with the digest that S3 requires.
            id: As in :meth:`get_bucket_configuration`. The document contains it too.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLifecycleConfiguration.html and the pages like it
        """
        self._call("put_bucket_configuration", bucket=bucket, kind=kind, document=document, id=id, **options)

    def delete_bucket_configuration(
        self, bucket: str, kind: BucketConfigurationKind, *, id: str | None = None, **options: Unpack[CallOptions]
    ) -> None:
        """Deletes a configuration of a bucket.

        Args:
            kind: As in :meth:`get_bucket_configuration`. Kinds that S3 cannot delete, such as ``"versioning"``, raise
                S3InvalidArgumentError.
            id: As in :meth:`get_bucket_configuration`.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketLifecycle.html and the pages like it
        """
        self._call("delete_bucket_configuration", bucket=bucket, kind=kind, id=id, **options)

    def get_object_configuration(
        self,
        bucket: str,
        key: str,
        kind: ObjectConfigurationKind,
        *,
        version_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> bytes:
        """Returns the ACL, the legal hold or the retention of an object, as S3 sent it.

        Args:
            kind: ``"acl"``, ``"legal_hold"`` or ``"retention"``.
            version_id: Version; None: the current one.
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3NotFoundError: The object has none (NoSuchObjectLockConfiguration), or does not exist.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectRetention.html and the pages like it
        """
        result = self._call("get_object_configuration", bucket=bucket, key=key, kind=kind, version_id=version_id, **options)
        return cast("bytes", result)

    def put_object_configuration(
        self,
        bucket: str,
        key: str,
        kind: ObjectConfigurationKind,
        document: str | Buffer | None = None,
        *,
        acl: str | None = None,
        version_id: str | None = None,
        bypass_governance_retention: bool = False,
        **options: Unpack[CallOptions],
    ) -> None:
        """Replaces the ACL, the legal hold or the retention of an object.

        Args:
            kind: ``"acl"``, ``"legal_hold"`` or ``"retention"``.
            document: The document, which is sent unchanged, with the digest that S3 requires.
            acl: Instead of a document of ``"acl"``: a canned ACL, for example ``"private"``.
            version_id: Version; None: the current one.
            bypass_governance_retention: Replace also a retention in governance mode.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectRetention.html and the pages like it
        """
        self._call(
            "put_object_configuration", bucket=bucket, key=key, kind=kind, document=document, acl=acl, version_id=version_id,
            bypass_governance_retention=bypass_governance_retention, **options,
        )  # fmt: skip
