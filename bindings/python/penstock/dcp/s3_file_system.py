"""File system, writer and reader under the module name of the reference connector (s3torchconnector)."""

from ._file_system import S3FileSystem, _path_or_str_to_str
from ._reader import S3StorageReader
from ._writer import S3StorageWriter, StorageMetadata

__all__ = ["S3FileSystem", "S3StorageReader", "S3StorageWriter", "StorageMetadata", "_path_or_str_to_str"]
