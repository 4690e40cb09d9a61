// The test controls of a namespace: faults, limits and a journal.
//
// A reset restores their initial state, like that of the buckets. Reached through s3::Namespace.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_CONTROLS_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_CONTROLS_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "emulator/faults/registry/fault_registry.h"
#include "emulator/journal/journal.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/traffic/rate_limiter.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::server {

// The initial state of a namespace's controls, also after a reset.
struct TestControlOptions {
  std::size_t journal_bytes = 16 << 20;                       // Size of the journal. 0: no journal.
  std::shared_ptr<const faults::Scenario> scenario;           // null: none
  std::shared_ptr<const traffic::ThrottleSettings> throttle;  // null: no limits
};

// Thread safety: safe from any thread.
class TestControls final : public s3::NamespaceControls {
 public:
  // `clock`: the namespace's clock; must outlive this object. Returns the errors of CheckScenario.
  static Result<std::shared_ptr<TestControls>> Open(const TestControlOptions& options,
                                                    const Clock& clock);

  faults::FaultRegistry& faults() { return faults_; }
  traffic::RateLimiter& limiter() { return limiter_; }
  journal::Journal* journal() { return journal_ ? &*journal_ : nullptr; }  // Null: no journal.

 private:
  TestControls(const TestControlOptions& options, const Clock& clock);

  faults::FaultRegistry faults_;
  traffic::RateLimiter limiter_;
  std::optional<journal::Journal> journal_;
};

// Each returns the control of the request's namespace, or null if it has none.
faults::FaultRegistry* RegistryOf(const s3::Exchange& exchange);
traffic::RateLimiter* LimiterOf(const s3::Exchange& exchange);
journal::Journal* JournalOf(const s3::Exchange& exchange);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_CONTROLS_H_
