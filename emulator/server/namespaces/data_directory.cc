#include "emulator/server/namespaces/data_directory.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log/diagnostics.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/system/descriptor.h"
#include "emulator/store/system/directory_names.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kGeneration = "generation-";
constexpr std::string_view kDeleted = "deleted-";
constexpr std::string_view kCreated = "created-";
constexpr std::string_view kReplaced = "replaced-";
constexpr std::string_view kTrashPrefix = ".deleted-";
constexpr std::string_view kLock = "penstock.lock";

constinit DiagnosticEvent not_removed("server.folder_not_removed");  // the next start removes it
// A later loss of the store may stay undetected.
constinit DiagnosticEvent not_recorded("server.creation_not_recorded");
// A power failure may remove the new directory.
constinit DiagnosticEvent not_synced("server.parent_folder_not_synced");

// Returns a number above `least` that this process has not used. The directory of a store that is
// being removed can then never be confused with that of a new one in the same place.
std::uint64_t FreshNumber(std::uint64_t least) {
  static std::atomic<std::uint64_t> highest{0};
  std::uint64_t seen = highest.load();
  std::uint64_t fresh = 0;
  do {
    fresh = (seen > least ? seen : least) + 1;
  } while (!highest.compare_exchange_weak(seen, fresh));
  return fresh;
}

// Returns N for "PREFIXN", where N has no leading zeros: each number has one name.
std::optional<std::uint64_t> NumberOf(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::uint64_t number = 0;
  const auto parsed =
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return std::nullopt;
  if (name[prefix.size()] == '0' && name.size() > prefix.size() + 1) return std::nullopt;
  return number;
}

std::string NameOf(std::string_view prefix, std::uint64_t number) {
  return std::string(prefix) + std::to_string(number);
}

// What the names in a directory say. Numbers are the highest ones; 0 if there is none.
struct Contents {
  std::uint64_t generation = 0;  // of a complete store
  std::uint64_t deleted = 0;
  std::uint64_t created = 0;
  std::vector<std::uint64_t> unfinished;
  std::vector<std::uint64_t> databases;  // generations with a complete database
  std::vector<std::uint64_t> replaced;
  std::string no_directory;  // the name of a generation that is a file; empty: none
  bool has_other_names = false;
  std::string of_other_data;  // a name that shows that the default namespace has had a store

  std::uint64_t used() const {
    std::uint64_t highest = std::max({generation, deleted, created});
    for (const std::uint64_t number : unfinished) highest = std::max(highest, number);
    return highest;
  }
  bool is_deleted() const { return deleted > 0 && deleted >= generation && deleted >= created; }
};

void AddGeneration(std::uint64_t number, const std::string& path, Contents& contents) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) contents.no_directory = NameOf(kGeneration, number);
  const store::StoreState state = store::StateOfStore(path);
  if (state == store::StoreState::kUnfinished) return contents.unfinished.push_back(number);
  contents.generation = std::max(contents.generation, number);
  if (state == store::StoreState::kHasDatabase) contents.databases.push_back(number);
}

// The users database and the other namespaces are created after the default namespace's store.
bool IsOfOtherData(const std::string& directory, const std::string& name) {
  std::error_code ignored;
  if (name == "namespaces") return !store::NamesIn(directory + "/" + name, ignored).empty();
  return name == "users.db" || name == "users.db-mark" || name == "created-users";
}

Contents ContentsOf(const std::string& path, std::error_code& error) {
  Contents contents;
  for (const std::string& name : store::NamesIn(path, error)) {
    if (const auto generation = NumberOf(name, kGeneration)) {
      AddGeneration(*generation, path + "/" + name, contents);
    } else if (const auto deleted = NumberOf(name, kDeleted)) {
      contents.deleted = std::max(contents.deleted, *deleted);
    } else if (const auto created = NumberOf(name, kCreated)) {
      contents.created = std::max(contents.created, *created);
    } else if (const auto replaced = NumberOf(name, kReplaced)) {
      contents.replaced.push_back(*replaced);
    } else if (name != kLock && !DataDirectory::IsTrash(name)) {
      contents.has_other_names = true;
      if (IsOfOtherData(path, name)) contents.of_other_data = name;
    }
  }
  return contents;
}

