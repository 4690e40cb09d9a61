// Disk space of files that are mapped into memory.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_MAPPED_SPACE_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_MAPPED_SPACE_H_

#include <cstddef>

namespace penstock::emulator::store {

// Allocates the disk space of mapped memory, which can be written and belongs to a file. Without
// it, a write to a hole of the file ends the process with SIGBUS when the disk is full.
//
// Returns: 0, or an errno: EFAULT if the file system refused a page (no space, or an error of the
// disk), ENOMEM if memory ran out. 0 without an effect on a kernel before 5.14.
int AllocateMapped(void* begin, std::size_t size);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_MAPPED_SPACE_H_
