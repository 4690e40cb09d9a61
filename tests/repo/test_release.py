"""`./dev release --check`: the version and the changelog, the packages' metadata, the SBOM's list of libraries and NOTICE."""

from __future__ import annotations

import importlib
import re
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNRELEASED = "# Changelog\n\n## [Unreleased]\n"
OLD = "\n## [0.1.0] - 2026-12-01\n\n### Added\n\n- one\n"


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools/packages"))
    return importlib.import_module("release_files")


@pytest.mark.parametrize(
    ("version", "changelog", "tag", "expected"),
    [
        ("0.1.0", UNRELEASED + "\n### Added\n\n- one\n", None, "candidate of version 0.1.0"),
        ("0.1.0", UNRELEASED + OLD, None, "version 0.1.0 of 2026-12-01"),
        ("0.1.0", UNRELEASED + OLD, "v0.1.0", "version 0.1.0 of 2026-12-01"),
        ("0.2.0", UNRELEASED + "\n### Fixed\n\n- two\n" + OLD, None, "candidate of version 0.2.0"),
    ],
)
def test_a_version_that_agrees_with_the_changelog_passes(release, version, changelog, tag, expected) -> None:
    assert release.check_version(version, changelog, tag).startswith(expected)


@pytest.mark.parametrize(
    ("version", "changelog", "tag", "message"),
    [
        ("0.1", UNRELEASED, None, "VERSION is '0.1'"),
        ("0.1.0", UNRELEASED + "\n- one\n", "v0.1.0", "no newest section '## [0.1.0] - YYYY-MM-DD'"),
        ("0.1.0", UNRELEASED + "\n- two\n" + OLD, None, r"entries under [Unreleased] above [0.1.0]"),
        ("0.1.0", UNRELEASED + OLD, "v0.1.1", "the tag must be v0.1.0"),
        ("0.0.9", UNRELEASED + "\n- two\n" + OLD, None, "newest version is 0.1.0"),
        ("0.2.0", UNRELEASED + OLD, None, "no entries under [Unreleased]"),
    ],
)
def test_a_version_that_does_not_agree_is_refused(release, version, changelog, tag, message) -> None:
    with pytest.raises(release.ReleaseError, match=re.escape(message)):
        release.check_version(version, changelog, tag)


def test_the_repository_is_a_candidate_or_a_release(release) -> None:
    version, changelog = (ROOT / "VERSION").read_text().strip(), (ROOT / "CHANGELOG.md").read_text()
    assert f"version {version}" in release.check_version(version, changelog, None)


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.*)$", text, re.M)
    assert versions[0] == "[Unreleased]"
    assert [v for v in versions[1:] if re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", v) is None] == []
    groups = re.findall(r"^### (.*)$", text.partition("\n## [Unreleased]\n")[2].partition("\n## ")[0], re.M)
    order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    assert groups == [group for group in order if group in groups], "one heading of each kind, in this order"
    assert [line[:60] for line in text.splitlines() if line.startswith("- ") and len(line) > 400] == []


def wheel(folder: Path, *, licence: bool = True) -> None:
    with zipfile.ZipFile(folder / "penstock-0.1.0-cp311-cp311-linux_x86_64.whl", "w") as archive:
        metadata = "Metadata-Version: 2.4\nName: penstock\nVersion: 0.1.0\nLicense-Expression: Apache-2.0\nRequires-Dist: x>1\n"
        archive.writestr("penstock-0.1.0.dist-info/METADATA", metadata)
        archive.writestr("penstock.libs/libcurl-1234.so.4", "")
        if licence:
            archive.writestr("penstock-0.1.0.dist-info/licenses/LICENSE", "text")


def test_a_wheel_is_described_by_its_metadata_and_libraries(release, tmp_path: Path) -> None:
    wheel(tmp_path)
    (found,) = release.distributions(tmp_path)
    assert (found.name, found.version, found.licence, found.requires) == ("penstock", "0.1.0", "Apache-2.0", ["x>1"])
    assert found.shared_libraries == {"libcurl-1234.so.4"}


def test_a_wheel_without_a_licence_is_refused(release, tmp_path: Path) -> None:
    wheel(tmp_path, licence=False)
    with pytest.raises(release.ReleaseError, match="contains no licence"):
        release.distributions(tmp_path)


def test_checksums_are_those_of_sha256sum(release, tmp_path: Path) -> None:
    wheel(tmp_path)
    assert release.main(["sums", str(tmp_path)]) == 0
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "penstock-0.1.0-cp311-cp311-linux_x86_64.whl: OK\n")


def test_notice_has_every_library_of_the_sbom(release) -> None:
    notice = (ROOT / "NOTICE").read_text()
    section = notice.partition("2. Libraries that binary packages contain")[2].partition("\n3. ")[0]
    names = {line.split("  ")[0] for line in section.splitlines() if re.match(r"\S+  +\S", line)}
    assert names == {one.name for one in release.COMPONENTS}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "release needs --check"),
        (["--check", "--now"], "release takes --check, --tag TAG and --packages DIR, not '--now'"),
        (["--check", "--tag", "v9.9.9"], "CHANGELOG.md has no newest section"),
    ],
)
def test_dev_release_names_what_is_wrong(arguments: list[str], message: str) -> None:
    done = subprocess.run([ROOT / "dev", "release", *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert message in done.stderr


def test_workflows_have_least_permissions_timeouts_and_pinned_actions() -> None:
    yaml = pytest.importorskip("yaml")
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text())
        assert workflow["permissions"] == {"contents": "read"}, path.name
        for name, job in workflow["jobs"].items():
            uses = [step["uses"] for step in job.get("steps", []) if "uses" in step]
            assert [u for u in uses if re.fullmatch(r"[\w./-]+@(v\d+|release/v\d+)", u) is None] == [], (path.name, name)
            checkouts = [step for step in job.get("steps", []) if step.get("uses", "").startswith("actions/checkout")]
            assert all(step["with"]["persist-credentials"] is False for step in checkouts), (path.name, name)
