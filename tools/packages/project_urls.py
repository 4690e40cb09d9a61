"""Adds the address of the repository to a wheel: `Project-URL` lines, and absolute links in the description that PyPI shows.

PENSTOCK_REPOSITORY_URL has the address, for example https://github.com/OWNER/NAME. It stands nowhere in the sources.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import posixpath
import re
import zipfile
from pathlib import Path

VARIABLE = "PENSTOCK_REPOSITORY_URL"
_LINK = re.compile(r"(!?)\[((?:!\[[^\]]*\]\([^)]*\)|[^\]])*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.M | re.S)


def checked(url: str) -> str:
    """Returns the address without a slash at its end.

    Raises:
        ValueError: It is not the address of a repository of GitHub, whose links are known.
    """
    if re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/?", url) is None:
        raise ValueError(f"{VARIABLE} is '{url}'; it must have the form https://github.com/OWNER/NAME")
    return url.rstrip("/")


def absolute(text: str, url: str, tag: str, folder: str) -> str:
    """Returns a document of `folder` with links to the files of the tag instead of relative links. Code is not changed."""

    def link(match: re.Match[str]) -> str:
        mark, label, target = match.groups()
        label = _LINK.sub(link, label)
        if not re.match(r"[a-z]+:|#", target):
            file, hash_mark, anchor = target.partition("#")
            path = posixpath.normpath(posixpath.join(folder, file))
            kind = "raw" if mark else "tree" if file.endswith("/") else "blob"
            target = f"{url}/{kind}/{tag}/{path}{hash_mark}{anchor}"
        return f"{mark}[{label}]({target})"

    code = _CODE.findall(text)
    marked = _LINK.sub(link, _CODE.sub("\0", text))
    return re.sub("\0", lambda _: code.pop(0), marked)


def with_urls(metadata: str, url: str, folder: str) -> str:
    """Returns the text of METADATA with the addresses of the project."""
    head, _, description = metadata.partition("\n\n")
    [version] = re.findall(r"^Version: (.*)$", head, re.M)
    tag = f"v{version}"
    addresses = {
        "Repository": url,
        "Documentation": f"{url}/tree/{tag}/docs",
        "Changelog": f"{url}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }
    lines = "".join(f"\nProject-URL: {name}, {address}" for name, address in addresses.items())
    return f"{head}{lines}\n\n{absolute(description, url, tag, folder)}"


def _record(text: str, name: str, content: bytes) -> str:
    """Returns the text of RECORD with the new digest and size of a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    rows = [[name, f"sha256={digest}", str(len(content))] if row[0] == name else row for row in csv.reader(io.StringIO(text))]
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()


def add_urls(wheel: Path, url: str, folder: str) -> None:
    """Adds the address to a wheel. `folder`: of the project in the repository, which has the README.

    Raises:
        ValueError: See :func:`checked`.
    """
    url = checked(url)
    with zipfile.ZipFile(wheel) as archive:
        files = {info: archive.read(info) for info in archive.infolist()}
    names = {posixpath.basename(info.filename): info for info in files if posixpath.dirname(info.filename).endswith(".dist-info")}
    metadata, record = names["METADATA"], names["RECORD"]
    files[metadata] = with_urls(files[metadata].decode(), url, folder).encode()
    files[record] = _record(files[record].decode(), metadata.filename, files[metadata]).encode()
    unfinished = wheel.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in files.items():
            archive.writestr(info, content)
    unfinished.replace(wheel)
