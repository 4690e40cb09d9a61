// The routes of the admin API. Each admin_*.cc has the routes of its subject.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_ROUTES_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_ROUTES_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/identity/identities.h"
#include "emulator/message/text_stream.h"
#include "emulator/server/admin/concurrency_limit.h"
#include "emulator/server/admin/live_stream.h"
#include "emulator/store/blobs/content.h"
#include "penstock/base/result.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Limits of concurrent requests that hold a resource for long. The admin listener has more threads
// than `tails` (emulator.cc), so that other requests are served while all tails are in use.
struct AdminConcurrency {
  ConcurrencyLimit tails{24};       // each occupies a serving thread
  ConcurrencyLimit downloads{16};   // of large journals; each keeps the memory of its snapshot
  ConcurrencyLimit lifecycle{8};    // runs and previews; each occupies a serving thread
  ConcurrencyLimit simulations{2};  // each occupies a processor
  ConcurrencyLimit live{16};        // streams of events; they occupy no thread
};

// Parts of the emulator that routes use besides the methods of Emulator.
struct AdminHooks {
  ActivityOf activity_of;
  // Opens a namespace. kNotFound: there is none of that name.
  std::function<Result<std::shared_ptr<s3::Namespace>>(const std::string& name)> space_of;
  const identity::Identities* identities = nullptr;
};

// A parsed request.
struct AdminCall {
  std::string path;  // after /_penstock/, without a final name: "namespaces/"
  std::string name;  // "ann" in namespaces/ann; empty: none
  std::vector<std::pair<std::string, std::string>> query;
  std::string body;
  std::string host;                   // the Host header
  std::function<bool()> client_gone;  // whether the client has closed its connection; never empty
  AdminConcurrency* concurrency = nullptr;  // never null
  const AdminHooks* hooks = nullptr;        // never null

  // The value of the parameter "namespace", or the default namespace.
  std::string space() const;
  // The first parameter with that name; empty: none.
  std::string_view Parameter(std::string_view parameter) const;
};

// JSON numbers are exact up to here.
inline constexpr std::uint64_t kMaxExactInteger = std::uint64_t{1} << 53;
// Of requests that wait for entries or events.
inline constexpr std::uint64_t kLongestWaitMs = 60'000;
// Between two checks whether the client has left.
inline constexpr std::chrono::milliseconds kWaitSlice{500};
// Takes a place among `tails` until the destruction of the result. kUnavailable: there is none.
Result<std::shared_ptr<void>> TakeTail(const AdminCall& call);

using AdminBody = std::variant<std::string, store::Content, std::unique_ptr<message::TextStream>>;

struct AdminReply {
  AdminBody body;
  std::string_view content_type = "application/json";
};

struct AdminRoute {
  std::string_view path;  // if it ends with '/', a name follows. "a/b": b is not a name
  std::string_view method;
  Result<AdminReply> (*respond)(Emulator& emulator, const AdminCall& call);
  int status = 200;
  std::string_view parameters = {};  // the allowed query parameter; "*": `respond` checks them
};

std::span<const AdminRoute> FaultRoutes();  // faults, retry-tests
// health, stats, metrics, reset, namespaces, clock, seed, users, access-keys
std::span<const AdminRoute> SpaceRoutes();
std::span<const AdminRoute>
JournalRoutes();                            // journal, journal-tail, journal-query, journal-capture
std::span<const AdminRoute> LimitRoutes();  // limits
std::span<const AdminRoute> ExplainRoutes();    // explain
std::span<const AdminRoute> LifecycleRoutes();  // lifecycle
std::span<const AdminRoute> EventRoutes();      // events
std::span<const AdminRoute> SimulateRoutes();   // simulate
std::span<const AdminRoute> SchemaRoutes();     // schemas
std::span<const AdminRoute> LiveRoutes();       // live
std::span<const AdminRoute> PresignRoutes();    // presign

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_ROUTES_H_
