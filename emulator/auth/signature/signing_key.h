// SigV4 signing keys, derived once per (secret, day, region, service) and cached.
#ifndef PENSTOCK_EMULATOR_AUTH_SIGNATURE_SIGNING_KEY_H_
#define PENSTOCK_EMULATOR_AUTH_SIGNATURE_SIGNING_KEY_H_

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/digest.h"
#include "penstock/base/shared_mutex.h"

namespace penstock::emulator::auth {

struct SigningScope {
  std::string_view secret;
  std::string_view day;  // "20130524"
  std::string_view region;
  std::string_view service;
};

// HMAC chain "AWS4"+secret -> day -> region -> service -> "aws4_request".
Sha256Digest DeriveSigningKey(const SigningScope& scope);

// hex(HMAC(key, string_to_sign))
std::string Signature(const HmacSha256Key& key, std::string_view string_to_sign);

// Thread safety: any thread. Holds at most kLimit keys, then discards all of them.
class SigningKeyCache {
 public:
  static constexpr std::size_t kLimit = 1024;
  HmacSha256Key Get(const SigningScope& scope);

 private:
  SharedMutex mutex_;
  std::unordered_map<std::string, HmacSha256Key> keys_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_SIGNATURE_SIGNING_KEY_H_
