"""The reference of condition keys names every key that bucket policies may have."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
VOCABULARY = REPOSITORY / "emulator/s3/access/policy_vocabulary_table.h"
PAGE = REPOSITORY / "docs/reference/condition-keys.md"


def test_every_key_is_on_the_page() -> None:
    keys = re.findall(r'\{"((?:aws|s3|s3express):[^"*]+)", k[A-Z]\w+, (?:true|false)\}', VOCABULARY.read_text())
    assert len(keys) > 100
    named = {name.lower().removesuffix("key") for name in re.findall(r"`([a-z0-9]+:[^`]+)`", PAGE.read_text())}
    of_page = named | {name.replace("s3:", "s3express:") for name in named}
    assert [key for key in keys if key.lower() not in of_page] == []
