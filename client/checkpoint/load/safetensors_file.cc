#include "client/checkpoint/load/safetensors_file.h"

#include <algorithm>
#include <utility>

#include "base/crc/crc.h"
#include "base/encoding.h"
#include "client/checkpoint/file_kind.h"

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kFirstBytes = 128 << 10;  // most headers are shorter
constexpr std::string_view kOperation = "LoadSafetensors";

std::string Base64OfCrc(std::uint64_t crc) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(crc >> shift);
  return Base64Encode(AsBytes(bytes));
}

std::string LengthText(std::uint64_t length) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(length >> shift);
  return bytes;
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::Open(const LoadContext& context, BucketName bucket,
                                              ObjectKey key) {
  PENSTOCK_ASSIGN(CheckpointObject object,
                  CheckpointObject::Open(context, std::move(bucket), std::move(key), kFirstBytes));
  SafetensorsFile file(std::move(object));
  const CheckpointObject& opened = file.object_;
  FileKind kind = KindOf(opened.first());
  if (kind == FileKind::kZip) kind = FileKind::kTorchSave;  // LoadStateDict says if it is not
  // A file that is too short for a header, or has one with a damaged length, is of this format.
  const bool damaged =
      kind == FileKind::kUnknown && (opened.first().size() <= kSafetensorsLengthBytes ||
                                     opened.first()[kSafetensorsLengthBytes] == '{');
  if (kind != FileKind::kSafetensors && !damaged)
    return opened.At(WrongKind("a safetensors file", kind), kOperation);
  const auto length = SafetensorsHeaderBytes(opened.first(), opened.size());
  if (!length.ok()) return opened.At(length.error(), kOperation);
  const std::uint64_t end = kSafetensorsLengthBytes + *length;
  PENSTOCK_ASSIGN(file.json_, opened.Read(context, kSafetensorsLengthBytes, end));
  auto crcs = ReadSafetensorsCrcs(LengthText(*length) + file.json_);
  if (!crcs.ok()) return opened.At(std::move(crcs).error(), kOperation);
  auto header = ReadSafetensorsHeader(file.json_, opened.size() - end);
  if (!header.ok()) return opened.At(std::move(header).error(), kOperation);
  file.header_ = std::move(*header);
  if (*crcs) {
    auto made = SafetensorsCrcs::Create(file.header_, std::move(**crcs));
    if (!made.ok()) return opened.At(std::move(made).error(), kOperation);
    file.crcs_ = std::move(*made);
  }
  return file;
}

Result<void> SafetensorsFile::Read(const LoadContext& context,
                                   const std::vector<SafetensorsRead>& reads) const {
  const std::uint64_t data_begin = kSafetensorsLengthBytes + json_.size();
  std::vector<RangePiece> pieces;
  for (const SafetensorsRead& read : reads) {
    const SafetensorsTensor& tensor = header_.tensors[read.index];
    if (tensor.bytes != read.memory.size())
      return Error::Make(ErrorKind::kInvalidArgument,
                         "the memory for '" + tensor.name + "' has another size");
    if (tensor.bytes != 0) pieces.push_back({data_begin + tensor.begin, read.memory});
  }
  auto read = ReadPieces(context, object_, std::move(pieces));
  if (!read.ok()) return object_.At(std::move(read).error(), kOperation);
  if (crcs_) {
    for (const SafetensorsRead& each : reads) {
      auto compared = crcs_->Compare(header_, each.index, each.memory);
      if (!compared.ok()) return object_.At(std::move(compared).error(), kOperation);
    }
    return Ok();
  }
  if (reads.size() != header_.tensors.size()) return Ok();
  return CompareChecksum(context, reads);
}

Result<void> SafetensorsFile::CompareChecksum(const LoadContext& context,
                                              std::vector<SafetensorsRead> reads) const {
  HeadObjectRequest request;
  request.bucket = object_.bucket();
  request.key = object_.key();
  request.options = context.ranges.call;
  request.customer_key = context.ranges.customer_key;
  PENSTOCK_ASSIGN(const ObjectMetadata about,
                  context.store->Call(std::move(request), context.interrupt));
  if (about.etag != object_.etag()) return Ok();  // replaced: all bytes are of the older version
  const auto stored =
      std::find_if(about.checksums.begin(), about.checksums.end(),
                   [](const auto& checksum) { return checksum.first == "crc64nvme"; });
  if (stored == about.checksums.end()) return Ok();
  std::uint64_t crc = Crc64Nvme(AsBytes(LengthText(json_.size())));
  crc = Crc64Nvme(AsBytes(json_), crc);
  std::sort(reads.begin(), reads.end(), [](const SafetensorsRead& one, const SafetensorsRead& two) {
    return one.index < two.index;
  });
  for (const SafetensorsRead& read : reads) crc = Crc64Nvme(read.memory, crc);
  if (Base64OfCrc(crc) == stored->second) return Ok();
  return object_.At(
      Error::Make(ErrorKind::kDataLoss,
                  "the received bytes have the CRC64NVME " + Base64OfCrc(crc) +
                      ", and the object's is " + stored->second +
                      ": the data was corrupted in transfer or in storage; retry the load"),
      kOperation);
}

}  // namespace penstock::checkpoint
