// The folder behind --data: one process at a time, one generation of the store after another.
//
//   DIR/penstock.lock   held while an emulator uses DIR
//   DIR/generation-N/   a store; the highest complete N is the living one, a reset makes a higher
//   one. One whose creation was
//                       cut off (IsUnfinishedStore) is a leftover: the next start removes it
//   DIR/deleted-N       the generations up to N were deleted: without a higher one nothing lives
//   here any more
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_DATA_DIRECTORY_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_DATA_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Thread safety: one thread at a time, but the static functions from any.
class DataDirectory {
 public:
  // Creates the folder and those above it where they are missing, the folder with mode 0700. One
  // line for the user where others of this machine may read a folder that was there.
  static Result<std::vector<std::string>> Prepare(const std::string& path);
  // Creates the folder if it is missing and locks it. kInvalidArgument when it cannot be created,
  // written or locked; kResourceExhausted when the disk is full or descriptors are used up.
  static Result<std::unique_ptr<DataDirectory>> Open(std::string path);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  // The folder of the living generation; the store creates it.
  std::string CurrentPath() const;
  // The folder after the current one. Adopt makes it the current one.
  std::string NextPath() const;
  void AdoptNext();
  const std::string& path() const { return path_; }

  // Says, on disk, that what is here was deleted. Files stay where they are: requests may still use
  // them. kInternal.
  Result<void> MarkDeleted();
  // Marked, and no generation was adopted since.
  bool is_deleted() const { return deleted_ >= generation_; }
  // The same of a folder that nobody has open.
  static bool IsDeleted(const std::string& path);
  // Whether a folder that nobody has open was deleted, or has nothing but generations whose
  // creation was cut off.
  static bool IsVacant(const std::string& path);
  // Renames a folder that nobody uses to a name beside it that IsTrash knows; nullopt when that
  // fails.
  static std::optional<std::string> MoveToGrave(const std::string& path);
  static bool IsTrash(std::string_view folder_name);

  // Removes a folder and everything in it. Failures leave it for the next start.
  static void Remove(const std::string& path);
  // N of a folder named generation-N.
  static std::optional<std::uint64_t> GenerationOf(std::string_view folder_name);
  // Of a folder that nobody has open: removes generations whose creation was cut off.
  static void RemoveUnfinished(const std::string& path);
  // Removes what earlier processes left behind.
  void RemoveOthers() const;

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string PathOf(std::uint64_t generation) const;

  const std::string path_;
  const int lock_;
  std::uint64_t generation_ = 0;  // above 0 once open
  std::uint64_t deleted_ = 0;     // generations up to this one are
  std::uint64_t next_ = 0;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_DATA_DIRECTORY_H_
