// The xxHash algorithms of S3: XXHASH64, XXHASH3 (64 bits) and XXHASH128 (128 bits), all with seed
// 0.
#ifndef PENSTOCK_EMULATOR_S3_CHECKSUMS_XXHASH_DIGESTER_H_
#define PENSTOCK_EMULATOR_S3_CHECKSUMS_XXHASH_DIGESTER_H_

#include <memory>
#include <string>

#include "penstock/base/bytes.h"

namespace penstock::emulator::s3 {

enum class XxhashKind { kXxh64, kXxh3, kXxh128 };

// Digests a stream of bytes. Thread safety: one thread at a time.
class XxhashDigester {
 public:
  explicit XxhashDigester(XxhashKind kind);
  ~XxhashDigester();
  XxhashDigester(XxhashDigester&&) noexcept;
  XxhashDigester& operator=(XxhashDigester&&) noexcept;

  void Update(ByteView bytes);
  // Returns the digest of all bytes so far, big-endian: 8 bytes, or 16 for XXHASH128.
  std::string Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CHECKSUMS_XXHASH_DIGESTER_H_
