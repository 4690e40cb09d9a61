// `penstock-emulator fsck DIR`: checks the directory of `--data DIR`.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_FSCK_COMMAND_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_FSCK_COMMAND_H_

#include <string>
#include <utility>
#include <vector>

namespace penstock::emulator::server {

struct FsckOutcome {
  // 0: clean, 1: damage, 2: not checked (usage, no store, in use, another build's schema version).
  int status = 0;
  std::string out;    // for standard output
  std::string error;  // for standard error; one line
};

// `arguments`: the arguments after "fsck".
FsckOutcome RunFsck(const std::vector<std::string>& arguments);

struct FoundStores {
  // Directories of current stores. Each has a penstock.db; of several generations, it is the last
  // complete one.
  std::vector<std::string> stores;
  // Directories of stores whose creation was interrupted. The next start removes them.
  std::vector<std::string> leftovers;
  // What the emulator ignores in the directory of namespaces (Namespaces::IsForeign).
  std::vector<std::string> foreign;
  // Directories and why no store may be opened or created in them (DataDirectory::StoreProblem).
  std::vector<std::pair<std::string, std::string>> problems;
  // Directories that could not be read, and the reasons.
  std::vector<std::pair<std::string, std::string>> unreadable;
};

// Returns the stores in a data directory, sorted by path.
FoundStores StoresIn(const std::string& directory);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_FSCK_COMMAND_H_
