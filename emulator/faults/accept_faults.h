// What a connection meets as it is accepted.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACCEPT_FAULTS_H_
#define PENSTOCK_EMULATOR_FAULTS_ACCEPT_FAULTS_H_

#include <cstddef>
#include <cstdint>

#include "emulator/api/exchange.h"
#include "emulator/faults/fault_desk.h"

namespace penstock::emulator::faults {

struct Greeting {
  enum class Kind : std::uint8_t { kServe, kReset, kFin, kRefuseTls } kind = Kind::kServe;
  std::uint64_t most_requests = 0;  // 0: as many as come
};

// By the scenario that runs at the desk; its rules at `accept` alone. `others`: connections open beside this one. Waits
// for nothing.
Greeting Greet(const FaultDesk& desk, api::Connection connection, std::size_t others);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACCEPT_FAULTS_H_
