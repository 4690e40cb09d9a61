#include "client/checkpoint/safetensors_crcs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/crc/crc.h"
#include "base/encoding.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/piece_crcs.h"

namespace penstock::checkpoint {
namespace {

constexpr std::string_view kStart = R"({ "__metadata__":{"PENSTOCK_CRC64NVME":"1 )";
constexpr std::size_t kDigitsAt = kSafetensorsLengthBytes + kStart.size();
constexpr std::size_t kDigits = 16;

std::string Hex(std::uint64_t value) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kHexDigits[value >> shift & 15];
  return text;
}

Error Differs(const std::string& what, std::uint64_t found, std::string_view expected) {
  return Error::Make(ErrorKind::kDataLoss,
                     what + " has the CRC64NVME " + Hex(found) + ", and was saved with " +
                         std::string(expected) +
                         ": the data was corrupted in transfer or in storage; retry the load");
}

}  // namespace

Result<std::optional<std::vector<std::uint64_t>>> ReadSafetensorsCrcs(std::string_view header) {
  using Crcs = std::optional<std::vector<std::uint64_t>>;
  if (header.size() < kDigitsAt + kDigits ||
      header.substr(kSafetensorsLengthBytes, kStart.size()) != kStart)
    return Crcs();
  const std::string_view expected = header.substr(kDigitsAt, kDigits);
  std::uint64_t found = Crc64Nvme(AsBytes(header.substr(0, kDigitsAt)));
  found = Crc64Nvme(AsBytes(header.substr(kDigitsAt + kDigits)), found);
  if (Hex(found) != expected) return Differs("the safetensors header", found, expected);
  std::string_view text = header.substr(kDigitsAt + kDigits);
  text = text.substr(0, text.find('"'));
  std::optional<std::string> bytes;
  if (text.starts_with(' ')) bytes = Base64Decode(text.substr(1));
  if (!bytes || bytes->size() % 8 != 0)
    return Error::Make(ErrorKind::kDataLoss, "the safetensors header has invalid checksums");
  std::vector<std::uint64_t> crcs(bytes->size() / 8);
  for (std::size_t i = 0; i < bytes->size(); ++i)
    crcs[i / 8] |= std::uint64_t{static_cast<unsigned char>((*bytes)[i])} << i % 8 * 8;
  return Crcs(std::move(crcs));
}

Result<std::optional<SafetensorsCrcs>> SafetensorsCrcs::Create(const SafetensorsHeader& header,
                                                               std::vector<std::uint64_t> crcs) {
  SafetensorsCrcs made;
  made.crcs_ = std::move(crcs);
  std::uint64_t pieces = 0;
  for (const SafetensorsTensor& tensor : header.tensors) {
    const DtypeInfo* const dtype = FindDtype(tensor.dtype);
    if (dtype == nullptr) return std::optional<SafetensorsCrcs>();
    const std::uint64_t bytes = PieceBytes(tensor.sizes, dtype->item_bytes);
    made.tensors_.push_back({pieces, bytes});
    pieces += PieceCount(tensor.bytes, bytes);
  }
  if (pieces == made.crcs_.size()) return std::optional(std::move(made));
  return Error::Make(ErrorKind::kDataLoss, "the safetensors header has the checksums of " +
                                               std::to_string(made.crcs_.size()) +
                                               " pieces, and its tensors have " +
                                               std::to_string(pieces));
}

Result<void> SafetensorsCrcs::Compare(const SafetensorsHeader& header, std::size_t index,
                                      ByteView bytes) const {
  const Pieces& pieces = tensors_[index];
  std::size_t number = pieces.first;
  for (std::uint64_t begin = 0; begin < bytes.size(); begin += pieces.bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(pieces.bytes, bytes.size() - begin);
    const std::uint64_t found = Crc64Nvme(bytes.subspan(begin, size));
    const std::uint64_t expected = crcs_[number++];
    if (found == expected) continue;
    return Differs("'" + header.tensors[index].name + "', in bytes " + std::to_string(begin) +
                       " to " + std::to_string(begin + size) + ",",
                   found, Hex(expected));
  }
  return Ok();
}

}  // namespace penstock::checkpoint
