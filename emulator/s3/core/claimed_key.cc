#include "emulator/s3/core/claimed_key.h"

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

}  // namespace penstock::emulator::s3
