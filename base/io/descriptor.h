// The owner of a file descriptor.
#ifndef PENSTOCK_BASE_IO_DESCRIPTOR_H_
#define PENSTOCK_BASE_IO_DESCRIPTOR_H_

#include <utility>

namespace penstock {

// An open file descriptor, closed by the destructor. Movable. A negative number means none.
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

  // Returns 0 or the errno of close(), which can be that of an earlier write (NFS, FUSE and
  // quotas). The descriptor is closed in both cases.
  int Close();

 private:
  int fd_ = -1;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_IO_DESCRIPTOR_H_
