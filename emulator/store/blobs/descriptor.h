// File descriptors that blobs hold open, counted: a store must not eat the descriptors that sockets
// need.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_DESCRIPTOR_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_DESCRIPTOR_H_

#include <cstdint>
#include <string>
#include <utility>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// An open descriptor; closes it. Movable.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
};

// A blob's right to hold one descriptor. The process as a whole grants half of RLIMIT_NOFILE, whose
// soft limit is raised to the hard one at first use: the limit is the process's, so is the count.
// Thread safety: any thread.
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
  // False in `held()` when all are taken: do without a descriptor.
  static DescriptorShare Take();
  bool held() const { return held_; }
  // How many shares exist in all.
  static std::int64_t Limit();

 private:
  void Release();
  bool held_ = false;
};

// An Error for a failed system call on `path`: kResourceExhausted when the disk is full or
// descriptors ran out, else `otherwise`. `doing` is a verb phrase ("write").
Error SystemError(ErrorKind otherwise, std::string_view doing, const std::string& path,
                  int system_error);

// Makes names that were created, renamed or removed in the directory durable.
Result<void> SyncDirectory(const std::string& path);

// Writes all of `left` at the descriptor's position and takes off its front what was written. The
// system's error number, 0 on success.
int WriteAll(int fd, ByteView& left);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_DESCRIPTOR_H_
