// The credentials of a directory bucket's session (spec/protocol.md §1.3): made from the
// requester's own secret and nothing else, so that they outlive this process and nobody keeps a
// list of them.
//
// A token says whose session it is, for which bucket and how long, and carries a MAC under a key
// that comes of the secret. The session's access key and secret come of the token.
#ifndef PENSTOCK_EMULATOR_AUTH_SESSION_TOKEN_H_
#define PENSTOCK_EMULATOR_AUTH_SESSION_TOKEN_H_

#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/protocol/directory_session.h"

namespace penstock::emulator::auth {

struct SessionClaim {
  std::string parent;  // the access key that asked for the session
  s3::DirectorySession session;
};

s3::SessionCredentials IssueSession(std::string_view secret, const SessionClaim& claim);

// What the token says, verified by nobody; nullopt when it is none of ours.
std::optional<SessionClaim> ReadSessionToken(std::string_view token);

// The credentials that went with `token`; nullopt when it was not made with `secret`.
std::optional<s3::SessionCredentials> SessionOfToken(std::string_view secret,
                                                     std::string_view token);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_SESSION_TOKEN_H_
