"""``--exclude`` and ``--include``, with the rules of ``aws s3``."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence


class Filters:
    """Selects names relative to the source folder. Everything is selected until a pattern matches; the last one wins.

    Args:
        rules: Pairs of whether matching names are included, and the pattern (``*``, ``?``, ``[abc]``, ``[!abc]``; ``*`` also
            matches slashes).

    Source: https://docs.aws.amazon.com/cli/latest/reference/s3/#use-of-exclude-and-include-filters
    """

    def __init__(self, rules: Sequence[tuple[bool, str]] = ()) -> None:
        self._rules = [(include, re.compile(fnmatch.translate(pattern))) for include, pattern in reversed(rules)]

    def selects(self, name: str) -> bool:
        for include, pattern in self._rules:
            if pattern.match(name):
                return include
        return True
