#include "emulator/instruments/target_secrets.h"

#include <algorithm>
#include <array>

#include "emulator/api/text.h"

namespace penstock::emulator::instruments {
namespace {

constexpr std::string_view kMark = "***";

// In any case and however it is percent-encoded: what is no credential to S3 may still be the client's.
bool NamesSecret(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kSecrets{
      "x-amz-signature", "x-amz-security-token", "signature", "x-amz-s3session-token", "x-amz-server-side-encryption-customer-key",
      "x-amz-copy-source-server-side-encryption-customer-key"};
  const auto named = [](std::string_view plain) {
    return std::any_of(kSecrets.begin(), kSecrets.end(), [plain](std::string_view secret) { return api::EqualsIgnoreCase(plain, secret); });
  };
  if (name.find('%') == std::string_view::npos) return named(name);
  const auto decoded = api::PercentDecode(name, {});
  return decoded && named(*decoded);
}

}  // namespace

std::string_view WithoutSecrets(std::string_view target, std::string& scratch) {
  std::size_t begin = target.find('?');
  std::size_t kept = 0;  // of target, so far in scratch
  scratch.clear();
  while (begin < target.size()) {
    ++begin;  // behind '?' or '&'
    const std::size_t end = std::min(target.find('&', begin), target.size());
    const std::size_t equals = target.find('=', begin);
    if (equals < end && equals + 1 < end && NamesSecret(target.substr(begin, equals - begin))) {
      scratch.append(target, kept, equals + 1 - kept).append(kMark);
      kept = end;
    }
    begin = end;
  }
  if (kept == 0) return target;
  return scratch.append(target, kept);
}

}  // namespace penstock::emulator::instruments
