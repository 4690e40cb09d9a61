// Preloaded into an emulator by the tests of full disks: the files below QUOTA_DIRECTORY may use
// QUOTA_BYTES of disk space. A write or fallocate() beyond that fails with ENOSPC.
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long long quota = -1;
static char directory[4096];

__attribute__((constructor)) static void Start(void) {
  const char* path = getenv("QUOTA_DIRECTORY");
  const char* bytes = getenv("QUOTA_BYTES");
  if (path == NULL || bytes == NULL || strlen(path) >= sizeof(directory)) return;
  strcpy(directory, path);
  quota = atoll(bytes);
}

static long long Used(void) {
  char* const roots[] = {directory, NULL};
  FTS* const walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  long long blocks = 0;
  if (walk == NULL) return 0;
  for (FTSENT* entry; (entry = fts_read(walk)) != NULL;) {
    if (entry->fts_info == FTS_F) blocks += entry->fts_statp->st_blocks;
  }
  fts_close(walk);
  return blocks * 512;
}

static int IsLimited(int fd) {
  char link[64], path[4096];
  if (quota < 0) return 0;
  char digits[16];
  int at = 15, value = fd;
  digits[at] = '\0';
  do digits[--at] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  strcpy(link, "/proc/self/fd/");
  strcat(link, digits + at);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  if (size <= 0) return 0;
  path[size] = '\0';
  return strncmp(path, directory, strlen(directory)) == 0;
}

// Makes the call, and reverts it if the file has grown beyond the quota.
static long Limited(int fd, long number, long a, long b, long c) {
  struct stat before, after;
  if (!IsLimited(fd) || fstat(fd, &before) != 0) return syscall(number, fd, a, b, c);
  pthread_mutex_lock(&mutex);
  const off_t position = lseek(fd, 0, SEEK_CUR);
  long result = syscall(number, fd, a, b, c);
  const int error = errno;
  if (result >= 0 && fstat(fd, &after) == 0 && after.st_blocks > before.st_blocks &&
      Used() > quota) {
    syscall(SYS_ftruncate, fd, before.st_size);
    lseek(fd, position, SEEK_SET);
    result = -1;
    errno = ENOSPC;
  } else {
    errno = error;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}

extern "C" {
ssize_t write(int fd, const void* bytes, size_t count) {
  return Limited(fd, SYS_write, (long)bytes, (long)count, 0);
}
ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  return Limited(fd, SYS_pwrite64, (long)bytes, (long)count, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off_t offset) {
  return Limited(fd, SYS_pwrite64, (long)bytes, (long)count, offset);
}
int fallocate(int fd, int mode, off_t offset, off_t length) {
  return (int)Limited(fd, SYS_fallocate, mode, offset, length);
}
int fallocate64(int fd, int mode, off_t offset, off_t length) {
  return (int)Limited(fd, SYS_fallocate, mode, offset, length);
}
}  // extern "C"
