// An S3 emulator inside this process.
#ifndef PENSTOCK_EMULATOR_H_
#define PENSTOCK_EMULATOR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/journal.h"

namespace penstock::emulator {

enum class DurabilityMode { kRelaxed, kStrict };

enum class AuthMode {
  kVerify,  // every signature, date and payload hash is checked
  // form, region, clock skew, expiry, inactive keys; no signature, no payload hash: the identity is
  // taken as claimed
  kParse,
  // claims are not looked at: every request is the first access key's, in the default namespace
  kOff,
};

struct AccessKey {
  std::string id;
  std::string secret;
};

// Changes to one access key; what is unset stays.
struct AccessKeyChange {
  std::optional<bool> active = std::nullopt;
  std::optional<WallTime> expires = std::nullopt;
  std::optional<std::string> name_space = std::nullopt;
};

struct EmulatorOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free port
  std::string admin_host = "127.0.0.1";
  int admin_port = 0;  // 0: any free port; -1: no admin listener
  // where set, admin requests need "Authorization: Bearer TOKEN" (health needs none)
  std::string admin_token;
  // Names that the Host header of an admin request may have, besides localhost, loopback addresses
  // and admin_host. Other names are refused with 421, so that a web page cannot reach the listener
  // through a DNS name of its own (health is exempt).
  std::vector<std::string> admin_allowed_hosts;
  // Whether POST /moto-api/reset on the S3 port empties every namespace. It needs no signature, but
  // admin_token where that is set. Unset: only in memory and on a loopback address. It always needs
  // an admin listener.
  std::optional<bool> moto_reset;
  std::string data_directory;  // empty: in memory
  // Without a data directory: what the objects of all namespaces may take of memory, in bytes, 1
  // MiB or more. Uploads beyond it are answered 507 InsufficientStorage. 0: three quarters of the
  // control group's memory limit, else half of the machine's memory, shared by all emulators of
  // this process that have 0.
  std::uint64_t memory_limit_bytes = 0;
  DurabilityMode durability = DurabilityMode::kRelaxed;
  // Stored bytes that are read again in the background, to find damage, at most; 0: none. With a
  // data directory alone.
  std::uint64_t scrub_bytes_per_second = 8 << 20;
  AuthMode auth = AuthMode::kVerify;
  // Each is the root of an account of its own. Without these and without users: one pair,
  // "penstock" / "penstock-secret".
  std::vector<AccessKey> access_keys;
  std::string users_path;  // JSON file of accounts, users and access keys (docs/admin-api.md)
  std::string users_json;  // the same as text
  std::string region = "us-east-1";
  // Buckets may also be called what mocks of S3 let them be: 1 to 255 letters, digits, '.', '-' and
  // '_', at first no '.' or '-'.
  bool relaxed_bucket_names = false;
  // share of requests answered 503 SlowDown, 0 to 1; decided per request by seed, not by chance
  double fail_rate = 0;
  std::uint64_t fail_seed = 1;
  int first_byte_delay_ms = 0;       // every GET and HEAD answer leaves that much later
  std::string tls_certificate_path;  // PEM; both set or both empty
  std::string tls_key_path;
  // What each namespace begins with of limits, latency and bandwidth: JSON
  // (docs/limits.schema.json), or a preset's name
  // ("aws-standard", "aws-strict", "aws-express"). Empty: as much and as fast as it goes.
  std::string limits_json;
  // The scenario of faults that every namespace begins with, and has again after a reset: a JSON
  // file, or the same as text (docs/faults.md). Both empty: none; both set is an error.
  std::string faults_path;
  std::string faults_json;
  // With 16 connections and more, serving threads let other programs run first (SCHED_BATCH). May
  // serve more requests where the clients run on the same few processors.
  bool yield_to_clients = false;
  // of requests that each namespace's journal keeps at most; 0: no journal
  std::uint64_t journal_bytes = 16 << 20;
  std::string log_path;  // one JSON line per request; empty: none; "-": standard error
};

