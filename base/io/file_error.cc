#include "base/io/file_error.h"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace penstock {
namespace {

ErrorKind KindOf(int system_error) {
  switch (system_error) {
    case ENOENT: return ErrorKind::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorKind::kAccessDenied;
    case EEXIST:
    case ENOTEMPTY: return ErrorKind::kAlreadyExists;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return ErrorKind::kResourceExhausted;
    case EINVAL:
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG: return ErrorKind::kInvalidArgument;
    default: return ErrorKind::kInternal;
  }
}

}  // namespace

Error FileError(std::string_view action, const std::string& path, int system_error) {
  return Error::Make(KindOf(system_error), "cannot " + std::string(action) + " '" + path + "': " +
                                               std::generic_category().message(system_error));
}

Result<void> WriteAt(int fd, ByteView bytes, std::uint64_t offset, const std::string& path) {
  while (!bytes.empty()) {
    const ::ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<::off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return FileError("write", path, count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return Ok();
}

}  // namespace penstock
