#include "emulator/server/process/options.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "emulator/events/delivery/sink_address.h"
#include "emulator/identity/users_document.h"
#include "emulator/server/admin/admin_hosts.h"
#include "emulator/store/system/path_check.h"

namespace penstock::emulator::server {
namespace {

Error Wrong(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

constexpr std::size_t kLongestRegion = 63;  // longest label of a host name

// Accepts more than AWS's regions: other S3 servers use "local", "garage", "default" or "us_east".
// The name appears in host names, credential scopes and documents.
bool IsRegionName(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto fits = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= kLongestRegion && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), fits);
}

Result<void> CheckPort(const char* name, int port, int least) {
  if (port >= least && port <= 65535) return Ok();
  return Wrong(std::string(name) + " must be " + std::to_string(least) +
               " to 65535 (0: any free port), not " + std::to_string(port));
}

// Size of the journal's first blocks. Smaller values would be rounded up.
constexpr std::uint64_t kMinJournal = 128 << 10;
constexpr std::uint64_t kMinScrubRate = 64 << 10;
constexpr std::uint64_t kMaxJournal = std::uint64_t{1} << 40;

Result<void> CheckJournal(std::uint64_t bytes) {
  if (bytes == 0 || (bytes >= kMinJournal && bytes <= kMaxJournal)) return Ok();
  return Wrong("journal size must be " + std::to_string(kMinJournal) + " (128 KiB) to " +
               std::to_string(kMaxJournal) + " (1 TiB), or 0 for no journal, not " +
               std::to_string(bytes));
}

constexpr std::uint64_t kMinMemoryLimit = 1 << 20;

Result<void> CheckMemoryLimit(const EmulatorOptions& options) {
  const std::uint64_t bytes = options.memory_limit_bytes;
  if (bytes == 0) return Ok();
  if (bytes < kMinMemoryLimit) {
    return Wrong(
        "memory limit must be 1048576 (1MiB) or more, or 0 for a share of this machine's memory, "
        "not " +
        std::to_string(bytes));
  }
  return Ok();
}

Result<void> CheckDurability(const EmulatorOptions& options) {
  if (options.durability != DurabilityMode::kStrict || !options.data_directory.empty()) return Ok();
  return Wrong(
      "strict durability needs a data directory, because buckets in memory end with the process; "
      "give a data directory (--data DIR, in Python data), or leave strict durability out");
}

// Names that a Host header can have, with or without a port.
Result<void> CheckAllowedHosts(const std::vector<std::string>& hosts) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._:[]").find(c) != std::string_view::npos;
  };
  for (const std::string& host : hosts) {
    if (!host.empty() && std::all_of(host.begin(), host.end(), fits)) continue;
    return Wrong("invalid allowed host '" + host +
                 "' of the admin API: expected the name or address of one host, of letters, "
                 "digits, '-', '.' and '_', for example emulator.test");
  }
  return Ok();
}

// Other machines can reach an address that is not a loopback address.
Result<void> CheckAdminAddress(const EmulatorOptions& options) {
  if (options.admin_host.empty())
    return Wrong("admin host is empty; use 127.0.0.1 or another address of this machine");
  if (options.admin_port < 0 || IsLoopbackHost(options.admin_host) || !options.admin_token.empty())
    return Ok();
  return Wrong(
      "admin host '" + options.admin_host +
      "' can be reached from other machines, and admin requests need no signature; give an admin "
      "token (--admin-token-file FILE, PENSTOCK_EMULATOR_ADMIN_TOKEN), or leave the admin host "
      "out");
}

// The message does not show the token.
Result<void> CheckAdminToken(std::string_view token) {
  const auto control = std::find_if(token.begin(), token.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control != token.end()) {
    return Wrong("character " + std::to_string(control - token.begin() + 1) +
                 " of the admin token is a control character such as a line end, which no header "
                 "can have; remove it");
  }
  if (token.empty() || (token.front() != ' ' && token.back() != ' ')) return Ok();
  return Wrong(
      "the admin token begins or ends with a space, which is not part of a header's value; remove "
      "it");
}

