"""Reads untrusted pickles: imports and calls nothing that a pickle refers to.

Each expected class is replaced by a class of this module that only stores its attributes. For other classes, the reader of
``.metadata`` raises an error, and the reader of ``data.pkl`` creates an empty object. No code of torch or the pickle runs.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from math import prod
from typing import Any

from .. import _core

# Size of an element in bytes, by the name of the dtype in torch.
ITEM_BYTES = {
    **dict.fromkeys(("bool", "uint8", "int8", "quint8", "qint8", "bits8", "quint4x2", "quint2x4"), 1),
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"), 1),
    **dict.fromkeys((f"{kind}{bits}" for kind in ("int", "uint") for bits in range(1, 8)), 1),
    "float4_e2m1fn_x2": 1,
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16", "bits16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32", "qint32", "complex32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}
_STORAGES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "QUInt8Storage": "quint8",
    "QInt8Storage": "qint8",
    "QInt32Storage": "qint32",
    "QUInt4x2Storage": "quint4x2",
    "QUInt2x4Storage": "quint2x4",
}


class DType(str):
    """A dtype's name, without ``torch.``."""

    __slots__ = ()


class Held:
    """Stores the attributes of a pickled object, or its `state` if that is not a dict."""

    state: Any = None

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__.update((name, value) for name, value in state.items() if isinstance(name, str))
        else:
            self.state = state


class Ordered(dict[Any, Any]):
    """An OrderedDict. Ignores attributes, such as those of ``model.state_dict()``."""

    def __setstate__(self, state: Any) -> None: ...


