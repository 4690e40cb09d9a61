// The directory of --data. One process may use it at a time. It has successive generations of the
// store.
//
//   DIR/penstock.lock   locked while an emulator uses DIR
//   DIR/generation-N/   a store. The highest complete N is current; a reset creates a higher one.
//                       A store whose creation was interrupted (IsUnfinishedStore) is removed by
//                       the next start.
//   DIR/created-N       the creation of generation N was completed: if no complete generation N or
//                       higher exists, the store was lost. Builds before this mark do not write it.
//   DIR/replaced-N      a reset replaces generation N: the next start removes it if a higher
//                       complete one exists
//   DIR/deleted-N       generations up to N are deleted; without a higher one, DIR is deleted
//   DIR/.deleted-K      a directory that is being removed
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_DATA_DIRECTORY_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_DATA_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/store/system/descriptor.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Thread safety: one thread at a time; static functions may be called from any thread.
class DataDirectory {
 public:
  // Creates the directory, with mode 0700, and missing directories above it. Returns a notice for
  // the user if the directory existed and other users of this machine may read it. Returns
  // kInvalidArgument for a directory inside the namespaces of another data directory.
  static Result<std::vector<std::string>> Prepare(const std::string& path);
  // Creates the directory if it is missing, and locks it. Returns kConflict while another
  // emulator uses it, kInvalidArgument when it cannot be created, written or locked, and
  // kResourceExhausted when the disk or the descriptors are used up; kDataLoss for the problems of
  // StoreProblem.
  static Result<std::unique_ptr<DataDirectory>> Open(std::string path);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  // The directory of the current generation. The store creates it.
  std::string CurrentPath() const;
  // The directory of the next generation. AdoptNext makes it current.
  std::string NextPath() const;
  void AdoptNext();
  // Removes the directory of the next generation. If that is interrupted, the rest is not taken for
  // a store, and the next start removes it.
  void RemoveNext() const;
  // Records that the creation of the current generation was completed. If that fails, a later loss
  // of the store may stay undetected.
  void RecordCreation(store::Durability durability);
  // Records that the next generation will replace the current one.
  Result<void> MarkReplaced();
  // Whether the directory has a complete current generation.
  bool has_store() const { return has_store_; }
  const std::string& path() const { return path_; }

  // Marks the contents as deleted, on disk. Files stay, because requests may still use them.
  // Returns kInternal on failure.
  Result<void> MarkDeleted();
  // Whether it is marked as deleted and no generation was adopted since.
  bool is_deleted() const { return deleted_ >= generation_; }
  // is_deleted for a directory that is not in use.
  static bool IsDeleted(const std::string& path);
  // Whether a directory that is not in use is deleted or has only unfinished generations.
  static bool IsVacant(const std::string& path);
  // Whether there is something other than a data directory: a file, a link to nothing, or a
  // directory with other files and no trace of a store.
  static bool IsForeign(const std::string& path);
  // Renames a directory that is not in use to a name beside it that IsTrash recognizes. Does not
  // throw. Returns nullopt on failure; the next start then removes the directory.
  static std::optional<std::string> MoveToTrash(const std::string& path);
  static bool IsTrash(std::string_view folder_name);

  // Removes a directory tree. After a failure the next start removes it.
  static void Remove(const std::string& path);
  // Returns N for a directory named generation-N.
  static std::optional<std::uint64_t> GenerationOf(std::string_view folder_name);
  // Removes a replaced generation and its mark.
  static void RemoveReplaced(const std::string& generation_path);
  // Why no store in `path` may be opened or created: its store is missing, or it has several.
  // Empty: there is no such problem. A start and `fsck` both ask this function.
  static Result<std::string> StoreProblem(const std::string& path);
  // For a directory that is not in use: removes unfinished generations and records the creation of
  // the complete one.
  static void TidyUp(const std::string& path);
  // Removes what earlier processes have left.
  void RemoveOthers() const;

 private:
  DataDirectory(std::string path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string PathOf(std::uint64_t generation) const;

  const std::string path_;
  const Descriptor lock_;
  std::uint64_t generation_ = 0;  // above 0 once open
  std::uint64_t deleted_ = 0;     // generations up to this one are deleted
  std::uint64_t next_ = 0;
  std::uint64_t created_ = 0;  // the highest one that is recorded
  bool has_store_ = false;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_DATA_DIRECTORY_H_
