"""Licences of the third-party code in a wheel, from Debian's copyright files.

`python3 tools/packages/third_party.py penstock build/static/copyright` prints the text that the wheel of `penstock` contains.
Without arguments, prints the components and the distributions that contain them.
"""

import re
import sys
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

DOCUMENTS = Path("/usr/share/doc")
COMMON_LICENSES = Path("/usr/share/common-licenses")


@dataclass(frozen=True)
class Component:
    name: str
    package: str  # of Debian; with "source:", of static_dependencies.sh
    distributions: tuple[str, ...]


BOTH = ("penstock", "penstock_emulator")
COMPONENTS = (
    Component("curl (libcurl)", "source:curl", ("penstock",)),
    Component("OpenSSL", "libssl-dev", BOTH),
    Component("pugixml", "libpugixml-dev", BOTH),
    Component("JSON for Modern C++", "nlohmann-json3-dev", BOTH),
    Component("pybind11", "pybind11", BOTH),
    Component("GCC runtime library (libstdc++)", "libstdc++6", BOTH),
    Component("cpp-httplib", "source:cpp-httplib", ("penstock_emulator",)),
    Component("CLI11", "libcli11-dev", ("penstock_emulator",)),
    Component("toml++", "libtomlplusplus-dev", ("penstock_emulator",)),
    Component("RE2", "source:re2", ("penstock_emulator",)),
    Component("SQLite", "libsqlite3-dev", ("penstock_emulator",)),
    Component("xxHash", "libxxhash-dev", ("penstock_emulator",)),
)


def _text_of(component: Component, sources: Path) -> str:
    if component.package == "pybind11":  # the Python package, which has its licence in its metadata
        found = [file for file in files("pybind11") or [] if file.name == "LICENSE"]
        return Path(found[0].locate()).read_text(encoding="utf-8")
    kind, _, name = component.package.rpartition(":")
    path = sources / name if kind else DOCUMENTS / name / "copyright"
    return path.read_text(encoding="utf-8")


def licenses(distribution: str, sources: Path) -> str:
    """Returns the licences of everything that a wheel of `distribution` contains. Empty: nothing of others.

    Args:
        distribution: Name of the distribution, as in the names of its wheels.
        sources: Folder of copyright files of sources that were built here.

    Raises:
        OSError: A copyright file does not exist; the message names it.
    """
    wanted = [component for component in COMPONENTS if distribution in component.distributions]
    if not wanted:
        return ""
    parts = [f"The wheel of {distribution} contains code of these projects:\n\n" + "".join(f"- {one.name}\n" for one in wanted)]
    parts += [f"{'=' * 78}\n{one.name}\n{'=' * 78}\n\n{_text_of(one, sources)}" for one in wanted]
    named = sorted(set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", "".join(parts))))
    for name in named:
        path = COMMON_LICENSES / name
        if path.is_file():
            parts.append(f"{'=' * 78}\n{path}\n{'=' * 78}\n\n{path.read_text(encoding='utf-8')}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(licenses(sys.argv[1].replace("-", "_"), Path(sys.argv[2])))
    else:
        for component in COMPONENTS:
            print(f"{component.name}: {', '.join(component.distributions)}")
