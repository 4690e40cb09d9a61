// Credentials that a program prints: credential_process (spec/protocol.md §3.4).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_PROCESS_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_PROCESS_PROVIDER_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/auth/credentials.h"

namespace penstock::auth {

// The words of a command line as a shell's quotes and backslashes part them; nothing is expanded.
// nullopt when a quote is left open.
std::optional<std::vector<std::string>> SplitCommand(std::string_view command);

// Runs `command` without a shell, on a thread of its own, and reads {"Version": 1, "AccessKeyId":
// ...} from its output; its error output is the program's. Killed after `patience`.
// kUnauthenticated when it cannot be started, fails, is killed, prints more than 64 KiB or
// something else, naming the profile's setting and the program but neither arguments nor output.
ProviderPtr MakeProcessProvider(std::string command,
                                std::chrono::milliseconds patience = std::chrono::seconds(120));

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_PROCESS_PROVIDER_H_
