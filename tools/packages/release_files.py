#!/usr/bin/env python3
"""Checks the version of a release, and writes its SBOM files and checksums. `./dev release --check` runs it.

release_files.py version [--tag vX.Y.Z]
release_files.py sbom DIR    writes NAME-VERSION.spdx.json for each distribution; needs spdx-tools
release_files.py sums DIR    writes SHA256SUMS
"""

from __future__ import annotations

import argparse
import datetime
import email.parser
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from third_party import COMPONENTS, CONSOLE, Component

ROOT = Path(__file__).resolve().parents[2]
RELEASED = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", re.M)


class ReleaseError(Exception):
    """Something that must be repaired before a release."""


@dataclass
class Distribution:
    """One distribution in a folder of packages; its wheels differ in the version of Python."""

    name: str
    version: str
    licence: str
    requires: list[str]
    wheels: list[Path] = field(default_factory=list)
    shared_libraries: set[str] = field(default_factory=set)


def check_version(version: str, changelog: str, tag: str | None) -> str:
    """Compares VERSION, CHANGELOG.md and the tag.

    Returns:
        A line that says what `version` is.

    Raises:
        ReleaseError: They do not agree.
    """
    if re.fullmatch(r"\d+\.\d+\.\d+", version) is None:
        raise ReleaseError(f"VERSION is '{version}'; it must have the form 1.2.3")
    unreleased = changelog.partition("\n## [Unreleased]\n")[2].partition("\n## [")[0]
    newest = RELEASED.search(changelog)
    if newest is not None and newest[1] == version:
        datetime.date.fromisoformat(newest[2])
        if "\n- " in unreleased:
            raise ReleaseError(f"CHANGELOG.md has entries under [Unreleased] above [{version}]; move them or raise VERSION")
        line = f"version {version} of {newest[2]}"
    elif tag is not None:
        raise ReleaseError(
            f"CHANGELOG.md has no newest section '## [{version}] - YYYY-MM-DD'; rename [Unreleased] before the tag"
        )
    else:
        if newest is not None and tuple(map(int, newest[1].split("."))) > tuple(map(int, version.split("."))):
            raise ReleaseError(f"VERSION is {version}, but CHANGELOG.md's newest version is {newest[1]}")
        if "\n- " not in unreleased:
            raise ReleaseError("CHANGELOG.md has no entries under [Unreleased]")
        line = f"candidate of version {version}; [Unreleased] becomes its section"
    if tag is not None and tag != f"v{version}":
        raise ReleaseError(f"the tag is '{tag}', but VERSION is {version}; the tag must be v{version}")
    return line


def distributions(folder: Path) -> list[Distribution]:
    """The distributions of the wheels in a folder, by name."""
    found: dict[str, Distribution] = {}
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            metadata_name = next(name for name in names if name.endswith(".dist-info/METADATA"))
            metadata = email.parser.Parser().parsestr(archive.read(metadata_name).decode())
        each = found.setdefault(
            metadata["Name"],
            Distribution(
                metadata["Name"], metadata["Version"], metadata["License-Expression"], metadata.get_all("Requires-Dist", [])
            ),
        )
        each.wheels.append(wheel)
        each.shared_libraries |= {Path(name).name for name in names if ".libs/" in name and ".so" in name}
        if not any(".dist-info/licenses/" in name for name in names):
            raise ReleaseError(f"{wheel.name} contains no licence; set license-files in its pyproject.toml")
    if not found:
        raise ReleaseError(f"no wheels in {folder}")
    return list(found.values())


