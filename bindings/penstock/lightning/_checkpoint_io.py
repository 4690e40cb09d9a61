"""S3LightningCheckpoint: a Trainer's checkpoints as objects."""

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
    """The arguments of :meth:`S3Client.put_object` that a save's storage options are."""
    if storage_options is None:
        return {}
    if not isinstance(storage_options, Mapping):
        raise TypeError(f"storage_options is of type {type(storage_options).__name__}; it takes a dict or None")
    unknown = sorted(set(storage_options) - set(STORAGE_OPTIONS))
    if unknown:
        raise ValueError(f"storage_options has {', '.join(map(repr, unknown))}; it takes {', '.join(STORAGE_OPTIONS)}")
    options = dict(storage_options)
    if isinstance(options.get("metadata"), Mapping):
        options["metadata"] = [(str(name), str(value)) for name, value in options["metadata"].items()]
    return options


class S3LightningCheckpoint(_CheckpointIO):
    """Saves, loads and removes checkpoints on S3: ``Trainer(plugins=[S3LightningCheckpoint("us-east-1")])``.

    Works with ``lightning`` and ``pytorch_lightning``, and inside ``AsyncCheckpointIO``. Paths without a scheme, which Lightning
    uses between processes on one machine, are left to its own ``TorchCheckpointIO``. Picklable.

    Args:
        region: AWS region of the bucket.
        s3client_config: See :class:`~penstock.S3ClientConfig`.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.

    Source: ``s3torchconnector.lightning.S3LightningCheckpoint``.
    """

    def __init__(self, region: str, s3client_config: S3ClientConfig | None = None, endpoint: str | None = None) -> None:
        _packages.stand_in(type(self))
        self.region = region
        agent = UserAgent(["lightning", _packages.package.__version__])
        self._client = S3Client(region, endpoint=endpoint, user_agent=agent, s3client_config=s3client_config)

    def save_checkpoint(self, checkpoint: dict[str, Any], path: str, storage_options: Any | None = None) -> None:
        """Saves a checkpoint; it exists once this returns, and what was there before stays if this raises.

        Args:
            checkpoint: What ``torch.save`` takes.
            path: ``s3://bucket/key``.
            storage_options: None, or a dict of ``storage_class``, ``content_type``, ``metadata`` (a dict of str) and
                ``if_none_match`` (True: only where there is no object of that name).

        Raises:
            TypeError: the path is no str, or storage_options no dict.
            ValueError: another scheme than ``s3://``, or an unknown storage option.
            S3Exception: the checkpoint was not saved.
        """
        _check_path(path)
        if _is_local(path):
            _io.TorchCheckpointIO().save_checkpoint(checkpoint, path, storage_options)
            return
        with self._client.put_object(*parse_s3_uri(path), **_put_options(storage_options)) as writer:
            torch.save(checkpoint, cast(IO[bytes], writer))

    def load_checkpoint(self, path: str, map_location: Any | None = None, weights_only: bool | None = None) -> dict[str, Any]:
        """Gives what a checkpoint holds. It is read by a plan: tensors come ahead, in parallel, in the order they are asked for.

        Args:
            path: ``s3://bucket/key``.
            map_location: Of ``torch.load``.
            weights_only: Of ``torch.load``. None: False before Lightning 2.6, and from there on torch's own default.

        Raises:
            TypeError: the path is no str.
            S3Exception: it could not be read.
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
        """Removes a checkpoint, and what is below it where it is a directory of files. One that is not there is removed already.

        Raises:
            TypeError: the path is no str.
            S3Exception: it may still be there.
        """
        _check_path(path)
        if _is_local(path):
            _io.TorchCheckpointIO().remove_checkpoint(path)
            return
        bucket, key = parse_s3_uri(path)
        self._client.delete_object(bucket, key)  # refuses an empty key
        try:
            pages = self._client.list_objects(bucket, key.rstrip("/") + "/")
            inside = [found.key for page in pages for found in page.object_info]
        except S3AccessDeniedError:
            log.debug("s3://%s/%s may not be listed; only the object was removed", bucket, key)
            return
        for at in range(0, len(inside), KEYS_PER_DELETE):
            failures = self._client.core.delete_objects(bucket, inside[at : at + KEYS_PER_DELETE])
            for name, code, message in failures:
                raise S3Exception(f"s3://{bucket}/{name} was not deleted: {code}: {message}")

    def teardown(self) -> None:
        """Does nothing: a save has ended when it returns."""
