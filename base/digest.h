// SHA-256, SHA-512, SHA-1, MD5, HMAC-SHA-256 and HMAC-SHA-1 over OpenSSL.
#ifndef PENSTOCK_BASE_DIGEST_H_
#define PENSTOCK_BASE_DIGEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/base/bytes.h"

namespace penstock {

using Sha256Digest = std::array<std::byte, 32>;
using Sha1Digest = std::array<std::byte, 20>;
using Md5Digest = std::array<std::byte, 16>;

enum class DigestAlgorithm { kSha256, kSha1, kMd5, kSha512 };

// Incremental digest. Reusable: Finish resets it. Thread safety: one thread at a time.
class Digester {
 public:
  explicit Digester(DigestAlgorithm algorithm);
  ~Digester();
  Digester(Digester&&) noexcept;
  Digester& operator=(Digester&&) noexcept;

  void Update(ByteView bytes);
  // Returns the digest of everything since construction or the last Finish, as raw bytes (16, 20,
  // 32 or 64).
  std::string Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Sha256Digest Sha256(ByteView bytes);
Sha1Digest Sha1(ByteView bytes);
Md5Digest Md5(ByteView bytes);

// HMAC-SHA-256 of `message`. `key` may have any length.
Sha256Digest HmacSha256(ByteView key, ByteView message);
Sha1Digest HmacSha1(ByteView key, ByteView message);

// An HMAC key prepared for many messages: the two padded key blocks are hashed once. The state is
// equivalent to the key, so it is as secret. Thread safety: Sign from any thread.
class HmacSha256Key {
 public:
  HmacSha256Key() : HmacSha256Key(ByteView()) {}  // of the empty key
  explicit HmacSha256Key(ByteView key);
  Sha256Digest Sign(ByteView message) const;
  bool operator==(const HmacSha256Key&) const = default;

 private:
  std::array<std::uint32_t, 8> inner_;  // SHA-256's chaining value after the inner pad
  std::array<std::uint32_t, 8> outer_;
};

// Compares in time that depends on the length only. Different lengths are unequal.
bool ConstantTimeEqual(ByteView a, ByteView b);

// Fills `into` with cryptographically strong random bytes.
void RandomBytes(MutableByteView into);

}  // namespace penstock

#endif  // PENSTOCK_BASE_DIGEST_H_
