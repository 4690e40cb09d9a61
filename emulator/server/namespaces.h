// The namespaces of one emulator: universes by name.
//
//   DIR/                       the default namespace
//   DIR/namespaces/NAME/       every other one
//   DIR/namespaces/.deleted-*  deleted, about to go
//
// A deleted one that requests are still in stays where it is, marked (data_directory.h), and goes with the last of them.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/server/universe.h"
#include "emulator/server/users_document.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::server {

struct NamespacesOptions {
  std::string directory;  // empty: all in memory
  store::Durability durability = store::Durability::kRelaxed;
  std::uint64_t scrub_bytes_per_second = store::StoreOptions().scrub_bytes_per_second;
  const Clock* clock = nullptr;                 // the machine's, never null
  const api::OwnerDirectory* owners = nullptr;  // outlives this
  instruments::InstrumentOptions instruments;   // of each of them
};

// Thread safety: safe from any thread. Requests ask a Universe, not this.
class Namespaces {
 public:
  // Opens the default namespace alone; others that the directory holds are opened when somebody asks for them.
  static Result<std::unique_ptr<Namespaces>> Open(NamespacesOptions options);

  std::shared_ptr<Universe> Default() const { return default_; }
  // By name, the default first.
  std::vector<std::string> Names() const;
  // Opens nothing.
  bool Has(std::string_view name) const;
  // kNotFound, naming what there is.
  Result<std::shared_ptr<Universe>> Find(std::string_view name);
  // kAlreadyExists; kInvalidArgument for a bad name.
  Result<std::shared_ptr<Universe>> Create(std::string_view name);
  Result<std::shared_ptr<Universe>> FindOrCreate(std::string_view name);
  // At once for whoever comes; requests in it end as they began, and its buckets go once the last has left. kNotFound; kInvalidArgument for the default one.
  Result<void> Delete(std::string_view name);
  // Every one becomes as new: no buckets, the machine's time.
  Result<void> ResetAll();
  // Nobody waits for a journal any more.
  void StopJournals();

 private:
  explicit Namespaces(NamespacesOptions options) : options_(std::move(options)) {}
  std::string DirectoryOf(std::string_view name) const;
  Result<void> FindExisting();
  Result<std::shared_ptr<Universe>> OpenOne(std::string_view name) const;

  const NamespacesOptions options_;
  const std::shared_ptr<DirectoryLeases> leases_ = DirectoryLeases::Create();
  std::shared_ptr<Universe> default_;  // fixed once open
  mutable Mutex mutex_;
  // Null: on disk, not opened yet.
  std::map<std::string, std::shared_ptr<Universe>, std::less<>> others_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_H_
