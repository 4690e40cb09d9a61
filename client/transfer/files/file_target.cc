#include "client/transfer/files/file_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/io/file_error.h"
#include "penstock/files.h"

namespace penstock {
namespace {

using Digits = std::array<std::byte, 4>;

// A local static would have a lock, which a thread of the parent may hold at a fork.
constinit std::atomic<Digits> digits_of_process = Digits{};

std::string RandomDigits() {
  Digits random;
  RandomBytes(random);
  return HexEncode(random);
}

}  // namespace

std::string TemporaryFilesOfProcess() {
  Digits known = digits_of_process;
  if (known != Digits{}) return HexEncode(known);
  Digits random;
  RandomBytes(random);
  return HexEncode(digits_of_process.compare_exchange_strong(known, random) ? random : known);
}

}  // namespace penstock

namespace penstock::transfer {
namespace {

std::string PathIn(const Folder& folder, const std::string& name) {
  return folder.path.empty() ? name : folder.path + "/" + name;
}

Error Refused(std::string_view key, const std::string& why) {
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the key '" + std::string(key) + "' cannot be a path below the folder: " +
                         why + "; download it with DownloadFile to a path of your choice");
}

}  // namespace

Result<Folder> OpenFolder(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return FileError("open the folder", path, errno);
  return Folder{std::move(fd), path};
}

Result<FilePath> SplitPath(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  FilePath split{".", slash == std::string::npos ? path : path.substr(slash + 1)};
  if (split.name.empty() || split.name == "." || split.name == "..") {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "'" + path + "' does not name a file: add a file name to the folder");
  }
  if (slash != std::string::npos) split.folder = slash == 0 ? "/" : path.substr(0, slash);
  return split;
}

Result<Folder> MakeFolders(const Folder& base, const std::vector<std::string>& components) {
  Folder at{Descriptor(::fcntl(base.fd.get(), F_DUPFD_CLOEXEC, 0)), base.path};
  if (!at.fd) return FileError("open the folder", base.path, errno);
  for (const std::string& name : components) {
    at.path += "/" + name;
    if (::mkdirat(at.fd.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
      return FileError("create the folder", at.path, errno);
    Descriptor next(
        ::openat(at.fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next && (errno == ENOTDIR || errno == ELOOP)) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "'" + at.path +
                             "' is a file or a symbolic link, which is not followed here; remove "
                             "it, or choose another folder");
    }
    if (!next) return FileError("open the folder", at.path, errno);
    at.fd = std::move(next);
  }
  return at;
}

Result<std::vector<std::string>> PathOfKey(std::string_view rest) {
  if (rest.find('\0') != std::string_view::npos) return Refused("(with a NUL)", "it has a NUL");
  std::vector<std::string> components;
  std::string_view left = rest;
  for (;;) {
    const std::size_t end = left.find('/');
    const std::string_view name = left.substr(0, end);
    const bool is_last = end == std::string_view::npos;
    if (name.empty() && is_last && !components.empty()) break;  // a folder: "a/"
    if (name.empty()) return Refused(rest, "it has an empty component");
    if (name == "." || name == "..")
      return Refused(rest, "it has the component '" + std::string(name) + "'");
    components.emplace_back(name);
    if (is_last) break;
    left.remove_prefix(end + 1);
  }
  return components;
}

Result<void> CheckAbsent(const Folder& folder, const std::string& name) {
  struct ::stat found {};
  if (::fstatat(folder.fd.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return Ok();
  return FileError("create", PathIn(folder, name), EEXIST);
}

std::string FileTarget::PathOf(const std::string& name) const { return PathIn(folder_, name); }

Result<FileTarget> FileTarget::Create(Folder folder, std::string name, ExistingFile existing) {
  const auto refused = [&](const char* why) {
    return Error::Make(ErrorKind::kInvalidArgument, "'" + PathIn(folder, name) + "' " + why);
  };
  if (existing == ExistingFile::kKeep) PENSTOCK_TRY(CheckAbsent(folder, name));
  struct ::stat earlier {};
  const bool has_name =
      ::fstatat(folder.fd.get(), name.c_str(), &earlier, AT_SYMLINK_NOFOLLOW) == 0;
  if (has_name && S_ISDIR(earlier.st_mode))
    return refused("is a folder; add a file name, or choose another path");
  // Follows a link such as /dev/stdout.
  const bool exists = ::fstatat(folder.fd.get(), name.c_str(), &earlier, 0) == 0;
  if (exists && !S_ISREG(earlier.st_mode) && !S_ISDIR(earlier.st_mode))
    return refused("is not a regular file, and a download would replace it; choose another path");
  // Long names leave no room for the suffix, so the temporary name has only their beginning.
  constexpr std::size_t kLongestPart = 200;
  for (int attempt = 0;; ++attempt) {
    std::string temporary = "." + name.substr(0, kLongestPart) + ".penstock-" +
                            TemporaryFilesOfProcess() + RandomDigits();
    Descriptor fd(::openat(folder.fd.get(), temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    // Some file systems have no permissions, so a failure is ignored.
    if (fd && exists && S_ISREG(earlier.st_mode))
      static_cast<void>(::fchmod(fd.get(), earlier.st_mode & 0777));
    if (fd)
      return FileTarget(std::move(folder), std::move(name), existing, std::move(temporary),
                        std::move(fd));
    if (errno != EEXIST || attempt == 10)
      return FileError("create a file in the folder", folder.path, errno);
  }
}

FileTarget::~FileTarget() {
  if (folder_.fd && !temporary_.empty()) ::unlinkat(folder_.fd.get(), temporary_.c_str(), 0);
}

Result<void> FileTarget::Append(ByteView bytes) {
  PENSTOCK_TRY(WriteAt(fd_.get(), bytes, written_, PathOf(temporary_)));
  written_ += bytes.size();
  return Ok();
}

Result<void> FileTarget::Clear() {
  if (::ftruncate(fd_.get(), 0) != 0) return FileError("truncate", PathOf(temporary_), errno);
  written_ = 0;
  return Ok();
}

Result<void> FileTarget::SetModified(WallTime time) {
  const auto since_epoch = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch - seconds);
  const ::timespec modified{static_cast<::time_t>(seconds.count()), rest.count()};
  const ::timespec times[] = {modified, modified};  // of the last access, too
  if (::futimens(fd_.get(), times) == 0) return Ok();
  return FileError("set the time of", PathOf(temporary_), errno);
}

Result<void> FileTarget::Publish(bool sync) {
  if (sync && ::fsync(fd_.get()) != 0) return FileError("flush", PathOf(temporary_), errno);
  if (const int error = fd_.Close(); error != 0)
    return FileError("close", PathOf(temporary_), error);
  const int folder = folder_.fd.get();
  PENSTOCK_TRY(RenameFile(folder, temporary_, name_, existing_, PathOf(name_)));
  temporary_.clear();
  // Some file systems cannot flush a folder (EINVAL).
  if (sync && ::fsync(folder) != 0 && errno != EINVAL)
    return FileError("flush the folder", folder_.path, errno);
  return Ok();
}

}  // namespace penstock::transfer
