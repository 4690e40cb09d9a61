"""tools/check_layers.py accepts a clean tree and finds each planted violation."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLEAN = {
    "base/text.h": "#include <string>\n",
    "base/text.cc": '#include "base/text.h"\n\n#include <stdlib.h>\n',
    "base/text_test.cc": '#include "base/text.h"\n\n#include <gtest/gtest.h>\n',
    "client/include/penstock/client.h": '#include "penstock/object_store.h"\n',
    "client/include/penstock/object_store.h": "#include <vector>\n",
    "client/http/connect/wire.h": "#include <curl/curl.h>\n",
    "client/http/request.h": '#include "base/text.h"\n',
    "client/s3/client.cc": '#include "penstock/client.h"\n\n#include "client/http/request.h"\n',
    "client/s3/client_test.cc": "#include <gtest/gtest.h>\n",
    "emulator/include/penstock/emulator.h": "#include <string>\n",
    "emulator/http/listener.cc": "#include <httplib.h>\n",
    "emulator/http/listener_test.cc": '#include "emulator/s3/dispatch/router.h"\n',
    "emulator/s3/dispatch/router.h": "#include <string_view>\n",
    "emulator/store/store.h": '#include "emulator/store/tables/rows.h"\n',
    "emulator/store/tables/rows.h": "#include <string>\n",
    "emulator/faults/rules/pattern.cc": "#include <re2/re2.h>\n",
    "emulator/faults/rules/pattern_test.cc": "#include <gtest/gtest.h>\n",
    "emulator/faults/registry/fault_plan.h": '#include "emulator/store/store.h"\n#include "emulator/store/tables/rows.h"\n',
    "emulator/json/json_fields.h": "#include <nlohmann/json.hpp>\n",
    "emulator/server/process/main.cc": '#include <CLI/CLI.hpp>\n#include "emulator/json/json_fields.h"\n',
    "bindings/core/module.cc": '#include <pybind11/pybind11.h>\n#include "penstock/emulator.h"\n#include "penstock/client.h"\n',
    "tests/meeting.cc": '#include "client/http/connect/wire.h"\n#include "emulator/s3/dispatch/router.h"\n',
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/layers.toml", tmp_path / "tools")
    for name, text in CLEAN.items():
        plant(tmp_path, name, text)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def plant(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(tree: Path) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools/check_layers.py"), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_clean_tree_passes(tree: Path) -> None:
    assert run(tree) == (0, f"layers: {len(CLEAN) - 1} files without a violation\n")


VIOLATIONS = {
    "the client includes the emulator": (
        "client/http/request.h",
        '#include "emulator/s3/dispatch/router.h"\n',
        "never include each other",
    ),
    "the client includes the public emulator": (
        "client/http/request.h",
        "#include <penstock/emulator.h>\n",
        "never include each",
    ),
    "a test of the client includes the emulator": (
        "client/s3/client_test.cc",
        '#include "penstock/emulator.h"\n',
        "not even in a test",
    ),
    "the emulator includes the client": (
        "emulator/http/listener_test.cc",
        '#include "penstock/client.h"\n',
        "not even in a test",
    ),
    "a lower module includes a higher one": ("client/http/request.h", '#include "client/s3/x.h"\n', "may not include"),
    "base includes the client": ("base/text.h", '#include "client/http/request.h"\n', "base may not include"),
    "a third-party header in a public header": (
        "client/include/penstock/client.h",
        "#include <curl/curl.h>\n",
        "a public header may not include <curl/curl.h>",
    ),
    "a third-party header of another module": ("client/s3/client.cc", "#include <curl/curl.h>\n", "client/s3 may not include"),
    "a test uses a library that its module may not include": (
        "client/s3/client_test.cc",
        "#include <httplib.h>\n",
        "may not include <httplib.h>",
    ),
    "another module includes a header that includes curl": (
        "client/s3/client.cc",
        '#include "client/http/connect/wire.h"\n',
        "private to client/http",
    ),
    "a module includes a shared header whose third-party header it may not include": (
        "emulator/store/store.cc",
        '#include "emulator/json/json_fields.h"\n',
        "private to emulator/json",
    ),
    "a second user of httplib": ("emulator/http/main.cc", "#include <httplib.h>\n", "exactly one .cc"),
    "httplib in a header": ("emulator/http/listener.h", "#include <httplib.h>\n", "exactly one .cc"),
    "no user of httplib": ("emulator/http/listener.cc", "#include <vector>\n", "included by none"),
    "a source without its test": ("client/http/lonely.cc", "#include <vector>\n", "has no lonely_test.cc beside it"),
    "product code includes test support": ("base/text.cc", '#include "base/text_test_support.h"\n', "is for tests only"),
    "a source file is included": ("base/text_test.cc", '#include "base/text.cc"\n', "includes a source file"),
    "a path relative to the file": ("client/s3/client.cc", '#include "../http/request.h"\n', "belongs to no module"),
    "bindings include a private header": (
        "bindings/core/module.cc",
        '#include "client/http/request.h"\n',
        "bindings/core may not include",
    ),
    "a folder of a module includes the module above it": (
        "emulator/store/system/file.h",
        '#include "emulator/store/store.h"\n',
        "emulator/store/system may not include",
    ),
    "another module includes a folder that its row does not name": (
        "emulator/s3/dispatch/router.h",
        '#include "emulator/store/tables/rows.h"\n',
        "may not include",
    ),
    "a file outside the map": ("emulator/elsewhere/x.h", "#include <vector>\n", "belongs to no module of tools/layers.toml"),
    "a folder without a row": ("client/s3/new/x.h", "#include <vector>\n", "no row for the folder client/s3/new"),
    "a folder of base includes a folder above it": ("base/text/x.h", '#include "base/log/log.h"\n', "base/text may not include"),
    "a source with another extension": ("client/s3/client.cpp", "#include <vector>\n", "end in .cc"),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_planted_violation_is_found(tree: Path, name: str) -> None:
    path, text, message = VIOLATIONS[name]
    plant(tree, path, text)
    status, output = run(tree)
    assert status == 1
    assert path.split("/")[0] in output
    assert message in output


def test_a_cycle_among_modules_is_found(tree: Path) -> None:
    layers = tree / "tools/layers.toml"
    layers.write_text(layers.read_text().replace("[base]\ninclude = []", '[base]\ninclude = ["emulator/s3/core"]'))
    status, output = run(tree)
    assert status == 1
    assert "a cycle among" in output


ENGINE = "namespace penstock::s3 {\n\nclass Engine final\n    : public Base {\n};\n\n}  // namespace penstock::s3\n"


@pytest.mark.parametrize(
    "declaration",
    [
        "namespace penstock::s3 {\nclass Engine;\n}  // namespace penstock::s3\n",
        "namespace penstock::s3 { class Engine; }\n",
        "namespace penstock {\nnamespace s3 {\n\nclass Engine;\n\n}  // namespace s3\n}  // namespace penstock\n",
    ],
)
def test_a_forward_declaration_of_another_modules_type_counts_as_an_include(tree: Path, declaration: str) -> None:
    plant(tree, "client/s3/engine.h", ENGINE)
    plant(tree, "client/http/request.h", declaration)
    status, output = run(tree)
    assert status == 1
    assert "client/http/request.h: client/http may not declare penstock::s3::Engine of client/s3" in output


def test_types_of_allowed_modules_may_be_declared(tree: Path) -> None:
    plant(tree, "client/http/engine.h", ENGINE.replace("s3", "http"))
    plant(tree, "client/s3/user.h", "namespace penstock::http {\nclass Engine;\n}  // namespace penstock::http\n")
    plant(tree, "client/s3/engine.h", ENGINE)
    plant(tree, "client/s3/other.h", "namespace penstock::s3 {\nclass Engine;\n}  // namespace penstock::s3\n")
    assert run(tree)[0] == 0


def test_a_type_of_the_same_name_in_another_namespace_is_another_type(tree: Path) -> None:
    plant(tree, "client/s3/engine.h", ENGINE)
    plant(tree, "client/http/request.h", "namespace penstock::http {\nclass Engine;\n}  // namespace penstock::http\n")
    assert run(tree)[0] == 0


def test_sub_folders_have_rows_of_their_own(tree: Path) -> None:
    plant(tree, "client/s3/endpoint/rules.h", '#include "client/s3/call/loop.h"\n')
    status, output = run(tree)
    assert status == 1
    assert 'client/s3/endpoint may not include "client/s3/call/loop.h" of client/s3/call' in output


def test_a_star_allows_a_module_and_all_rows_below_it(tree: Path) -> None:
    plant(tree, "client/testing/store.h", '#include "client/s3/wire.h"\n#include "client/s3/verbs/verbs.h"\n')
    assert run(tree)[0] == 0
    layers = tree / "tools/layers.toml"
    layers.write_text(layers.read_text().replace('"client/http", "client/s3/*"]', '"client/http", "client/s3"]'))
    status, output = run(tree)
    assert status == 1
    assert "client/s3/verbs" in output


def test_a_folder_has_fewer_than_forty_files_besides_tests_of_cpp(tree: Path) -> None:
    for number in range(39):
        plant(tree, f"client/http/file{number}.h", "")
        plant(tree, f"client/s3/verbs/verb{number}_for_test.h", "")
    plant(tree, "client/s3/verbs/verb_for_test.h", "")
    (tree / "client/http/request.h").unlink()
    (tree / "client/s3/client.cc").unlink()
    assert run(tree)[0] == 0
    plant(tree, "client/http/last.h", "")
    status, output = run(tree)
    assert status == 1
    assert "client/http: has 40 files, the limit is 39" in output


def test_a_folder_has_fewer_than_forty_python_tests(tree: Path) -> None:
    for number in range(39):
        plant(tree, f"bindings/tests/test_{number}.py", "")
    assert run(tree)[0] == 0
    plant(tree, "bindings/tests/test_last.py", "")
    status, output = run(tree)
    assert status == 1
    assert "bindings/tests: has 40 files, the limit is 39" in output
