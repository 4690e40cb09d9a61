// The names in a directory.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_DIRECTORY_NAMES_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_DIRECTORY_NAMES_H_

#include <string>
#include <system_error>
#include <vector>

namespace penstock::emulator::store {

// Returns the names in the directory `path`, without "." and "..". After an error: those that were
// read before it. Use this function instead of the iterators of std::filesystem and
// std::filesystem::remove_all: in libstdc++ 12 these end the process if a name finds no memory.
std::vector<std::string> NamesIn(const std::string& path, std::error_code& error);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_DIRECTORY_NAMES_H_
