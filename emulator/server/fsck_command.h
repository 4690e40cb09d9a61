// `penstock-emulator fsck DIR`: checks what `--data DIR` keeps, and changes nothing.
#ifndef PENSTOCK_EMULATOR_SERVER_FSCK_COMMAND_H_
#define PENSTOCK_EMULATOR_SERVER_FSCK_COMMAND_H_

#include <string>
#include <vector>

namespace penstock::emulator::server {

struct FsckOutcome {
  int status = 0;  // 0 clean, 1 findings, 2 nothing could be checked (usage, no store, in use)
  std::string out;  // for standard output
  std::string error;  // for standard error; one line
};

// `arguments`: what follows "fsck" on the command line.
FsckOutcome RunFsck(const std::vector<std::string>& arguments);

// The folders of the living stores in a data directory: each with penstock.db in it, of several generations the last.
std::vector<std::string> StoresIn(const std::string& directory);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_FSCK_COMMAND_H_
