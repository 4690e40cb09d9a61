#include "emulator/auth/signature/session_token.h"

#include <array>
#include <charconv>
#include <vector>

#include "base/digest.h"
#include "base/encoding.h"

namespace penstock::emulator::auth {
namespace {

// Lines: this mark, parent, bucket, mode, expiry in seconds since 1970, three of encryption, a
// nonce. The MAC follows. No line can contain a line break, because headers cannot.
constexpr std::string_view kMark = "penstock-session-1";
constexpr std::size_t kLines = 9;
constexpr std::size_t kMacBytes = 32;
constexpr std::size_t kKeyIdDigits = 16;
// Within the range of the clock. The number is read before the token is verified.
constexpr long long kLastSecond = 9'000'000'000;
constexpr std::string_view kReadOnly = "ro";
constexpr std::string_view kReadWrite = "rw";

// Derives a separate key for each purpose, so that one reveals nothing about another.
Sha256Digest Derive(std::string_view secret, std::string_view purpose, std::string_view text) {
  const Sha256Digest key = HmacSha256(AsBytes(secret), AsBytes(purpose));
  return HmacSha256(key, AsBytes(text));
}

std::string Pack(const SessionClaim& claim) {
  std::array<std::byte, 12> nonce;
  RandomBytes(nonce);
  const s3::DirectorySession& session = claim.session;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(session.expires.time_since_epoch()).count();
  const std::string expires = std::to_string(seconds);
  const std::string random = HexEncode(nonce);
  std::string packed(kMark);
  for (const std::string_view line :
       {std::string_view(claim.parent), std::string_view(session.bucket),
        session.read_only ? kReadOnly : kReadWrite, std::string_view(expires),
        std::string_view(session.encryption), std::string_view(session.kms_key_id),
        std::string_view(session.kms_context), std::string_view(random)}) {
    packed.append("\n").append(line);
  }
  return packed;
}

std::vector<std::string_view> Lines(std::string_view packed) {
  std::vector<std::string_view> lines;
  for (;;) {
    const auto end = packed.find('\n');
    lines.push_back(packed.substr(0, end));
    if (end == std::string_view::npos) return lines;
    packed.remove_prefix(end + 1);
  }
}

s3::SessionCredentials Credentials(std::string_view secret, std::string_view packed,
                                   std::string token) {
  s3::SessionCredentials credentials;
  const std::string id =
      HexEncode(Derive(secret, "session access key", packed)).substr(0, kKeyIdDigits);
  credentials.access_key_id = "ASIA";
  for (const char c : id)
    credentials.access_key_id += c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
  credentials.secret_access_key = Base64Encode(Derive(secret, "session secret key", packed));
  credentials.session_token = std::move(token);
  return credentials;
}

}  // namespace

s3::SessionCredentials IssueSession(std::string_view secret, const SessionClaim& claim) {
  const std::string packed = Pack(claim);
  const Sha256Digest mac = Derive(secret, "session token", packed);
  return Credentials(secret, packed, Base64Encode(AsBytes(packed + std::string(AsText(mac)))));
}

std::optional<SessionClaim> ReadSessionToken(std::string_view token) {
  const auto raw = Base64Decode(token);
  if (!raw || raw->size() <= kMacBytes) return std::nullopt;
  const std::vector<std::string_view> lines =
      Lines(std::string_view(*raw).substr(0, raw->size() - kMacBytes));
  if (lines.size() != kLines || lines[0] != kMark) return std::nullopt;
  if (lines[3] != kReadOnly && lines[3] != kReadWrite) return std::nullopt;
  long long expires = 0;
  const auto parsed = std::from_chars(lines[4].data(), lines[4].data() + lines[4].size(), expires);
  if (parsed.ec != std::errc() || parsed.ptr != lines[4].data() + lines[4].size())
    return std::nullopt;
  if (expires < 0 || expires > kLastSecond) return std::nullopt;
  SessionClaim claim;
  claim.parent = lines[1];
  claim.session = {.bucket = std::string(lines[2]),
                   .read_only = lines[3] == kReadOnly,
                   .encryption = std::string(lines[5]),
                   .kms_key_id = std::string(lines[6]),
                   .kms_context = std::string(lines[7]),
                   .expires = WallTime(std::chrono::seconds(expires))};
  return claim;
}

std::optional<s3::SessionCredentials> SessionOfToken(std::string_view secret,
                                                     std::string_view token) {
  const auto raw = Base64Decode(token);
  if (!raw || raw->size() <= kMacBytes) return std::nullopt;
  const std::string_view packed = std::string_view(*raw).substr(0, raw->size() - kMacBytes);
  const std::string_view mac = std::string_view(*raw).substr(packed.size());
  if (!ConstantTimeEqual(AsBytes(mac), Derive(secret, "session token", packed)))
    return std::nullopt;
  return Credentials(secret, packed, std::string(token));
}

}  // namespace penstock::emulator::auth
