// A directory that stays the same one when its path is renamed or replaced.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_HELD_DIRECTORY_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_HELD_DIRECTORY_H_

#include <memory>
#include <string>
#include <utility>

#include "emulator/store/system/descriptor.h"
#include "emulator/store/system/shown_paths.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

class HeldDirectory {
 public:
  // The directory at `path` must exist. Returns kInvalidArgument, or kResourceExhausted without
  // descriptors.
  static Result<std::unique_ptr<HeldDirectory>> Open(const std::string& path);

  // A path of the directory by its descriptor, valid in this process while the object exists.
  // Messages show the original path instead. Without a mounted /proc: the original path.
  const std::string& path() const { return path_; }
  static bool IsHeldPath(const char* path);

 private:
  explicit HeldDirectory(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  const Descriptor descriptor_;
  std::string path_;
  std::unique_ptr<ShownPath> shown_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_HELD_DIRECTORY_H_
