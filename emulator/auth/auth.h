// The Handler that lets only verified requests through: SigV4 header and presigned, body claims checked.
//
// Written from spec/protocol.md §2.13, §2.14 alone and never from the client's signer: their agreement is evidence.
#ifndef PENSTOCK_EMULATOR_AUTH_AUTH_H_
#define PENSTOCK_EMULATOR_AUTH_AUTH_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/api/exchange.h"

namespace penstock::emulator::auth {

// One access key. `secret_access_key` never leaves this module.
struct User {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // required on requests when set
  api::Identity identity;
};

// Finds users and universes. Thread safety: safe from any thread.
class Directory {
 public:
  virtual ~Directory() = default;
  virtual std::optional<User> FindUser(std::string_view access_key_id) const = 0;
  // The universe of an identity (anonymous requests use the default one). Never null.
  virtual std::shared_ptr<api::Namespace> NamespaceFor(const api::Identity& identity) const = 0;
};

struct AuthOptions {
  std::string region = "us-east-1";
  api::HostRules hosts;
  bool allow_anonymous = false;  // an emulator without access keys checks nothing
};

// Parses the target, verifies, fills identity, space and operation, wraps the body, then calls `next`.
// `directory` and `next` outlive the handler.
std::unique_ptr<api::Handler> MakeAuth(AuthOptions options, const Directory& directory, api::Handler& next);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_AUTH_H_
