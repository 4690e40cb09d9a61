"""Griffe extension of the documentation site: writes the reStructuredText of docstrings as Markdown.

Docstrings use roles (:class:`Name`) and literal blocks (a line that ends in ``::``), which Markdown prints as they are.
Methods that are made from others, ``get = awaited(Requests.get)``, get a docstring that names the other method.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc|obj|ref):`~?([^`]+)`")
_LITERAL = re.compile(r"^(\s*)::\n", re.M)
_LITERAL_AFTER_TEXT = re.compile(r"(?<=\S)::$", re.M)
_AWAITED = re.compile(r"awaited\(\w+\.(\w+)\)")


def as_markdown(docstring: str) -> str:
    text = _ROLE.sub(r"`\1`", docstring)
    return _LITERAL_AFTER_TEXT.sub(":", _LITERAL.sub("", text))


class RstDocstrings(griffe.Extension):
    """Rewrites the docstring of every object that Griffe loads."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        method = _AWAITED.fullmatch(str(attr.value))
        if method and attr.docstring is None:
            attr.docstring = griffe.Docstring(f"The coroutine of `penstock.S3Client.{method[1]}`.", parent=attr)
