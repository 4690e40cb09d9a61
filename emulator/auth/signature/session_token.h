// The credentials of a directory bucket's session (CreateSession). They are derived from the
// requester's own secret alone. The server keeps no list of them, and they stay valid after a
// restart.
//
// A token contains the owner, the bucket and the expiry, and a MAC under a key derived from the
// secret. The session's access key and secret are derived from the token.
#ifndef PENSTOCK_EMULATOR_AUTH_SIGNATURE_SESSION_TOKEN_H_
#define PENSTOCK_EMULATOR_AUTH_SIGNATURE_SESSION_TOKEN_H_

#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/protocol/directory_session.h"

namespace penstock::emulator::auth {

struct SessionClaim {
  std::string parent;  // the access key that requested the session
  s3::DirectorySession session;
};

s3::SessionCredentials IssueSession(std::string_view secret, const SessionClaim& claim);

// Returns the claim of a token without verification; nullopt if this emulator did not issue it.
std::optional<SessionClaim> ReadSessionToken(std::string_view token);

// Returns the credentials that belong to `token`; nullopt if it was not made with `secret`.
std::optional<s3::SessionCredentials> SessionOfToken(std::string_view secret,
                                                     std::string_view token);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_SIGNATURE_SESSION_TOKEN_H_