// Counters since start or the last Reset.
struct EmulatorStats {
  std::map<std::string, std::uint64_t> requests;  // by operation
  std::map<int, std::uint64_t> statuses;
  std::uint64_t bytes_in = 0;   // of bodies
  std::uint64_t bytes_out = 0;  // of bodies
  std::uint64_t injected_failures = 0;
  // Errors that the process survived since it began, by name ("store.checkpoint_failed"). Of all
  // emulators in the process; a reset leaves them. The diagnostic log of penstock-emulator says
  // more about each.
  std::map<std::string, std::uint64_t> diagnostics;
};

// A namespace's clock: it drives dates, signatures' age, expiry and limits of what belongs to the
// namespace.
struct ClockState {
  WallTime now{};
  bool frozen = false;
  std::chrono::nanoseconds offset{0};  // ahead of the machine's clock
  // seconds of it that pass in a second of the machine's, while it runs
  double rate = 1;
};
// Applied in this order.
struct ClockChange {
  std::optional<WallTime> now = std::nullopt;
  std::chrono::nanoseconds advance{0};
  std::optional<bool> frozen = std::nullopt;  // true: stop; false: run from where it stands
  // from now on: 0.001 to 1000, to the millionth; a stopped clock keeps it for later
  std::optional<double> rate = std::nullopt;
};

struct SeedRequest {
  std::string bucket;  // made where it is missing
  // absolute; what lies below becomes objects named by relative path, links are skipped
  std::string directory;
  std::string prefix = {};
  std::string name_space = "default";
  // Called between files and between blocks of a file, on the thread of Seed; may be empty. True:
  // Seed ends with kCancelled, and undoes what it did as after any other error.
  std::function<bool()> cancelled = {};
};
struct SeedReport {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t skipped = 0;  // links, pipes, devices, and names that cannot be keys
};

// Thread safety: safe from any thread. Destruction stops it.
class Emulator {
 public:
  // Listening when it returns. Errors name the value and the fix (port taken, bad certificate,
  // unusable directory).
  static Result<std::unique_ptr<Emulator>> Start(EmulatorOptions options);
  virtual ~Emulator() = default;

  virtual std::string endpoint() const = 0;        // "http://127.0.0.1:43121"
  virtual std::string admin_endpoint() const = 0;  // empty without an admin listener
  virtual const EmulatorOptions& options() const = 0;
  // What the start decided that its user should know, one line each: conflicts between what was
  // given and what the data directory keeps. Never a secret.
  virtual std::vector<std::string> notices() const = 0;
  virtual EmulatorStats stats() const = 0;
  // Makes every namespace as new (no buckets, the machine's time) and the counters zero. Users and
  // namespaces stay.
  virtual Result<void> Reset() = 0;

  // Namespaces: universes of buckets, each with its own clock. "default" is always there. kNotFound
  // for an unknown name.
  virtual Result<std::vector<std::string>> Namespaces() const = 0;
  // A new one and an access key that selects it. kAlreadyExists.
  virtual Result<AccessKey> CreateNamespace(const std::string& name) = 0;
  // With its buckets and the access keys that select it.
  virtual Result<void> DeleteNamespace(const std::string& name) = 0;
  // Makes one namespace as new: no buckets, an empty journal, the machine's time. O(1).
  virtual Result<void> ResetNamespace(const std::string& name) = 0;

  virtual Result<ClockState> GetClock(const std::string& name_space) const = 0;
  virtual Result<ClockState> ChangeClock(const std::string& name_space,
                                         const ClockChange& change) = 0;
  // the machine's time again
  virtual Result<ClockState> RestoreClock(const std::string& name_space) = 0;

