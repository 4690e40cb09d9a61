// Makes system calls and allocations of a program fail on request. Loaded with LD_PRELOAD by
// test_resources.py.
//
// FAILING_CALLS names a file that is mapped as a struct Control. The test writes to it while the
// program runs.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

enum Kind {
  kOpen = 1,
  kWrite = 2,
  kSync = 4,
  kSize = 8,
  kDirectory = 16,
  kRead = 32,
  kSocket = 64,
  kMemory = 128,
  kTransfer = 256,  // over connections
  kMap = 512,
  kMemoryFile = 1024
};

struct Control {
  std::atomic<std::int64_t> calls;   // of the chosen kinds, since the test set it to 0
  std::atomic<std::int64_t> first;   // the first call that fails, from 1
  std::atomic<std::int64_t> last;    // the last one
  std::atomic<std::int64_t> failed;  // the number of failed calls
  std::atomic<std::int32_t> kinds;
  std::atomic<std::int32_t> error;
};

Control* control = nullptr;

bool Fails(Kind kind) {
  if (control == nullptr || (control->kinds.load() & kind) == 0) return false;
  const std::int64_t call = control->calls.fetch_add(1) + 1;
  if (call < control->first.load() || call > control->last.load()) return false;
  control->failed.fetch_add(1);
  errno = control->error.load();
  return true;
}

template <class Function>
Function Real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Open = int (*)(const char*, int, ...);

__attribute__((constructor)) void Start() {
  const char* const path = std::getenv("FAILING_CALLS");
  if (path == nullptr) return;
  const int file = Real<Open>("open")(path, O_RDWR | O_CLOEXEC);
  void* const mapped =
      ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) std::abort();
  ::close(file);
  control = static_cast<Control*>(mapped);
}

// Sockets, pipes and terminals are left alone.
bool IsFile(int fd) {
  struct stat status {};
  const int saved = errno;
  const bool is = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  errno = saved;
  return is;
}

}  // namespace

#define OPEN(name)                                                   \
  extern "C" int name(const char* path, int flags, ...) {            \
    static const auto real = Real<Open>(#name);                      \
    va_list arguments;                                               \
    va_start(arguments, flags);                                      \
    const mode_t mode = static_cast<mode_t>(va_arg(arguments, int)); \
    va_end(arguments);                                               \
    return Fails(kOpen) ? -1 : real(path, flags, mode);              \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                          \
  extern "C" int name(int directory, const char* path, int flags, ...) {       \
    static const auto real = Real<int (*)(int, const char*, int, ...)>(#name); \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    const mode_t mode = static_cast<mode_t>(va_arg(arguments, int));           \
    va_end(arguments);                                                         \
    return Fails(kOpen) ? -1 : real(directory, path, flags, mode);             \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

// Files only: the C library maps memory too.
#define MAP(name)                                                                               \
  extern "C" void* name(void* at, size_t size, int protection, int flags, int fd,               \
                        off_t offset) noexcept {                                                \
    static const auto real = Real<void* (*)(void*, size_t, int, int, int, off_t)>(#name);       \
    return fd >= 0 && Fails(kMap) ? MAP_FAILED : real(at, size, protection, flags, fd, offset); \
  }
MAP(mmap)
MAP(mmap64)

#define OPEN_DIRECTORY(name, parameters, argument)           \
  extern "C" DIR* name parameters {                          \
    static const auto real = Real<DIR*(*)parameters>(#name); \
    return Fails(kOpen) ? nullptr : real(argument);          \
  }
OPEN_DIRECTORY(opendir, (const char* path), path)
OPEN_DIRECTORY(fdopendir, (int fd), fd)

// `attribute`: noexcept where the C library's header says so.
#define CALL(kind, result, name, parameters, arguments, attribute, condition) \
  extern "C" result name parameters attribute {                               \
    static const auto real = Real<result(*) parameters>(#name);               \
    return (condition) && Fails(kind) ? result{-1} : real arguments;          \
  }
CALL(kWrite, ssize_t, write, (int fd, const void* bytes, size_t size), (fd, bytes, size), ,
     IsFile(fd))
CALL(kWrite, ssize_t, pwrite, (int fd, const void* bytes, size_t size, off_t at),
     (fd, bytes, size, at), , true)
CALL(kWrite, ssize_t, pwrite64, (int fd, const void* bytes, size_t size, off64_t at),
     (fd, bytes, size, at), , true)
CALL(kRead, ssize_t, pread, (int fd, void* bytes, size_t size, off_t at), (fd, bytes, size, at), ,
     true)
CALL(kRead, ssize_t, pread64, (int fd, void* bytes, size_t size, off64_t at), (fd, bytes, size, at),
     , true)
CALL(kSync, int, fsync, (int fd), (fd), , true)
CALL(kSync, int, fdatasync, (int fd), (fd), , true)
CALL(kSize, int, ftruncate, (int fd, off_t size), (fd, size), noexcept, true)
CALL(kSize, int, ftruncate64, (int fd, off64_t size), (fd, size), noexcept, true)
CALL(kSize, int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size), , true)
CALL(kSize, int, fallocate64, (int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size), ,
     true)
CALL(kDirectory, int, mkdir, (const char* path, mode_t mode), (path, mode), noexcept, true)
CALL(kDirectory, int, rename, (const char* from, const char* to), (from, to), noexcept, true)
CALL(kDirectory, int, link, (const char* from, const char* to), (from, to), noexcept, true)
CALL(kDirectory, int, linkat, (int a, const char* from, int b, const char* to, int flags),
     (a, from, b, to, flags), noexcept, true)
CALL(kDirectory, int, unlink, (const char* path), (path), noexcept, true)
CALL(kSocket, int, accept, (int fd, struct sockaddr* address, socklen_t* size), (fd, address, size),
     , true)
CALL(kSocket, int, accept4, (int fd, struct sockaddr* address, socklen_t* size, int flags),
     (fd, address, size, flags), , true)
CALL(kTransfer, ssize_t, recv, (int fd, void* bytes, size_t size, int flags),
     (fd, bytes, size, flags), , true)
CALL(kTransfer, ssize_t, send, (int fd, const void* bytes, size_t size, int flags),
     (fd, bytes, size, flags), , true)
CALL(kTransfer, ssize_t, sendmsg, (int fd, const struct msghdr* message, int flags),
     (fd, message, flags), , true)
CALL(kTransfer, ssize_t, sendfile, (int to, int from, off_t* at, size_t size), (to, from, at, size),
     noexcept, true)
CALL(kTransfer, ssize_t, sendfile64, (int to, int from, off64_t* at, size_t size),
     (to, from, at, size), noexcept, true)
CALL(kMemoryFile, int, memfd_create, (const char* name, unsigned flags), (name, flags), noexcept,
     true)

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept { return Fails(kMemory) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return Fails(kMemory) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  return Fails(kMemory) ? nullptr : __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return Fails(kMemory) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return Fails(kMemory) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  void* const found = Fails(kMemory) ? nullptr : __libc_memalign(alignment, size);
  if (found != nullptr) *memory = found;
  return found == nullptr ? ENOMEM : 0;
}
}
