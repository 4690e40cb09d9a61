// The zip directories of torch.save files, and checks of pickles.
#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "client/checkpoint/pickle/pickle_scan.h"
#include "penstock/zip_directory.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

py::object FindZipDirectoryOf(const py::object& tail, std::uint64_t size) {
  const BufferView view(tail, BufferView::Access::kRead);
  const std::optional<ZipDirectory> found = FindZipDirectory(AsText(view.bytes()), size);
  if (!found) return py::none();
  return py::make_tuple(found->begin, found->end);
}

py::list ZipEntriesOf(const py::object& directory) {
  const BufferView view(directory, BufferView::Access::kRead);
  const std::optional<std::vector<ZipEntry>> entries = ReadZipDirectory(AsText(view.bytes()));
  if (!entries) throw py::value_error("not a zip directory");
  constexpr std::uint32_t kFolder = 0x10;
  py::list all(entries->size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ZipEntry& entry = (*entries)[i];
    all[i] = py::make_tuple(py::bytes(entry.name), entry.header, entry.crc32, entry.stored_bytes,
                            entry.content_bytes, entry.method, (entry.attributes & kFolder) != 0);
  }
  return all;
}

void ScanPickle(const py::object& pickle) {
  const BufferView view(pickle, BufferView::Access::kRead);
  const Result<void> scanned =
      WithoutGil([&] { return checkpoint::ScanPickle(AsText(view.bytes())); });
  if (!scanned.ok()) throw py::value_error(scanned.error().message);
}

}  // namespace

void BindArchives(py::module_& module) {
  module.def("find_zip_directory", &FindZipDirectoryOf, "tail"_a, "size"_a,
             "Returns (start, end) of the zip directory in a file of `size` bytes that ends with "
             "`tail`; None: not found.");
  module.def("zip_entries", &ZipEntriesOf, "directory"_a,
             "Returns the entries of a zip directory: (name, offset of the local header, CRC-32, "
             "stored bytes, unpacked bytes, method, is a folder). Raises ValueError.");
  module.def("scan_pickle", &ScanPickle, "pickle"_a,
             "Checks that lengths and memo indices of a pickle are within its size, before Python "
             "reads it. Raises ValueError; the message begins with \"is a pickle that\".");
}

}  // namespace penstock::python
