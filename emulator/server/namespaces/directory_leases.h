// The data directories in use by this process. A deleted namespace and its successor share the
// directory while requests still use the deleted one.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_DIRECTORY_LEASES_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_DIRECTORY_LEASES_H_

#include <map>
#include <memory>
#include <string>

#include "emulator/server/namespaces/data_directory.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Thread safety: any thread.
class DirectoryLeases : public std::enable_shared_from_this<DirectoryLeases> {
 public:
  // One user of a directory. The last lease unlocks the directory and removes it if it is marked as
  // deleted.
  class Lease {
   public:
    Lease(std::shared_ptr<DirectoryLeases> leases, DataDirectory& directory, bool is_first)
        : leases_(std::move(leases)), directory_(directory), is_first_(is_first) {}
    ~Lease() { leases_->Return(directory_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    DataDirectory& directory() const { return directory_; }
    // Whether no other lease of the directory existed when this one was taken.
    bool is_first() const { return is_first_; }

   private:
    const std::shared_ptr<DirectoryLeases> leases_;
    DataDirectory& directory_;
    const bool is_first_;
  };

  static std::shared_ptr<DirectoryLeases> Create() {
    return std::shared_ptr<DirectoryLeases>(new DirectoryLeases());
  }
  // Returns the errors of DataDirectory::Open. Holders of leases of one directory must serialize
  // their changes to it.
  Result<std::shared_ptr<Lease>> Take(const std::string& path);

 private:
  struct Entry {
    // null while it is opened or closed, which happens without the mutex
    std::unique_ptr<DataDirectory> directory;
    int leases = 0;
  };
  struct Finishing;
  DirectoryLeases() = default;
  // A lease on a directory that is open. Null: the caller must open it, and Finish.
  std::shared_ptr<Lease> Share(const std::string& path);
  // Ends the opening or closing of the directory at `path`: with `directory` it is open, with null
  // it is not in use.
  void Finish(const std::string& path, std::unique_ptr<DataDirectory> directory);
  void Return(DataDirectory& directory);

  Mutex mutex_;
  CondVar finished_;
  std::map<std::string, Entry, std::less<>> entries_ PENSTOCK_GUARDED_BY(mutex_);  // by path
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_DIRECTORY_LEASES_H_
