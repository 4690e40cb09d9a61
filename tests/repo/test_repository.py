"""Facts about the repository: the gate, `./dev` and its set-up, the decision pages, the licence and the build settings."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10: pytest depends on tomli
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    return [
        str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and not p.relative_to(ROOT).parts[0].startswith("build")
    ]


def wanted_packages() -> list[str]:
    lines = (ROOT / "tools/apt-packages.txt").read_text().splitlines()
    return sorted(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def script(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def dev(*arguments: str, fakes: Path | None = None) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    if fakes is not None:
        clean["PATH"] = f"{fakes}{os.pathsep}{clean['PATH']}"
    command = [str(ROOT / "dev"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=clean | {"LC_ALL": "C"})


def test_the_gate_runs_dev_test() -> None:
    gate = (ROOT / ".ci/run").read_text()
    assert re.search(r"^exec \./dev test$", gate, re.M)
    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert os.access(ROOT / "dev", os.X_OK)


def test_the_readme_names_dev_demo_and_dev_test() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "./dev demo" in readme
    assert "./dev test" in readme


def test_dev_help_lists_every_command() -> None:
    done = dev("help")
    assert done.returncode == 0
    listed = set(re.findall(r"^  (\w+)", done.stdout, re.M))
    handled = set(re.findall(r"^  (\w+)(?: \| [-\w |]+)?\)", (ROOT / "dev").read_text(), re.M))
    assert {"demo", "test", "build", "lint", "bench", "serve", "clean"} <= listed
    assert listed == handled


def test_dev_refuses_an_unknown_command() -> None:
    done = dev("tset")
    assert done.returncode == 1
    assert "unknown command 'tset'" in done.stderr


@pytest.fixture
def ordinary_user(tmp_path: Path) -> Path:
    """A PATH entry for a machine where the user is not root, sudo asks for a password and the last two packages are missing."""
    script(tmp_path, "id", "echo 1000\n")
    script(tmp_path, "sudo", "exit 1\n")
    script(tmp_path, "apt-get", 'echo "apt-get must not run" >&2\nexit 99\n')
    installed = "".join(f"echo {name} installed\n" for name in wanted_packages()[:-2])
    script(tmp_path, "dpkg-query", installed + "echo some-removed-package config-files\nexit 1\n")
    return tmp_path


def test_without_root_dev_prints_the_install_command_and_stops(ordinary_user: Path) -> None:
    done = dev("setup", fakes=ordinary_user)
    missing = " ".join(wanted_packages()[-2:])
    assert done.returncode == 3
    assert f"\n  sudo apt-get update && sudo apt-get install -y --no-install-recommends {missing}\n" in done.stderr
    assert "apt-get must not run" not in done.stderr


def test_without_dpkg_dev_names_the_package_list_and_the_variable_to_set(tmp_path: Path) -> None:
    for name in ("bash", "env", "dirname", "grep", "sort", "comm", "awk", "id"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    done = subprocess.run(
        ["/bin/bash", ROOT / "dev", "setup"],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "tools/apt-packages.txt" in done.stderr
    assert "PENSTOCK_SKIP_APT=1" in done.stderr


def test_with_skip_apt_dev_names_the_missing_tools(tmp_path: Path) -> None:
    for name in ("bash", "env", "dirname"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    done = subprocess.run(
        ["/bin/bash", ROOT / "dev", "setup"],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path), "PENSTOCK_SKIP_APT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "not on PATH: cmake ninja g++ pkg-config" in done.stderr


def test_without_a_home_dev_names_the_variables_to_set() -> None:
    clean = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "PENSTOCK_CACHE")}
    command = [ROOT / "dev", "setup"]
    done = subprocess.run(
        command, env=clean | {"PENSTOCK_SKIP_APT": "1"}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "HOME is not set" in done.stderr
    assert "PENSTOCK_CACHE" in done.stderr


def shell_scripts() -> list[str]:
    return [name for name in tracked_files() if name.endswith(".sh") or name in ("dev", ".ci/run")]


@pytest.mark.parametrize("name", shell_scripts())
def test_shell_scripts_parse(name: str) -> None:
    done = subprocess.run(["bash", "-n", ROOT / name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_decision_pages_are_numbered_without_gaps() -> None:
    numbers = sorted(path.name[:4] for path in (ROOT / "docs/decisions").glob("*.md"))
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
    assert len(numbers) >= 10


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs/decisions").glob("*.md")))
def test_the_title_of_a_decision_page_has_the_number_of_its_file(page: str) -> None:
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", page)
    assert (ROOT / "docs/decisions" / page).read_text().startswith(f"# {page[:4]}: ")


def test_the_licence_is_apache_2() -> None:
    licence = (ROOT / "LICENSE").read_text()
    assert "Apache License\n" in licence
    assert "Version 2.0, January 2004" in licence
    assert "END OF TERMS AND CONDITIONS" in licence
    assert project()["project"]["license"] == "Apache-2.0"


def project() -> dict[str, dict[str, object]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize(
    ("file", "component"), [("pyproject.toml", "penstock"), ("packaging/emulator/pyproject.toml", "penstock_emulator")]
)
def test_a_wheel_installs_only_the_component_of_its_package(file: str, component: str) -> None:
    build = tomllib.loads((ROOT / file).read_text())["tool"]["scikit-build"]
    assert build["install"]["components"] == [component]


def test_the_wheel_builds_without_torch() -> None:
    requires = project()["build-system"]["requires"]
    assert isinstance(requires, list)
    assert [name for name in requires if "torch" in name] == []


def test_cmake_presets_and_dev_use_the_same_options() -> None:
    presets = {p["name"]: p for p in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
    options = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "tools/dev/setup.sh").read_text()
    used = {name for preset in presets.values() for name in preset["cacheVariables"] if name.startswith("PENSTOCK_")}
    assert [name for name in used if name not in options] == []
    assert presets["asan"]["cacheVariables"]["PENSTOCK_SANITIZE"] == "address"
    assert presets["tsan"]["cacheVariables"]["PENSTOCK_SANITIZE"] == "thread"
    given = set(re.findall(r"-D(PENSTOCK_\w+)=ON", (ROOT / "tools/dev/setup.sh").read_text()))
    assert given == {*presets["dev"]["cacheVariables"], *presets["base"]["cacheVariables"]}


def test_no_file_contains_a_path_of_a_developers_machine() -> None:
    # Split in two, so that this file does not match.
    foreign = re.compile("|".join(["/wo" + "rk/", "/ro" + r"ot/\.", "/tm" + "p/brief"]))
    found = []
    for name in tracked_files():
        text = (ROOT / name).read_bytes()
        if b"\0" not in text and (hit := foreign.search(text.decode(errors="replace"))):
            found.append(f"{name}: {hit.group()}")
    assert found == []
