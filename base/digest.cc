// SHA-256 uses OpenSSL's low-level functions. For the short messages that SigV4 signs, the dispatch
// of EVP costs as much as the hash, and its contexts cannot be stored by value. OpenSSL 3
// deprecates these functions but does not plan to remove them.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

#include "base/first_use.h"
#include "penstock/base/check.h"

namespace penstock {
namespace {

constexpr std::size_t kSha256BlockBytes = 64;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

// With the arguments used here, OpenSSL's allocating functions fail only when memory runs out. The
// failure becomes std::bad_alloc, which ends the request and not the process.
void CheckAllocated(bool done) {
  if (!done) throw std::bad_alloc();
}

Context NewContext() {
  Context context(EVP_MD_CTX_new());
  CheckAllocated(context != nullptr);
  return context;
}

// Fetched once, because a lookup by name costs more than hashing a short message. Never freed,
// because a thread may still hash while the process exits.
const EVP_MD* Fetch(const char* name) {
  const EVP_MD* algorithm = EVP_MD_fetch(nullptr, name, nullptr);
  if (algorithm == nullptr) {
    throw std::runtime_error(std::string("OpenSSL cannot provide ") + name +
                             ": no memory, or its configuration disables it");
  }
  return algorithm;
}

const EVP_MD* Sha256Algorithm() {
  static constinit FirstUse<const EVP_MD*> algorithm;
  return algorithm.Get([] { return Fetch("SHA256"); });
}

const EVP_MD* Sha1Algorithm() {
  static constinit FirstUse<const EVP_MD*> algorithm;
  return algorithm.Get([] { return Fetch("SHA1"); });
}

const EVP_MD* Sha512Algorithm() {
  static constinit FirstUse<const EVP_MD*> algorithm;
  return algorithm.Get([] { return Fetch("SHA512"); });
}

const EVP_MD* Md5Algorithm() {
  static constinit FirstUse<const EVP_MD*> algorithm;
  return algorithm.Get([] { return Fetch("MD5"); });
}

const EVP_MD* AlgorithmOf(DigestAlgorithm algorithm) {
  switch (algorithm) {
    case DigestAlgorithm::kSha256: return Sha256Algorithm();
    case DigestAlgorithm::kSha1: return Sha1Algorithm();
    case DigestAlgorithm::kMd5: return Md5Algorithm();
    case DigestAlgorithm::kSha512: return Sha512Algorithm();
  }
  PENSTOCK_CHECK(false);
  return nullptr;
}

void Start(EVP_MD_CTX* context, const EVP_MD* algorithm) {
  CheckAllocated(EVP_DigestInit_ex2(context, algorithm, nullptr) == 1);
}

void Feed(EVP_MD_CTX* context, ByteView bytes) {
  PENSTOCK_CHECK(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
}

void Close(EVP_MD_CTX* context, std::span<std::byte> digest) {
  unsigned int size = 0;
  PENSTOCK_CHECK(
      EVP_DigestFinal_ex(context, reinterpret_cast<unsigned char*>(digest.data()), &size) == 1);
  PENSTOCK_CHECK(size == digest.size());
}

// Uses one context per thread and algorithm: restarting with the same algorithm does not allocate.
template <class Digest>
Digest OneShot(const Context& context, const EVP_MD* algorithm, ByteView bytes) {
  Digest digest;
  Start(context.get(), algorithm);
  Feed(context.get(), bytes);
  Close(context.get(), digest);
  return digest;
}

Sha256Digest CloseSha256(SHA256_CTX& context) {
  Sha256Digest digest;
  SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &context);
  return digest;
}

// Returns the chaining value after one whole block.
std::array<std::uint32_t, 8> AfterBlock(std::span<const std::byte, kSha256BlockBytes> block) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, block.data(), block.size());
  std::array<std::uint32_t, 8> value;
  std::copy_n(context.h, value.size(), value.begin());
  OPENSSL_cleanse(&context, sizeof context);
  return value;
}

// Returns the SHA-256 of the block that led to `value`, followed by `rest`.
Sha256Digest HashFrom(const std::array<std::uint32_t, 8>& value, ByteView rest) {
  SHA256_CTX context;
  SHA256_Init(&context);
  std::copy(value.begin(), value.end(), context.h);
  context.Nl = kSha256BlockBytes * 8;  // bits hashed so far
  SHA256_Update(&context, rest.data(), rest.size());
  return CloseSha256(context);
}

