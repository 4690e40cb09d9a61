// AWS Signature Version 4, as S3's client side needs it (spec/protocol.md §2.14).
//
// Signs what will be sent: the path and query exactly as they stand in Request::target, encoded
// once, not normalised. Does not know verbs, and does not stream-sign bodies (STREAMING-* hashes
// may be named; the chunks are not made here).
#ifndef PENSTOCK_CLIENT_AUTH_SIGNER_H_
#define PENSTOCK_CLIENT_AUTH_SIGNER_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

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

// Lower-case hex SHA-256 of a body that is in memory (the small XML bodies are signed with it).
std::string PayloadSha256(ByteView body);

// How object bodies are covered by the signature. S3 accepts UNSIGNED-PAYLOAD over https and over
// plain http, and hashing a body costs a pass over it before the first byte can leave; kSigned buys
// integrity on plain http.
enum class PayloadSigning { kUnsigned, kSigned };

// Where the token of the credentials goes: x-amz-security-token, or, for those that CreateSession
// gave out, x-amz-s3session-token.
enum class TokenKind { kSecurity, kS3Session };

struct SigningScope {
  std::string region;
  std::string service = "s3";
  TokenKind token = TokenKind::kSecurity;

  friend bool operator==(const SigningScope&, const SigningScope&) = default;
};

// What was computed, for tests and for explaining a SignatureDoesNotMatch. Holds no secret but the
// signature.
struct SignatureTrace {
  std::string canonical_request;
  std::string string_to_sign;
  std::string signed_headers;
  std::string signature;
};

struct SignInput {
  WallTime now{};
  // hex SHA-256, UNSIGNED-PAYLOAD or STREAMING-...
  std::string_view payload_hash = kUnsignedPayload;
};

struct PresignInput {
  WallTime now{};
  std::chrono::seconds expires{3600};  // 1 s to 7 days
  std::string_view payload_hash = kUnsignedPayload;
};

// Signs for one scope; keeps the derived key of the day, so that a signature costs one short HMAC.
//
// Thread safety: safe from any thread.
class Signer {
 public:
  explicit Signer(SigningScope scope);
  ~Signer();

  const SigningScope& scope() const { return scope_; }

  // Replaces x-amz-date, x-amz-content-sha256, the token header and Authorization of `request` by
  // those of this attempt. (x-amz-content-sha256 for S3's services only: s3, s3express,
  // s3-object-lambda.) Signs every header present except those a hop may touch: connection, expect,
  // transfer-encoding, user-agent, x-amzn-trace-id. kInvalidArgument when the request has no Host
  // header, or a target that does not start with '/'; kUnauthenticated when the key id or secret is
  // empty. `trace` may be null.
  Result<void> Sign(http::Request& request, const Credentials& credentials, const SignInput& input,
                    SignatureTrace* trace = nullptr) const;

  // Appends X-Amz-... parameters to the target; the headers of `request` are the ones the user of
  // the URL must send. Errors as Sign, and kInvalidArgument when `expires` is not within 1 s to
  // 604800 s.
  Result<void> Presign(http::Request& request, const Credentials& credentials,
                       const PresignInput& input, SignatureTrace* trace = nullptr) const;

 private:
  struct CachedKey;
  std::shared_ptr<const CachedKey> KeyFor(const Credentials& credentials,
                                          std::string_view day) const;

  const SigningScope scope_;
  mutable Mutex mutex_;
  // shared with signatures in progress
  mutable std::shared_ptr<const CachedKey> cached_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_SIGNER_H_
