#include "emulator/s3/protocol/sdk_attempt.h"

#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {

std::optional<std::uint64_t> ClaimedAttempt(std::string_view sdk_request) {
  constexpr std::string_view kMark = "attempt=";
  const std::size_t at = sdk_request.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = sdk_request.substr(at + kMark.size());
  return ParseDecimal(number.substr(0, number.find_first_of("; ")));
}

}  // namespace penstock::emulator::s3
