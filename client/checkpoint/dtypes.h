// The dtypes that checkpoints use, with their names in each format.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_DTYPES_H_
#define PENSTOCK_CLIENT_CHECKPOINT_DTYPES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace penstock::checkpoint {

struct DtypeInfo {
  std::string_view name;         // torch's name without "torch.".
  std::uint64_t item_bytes = 0;  // Of one element.
  std::string_view storage;      // The storage class of torch.save, "FloatStorage". Empty: untyped.
  std::string_view safetensors;  // "F32". Empty: safetensors does not have the dtype.
};

// nullptr: unknown.
const DtypeInfo* FindDtype(std::string_view name);
const DtypeInfo* FindDtypeOfStorage(std::string_view storage);
const DtypeInfo* FindDtypeOfSafetensors(std::string_view name);
std::span<const DtypeInfo> AllDtypes();

// Bytes of a dense tensor; nullopt if a size is negative or the product exceeds 2^62.
std::optional<std::uint64_t> DenseBytes(std::span<const std::int64_t> sizes,
                                        std::uint64_t item_bytes);
// Bytes from the first to the last element of a strided tensor, including both; nullopt as for
// DenseBytes, or if a stride is negative.
std::optional<std::uint64_t> StridedBytes(std::span<const std::int64_t> sizes,
                                          std::span<const std::int64_t> strides,
                                          std::uint64_t item_bytes);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_DTYPES_H_
