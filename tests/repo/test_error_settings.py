"""Every setting that an error of the client names exists in C++ under that name, and in Python under its Python name."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import penstock
import pytest
from penstock import _exceptions

ROOT = Path(__file__).resolve().parents[2]
# Where errors name a setting: `.About("x")`, Invalid("...", "x"), `setting = "x"` and tables of settings with the same check.
NAMED = (
    re.compile(r'About\("(\w+)"\)'),
    re.compile(r'Invalid\((?:[^"]|"[^"]*")*?, "(\w+)"\);'),
    re.compile(r'setting = "(\w+)"'),
    re.compile(r'std::pair\{"(\w+)", config\.'),
)


# Settings of the C++ client alone, so Python programs never get these errors.
ONLY_IN_CPP = {"client_certificate_path"}


def names() -> set[str]:
    sources = [path for path in (ROOT / "client").rglob("*.cc") if not path.name.endswith("_test.cc")]
    sources += [path for path in (ROOT / "client").rglob("*.h") if "test" not in path.name]
    # There, Invalid() names a member of a file.
    sources = [path for path in sources if ROOT / "client/checkpoint" not in path.parents]
    return {name for path in sources for pattern in NAMED for name in pattern.findall(path.read_text(encoding="utf-8"))}


NAMES = sorted(names())


def test_the_search_finds_settings() -> None:
    assert {"idle_timeout", "low_speed_bytes_per_second", "max_attempts", "memory_limit", "part_size_bytes"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_named_setting_exists_in_cpp(name: str) -> None:
    headers = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "client/include/penstock").glob("*.h"))
    setter = "Set" + "".join(word.capitalize() for word in name.split("_")) + "("
    assert re.search(rf"\b{name}( = |\{{|;)", headers) or setter in headers


@pytest.mark.parametrize("name", sorted(set(NAMES) - ONLY_IN_CPP))
def test_a_named_setting_exists_in_python(name: str) -> None:
    raised = _exceptions.from_error(
        kind="timeout", message="too slow", code="", status=0, operation="GetObject", bucket="b", key="k", request_id="",
        host_id="", region="", setting=name, attempts=1, history=(),
    )  # fmt: skip
    fields = {field.name for field in dataclasses.fields(penstock.S3ClientConfig)}
    setting = raised.setting  # type: ignore[attr-defined]
    assert setting in fields or hasattr(penstock, setting)
    assert setting in str(raised)
