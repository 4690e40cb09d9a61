#include "emulator/s3/core/operation_traits.h"

#include <algorithm>
#include <iterator>

namespace penstock::emulator::s3 {
namespace {

struct Row {
  std::string_view operation;
  OperationTraits traits;
};

using enum Access;

// The most frequent come first, to end the search early.
constexpr Row kRows[] = {
    {"GetObject", {.access = kRead, .shows_objects = true}},
    {"PutObject", {.access = kWrite, .takes_body = true, .stores_body = true, .overwrites = true}},
    {"HeadObject", {.access = kRead, .shows_objects = true}},
    {"DeleteObject", {.access = kWrite}},
    {"UploadPart",
     {.access = kWrite, .takes_body = true, .stores_body = true, .is_multipart = true}},
    {"ListObjectsV2", {.access = kList, .shows_objects = true}},
    {"ListObjects", {.access = kList, .shows_objects = true}},
    {"CreateMultipartUpload", {.access = kWrite, .is_multipart = true}},
    {"CompleteMultipartUpload",
     {.access = kWrite, .takes_body = true, .overwrites = true, .is_multipart = true}},
    {"AbortMultipartUpload", {.access = kWrite, .is_multipart = true}},
    {"CopyObject", {.access = kWrite, .overwrites = true}},
    {"DeleteObjects", {.access = kWrite, .takes_body = true}},
    {"GetObjectAttributes", {.access = kRead, .shows_objects = true}},
    {"ListBuckets", {.access = kList}},
    {"ListDirectoryBuckets", {.access = kList}},
    {"ListMultipartUploads", {.access = kList, .is_multipart = true}},
    {"ListObjectVersions", {.access = kList}},
    {"ListParts", {.access = kList, .is_multipart = true}},
    {"PostObject", {.access = kWrite, .takes_body = true, .stores_body = true}},
    {"RenameObject", {.access = kWrite, .overwrites = true}},
    {"SelectObjectContent", {.access = kRead, .takes_body = true}},
    {"UploadPartCopy", {.access = kWrite, .is_multipart = true}},
};

OperationTraits OfMethod(std::string_view method) {
  if (method == "GET" || method == "HEAD" || method == "OPTIONS") return {.access = kRead};
  return {.access = kWrite, .takes_body = method != "DELETE"};
}

}  // namespace

const OperationTraits* FindTraits(std::string_view operation) {
  const Row* const row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [operation](const Row& each) { return each.operation == operation; });
  return row != std::end(kRows) ? &row->traits : nullptr;
}

OperationTraits TraitsOf(std::string_view operation, std::string_view method) {
  const OperationTraits* const traits = FindTraits(operation);
  return traits != nullptr ? *traits : OfMethod(method);
}

OperationTraits TraitsOf(const Exchange& exchange) {
  return TraitsOf(exchange.operation, exchange.request.method);
}

}  // namespace penstock::emulator::s3
