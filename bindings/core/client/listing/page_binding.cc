// Single pages of object versions and of open uploads, for callers that continue from their
// markers.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <utility>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/listing/pages.h"
#include "bindings/core/client/named_argument.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// Returns (versions as tuples, common prefixes, next key marker, next version id marker).
py::tuple ListVersions(const PyClient& self, Text<"bucket"> bucket, Text<"prefix"> prefix,
                       Text<"delimiter"> delimiter, Named<"max_keys", int> max_keys,
                       Text<"key_marker"> key_marker, Text<"version_id_marker"> version_id_marker) {
  ListObjectVersionsRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.prefix = std::move(prefix.value);
  request.delimiter = std::move(delimiter.value);
  request.max_keys = max_keys.value;
  request.key_marker = std::move(key_marker.value);
  request.version_id_marker = VersionId(std::move(version_id_marker.value));
  return PageToPython(Call(self, std::move(request)));
}

// Returns (uploads as (key, upload id, initiated), next key marker, next upload id marker).
py::tuple ListUploads(const PyClient& self, Text<"bucket"> bucket, Text<"prefix"> prefix,
                      Text<"key_marker"> key_marker, Text<"upload_id_marker"> upload_id_marker) {
  ListMultipartUploadsRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.prefix = std::move(prefix.value);
  request.key_marker = std::move(key_marker.value);
  request.upload_id_marker = std::move(upload_id_marker.value);
  const ListMultipartUploadsResponse page = Call(self, std::move(request));
  py::list uploads;
  for (const UploadSummary& u : page.uploads) {
    uploads.append(py::make_tuple(KeyToPython(u.key.value), TextToPython(u.upload_id.value),
                                  EpochTime(u.initiated)));
  }
  return py::make_tuple(uploads, KeyToPython(page.next_key_marker),
                        TextToPython(page.next_upload_id_marker));
}

// Returns all open uploads as (key, upload id). Reads page by page, and checks for signals after
// each page: a call itself does so only while it waits.
py::list ListAllUploads(const PyClient& self, Text<"bucket"> bucket, Text<"prefix"> prefix) {
  ListMultipartUploadsRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.prefix = std::move(prefix.value);
  py::list uploads;
  for (;;) {
    ListMultipartUploadsResponse page = Call(self, request);
    for (const UploadSummary& u : page.uploads)
      uploads.append(py::make_tuple(KeyToPython(u.key.value), TextToPython(u.upload_id.value)));
    if (page.next_key_marker.empty()) return uploads;
    if (page.next_key_marker == request.key_marker &&
        page.next_upload_id_marker == request.upload_id_marker) {
      Raise(Error::Make(ErrorKind::kUnavailable,
                        "the listing of uploads does not advance: the service repeats its markers")
                .At("ListMultipartUploads", request.bucket.value));
    }
    request.key_marker = std::move(page.next_key_marker);
    request.upload_id_marker = std::move(page.next_upload_id_marker);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

}  // namespace

void BindPages(Guarded<PyClient>& client) {
  client
      .def("list_object_versions", &ListVersions, "bucket"_a, "prefix"_a = "", "delimiter"_a = "",
           "max_keys"_a = 1000, "key_marker"_a = "", "version_id_marker"_a = "")
      .def("list_open_uploads", &ListUploads, "bucket"_a, "prefix"_a = "", "key_marker"_a = "",
           "upload_id_marker"_a = "")
      .def("list_multipart_uploads", &ListAllUploads, "bucket"_a, "prefix"_a = "");
}

}  // namespace penstock::python
