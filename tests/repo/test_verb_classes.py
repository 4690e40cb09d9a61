"""docs/reference/retries.md has each verb's retry class of client/s3/model/operations.h."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERB = re.compile(r'\{k\w+,\s*"(\w+)",\s*"(\w+)",\s*k(\w+)')
ROW = re.compile(r"^\| ([A-Z]\w+) \| ([A-Z]+) \| (\w+) \|", re.M)


def test_every_row_has_the_retry_class_of_the_header():
    verbs = {
        name: (method, retry_class)
        for name, method, retry_class in VERB.findall((ROOT / "client/s3/model/operations.h").read_text())
    }
    rows = {
        name: (method, retry_class) for name, method, retry_class in ROW.findall((ROOT / "docs/reference/retries.md").read_text())
    }
    assert len(rows) >= 19
    assert {name: verbs.get(name) for name in rows} == rows
