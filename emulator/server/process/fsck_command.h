// `penstock-emulator fsck DIR`: checks what `--data DIR` keeps, and changes nothing.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_FSCK_COMMAND_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_FSCK_COMMAND_H_

#include <string>
#include <vector>

namespace penstock::emulator::server {

struct FsckOutcome {
  // 0 clean, 1 damage, 2 not checked (usage, no store, in use, the schema version of another build)
  int status = 0;
  std::string out;    // for standard output
  std::string error;  // for standard error; one line
};

// `arguments`: what follows "fsck" on the command line.
FsckOutcome RunFsck(const std::vector<std::string>& arguments);

struct FoundStores {
  // The folders of the living stores: each with penstock.db in it, of several generations the last
  // complete one.
  std::vector<std::string> stores;
  // The folders of stores whose creation was cut off. The next start removes them.
  std::vector<std::string> leftovers;
};

// What a data directory has, in the order of the paths.
FoundStores StoresIn(const std::string& directory);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_FSCK_COMMAND_H_