  // What clients asked of a namespace: every request that reached it, but for those that were no
  // HTTP. A client that has its answer finds it here; answers that are still on their way are
  // waited for, up to 200 ms. kNotFound for an unknown name; kInvalidArgument where journal_bytes
  // is 0.
  virtual Result<JournalReading> ReadJournal(const std::string& name_space) const = 0;
  // Entries behind number `after`, waiting up to `wait` for the first of them; none if none came.
  // Where the journal has not got to `after` yet, it was reset: all there are.
  virtual Result<JournalReading> AwaitJournal(const std::string& name_space, std::uint64_t after,
                                              std::chrono::milliseconds wait) const = 0;
  // Forgets the entries; numbers go on.
  virtual Result<void> ClearJournal(const std::string& name_space) = 0;

  // Limits, latency and bandwidth from now on, with full budgets: JSON or a preset's name, as
  // EmulatorOptions::limits_json; "{}": none. A reset gives back those of the start.
  // kInvalidArgument names the member.
  virtual Result<void> SetLimits(const std::string& name_space, const std::string& json) = 0;
  // JSON (docs/admin-api.md): what is set, how much of each partition is used, what was admitted
  // and refused, splits and merges.
  virtual Result<std::string> LimitsReport(const std::string& name_space) const = 0;

  virtual Result<SeedReport> Seed(const SeedRequest& request) = 0;
  // Adds accounts and keys; replaces those of the same account id or access key id.
  // kInvalidArgument names the place; kNotFound a namespace that is neither there nor in the
  // document's "namespaces"; kAlreadyExists a key that would change its namespace.
  virtual Result<void> AddUsers(const std::string& json) = 0;
  // Accounts, users and keys in the form AddUsers takes, without secrets and session tokens.
  virtual Result<std::string> ListUsers() const = 0;
  // kNotFound for an unknown key or namespace; kInvalidArgument for an expiry of a key without a
  // session token.
  virtual Result<void> ChangeAccessKey(const std::string& id, const AccessKeyChange& change) = 0;
  virtual Result<void> RemoveAccessKey(const std::string& id) = 0;  // kNotFound

  // Faults (docs/faults.md). Each namespace runs one scenario at a time. kNotFound for an unknown
  // namespace.
  //
  // Runs a scenario in place of the one that ran, with an account of its own. kInvalidArgument
  // names the place
  // ("rules[2].when.part"), and what ran goes on.
  virtual Result<void> SetFaults(const std::string& name_space, const std::string& json) = 0;
  // What the scenario did so far, as JSON: requests, fired, complete, and the same of each rule;
  // `replaced`: accounts of those that ended before they were complete (the first 16). kNotFound:
  // none runs.
  virtual Result<std::string> FaultAccount(const std::string& name_space) const = 0;
  // For the end of a test: ok where every fault that was planned has happened, and where none was
  // planned. kPreconditionFailed names the rules that did not fire; also those of scenarios that
  // SetFaults or ClearFaults ended before they were complete.
  virtual Result<void> CheckFaults(const std::string& name_space) const = 0;
  // No scenario from now on. What it had planned is still asked for by CheckFaults ...
  virtual Result<void> ClearFaults(const std::string& name_space) = 0;
  // ... and here it is not, nor what scenarios before it had planned.
  virtual Result<void> ForgetFaults(const std::string& name_space) = 0;
  // As ForgetFaults, and then the scenario that every namespace begins with, where there is one,
  // anew.
  virtual Result<void> RestoreFaults(const std::string& name_space) = 0;
  // Retry tests: queues of faults by operation, for the requests that name the test in
  // x-penstock-retry-test. Gives the id.
  virtual Result<std::string> CreateRetryTest(const std::string& name_space,
                                              const std::string& json) = 0;
  // ids, sorted
  virtual Result<std::vector<std::string>> RetryTests(const std::string& name_space) const = 0;
  // kNotFound
  virtual Result<std::string> RetryTestAccount(const std::string& name_space,
                                               const std::string& id) const = 0;
  // kNotFound
  virtual Result<void> DeleteRetryTest(const std::string& name_space, const std::string& id) = 0;

  // Finishes requests in progress (up to 5 s) and stops. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_H_
