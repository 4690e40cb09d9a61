"""References `${name}` in cases, for values that are known only at run time, such as bucket names, upload ids and dates.

`${name|filter}` encodes the value for its context, for example `url` (query or path segment) or `xml` (element text).
"""

from __future__ import annotations

import email.utils
import re
import time
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any
from xml.sax.saxutils import escape

_REFERENCE = re.compile(r"\$\{([A-Za-z0-9_]+)(?:\(([^)]*)\))?(?:\|(url|path|xml|regex|bare))?\}")


class UnknownNameError(KeyError):
    """A case refers to a value that no earlier step has saved."""


def http_date(offset_s: str) -> str:
    """Now plus `offset_s` seconds as an HTTP date."""
    return email.utils.formatdate(time.time() + int(offset_s or 0), usegmt=True)


def amz_date(offset_s: str) -> str:
    """Now plus `offset_s` seconds in the format of `x-amz-date`."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + int(offset_s or 0)))


def iso_date(offset_s: str) -> str:
    """Now plus `offset_s` seconds as an XML timestamp."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + int(offset_s or 0)))


_FUNCTIONS = {"http_date": http_date, "amz_date": amz_date, "iso_date": iso_date}
_FILTERS: dict[str | None, Callable[[str], str]] = {
    None: str,
    "url": lambda text: urllib.parse.quote(text, safe="-_.~"),
    "path": lambda text: urllib.parse.quote(text, safe="-_.~/"),
    "xml": escape,
    "regex": re.escape,
    "bare": lambda text: text.strip('"'),
}


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replaces all references in `text`.

    Raises:
        UnknownNameError: a name has no value yet.
    """

    def replace(match: re.Match[str]) -> str:
        name, argument, filter_name = match.groups()
        if argument is not None:
            return _FILTERS[filter_name](_FUNCTIONS[name](argument))
        if name not in values:
            raise UnknownNameError(f"${{{name}}} has no value; known: {', '.join(sorted(values))}")
        return _FILTERS[filter_name](values[name])

    return _REFERENCE.sub(replace, text)


def fill_all(node: Any, values: Mapping[str, str]) -> Any:
    """Replaces all references in the strings of `node`, at any depth."""
    if isinstance(node, str):
        return fill(node, values)
    if isinstance(node, list):
        return [fill_all(item, values) for item in node]
    if isinstance(node, dict):
        return {fill(key, values): fill_all(value, values) for key, value in node.items()}
    return node


def names_in(node: Any) -> set[str]:
    """All names that `node` refers to, except functions."""
    if isinstance(node, str):
        return {name for name, argument, _ in _REFERENCE.findall(node) if not argument}
    if isinstance(node, list):
        return set().union(*map(names_in, node))
    if isinstance(node, dict):
        return set().union(*map(names_in, node), *map(names_in, node.values()))
    return set()
