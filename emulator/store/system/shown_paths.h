// Names of directories for messages. A process may use a directory by the path of a descriptor,
// which is of no use to a reader.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_SHOWN_PATHS_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_SHOWN_PATHS_H_

#include <string>

namespace penstock::emulator::store {

// While this object exists, the messages of errors and log records show `shown` instead of `path`,
// which is "/proc/self/fd/N".
class ShownPath {
 public:
  ShownPath(std::string path, std::string shown);
  ~ShownPath();
  ShownPath(const ShownPath&) = delete;
  ShownPath& operator=(const ShownPath&) = delete;

 private:
  const std::string path_;
};

// Replaces the paths of all ShownPath objects in `text`. Thread safety: any thread.
std::string WithShownPaths(std::string text);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_SHOWN_PATHS_H_
