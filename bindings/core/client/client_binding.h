// The bound client.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_CLIENT_BINDING_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_CLIENT_BINDING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_events.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/client.h"
#include "penstock/stats.h"
#include "penstock/transfer.h"

namespace penstock::python {

struct PyClient {
  std::shared_ptr<Client> client;
  DroppedEvents dropped_events = std::make_shared<std::atomic<std::uint64_t>>(0);
};

// Runs an operation without the GIL, and handles Ctrl-C.
template <class Request>
typename Request::Response Call(const PyClient& self, Request request) {
  auto result = WithoutGil([&] { return self.client->Call(std::move(request), SignalPending); });
  return Unwrap(std::move(result));
}

// The arguments of a read, as Python gives them.
struct ReadArguments {
  std::string bucket;
  std::string key;
  std::uint64_t start = 0;
  std::optional<std::uint64_t> end;
  std::optional<std::uint64_t> size;
  std::optional<std::string> etag;
  std::optional<std::uint64_t> part_size;  // unset, like `parallel`: decided during the download
  std::optional<int> parallel;
  std::string version_id;                                      // empty: the current version
  std::vector<std::pair<std::string, std::string>> checksums;  // of the whole object, if known
  std::optional<std::uint64_t> prefix_crc;                     // of the bytes before `start`
  std::optional<std::string> listed_etag = {};                 // for the node cache
};

// Returns the download, which has no destination yet.
DownloadRequest MakeDownload(ReadArguments arguments);

// The dict is documented at S3Client.stats(); times are in seconds. Needs the GIL.
pybind11::dict StatsToPython(const ClientStats& stats);

// Operations by name, with keyword arguments.
void BindOperations(Guarded<PyClient>& client);
void BindFiles(pybind11::module_& module, Guarded<PyClient>& client);
// Pages of object versions and of open uploads.
void BindPages(Guarded<PyClient>& client);

// Renames, appends, and the listing of directory buckets.
void BindDirectoryBuckets(pybind11::module_& module, Guarded<PyClient>& client);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_CLIENT_BINDING_H_