def version_of(component: Component) -> str:
    if component.npm:
        return str(json.loads((CONSOLE / "package.json").read_text())["dependencies"][component.npm])
    command = ["dpkg-query", "-W", "-f", "${Version}", component.package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "NOASSERTION"
    return done.stdout or "NOASSERTION"


def write_sbom(each: Distribution, folder: Path) -> Path:
    """Writes the SPDX 2.3 file of a distribution: its wheels, dependencies and the libraries inside."""
    from spdx_tools.spdx.model import (
        Actor,
        ActorType,
        Checksum,
        ChecksumAlgorithm,
        CreationInfo,
        Document,
        Package,
        Relationship,
        RelationshipType,
        SpdxNoAssertion,
    )  # fmt: skip
    from spdx_tools.spdx.parser.error import SPDXParsingError
    from spdx_tools.spdx.writer.write_anything import write_file

    def package(identity: str, name: str, version: str, licence: str) -> Package:
        from spdx_tools.common.spdx_licensing import spdx_licensing

        declared = spdx_licensing.parse(licence) if licence else SpdxNoAssertion()
        return Package(
            f"SPDXRef-{re.sub(r'[^A-Za-z0-9.-]', '-', identity)}",
            name,
            SpdxNoAssertion(),
            version=version,
            files_analyzed=False,
            license_declared=declared,
        )

    creation = CreationInfo(
        spdx_version="SPDX-2.3",
        spdx_id="SPDXRef-DOCUMENT",
        name=f"{each.name}-{each.version}",
        document_namespace=f"https://spdx.org/spdxdocs/{each.name}-{each.version}-{digest_of(each.wheels)[:16]}",
        creators=[Actor(ActorType.TOOL, "penstock-release-files")],
        created=datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0, tzinfo=None),
    )
    packages, relations = [], []
    for wheel in each.wheels:
        top = package(wheel.name, each.name, each.version, each.licence)
        top.file_name = wheel.name
        top.checksums = [Checksum(ChecksumAlgorithm.SHA256, hashlib.sha256(wheel.read_bytes()).hexdigest())]
        packages.append(top)
        relations.append(Relationship("SPDXRef-DOCUMENT", RelationshipType.DESCRIBES, top.spdx_id))
    first = packages[0]
    for one in COMPONENTS:
        if each.name in one.distributions:
            packages.append(package(f"lib-{one.name.replace('/', '-')}", one.name, version_of(one), one.licence))
            relations.append(Relationship(first.spdx_id, RelationshipType.CONTAINS, packages[-1].spdx_id))
    for name in sorted(each.shared_libraries):
        packages.append(package(f"file-{name}", name, "NOASSERTION", ""))
        relations.append(Relationship(first.spdx_id, RelationshipType.CONTAINS, packages[-1].spdx_id))
    for line in each.requires:
        packages.append(package(f"requires-{line}", line.partition(";")[0].strip(), "NOASSERTION", ""))
        relations.append(Relationship(first.spdx_id, RelationshipType.DEPENDS_ON, packages[-1].spdx_id))
    target = folder / f"{each.name}-{each.version}.spdx.json"
    try:
        write_file(Document(creation, packages, relationships=relations), str(target), validate=True)
    except (SPDXParsingError, ValueError) as error:
        raise ReleaseError(f"the SBOM of {each.name} is not valid: {error}") from error
    return target


def digest_of(paths: list[Path]) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in paths)).hexdigest()


def sums(folder: Path) -> Iterator[str]:
    """Lines in the form of `sha256sum` for every file of a folder but SHA256SUMS."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != "SHA256SUMS":
            yield f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("version").add_argument("--tag")
    for name in ("sbom", "sums"):
        commands.add_parser(name).add_argument("folder", type=Path)
    args = parser.parse_args(argv)
    try:
        if args.command == "version":
            version = (ROOT / "VERSION").read_text().strip()
            print(f"release: {check_version(version, (ROOT / 'CHANGELOG.md').read_text(), args.tag)}")
            return 0
        found = distributions(args.folder)
        if args.command == "sums":
            (args.folder / "SHA256SUMS").write_text("\n".join(sums(args.folder)) + "\n")
            return 0
        expected = (ROOT / "VERSION").read_text().strip()
        for each in found:
            if each.version != expected:
                raise ReleaseError(f"{each.wheels[0].name} has version {each.version}, but VERSION is {expected}")
            print(f"release: {write_sbom(each, args.folder).name}")
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
