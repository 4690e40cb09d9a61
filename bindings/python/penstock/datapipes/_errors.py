"""S3 errors that are also ValueErrors, as torchdata's S3 DataPipes raise."""

from __future__ import annotations

from .. import _exceptions
from .._exceptions import S3Exception

# A subclass of each kind of S3Exception, by the same name in this module, so that instances can be pickled.
_KINDS: dict[type[S3Exception], type[S3Exception]] = {}
_all: list[type[S3Exception]] = [S3Exception, *_exceptions._BY_KIND.values()]
for _kind in _all:
    if not issubclass(_kind, ValueError):
        _KINDS[_kind] = type(_kind.__name__, (_kind, ValueError), {"__module__": __name__, "__doc__": _kind.__doc__})
globals().update({kind.__name__: kind for kind in _KINDS.values()})


def also_value_error(error: S3Exception) -> S3Exception:
    """Returns `error` as an exception of the same kind that is also a ValueError, with the same message and attributes."""
    kind = _KINDS.get(type(error))
    if kind is None:
        return error
    copy = kind(*error.args)
    copy.__dict__.update(error.__dict__)
    return copy.with_traceback(error.__traceback__)
