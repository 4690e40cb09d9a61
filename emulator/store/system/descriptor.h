// The number of file descriptors that blobs hold open, and writes to files.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_DESCRIPTOR_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_DESCRIPTOR_H_

#include <cstdint>
#include <string>
#include <utility>

#include "base/io/descriptor.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Permission for a blob to hold one descriptor. The process grants half of RLIMIT_NOFILE in total,
// which leaves enough descriptors for sockets, and raises its soft limit to the hard limit at the
// first use. The count is per process because the limit is. Thread safety: any thread.
class DescriptorShare {
 public:
  DescriptorShare() = default;  // holds none
  ~DescriptorShare() { Release(); }
  DescriptorShare(DescriptorShare&& other) noexcept : held_(std::exchange(other.held_, false)) {}
  DescriptorShare& operator=(DescriptorShare&& other) noexcept {
    if (this != &other) {
      Release();
      held_ = std::exchange(other.held_, false);
    }
    return *this;
  }
  // If held() of the result is false, all permissions are taken and the caller must work without a
  // descriptor.
  static DescriptorShare Take();
  bool held() const { return held_; }
  // The number of permissions of the process.
  static std::int64_t Limit();

 private:
  void Release();
  bool held_ = false;
};

enum class Durability {
  kRelaxed,  // acknowledged writes survive the end of the process
  kStrict,   // acknowledged writes are on disk (fsync) and survive a power failure
};

// Returns an Error for a failed system call on `path`: kResourceExhausted if the disk is full or
// descriptors ran out, otherwise `otherwise`. `doing` is a verb phrase such as "write".
Error SystemError(ErrorKind otherwise, std::string_view doing, const std::string& path,
                  int system_error);

// The error of a failed system call on a file that is examined before its database is opened. The
// file may be intact, so the error is never kDataLoss.
Error UnreadableFile(const std::string& path, int system_error);

// Size of the file in bytes; 0 if it does not exist.
Result<std::uint64_t> FileSize(const std::string& path);

// Makes created, renamed or removed names in the directory durable.
Result<void> SyncDirectory(const std::string& path);

// Writes all of `left` at the descriptor's position and removes the written bytes
// from its front. Returns the system's error number; 0: success.
int WriteAll(int fd, ByteView& left);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_DESCRIPTOR_H_
