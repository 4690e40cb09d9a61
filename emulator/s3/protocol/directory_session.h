// Sessions of directory buckets: what a session permits, and the interface that issues its
// credentials (Amazon S3 API Reference, "CreateSession").
//
// emulator/auth stores the access keys and tokens.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_SESSION_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_SESSION_H_

#include <chrono>
#include <string>
#include <string_view>

#include "penstock/base/clock.h"

namespace penstock::emulator::s3 {

inline constexpr std::chrono::minutes kSessionLifetime{5};
inline constexpr std::string_view kSessionTokenHeader = "x-amz-s3session-token";

// What CreateSession grants for one bucket.
struct DirectorySession {
  std::string bucket;  // Empty: any directory bucket of the account.
  bool read_only = false;
  // Default server-side encryption of writes in the session. Empty: the bucket's default.
  std::string encryption;   // "AES256", "aws:kms"
  std::string kms_key_id;   // As in the request.
  std::string kms_context;  // Base64.
  WallTime expires{};
};

struct SessionCredentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
};

// Issues session credentials for the requester.
class SessionIssuer {
 public:
  virtual ~SessionIssuer() = default;
  virtual SessionCredentials Issue(const DirectorySession& session) const = 0;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_SESSION_H_
