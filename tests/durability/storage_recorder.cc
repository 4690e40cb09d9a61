// Preloaded into an emulator by the tests of power failures: appends every change of files below
// RECORDED_DIRECTORY to the file RECORDED_LOG, in order. A record is a struct Record, then
// `path_size` and `other_size` bytes of paths, then `size` bytes of data. A mapped file ("-mark")
// is compared with its last state before each record, and a change is recorded as a write.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum Kind {
  kCreate = 1,
  kWrite,
  kTruncate,
  kAllocate,
  kSync,
  kRename,
  kUnlink,
  kMakeDirectory,
  kRemoveDirectory
};

struct Record {
  uint32_t kind;
  uint32_t path_size;
  uint32_t other_size;
  uint32_t padding;
  uint64_t inode;
  uint64_t offset;
  uint64_t size;
};

enum { kMarkSize = 4096, kMaxMarks = 64 };
struct Mark {
  void* address;
  uint64_t inode;
  char seen[kMarkSize];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static const char* directory = NULL;
static struct Mark marks[kMaxMarks];
static int mark_count = 0;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void Start(void) {
  directory = getenv("RECORDED_DIRECTORY");
  const char* log = getenv("RECORDED_LOG");
  if (directory != NULL && log != NULL) {
    log_file =
        (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
}

static void Append(const void* bytes, size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const long written = syscall(SYS_write, log_file, at, size);
    if (written <= 0) abort();
    at += written;
    size -= (size_t)written;
  }
}

static void Put(enum Kind kind, uint64_t inode, uint64_t offset, uint64_t size, const void* data,
                const char* path, const char* other) {
  const Record record{static_cast<uint32_t>(kind),
                      path ? static_cast<uint32_t>(strlen(path)) : 0,
                      other ? static_cast<uint32_t>(strlen(other)) : 0,
                      0,
                      inode,
                      offset,
                      size};
  Append(&record, sizeof(record));
  if (path) Append(path, record.path_size);
  if (other) Append(other, record.other_size);
  if (data) Append(data, size);
}

static void PutMarks(void) {
  for (int i = 0; i < mark_count; ++i) {
    struct Mark* mark = &marks[i];
    if (mark->address == NULL || memcmp(mark->address, mark->seen, kMarkSize) == 0) continue;
    memcpy(mark->seen, mark->address, kMarkSize);
    Put(kWrite, mark->inode, 0, kMarkSize, mark->seen, NULL, NULL);
  }
}

static int Lock(void) {
  if (log_file < 0) return 0;
  pthread_mutex_lock(&mutex);
  PutMarks();
  return 1;
}
static void Unlock(int locked) {
  if (locked) pthread_mutex_unlock(&mutex);
}
static int IsRecorded(const char* path) {
  return directory != NULL && strncmp(path, directory, strlen(directory)) == 0;
}

// The inode of a file; 0: a file outside the recorded directory, or without a name.
static uint64_t InodeOf(int fd) {
  char link[64], path[4096];
  struct stat status;
  strcpy(link, "/proc/self/fd/");
  char digits[16];
  int at = 15, value = fd;
  digits[at] = '\0';
  do digits[--at] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  strcat(link, digits + at);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  if (size <= 0) return 0;
  path[size] = '\0';
  if (!IsRecorded(path) || fstat(fd, &status) != 0) return 0;
  return status.st_ino;
}

// `path` with a leading "/proc/self/fd/N" replaced by the path of that directory, in `into`.
static const char* Resolved(const char* path, char (&into)[8192]) {
  static const char kDescriptors[] = "/proc/self/fd/";
  if (strncmp(path, kDescriptors, sizeof(kDescriptors) - 1) != 0) return path;
  char link[64];
  const char* const rest = strchr(path + sizeof(kDescriptors) - 1, '/');
  const size_t size = rest ? (size_t)(rest - path) : strlen(path);
  if (size >= sizeof(link)) return path;
  memcpy(link, path, size);
  link[size] = '\0';
  const ssize_t length = readlink(link, into, 4096);
  if (length <= 0) return path;
  into[length] = '\0';
  if (rest && strlen(rest) < 4096) strcpy(into + length, rest);
  return into;
}

static int Opened(int fd, const char* path, int flags, int existed) {
  struct stat status;
  char resolved[8192];
  path = Resolved(path, resolved);
  if (fd < 0 || !IsRecorded(path) || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return fd;
  if (!existed) Put(kCreate, status.st_ino, 0, 0, NULL, path, NULL);
  if (existed && (flags & O_TRUNC) != 0) Put(kTruncate, status.st_ino, 0, 0, NULL, NULL, NULL);
  return fd;
}

extern "C" {

#define DEFINE_OPEN(name)                                                             \
  int name(const char* path, int flags, ...) {                                        \
    va_list rest;                                                                     \
    va_start(rest, flags);                                                            \
    const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                     \
    if ((flags & (O_CREAT | O_TRUNC)) == 0) return REAL(name)(path, flags, mode);     \
    const int locked = Lock();                                                        \
    const int existed = access(path, F_OK) == 0;                                      \
    int fd = REAL(name)(path, flags, mode);                                           \
    if (locked) fd = Opened(fd, path, flags, existed);                                \
    Unlock(locked);                                                                   \
    return fd;                                                                        \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define RECORD_FD(fd, kind, offset, size, data)                                               \
  do {                                                                                        \
    const uint64_t inode = InodeOf(fd);                                                       \
    if (inode != 0) Put(kind, inode, (uint64_t)(offset), (uint64_t)(size), data, NULL, NULL); \
  } while (0)

ssize_t write(int fd, const void* bytes, size_t count) {
  const int locked = fd > 2 && InodeOf(fd) != 0 && Lock();
  const off_t at = locked ? lseek(fd, 0, SEEK_CUR) : 0;
  const ssize_t done = syscall(SYS_write, fd, bytes, count);
  if (locked && done > 0) RECORD_FD(fd, kWrite, at, done, bytes);
  Unlock(locked);
  return done;
}

#define DEFINE_PWRITE(name, offset_type)                                      \
  ssize_t name(int fd, const void* bytes, size_t count, offset_type offset) { \
    const int locked = Lock();                                                \
    const ssize_t done = syscall(SYS_pwrite64, fd, bytes, count, offset);     \
    if (locked && done > 0) RECORD_FD(fd, kWrite, offset, done, bytes);       \
    Unlock(locked);                                                           \
    return done;                                                              \
  }
DEFINE_PWRITE(pwrite, off_t)
DEFINE_PWRITE(pwrite64, off_t)

#define DEFINE_TRUNCATE(name, offset_type)                                \
  int name(int fd, offset_type length) {                                  \
    const int locked = Lock();                                            \
    const int result = (int)syscall(SYS_ftruncate, fd, length);           \
    if (locked && result == 0) RECORD_FD(fd, kTruncate, length, 0, NULL); \
    Unlock(locked);                                                       \
    return result;                                                        \
  }
DEFINE_TRUNCATE(ftruncate, off_t)
DEFINE_TRUNCATE(ftruncate64, off_t)

#define DEFINE_ALLOCATE(name, offset_type)                                                      \
  int name(int fd, int mode, offset_type offset, offset_type length) {                          \
    const int locked = Lock();                                                                  \
    const int result = (int)syscall(SYS_fallocate, fd, mode, offset, length);                   \
    if (locked && result == 0 && mode == 0) RECORD_FD(fd, kAllocate, offset + length, 0, NULL); \
    Unlock(locked);                                                                             \
    return result;                                                                              \
  }
DEFINE_ALLOCATE(fallocate, off_t)
DEFINE_ALLOCATE(fallocate64, off_t)

// Under the lock, so that each write of another thread is either before the call and on the disk,
// or after it.
#define DEFINE_SYNC(name)                                        \
  int name(int fd) {                                             \
    const int locked = Lock();                                   \
    const int result = (int)syscall(SYS_##name, fd);             \
    if (locked && result == 0) RECORD_FD(fd, kSync, 0, 0, NULL); \
    Unlock(locked);                                              \
    return result;                                               \
  }
DEFINE_SYNC(fsync)
DEFINE_SYNC(fdatasync)

int msync(void* address, size_t size, int flags) {
  const int locked = Lock();
  const int result = (int)syscall(SYS_msync, address, size, flags);
  for (int i = 0; locked && result == 0 && i < mark_count; ++i) {
    if (marks[i].address == address) Put(kSync, marks[i].inode, 0, 0, NULL, NULL, NULL);
  }
  Unlock(locked);
  return result;
}

static void* Map(void* wanted, size_t size, int protection, int flags, int fd, off_t offset) {
  const int is_mark =
      fd >= 0 && (protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0 && size == kMarkSize;
  const int locked = is_mark && Lock();
  void* const address = (void*)syscall(SYS_mmap, wanted, size, protection, flags, fd, offset);
  const uint64_t inode = locked && address != MAP_FAILED ? InodeOf(fd) : 0;
  if (inode != 0) {
    int i = 0;
    while (i < mark_count && marks[i].address != NULL) ++i;
    if (i == kMaxMarks) abort();
    if (i == mark_count) ++mark_count;
    marks[i].address = address;
    marks[i].inode = inode;
    memcpy(marks[i].seen, address, kMarkSize);
  }
  Unlock(locked);
  return address;
}
void* mmap(void* wanted, size_t size, int protection, int flags, int fd, off_t offset) {
  return Map(wanted, size, protection, flags, fd, offset);
}
void* mmap64(void* wanted, size_t size, int protection, int flags, int fd, off_t offset) {
  return Map(wanted, size, protection, flags, fd, offset);
}
int munmap(void* address, size_t size) {
  const int locked = size == kMarkSize && Lock();
  for (int i = 0; locked && i < mark_count; ++i) {
    if (marks[i].address == address) marks[i].address = NULL;
  }
  const int result = (int)syscall(SYS_munmap, address, size);
  Unlock(locked);
  return result;
}

int rename(const char* from, const char* to) {
  const int locked = Lock();
  const int result = (int)syscall(SYS_rename, from, to);
  char from_resolved[8192], to_resolved[8192];
  from = Resolved(from, from_resolved);
  to = Resolved(to, to_resolved);
  if (locked && result == 0 && IsRecorded(to)) Put(kRename, 0, 0, 0, NULL, from, to);
  Unlock(locked);
  return result;
}

#define DEFINE_PATH(name, call, kind)                                                    \
  {                                                                                      \
    const int locked = Lock();                                                           \
    const int result = (int)(call);                                                      \
    char resolved[8192];                                                                 \
    path = Resolved(path, resolved);                                                     \
    if (locked && result == 0 && IsRecorded(path)) Put(kind, 0, 0, 0, NULL, path, NULL); \
    Unlock(locked);                                                                      \
    return result;                                                                       \
  }
int unlink(const char* path)
    DEFINE_PATH(unlink, syscall(SYS_unlink, path), kUnlink) int rmdir(const char* path)
        DEFINE_PATH(rmdir, syscall(SYS_rmdir, path), kRemoveDirectory) int mkdir(const char* path,
                                                                                 mode_t mode)
            DEFINE_PATH(mkdir, syscall(SYS_mkdir, path, mode), kMakeDirectory)

}  // extern "C"
