// Distinct string types, so that a bucket name cannot be passed as a key.
#ifndef PENSTOCK_BASE_TYPES_H_
#define PENSTOCK_BASE_TYPES_H_

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// A typed string of any bytes. Code that has a rule (bucket naming, key length) checks it.
template <class Tag>
struct NamedString {
  std::string value;

  NamedString() = default;
  explicit NamedString(std::string text) : value(std::move(text)) {}
  bool empty() const { return value.empty(); }
  auto operator<=>(const NamedString&) const = default;
};

using BucketName = NamedString<struct BucketNameTag>;
using ObjectKey = NamedString<struct ObjectKeyTag>;  // raw UTF-8, never percent-encoded
using UploadId = NamedString<struct UploadIdTag>;
using VersionId = NamedString<struct VersionIdTag>;
using ETag = NamedString<struct ETagTag>;  // without the surrounding quotes

// Half-open byte range [begin, end).
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  auto operator<=>(const ByteRange&) const = default;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_TYPES_H_
