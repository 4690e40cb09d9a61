"""Roots of Debian 12 for tests: what debootstrap installs from the mirror of this machine's apt.

The tests that use them are long, need root and the network, and are skipped otherwise. PENSTOCK_DEBIAN_ROOT names a root that
debootstrap made earlier (`debootstrap --variant=minbase bookworm DIR`), so that only its copy takes time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

SUITE = "bookworm"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
BUILD = Path(os.environ["PENSTOCK_BUILD_DIR"])


def needs(*tools: str) -> pytest.MarkDecorator:
    """Skips a test in normal runs, and where it cannot run."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if not os.environ.get("PENSTOCK_LONG"):
        return pytest.mark.skip(reason="long: installs packages from a Debian mirror; set PENSTOCK_LONG=1")
    return pytest.mark.skipif(os.geteuid() != 0 or bool(missing), reason=f"needs root and these tools: {', '.join(tools)}")


def run(*command: str | Path, **options: Any) -> str:
    """Runs a command. Its output is in the error if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command} exited with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def mirror() -> str:
    """The URI of the repository that this machine's apt uses for the suite."""
    fields = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", f"Codename: {SUITE}", "Component: main"]
    uris = run("apt-get", *fields).split()
    assert uris, f"apt has no repository of {SUITE}; set PENSTOCK_DEBIAN_ROOT to a root of debootstrap"
    return uris[0]


def make_root(folder: Path) -> Path:
    """Makes a minimal root whose apt is configured as this machine's."""
    existing = os.environ.get("PENSTOCK_DEBIAN_ROOT")
    if existing:
        run("cp", "-a", existing, folder)
    else:
        run("debootstrap", "--variant=minbase", SUITE, folder, mirror())
    (folder / "etc/apt/apt.conf.d/99host").write_text(run("apt-config", "dump", "Acquire"))
    in_root(folder, "apt-get", "update", "-q")
    return folder


def in_root(root: Path, *command: str) -> str:
    """Runs a command in the root."""
    variables = {name: value for name, value in os.environ.items() if name.endswith("_proxy")}
    variables |= {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    return run("chroot", root, *command, env=variables)


def make_package(folder: Path) -> Path:
    """Makes the Debian package of the executable in the build folder."""
    run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", folder)
    (package,) = folder.glob("*.deb")
    return package
