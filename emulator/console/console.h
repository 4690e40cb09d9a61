// Serves the web console: one page and its scripts and styles, without state of the emulator.
//
// The page uses the admin API of the listener that it comes from.
#ifndef PENSTOCK_EMULATOR_CONSOLE_CONSOLE_H_
#define PENSTOCK_EMULATOR_CONSOLE_CONSOLE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "emulator/console/assets.h"
#include "emulator/message/exchange.h"

namespace penstock::emulator::console {

// Whether the target is /console or below it.
bool IsConsoleTarget(std::string_view target);

struct Refusal {
  int status = 0;
  std::string message;
};

// Leaves the response to a request whose target is the console's, or returns why there is none. In
// both cases the response needs AddSecurityHeaders.
std::optional<Refusal> Serve(message::Exchange& exchange, std::span<const Asset> assets);

// Adds headers that allow the page nothing but its own origin, and other sites nothing at all.
void AddSecurityHeaders(message::Response& response);

}  // namespace penstock::emulator::console

#endif  // PENSTOCK_EMULATOR_CONSOLE_CONSOLE_H_
