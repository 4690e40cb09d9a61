"""`import penstock` imports no heavy module before a name of the package is used."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import penstock
import pytest

HEAVY = ("torch", "numpy", "penstock._core", "dataclasses", "inspect", "logging", "typing")


def loaded(code: str) -> set[str]:
    """The modules that a new interpreter, started without site, has imported after `code`."""
    path = [entry for entry in sys.path if entry]
    program = f"import sys; sys.path = {path!r}; {code}; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-S", "-E", "-c", program], check=True, capture_output=True, text=True)
    return set(result.stdout.split())


def test_importing_the_package_imports_nothing_heavy():
    modules = loaded("import penstock")
    assert "penstock" in modules
    assert modules.isdisjoint(HEAVY)


def test_a_client_needs_no_torch():
    modules = loaded("import penstock; penstock.S3Client('us-east-1')")
    assert "penstock._core" in modules
    assert modules.isdisjoint({"torch", "numpy"})


def test_the_datasets_of_formats_import_no_other_package():
    assert loaded("import penstock; penstock.data").isdisjoint(HEAVY)
    modules = loaded("from penstock.data import S3TarDataset, ShardedSampler, register_webdataset")
    assert modules.isdisjoint({"pyarrow", "webdataset"})


@pytest.mark.parametrize("name", penstock.__all__)
def test_every_public_name_exists_and_is_in_dir(name):
    assert getattr(penstock, name) is not None
    assert name in dir(penstock)


def test_a_star_import_imports_every_public_name():
    names: dict[str, object] = {}
    exec("from penstock import *", names)
    assert set(penstock.__all__) <= set(names)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'penstock' has no attribute 'S3Bucket'"):
        _ = penstock.S3Bucket


def test_s3reader_is_an_attribute_of_the_package():
    """Programs for the reference connector use it after an import of the package only."""
    assert loaded("import penstock; penstock.s3reader.RangedS3Reader") >= {"penstock.s3reader", "penstock._core"}


@pytest.mark.parametrize("package", ["penstock", "penstock_emulator"])
def test_an_extension_exports_only_its_init_function(package):
    """With a static libstdc++ it used to export thousands of symbols, and a later import of torch aborted."""
    _core = importlib.import_module(f"{package}._core")
    listed = subprocess.run(["nm", "-D", "--defined-only", _core.__file__], check=True, capture_output=True, text=True)
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["PyInit__core"]


def test_no_local_static_of_the_client_has_a_lock():
    """If another thread initializes a local static during a fork, its lock stays taken in the child."""
    from penstock import _core
    from penstock_emulator import _core as emulator_core

    # Symbols of the type TLS belong to one thread and have no lock.
    def locks(file):
        listed = subprocess.run(["readelf", "-sWC", file], check=True, capture_output=True, text=True).stdout
        return re.findall(r" OBJECT .* guard variable for (penstock::.*)$", listed, re.MULTILINE)

    assert any("::emulator::" in name for name in locks(emulator_core.__file__)), "the extensions have symbols"
    assert [name for name in locks(_core.__file__) if not name.startswith("penstock::python::")] == []
