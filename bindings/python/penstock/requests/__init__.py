"""Arguments and results of the requests of :class:`penstock.S3Client`."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat it as True; importing `typing` would cost more than the rest of this module
if TYPE_CHECKING:
    from ._options import CallOptions, ObjectOptions, PresignOptions, ReadOptions
    from ._rare_results import (
        BucketInfo,
        CompletedPart,
        DeletedObject,
        DeleteFailure,
        DeleteObjectsResult,
        DirectoryResult,
        FileFailure,
        GetObjectAttributesResult,
        HeadBucketResult,
        ListMultipartUploadsResult,
        ListPartsResult,
        MultipartUpload,
        ObjectPart,
        ObjectToDelete,
        PresignedPost,
        PresignedRequest,
    )
    from ._results import CopyResult, DeleteResult, GetResult, ObjectMetadata, PutResult, UploadFileResult

__all__ = [
    "BucketInfo",
    "CallOptions",
    "CompletedPart",
    "CopyResult",
    "DeleteFailure",
    "DeleteObjectsResult",
    "DeleteResult",
    "DeletedObject",
    "DirectoryResult",
    "FileFailure",
    "GetObjectAttributesResult",
    "GetResult",
    "HeadBucketResult",
    "ListMultipartUploadsResult",
    "ListPartsResult",
    "MultipartUpload",
    "ObjectMetadata",
    "ObjectOptions",
    "ObjectPart",
    "ObjectToDelete",
    "PresignOptions",
    "PresignedPost",
    "PresignedRequest",
    "PutResult",
    "ReadOptions",
    "UploadFileResult",
]

# Creating these classes takes longer than the rest of a client's import: each module is imported on first use.
_OPTIONS = ("CallOptions", "ObjectOptions", "PresignOptions", "ReadOptions")
_RESULTS = ("CopyResult", "DeleteResult", "GetResult", "ObjectMetadata", "PutResult", "UploadFileResult")


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = "._options" if name in _OPTIONS else "._results" if name in _RESULTS else "._rare_results"
    value: object = getattr(importlib.import_module(module, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
