// AWS Signature Version 4 for S3 requests ("AWS Signature Version 4 for API requests", AWS IAM User
// Guide).
//
// Signs path and query exactly as in Request::target: encoded once, not normalised. It is
// independent of the operation. STREAMING-* hashes can be given, but chunks are not signed here.
#ifndef PENSTOCK_CLIENT_AUTH_SIGNER_H_
#define PENSTOCK_CLIENT_AUTH_SIGNER_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/http/transport.h"
#include "penstock/base/bytes.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"
#include "penstock/credentials.h"

namespace penstock::auth {

// Values of x-amz-content-sha256.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
inline constexpr std::string_view kEmptyPayloadSha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// Returns the lower-case hex SHA-256 of a body in memory. Small XML bodies are signed with it.
std::string PayloadSha256(ByteView body);

// Whether the signature covers object bodies. S3 accepts UNSIGNED-PAYLOAD over https and http.
// kSigned reads the body once before the first byte is sent, and protects it over http.
enum class PayloadSigning { kUnsigned, kSigned };

// Header of the session token: x-amz-security-token, or x-amz-s3session-token for credentials of
// CreateSession.
enum class TokenKind { kSecurity, kS3Session };

struct SigningScope {
  std::string region;
  std::string service = "s3";
  TokenKind token = TokenKind::kSecurity;

  friend bool operator==(const SigningScope&, const SigningScope&) = default;
};

// Intermediate results, for tests and to explain SignatureDoesNotMatch. Contains no secret except
// the signature.
struct SignatureTrace {
  std::string canonical_request;
  std::string string_to_sign;
  std::string signed_headers;
  std::string signature;
};

struct SignInput {
  WallTime now{};
  // Hex SHA-256, UNSIGNED-PAYLOAD or STREAMING-...
  std::string_view payload_hash = kUnsignedPayload;
};

struct PresignInput {
  WallTime now{};
  std::chrono::seconds expires{3600};  // 1 s to 7 days.
  std::string_view payload_hash = kUnsignedPayload;
};

// Signs for one scope. Keeps the derived key of the day, so that a signature costs one short HMAC.
//
// Thread safety: may be used from any thread.
class Signer {
 public:
  explicit Signer(SigningScope scope);
  ~Signer();

  const SigningScope& scope() const { return scope_; }

  // Replaces x-amz-date, x-amz-content-sha256, the token header and Authorization of `request`.
  // x-amz-content-sha256 is set only for s3, s3express and s3-object-lambda. Signs all other
  // headers except those that a proxy may change: connection, expect, transfer-encoding,
  // user-agent, x-amzn-trace-id. Returns kInvalidArgument if the request has no Host header or its
  // target does not start with '/'. Returns kUnauthenticated if the access key id or the secret is
  // empty. `trace` may be null.
  Result<void> Sign(http::Request& request, const Credentials& credentials, const SignInput& input,
                    SignatureTrace* trace = nullptr) const;

  // Appends X-Amz-... parameters to the target. The user of the URL must send the headers of
  // `request`. Errors as in Sign, and kInvalidArgument if `expires` is outside 1 s to 604800 s.
  Result<void> Presign(http::Request& request, const Credentials& credentials,
                       const PresignInput& input, SignatureTrace* trace = nullptr) const;

  // Returns the fields that a browser form and its policy need besides the signature:
  // x-amz-algorithm, x-amz-credential, x-amz-date and x-amz-security-token ("Authenticating
  // Requests in Browser-Based Uploads Using POST", Amazon S3 API Reference). Returns
  // kUnauthenticated if the access key id or the secret is empty.
  Result<std::vector<std::pair<std::string, std::string>>> FormFields(
      const Credentials& credentials, WallTime now) const;
  // Returns the signature of a text, for example a policy as base64, as lower-case hex.
  std::string SignText(const Credentials& credentials, WallTime now, std::string_view text) const;

 private:
  struct CachedKey;
  std::shared_ptr<const CachedKey> KeyFor(const Credentials& credentials,
                                          std::string_view day) const;

  const SigningScope scope_;
  mutable Mutex mutex_;
  // Shared with signatures in progress.
  mutable std::shared_ptr<const CachedKey> cached_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_SIGNER_H_
