// Errors of file operations, with the path and the cause, and writes that complete.
#ifndef PENSTOCK_BASE_IO_FILE_ERROR_H_
#define PENSTOCK_BASE_IO_FILE_ERROR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock {

// Returns an error such as: cannot open 'x': No such file or directory. `system_error` is a value
// of errno and selects the kind: kNotFound, kAccessDenied, kAlreadyExists, kResourceExhausted (disk
// full, too many open files), kInvalidArgument (a directory, an invalid path), else kInternal.
Error FileError(std::string_view action, const std::string& path, int system_error);

// Writes all bytes at `offset`. `path` is for the message of an error.
Result<void> WriteAt(int fd, ByteView bytes, std::uint64_t offset, const std::string& path);

}  // namespace penstock

#endif  // PENSTOCK_BASE_IO_FILE_ERROR_H_
