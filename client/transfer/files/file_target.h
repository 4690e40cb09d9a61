// The file that a download writes: a temporary file in its folder, renamed when it is complete.
#ifndef PENSTOCK_CLIENT_TRANSFER_FILES_FILE_TARGET_H_
#define PENSTOCK_CLIENT_TRANSFER_FILES_FILE_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/io/descriptor.h"
#include "base/io/rename.h"
#include "penstock/base/bytes.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::transfer {

// An open folder.
struct Folder {
  Descriptor fd;
  std::string path;  // for messages
};

Result<Folder> OpenFolder(const std::string& path);

// The path of a file to write.
struct FilePath {
  std::string folder;  // "." if the path has none
  std::string name;
};
// Returns kInvalidArgument if the path has no file name.
Result<FilePath> SplitPath(const std::string& path);

// Opens the folder below `base`, and creates missing ones. Does not follow symbolic links below
// `base`: they are an error, as is a file in place of a folder.
Result<Folder> MakeFolders(const Folder& base, const std::vector<std::string>& components);

// Splits `rest`, the part of a key after the prefix, into the components of a path. Returns
// kInvalidArgument if the path would leave its folder, or has a NUL, or has a component that is
// empty, "." or "..".
Result<std::vector<std::string>> PathOfKey(std::string_view rest);

// Returns kAlreadyExists if the folder has a file, folder or link of that name.
Result<void> CheckAbsent(const Folder& folder, const std::string& name);

class FileTarget {
 public:
  // Creates the temporary file. `name` is the final name in `folder`. The new file gets the
  // permissions of a regular file with that name. For a folder, a device, a FIFO or a socket the
  // result is kInvalidArgument. With kKeep, a file, folder or link of that name is kAlreadyExists,
  // now and in Publish.
  static Result<FileTarget> Create(Folder folder, std::string name,
                                   ExistingFile existing = ExistingFile::kReplace);
  FileTarget(FileTarget&&) = default;
  FileTarget& operator=(FileTarget&&) = delete;
  // Removes the temporary file unless Publish succeeded.
  ~FileTarget();

  Result<void> Append(ByteView bytes);
  // Truncates the file to 0 bytes.
  Result<void> Clear();
  // Sets the modification time. Call it after the last Append.
  Result<void> SetModified(WallTime time);
  // Closes and renames the file. `sync`: flushes the file and the folder to the disk.
  Result<void> Publish(bool sync);
  std::uint64_t bytes() const { return written_; }

 private:
  FileTarget(Folder folder, std::string name, ExistingFile existing, std::string temporary,
             Descriptor fd)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        existing_(existing),
        temporary_(std::move(temporary)),
        fd_(std::move(fd)) {}
  std::string PathOf(const std::string& name) const;

  Folder folder_;
  std::string name_;
  ExistingFile existing_;
  std::string temporary_;  // empty: published
  Descriptor fd_;
  std::uint64_t written_ = 0;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_FILES_FILE_TARGET_H_
