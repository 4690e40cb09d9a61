#include "base/io/rename.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/io/file_error.h"

namespace penstock {
namespace {

Error RenameError(const std::string& shown_path, int system_error) {
  return FileError("rename a complete file to", shown_path, system_error);
}

}  // namespace

Result<void> RenameFile(int folder, const std::string& from, const std::string& to,
                        ExistingFile existing, const std::string& shown_path) {
  if (existing == ExistingFile::kReplace) {
    if (::renameat(folder, from.c_str(), folder, to.c_str()) == 0) return Ok();
    return RenameError(shown_path, errno);
  }
  // glibc has renameat2 since 2.28 only.
  if (::syscall(SYS_renameat2, folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0)
    return Ok();
  if (errno == EINVAL || errno == ENOSYS) return RenameByLink(folder, from, to, shown_path);
  return RenameError(shown_path, errno);
}

Result<void> RenameByLink(int folder, const std::string& from, const std::string& to,
                          const std::string& shown_path) {
  if (::linkat(folder, from.c_str(), folder, to.c_str(), 0) == 0) {
    if (::unlinkat(folder, from.c_str(), 0) == 0) return Ok();
    return FileError("remove the temporary name of", shown_path, errno);
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
    return RenameError(shown_path, errno);
  return Error::Make(ErrorKind::kUnsupported,
                     "the file system of '" + shown_path +
                         "' cannot rename a file without replacing another one: it has neither "
                         "RENAME_NOREPLACE nor hard links; allow existing files to be replaced, or "
                         "choose a folder on another file system");
}

}  // namespace penstock
