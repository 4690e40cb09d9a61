#!/usr/bin/env python3
"""Fails when an #include crosses tools/layers.toml. Pure text; part of the lint and of the tests.

    check_layers.py [ROOT]

Rules: a module's files include its own headers, those of the modules it may include, public headers of those modules and the
third-party prefixes it is given (only in .cc files and never in a public header). Tests may also see gtest and gmock, and headers
of modules that the module itself may not include when they end in `testing.h` or lie in client/testing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import tomllib

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
STANDARD_C = re.compile(
    r"^(sys|net|netinet|arpa|linux)/|^(unistd|fcntl|signal|poll|pthread|dlfcn|errno|netdb|immintrin|cpuid|syslog)\.h$"
)
TEST_ONLY = ("gtest/", "gmock/")
# Public headers (#include "penstock/...") belong to the module that owns the verbs behind them.
PUBLIC_OWNER = {
    "penstock/base/": "base",
    "penstock/testing/": "client/testing",
    "penstock/client.h": "client/s3",
    "penstock/credentials.h": "client/http",
    "penstock/object_store.h": "base",  # the interface every client module may know
    "penstock/object_store_call.inc": "base",
    "penstock/waiter.h": "base",
    "penstock/transfer.h": "client/transfer",
    "penstock/torch.h": "client/torch",
    "penstock/emulator.h": "emulator/server",
}
FREE = ("tests", "bench", "examples", "bindings", "conformance")  # may include every public header


def module_of(path: str, modules: list[str]) -> str | None:
    return next((m for m in sorted(modules, key=len, reverse=True) if path == m or path.startswith(m + "/")), None)


def target_module(include: str, modules: list[str]) -> str | None:
    if include.startswith("penstock/"):
        return next((owner for prefix, owner in PUBLIC_OWNER.items() if include.startswith(prefix)), None)
    return module_of(include, modules)


def is_third_party(style: str, include: str) -> bool:
    if style == '"':
        return False
    return not STANDARD_C.match(include) and ("/" in include or include.endswith((".h", ".hpp")))


def check_file(root: Path, path: str, layers: dict[str, dict[str, list[str]]]) -> list[str]:
    modules = list(layers)
    is_test = path.endswith("_test.cc") or "/testing" in path or "/fuzz/" in path
    is_public = "/include/penstock/" in path
    include_path = path.split("/include/", 1)[1] if is_public else None
    own = target_module(include_path, modules) if include_path else module_of(path, modules)
    if own is None:
        return [f"{path}: belongs to no module of tools/layers.toml"]
    rule, bad = layers[own], []
    for style, include in INCLUDE.findall((root / path).read_text(errors="replace")):
        if is_third_party(style, include):
            allowed = any(include.startswith(p) for p in rule["third_party"]) or (is_test and include.startswith(TEST_ONLY))
            if is_public and own not in ("client/torch", "client/testing"):
                allowed = False
            if not allowed and not is_test:
                bad.append(f"{path}: {own} may not include <{include}>")
            continue
        other = target_module(include, modules)
        if style == "<" or other is None or other == own or other in rule["include"]:
            if style == '"' and other is None:
                bad.append(f'{path}: "{include}" belongs to no module')
            continue
        if is_test and other == "client/testing" and own.startswith("client/"):
            continue
        if is_test and own.split("/")[0] == other.split("/")[0]:
            continue
        bad.append(f'{path}: {own} may not include "{include}" of {other}')
    return bad


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    layers = tomllib.loads((root / "tools/layers.toml").read_text())
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout.split("\n")  # fmt: skip
    files = [f for f in listed if f.endswith((".h", ".cc", ".inc")) and not f.startswith(FREE) and (root / f).is_file()]
    bad = [row for f in files for row in check_file(root, f, layers)]
    client_emulator = [
        f
        for f in files
        if f.startswith("client/") and re.search(r'#include\s+["<](emulator/|penstock/emulator)', (root / f).read_text())
    ]
    bad += [f"{f}: the client may never include the emulator, not even in a test" for f in client_emulator]
    print("\n".join(bad) if bad else f"layers: {len(files)} files keep the map")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
