"""S3Datasource: reads objects of S3 as rows of a Ray dataset.

Importing this module does not import ray; using S3Datasource does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._datasource import S3Datasource

__all__ = ["S3Datasource"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ._datasource import S3Datasource
    except ModuleNotFoundError as error:
        if error.name not in ("ray", "pyarrow"):
            raise
        text = f"penstock.ray needs Ray Data, and {error.name} is not installed: pip install 'ray[data]'"
        raise ModuleNotFoundError(text, name=error.name) from None
    globals()[name] = S3Datasource
    return S3Datasource


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
