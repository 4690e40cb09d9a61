"""S3ParquetDataset: row groups of Parquet files in S3."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._config import S3ClientConfig, check_callable, check_type
from .._dataset_base import GetDatasetObjects, S3DatasetBase
from .._listing import ObjectsFromUris, identity
from ._epochs import EpochDataset, Stream
from ._parquet import ParquetObject, RowGroup, RowGroupStream, read_files, row_groups
from ._urls import ObjectsWithSuffix, expand_urls

log = logging.getLogger(__name__)


class S3ParquetDataset(S3DatasetBase, EpochDataset):
    """An iterable dataset of the row groups of Parquet files in S3, as ``pyarrow.Table``.

    Fetches only the column chunks of `columns`, several row groups in advance (``S3ClientConfig.look_ahead_bytes`` in each
    process), with neighbouring chunks in one request. The first iteration in a process reads the metadata of all files.

    The order depends on `seed` and the epoch only; see :class:`EpochDataset` for `num_streams`. :meth:`state_dict` is exact after
    every row group. A state is refused if a file has changed since.

    Args:
        region: AWS region of the buckets.
        get_dataset_objects: Called with a client; returns the files.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        columns: Names of columns, with dots for nested ones; None: all.
        transform: Called with each table; returns the item. The default returns the table.
        shuffle_row_groups: Shuffle the order of the row groups.
        shuffle_rows: Shuffle the rows of each row group.
        seed: Seed of the shuffling.
        num_streams: See :class:`EpochDataset`.
        use_threads: Decode columns in parallel. pyarrow's threads may then abort a process that exits right after the
            last table: they release Python objects late.
        s3client_config: See :class:`penstock.S3ClientConfig`.

    Raises:
        TypeError: An argument is of another type.
        ValueError: `num_streams` is out of range. From iterating: a file lacks one of `columns`.
        ModuleNotFoundError: pyarrow is not installed.
        S3DataLossError: From iterating: a file is not a complete Parquet file, or a row group cannot be decoded.
        S3Exception: From iterating: a file cannot be read.

    Thread safety: use from one thread at a time.
    """

    _kind = "parquet"

    def __init__(
        self,
        region: str,
        get_dataset_objects: GetDatasetObjects,
        endpoint: str | None = None,
        *,
        columns: Iterable[str] | None = None,
        transform: Callable[[Any], Any] = identity,
        shuffle_row_groups: bool = False,
        shuffle_rows: bool = False,
        seed: int = 0,
        num_streams: int | None = None,
        use_threads: bool = False,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        try:
            import pyarrow.parquet  # noqa: F401
        except ModuleNotFoundError as error:
            if error.name not in ("pyarrow", "pyarrow.parquet"):
                raise
            raise ModuleNotFoundError("S3ParquetDataset needs pyarrow: pip install pyarrow", name=error.name) from None
        super().__init__(region, get_dataset_objects, endpoint, identity, s3client_config, None)
        check_callable("transform", transform)
        check_type("use_threads", use_threads, (bool,))
        if isinstance(columns, str):
            raise TypeError(f"columns must be a collection of str, not the str {columns!r}; write [{columns!r}]")
        self._init_epochs(seed, shuffle_row_groups, num_streams)
        self._columns = None if columns is None else list(columns)
        self._to_item = transform
        self._shuffle_rows = shuffle_rows
        self._use_threads = use_threads
        self._files: list[ParquetObject] | None = None

    @classmethod
    def from_objects(cls, object_uris: str | Iterable[str], *, region: str, **options: Any) -> S3ParquetDataset:
        """Makes a dataset of the files with the given URIs.

        Args:
            object_uris: As in :meth:`S3TarDataset.from_objects`.
            region: AWS region of the buckets.
            **options: The other arguments of the class.
        """
        log.info("Building %s from_objects", cls.__name__)
        return cls(region, ObjectsFromUris(expand_urls(object_uris)), **options)

    @classmethod
    def from_prefix(cls, s3_uri: str, *, region: str, **options: Any) -> S3ParquetDataset:
        """Makes a dataset of the objects below a prefix whose keys end with ``.parquet``, listed at the first iteration.

        Args:
            s3_uri: ``s3://bucket/prefix``, or ``s3://bucket`` for all objects of the bucket.
            region: AWS region of the bucket.
            **options: The other arguments of the class.
        """
        log.info("Building %s from_prefix s3_uri=%r", cls.__name__, s3_uri)
        return cls(region, ObjectsWithSuffix(s3_uri, (".parquet",)), **options)

    @property
    def files(self) -> list[ParquetObject]:
        """The files with their metadata. Reading this before workers start saves each of them these requests."""
        if self._files is None:
            self._files = read_files(self._get_client(), self._objects())
        return self._files

    def _units(self) -> Sequence[RowGroup]:
        return list(row_groups(self.files))

    def _unit_name(self, unit: RowGroup) -> str:
        return f"{unit.file.url} {unit.file.etag} {unit.number}"

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "shuffle_rows": self._shuffle_rows}

    def _open_stream(
        self, units: Sequence[RowGroup], order: Sequence[int], key: tuple[int, ...], share: int, state: Mapping[str, Any] | None
    ) -> Stream:
        client = self._get_client()
        budget = client.s3client_config._look_ahead // share
        shuffle_key = key[:2] if self._shuffle_rows else None
        return RowGroupStream(client, units, order, self._columns, shuffle_key, self._use_threads, budget, state)

    def _finish(self, item: Any) -> Any:
        return self._to_item(item)
