"""Buckets and objects at the endpoint under test, for what a check prepares and looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import S3Client, S3ClientConfig, S3Exception
from penstock._offline_environment import environment_set

if TYPE_CHECKING:
    from ._bench import Access


class Store:
    """Plain requests with one key, straight to the endpoint.

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
        """Every key below a prefix, in the server's order."""
        return [info.key for page in self._client.list_objects(bucket, prefix) for info in page.object_info]

    def remove_bucket(self, bucket: str) -> None:
        """With everything in it. What cannot be removed stays, for the endpoint's owner to see."""
        try:
            for key in self.keys(bucket):
                self.delete(bucket, key)
            self._client.delete_bucket(bucket)
        except S3Exception:
            return


def client(access: Access, **more: object) -> S3Client:
    """Ours, straight to the endpoint, with the certificate of the access; `more` as of :func:`client_config`."""
    made = S3Client(access.region, endpoint=access.endpoint, s3client_config=client_config(access, **more))
    with environment_set({"AWS_CA_BUNDLE": access.ca}):
        _ = made._client  # takes it from the environment, once
    return made


def client_config(access: Access, **more: object) -> S3ClientConfig:
    """Ours, with the access's key and path-style addressing."""
    return S3ClientConfig(
        force_path_style=True,
        access_key_id=access.access_key,
        secret_access_key=access.secret_key,
        session_token=access.session_token,
        **more,  # type: ignore[arg-type]
    )
