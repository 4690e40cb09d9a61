#include "base/io/descriptor.h"

#include <unistd.h>

#include <cerrno>

namespace penstock {

// Linux closes the descriptor even if close() fails.
int Descriptor::Close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

}  // namespace penstock
