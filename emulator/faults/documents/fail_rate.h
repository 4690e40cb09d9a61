// The Handler that answers a share of requests 503 SlowDown before anything looks at them.
//
// Which ones is decided by the request's identity and how often it was seen, never by chance or
// timing: the same seed and the same requests fail the same way on every machine, whatever the
// threads do.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_FAIL_RATE_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_FAIL_RATE_H_

#include <cstdint>
#include <memory>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

struct FailRateOptions {
  double rate = 0;  // share of requests, 0 to 1
  std::uint64_t seed = 1;
};

// Needs exchange.target parsed; a request whose target is empty passes. A request's identity is its
// method, bucket, key, partNumber and Range; its n-th arrival is decided apart from its others, so
// a retry is a new decision.
class FailRate : public s3::Handler {
 public:
  virtual std::uint64_t injected() const = 0;
  // Forgets the count and every arrival seen: the sequence of decisions starts over.
  virtual void Reset() = 0;
};

// `next` outlives the handler.
std::unique_ptr<FailRate> MakeFailRate(FailRateOptions options, s3::Handler& next);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_FAIL_RATE_H_
