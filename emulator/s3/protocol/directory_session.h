// Sessions of directory buckets (spec/protocol.md §1.3): what one permits, and who makes its
// credentials.
//
// The keys and tokens themselves are auth's.
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
  std::string bucket;  // empty: any directory bucket of the requester's
  bool read_only = false;
  // Server-side encryption of what is written in it; empty: the bucket's default.
  std::string encryption;   // "AES256", "aws:kms"
  std::string kms_key_id;   // as asked for
  std::string kms_context;  // base64
  WallTime expires{};
};

struct SessionCredentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
};

// Makes credentials in the requester's name.
class SessionIssuer {
 public:
  virtual ~SessionIssuer() = default;
  virtual SessionCredentials Issue(const DirectorySession& session) const = 0;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_SESSION_H_
