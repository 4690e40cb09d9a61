"""Holds an answer against what a case expects, and names every difference with both values."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from . import bodies
from .connection import Answer

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
SHOWN = 300
# Keys may hold what XML 1.0 has no character for; S3 writes it as references, which no strict parser takes.
_FOREIGN = re.compile(rb"&#x(?:[0-8bcef]|1[0-9a-f]|fff[ef]);")


def differences(answer: Answer, expect: Mapping[str, Any]) -> list[str]:
    """What is not as expected, one line each; empty: the answer is right.

    Args:
        answer: The answer.
        expect: An `expect` of the case format, filled.
    """
    found: list[str] = []
    if answer.status != expect["status"]:
        code = re.search(rb"<Code>(.*?)</Code>.*?<Message>(.*?)</Message>", answer.body, re.DOTALL)
        said = f" ({code[1].decode()}: {code[2].decode()})" if code else ""
        found.append(f"status: expected {expect['status']}, found {answer.status}{said}")
    if "reason" in expect and answer.reason != expect["reason"]:
        found.append(f"reason phrase: expected {expect['reason']!r}, found {answer.reason!r}")
    for name, wanted in expect.get("headers", {}).items():
        found += _mismatch(f"header {name}", wanted, [] if answer.header(name) is None else [answer.header(name) or ""])
    if "body" in expect:
        found += _body_mismatch(answer.body, expect["body"])
    if "error" in expect:
        found += _tree_mismatch(answer.body, {"root": "Error", "namespace": "", "elements": expect["error"]})
    if "xml" in expect:
        found += _tree_mismatch(answer.body, {"namespace": NAMESPACE, **expect["xml"]})
    return found


def parse(document: bytes) -> ElementTree.Element:
    """The document's root, strictly read but for S3's references to characters XML does not have: those are U+FFFD.

    Raises:
        ElementTree.ParseError: it is not well-formed.
    """
    return ElementTree.fromstring(_FOREIGN.sub("\ufffd".encode(), document))


def texts(root: ElementTree.Element, path: str) -> list[str]:
    """The text of every element at `path`, names without namespaces. `Owner/ID`; `@name` at the end: an attribute."""
    nodes = [root]
    for step in path.split("/"):
        if step.startswith("@"):
            return [value for node in nodes for key, value in node.attrib.items() if _local(key) == step[1:]]
        nodes = [child for node in nodes for child in node if _local(child.tag) == step]
    return [node.text or "" for node in nodes]


def saved(answer: Answer, wanted: Mapping[str, str]) -> str:
    """The value a step keeps for later ones: `{"header": name}` or `{"xml": path}`.

    Raises:
        ValueError: the answer has no such value.
    """
    if "header" in wanted:
        value = answer.header(wanted["header"])
        if value is None:
            raise ValueError(f"the answer has no header {wanted['header']}")
        return value
    values = texts(parse(answer.body), wanted["xml"])
    if not values:
        raise ValueError(f"the answer has no element {wanted['xml']}")
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
    """`wanted`: a text, null (absent), a list (all, in order), `{"matches": regex}`, `{"one_of": [...]}` or `{"count": n}`."""
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
