// Request bodies for an operation that runs twice (DuplicateAction).
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLAYED_BODY_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLAYED_BODY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// Forwards the bytes of `inner` and keeps a copy.
//
// Thread safety: one thread at a time.
class KeptBody final : public s3::BodyWrapper {
 public:
  static constexpr std::size_t kMost = 64 << 20;

  using BodyWrapper::BodyWrapper;

  Result<std::size_t> Read(MutableByteView buffer) override {
    PENSTOCK_ASSIGN(const std::size_t got, inner().Read(buffer));
    whole_ = whole_ && kept_.size() + got <= kMost;
    if (whole_) {
      kept_.append(reinterpret_cast<const char*>(buffer.data()), got);
    } else {
      kept_ = {};
    }
    return got;
  }

  // Whether every byte was kept: the body has at most kMost bytes.
  bool whole() const { return whole_; }
  const std::string& kept() const { return kept_; }

 private:
  std::string kept_;
  bool whole_ = true;
};

// Reads the kept bytes again.
//
// Thread safety: one thread at a time.
class RepeatedBody final : public s3::BodyWrapper {
 public:
  // Both must outlive this object.
  RepeatedBody(s3::BodyReader& inner, const KeptBody& first) : BodyWrapper(inner), first_(first) {}

  Result<std::size_t> Read(MutableByteView buffer) override {
    const std::size_t count = std::min(buffer.size(), first_.kept().size() - at_);
    std::memcpy(buffer.data(), first_.kept().data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  const KeptBody& first_;
  std::size_t at_ = 0;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLAYED_BODY_H_
