"""Compares a response with the expectation of a case. Each difference is reported with both values."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from . import bodies
from .connection import Response

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
SHOWN = 300
# Keys can contain characters that XML 1.0 cannot represent. S3 sends them as character references, which strict parsers reject.
_FOREIGN = re.compile(rb"&#x(?:[0-8bcef]|1[0-9a-f]|fff[ef]);")


def differences(response: Response, expect: Mapping[str, Any]) -> list[str]:
    """Returns the differences, one line each; empty if the response is as expected.

    Args:
        response: The response.
        expect: The `expect` of a case, with `${name}` replaced.
    """
    found: list[str] = []
    if response.status != expect["status"]:
        code = re.search(rb"<Code>(.*?)</Code>.*?<Message>(.*?)</Message>", response.body, re.DOTALL)
        said = f" ({code[1].decode()}: {code[2].decode()})" if code else ""
        found.append(f"status: expected {expect['status']}, found {response.status}{said}")
    if "reason" in expect and response.reason != expect["reason"]:
        found.append(f"reason phrase: expected {expect['reason']!r}, found {response.reason!r}")
    for name, wanted in expect.get("headers", {}).items():
        found += _mismatch(f"header {name}", wanted, [] if response.header(name) is None else [response.header(name) or ""])
    if "body" in expect:
        found += _body_mismatch(response.body, expect["body"])
    if "error" in expect:
        found += _tree_mismatch(response.body, {"root": "Error", "namespace": "", "elements": expect["error"]})
    if "xml" in expect:
        found += _tree_mismatch(response.body, {"namespace": NAMESPACE, **expect["xml"]})
    return found


def parse(document: bytes) -> ElementTree.Element:
    """Parses XML. References to characters that XML 1.0 does not allow, which S3 sends for such keys, become U+FFFD.

    Raises:
        ElementTree.ParseError: the document is not well-formed.
    """
    return ElementTree.fromstring(_FOREIGN.sub("\ufffd".encode(), document))


def texts(root: ElementTree.Element, path: str) -> list[str]:
    """Texts of the elements at a path such as `Owner/ID`, ignoring namespaces. `@name` as the last step selects an attribute."""
    nodes = [root]
    for step in path.split("/"):
        if step.startswith("@"):
            return [value for node in nodes for key, value in node.attrib.items() if _local(key) == step[1:]]
        nodes = [child for node in nodes for child in node if _local(child.tag) == step]
    return [node.text or "" for node in nodes]


def saved(response: Response, wanted: Mapping[str, str]) -> str:
    """The value that a step saves for later steps: `{"header": name}` or `{"xml": path}`.

    Raises:
        ValueError: the response has no such value.
    """
    if "header" in wanted:
        value = response.header(wanted["header"])
        if value is None:
            raise ValueError(f"the response has no header {wanted['header']}")
        return value
    values = texts(parse(response.body), wanted["xml"])
    if not values:
        raise ValueError(f"the response has no element {wanted['xml']}")
    return values[0]


def _body_mismatch(body: bytes, wanted: Any) -> list[str]:
    if isinstance(wanted, dict) and "matches" in wanted:
        ok = re.fullmatch(wanted["matches"], body.decode("utf-8", "replace"), re.DOTALL) is not None
        return [] if ok else [f"body: expected to match {wanted['matches']!r}, found {_short(body)}"]
    expected = bodies.plain(wanted)
    if body == expected:
        return []
    if len(expected) > SHOWN:
        sums = [f"{len(data)} bytes with SHA-256 {hashlib.sha256(data).hexdigest()}" for data in (expected, body)]
        return [f"body: expected {sums[0]}, found {sums[1]}"]
    return [f"body: expected {expected!r}, found {_short(body)}"]


def _tree_mismatch(body: bytes, wanted: Mapping[str, Any]) -> list[str]:
    try:
        root = parse(body)
    except ElementTree.ParseError as error:
        return [f"body: expected XML <{wanted.get('root', '?')}>, found {_short(body)} ({error})"]
    found: list[str] = []
    if "root" in wanted and _local(root.tag) != wanted["root"]:
        found.append(f"XML root: expected {wanted['root']}, found {_local(root.tag)}")
    namespace = root.tag[1:].partition("}")[0] if root.tag.startswith("{") else ""
    if namespace != wanted["namespace"]:
        found.append(f"XML namespace: expected {wanted['namespace']!r}, found {namespace!r}")
    for path, value in wanted.get("elements", {}).items():
        found += _mismatch(f"element {path}", value, texts(root, path))
    if "order" in wanted:
        names = [_local(child.tag) for child in root]
        order = [name for index, name in enumerate(names) if index == 0 or names[index - 1] != name]
        if order != wanted["order"]:
            found.append(f"element order: expected {wanted['order']}, found {order}")
    if "text" in wanted and (root.text or "") != wanted["text"]:
        found.append(f"XML text: expected {wanted['text']!r}, found {root.text!r}")
    return found


def _mismatch(what: str, wanted: Any, values: list[str]) -> list[str]:
    """`wanted`: a string, null (absent), a list (all values in order), or an object with `matches`, `one_of` or `count`."""
    if wanted is None:
        return [f"{what}: expected none, found {values}"] if values else []
    if isinstance(wanted, list):
        return [] if values == wanted else [f"{what}: expected {wanted}, found {_short(values)}"]
    if isinstance(wanted, dict) and "count" in wanted:
        return [] if len(values) == wanted["count"] else [f"{what}: expected {wanted['count']} of them, found {len(values)}"]
    if not values:
        return [f"{what}: expected {_short(wanted)}, found none"]
    if isinstance(wanted, str):
        shown = _short(values[0] if len(values) == 1 else values)
        return [] if values == [wanted] else [f"{what}: expected {wanted!r}, found {shown}"]
    if "matches" in wanted:
        bad = [value for value in values if not re.fullmatch(wanted["matches"], value, re.DOTALL)]
        return [f"{what}: expected to match {wanted['matches']!r}, found {_short(bad[0])}"] if bad else []
    bad = [value for value in values if value not in wanted["one_of"]]
    return [f"{what}: expected one of {wanted['one_of']}, found {_short(bad[0])}"] if bad else []


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
