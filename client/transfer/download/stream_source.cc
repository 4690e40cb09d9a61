#include "client/transfer/download/stream_source.h"

#include <string>
#include <utility>

namespace penstock::transfer {

Result<void> CheckStream(const ObjectStream::Source& source, const StreamOptions& options) {
  if (options.part_size_bytes == 0 || options.read_ahead_parts < 0 ||
      options.first_part_bytes == 0) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "a stream needs part_size_bytes and first_part_bytes of at least 1 "
                       "and read_ahead_parts of at least 0");
  }
  if (!source.ranges.empty() && !(source.known_size && source.known_etag)) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "a stream of `ranges` needs known_size and known_etag");
  }
  for (const ByteRange& range : source.ranges) {
    if (range.begin < range.end && range.end <= *source.known_size) continue;
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the range [" + std::to_string(range.begin) + ", " +
                           std::to_string(range.end) + ") is empty or beyond the object's " +
                           std::to_string(*source.known_size) + " bytes");
  }
  if (source.end && *source.end < source.begin) {
    return Error::Make(ErrorKind::kInvalidArgument, "the range [" + std::to_string(source.begin) +
                                                        ", " + std::to_string(*source.end) +
                                                        ") ends before it begins");
  }
  return Ok();
}

namespace {

StreamChecksum ChecksumAfterPrefix(const ObjectStream::Source& source,
                                   const ExpectedCrc& checksum) {
  const bool covers_object =
      source.begin == 0 && (!source.end || *source.end >= *source.known_size);
  // The response to a request for the whole object has the checksum.
  if (covers_object || (source.begin > 0 && !source.prefix_crc)) return {};
  PiecewiseChecksum arrived(checksum, *source.known_size);
  // An error means that no bytes are left to read.
  if (source.begin > 0) static_cast<void>(arrived.Add({0, source.begin}, *source.prefix_crc));
  return {std::move(arrived), checksum.crc};
}

}  // namespace

StreamChecksum InitialChecksum(const ObjectStream::Source& source) {
  const ExpectedCrc checksum = FindCrc(source.known_checksums);
  if (!source.known_size || !source.known_etag || checksum.crc == Crc::kNone) return {};
  if (source.ranges.empty()) return ChecksumAfterPrefix(source, checksum);
  std::uint64_t bytes = 0;
  for (const ByteRange& range : source.ranges) bytes += range.size();
  for (const ObjectStream::Source::Piece& piece : source.already_read) bytes += piece.bytes.size();
  if (bytes != *source.known_size) return {};
  PiecewiseChecksum arrived(checksum, *source.known_size);
  for (const auto& [begin, piece] : source.already_read) {
    // An error means that a range is missing.
    static_cast<void>(
        arrived.Add({begin, begin + piece.size()}, UpdateCrc(checksum.crc, piece, 0)));
  }
  return {std::move(arrived), checksum.crc};
}

}  // namespace penstock::transfer
