"""S3LightningCheckpoint: saves and loads the checkpoints of a Trainer on S3."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, cast

import torch

from .._client import S3Client
from .._exceptions import S3AccessDeniedError, S3Exception
from .._objects import parse_s3_uri
from .._user_agent import UserAgent
from ..s3reader.checkpoint import CheckpointReader
from . import _packages

if TYPE_CHECKING:
    from .._config import S3ClientConfig

log = logging.getLogger(__name__)

KEYS_PER_DELETE = 1000
STORAGE_OPTIONS = ("storage_class", "content_type", "metadata", "if_none_match")

_io = _packages.inside("plugins.io")
_CheckpointIO: Any = _io.CheckpointIO


def _check_path(path: object) -> None:
    if not isinstance(path, str):
        raise TypeError(f"{type(path).__name__!r} is not a supported type for 'path'. Must be a string formatted as an S3 uri.")


def _is_local(path: str) -> bool:
    return "://" not in path


def _put_options(storage_options: Any) -> dict[str, Any]:
    """Returns the arguments of :meth:`S3Client.put_object` for the storage options of a save."""
    if storage_options is None:
        return {}
    if not isinstance(storage_options, Mapping):
        raise TypeError(f"storage_options must be a dict or None, not {type(storage_options).__name__}")
    unknown = sorted(set(storage_options) - set(STORAGE_OPTIONS))
    if unknown:
        raise ValueError(f"unknown storage_options {', '.join(map(repr, unknown))}; supported: {', '.join(STORAGE_OPTIONS)}")
    options = dict(storage_options)
    if isinstance(options.get("metadata"), Mapping):
        options["metadata"] = [(str(name), str(value)) for name, value in options["metadata"].items()]
    return options


class S3LightningCheckpoint(_CheckpointIO):
    """Saves, loads and removes checkpoints on S3: ``Trainer(plugins=[S3LightningCheckpoint("us-east-1")])``.

    Works with ``lightning`` and ``pytorch_lightning``, and inside ``AsyncCheckpointIO``. Passes paths without a scheme, which
    Lightning uses between processes on one machine, to Lightning's ``TorchCheckpointIO``. Picklable.

    Args:
        region: AWS region of the bucket.
        s3client_config: See :class:`~penstock.S3ClientConfig`.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.

    Source: ``s3torchconnector.lightning.S3LightningCheckpoint``.
    """

    def __init__(self, region: str, s3client_config: S3ClientConfig | None = None, endpoint: str | None = None) -> None:
        _packages.stand_in(type(self))
        self.region = region
        agent = UserAgent(["lightning", _packages.package.__version__])
        self._client = S3Client(region, endpoint=endpoint, user_agent=agent, s3client_config=s3client_config)

    def save_checkpoint(self, checkpoint: dict[str, Any], path: str, storage_options: Any | None = None) -> None:
        """Saves a checkpoint. It is published when this method returns; on an error, the previous object stays unchanged.

        Args:
            checkpoint: Any object that ``torch.save`` accepts.
            path: ``s3://bucket/key``.
            storage_options: None, or a dict with ``storage_class``, ``content_type``, ``metadata`` (a dict of str) and
                ``if_none_match`` (True: save only if the object does not exist).

        Raises:
            TypeError: `path` is not a str, or `storage_options` is not a dict.
            ValueError: The scheme is not ``s3://``, or a storage option is unknown.
            S3Exception: The checkpoint was not saved.
        """
        _check_path(path)
        if _is_local(path):
            _io.TorchCheckpointIO().save_checkpoint(checkpoint, path, storage_options)
            return
        with self._client.put_object(*parse_s3_uri(path), **_put_options(storage_options)) as writer:
            torch.save(checkpoint, cast(IO[bytes], writer))

    def load_checkpoint(self, path: str, map_location: Any | None = None, weights_only: bool | None = None) -> dict[str, Any]:
        """Returns the content of a checkpoint. Prefetches tensors in parallel, in the order in which ``torch.load`` reads them.

        Args:
            path: ``s3://bucket/key``.
            map_location: Passed to ``torch.load``.
            weights_only: Passed to ``torch.load``. None: False before Lightning 2.6, torch's default since then.

        Raises:
            TypeError: `path` is not a str.
            S3Exception: The object could not be read.
        """
        _check_path(path)
        if _is_local(path):
            given = {} if weights_only is None else {"weights_only": weights_only}
            loaded: dict[str, Any] = _io.TorchCheckpointIO().load_checkpoint(path, map_location, **given)
            return loaded
        if weights_only is None and _packages.version() < (2, 6):
            weights_only = False
        with self._client.get_object(*parse_s3_uri(path), reader_constructor=CheckpointReader) as reader:
            checkpoint: dict[str, Any] = torch.load(cast(IO[bytes], reader), map_location, weights_only=weights_only)
        return checkpoint

    def remove_checkpoint(self, path: str) -> None:
        """Deletes a checkpoint: the object and all objects below ``path/``. Deleting a missing checkpoint succeeds.

        Raises:
            TypeError: `path` is not a str.
            S3Exception: A request failed. The checkpoint may still exist.
        """
        _check_path(path)
        if _is_local(path):
            _io.TorchCheckpointIO().remove_checkpoint(path)
            return
        bucket, key = parse_s3_uri(path)
        self._client.delete_object(bucket, key)  # rejects an empty key
        try:
            pages = self._client.list_objects(bucket, key.rstrip("/") + "/")
            inside = [found.key for page in pages for found in page.object_info]
        except S3AccessDeniedError:
            log.debug("no permission to list s3://%s/%s; deleted the object only", bucket, key)
            return
        for at in range(0, len(inside), KEYS_PER_DELETE):
            failures = self._client.core.delete_objects(bucket, inside[at : at + KEYS_PER_DELETE])
            for name, code, message in failures:
                raise S3Exception(f"cannot delete s3://{bucket}/{name}: {code}: {message}")

    def teardown(self) -> None:
        """Does nothing: saves are synchronous."""
