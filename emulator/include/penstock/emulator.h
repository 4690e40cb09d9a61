// An S3 emulator inside this process.
#ifndef PENSTOCK_EMULATOR_H_
#define PENSTOCK_EMULATOR_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/access_key.h"
#include "penstock/base/clock.h"
#include "penstock/base/export.h"
#include "penstock/base/result.h"
#include "penstock/journal.h"

namespace PENSTOCK_EXPORT penstock {
namespace emulator {

enum class DurabilityMode { kRelaxed, kStrict };

enum class AuthMode {
  kVerify,  // checks every signature, date and payload hash
  // Checks form, region, clock skew, expiry and inactive keys, but no signature or payload hash:
  // the claimed identity is trusted.
  kParse,
  // Ignores claims: every request belongs to the first access key and the default namespace.
  kOff,
};

enum class AuthorizationMode {
  kOn,   // policies, ACLs and Block Public Access decide, as in S3
  kOff,  // an account may do everything in its own buckets and nothing in others
};

struct EmulatorOptions {
  std::string host = "127.0.0.1";
  int port = 0;                          // 0: any free port
  std::string admin_host = "127.0.0.1";  // other than a loopback address: needs admin_token
  int admin_port = 0;                    // 0: any free port; -1: no admin listener
  // If set, admin requests need "Authorization: Bearer TOKEN". Health checks do not.
  std::string admin_token;
  // Additional host names for the Host header of admin requests, besides localhost, loopback
  // addresses and admin_host. Other names get 421, so that a web page cannot reach the listener
  // through its own DNS name. Health checks are exempt.
  std::vector<std::string> admin_allowed_hosts;
  // Whether POST /moto-api/reset on the S3 port empties every namespace. It needs no signature, but
  // needs admin_token if that is set, and an admin listener. Unset: only without a data directory
  // and on a loopback address.
  std::optional<bool> moto_reset;
  // Whether the admin listener serves the web console at /console/. Without it, requests of web
  // pages need a token.
  bool console = true;
  std::string data_directory;  // empty: in memory
  // Memory limit for the objects of all namespaces (without a data directory), request documents,
  // namespaces, fault scenarios and retry tests, in bytes, at least 1 MiB. Uploads beyond it get
  // 507 InsufficientStorage; other calls return kResourceExhausted. 0: three quarters of the
  // control group's memory limit, else half of the machine's memory, shared by all emulators of
  // this process with 0.
  std::uint64_t memory_limit_bytes = 0;
  DurabilityMode durability = DurabilityMode::kRelaxed;
  // Maximum rate of the background check of stored bytes for damage; 0: no check. Only with a data
  // directory.
  std::uint64_t scrub_bytes_per_second = 8 << 20;
  AuthMode auth = AuthMode::kVerify;
  AuthorizationMode authorization = AuthorizationMode::kOn;
  // Each is the root of its own account. Without access keys and users: one pair, "penstock" /
  // "penstock-secret".
  std::vector<AccessKey> access_keys;
  // JSON file of accounts, users and access keys (docs/reference/admin-api.md)
  std::string users_path;
  std::string users_json;  // the same as text
  std::string region = "us-east-1";
  // Also accepts bucket names that S3 mocks accept: 1 to 255 letters, digits, '.', '-' and '_', not
  // beginning with '.' or '-'.
  bool relaxed_bucket_names = false;
  // Share of requests that get 503 SlowDown, 0 to 1. Decided per request from the seed.
  double fail_rate = 0;
  std::uint64_t fail_seed = 1;
  int first_byte_delay_ms = 0;       // delay of every GET and HEAD response
  std::string tls_certificate_path;  // PEM; both set or both empty
  std::string tls_key_path;
  // Initial limits, latency and bandwidth of each namespace: JSON (docs/limits.schema.json) or a
  // preset's name ("aws-standard", "aws-strict", "aws-express"). Empty: no limits.
  std::string limits_json;
  // Initial fault scenario of every namespace, also after a reset: a JSON file, or the same as text
  // (docs/reference/faults.md). Both empty: none. Setting both is an error.
  std::string faults_path;
  std::string faults_json;
  // Where the events of destinations are sent: "ARN=file:PATH", "ARN=http://HOST:PORT/PATH" or the
  // same with https. '*' in an ARN matches any characters, and the first match receives the event.
  // Others can only be read. At most 64 (docs/how-to/receive-events.md).
  std::vector<std::string> event_sinks;
  // PEM file of the CA certificates for sinks with https, instead of the system's.
  std::string event_sink_ca_path;
  // From 16 connections on, serving threads let other programs run first (SCHED_BATCH). May
  // increase the throughput if clients run on the same few processors.
  bool yield_to_clients = false;
  // Memory limit of each namespace's journal of requests; 0: no journal.
  std::uint64_t journal_bytes = 16 << 20;
  std::string log_path;  // one JSON line per request; empty: none; "-": standard error
};

// Times from the end of a request's head to the end of its response.
struct RequestDurations {
  // Inclusive, ascending.
  static constexpr std::array<std::chrono::microseconds, 16> kUpperBounds = {
      std::chrono::microseconds(100),
      std::chrono::microseconds(250),
      std::chrono::microseconds(500),
      std::chrono::microseconds(1'000),
      std::chrono::microseconds(2'500),
      std::chrono::microseconds(5'000),
      std::chrono::microseconds(10'000),
      std::chrono::microseconds(25'000),
      std::chrono::microseconds(50'000),
      std::chrono::microseconds(100'000),
      std::chrono::microseconds(250'000),
      std::chrono::microseconds(500'000),
      std::chrono::seconds(1),
      std::chrono::microseconds(2'500'000),
      std::chrono::seconds(5),
      std::chrono::seconds(10)};
  // Requests in each bucket. The last one counts those above the last bound.
  std::array<std::uint64_t, kUpperBounds.size() + 1> counts{};
  std::chrono::nanoseconds sum{0};
};

// Counters since start or the last Reset.
struct EmulatorStats {
  std::map<std::string, std::uint64_t> requests;  // by operation
  std::map<int, std::uint64_t> statuses;
  std::uint64_t bytes_in = 0;   // of bodies
  std::uint64_t bytes_out = 0;  // of bodies
  std::uint64_t injected_failures = 0;
  // Requests that are a further attempt of their client (amz-sdk-request header).
  std::uint64_t retries = 0;
  // Errors that did not end the process, since its start, by name ("store.checkpoint_failed").
  // Covers all emulators in the process; a reset does not clear them. The diagnostic log of
  // penstock-emulator has details.
  std::map<std::string, std::uint64_t> diagnostics;
  // By class of operation: "read", "list" or "write". Only of requests that were HTTP.
  std::map<std::string, RequestDurations> durations;
};

// The state of an emulator at one moment.
struct EmulatorGauges {
  WallTime started{};  // By the machine's clock.
  std::uint64_t namespaces = 0;
  std::uint64_t open_connections = 0;  // On the S3 port.
  // Charged to the memory limit. Emulators without a limit of their own share one in a process.
  std::uint64_t memory_used_bytes = 0;
  std::uint64_t memory_limit_bytes = 0;
  std::uint64_t journal_bytes = 0;  // Memory of the journals of all namespaces.
};

// A namespace's clock. It determines dates, the age of signatures, expiry and limits in the
// namespace.
struct ClockState {
  WallTime now{};
  bool frozen = false;
  std::chrono::nanoseconds offset{0};  // ahead of the machine's clock
  // Seconds of this clock per second of the machine's clock, while it runs.
  double rate = 1;
};
// The members are applied in this order.
struct ClockChange {
  std::optional<WallTime> now = std::nullopt;
  std::chrono::nanoseconds advance{0};
  std::optional<bool> frozen = std::nullopt;  // true: stop; false: continue from the current time
  // From now on: 0.001 to 1000, in steps of 0.000001. A stopped clock uses it when it runs again.
  std::optional<double> rate = std::nullopt;
};

struct SeedRequest {
  std::string bucket;  // created if missing
  // Absolute path. Files below it become objects named by relative path; links are skipped.
  std::string directory;
  std::string prefix = {};
  std::string name_space = "default";
  // Called between files and between blocks of a file, on the thread of Seed. May be empty. If it
  // returns true, Seed undoes its changes, as after any error, and returns kCancelled.
  std::function<bool()> cancelled = {};
};
struct SeedReport {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t skipped = 0;  // links, pipes, devices, and names that are not valid keys
};

struct SimulateRequest {
  std::string job;  // as for SimulateJson (penstock/simulate.h)
  // Called every few milliseconds on the calling thread. May be empty. If it returns true, the call
  // ends with kCancelled.
  std::function<bool()> cancelled = {};
};

struct LifecycleRequest {
  std::string name_space = "default";
  std::string bucket = {};  // empty: every bucket
  // For previews: what a run at this time would do; unset: at the time of the namespace's clock.
  std::optional<WallTime> by = std::nullopt;
  // Called between pages of 1000 versions, on the calling thread. May be empty. If it returns true,
  // the call ends with kCancelled; what it did before stays.
  std::function<bool()> cancelled = {};
};

// Thread safety: methods may be called from any thread. The destructor stops the emulator.
class Emulator {
 public:
  // Returns when it is listening. Errors name the value and the remedy (port taken, bad
  // certificate, unusable directory).
  static Result<std::unique_ptr<Emulator>> Start(EmulatorOptions options);
  virtual ~Emulator() = default;

  virtual std::string endpoint() const = 0;        // "http://127.0.0.1:43121"
  virtual std::string admin_endpoint() const = 0;  // empty without an admin listener
  virtual const EmulatorOptions& options() const = 0;
  // Messages for the user from the start, one line each: conflicts between the options and the
  // contents of the data directory. They never contain secrets.
  virtual std::vector<std::string> notices() const = 0;
  virtual EmulatorStats stats() const = 0;
  // Returns kInvalidArgument if the emulator is stopped.
  virtual Result<EmulatorGauges> gauges() const = 0;
  // Resets every namespace (no buckets, the machine's time) and the counters. Users and namespaces
  // remain.
  virtual Result<void> Reset() = 0;

  // Namespaces: isolated sets of buckets, each with its own clock. "default" always exists. Unknown
  // names return kNotFound.
  virtual Result<std::vector<std::string>> Namespaces() const = 0;
  // Creates a namespace and an access key that selects it. Returns kAlreadyExists if it exists.
  virtual Result<AccessKey> CreateNamespace(const std::string& name) = 0;
  // Also deletes its buckets and the access keys that select it.
  virtual Result<void> DeleteNamespace(const std::string& name) = 0;
  // Resets one namespace: no buckets, an empty journal, the machine's time. O(1).
  virtual Result<void> ResetNamespace(const std::string& name) = 0;

  virtual Result<ClockState> GetClock(const std::string& name_space) const = 0;
  virtual Result<ClockState> ChangeClock(const std::string& name_space,
                                         const ClockChange& change) = 0;
  // Restores the machine's time.
  virtual Result<ClockState> RestoreClock(const std::string& name_space) = 0;

  // Returns the requests that reached a namespace, except those that were not HTTP. It contains the
  // request of every client that has received its whole response; waits up to 200 ms for responses
  // that are being sent. Returns kNotFound for an unknown name, and kInvalidArgument if
  // journal_bytes is 0.
  virtual Result<JournalReading> ReadJournal(const std::string& name_space) const = 0;
  // Returns the entries after number `after`. Waits up to `wait` for the first one; may return
  // none. If a reset replaces the journal meanwhile: returns all entries of the new one.
  virtual Result<JournalReading> AwaitJournal(const std::string& name_space, std::uint64_t after,
                                              std::chrono::milliseconds wait) const = 0;
  // Deletes the entries. A request that began before gets no entry when it ends. Numbering
  // continues.
  virtual Result<void> ClearJournal(const std::string& name_space) = 0;

  // For `duration` from now on, 0 to 3600 s, the entries of requests that end have the headers of
  // the request and the response. 0 ends an earlier capture, as does a reset. Returns the end of
  // the capture by the machine's clock; nullopt: there is none.
  virtual Result<std::optional<WallTime>> CaptureHeaders(const std::string& name_space,
                                                         std::chrono::seconds duration) = 0;
  // Returns the end of the current capture.
  virtual Result<std::optional<WallTime>> HeaderCapture(const std::string& name_space) const = 0;

  // Sets limits, latency and bandwidth from now on, with full budgets: JSON or a preset's name, as
  // in EmulatorOptions::limits_json; "{}": none. A reset restores the initial ones.
  // kInvalidArgument names the member.
  virtual Result<void> SetLimits(const std::string& name_space, const std::string& json) = 0;
  // Returns JSON (docs/reference/admin-api.md): the settings, the usage of each partition, admitted
  // and refused requests, splits and merges.
  virtual Result<std::string> LimitsReport(const std::string& name_space) const = 0;

  // Returns which statement decided a request, as JSON (docs/reference/admin-api.md). `question` is
  // JSON: {"request_id": "..."}, or {"principal": "...", "action": "s3:GetObject", "resource":
  // "...", "context": {...}}. kInvalidArgument names the member; kNotFound for an unknown request,
  // principal or bucket.
  virtual Result<std::string> Explain(const std::string& name_space,
                                      const std::string& question) const = 0;

  // Lifecycle: a background thread applies the rules of a namespace's buckets after each midnight
  // UTC of its clock, also when ChangeClock passes one. All functions return the account as JSON
  // (docs/reference/admin-api.md). kNotFound: the namespace or the bucket is unknown.
  //
  // Applies the rules at the time of the namespace's clock. Returns the account of all actions
  // since the last call, including those of the background thread.
  virtual Result<std::string> RunLifecycle(const LifecycleRequest& request) = 0;
  // Returns what RunLifecycle would do at the time `by`. Changes nothing.
  virtual Result<std::string> PreviewLifecycle(const LifecycleRequest& request) const = 0;

  // Events of the buckets with a notification configuration. A commit stores them with the change;
  // they stay until RemoveEvents, at most the newest 100,000. Sinks (EmulatorOptions::event_sinks)
  // send them.
  //
  // Returns at most 1000 events with a number above `after` as JSON (docs/reference/admin-api.md),
  // the oldest of them, or with `newest` that many of the latest. Waits up to `wait` for the first
  // one. kNotFound: the namespace is unknown.
  virtual Result<std::string> ReadEvents(const std::string& name_space, std::uint64_t after,
                                         std::chrono::milliseconds wait,
                                         std::optional<std::uint64_t> newest = {}) const = 0;
  // Removes the events up to the number `last`.
  virtual Result<void> RemoveEvents(const std::string& name_space, std::uint64_t last) = 0;

  // As SimulateJson, without a use of this emulator's buckets. Ends with Stop, and after a minute.
  // A job may have 5,000,000 requests and 1,000,000 connections.
  virtual Result<std::string> Simulate(const SimulateRequest& request) const = 0;

  virtual Result<SeedReport> Seed(const SeedRequest& request) = 0;
  // Adds accounts and keys; replaces those with the same account id or access key id. Returns
  // kInvalidArgument with the place; kNotFound for a namespace that neither exists nor is in the
  // document's "namespaces"; kAlreadyExists for a key that would change its namespace.
  virtual Result<void> AddUsers(const std::string& json) = 0;
  // Returns accounts, users and keys in the format of AddUsers, without secrets and session tokens.
  virtual Result<std::string> ListUsers() const = 0;
  // Returns kNotFound for an unknown key or namespace, and kInvalidArgument for an expiry of a key
  // without a session token.
  virtual Result<void> ChangeAccessKey(const std::string& id, const AccessKeyChange& change) = 0;
  virtual Result<void> RemoveAccessKey(const std::string& id) = 0;  // kNotFound

  // Faults (docs/reference/faults.md). Each namespace runs one scenario at a time. Unknown
  // namespaces return kNotFound.
  //
  // Replaces the current scenario and starts new counters. kInvalidArgument names the place
  // ("rules[2].when.part"); the current scenario then continues.
  virtual Result<void> SetFaults(const std::string& name_space, const std::string& json) = 0;
  // Returns the state of the scenario as JSON: requests, fired, complete, and the same per rule.
  // `replaced` has those of scenarios that ended before they were complete (the first 16). Returns
  // kNotFound without a scenario.
  virtual Result<std::string> FaultAccount(const std::string& name_space) const = 0;
  // For the end of a test. Returns success if every planned fault has happened, or none was
  // planned. kPreconditionFailed names the rules that did not fire, including those of scenarios
  // that SetFaults or ClearFaults ended before they were complete.
  virtual Result<void> CheckFaults(const std::string& name_space) const = 0;
  // Ends the scenario. CheckFaults still reports its planned faults that have not happened.
  virtual Result<void> ClearFaults(const std::string& name_space) = 0;
  // Ends the scenario and discards all planned faults, including those of earlier scenarios.
  virtual Result<void> ForgetFaults(const std::string& name_space) = 0;
  // Like ForgetFaults, then starts the initial scenario again, if there is one.
  virtual Result<void> RestoreFaults(const std::string& name_space) = 0;
  // Retry tests: queues of faults by operation, for requests with the test's id in the header
  // x-penstock-retry-test. Returns the id.
  virtual Result<std::string> CreateRetryTest(const std::string& name_space,
                                              const std::string& json) = 0;
  // Returns the ids, sorted.
  virtual Result<std::vector<std::string>> RetryTests(const std::string& name_space) const = 0;
  // Returns kNotFound for an unknown id.
  virtual Result<std::string> RetryTestAccount(const std::string& name_space,
                                               const std::string& id) const = 0;
  // Returns kNotFound for an unknown id.
  virtual Result<void> DeleteRetryTest(const std::string& name_space, const std::string& id) = 0;

  // Finishes requests in progress (up to 5 s) and stops. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace emulator
}  // namespace penstock

#endif  // PENSTOCK_EMULATOR_H_
