#include "emulator/s3/core/request_claims.h"

#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {

std::string_view ClaimedAccessKey(const RequestHead& head, const Target& target) {
  constexpr std::string_view kCredential = "Credential=";
  constexpr std::string_view kVersionTwo = "AWS ";
  if (const auto authorization = head.Find("authorization")) {
    if (const std::size_t at = authorization->find(kCredential); at != std::string_view::npos) {
      const std::string_view credential = authorization->substr(at + kCredential.size());
      return credential.substr(0, credential.find_first_of("/,"));
    }
    if (!authorization->starts_with(kVersionTwo)) return {};
    const std::string_view credential = authorization->substr(kVersionTwo.size());
    return credential.substr(0, credential.rfind(':'));
  }
  if (const auto credential = target.Get("X-Amz-Credential"))
    return credential->substr(0, credential->find('/'));
  return target.Get("AWSAccessKeyId").value_or(std::string_view());
}

std::optional<std::uint64_t> ClaimedAttempt(std::string_view sdk_request) {
  constexpr std::string_view kMark = "attempt=";
  const std::size_t at = sdk_request.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = sdk_request.substr(at + kMark.size());
  return ParseDecimal(number.substr(0, number.find_first_of("; ")));
}

std::optional<std::uint64_t> ClaimedRank(std::string_view header, std::string_view user_agent) {
  if (!header.empty()) {
    if (const auto rank = ParseDecimal(header)) return rank;
  }
  constexpr std::string_view kMark = "rank/";
  const std::size_t at = user_agent.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = user_agent.substr(at + kMark.size());
  return ParseDecimal(number.substr(0, number.find_first_of(" ;,)")));
}

}  // namespace penstock::emulator::s3