class Defaulting(Ordered):
    """A defaultdict, such as the state of an optimizer. Ignores the default factory."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__()


class Tensor:
    """Shape and dtype of a tensor. `storage` is the name of the record with its elements; None: there is none."""

    def __init__(self, dtype: str, shape: tuple[int, ...], storage: str | None = None) -> None:
        self.dtype = dtype
        self.shape = shape
        self.storage = storage

    def __setstate__(self, state: Any) -> None:
        """Ignores Python attributes of the tensor."""

    @property
    def size(self) -> int | None:
        """Size of the elements in bytes; None if the dtype is unknown."""
        item = ITEM_BYTES.get(self.dtype)
        return None if item is None else prod(self.shape) * item


class Metadata(Held):
    """Metadata of torch.distributed.checkpoint. The classes below are those of its attributes."""


class TensorEntry(Held): ...


class BytesEntry(Held): ...


class Chunk(Held): ...


class Properties(Held): ...


class Index(Held): ...


class StorageInfo(Held): ...


def _joined(*parts: Any) -> str:
    return "/".join(str(part) for part in parts)


class MemoryFormat(Held): ...


def _memory_format(enum: Any, name: Any) -> MemoryFormat:
    """Replaces ``getattr``, by which CPython 3.11.2, for example, pickles a member of an enum. Accepts nothing else."""
    if enum is not MemoryFormat or not isinstance(name, str):
        raise pickle.UnpicklingError(
            "contains a getattr that checkpoint metadata does not use; it was not run. Check who wrote this object"
        )
    return MemoryFormat(name)


_DCP_CLASSES: dict[tuple[str, str], Callable[..., Any]] = {
    ("torch.distributed.checkpoint.metadata", name): stands
    for name, stands in {
        "Metadata": Metadata,
        "TensorStorageMetadata": TensorEntry,
        "BytesStorageMetadata": BytesEntry,
        "ChunkStorageMetadata": Chunk,
        "TensorProperties": Properties,
        "MetadataIndex": Index,
        "StorageMeta": Held,
        "_MEM_FORMAT_ENCODING": MemoryFormat,
    }.items()
}
_DCP_CLASSES["builtins", "getattr"] = _memory_format
_DCP_CLASSES["torch.distributed.checkpoint.filesystem", "_StorageInfo"] = StorageInfo
_COMMON: dict[tuple[str, str], Callable[..., Any]] = {
    ("torch", "Size"): lambda sizes=(): tuple(sizes),
    ("torch.serialization", "_get_layout"): str,
    ("collections", "OrderedDict"): Ordered,
    ("collections", "defaultdict"): Defaulting,
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "complex"): complex,
    ("builtins", "bytearray"): Held,
    **{(module, name): _joined for module in ("pathlib", "pathlib._local")
       for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path")},
}  # fmt: skip


class _Unpickler(pickle.Unpickler):
    """Resolves the names that both kinds of pickles use."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in ITEM_BYTES:
            return DType(name)
        found = _COMMON.get((module, name))
        return self.other(module, name) if found is None else found

    def other(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(
            f"refers to {module}.{name}, which checkpoint metadata does not use; it was not run. Check who wrote this object"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("contains a persistent ID, which checkpoint metadata does not use")


class _DcpUnpickler(_Unpickler):
    def other(self, module: str, name: str) -> Any:
        found = _DCP_CLASSES.get((module, name))
        return super().other(module, name) if found is None else found


def load_dcp_metadata(data: bytes) -> Metadata:
    """Reads a ``.metadata`` of torch.distributed.checkpoint.

    Raises:
        ValueError: The data is not such a pickle, or refers to unexpected classes.
    """
    _core.scan_pickle(data)
    found = _load(_DcpUnpickler(io.BytesIO(data)))
    if not isinstance(found, Metadata):
        raise ValueError(f"contains a {type(found).__name__}, expected Metadata of torch.distributed.checkpoint")
    return found


def _load(unpickler: pickle.Unpickler) -> Any:
    try:
        return unpickler.load()
    except pickle.UnpicklingError as error:
        raise ValueError(str(error)) from None
    except (ArithmeticError, AttributeError, EOFError, ImportError, LookupError, MemoryError, TypeError, ValueError) as error:
        raise ValueError(f"is not a valid pickle ({type(error).__name__}: {error})") from None
    except RecursionError:
        raise ValueError("is a pickle with too many nesting levels") from None


class _Storage:
    def __init__(self, dtype: str, key: str) -> None:
        self.dtype = dtype
        self.key = key


class Opaque(dict[Any, Any]):
    """An empty object that replaces one of a class that torch.load(weights_only=True) would reject."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__()

    def __new__(cls, *arguments: Any, **named: Any) -> Opaque:
        return super().__new__(cls)

    def __call__(self, *arguments: Any, **named: Any) -> Opaque:
        return self  # the object may replace a function

    def __setstate__(self, state: Any) -> None: ...

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def append(self, value: Any) -> None: ...

    def extend(self, values: Any) -> None: ...

    def add(self, value: Any) -> None: ...


def _tensor_v2(storage: _Storage, offset: int, shape: Any, *rest: Any) -> Tensor:
    return Tensor(storage.dtype, tuple(shape), storage.key)


def _tensor_v3(storage: _Storage, offset: int, shape: Any, strides: Any, grad: Any, hooks: Any, dtype: str, *rest: Any) -> Tensor:
    return Tensor(str(dtype), tuple(shape), storage.key)


def _first(data: Any, *rest: Any) -> Any:
    return data


def _of_type(function: Any, kind: Any, arguments: tuple[Any, ...], *rest: Any) -> Any:
    return function(*arguments) if function in _REBUILT.values() else Opaque()


def _sparse(layout: Any, data: tuple[Any, ...]) -> Tensor:
    values = next((part for part in reversed(data) if isinstance(part, Tensor)), None)
    shape = next((part for part in reversed(data) if isinstance(part, (tuple, list))), ())
    return Tensor(values.dtype if values else "", tuple(shape), values.storage if values else None)


def _meta(dtype: str, shape: Any, *rest: Any) -> Tensor:
    return Tensor(str(dtype), tuple(shape))


_REBUILT: dict[str, Callable[..., Any]] = {
    "_rebuild_tensor": _tensor_v2,
    "_rebuild_tensor_v2": _tensor_v2,
    "_rebuild_tensor_v3": _tensor_v3,
    "_rebuild_qtensor": _tensor_v2,
    "_rebuild_parameter": _first,
    "_rebuild_parameter_with_state": _first,
    "_rebuild_device_tensor_from_cpu_tensor": _first,
    "_rebuild_sparse_tensor": _sparse,
    "_rebuild_meta_tensor_no_storage": _meta,
}


class _FileUnpickler(_Unpickler):
    """Reads a data.pkl: tensors as :class:`Tensor`, objects of unknown classes as :class:`Opaque`."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.foreign: set[str] = set()

    def other(self, module: str, name: str) -> Any:
        if module == "torch._utils" and name in _REBUILT:
            return _REBUILT[name]
        if (module, name) == ("torch._tensor", "_rebuild_from_type_v2"):
            return _of_type
        if (module, name) == ("torch.nn.parameter", "Parameter"):
            return _first
        if module in ("torch", "torch.storage") and name.endswith("Storage"):
            return DType(_STORAGES.get(name, ""))
        if (module, name) in _PLAIN:
            return Held
        self.foreign.add(f"{module}.{name}")
        return Opaque

    def persistent_load(self, pid: Any) -> Any:
        if isinstance(pid, tuple) and len(pid) == 5 and pid[0] == "storage":
            return _Storage(str(pid[1]), str(pid[2]))
        raise pickle.UnpicklingError("contains a persistent ID that is not a storage of torch.save")


_PLAIN = {("torch", "device"), ("torch.serialization", "_get_dtype"), ("collections", "Counter")}


def load_file_pickle(data: bytes) -> tuple[Any, list[str]]:
    """Reads a ``data.pkl`` of torch.save. Returns its content, with tensors as :class:`Tensor`, and the names of unknown classes.

    Raises:
        ValueError: The data is not such a pickle.
    """
    _core.scan_pickle(data)
    unpickler = _FileUnpickler(data)
    return _load(unpickler), sorted(unpickler.foreign)
