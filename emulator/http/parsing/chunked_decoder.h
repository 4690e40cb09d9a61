// Decodes Transfer-Encoding: chunked (RFC 9112 section 7.1). Pure: no I/O.
//
// S3's aws-chunked encoding inside the body is decoded in emulator/auth/body.
#ifndef PENSTOCK_EMULATOR_HTTP_PARSING_CHUNKED_DECODER_H_
#define PENSTOCK_EMULATOR_HTTP_PARSING_CHUNKED_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::http {

// Usage, while not done(): if data_left() > 0, the next data_left() bytes are body bytes; report
// them with TakeData(). Otherwise pass the next bytes to Advance().
class ChunkedDecoder {
 public:
  static constexpr std::size_t kMaxLineBytes =
      4096;  // one size line with its extensions, or one trailer
  static constexpr std::size_t kMaxTrailerBytes = 16384;  // all trailers
  static constexpr std::size_t kMaxTrailers = 64;

  // Consumes framing from the front of `input` until chunk data begins, the body ends or the input
  // is used up. Returns the number of consumed bytes. Returns IncompleteBody (400) for malformed
  // framing; the decoder must not be used afterwards.
  Result<std::size_t> Advance(std::string_view input);

  std::uint64_t data_left() const { return data_left_; }
  void TakeData(std::uint64_t bytes);  // at most data_left()
  bool done() const { return state_ == State::kDone; }

  // Names in lower case, values trimmed; complete once done().
  const std::vector<std::pair<std::string, std::string>>& trailers() const { return trailers_; }

 private:
  enum class State { kSizeLine, kData, kDataEnd, kTrailerLine, kDone };

  Result<void> EndLine();
  Result<void> ReadSizeLine();
  Result<void> ReadTrailerLine();

  State state_ = State::kSizeLine;
  std::uint64_t data_left_ = 0;
  std::string line_;
  std::size_t trailer_bytes_ = 0;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_PARSING_CHUNKED_DECODER_H_
