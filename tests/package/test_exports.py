"""tests/package/exports.py accepts what a header declares and finds each planted name."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("package_exports", Path(__file__).with_name("exports.py"))
assert _spec is not None
assert _spec.loader is not None
exports = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(exports)

HEADER = """
namespace PENSTOCK_EXPORT penstock {
class Client final : public ObjectStore {  // not an AttemptLoop
 public:
  Result<void> Start(Request request);

 private:
  struct Impl;
};
namespace emulator { class Emulator; }
}
"""


@pytest.fixture
def words(tmp_path: Path) -> set[str]:
    header = tmp_path / "client.h"
    header.write_text(HEADER)
    return exports.words_of([header])


@pytest.mark.parametrize(
    "name",
    [
        "_ZN8penstock6Client5StartENS_7RequestE",  # a member
        "_ZNK8penstock6Client5StartEv",  # a const member
        "_ZNO8penstock6Client5StartEv",  # a member with &&
        "_ZN8penstock6ClientD1Ev",  # a destructor
        "_ZTVN8penstock6ClientE",  # a vtable
        "_ZTIN8penstock6ClientE",  # a type
        "_ZThn16_N8penstock6ClientD0Ev",  # a thunk
        "_ZZN8penstock6Client5StartEvE4once",  # a static variable of a function
        "_ZN8penstock8emulator8EmulatorD2Ev",
    ],
)
def test_what_a_header_declares_may_be_exported(words: set[str], name: str) -> None:
    assert exports.violations([name], words) == []


@pytest.mark.parametrize(
    "name",
    [
        "_ZN8penstock2s311AttemptLoop5StartEv",  # an internal namespace
        "_ZN8penstock11AttemptLoop5StartEv",  # an internal class
        "_ZN8penstock6Client4Impl5StartEv",  # the implementation of a public class
        "_ZN8penstock6Sha256ESt4spanISt4byteLm18446744073709551615EE",  # an internal function
        "_ZNSt6vectorIN8penstock6ClientESaIS1_EE17_M_realloc_insertEv",  # an instance of another library's template
        "_ZTSN4pugi12xml_documentE",  # another library
        "sqlite3_open",
    ],
)
def test_an_internal_name_is_found(words: set[str], name: str) -> None:
    assert exports.violations([name], words) == [name]
