// Operations of directory buckets: renames, their own bucket listing, and appends.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/append_writer.h"
#include "penstock/directory_bucket.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// if_match, if_none_match (ETags), if_modified_since, if_unmodified_since (seconds since the
// epoch).
using Conditions = std::tuple<std::optional<std::string>, std::optional<std::string>,
                              std::optional<std::int64_t>, std::optional<std::int64_t>>;

std::optional<ETag> ToETag(std::optional<std::string> text) {
  if (!text) return std::nullopt;
  return ETag(*std::move(text));
}

std::optional<WallTime> ToTime(std::optional<std::int64_t> seconds) {
  if (!seconds) return std::nullopt;
  return WallTime(std::chrono::seconds(*seconds));
}

RenameConditions ToConditions(Conditions given) {
  auto& [match, none_match, modified, unmodified] = given;
  return {ToETag(std::move(match)), ToETag(std::move(none_match)), ToTime(modified),
          ToTime(unmodified)};
}

void Rename(const PyClient& self, Text<"bucket"> bucket, Text<"source"> source,
            Text<"destination"> destination, Named<"of_source", Conditions> of_source,
            Named<"of_destination", Conditions> of_destination, Text<"client_token"> client_token) {
  RenameObjectRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.source = ObjectKey(std::move(source.value));
  request.destination = ObjectKey(std::move(destination.value));
  request.of_source = ToConditions(std::move(of_source.value));
  request.of_destination = ToConditions(std::move(of_destination.value));
  request.client_token = std::move(client_token.value);
  Call(self, std::move(request));
}

std::vector<std::pair<std::string, std::int64_t>> ListDirectoryBuckets(
    const PyClient& self, std::optional<double> timeout) {
  std::vector<std::pair<std::string, std::int64_t>> buckets;
  ListDirectoryBucketsRequest request;
  if (timeout) {
    const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(*timeout));
    request.options.deadline = Deadline::After(SystemClock(), limit);
  }
  do {
    ListDirectoryBucketsResponse page = Call(self, request);
    for (const BucketSummary& bucket : page.buckets)
      buckets.emplace_back(bucket.name.value, EpochSeconds(bucket.created));
    if (page.next_token == request.continuation_token) break;  // otherwise the loop would not end
    request.continuation_token = std::move(page.next_token);
  } while (!request.continuation_token.empty());
  return buckets;
}

class PyAppendWriter {
 public:
  explicit PyAppendWriter(std::unique_ptr<AppendWriter> writer)
      : writer_(std::move(writer), "this append writer") {}
  PyAppendWriter(PyAppendWriter&&) = default;

  void Append(const py::object& data) {
    const BufferView view(data, BufferView::Access::kRead);
    AppendWriter& writer = writer_.Get();
    auto result = WithoutGil([&] { return writer.Append(view.bytes(), SignalPending); });
    Unwrap(std::move(result));
  }
  std::uint64_t size() const { return writer_.Get().size(); }
  std::uint64_t unsettled() const { return writer_.Get().unsettled_bytes(); }
  std::optional<std::string> etag() const {
    const std::optional<ETag>& etag = writer_.Get().etag();
    return etag ? std::optional(etag->value) : std::nullopt;
  }

 private:
  ProcessBound<AppendWriter> writer_;
};

PyAppendWriter Open(const PyClient& client, Text<"bucket"> bucket, Text<"key"> key) {
  auto writer = WithoutGil([&] {
    return AppendWriter::Open(client.client, BucketName(std::move(bucket.value)),
                              ObjectKey(std::move(key.value)), {}, SignalPending);
  });
  return PyAppendWriter(Unwrap(std::move(writer)));
}

}  // namespace

void BindDirectoryBuckets(py::module_& module, Guarded<PyClient>& client) {
  client
      .def("rename_object", &Rename, "bucket"_a, "source"_a, "destination"_a,
           "of_source"_a = Conditions(), "of_destination"_a = Conditions(), "client_token"_a = "")
      .def("list_directory_buckets", &ListDirectoryBuckets, "timeout"_a = py::none());
  Guarded<PyAppendWriter>(
      module, "AppendWriter",
      "Appends to one object of a directory bucket, unbuffered. One user at a time.")
      .def(py::init(&Open), "client"_a, "bucket"_a, "key"_a)
      .def("append", &PyAppendWriter::Append, "data"_a)
      .def_property_readonly("size", &PyAppendWriter::size)
      .def_property_readonly("unsettled", &PyAppendWriter::unsettled)
      .def_property_readonly("etag", &PyAppendWriter::etag);
}

}  // namespace penstock::python
