"""docs/retries.md has each verb's retry class of client/s3/operations.h."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERB = re.compile(r'\{Operation::k\w+,\s*"(\w+)",\s*"(\w+)",\s*RetryClass::k(\w+)')
ROW = re.compile(r"^\| ([A-Z]\w+) \| ([A-Z]+) \| (\w+) \|", re.M)


def test_every_row_has_the_retry_class_of_the_header():
    verbs = {
        name: (method, retry_class) for name, method, retry_class in VERB.findall((ROOT / "client/s3/operations.h").read_text())
    }
    rows = {name: (method, retry_class) for name, method, retry_class in ROW.findall((ROOT / "docs/retries.md").read_text())}
    assert len(rows) >= 19
    assert {name: verbs.get(name) for name in rows} == rows
