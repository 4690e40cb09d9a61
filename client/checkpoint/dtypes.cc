#include "client/checkpoint/dtypes.h"

#include <algorithm>
#include <limits>

namespace penstock::checkpoint {
namespace {

constexpr DtypeInfo kDtypes[] = {
    {"float32", 4, "FloatStorage", "F32"},
    {"bfloat16", 2, "BFloat16Storage", "BF16"},
    {"float16", 2, "HalfStorage", "F16"},
    {"float64", 8, "DoubleStorage", "F64"},
    {"int64", 8, "LongStorage", "I64"},
    {"int32", 4, "IntStorage", "I32"},
    {"int16", 2, "ShortStorage", "I16"},
    {"int8", 1, "CharStorage", "I8"},
    {"uint8", 1, "ByteStorage", "U8"},
    {"bool", 1, "BoolStorage", "BOOL"},
    {"complex64", 8, "ComplexFloatStorage", "C64"},
    {"complex128", 16, "ComplexDoubleStorage", ""},
    {"complex32", 4, "", ""},
    {"uint16", 2, "", "U16"},
    {"uint32", 4, "", "U32"},
    {"uint64", 8, "", "U64"},
    {"float8_e4m3fn", 1, "", "F8_E4M3"},
    {"float8_e5m2", 1, "", "F8_E5M2"},
    {"float8_e4m3fnuz", 1, "", "F8_E4M3FNUZ"},
    {"float8_e5m2fnuz", 1, "", "F8_E5M2FNUZ"},
    {"float8_e8m0fnu", 1, "", "F8_E8M0"},
    {"float4_e2m1fn_x2", 1, "", ""},
};
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

const DtypeInfo* Find(std::string_view name, std::string_view DtypeInfo::*member) {
  if (name.empty()) return nullptr;
  const auto found = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                  [&](const DtypeInfo& dtype) { return dtype.*member == name; });
  return found == std::end(kDtypes) ? nullptr : &*found;
}

}  // namespace

const DtypeInfo* FindDtype(std::string_view name) { return Find(name, &DtypeInfo::name); }
const DtypeInfo* FindDtypeOfStorage(std::string_view storage) {
  return Find(storage, &DtypeInfo::storage);
}
const DtypeInfo* FindDtypeOfSafetensors(std::string_view name) {
  return Find(name, &DtypeInfo::safetensors);
}
std::span<const DtypeInfo> AllDtypes() { return kDtypes; }

std::optional<std::uint64_t> DenseBytes(std::span<const std::int64_t> sizes,
                                        std::uint64_t item_bytes) {
  std::uint64_t bytes = item_bytes;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      empty = true;
      continue;
    }
    if (bytes > kMaxBytes / static_cast<std::uint64_t>(size)) return std::nullopt;
    bytes *= static_cast<std::uint64_t>(size);
  }
  return empty ? 0 : bytes;
}

std::optional<std::uint64_t> StridedBytes(std::span<const std::int64_t> sizes,
                                          std::span<const std::int64_t> strides,
                                          std::uint64_t item_bytes) {
  if (sizes.size() != strides.size()) return std::nullopt;
  std::uint64_t last = 0;  // offset of the last element, in elements
  bool empty = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || strides[i] < 0) return std::nullopt;
    if (sizes[i] == 0) {
      empty = true;
      continue;
    }
    const auto steps = static_cast<std::uint64_t>(sizes[i] - 1);
    const auto stride = static_cast<std::uint64_t>(strides[i]);
    if (steps != 0 && stride > kMaxBytes / steps) return std::nullopt;
    last += steps * stride;
    if (last > kMaxBytes) return std::nullopt;
  }
  if (empty) return 0;
  if (last + 1 > kMaxBytes / item_bytes) return std::nullopt;
  return (last + 1) * item_bytes;
}

}  // namespace penstock::checkpoint
