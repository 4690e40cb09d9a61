// A filter that rejects a share of requests with 503 SlowDown before any other processing.
//
// The decision depends on the request's identity and on how often it was seen. It does not depend
// on timing: the same seed and the same requests fail in the same way on every machine.
#ifndef PENSTOCK_EMULATOR_FAULTS_FAIL_RATE_H_
#define PENSTOCK_EMULATOR_FAULTS_FAIL_RATE_H_

#include <cstdint>
#include <memory>

#include "emulator/s3/core/filter_chain.h"

namespace penstock::emulator::faults {

struct FailRateOptions {
  double rate = 0;  // Share of requests, 0 to 1.
  std::uint64_t seed = 1;
};

// A request's identity is its method, bucket, key, partNumber and Range. Each arrival of an
// identity is decided separately, so a retry gets a new decision.
class FailRate : public s3::Filter {
 public:
  virtual std::uint64_t injected() const = 0;
  // Clears the count and all arrivals: the sequence of decisions starts over.
  virtual void Reset() = 0;
};

std::unique_ptr<FailRate> MakeFailRate(FailRateOptions options);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_FAIL_RATE_H_
