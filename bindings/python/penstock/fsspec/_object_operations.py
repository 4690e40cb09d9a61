"""Operations on the properties of objects and buckets: metadata, tags, versions, URLs, and multipart uploads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from fsspec.asyn import AsyncFileSystem

from .._client import S3Client
from .._versions import AdvanceCheck
from ..requests._parts import MAX_COPY_BYTES, Attributes, JoinedObject, copied_attributes, merged
from . import _threads
from ._attributes import write_attributes
from ._errors import mapped
from ._parts import MIN_PART, copy_with_attributes
from ._store import Store, split

if TYPE_CHECKING:
    from ..requests import ObjectMetadata

_SIGNED = {
    "get_object": "get",
    "head_object": "head",
    "put_object": "put",
    "delete_object": "delete",
    "upload_part": "upload_part",
}
_OF_SIGNED = {  # parameters of botocore other than attributes of objects
    "ResponseCacheControl": "response_cache_control",
    "ResponseContentDisposition": "response_content_disposition",
    "ResponseContentEncoding": "response_content_encoding",
    "ResponseContentLanguage": "response_content_language",
    "ResponseContentType": "response_content_type",
    "ResponseExpires": "response_expires",
    "VersionId": "version_id",
    "PartNumber": "part_number",
    "UploadId": "upload_id",
}


class ObjectOperations(AsyncFileSystem):
    """Operations on properties of objects and buckets of :class:`PenstockFileSystem`."""

    _store: Store
    _object: Callable[..., tuple[str, str]]

    # ---- URLs

    def url(self, path: str, expires: int = 3600, client_method: str = "get_object", **kwargs: Any) -> str:
        """Returns a presigned URL, with which programs without credentials can access an object. Sends no request to S3.

        Args:
            expires: Seconds until the URL expires, 1 to 604,800.
            client_method: ``"get_object"``, ``"head_object"``, ``"put_object"``, ``"delete_object"`` or ``"upload_part"``.
            **kwargs: Parameters of the request by botocore's names, for example ``ResponseContentDisposition``. The request must
                then have the same headers, such as ``ContentType`` of ``put_object``.

        Raises:
            ValueError: `client_method` or a parameter is unknown.
        """
        if client_method not in _SIGNED:
            raise ValueError(f"client_method must be one of {', '.join(_SIGNED)}, not {client_method!r}")
        path, version = self._object(path)
        chosen = {_OF_SIGNED[name]: value for name, value in kwargs.items() if name in _OF_SIGNED}
        attributes = write_attributes(kwargs)
        unknown = [name for name in kwargs if name not in _OF_SIGNED and not write_attributes({name: kwargs[name]})]
        if unknown:
            names = ", ".join(unknown)
            raise ValueError(f"unknown parameters of {client_method}: {names}; sign it with penstock.S3Client.presign")
        if version:
            chosen["version_id"] = version
        client = self._store.client
        if client.s3client_config.requester_pays:  # in the URL: the client would sign a header, which the request would need
            config = replace(client.s3client_config, requester_pays=False)
            client = S3Client(client.region, endpoint=client.endpoint, s3client_config=config)
            chosen["extra_query"] = {"x-amz-request-payer": "requester"}
        with mapped(path):
            bucket, key = split(path)
            operation: Any = _SIGNED[client_method]
            signed = client.presign(operation, bucket, key, expires_in=expires, **chosen, **attributes)
        return signed.url

    def sign(self, path: str, expiration: int = 100, **kwargs: Any) -> str:
        """As :meth:`url`, for `expiration` seconds."""
        return self.url(path, expiration, **kwargs)

    # ---- metadata and tags

    def _head(self, path: str) -> tuple[str, str, ObjectMetadata]:
        """Returns the path without a version, the version that it names (empty: the current one), and the metadata."""
        path, version = self._object(path)
        with mapped(path):
            return path, version, self._store.client.head(*split(path), version_id=version or None)

    def metadata(self, path: str, refresh: bool = False, **kwargs: Any) -> dict[str, str]:
        """Returns the user metadata of an object, with ``-`` for ``_`` in its names. Always sends a request."""
        return {name.replace("_", "-"): value for name, value in self._head(path)[2].metadata.items()}

    def getxattr(self, path: str, attr_name: str, **kwargs: Any) -> str | None:
        """Returns the user metadata `attr_name` of an object; None: it has none of this name."""
        return self.metadata(path).get(attr_name.replace("_", "-"))

    def setxattr(self, path: str, copy_kwargs: Mapping[str, Any] | None = None, **attributes: str | None) -> None:
        """Changes user metadata of an object, by a copy inside S3. The copy keeps everything else except the ACL.

        Args:
            copy_kwargs: Other attributes to change, by botocore's names, such as ``{"ContentType": "application/pdf"}``.
            **attributes: Metadata to set; None removes it.

        Raises:
            FileChangedError: The object was replaced meanwhile. It is unchanged.
        """
        path, version, head = self._head(path)
        place = self._store.target(path)
        metadata = {name.replace("_", "-"): value for name, value in {**head.metadata, **attributes}.items()}
        with mapped(path):
            kept = copied_attributes(self._store.client, *place, head)
            kept.pop("tagging", None)  # copied by S3
            changed = write_attributes(copy_kwargs or {})
            changed["metadata"] = {name: value for name, value in metadata.items() if value is not None}
            if head.size > MAX_COPY_BYTES:
                copy_with_attributes(self._store.client, place, place, version_id=version or None, override=changed)
            else:
                self._store.client.copy(
                    *place, *place, src_version_id=version or None, src_if_match=head.etag, metadata_directive="REPLACE",
                    tagging_directive="REPLACE" if "tagging" in changed else "COPY", **merged(kept, changed),
                )  # fmt: skip
        self.invalidate_cache(path)

    def get_tags(self, path: str) -> dict[str, str]:
        """Returns the tags of an object."""
        path, version = self._object(path)
        with mapped(path):
            return self._store.client.get_object_tagging(*split(path), version_id=version or None)

    def put_tags(self, path: str, tags: Mapping[str, str], mode: str = "o") -> None:
        """Sets the tags of an object.

        Args:
            tags: Names and values.
            mode: ``"o"`` replaces all tags; ``"m"`` keeps those that `tags` does not name, by a second request.

        Raises:
            ValueError: `mode` is neither.
        """
        if mode not in ("o", "m"):
            raise ValueError(f"mode must be 'o' (overwrite) or 'm' (merge), not {mode!r}")
        name, version = self._object(path)
        chosen = {**(self.get_tags(path) if mode == "m" else {}), **tags}
        with mapped(name):
            self._store.client.put_object_tagging(*split(name), chosen, version_id=version or None)

    # ---- versions

    def object_version_info(self, path: str, **kwargs: Any) -> list[dict[str, Any]]:
        """Returns the versions of an object, newest first, without delete markers, with the names of botocore.

        Raises:
            FileNotFoundError: The bucket does not exist.
        """
        path, _ = self._object(path)
        names = ("ETag", "Size", "StorageClass", "VersionId", "IsLatest", "LastModified")
        found = self._store.versions(path)
        return [{"Key": split(path)[1], **{name: version[name] for name in names}} for version in found]

    def is_bucket_versioned(self, bucket: str) -> bool:
        """Whether versioning is enabled in `bucket`."""
        with mapped(bucket):
            return self._store.client.get_bucket_versioning(self._strip_protocol(bucket)) == "Enabled"

    def make_bucket_versioned(self, bucket: str, versioned: bool = True) -> None:
        """Enables versioning in `bucket`, or with `versioned` False suspends it."""
        with mapped(bucket):
            self._store.client.put_bucket_versioning(self._strip_protocol(bucket), "Enabled" if versioned else "Suspended")

    # ---- multipart uploads

    def list_multipart_uploads(self, bucket: str) -> list[dict[str, Any]]:
        """Returns the open multipart uploads of `bucket`, with the names of botocore: ``Key``, ``UploadId``, ``Initiated``."""
        bucket = self._strip_protocol(bucket)
        uploads: list[dict[str, Any]] = []
        key = upload_id = ""
        advance = AdvanceCheck(f"the listing of multipart uploads of s3://{bucket}")
        with mapped(bucket):
            while True:
                page = self._store.client.list_multipart_uploads(bucket, key_marker=key, upload_id_marker=upload_id)
                for found in page.uploads:
                    begun = datetime.fromtimestamp(found.initiated, timezone.utc)
                    uploads.append({"Key": found.key, "UploadId": found.upload_id, "Initiated": begun})
                if not page.next_key_marker:
                    return uploads
                key, upload_id = page.next_key_marker, page.next_upload_id_marker
                advance.check((key, upload_id), empty=not page.uploads)

    def abort_mpu(self, bucket: str, key: str, mpu: str) -> None:
        """Discards the multipart upload `mpu` of the object `key` in `bucket`."""
        bucket = self._strip_protocol(bucket)
        with mapped(f"{bucket}/{key}"):
            self._store.client.abort_multipart_upload(bucket, key, mpu)

    async def _clear_multipart_uploads(self, bucket: str) -> None:
        """Discards all open multipart uploads of `bucket`, also those that other programs are sending."""
        uploads = await _threads.run(self.list_multipart_uploads, bucket)
        await asyncio.gather(*[_threads.run(self.abort_mpu, bucket, found["Key"], found["UploadId"]) for found in uploads])

    def clear_multipart_uploads(self, bucket: str) -> None:
        """Discards all open multipart uploads of `bucket`, also those that other programs are sending."""
        _threads.sync(self.loop, self._clear_multipart_uploads, bucket)

    def merge(self, path: str, filelist: list[str], **kwargs: Any) -> None:
        """Writes an object from the bytes of other objects, in order, inside S3. Keeps the sources. Empty sources add nothing.

        Args:
            filelist: Paths of the sources. Each but the last must have at least 5 MiB.
            **kwargs: Attributes of the object, such as ``ContentType``.

        Raises:
            ValueError: `filelist` is empty, or a source is too small. Nothing is written.
            FileNotFoundError: A source does not exist. Nothing is written.
            FileChangedError: A source was replaced meanwhile. Nothing is written.
        """
        path = self._strip_protocol(path)
        target = self._store.target(path)
        sources = [source for source in map(self._head, filelist) if source[2].size > 0]
        small = [name for name, _, head in sources[:-1] if head.size < MIN_PART]
        if not filelist or small:
            reason = f"{small[0]!r} has fewer than 5 MiB, S3's minimum for all but the last" if small else "no files are given"
            raise ValueError(f"cannot merge to {path!r}: {reason}; use cat and pipe for small objects")
        attributes: Attributes = merged(self._store.attributes, write_attributes(kwargs))
        with mapped(path):
            if not sources:
                self._store.client.put(*target, b"", **attributes)
            else:
                joined = JoinedObject(self._store.client, *target, attributes)
                with joined.abort_on_error():
                    for name, version, head in sources:
                        joined.copy(*split(name), head, part_bytes=MAX_COPY_BYTES, version_id=version or None)
                    joined.publish()
        self.invalidate_cache(path)

    # ---- refused

    def chmod(self, path: str, acl: str, recursive: bool = False, **kwargs: Any) -> None:
        """Not supported.

        Args:
            acl: A canned ACL.
            recursive: Whether to change all objects below `path`.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            f"penstock.fsspec cannot change the ACL of {path!r}; write the object with ACL={acl!r}, for example by pipe or put."
            " S3 ignores ACLs in buckets with the default ownership (BucketOwnerEnforced)"
        )
