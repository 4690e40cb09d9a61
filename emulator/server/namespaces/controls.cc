#include "emulator/server/namespaces/controls.h"

namespace penstock::emulator::server {
namespace {

// No other class derives from NamespaceControls.
TestControls* ControlsOf(const s3::Exchange& exchange) {
  return exchange.space ? static_cast<TestControls*>(exchange.space->controls.get()) : nullptr;
}

}  // namespace

TestControls::TestControls(const TestControlOptions& options, const Clock& clock)
    : faults_(clock), limiter_(clock) {
  if (options.throttle) limiter_.Set(options.throttle);
  if (options.journal_bytes > 0) journal_.emplace(options.journal_bytes, clock.Monotonic());
}

Result<std::shared_ptr<TestControls>> TestControls::Open(const TestControlOptions& options,
                                                         const Clock& clock) {
  std::shared_ptr<TestControls> controls(new TestControls(options, clock));
  if (options.scenario)
    PENSTOCK_TRY(controls->faults().Start(options.scenario, /*by_default=*/true));
  return controls;
}

faults::FaultRegistry* RegistryOf(const s3::Exchange& exchange) {
  TestControls* const controls = ControlsOf(exchange);
  return controls != nullptr ? &controls->faults() : nullptr;
}

traffic::RateLimiter* LimiterOf(const s3::Exchange& exchange) {
  TestControls* const controls = ControlsOf(exchange);
  return controls != nullptr ? &controls->limiter() : nullptr;
}

journal::Journal* JournalOf(const s3::Exchange& exchange) {
  TestControls* const controls = ControlsOf(exchange);
  return controls != nullptr ? controls->journal() : nullptr;
}

}  // namespace penstock::emulator::server
