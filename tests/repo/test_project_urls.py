"""tools/packages/project_urls.py: the address of the repository in the metadata of wheels, and absolute links for PyPI."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib
import io
import re
import zipfile
from email.parser import Parser
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
URL = "https://github.com/owner/name"
INFO = "penstock-0.1.0.dist-info"


@pytest.fixture
def project_urls(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools/packages"))
    return importlib.import_module("project_urls")


@pytest.mark.parametrize(
    ("text", "folder", "expected"),
    [
        ("[a](docs/index.md#b)", ".", f"[a]({URL}/blob/v0.1.0/docs/index.md#b)"),
        ("[a](docs/decisions/)", ".", f"[a]({URL}/tree/v0.1.0/docs/decisions)"),
        ("![a: b](docs/a.svg)", ".", f"![a: b]({URL}/raw/v0.1.0/docs/a.svg)"),
        ("[a](../../LICENSE)", "packaging/emulator", f"[a]({URL}/blob/v0.1.0/LICENSE)"),
        ("[![a](a.svg)](a.md)", ".", f"[![a]({URL}/raw/v0.1.0/a.svg)]({URL}/blob/v0.1.0/a.md)"),
        ("[`a` and `b`](a.md) `c`", ".", f"[`a` and `b`]({URL}/blob/v0.1.0/a.md) `c`"),
        ("[a](#install) [b](https://b/c) ![d](https://e/f)", ".", None),
        ("`[a](b)`\n\n```python\nx[0](b)\n```\n", ".", None),
    ],
)
def test_relative_links_become_absolute(project_urls, text: str, folder: str, expected: str | None) -> None:
    assert project_urls.absolute(text, URL, "v0.1.0", folder) == (expected or text)


def test_the_readme_has_no_relative_link_afterwards(project_urls) -> None:
    text = project_urls.absolute((ROOT / "README.md").read_text(), URL, "v0.1.0", ".")
    assert [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"https://|#", target)] == []
    for path in re.findall(rf"\]\({URL}/(?:blob|raw|tree)/v0\.1\.0/([^)#]+)", text):
        assert (ROOT / path).exists(), path


def test_a_wheel_gets_addresses_and_stays_valid(project_urls, tmp_path: Path) -> None:
    wheel = tmp_path / "penstock-0.1.0-py3-none-any.whl"
    program = zipfile.ZipInfo("penstock-0.1.0.data/scripts/program")
    program.external_attr = 0o100755 << 16
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(program, "#!")
        archive.writestr(f"{INFO}/METADATA", "Metadata-Version: 2.4\nName: penstock\nVersion: 0.1.0\n\n# Penstock\n[a](a.md)\n")
        archive.writestr(f"{INFO}/RECORD", f"{program.filename},sha256=x,2\n{INFO}/METADATA,sha256=old,1\n{INFO}/RECORD,,\n")
    project_urls.add_urls(wheel, URL + "/", ".")
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(f"{INFO}/METADATA")
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(f"{INFO}/RECORD").decode()))}
        assert archive.getinfo(program.filename).external_attr >> 16 == 0o100755
    metadata = Parser().parsestr(content.decode())
    assert metadata.get_all("Project-URL")[0] == f"Repository, {URL}"
    assert metadata.get_payload() == f"# Penstock\n[a]({URL}/blob/v0.1.0/a.md)\n"
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    assert rows == {
        program.filename: ["sha256=x", "2"],
        f"{INFO}/METADATA": [f"sha256={digest}", str(len(content))],
        f"{INFO}/RECORD": ["", ""],
    }
    assert list(tmp_path.iterdir()) == [wheel]


@pytest.mark.parametrize("url", ["github.com/owner/name", "https://github.com/owner", "http://github.com/owner/name"])
def test_a_wrong_address_is_refused(project_urls, url: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"PENSTOCK_REPOSITORY_URL is '{url}'; it must have the form")):
        project_urls.checked(url)
