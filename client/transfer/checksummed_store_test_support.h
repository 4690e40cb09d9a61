// A store whose responses for whole objects have a CRC64NVME, for tests of checksum verification.
#ifndef PENSTOCK_CLIENT_TRANSFER_CHECKSUMMED_STORE_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_TRANSFER_CHECKSUMMED_STORE_TEST_SUPPORT_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/crc/crc.h"
#include "base/encoding.h"
#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {

inline std::string Crc64Text(ByteView bytes) {
  const std::uint64_t value = Crc64Nvme(bytes);
  std::vector<std::byte> big_endian;
  for (int shift = 56; shift >= 0; shift -= 8)
    big_endian.push_back(static_cast<std::byte>(value >> shift));
  return Base64Encode(big_endian);
}

// Adds a checksum to responses that cover a whole object, as S3 does. Can flip a bit of the
// delivered bytes.
class ChecksummedStore final : public penstock::testing::FaultyObjectStore {
 public:
  ChecksummedStore(std::shared_ptr<ObjectStore> inner, std::string checksum,
                   penstock::testing::FaultHook hook = nullptr)
      : FaultyObjectStore(std::move(inner), std::move(hook)), checksum_(std::move(checksum)) {}

  std::optional<std::uint64_t> flip;  // offset of the byte to flip when it is delivered
  std::atomic<int> flips_left = 1'000'000;
  bool repeats = true;            // whether max_attempts is more than 1
  std::atomic<int> followed = 0;  // responses whose checksum the caller computes itself

  bool may_repeat() const override { return repeats; }
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    const std::uint64_t begin = request.range ? *request.range->begin : 0;
    auto sink = std::make_shared<Sink>(*this, *request.sink, begin, !request.range.has_value());
    request.sink = sink.get();
    FaultyObjectStore::Start(
        std::move(request),
        [sink, done = std::move(done)](Result<ObjectMetadata> result) { done(std::move(result)); });
  }

 private:
  class Sink final : public BodySink {
   public:
    Sink(ChecksummedStore& store, BodySink& inner, std::uint64_t begin, bool whole)
        : store_(store), inner_(inner), begin_(begin), whole_(whole) {}
    Result<void> Begin(const ObjectMetadata& metadata,
                       std::optional<std::uint64_t> length) override {
      position_ = begin_;
      ObjectMetadata with = metadata;
      if (whole_) with.checksums = {{"crc64nvme", store_.checksum_}};
      auto begun = inner_.Begin(with, length);
      if (whole_ && inner_.FollowsChecksum()) ++store_.followed;
      return begun;
    }
    bool FollowsChecksum() const override { return inner_.FollowsChecksum(); }
    MutableByteView Window() override { return window_ = inner_.Window(); }
    Result<void> Commit(std::size_t count) override {
      if (store_.flip && *store_.flip >= position_ && *store_.flip < position_ + count &&
          store_.flips_left-- > 0) {
        window_[*store_.flip - position_] ^= std::byte{1};
      }
      position_ += count;
      return inner_.Commit(count);
    }

   private:
    ChecksummedStore& store_;
    BodySink& inner_;
    const std::uint64_t begin_;
    const bool whole_;
    std::uint64_t position_ = 0;
    MutableByteView window_;
  };

  const std::string checksum_;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_CHECKSUMMED_STORE_TEST_SUPPORT_H_
