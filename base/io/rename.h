// Renames of files within a folder, which replace a file of the new name or never do.
#ifndef PENSTOCK_BASE_IO_RENAME_H_
#define PENSTOCK_BASE_IO_RENAME_H_

#include <string>

#include "penstock/base/result.h"

namespace penstock {

// What happens to a file that has the new name of another file.
enum class ExistingFile { kReplace, kKeep };

// Renames `from` to `to`. Both are paths relative to the folder `folder`, a descriptor or AT_FDCWD,
// as for renameat. `shown_path` is `to` for messages. With kKeep, a file, folder or link of that
// name is never replaced: the result is kAlreadyExists, and `from` is unchanged. On a file system
// without RENAME_NOREPLACE, kKeep uses RenameByLink.
Result<void> RenameFile(int folder, const std::string& from, const std::string& to,
                        ExistingFile existing, const std::string& shown_path);

// The fallback of kKeep: a hard link and the removal of the old name. Returns kUnsupported if the
// file system has no hard links.
Result<void> RenameByLink(int folder, const std::string& from, const std::string& to,
                          const std::string& shown_path);

}  // namespace penstock

#endif  // PENSTOCK_BASE_IO_RENAME_H_
