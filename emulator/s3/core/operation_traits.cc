#include "emulator/s3/core/operation_traits.h"

#include <algorithm>
#include <iterator>

namespace penstock::emulator::s3 {
namespace {

struct Row {
  std::string_view operation;
  OperationTraits traits;
};

// Operations that differ from their method's default, sorted.
constexpr Row kRows[] = {
    {"CopyObject", {Access::kWrite, false}},
    {"CreateMultipartUpload", {Access::kWrite, false}},
    {"ListBuckets", {Access::kList, false}},
    {"ListDirectoryBuckets", {Access::kList, false}},
    {"ListMultipartUploads", {Access::kList, false}},
    {"ListObjectVersions", {Access::kList, false}},
    {"ListObjects", {Access::kList, false}},
    {"ListObjectsV2", {Access::kList, false}},
    {"ListParts", {Access::kList, false}},
    {"RenameObject", {Access::kWrite, false}},
    {"SelectObjectContent", {Access::kRead, true}},
    {"UploadPartCopy", {Access::kWrite, false}},
};

OperationTraits OfMethod(std::string_view method) {
  if (method == "GET" || method == "HEAD" || method == "OPTIONS") return {Access::kRead, false};
  return {Access::kWrite, method != "DELETE"};
}

}  // namespace

OperationTraits TraitsOf(std::string_view operation, std::string_view method) {
  // Skips the search for most requests (GetObject, PutObject, HeadObject, ...).
  if (operation.empty() ||
      std::string_view("CLRSU").find(operation.front()) == std::string_view::npos)
    return OfMethod(method);
  const Row* const row = std::lower_bound(
      std::begin(kRows), std::end(kRows), operation,
      [](const Row& each, std::string_view name) { return each.operation < name; });
  return row != std::end(kRows) && row->operation == operation ? row->traits : OfMethod(method);
}

OperationTraits TraitsOf(const Exchange& exchange) {
  return TraitsOf(exchange.operation, exchange.request.method);
}

}  // namespace penstock::emulator::s3
