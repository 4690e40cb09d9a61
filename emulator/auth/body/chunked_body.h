// Decodes and verifies aws-chunked bodies as a stream: framing, sizes, chunk signatures and
// trailers (AWS documentation: "Signature Calculations for the Authorization Header: Transferring
// Payload in Multiple Chunks").
//
// Trailer values are returned as text. The router evaluates checksums in them.
#ifndef PENSTOCK_EMULATOR_AUTH_BODY_CHUNKED_BODY_H_
#define PENSTOCK_EMULATOR_AUTH_BODY_CHUNKED_BODY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

// The state that the first chunk's signature continues.
struct ChunkSigning {
  HmacSha256Key key;
  std::string access_key_id;
  std::string amz_date;
  std::string scope;
  std::string seed_signature;  // the signature of the request itself
};

struct ChunkedOptions {
  std::uint64_t decoded_length = 0;     // x-amz-decoded-content-length
  bool signed_framing = false;          // chunks and trailers carry signatures
  std::optional<ChunkSigning> signing;  // to verify signatures; unset: they are only parsed
  bool allow_trailer = false;
  std::vector<std::string> declared_trailers;  // x-amz-trailer, lower-case
};

class ChunkedBody final : public s3::BodyWrapper {
 public:
  // `inner` delivers the encoded body and must outlive this object.
  ChunkedBody(s3::BodyReader& inner, ChunkedOptions options);

  // Returns IncompleteBody, InvalidChunkSizeError, MalformedTrailerError or SignatureDoesNotMatch.
  // Every later call returns the same error.
  Result<std::size_t> Read(MutableByteView buffer) override;
  std::optional<std::uint64_t> Length() const override { return options_.decoded_length; }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }

 private:
  enum class State { kChunkHeader, kData, kDataEnd, kTrailers, kEnd };

  Result<std::size_t> Step(MutableByteView buffer);
  Result<void> ReadChunkHeader();
  Result<void> BeginChunk(std::uint64_t size);
  Result<std::size_t> ReadData(MutableByteView buffer);
  Result<void> EndChunk();
  Result<void> ReadTrailers();
  Result<void> CheckTrailers(std::string_view block, std::optional<std::string> signature);
  Result<void> VerifySignature(std::string_view string_to_sign, std::string_view provided);
  Result<void> ExpectEnd();

  Result<std::size_t> Refill();
  Result<std::string> ReadLine(std::size_t limit, const Error& too_long);

  ChunkedOptions options_;
  State state_ = State::kChunkHeader;
  std::array<std::byte, 4096> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t remaining_ = 0;    // of the current chunk
  std::uint64_t chunk_size_ = 0;   // of the current or last chunk
  std::uint64_t chunk_index_ = 0;  // 1-based
  std::uint64_t decoded_ = 0;
  std::string chunk_signature_;
  std::string previous_signature_;
  Digester digester_;
  std::vector<std::pair<std::string, std::string>> trailers_;
  std::optional<Error> error_;
};

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_BODY_CHUNKED_BODY_H_
