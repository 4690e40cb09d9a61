// How connections are received: as a rule served; faults may ask for something else.
#ifndef PENSTOCK_EMULATOR_HTTP_RECEPTION_H_
#define PENSTOCK_EMULATOR_HTTP_RECEPTION_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock::emulator::http {

// A connection that was just accepted, and how it is received.
struct Arrival {
  std::uint64_t id = 0;
  std::string peer;          // "127.0.0.1:54321"
  bool tls = false;
  std::size_t others = 0;    // open connections beside it
};
struct Reception {
  enum class Kind : std::uint8_t {
    kServe,
    kReset,      // RST
    kFin,        // FIN; what it sends is thrown away for a while
    kRefuseTls,  // an alert in place of a handshake, then FIN
  };
  Kind kind = Kind::kServe;
  std::uint64_t most_requests = 0;  // it is closed behind so many; 0: as many as come
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_RECEPTION_H_
