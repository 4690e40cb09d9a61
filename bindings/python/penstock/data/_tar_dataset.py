"""S3TarDataset: samples of tar shards in S3."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from .._config import S3ClientConfig, check_callable, check_type
from .._dataset_base import GetDatasetObjects, S3DatasetBase
from .._listing import ObjectsFromUris, identity
from .._objects import S3BucketKeyData
from ._epochs import EpochDataset, Skipped, Stopped, Stream
from ._tar import Grouping, Handler, Sample
from ._tar_stream import SampleStream, url_of
from ._urls import ObjectsWithSuffix, expand_urls

log = logging.getLogger(__name__)


def reraise(error: Exception) -> NoReturn:
    """The default handler: raises the error."""
    raise error


class S3TarDataset(S3DatasetBase, EpochDataset):
    """An iterable dataset of the samples of tar shards in S3, in the format of webdataset.

    Consecutive files of a shard whose names are equal up to the first dot of the last part are one sample: a dict with the rest
    of each name, in lower case, and the file's bytes, and with ``__key__`` and ``__url__``. The rules are webdataset's. The next
    shards are read in advance (``S3ClientConfig.look_ahead_bytes`` in each process).

    The order depends on `seed` and the epoch only; see :class:`EpochDataset` for `num_streams`. Each stream has its own shuffle
    buffer. :meth:`state_dict` is exact after every sample: the state has the positions of the samples in the buffer, which are
    read again when it is loaded.

    An archive that is damaged, or ends too early, is an error that names its URL and the offset. All reads of one shard are of
    one version of the object.

    Args:
        region: AWS region of the buckets.
        get_dataset_objects: Called with a client; returns the shards.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        decode: Called with each sample; returns the item, for example ``webdataset.autodecode.Decoder([...])``. The default
            returns the sample.
        handler: Called with each exception of a shard, a file or `decode`, like webdataset's handlers: it raises it, or returns
            True to skip the rest of the shard, the file or the sample, or False to end the iteration. The default raises.
        select_files: Called with each file name; False skips the file, and its bytes are not read.
        rename_files: Called with each file name; returns the name to use.
        suffixes: Keep only files with these suffixes, such as ``("jpg", "cls")``; None: all.
        shuffle_shards: Shuffle the order of the shards.
        shuffle_buffer: Samples in each shuffle buffer; 0: the order of the shards.
        seed: Seed of the shuffling.
        num_streams: See :class:`EpochDataset`.
        s3client_config: See :class:`penstock.S3ClientConfig`.

    Raises:
        TypeError: An argument is of another type.
        ValueError: `shuffle_buffer` or `num_streams` is out of range. From iterating: a shard is compressed, has a sparse file,
            or two files of a sample have one suffix.
        S3DataLossError: From iterating: a shard is damaged or incomplete.
        S3Exception: From iterating: a shard cannot be read.

    Thread safety: use from one thread at a time.
    """

    _kind = "tar"

    def __init__(
        self,
        region: str,
        get_dataset_objects: GetDatasetObjects,
        endpoint: str | None = None,
        *,
        decode: Callable[[Sample], Any] = identity,
        handler: Handler = reraise,
        select_files: Callable[[str], bool] | None = None,
        rename_files: Callable[[str], str] | None = None,
        suffixes: Iterable[str] | None = None,
        shuffle_shards: bool = False,
        shuffle_buffer: int = 0,
        seed: int = 0,
        num_streams: int | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        super().__init__(region, get_dataset_objects, endpoint, identity, s3client_config, None)
        for name, function in (
            ("decode", decode),
            ("handler", handler),
            ("select_files", select_files),
            ("rename_files", rename_files),
        ):
            check_callable(name, function)
        check_type("shuffle_buffer", shuffle_buffer, (int,))
        if shuffle_buffer < 0:
            raise ValueError(f"shuffle_buffer must be 0 (no shuffling) or a number of samples, not {shuffle_buffer}")
        if isinstance(suffixes, str):
            raise TypeError(f"suffixes must be a collection of str, not the str {suffixes!r}; write ({suffixes!r},)")
        self._init_epochs(seed, shuffle_shards, num_streams)
        self._grouping = Grouping(rename_files, select_files, None if suffixes is None else frozenset(suffixes), handler)
        self._decode = decode
        self._buffer = shuffle_buffer

    @classmethod
    def from_objects(cls, object_uris: str | Iterable[str], *, region: str, **options: Any) -> S3TarDataset:
        """Makes a dataset of the shards with the given URIs.

        Args:
            object_uris: Several URIs ``s3://bucket/key``, or one string with braces, such as
                ``s3://bucket/train-{000000..000099}.tar``. ``::`` separates several in a string.
            region: AWS region of the buckets.
            **options: The other arguments of the class.
        """
        log.info("Building %s from_objects", cls.__name__)
        return cls(region, ObjectsFromUris(expand_urls(object_uris)), **options)

    @classmethod
    def from_prefix(cls, s3_uri: str, *, region: str, **options: Any) -> S3TarDataset:
        """Makes a dataset of the objects below a prefix whose keys end with ``.tar``. Each iteration lists them again.

        Args:
            s3_uri: ``s3://bucket/prefix``, or ``s3://bucket`` for all objects of the bucket.
            region: AWS region of the bucket.
            **options: The other arguments of the class.
        """
        log.info("Building %s from_prefix s3_uri=%r", cls.__name__, s3_uri)
        return cls(region, ObjectsWithSuffix(s3_uri, (".tar",)), **options)

    def _units(self) -> Sequence[S3BucketKeyData]:
        return list(self._objects())

    def _unit_name(self, unit: S3BucketKeyData) -> str:
        return url_of(unit)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "shuffle_buffer": self._buffer}

    def _open_stream(
        self,
        units: Sequence[S3BucketKeyData],
        order: Sequence[int],
        key: tuple[int, ...],
        share: int,
        state: Mapping[str, Any] | None,
    ) -> Stream:
        client = self._get_client()
        budget = client.s3client_config._look_ahead // share
        return SampleStream(client, units, order, key, self._buffer, self._grouping, budget, state)

    def _finish(self, item: Sample) -> Any:
        try:
            return self._decode(item)
        except Exception as error:
            raise (Skipped if self._grouping.handler(error) else Stopped) from error
