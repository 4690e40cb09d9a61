// The folder behind --data: one process at a time, one generation of the store after another.
//
//   DIR/penstock.lock   held while an emulator uses DIR
//   DIR/generation-N/   a store; the highest N is the living one, a reset makes a higher one
#ifndef PENSTOCK_EMULATOR_SERVER_DATA_DIRECTORY_H_
#define PENSTOCK_EMULATOR_SERVER_DATA_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Thread safety: one thread at a time, but RemoveGeneration from any.
class DataDirectory {
 public:
  // Creates the folder if it is missing and locks it. kInvalidArgument when it cannot be created, written or locked.
  static Result<std::unique_ptr<DataDirectory>> Open(std::string path);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  // The folder of the living generation; the store creates it.
  std::string CurrentPath() const;
  // The folder after the current one. Adopt makes it the current one.
  std::string NextPath() const;
  void AdoptNext();
  // Renames the folder, lock and all. kInternal when that fails.
  Result<void> MoveTo(const std::string& path);
  // Removes a generation's folder and everything in it. Failures leave it for RemoveOthers.
  static void RemoveGeneration(const std::string& path);
  // N of a folder named generation-N.
  static std::optional<std::uint64_t> GenerationOf(const std::string& folder_name);
  // Removes what earlier processes left behind.
  void RemoveOthers() const;

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string PathOf(std::uint64_t generation) const;

  std::string path_;
  int lock_;
  std::uint64_t generation_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_DATA_DIRECTORY_H_
