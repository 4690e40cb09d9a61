#include "emulator/journal/header_capture.h"

#include <algorithm>
#include <utility>

#include "base/text/redact.h"
#include "emulator/journal/target_secrets.h"
#include "emulator/s3/protocol/text.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {
namespace {

constexpr std::string_view kMark = "***";
constexpr std::string_view kSeparator = ": ";

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// Removes the text up to the next `end` from `rest` and returns it. Removes `end` too.
std::string_view CutUpTo(std::string_view end, std::string_view& rest) {
  const std::string_view cut = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(rest.size(), cut.size() + end.size()));
  return cut;
}

// Keeps what is known to be public: the scheme, the credential's id and scope, and the names of the
// signed headers. Another scheme than AWS's has a secret as its value.
std::string MaskedAuthorization(std::string_view value) {
  std::string_view rest = value;
  const std::string_view scheme = CutUpTo(" ", rest);
  std::string masked(scheme);
  if (scheme == "AWS") {  // Signature Version 2: "AWS ID:SIGNATURE"
    const std::size_t colon = rest.find(':');
    if (colon != std::string_view::npos) return masked.append(" ").append(rest, 0, colon) + ":***";
    return masked + " ***";
  }
  if (!scheme.starts_with("AWS4-")) return std::string(kMark);
  for (std::string_view separator = " "; !rest.empty(); separator = ", ") {
    std::string_view component = Trimmed(CutUpTo(",", rest));
    const std::string_view whole = component;
    const std::string_view name = CutUpTo("=", component);
    masked += separator;
    if (name == "Credential" || name == "SignedHeaders") {
      masked += whole;
    } else if (name == "Signature") {
      masked.append(name).append("=***");
    } else {
      masked += kMark;
    }
  }
  return masked;
}

std::string MaskedValue(std::string_view name, std::string_view value) {
  if (s3::EqualsIgnoreCase(name, "authorization")) return MaskedAuthorization(value);
  if (penstock::internal::NamesSecret(name) || s3::EqualsIgnoreCase(name, "cookie") ||
      s3::EqualsIgnoreCase(name, "set-cookie"))
    return std::string(kMark);
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
