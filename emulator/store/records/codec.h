// Packs lists into one database column: lengths and numbers as LEB128, text as its length and
// bytes.
#ifndef PENSTOCK_EMULATOR_STORE_RECORDS_CODEC_H_
#define PENSTOCK_EMULATOR_STORE_RECORDS_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/records/records.h"

namespace penstock::emulator::store {

// A slice in the database, which identifies the blob by its number.
struct SliceReference {
  std::int64_t blob_id = 0;
  ByteRange range;

  bool operator==(const SliceReference&) const = default;
};

std::string EncodeAttributes(const Attributes& attributes);
std::string EncodeParts(const std::vector<PartRecord>& parts);
std::string EncodeSlices(const std::vector<SliceReference>& slices);

// nullopt: not in the encoder's format. Encoded lists may be concatenated; the result contains the
// entries of all lists.
std::optional<Attributes> DecodeAttributes(std::string_view packed);
std::optional<std::vector<PartRecord>> DecodeParts(std::string_view packed);
// For parts of schema version 3, in which an internal checksum began with "hidden:".
std::optional<std::vector<PartRecord>> DecodePartsOfVersion3(std::string_view packed);
std::optional<std::vector<SliceReference>> DecodeSlices(std::string_view packed);

// Converts times to and from the columns' format, nanoseconds since the epoch.
std::int64_t ToNanoseconds(WallTime time);
WallTime FromNanoseconds(std::int64_t nanoseconds);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_RECORDS_CODEC_H_
