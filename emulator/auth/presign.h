// Presigned URLs of the emulator's own access keys, for clients of the admin API.
#ifndef PENSTOCK_EMULATOR_AUTH_PRESIGN_H_
#define PENSTOCK_EMULATOR_AUTH_PRESIGN_H_

#include <chrono>
#include <string>

#include "emulator/auth/auth.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::auth {

struct PresignTerms {
  std::string method;
  std::string host;   // with the port, as in the Host header
  std::string path;   // percent-encoded
  std::string query;  // percent-encoded; may be empty
  std::string region;
  WallTime now{};  // by the clock of the namespace
  std::chrono::seconds expires{};
};

// Returns path and query with a signature of version 4 over any body. The user must have no session
// token.
std::string PresignedTarget(const User& user, const PresignTerms& terms);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_PRESIGN_H_
