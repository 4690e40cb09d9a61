// ObjectWriter: publishes on finish, and never otherwise.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "bindings/core/bindings.h"
#include "bindings/core/client_binding.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "bindings/core/progress.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

class PyWriter {
 public:
  PyWriter(std::unique_ptr<ObjectWriter> writer, std::shared_ptr<ProgressCounts> counts)
      : writer_(std::move(writer), "this writer"), counts_(std::move(counts)) {}
  PyWriter(PyWriter&&) = default;

  // `callback` comes with each call: kept here, it could hold the upload in a cycle that Python cannot see.
  std::size_t Write(const py::object& data, py::object callback) {
    const Progress progress(std::move(callback), counts_);
    const BufferView view(data, BufferView::Access::kRead);
    auto result = WithoutGil([&] { return writer_.Get().Write(view.bytes(), progress.interrupt()); });
    Unwrap(std::move(result));
    progress.Tell();
    return view.bytes().size();
  }

  std::string Finish(py::object callback) {
    const Progress progress(std::move(callback), counts_);
    auto result = WithoutGil([&] { return writer_.Get().Finish(progress.interrupt()); });
    const UploadResponse response = Unwrap(std::move(result));
    progress.Tell();
    return response.etag.value;
  }

  void Abort() {
    if (!writer_.mine()) return;  // the parent's upload is the parent's
    auto result = WithoutGil([&] { return writer_.Get().Abort(); });
    Unwrap(std::move(result));
  }

  std::uint64_t bytes_written() const { return writer_.Get().bytes_written(); }

 private:
  ProcessBound<ObjectWriter> writer_;
  std::shared_ptr<ProgressCounts> counts_;  // shared with the upload
};

}  // namespace

void BindWriter(py::module_& module) {
  py::class_<PyWriter, std::unique_ptr<PyWriter, DeleteWithoutGil<PyWriter>>>(module, "Writer", "Writes one object; nothing is visible before finish().")
      .def(py::init([](const PyClient& client, std::string bucket, std::string key, std::string storage_class, std::string content_type,
                       std::vector<std::pair<std::string, std::string>> metadata, std::uint64_t part_size,
                       std::uint64_t single_put_limit, int parallel) {
             auto counts = std::make_shared<ProgressCounts>();
             UploadOptions options;
             options.part_size_bytes = part_size;
             options.single_put_limit_bytes = single_put_limit;
             options.max_parallel_parts = parallel;
             options.attributes.storage_class = std::move(storage_class);
             options.attributes.content_type = std::move(content_type);
             options.attributes.user_metadata = std::move(metadata);
             options.progress = Progress::CounterOf(counts);
             return std::unique_ptr<PyWriter, DeleteWithoutGil<PyWriter>>(new PyWriter(ObjectWriter::Create(
                 client.client, BucketName(std::move(bucket)), ObjectKey(std::move(key)), std::move(options)), std::move(counts)));
           }),
           "client"_a, "bucket"_a, "key"_a, "storage_class"_a = "", "content_type"_a = "",
           "metadata"_a = std::vector<std::pair<std::string, std::string>>(), "part_size"_a = 8u << 20,
           "single_put_limit"_a = 8u << 20, "parallel"_a = 4)
      .def("write", &PyWriter::Write, "data"_a, "progress"_a = py::none())
      .def("finish", &PyWriter::Finish, "progress"_a = py::none())
      .def("abort", &PyWriter::Abort)
      .def_property_readonly("bytes_written", &PyWriter::bytes_written);
}

}  // namespace penstock::python
