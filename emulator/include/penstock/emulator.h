// An S3 emulator inside this process.
#ifndef PENSTOCK_EMULATOR_H_
#define PENSTOCK_EMULATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator {

enum class DurabilityMode { kRelaxed, kStrict };

struct AccessKey {
  std::string id;
  std::string secret;
};

struct EmulatorOptions {
  std::string host = "127.0.0.1";
  int port = 0;        // 0: any free port
  int admin_port = 0;  // 0: any free port; -1: no admin listener
  std::string data_directory;  // empty: in memory
  DurabilityMode durability = DurabilityMode::kRelaxed;
  std::vector<AccessKey> access_keys;  // empty: one pair, "penstock" / "penstock-secret"
  std::string region = "us-east-1";
  double fail_rate = 0;  // share of requests answered 503 SlowDown, 0 to 1; decided per request by seed, not by chance
  std::uint64_t fail_seed = 1;
  std::string tls_certificate_path;  // PEM; both set or both empty
  std::string tls_key_path;
  std::string log_path;  // one JSON line per request; empty: none; "-": standard error
};

// Counters since start or the last Reset.
struct EmulatorStats {
  std::map<std::string, std::uint64_t> requests;  // by operation
  std::map<int, std::uint64_t> statuses;
  std::uint64_t bytes_in = 0;   // of bodies
  std::uint64_t bytes_out = 0;  // of bodies
  std::uint64_t injected_failures = 0;
};

// Thread safety: safe from any thread. Destruction stops it.
class Emulator {
 public:
  // Listening when it returns. Errors name the value and the fix (port taken, bad certificate, unusable directory).
  static Result<std::unique_ptr<Emulator>> Start(EmulatorOptions options);
  virtual ~Emulator() = default;

  virtual std::string endpoint() const = 0;        // "http://127.0.0.1:43121"
  virtual std::string admin_endpoint() const = 0;  // empty without an admin listener
  virtual const EmulatorOptions& options() const = 0;
  virtual EmulatorStats stats() const = 0;
  // Forgets every bucket and object.
  virtual Result<void> Reset() = 0;
  // Finishes requests in progress (up to 5 s) and stops. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_H_
