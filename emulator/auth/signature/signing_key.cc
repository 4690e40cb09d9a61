#include "emulator/auth/signature/signing_key.h"

#include <utility>

#include "base/encoding.h"

namespace penstock::emulator::auth {

Sha256Digest DeriveSigningKey(const SigningScope& scope) {
  std::string start = "AWS4";
  start += scope.secret;
  Sha256Digest key = HmacSha256(AsBytes(start), AsBytes(scope.day));
  key = HmacSha256(key, AsBytes(scope.region));
  key = HmacSha256(key, AsBytes(scope.service));
  return HmacSha256(key, AsBytes("aws4_request"));
}

std::string Signature(const HmacSha256Key& key, std::string_view string_to_sign) {
  return HexEncode(key.Sign(AsBytes(string_to_sign)));
}

HmacSha256Key SigningKeyCache::Get(const SigningScope& scope) {
  std::string name;
  name.reserve(scope.secret.size() + scope.day.size() + scope.region.size() + scope.service.size() +
               3);
  for (const std::string_view piece : {scope.day, scope.region, scope.service}) {
    name += piece;
    name += '\0';
  }
  name += scope.secret;
  {
    const ReaderLock lock(mutex_);
    const auto found = keys_.find(name);
    if (found != keys_.end()) return found->second;
  }
  const HmacSha256Key key(DeriveSigningKey(scope));
  const WriterLock lock(mutex_);
  if (keys_.size() >= kLimit) keys_.clear();
  keys_.emplace(std::move(name), key);
  return key;
}

}  // namespace penstock::emulator::auth
