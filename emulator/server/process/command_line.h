// The flags of penstock-emulator.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_

#include <optional>
#include <string>

#include "emulator/server/process/setting_sources.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

inline constexpr int kDefaultPort = 9000;  // of S3

// The parsed flags: options to serve with, or a text to print.
struct CommandLine {
  EmulatorOptions options = {};
  std::string diagnostic_log = "-";  // "-": standard error
  // For --help and --version: printed to standard output; the exit status is 0.
  std::optional<std::string> text = std::nullopt;
};

// Options come from, in this order of precedence: the command line, environment variables
// (VariableOf), and the TOML file that --config names. Returns kInvalidArgument, with a message of
// one line, for wrong usage.
Result<CommandLine> ParseCommandLine(int argc, const char* const* argv,
                                     const Environment& environment);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_COMMAND_LINE_H_
