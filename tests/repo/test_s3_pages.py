"""The generated pages of docs/reference/ are up to date with the emulator's tables."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("s3_pages", ROOT / "tools/docs/s3_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["s3-operations.md", "s3-errors.md"])
def test_a_generated_page_is_up_to_date(generator: ModuleType, name: str) -> None:
    written = (ROOT / "docs/reference" / name).read_text()
    assert written == generator.PAGES[name](), "run `python tools/docs/s3_pages.py`"


def test_the_generator_reads_every_row(generator: ModuleType) -> None:
    operations = (ROOT / "emulator/s3/dispatch/operations.cc").read_text()
    names = set(re.findall(r'^.*\{\s*"([A-Z][A-Za-z0-9]+)"', operations, re.M))
    assert {each.name for each in generator.operations()} == names
    assert not names & {name for group in generator.OTHER_OPERATIONS for name in group}
    errors = generator.block((ROOT / "emulator/message/errors.cc").read_text(), "kErrors[]", "\n};")
    assert generator.errors_page().count("\n| `") == len(re.findall(r'^    \{"', errors, re.M))