Result<void> CheckKeys(const std::vector<AccessKey>& keys) {
  std::set<std::string> seen;
  for (const AccessKey& key : keys) {
    if (std::string problem = identity::AccessKeyIdProblem(key.id); !problem.empty())
      return Wrong(std::move(problem));
    if (key.secret.empty())
      return Wrong("access key '" + key.id + "' has an empty secret; give it one");
    if (!seen.insert(key.id).second)
      return Wrong("access key '" + key.id + "' is given twice; name each once");
  }
  return Ok();
}

Result<void> CheckPaths(const EmulatorOptions& options) {
  PENSTOCK_TRY(store::CheckPath("data directory", options.data_directory));
  PENSTOCK_TRY(store::CheckPath("users file", options.users_path));
  PENSTOCK_TRY(store::CheckPath("faults file", options.faults_path));
  PENSTOCK_TRY(store::CheckPath("TLS certificate", options.tls_certificate_path));
  PENSTOCK_TRY(store::CheckPath("TLS key", options.tls_key_path));
  PENSTOCK_TRY(store::CheckPath("CA file of event sinks", options.event_sink_ca_path));
  return store::CheckPath("log file", options.log_path);
}

}  // namespace

Result<EmulatorOptions> CheckedOptions(EmulatorOptions options) {
  const bool users = !options.users_path.empty() || !options.users_json.empty();
  if (options.access_keys.empty() && !users)
    options.access_keys.push_back({"penstock", "penstock-secret"});
  PENSTOCK_TRY(CheckKeys(options.access_keys));
  PENSTOCK_TRY(CheckPaths(options));
  PENSTOCK_TRY(CheckPort("port", options.port, 0));
  PENSTOCK_TRY(CheckPort("admin port", options.admin_port, -1));
  if (options.host.empty())
    return Wrong("host is empty; use 127.0.0.1, 0.0.0.0 or another address of this machine");
  PENSTOCK_TRY(CheckAdminAddress(options));
  if (!IsRegionName(options.region)) {
    return Wrong("invalid region '" + options.region +
                 "': expected a letter, then letters, digits, '-' and '_', at most " +
                 std::to_string(kLongestRegion) + " characters, for example us-east-1");
  }
  if (!(options.fail_rate >= 0 && options.fail_rate <= 1)) {
    return Wrong("fail rate must be 0 to 1 (share of requests), not " +
                 std::to_string(options.fail_rate));
  }
  if (options.first_byte_delay_ms < 0 || options.first_byte_delay_ms > 60'000) {
    return Wrong("first byte delay must be 0 to 60000 ms, not " +
                 std::to_string(options.first_byte_delay_ms));
  }
  PENSTOCK_TRY(CheckDurability(options));
  PENSTOCK_TRY(CheckAllowedHosts(options.admin_allowed_hosts));
  PENSTOCK_TRY(CheckAdminToken(options.admin_token));
  PENSTOCK_TRY(CheckJournal(options.journal_bytes));
  PENSTOCK_TRY(CheckMemoryLimit(options));
  if (options.scrub_bytes_per_second > 0 && options.scrub_bytes_per_second < kMinScrubRate) {
    return Wrong("scrub rate must be " + std::to_string(kMinScrubRate) +
                 " bytes per second (64 KiB) or more, or 0 for none, not " +
                 std::to_string(options.scrub_bytes_per_second));
  }
  PENSTOCK_TRY(events::ParseSinks(options.event_sinks));
  if (!options.faults_path.empty() && !options.faults_json.empty()) {
    return Wrong("faults are given as a file and as text; give one of them");
  }
  if (options.tls_certificate_path.empty() != options.tls_key_path.empty()) {
    return Wrong("TLS needs both a certificate and a key file; only one of them is given");
  }
  return options;
}

std::string EndpointUrl(const std::string& scheme, const std::string& host, int port) {
  std::string name = host;
  if (name == "0.0.0.0") name = "127.0.0.1";
  if (name == "::") name = "::1";
  if (name.find(':') != std::string::npos) name = "[" + name + "]";
  return scheme + "://" + name + ":" + std::to_string(port);
}

}  // namespace penstock::emulator::server