// Why no store may be opened or created there. Empty: no problem.
std::string ProblemOf(const Contents& contents) {
  constexpr std::string_view kFix =
      "; restore a backup into an empty directory, or choose another directory";
  if (contents.is_deleted()) return {};
  if (!contents.no_directory.empty())
    return "'" + contents.no_directory + "' is not a directory" + std::string(kFix);
  if (contents.created > contents.generation) {
    return "its store is missing: the directory " + NameOf(kGeneration, contents.created) +
           " is missing or empty, but " + NameOf(kCreated, contents.created) +
           " records that its creation was completed" + std::string(kFix);
  }
  if (contents.generation == 0 && !contents.of_other_data.empty()) {
    return "its store is missing: there is no directory " + std::string(kGeneration) +
           "N with a database, but '" + contents.of_other_data + "' was created after it" +
           std::string(kFix);
  }
  for (const std::uint64_t older : contents.databases) {
    const auto& replaced = contents.replaced;
    if (older >= contents.generation || older <= contents.deleted ||
        std::find(replaced.begin(), replaced.end(), older) != replaced.end())
      continue;
    return "it contains two stores, " + NameOf(kGeneration, older) + " and " +
           NameOf(kGeneration, contents.generation) +
           ": a backup was copied into a directory that was in use, or an earlier build's reset "
           "was "
           "interrupted; move the store that is not needed, with its " +
           std::string(kCreated) +
           "N file, to another place, or restore the backup into an empty "
           "directory";
  }
  return {};
}

// Creates the empty file `path`, or returns an errno.
int CreateMark(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

Result<void> CreateMarkOrFail(const std::string& path) {
  const int error = CreateMark(path);
  if (error == 0) return Ok();
  return store::SystemError(ErrorKind::kInternal, "create", path, error);
}

// Creates created-NUMBER and removes the lower ones.
void RecordCreationOf(const std::string& directory, std::uint64_t number) {
  const std::string mark = directory + "/" + NameOf(kCreated, number);
  if (const int error = CreateMark(mark); error != 0)
    return not_recorded.ReportSystemError(mark, error);
  std::error_code error;
  for (const std::string& name : store::NamesIn(directory, error)) {
    const auto created = NumberOf(name, kCreated);
    if (created && *created < number) std::remove((directory + "/" + name).c_str());
  }
}

// Returns the directories that get a new entry when `path` and its missing parents are created.
std::vector<fs::path> ParentsToCreateIn(const fs::path& path) {
  std::vector<fs::path> parents;
  std::error_code ignored;
  for (fs::path at = fs::absolute(path, ignored);
       at.has_relative_path() && !fs::exists(at, ignored); at = at.parent_path()) {
    parents.push_back(at.parent_path());
  }
  return parents;
}

// Returns the data directory that contains `path` in its directory of namespaces; empty: none does.
fs::path OuterDirectoryOf(const fs::path& path) {
  std::error_code ignored;
  for (fs::path at = path; at.has_relative_path(); at = at.parent_path()) {
    const fs::path outer = at.parent_path();
    if (at.filename() == "namespaces" && fs::exists(outer / kLock, ignored)) return outer;
  }
  return {};
}

Result<void> CheckNotInsideAnother(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path outer = OuterDirectoryOf(absolute.lexically_normal());
  if (outer.empty()) outer = OuterDirectoryOf(fs::weakly_canonical(absolute, error));
  if (outer.empty()) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     "data directory '" + path +
                         "' cannot be used: it is inside the namespaces of the data directory '" +
                         outer.string() + "'; use that one, or choose another directory");
}

Error Unusable(const std::string& path, int system_error) {
  const Error cause = store::SystemError(ErrorKind::kInvalidArgument, "use", path, system_error);
  const bool exhausted = cause.kind == ErrorKind::kResourceExhausted;
  return Error::Make(
      cause.kind,
      "data directory '" + path + "' cannot be used: " + std::strerror(system_error) +
          (exhausted ? "; free some and try again" : "; choose a directory this user may write"));
}

Error InUse(const std::string& path) {
  return Error::Make(ErrorKind::kConflict,
                     "data directory '" + path +
                         "' is in use by another emulator; stop it or choose another directory");
}

}  // namespace

