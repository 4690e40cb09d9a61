// The operations of a multipart upload, one by one, for callers that combine copies and bytes in
// one object.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/core/bindings.h"
#include "bindings/core/client_binding.h"
#include "bindings/core/named_argument.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// The data of a part that Complete needs: number, ETag, CRC64NVME.
using Part = std::tuple<int, std::string, std::string>;

// Memory that the caller keeps valid during the call.
class ViewSource final : public BodySource {
 public:
  explicit ViewSource(ByteView bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void Rewind() override { at_ = 0; }
  ByteView Next(std::size_t limit) override {
    const ByteView next = bytes_.subspan(at_, std::min(limit, bytes_.size() - at_));
    at_ += next.size();
    return next;
  }

 private:
  ByteView bytes_;
  std::size_t at_ = 0;
};

py::tuple ToPython(const CompletedPart& part) {
  return py::make_tuple(part.part_number, TextToPython(part.etag.value),
                        TextToPython(part.checksum_crc64nvme));
}

py::str Create(const PyClient& self, Text<"bucket"> bucket, Text<"key"> key,
               Text<"storage_class"> storage_class, Text<"content_type"> content_type,
               std::vector<std::pair<std::string, std::string>> metadata) {
  CreateMultipartUploadRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.key = ObjectKey(std::move(key.value));
  request.attributes.storage_class = std::move(storage_class.value);
  request.attributes.content_type = std::move(content_type.value);
  request.attributes.user_metadata = std::move(metadata);
  return TextToPython(Call(self, std::move(request)).upload_id.value);
}

py::tuple Put(const PyClient& self, Text<"bucket"> bucket, Text<"key"> key,
              Text<"upload_id"> upload_id, int number, const py::object& data) {
  const BufferView view(data, BufferView::Access::kRead);
  ViewSource body(view.bytes());
  UploadPartRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.key = ObjectKey(std::move(key.value));
  request.upload_id = UploadId(std::move(upload_id.value));
  request.part_number = number;
  request.body = &body;
  return ToPython(Call(self, std::move(request)));
}

py::tuple Copy(const PyClient& self, Text<"bucket"> bucket, Text<"key"> key,
               Text<"upload_id"> upload_id, int number, Text<"src_bucket"> source_bucket,
               Text<"src_key"> source_key, std::uint64_t start, std::uint64_t end,
               std::optional<std::string> etag, Text<"src_version_id"> version) {
  UploadPartCopyRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.key = ObjectKey(std::move(key.value));
  request.upload_id = UploadId(std::move(upload_id.value));
  request.part_number = number;
  request.source_bucket = BucketName(std::move(source_bucket.value));
  request.source_key = ObjectKey(std::move(source_key.value));
  request.source_range = ByteRange{start, end};
  if (etag) request.source_if_match = ETag(std::move(*etag));
  request.source_version_id = VersionId(std::move(version.value));
  return ToPython(Call(self, std::move(request)));
}

py::str Complete(const PyClient& self, Text<"bucket"> bucket, Text<"key"> key,
                 Text<"upload_id"> upload_id, std::vector<Part> parts, std::uint64_t size,
                 bool if_none_match) {
  CompleteMultipartUploadRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.key = ObjectKey(std::move(key.value));
  request.upload_id = UploadId(std::move(upload_id.value));
  for (auto& [number, etag, checksum] : parts)
    request.parts.push_back({number, ETag(std::move(etag)), std::move(checksum)});
  request.object_size = size;
  request.if_none_match_any = if_none_match;
  return TextToPython(Call(self, std::move(request)).etag.value);
}

}  // namespace

void BindMultipart(Guarded<PyClient>& client) {
  client
      .def("create_multipart_upload", &Create, "bucket"_a, "key"_a, "storage_class"_a = "",
           "content_type"_a = "", "metadata"_a = std::vector<std::pair<std::string, std::string>>())
      .def("upload_part", &Put, "bucket"_a, "key"_a, "upload_id"_a, "part_number"_a, "data"_a)
      .def("upload_part_copy", &Copy, "bucket"_a, "key"_a, "upload_id"_a, "part_number"_a,
           "src_bucket"_a, "src_key"_a, "start"_a, "end"_a, "etag"_a = py::none(),
           "src_version_id"_a = "")
      .def("complete_multipart_upload", &Complete, "bucket"_a, "key"_a, "upload_id"_a, "parts"_a,
           "size"_a, "if_none_match"_a = false);
}

}  // namespace penstock::python
