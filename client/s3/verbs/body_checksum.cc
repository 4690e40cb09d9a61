#include "client/s3/verbs/body_checksum.h"

#include <utility>

#include "base/crc/crc.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "client/s3/verbs/request_start.h"
#include "penstock/bucket_kind.h"

namespace penstock::s3 {
namespace {

constexpr std::size_t kStep = 1 << 20;
constexpr std::string_view kChecksumPrefix = "x-amz-checksum-";

// Passes all of `source` to `update` and rewinds the source.
template <class Update>
Result<void> ReadAll(BodySource& source, Update update) {
  source.Rewind();
  std::uint64_t total = 0;
  for (ByteView next = source.Next(kStep); !next.empty() && total <= source.size();
       next = source.Next(kStep)) {
    update(next);
    total += next.size();
  }
  source.Rewind();
  if (total == source.size()) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the body source returned " + std::to_string(total) +
                         " bytes, but its size() is " + std::to_string(source.size()));
}

Result<std::string> DigestText(DigestAlgorithm algorithm, BodySource& source) {
  Digester digester(algorithm);
  PENSTOCK_TRY(ReadAll(source, [&](ByteView piece) { digester.Update(piece); }));
  return Base64Encode(AsBytes(digester.Finish()));
}

// Returns whether the header is the value of a checksum.
bool IsChecksumValue(std::string_view name) {
  if (!http::StartsWithIgnoringCase(name, kChecksumPrefix)) return false;
  name.remove_prefix(kChecksumPrefix.size());
  return name != "type" && name != "algorithm" && name != "mode";
}

}  // namespace

std::string Crc64NvmeText(ByteView bytes) { return CrcText(Crc::kCrc64Nvme, Crc64Nvme(bytes)); }

Result<std::string> Crc64NvmeText(BodySource& source) {
  if (const std::optional<std::uint64_t> known = source.crc64nvme())
    return CrcText(Crc::kCrc64Nvme, *known);
  return ChecksumText(Crc::kCrc64Nvme, source);
}

Result<std::string> ChecksumText(Crc kind, BodySource& source) {
  std::uint64_t crc = 0;
  PENSTOCK_TRY(ReadAll(source, [&](ByteView piece) { crc = UpdateCrc(kind, piece, crc); }));
  return CrcText(kind, crc);
}

std::string AlgorithmName(std::string_view algorithm) {
  std::string name(algorithm);
  for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

Result<std::string> ComputeChecksum(const std::string& algorithm, BodySource& source) {
  if (algorithm == "crc64nvme") return Crc64NvmeText(source);
  if (algorithm == "crc32c") return ChecksumText(Crc::kCrc32c, source);
  if (algorithm == "crc32") return ChecksumText(Crc::kCrc32, source);
  if (algorithm == "sha256") return DigestText(DigestAlgorithm::kSha256, source);
  if (algorithm == "sha1") return DigestText(DigestAlgorithm::kSha1, source);
  if (algorithm == "md5") return DigestText(DigestAlgorithm::kMd5, source);
  return InvalidRequest("the checksum `" + algorithm + "` cannot be computed");
}

Result<void> CheckAlgorithm(const std::string& algorithm) {
  for (const std::string_view known :
       {"", "none", "crc64nvme", "crc32c", "crc32", "sha256", "sha1"}) {
    if (algorithm == known) return Ok();
  }
  return InvalidRequest("checksum_algorithm is `" + algorithm +
                        "`; use crc64nvme, crc32c, crc32, sha256, sha1 or none");
}

Result<void> AppendBodyChecksum(const ChosenChecksum& chosen, bool by_default,
                                std::vector<http::Header>& headers) {
  PENSTOCK_TRY(CheckAlgorithm(chosen.algorithm));
  const bool named = !chosen.algorithm.empty() && chosen.algorithm != "none";
  if (!chosen.value.empty() && !named) {
    return InvalidRequest(
        "checksum_value is set, but checksum_algorithm does not name the "
        "algorithm; set it, for example to crc32c");
  }
  if (!named && (chosen.algorithm == "none" || !by_default)) return Ok();
  const std::string algorithm = named ? chosen.algorithm : "crc64nvme";
  std::string value = chosen.value;
  if (value.empty()) {
    if (chosen.body == nullptr) {
      if (!named) return Ok();
      return InvalidRequest(
          "a presigned request has no body to compute a checksum of; set "
          "checksum_value, or leave checksum_algorithm empty");
    }
    PENSTOCK_ASSIGN(value, ComputeChecksum(algorithm, *chosen.body));
  }
  headers.push_back({std::string(kChecksumPrefix) + algorithm, std::move(value)});
  return Ok();
}

void AppendDocumentChecksum(const BuildContext& context, WireRequest& wire) {
  const ByteView document = AsBytes(wire.document);
  if (context.upload_checksums || IsDirectoryBucket(wire.bucket)) {
    wire.headers.push_back({kCrc64NvmeHeader, Crc64NvmeText(document)});
  } else {
    wire.headers.push_back({"Content-MD5", Base64Encode(Md5(document))});
  }
}

Result<void> CheckConfirmedChecksum(const std::vector<http::Header>& sent,
                                    const http::ResponseHead& head) {
  const http::Header* checksum = nullptr;
  for (const http::Header& header : sent) {
    if (header.name == "x-amz-write-offset-bytes") return Ok();
    if (IsChecksumValue(header.name)) checksum = &header;
  }
  if (checksum == nullptr) return Ok();
  const auto confirmed = head.Find(checksum->name);
  if (!confirmed || *confirmed == checksum->value) return Ok();
  const std::string name =
      AlgorithmName(std::string_view(checksum->name).substr(kChecksumPrefix.size()));
  return Error::Make(ErrorKind::kDataLoss, "the bytes sent have " + name + " " + checksum->value +
                                               ", but the server confirms " + name + " " +
                                               std::string(*confirmed));
}

std::optional<ChecksumVerifier> ChecksumVerifier::For(const ObjectMetadata& metadata) {
  ExpectedCrc expected = FindCrc(metadata.checksums);
  if (expected.crc == Crc::kNone) return std::nullopt;
  return ChecksumVerifier(std::move(expected));
}

void ChecksumVerifier::Update(ByteView bytes) { value_ = UpdateCrc(expected_.crc, bytes, value_); }

Result<void> ChecksumVerifier::Finish() const { return CompareCrc(expected_, value_); }

}  // namespace penstock::s3
