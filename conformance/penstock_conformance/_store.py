"""Buckets and objects of the endpoint under test: what checks prepare and inspect."""

from __future__ import annotations

from penstock import S3Client, S3ClientConfig, S3Exception
from penstock_emulator.offline_environment import environment_set

from ._access import Access


class Store:
    """Basic operations, sent directly to the endpoint.

    Thread safety: safe from any thread.
    """

    def __init__(self, access: Access) -> None:
        self._client = client(access)

    def create_bucket(self, bucket: str) -> None:
        self._client.create_bucket(bucket)

    def put(self, bucket: str, key: str, data: bytes) -> None:
        with self._client.put_object(bucket, key) as writer:
            writer.write(data)

    def get(self, bucket: str, key: str) -> bytes:
        return self._client.get_object(bucket, key).read()

    def etag(self, bucket: str, key: str) -> str:
        return self._client.head_object(bucket, key).etag

    def exists(self, bucket: str, key: str) -> bool:
        return key in self.keys(bucket, key)

    def delete(self, bucket: str, key: str) -> None:
        self._client.delete_object(bucket, key)

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        """All keys with the prefix, in the order of the listing."""
        return [info.key for page in self._client.list_objects(bucket, prefix) for info in page.object_info]

    def remove_bucket(self, bucket: str) -> None:
        """Deletes the bucket with its objects. Errors are ignored: what cannot be deleted remains at the endpoint."""
        try:
            for key in self.keys(bucket):
                self.delete(bucket, key)
            self._client.delete_bucket(bucket)
        except S3Exception:
            return


def client(access: Access, **more: object) -> S3Client:
    """Penstock's client for the endpoint, which trusts the certificates of `access`.

    Args:
        access: Endpoint and credentials.
        more: Further settings, as for :func:`client_config`.
    """
    made = S3Client(access.region, endpoint=access.endpoint, s3client_config=client_config(access, **more))
    with environment_set({"AWS_CA_BUNDLE": access.ca}):
        _ = made._client  # reads the environment when it is created
    return made


def client_config(access: Access, **more: object) -> S3ClientConfig:
    """Settings for Penstock's client with the credentials of `access` and path-style addressing."""
    return S3ClientConfig(
        force_path_style=True,
        access_key_id=access.access_key,
        secret_access_key=access.secret_key,
        session_token=access.session_token,
        **more,  # type: ignore[arg-type]
    )