using HmacBlock = std::array<std::byte, kSha256BlockBytes>;

HmacBlock Mask(const HmacBlock& key, std::byte with) {
  HmacBlock masked;
  for (std::size_t i = 0; i < masked.size(); ++i) masked[i] = key[i] ^ with;
  return masked;
}

}  // namespace

struct Digester::Impl {
  // Null for MD5: every object has an MD5, however small, and its state needs no allocation.
  Context context;
  const EVP_MD* algorithm;
  MD5_CTX md5;

  void Start() {
    context ? penstock::Start(context.get(), algorithm) : static_cast<void>(MD5_Init(&md5));
  }
};

Digester::Digester(DigestAlgorithm algorithm) : impl_(std::make_unique<Impl>()) {
  impl_->algorithm = AlgorithmOf(algorithm);
  if (algorithm != DigestAlgorithm::kMd5) impl_->context = NewContext();
  impl_->Start();
}

Digester::~Digester() = default;
Digester::Digester(Digester&&) noexcept = default;
Digester& Digester::operator=(Digester&&) noexcept = default;

void Digester::Update(ByteView bytes) {
  impl_->context ? Feed(impl_->context.get(), bytes)
                 : static_cast<void>(MD5_Update(&impl_->md5, bytes.data(), bytes.size()));
}

std::string Digester::Finish() {
  std::string digest(static_cast<std::size_t>(EVP_MD_get_size(impl_->algorithm)), '\0');
  if (impl_->context) {
    Close(impl_->context.get(), std::as_writable_bytes(std::span(digest)));
  } else {
    MD5_Final(reinterpret_cast<unsigned char*>(digest.data()), &impl_->md5);
  }
  impl_->Start();
  return digest;
}

Sha256Digest Sha256(ByteView bytes) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  return CloseSha256(context);
}

Sha1Digest Sha1(ByteView bytes) {
  thread_local const Context context = NewContext();
  return OneShot<Sha1Digest>(context, Sha1Algorithm(), bytes);
}

Md5Digest Md5(ByteView bytes) {
  thread_local const Context context = NewContext();
  return OneShot<Md5Digest>(context, Md5Algorithm(), bytes);
}

// RFC 2104.
HmacSha256Key::HmacSha256Key(ByteView key) {
  HmacBlock block{};
  if (key.size() > block.size()) {
    const Sha256Digest hashed = Sha256(key);
    std::copy(hashed.begin(), hashed.end(), block.begin());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  HmacBlock inner_pad = Mask(block, std::byte{0x36});
  HmacBlock outer_pad = Mask(block, std::byte{0x5C});
  inner_ = AfterBlock(inner_pad);
  outer_ = AfterBlock(outer_pad);
  OPENSSL_cleanse(block.data(), block.size());
  OPENSSL_cleanse(inner_pad.data(), inner_pad.size());
  OPENSSL_cleanse(outer_pad.data(), outer_pad.size());
}

Sha256Digest HmacSha256Key::Sign(ByteView message) const {
  return HashFrom(outer_, HashFrom(inner_, message));
}

Sha256Digest HmacSha256(ByteView key, ByteView message) { return HmacSha256Key(key).Sign(message); }

Sha1Digest HmacSha1(ByteView key, ByteView message) {
  Sha1Digest digest;
  unsigned int size = 0;
  // OpenSSL does not accept a null pointer, even for an empty key.
  static constexpr std::byte kEmptyKey{};
  const void* const key_data = key.empty() ? &kEmptyKey : key.data();
  CheckAllocated(HMAC(EVP_sha1(), key_data, static_cast<int>(key.size()),
                      reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                      reinterpret_cast<unsigned char*>(digest.data()), &size) != nullptr);
  PENSTOCK_CHECK(size == digest.size());
  return digest;
}

bool ConstantTimeEqual(ByteView a, ByteView b) {
  if (a.size() != b.size()) return false;
  return a.empty() || CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// The kernel's random generator needs no memory, so this cannot fail with out-of-memory.
void RandomBytes(MutableByteView into) {
  while (!into.empty()) {
    const ssize_t count = ::getrandom(into.data(), into.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    PENSTOCK_CHECK(count > 0);
    into = into.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace penstock
