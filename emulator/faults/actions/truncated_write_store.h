// Stores only the first bytes of writes (CommitPartialAction).
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_TRUNCATED_WRITE_STORE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_TRUNCATED_WRITE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "emulator/s3/core/passing_store.h"

namespace penstock::emulator::faults {

// Stored objects and parts have at most `most` bytes. ETag and checksums remain those of the whole
// body, as sent to the client.
//
// Thread safety: that of the wrapped store.
class TruncatedWriteStore final : public s3::PassingStore {
 public:
  // `on_truncate` is called when a write is truncated, before it is stored.
  TruncatedWriteStore(std::shared_ptr<store::Store> inner, std::uint64_t most,
                      std::function<void()> on_truncate)
      : s3::PassingStore(std::move(inner)), most_(most), on_truncate_(std::move(on_truncate)) {}

  Result<store::PutOutcome> Put(store::PutObject request) override {
    Cut(request.record.content, request.record.size);
    return inner().Put(std::move(request));
  }
  void Put(store::PutObject request, store::Async<store::PutOutcome> later) override {
    Cut(request.record.content, request.record.size);
    inner().Put(std::move(request), std::move(later));
  }
  Result<void> Put(store::PutPart request) override {
    Cut(request.content, request.part.size);
    return inner().Put(std::move(request));
  }
  void Put(store::PutPart request, store::Async<void> later) override {
    Cut(request.content, request.part.size);
    inner().Put(std::move(request), std::move(later));
  }

 private:
  void Cut(store::Content& content, std::uint64_t& size) {
    if (content.size() <= most_) return;
    content = content.Sub({0, most_});
    size = most_;
    on_truncate_();
  }

  const std::uint64_t most_;
  const std::function<void()> on_truncate_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_TRUNCATED_WRITE_STORE_H_
