// Writes of which the beginning alone is kept (CommitPartialAction).
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_TRUNCATED_WRITE_STORE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_TRUNCATED_WRITE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "emulator/faults/actions/passing_store.h"

namespace penstock::emulator::faults {

// What is put is as long as its first bytes; ETag and checksums stay those of all of them, as the
// client is told.
//
// Thread safety: the inner one's.
class TruncatedWriteStore final : public PassingStore {
 public:
  // `torn` is called when a write is cut, before it is done.
  TruncatedWriteStore(std::shared_ptr<store::Store> inner, std::uint64_t most,
                      std::function<void()> torn)
      : PassingStore(std::move(inner)), most_(most), torn_(std::move(torn)) {}

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
    torn_();
  }

  const std::uint64_t most_;
  const std::function<void()> torn_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_TRUNCATED_WRITE_STORE_H_
