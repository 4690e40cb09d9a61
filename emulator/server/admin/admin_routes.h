// The paths of the admin API and who answers them. Each admin_*.cc has those of its subject.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_ROUTES_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_ROUTES_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/server/places.h"
#include "emulator/store/blobs/content.h"
#include "penstock/base/result.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Of requests that hold something for long, so many at a time. The admin listener has threads
// beyond these (emulator.cc).
struct AdminPlaces {
  Places tails{24};      // each holds a serving thread
  Places downloads{16};  // of large journals; each keeps the journal's memory of its moment
};

// One request taken apart.
struct AdminCall {
  std::string path;  // behind /_penstock/, without the name that ends it: "namespaces/"
  std::string name;  // "ann" of namespaces/ann; empty: none
  std::vector<std::pair<std::string, std::string>> query;
  std::string body;
  std::function<bool()> client_gone;  // the client has closed its connection; never empty
  AdminPlaces* places = nullptr;      // never null

  // The name, or the default namespace's.
  std::string space() const;
  // First parameter of that name; empty: none.
  std::string_view Parameter(std::string_view parameter) const;
};

using AdminBody = std::variant<std::string, store::Content>;

struct AdminReply {
  AdminBody body;
  std::string_view content_type = "application/json";
};

struct AdminRoute {
  std::string_view path;  // one that ends in '/' has a name behind it
  std::string_view method;
  Result<AdminReply> (*answer)(Emulator& emulator, const AdminCall& call);
  int status = 200;
  std::string_view parameters = {};  // the one that its query may have; "*": it checks them itself
};

std::span<const AdminRoute> FaultRoutes();  // faults, retry-tests
// health, stats, reset, namespaces, clock, seed, users, access-keys
std::span<const AdminRoute> SpaceRoutes();
std::span<const AdminRoute> JournalRoutes();  // journal, journal-tail, journal-query
std::span<const AdminRoute> LimitRoutes();    // limits

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_ROUTES_H_
