#!/usr/bin/env python3
"""Fails if an #include violates tools/layers.toml. Reads text only; part of the lint and of the tests.

    check_layers.py [ROOT]

Rules for every C++ file of a module:
- It includes its own module and the modules that layers.toml allows. Tests may include every module of their side (base, client
  or emulator). The client never includes the emulator, nor the emulator the client, not even in a test.
- It includes the third-party headers that layers.toml allows; tests also gtest and gmock. Public headers include none. A private
  header that includes one is used in its module only. Exactly one .cc file of the module includes a `single_file` header.
- Product code includes no test support: `*_for_test.h`, `*test_support.h`, `*_fixture.h`, `*testing.h`, `testing_*.h`,
  `test_*.h`, `fake_*.h`, `base/testing/*`.
- Every .cc file of base, client and emulator has a _test.cc beside it, except main.cc, fuzz targets and test support.
- The modules have no cycle.
- A forward declaration of a type counts as an include of the header that defines it. `forward` in layers.toml lists modules whose
  types a module may declare although it may not include them, until the code is changed.
- Every folder has a row in layers.toml, except folders of public headers.
- A folder has fewer than 40 C++ or Python files. C++ tests, their support and fuzz targets beside other code do not count.

In an `include` list, "client/s3/*" means client/s3 and all rows below it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10: pytest depends on tomli
    import tomli as tomllib

# clang-format does not indent in namespaces, so types at namespace scope start in the first column.
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{|^\}  // namespace", re.M)
DECLARED = re.compile(r"^(?:namespace ([\w:]+) \{ )?(?:class|struct|enum class) (\w+)(?: : [\w:]+)?;", re.M)
DEFINED = re.compile(r"^(?:class|struct|enum class) (?:\w+(?:\([^)]*\))? )*?(\w+)(?: final)?(?:\s*:[^;{]*)?\s*\{", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
STANDARD_C = re.compile(
    r"^(sys|net|netinet|arpa|linux)/|^(assert|ctype|errno|fcntl|float|ftw|immintrin|inttypes|limits|locale|malloc|math|cpuid|dirent|dlfcn|netdb"
    r"|wctype|poll|pthread|sched|setjmp|signal|spawn|stdarg|stddef|stdint|stdio|stdlib|string|strings|syslog|time|unistd)\.h$"
)
TEST_ONLY = ("gtest/", "gmock/")
FOR_TESTS = re.compile(
    r"(_test\.cc|_for_test\.(h|cc)|(test_support|_fixture)\.h|(^|[/_])testing\.h|(^|/)(testing|test)_[^/]*\.h|(^|/)fake_[^/]*\.(h|cc)|^base/testing/[^/]*\.h)$"
)
# The module of each public header (#include "penstock/...").
PUBLIC_OWNER = {
    "penstock/base/": "base",
    "penstock/testing/": "client/testing",
    "penstock/client.h": "client/include",
    "penstock/bucket_configuration.h": "client/include",
    "penstock/directory_bucket.h": "client/include",
    "penstock/node_cache.h": "client/include",
    "penstock/object_configuration.h": "client/include",
    "penstock/presign.h": "client/s3",
    "penstock/stats.h": "client/include",
    "penstock/credentials.h": "client/http",
    "penstock/object_attributes.h": "base",
    "penstock/object_store.h": "base",  # an interface that every client module may include
    "penstock/bucket_kind.h": "base",
    "penstock/bodies.h": "client/bodies",
    "penstock/memory.h": "client/memory",
    "penstock/object_list.h": "client/transfer",
    "penstock/transfer.h": "client/transfer",
    "penstock/append_writer.h": "client/transfer",
    "penstock/files.h": "client/transfer",
    "penstock/range_reader.h": "client/transfer",
    "penstock/bulk_download.h": "client/transfer",
    "penstock/checkpoint.h": "base",  # values of checkpoints, for every module
    "penstock/tensor_archive.h": "client/checkpoint",
    "penstock/zip_directory.h": "client/checkpoint",
    "penstock/torch.h": "client/torch",
    "penstock/torch_checkpoint.h": "client/torch",
    "penstock/access_key.h": "emulator/identity",
    "penstock/request_signature.h": "emulator/s3/core",
    "penstock/emulator.h": "emulator/include",
    "penstock/emulator_gtest.h": "emulator/testing",
    "penstock/simulate.h": "emulator/simulate",
    "penstock/journal.h": "emulator/journal",
}
TESTED = ("base/", "client/", "emulator/")  # every .cc has a test
# Folders that may include both sides.
MEETING_PLACES = ("tests/", "bench/")
FOLDER_LIMIT = 40
COUNTED = re.compile(r"^(base|client|emulator|bindings|conformance|tests)/.*\.(h|cc|inc|py)$")


@dataclass(frozen=True)
class Module:
    include: list[str]
    third_party: list[str]
    single_file: list[str]  # third-party headers that exactly one .cc of the module includes
    public_headers: bool  # may include every public header
    shared: list[str]  # third-party prefixes that its headers may include if the including module may include them too
    forward: list[str]  # modules whose types it may forward-declare without the right to include them


def read_map(root: Path) -> dict[str, Module]:
    layers = {}
    rows = tomllib.loads((root / "tools/layers.toml").read_text())
    for name, row in rows.items():
        unknown = set(row) - {"include", "third_party", "single_file", "public_headers", "shared", "forward"}
        if unknown:
            raise SystemExit(f"tools/layers.toml: [{name}] has the unknown keys {sorted(unknown)}")
        third_party = row.get("third_party", [])
        layers[name] = Module(
            include=[m for entry in row["include"] for m in expand(entry, rows, name)],
            third_party=third_party,
            single_file=row.get("single_file", []),
            public_headers=row.get("public_headers", False),
            shared=row.get("shared", []),
            forward=row.get("forward", []),
        )
    return layers


def expand(entry: str, rows: Iterable[str], name: str) -> list[str]:
    """Returns the modules of an entry of an include list of [name]: "a/*" is a and all rows below it, except [name]."""
    if not entry.endswith("/*"):
        return [entry]
    top = entry.removesuffix("/*")
    return [m for m in rows if (m == top or m.startswith(top + "/")) and m != name] or [top]


def check_map(layers: dict[str, Module]) -> list[str]:
    named = ((module, other) for module, rule in layers.items() for other in rule.include)
    bad = [f"tools/layers.toml: [{module}] names the unknown module {other}" for module, other in named if other not in layers]
    settled: set[str] = set()
    while rest := [m for m in layers if m not in settled]:
        ready = [m for m in rest if all(o in settled or o not in layers for o in layers[m].include)]
        if not ready:
            return [*bad, f"tools/layers.toml: a cycle among {', '.join(rest)}"]
        settled.update(ready)
    return bad


def module_of(path: str, layers: dict[str, Module]) -> str | None:
    return next((m for m in sorted(layers, key=len, reverse=True) if path.startswith(m + "/")), None)


def owner_of(include: str, layers: dict[str, Module]) -> str | None:
    if include.startswith("penstock/"):
        return next((owner for prefix, owner in PUBLIC_OWNER.items() if include.startswith(prefix)), None)
    return module_of(include, layers)


def side(module: str) -> str:
    return module.split("/", maxsplit=1)[0]


def is_third_party(style: str, include: str) -> bool:
    if style == '"':
        return include.startswith(TEST_ONLY)
    return not include.startswith("penstock/") and not STANDARD_C.match(include) and ("/" in include or "." in include)


def types_in(text: str, pattern: re.Pattern[str]) -> set[str]:
    """Returns the names with namespaces of the types at namespace scope that `pattern` matches."""
    spaces: list[str] = []
    marks = [(m.start(), m) for m in NAMESPACE.finditer(text)]
    found = set()
    for match in pattern.finditer(text):
        while marks and marks[0][0] < match.start():
            mark = marks.pop(0)[1]
            if mark[1] is not None:
                spaces.append(mark[1])
            elif spaces:
                spaces.pop()
        inner = match[1] if pattern is DECLARED and match[1] else ""
        found.add("::".join([*filter(None, spaces), *filter(None, [inner]), match[match.lastindex or 0]]))
    return found


class File:
    """One source file: its module, its includes, and the types that it defines and only declares."""

    def __init__(self, root: Path, path: str, layers: dict[str, Module]) -> None:
        self.path = path
        self.is_public = "/include/penstock/" in path
        self.module = owner_of(path.split("/include/", 1)[1], layers) if self.is_public else module_of(path, layers)
        self.for_tests = bool(FOR_TESTS.search(path)) or "/fuzz/" in path
        text = (root / path).read_text(errors="replace")
        self.includes = INCLUDE.findall(text)
        self.declared = types_in(text, DECLARED)
        self.defined = types_in(text, DEFINED)
        self.third_party = [include for style, include in self.includes if is_third_party(style, include)]


def check_third_party(file: File, rule: Module) -> list[str]:
    allowed = (*rule.third_party, *(TEST_ONLY if file.for_tests else ()))
    if file.is_public and file.module not in ("client/torch", "client/testing", "emulator/testing"):
        return [f"{file.path}: a public header may not include <{include}>" for include in file.third_party]
    return [f"{file.path}: {file.module} may not include <{i}>" for i in file.third_party if not i.startswith(allowed)]


def may_pass_on(headers: list[str], rule: Module, owner: Module) -> bool:
    """Whether a module with `rule` may include a header of `owner` that has the third-party includes `headers`."""
    return all(i.startswith(tuple(owner.shared)) and i.startswith(tuple(rule.third_party)) for i in headers)


def check_own(file: File, rule: Module, layers: dict[str, Module], closed: dict[str, list[str]], known: set[str]) -> list[str]:
    """Checks includes of headers of the project.

    Args:
        closed: Private headers, with the third-party headers that they include.
        known: All files.
    """
    bad = []
    for style, include in file.includes:
        if is_third_party(style, include) or (style == "<" and not include.startswith("penstock/")):
            continue
        other = owner_of(include, layers)
        if other is None and rule.public_headers and str(Path(file.path).parent / include) in known:
            continue  # an example may include a header of its own folder
        if include.endswith((".cc", ".cpp")):
            bad.append(f'{file.path}: includes a source file, "{include}"')
        elif other is None:
            bad.append(f'{file.path}: "{include}" belongs to no module; use the path from the root of the tree')
        elif {side(str(file.module)), side(other)} == {"client", "emulator"}:
            bad.append(f'{file.path}: "{include}": client and emulator never include each other, not even in a test')
        elif (
            other != file.module
            and include in closed
            and not file.for_tests
            and not may_pass_on(closed[include], rule, layers[other])
        ):
            bad.append(f'{file.path}: "{include}" includes a third-party header and is private to {other}')
        elif FOR_TESTS.search(include) and not file.for_tests:
            bad.append(f'{file.path}: "{include}" is for tests only')
        elif other != file.module and other not in rule.include:
            public = rule.public_headers and include.startswith("penstock/")
            if not public and not (file.for_tests and side(str(file.module)) == side(other)):
                bad.append(f'{file.path}: {file.module} may not include "{include}" of {other}')
    return bad


def check_declarations(file: File, rule: Module, definers: dict[str, set[str]]) -> list[str]:
    """Checks forward declarations of types of other modules.

    Args:
        definers: The modules that define each type in a header.
    """
    allowed = {file.module, *rule.include, *rule.forward}
    bad = []
    for name in sorted(file.declared - file.defined):
        owners = definers.get(name, set())
        if owners and not owners & allowed and not file.for_tests:
            bad.append(f"{file.path}: {file.module} may not declare {name} of {', '.join(sorted(owners))}")
    return bad


def check_single_files(files: list[File], layers: dict[str, Module]) -> list[str]:
    bad = []
    for name, rule in layers.items():
        for header in rule.single_file:
            users = [f.path for f in files if f.module == name and header in f.third_party]
            if any(f.module == name for f in files) and (len(users) != 1 or not users[0].endswith(".cc")):
                found = ", ".join(users) or "none"
                bad.append(f"{name}: <{header}> belongs in exactly one .cc of a module; it is included by {found}")
    return bad


def check_tests(paths: list[str]) -> list[str]:
    known = set(paths)
    sources = [p for p in paths if p.startswith(TESTED) and p.endswith(".cc")]
    untested = (p for p in sources if not FOR_TESTS.search(p) and "/fuzz/" not in p and Path(p).name != "main.cc")
    return [f"{p}: has no {Path(p).stem}_test.cc beside it" for p in untested if p[:-3] + "_test.cc" not in known]


def check_folders(listed: list[str]) -> list[str]:
    counted = (f for f in listed if COUNTED.match(f) and not FOR_TESTS.search(f) and "/fuzz/" not in f)
    counts = Counter(str(Path(f).parent) for f in counted)
    return [
        f"{folder}: has {count} files, the limit is {FOLDER_LIMIT - 1}; split it by meaning into folders"
        for folder, count in sorted(counts.items())
        if count >= FOLDER_LIMIT
    ]


def check(root: Path) -> tuple[int, list[str]]:
    layers = read_map(root)
    git = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"]
    printed = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split("\n")
    listed = sorted({f for f in printed if (root / f).is_file()})
    paths = [f for f in listed if re.search(r"\.(h|cc|inc)$", f)]
    bad = check_map(layers) + check_folders(listed)
    bad += [f"{f}: sources here end in .cc and headers in .h" for f in listed if re.search(r"\.(hpp|hh|cpp|cxx|c)$", f)]
    files = [File(root, f, layers) for f in paths if not f.startswith(MEETING_PLACES)]
    closed = {f.path: f.third_party for f in files if f.path.endswith(".h") and not f.is_public and f.third_party}
    definers: dict[str, set[str]] = {}
    for file in files:
        for name in file.defined if file.path.endswith(".h") and file.module else ():
            definers.setdefault(name, set()).add(str(file.module))
    for file in files:
        if file.module is None:
            bad.append(f"{file.path}: belongs to no module of tools/layers.toml")
            continue
        folder = str(Path(file.path).parent)
        if not file.is_public and folder != file.module:
            bad.append(f"{file.path}: tools/layers.toml has no row for the folder {folder}")
        rule = layers[file.module]
        bad += check_third_party(file, rule) + check_own(file, rule, layers, closed, set(paths))
        bad += check_declarations(file, rule, definers)
    return len(files), bad + check_single_files(files, layers) + check_tests(paths)


def main() -> int:
    count, bad = check(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    print("\n".join(bad) if bad else f"layers: {count} files without a violation")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
