// How lists are packed into one database column: lengths and numbers as LEB128, text as length and
// bytes.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_CODEC_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/store.h"

namespace penstock::emulator::store {

// A slice as the database knows it: the blob by number.
struct SliceReference {
  std::int64_t blob_id = 0;
  ByteRange range;

  bool operator==(const SliceReference&) const = default;
};

std::string EncodeAttributes(const Attributes& attributes);
std::string EncodeParts(const std::vector<PartRecord>& parts);
std::string EncodeSlices(const std::vector<SliceReference>& slices);

// nullopt: not what the encoder wrote. Encoded lists may be concatenated; the result holds the
// entries of all.
std::optional<Attributes> DecodeAttributes(std::string_view packed);
std::optional<std::vector<PartRecord>> DecodeParts(std::string_view packed);
// As schema version 3 had it: an internal checksum began with "hidden:".
std::optional<std::vector<PartRecord>> DecodePartsOfVersion3(std::string_view packed);
std::optional<std::vector<SliceReference>> DecodeSlices(std::string_view packed);

// A time as the nanoseconds since the epoch that columns hold.
std::int64_t ToNanoseconds(WallTime time);
WallTime FromNanoseconds(std::int64_t nanoseconds);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_CODEC_H_