std::optional<std::uint64_t> DataDirectory::GenerationOf(std::string_view folder_name) {
  return NumberOf(folder_name, kGeneration);
}

Result<std::vector<std::string>> DataDirectory::Prepare(const std::string& path) {
  PENSTOCK_TRY(CheckNotInsideAnother(path));
  std::error_code error;
  const std::vector<fs::path> changed = ParentsToCreateIn(path);
  fs::create_directories(fs::absolute(path).parent_path(), error);
  if (error) return Unusable(path, error.value());
  std::vector<std::string> notices;
  if (::mkdir(path.c_str(), 0700) == 0) {
    // A parent that this user cannot read cannot be fsynced.
    for (const fs::path& parent : changed) {
      const Result<void> synced = store::SyncDirectory(parent.string());
      if (!synced.ok()) not_synced.Report(synced.error());
    }
    return notices;
  }
  if (errno != EEXIST) return Unusable(path, errno);
  struct stat state {};
  const bool found = ::stat(path.c_str(), &state) == 0;
  if (found && !S_ISDIR(state.st_mode)) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "data directory '" + path +
                           "' is a file; choose a directory, or a path that does not exist yet");
  }
  if (found && (state.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(state.st_mode & 07777));
    notices.push_back("other users of this machine may read the data directory '" + path +
                      "' (mode " + mode + "); to prevent it: chmod 700 '" + path + "'");
  }
  return notices;
}

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(std::string path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Unusable(path, error.value());
  const std::string lock_path = path + "/" + std::string(kLock);
  Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return Unusable(path, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK ? InUse(path) : Unusable(path, errno);
  std::unique_ptr<DataDirectory> directory(new DataDirectory(std::move(path), std::move(lock)));
  const Contents contents = ContentsOf(directory->path_, error);
  if (error) return Unusable(directory->path_, error.value());
  if (const std::string problem = ProblemOf(contents); !problem.empty()) {
    return Error::Make(ErrorKind::kDataLoss,
                       "data directory '" + directory->path_ + "' cannot be used: " + problem);
  }
  directory->deleted_ = contents.deleted;
  directory->created_ = contents.created;
  directory->has_store_ = contents.generation > 0;
  directory->generation_ =
      contents.generation > 0 ? contents.generation : FreshNumber(contents.used());
  directory->next_ = FreshNumber(std::max(directory->generation_, contents.used()));
  return directory;
}

DataDirectory::~DataDirectory() {
  // Explicit, because a forked worker may hold a copy of the descriptor, which keeps the lock.
  ::flock(lock_.get(), LOCK_UN);
}

std::string DataDirectory::PathOf(std::uint64_t generation) const {
  return path_ + "/" + NameOf(kGeneration, generation);
}

std::string DataDirectory::CurrentPath() const { return PathOf(generation_); }

std::string DataDirectory::NextPath() const { return PathOf(next_); }

void DataDirectory::AdoptNext() {
  generation_ = next_;
  next_ = FreshNumber(generation_);
}

void DataDirectory::RemoveNext() const {
  const std::string path = NextPath();
  Remove(MoveToTrash(path).value_or(path));
}

void DataDirectory::RecordCreation(store::Durability durability) {
  has_store_ = true;
  if (created_ == generation_) return;
  created_ = generation_;
  try {
    RecordCreationOf(path_, generation_);
  } catch (...) {  // no memory; the store itself is complete
    not_recorded.Report(CurrentExceptionError());
  }
  if (durability != store::Durability::kStrict) return;
  if (const auto synced = store::SyncDirectory(path_); !synced.ok())
    not_recorded.Report(synced.error());
}

Result<void> DataDirectory::MarkReplaced() {
  return CreateMarkOrFail(path_ + "/" + NameOf(kReplaced, generation_));
}

Result<std::string> DataDirectory::StoreProblem(const std::string& path) {
  std::error_code error;
  const Contents contents = ContentsOf(path, error);
  if (error) return Unusable(path, error.value());
  return ProblemOf(contents);
}

Result<void> DataDirectory::MarkDeleted() {
  PENSTOCK_TRY(CreateMarkOrFail(path_ + "/" + NameOf(kDeleted, generation_)));
  deleted_ = generation_;
  return Ok();
}

bool DataDirectory::IsDeleted(const std::string& path) {
  std::error_code error;
  const Contents contents = ContentsOf(path, error);
  return !error && contents.is_deleted();
}

bool DataDirectory::IsVacant(const std::string& path) {
  std::error_code error;
  const Contents contents = ContentsOf(path, error);
  const bool is_unused =
      contents.generation == 0 && contents.created == 0 && !contents.has_other_names;
  return !error && (contents.is_deleted() || is_unused);
}

bool DataDirectory::IsForeign(const std::string& path) {
  std::error_code error;
  const fs::file_type entry = fs::symlink_status(path, error).type();
  if (entry == fs::file_type::not_found || entry == fs::file_type::none) return false;
  const fs::file_type target = fs::status(path, error).type();
  if (target != fs::file_type::directory) return target != fs::file_type::none;
  error.clear();
  const Contents contents = ContentsOf(path, error);
  return !error && contents.has_other_names && contents.used() == 0 && contents.replaced.empty();
}

std::optional<std::string> DataDirectory::MoveToTrash(const std::string& path) {
  static std::atomic<std::uint64_t> count{0};
  try {
    const fs::path trash =
        fs::path(path).parent_path() / (std::string(kTrashPrefix) + std::to_string(++count));
    std::error_code error;
    fs::rename(path, trash, error);
    if (!error) return trash.string();
    if (error != std::errc::no_such_file_or_directory)
      not_removed.ReportSystemError(path, error.value());
  } catch (...) {  // no memory; destructors call this function
    not_removed.Report(CurrentExceptionError());
  }
  return std::nullopt;
}

bool DataDirectory::IsTrash(std::string_view folder_name) {
  return folder_name.starts_with(kTrashPrefix);
}

void DataDirectory::Remove(const std::string& path) {
  // Destructors call this function. fs::remove_all could end the process (directory_names.h).
  constexpr int kMaxDescriptors = 16;
  const auto remove_entry = [](const char* entry, const struct stat*, int, FTW*) {
    return std::remove(entry);
  };
  if (::nftw(path.c_str(), remove_entry, kMaxDescriptors, FTW_DEPTH | FTW_PHYS) != 0 &&
      errno != ENOENT) {
    not_removed.ReportSystemError(path, errno);
  }
}

void DataDirectory::RemoveReplaced(const std::string& generation_path) {
  Remove(generation_path);
  try {
    const fs::path path(generation_path);
    const auto number = GenerationOf(path.filename().string());
    std::error_code error;
    // Without its mark, a rest of the generation would be taken for a store.
    if (number && !fs::exists(path, error) && !error)
      fs::remove(path.parent_path() / NameOf(kReplaced, *number), error);
  } catch (...) {  // no memory; destructors call this function
    not_removed.Report(CurrentExceptionError());
  }
}

void DataDirectory::TidyUp(const std::string& path) {
  std::error_code error;
  const Contents contents = ContentsOf(path, error);
  if (error || !ProblemOf(contents).empty()) return;
  for (const std::uint64_t number : contents.unfinished)
    Remove(path + "/" + NameOf(kGeneration, number));
  if (contents.generation > contents.created) RecordCreationOf(path, contents.generation);
}

void DataDirectory::RemoveOthers() const {
  std::error_code error;
  std::vector<std::string> others;
  std::vector<std::string> marks;
  for (const std::string& name : store::NamesIn(path_, error)) {
    const auto generation = NumberOf(name, kGeneration);
    const auto deleted = NumberOf(name, kDeleted);
    if ((generation && *generation != generation_) || IsTrash(name))
      others.push_back(path_ + "/" + name);
    if ((deleted && *deleted < generation_) || NumberOf(name, kReplaced))
      marks.push_back(path_ + "/" + name);
  }
  // Removes the marks last: until then they show that the generations are not in use.
  for (const std::string& other : others) Remove(other);
  const bool are_removed =
      std::none_of(others.begin(), others.end(),
                   [&](const std::string& other) { return fs::exists(other, error) || error; });
  if (!are_removed) return;
  for (const std::string& mark : marks) Remove(mark);
}

}  // namespace penstock::emulator::server
