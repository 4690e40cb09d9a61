"""The documents: links, navigation, first paragraphs, and the built site (`./dev docs`)."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
OTHER_PAGES = [path for path in ROOT.rglob("*.md") if path.relative_to(ROOT).parts[0] not in ("build", "docs", ".cache")]
LINK = re.compile(r"(?<!`)\]\(<?([^)\s>]+)>?\)")
CODE = re.compile(r"^( *)(`{3,}).*?^\1\2$|``.*?``|`[^`\n]*`", re.M | re.S)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_code(text: str) -> str:
    return CODE.sub("", text)


def headings(path: Path) -> list[str]:
    text = re.sub(r"^( *)(`{3,}).*?^\1\2$", "", path.read_text(), flags=re.M | re.S)
    return [re.sub(r"\]\([^)]*\)", "", line) for line in re.findall(r"^#+ (.*)$", text, re.M)]


def anchors(path: Path) -> set[str]:
    """The anchors that both the site and code hosts make: code hosts keep each space, the site joins them."""
    hosts, site = set(), set()
    for heading in headings(path):
        slug = re.sub(r"[^\w\- ]", "", heading.lower().strip())
        for found, text in ((hosts, slug.replace(" ", "-")), (site, re.sub(r"[-\s]+", "-", slug))):
            found.add(text)
    return hosts & site


def relative_links(path: Path) -> Iterator[tuple[str, str]]:
    for target in LINK.findall(without_code(path.read_text())):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            yield file, anchor


@pytest.mark.parametrize("path", [*PAGES, *OTHER_PAGES], ids=name_of)
def test_links_of_a_page_lead_somewhere(path: Path) -> None:
    broken = []
    for file, anchor in relative_links(path):
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(f"{file}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_of_the_site_stay_in_the_site(path: Path) -> None:
    targets = [(path.parent / file).resolve() for file, _ in relative_links(path) if file]
    assert [str(target) for target in targets if not target.is_relative_to(DOCS)] == []


def navigation(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        value = entry if isinstance(entry, str) else next(iter(entry.values()))
        if isinstance(value, str):
            yield value
        else:
            yield from navigation(value)


def test_the_navigation_has_every_page_once() -> None:
    listed: list[Path] = []
    for entry in navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]):
        target = DOCS / entry
        assert target.exists(), f"mkdocs.yml names {entry}, which does not exist"
        listed += sorted(target.rglob("*.md")) if target.is_dir() else [target]
    assert {name_of(path) for path in PAGES} - {name_of(path) for path in listed} == set(), "add these pages to nav in mkdocs.yml"
    assert sorted(listed) == PAGES


@pytest.mark.parametrize("path", [path for path in PAGES if path.parent.name != "decisions"], ids=name_of)
def test_a_page_starts_with_what_it_is_for(path: Path) -> None:
    title, purpose = path.read_text().split("\n\n")[:2]
    assert re.fullmatch(r"# .+", title)
    assert re.match(r"[A-Z`]", purpose), "a paragraph follows the title"
    assert purpose.endswith((".", ":")), "the paragraph is a sentence"


def test_sources_name_only_pages_that_exist() -> None:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so the sources are not known")
    missing = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in (".cc", ".h", ".py", ".sh", ".json", ".toml", ".yml", ".cmake", ".txt", ".md") and path.is_file():
            named = re.findall(r"(?<![\w/.-])docs/[\w/.-]+\.(?:md|json|yaml|js)\b", path.read_text(errors="replace"))
            missing += [f"{name}: {page}" for page in named if not (ROOT / page).exists()]
    assert missing == []


# Used by other distributions of the same version only; its docstring says so.
NOT_PUBLIC = {"penstock_emulator.offline_environment"}


def public_modules() -> set[str]:
    found = {"penstock_conformance", "penstock_conformance.clients"}  # its other modules are the suites
    for name in ("penstock", "penstock_emulator"):
        package = ROOT / "bindings/python" / name
        found |= {name, *(f"{name}.{path.parent.name}" for path in package.glob("[!_]*/__init__.py"))}
        found |= {f"{name}.{path.stem}" for path in package.glob("[!_]*.py")}
    return found - NOT_PUBLIC


def test_every_public_module_is_in_the_python_reference() -> None:
    pages = [path.read_text() for path in (DOCS / "reference/python").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"^::: (\S+)$", page, re.M)}
    same = {name for page in pages for name in re.findall(r"`(\S+)` has the same names", page)}
    shown |= {name.rpartition(".")[0] for name in shown}  # the page of penstock.datapipes has its modules
    assert public_modules() - shown - same == set()
    index = (DOCS / "reference/python/index.md").read_text()
    assert {path.name for path in (DOCS / "reference/python").glob("[!i]*.md")} <= set(re.findall(r"\((\w+\.md)\)", index))


@pytest.fixture(scope="module")
def site() -> Path:
    if not os.environ.get("PENSTOCK_DOCS_PYTHON"):
        pytest.skip("PENSTOCK_DOCS_PYTHON is not set: the site needs Python 3.11 and the packages of requirements-docs.txt")
    done = subprocess.run([ROOT / "dev", "docs"], capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr
    return ROOT / "build/site"


def test_the_site_has_the_cpp_reference(site: Path) -> None:
    (link,) = re.findall(r'href="([^"]*cpp/index.html)"', (DOCS / "reference/cpp.md").read_text())
    assert (site / "reference" / link).is_file()
    # From the comments of a member on its own line, on the lines above it, and at the top of the file.
    text = (site / "cpp/structpenstock_1_1CacheStats.html").read_text()
    assert "Blocks removed to make room." in text
    assert "What all processes have done with a cache" in text
    assert "blocks of objects on a local disk" in (site / "cpp/node__cache_8h.html").read_text()


def test_the_site_has_a_page_per_document(site: Path) -> None:
    built = {str(path.relative_to(site).with_suffix("")) for path in site.rglob("*.html")}
    assert {str(path.relative_to(DOCS).with_suffix("")) for path in PAGES} <= built


def test_the_site_loads_nothing_from_other_hosts(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|link(?![^>]*rel=.?canonical))\b[^>]*(?:src|href)=[\"']?(?:https?:)?//[^\"' >]+")
    found = {hit for path in site.rglob("*.html") for hit in loads.findall(path.read_text())}
    assert found == set()


def test_the_search_index_can_be_read_from_a_file(site: Path) -> None:
    index = (site / "search.js").read_text()
    assert "first-fault-test" in index
    assert (site / "assets/iframe-worker.js").is_file()
