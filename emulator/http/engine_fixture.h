// Set-up shared by the tests of the engine.
#ifndef PENSTOCK_EMULATOR_HTTP_ENGINE_FIXTURE_H_
#define PENSTOCK_EMULATOR_HTTP_ENGINE_FIXTURE_H_

#include "emulator/http/engine.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

// Options of an engine with at least one thread. The arguments must outlive the engine.
inline EngineOptions OneThread(message::Handler& handler, RequestIdSource& ids) {
  EngineOptions options;
  options.connection.handler = &handler;
  options.connection.clock = &SystemClock();
  options.connection.ids = &ids;
  options.min_threads = 1;
  return options;
}

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_ENGINE_FIXTURE_H_
