#include "emulator/journal/header_capture.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/text/redact.h"
#include "emulator/journal/target_secrets.h"
#include "emulator/s3/protocol/text.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {
namespace {

constexpr std::string_view kMark = "***";
constexpr std::string_view kSeparator = ": ";

// Removes the text up to the next `end` from `rest` and returns it. Removes `end` too.
std::string_view CutUpTo(std::string_view end, std::string_view& rest) {
  const std::string_view cut = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(rest.size(), cut.size() + end.size()));
  return cut;
}

constexpr std::string_view kAlphanumeric =
    "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Cuts `value` at the first character outside `alphabet` and `others`: what follows may be a
// signature after a wrong separator.
std::string WithoutRest(std::string_view value, std::string_view alphabet,
                        std::string_view others) {
  const std::size_t end = value.find_first_not_of(std::string(alphabet).append(others));
  if (end == std::string_view::npos) return std::string(value);
  return std::string(value.substr(0, end)).append(kMark);
}

// Keeps what is known to be public: the scheme, the credential's id and scope, and the names of the
// signed headers, which have no capital letters. Another scheme than AWS's has a secret as its
// value.
std::string MaskedAuthorization(std::string_view value) {
  std::string_view rest = value;
  const std::string_view scheme = CutUpTo(" ", rest);
  std::string masked(scheme);
  if (scheme == "AWS") {  // Signature Version 2: "AWS ID:SIGNATURE"
    const std::size_t colon = rest.find(':');
    if (colon != std::string_view::npos && rest.find_first_of(" \t=,;") > colon)
      return masked.append(" ").append(rest, 0, colon) + ":***";
    return masked + " ***";
  }
  if (scheme != "AWS4-HMAC-SHA256" && scheme != "AWS4-ECDSA-P256-SHA256") return std::string(kMark);
  for (std::string_view separator = " "; !rest.empty(); separator = ", ") {
    std::string_view component = TrimBlanks(CutUpTo(",", rest));
    const std::string_view name = CutUpTo("=", component);
    masked += separator;
    if (name == "Credential") {
      masked.append(name).append("=") += WithoutRest(component, kAlphanumeric, "/-_.@");
    } else if (name == "SignedHeaders") {
      masked.append(name).append("=") +=
          WithoutRest(component, kAlphanumeric.substr(0, 36), "-_.;");
    } else if (name == "Signature") {
      masked.append(name).append("=***");
    } else {
      masked += kMark;
    }
  }
  return masked;
}

// Also headers that only proxies, other services or the user's metadata have.
bool MayNameSecret(std::string_view name) {
  if (penstock::internal::NamesSecret(name)) return true;
  std::string letters = AsciiLower(name);
  std::erase_if(letters, [](char c) { return c == '-' || c == '_'; });
  for (const std::string_view word :
       {"token", "secret", "apikey", "password", "credential", "mfa", "cookie"}) {
    if (letters.find(word) != std::string::npos) return true;
  }
  return false;
}

std::string MaskedValue(std::string_view name, std::string_view value) {
  if (s3::EqualsIgnoreCase(name, "authorization")) return MaskedAuthorization(value);
  if (MayNameSecret(name)) return std::string(kMark);
  std::string scratch;
  return std::string(FreeTextWithoutSecrets(value, scratch));
}

// Appends the line of a header if it fits. Returns false otherwise.
bool AddLine(std::string_view name, std::string_view value, std::size_t most_bytes,
             std::string& lines) {
  std::string scratch;
  std::string line(WithoutSecrets(name, scratch));
  line.append(kSeparator).append(MaskedValue(name, value));
  std::replace(line.begin(), line.end(), '\n', ' ');
  if (lines.size() + line.size() + 1 > most_bytes) return false;
  lines.append(line) += '\n';
  return true;
}

}  // namespace

CapturedHeaders CaptureHeaders(const std::vector<s3::HeaderView>& request,
                               std::string_view sent_head, std::size_t most_bytes) {
  CapturedHeaders captured;
  const std::size_t most_of_request = most_bytes - most_bytes / 4;
  for (const s3::HeaderView& header : request) {
    if (!AddLine(header.name, header.value, most_of_request, captured.request)) ++captured.left_out;
  }
  const std::size_t rest = most_bytes - captured.request.size();
  CutUpTo("\r\n", sent_head);  // the status line
  while (!sent_head.empty()) {
    std::string_view line = CutUpTo("\r\n", sent_head);
    if (line.empty()) break;
    const std::string_view name = CutUpTo(kSeparator, line);
    if (!AddLine(name, line, rest, captured.response)) ++captured.left_out;
  }
  return captured;
}

}  // namespace penstock::emulator::journal

namespace penstock::emulator {

std::vector<std::pair<std::string_view, std::string_view>> JournalHeaders(std::string_view lines) {
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  while (!lines.empty()) {
    std::string_view line = journal::CutUpTo("\n", lines);
    const std::string_view name = journal::CutUpTo(journal::kSeparator, line);
    headers.emplace_back(name, line);
  }
  return headers;
}

}  // namespace penstock::emulator
