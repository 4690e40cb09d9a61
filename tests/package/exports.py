#!/usr/bin/env python3
"""Fails if an installed shared library of Penstock exports more than its public headers declare.

    exports.py PREFIX SOURCE_FOLDER

It checks each PREFIX/lib*/libpenstock*.so:

- Every exported name consists of namespace `penstock` and of names that an installed header declares, or one of the headers of
  STATE. So no internal class or function of Penstock, no `Impl` of a public class, and nothing of another library is exported.
- Nothing that another library of Penstock exports is also compiled into it: state of the process, such as the log, exists once.
- Its SONAME contains the version of the binary interface, and every exported name has that version.
- Neither it nor the installed penstock-emulator needs libraries of Penstock other than in the folder of the library.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

# Internal headers of state that exists once in a process, for the libraries of the same installation.
STATE = (
    "base/log/caught.h",
    "base/log/diagnostics.h",
    "base/log/log.h",
    "base/message_filter.h",
    "client/transfer/late_cleanup.h",
)
# Functions without state whose object file has internal functions that another library contains too.
COPIED = {"ReadTensorPickle"}
COMMENT = re.compile(r"//.*")
WORD = re.compile(r"\w+")
# The start of a mangled name in a namespace: a function or variable, its vtable, type or guard, a thunk, or a local static.
ENTITY = re.compile(r"_Z(?:GVZ?|Z|T[ISVT]|T[hv][n0-9_]+)?N[VKRO]*")
LENGTH = re.compile(r"\d+")


def identifiers(name: str) -> list[str]:
    """Returns the namespaces, classes and the function of a mangled name. Empty: the name is in no namespace."""
    start = ENTITY.match(name)
    found: list[str] = []
    position = start.end() if start else len(name)
    while length := LENGTH.match(name, position):
        position = length.end() + int(length[0])
        found.append(name[length.end() : position])
    return found


def violations(names: Iterable[str], words: set[str]) -> list[str]:
    """Returns the exported names that no header declares. `words`: the words of the headers."""
    bad = []
    for name in names:
        parts = identifiers(name)
        if parts[:1] != ["penstock"] or not words.issuperset(parts) or "Impl" in parts:
            bad.append(name)
    return bad


def words_of(headers: Iterable[Path]) -> set[str]:
    """Returns the words of the headers, without comments."""
    return {word for path in headers for word in WORD.findall(COMMENT.sub("", path.read_text()))}


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library: Path) -> dict[str, str]:
    """Returns the exported symbols: type and, after the name, the version."""
    rows = [line.split() for line in run("nm", "-D", "--defined-only", library).splitlines()]
    return {row[2]: row[1] for row in rows if len(row) == 3 and row[1] != "A"}


def compiled(library: Path) -> set[str]:
    """Returns the functions and variables that a library with debug information contains, also those that it does not export."""
    rows = [line.split() for line in run("nm", "--defined-only", library).splitlines()]
    return {row[2] for row in rows if len(row) == 3 and row[1] in "TtDdBbRr"}


def demangled(name: str) -> str:
    return run("c++filt", name).strip()


def check(library: Path, others: list[Path], words: set[str], version: str) -> list[str]:
    """Returns the violations of one library. `others`: the other libraries."""
    symbols = exported(library)
    bare = {name.split("@")[0]: kind for name, kind in symbols.items()}
    bad = [f"{library.name} exports {demangled(name)}, which no public header declares" for name in violations(bare, words)]
    if not any(kind in "TD" for kind in symbols.values()):
        bad.append(f"{library.name} exports no function")
    bad += [
        f"{library.name} exports {name}, not in version PENSTOCK_{version}"
        for name in symbols
        if not name.endswith(f"@@PENSTOCK_{version}")
    ]
    own = {name for name, kind in bare.items() if kind in "TDBR"}
    for other in others:
        twice = sorted(name for name in own & compiled(other) if not COPIED.intersection(identifiers(name)))
        bad += [f"{library.name} exports {demangled(name)}, which {other.name} also contains" for name in twice]
    dynamic = run("readelf", "-d", library)
    soname = f"[{library.name}.{version}]"
    if soname not in dynamic:
        bad.append(f"{library.name} has not the SONAME {soname}")
    if "libpenstock" in dynamic.replace(soname, "") and "[$ORIGIN]" not in dynamic:
        bad.append(f"{library.name} needs other libraries of Penstock and does not look for them in its own folder")
    return bad


def main() -> int:
    prefix, source = Path(sys.argv[1]), Path(sys.argv[2])
    version = ".".join((source / "VERSION").read_text().split(".")[:2])
    libraries = sorted(prefix.glob("lib*/libpenstock*.so"))
    words = words_of([*(prefix / "include").rglob("*.h"), *(source / header for header in STATE)])
    bad = [row for path in libraries for row in check(path, [p for p in libraries if p != path], words, version)]
    program = prefix / "bin/penstock-emulator"
    if program.exists() and "libpenstock" in run("readelf", "-d", program):
        bad.append("penstock-emulator needs a shared library of Penstock")
    if not libraries:
        bad.append(f"{prefix} has no shared libraries of Penstock")
    print("\n".join(bad) if bad else f"{len(libraries)} libraries export what their headers declare")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
