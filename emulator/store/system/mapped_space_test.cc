#include "emulator/store/system/mapped_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/io/descriptor.h"

namespace penstock::emulator::store {
namespace {

constexpr std::size_t kMapped = std::size_t{64} << 10;

// A mapping of `size` bytes of a file that is one hole.
class MappedHole {
 public:
  explicit MappedHole(std::size_t size) {
    char path[] = "/tmp/mapped_space_XXXXXX";
    file_ = Descriptor(::mkstemp(path));
    ::unlink(path);
    EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(size)), 0);
    memory_ = ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~MappedHole() { ::munmap(memory_, kMapped); }
  MappedHole(const MappedHole&) = delete;
  MappedHole& operator=(const MappedHole&) = delete;

  char* memory() const { return static_cast<char*>(memory_); }

 private:
  Descriptor file_;
  void* memory_ = nullptr;
};

bool IsSupported() {
  const MappedHole hole(kMapped);
  return ::madvise(hole.memory(), kMapped, 23 /* MADV_POPULATE_WRITE */) == 0;
}

TEST(MappedSpace, PagesOfAFileAreAllocatedAndKeepTheirBytes) {
  const MappedHole hole(kMapped);
  hole.memory()[10] = 'x';
  EXPECT_EQ(AllocateMapped(hole.memory() + 100, kMapped - 100), 0);
  EXPECT_EQ(hole.memory()[10], 'x');
  EXPECT_EQ(hole.memory()[kMapped - 1], '\0');
}

// A write to these pages would end the process, as on a full disk.
TEST(MappedSpace, APageThatCannotBeWrittenIsAnError) {
  if (!IsSupported()) GTEST_SKIP() << "the kernel has no MADV_POPULATE_WRITE";
  const MappedHole hole(kMapped / 2);
  EXPECT_EQ(AllocateMapped(hole.memory(), kMapped), EFAULT);
  EXPECT_EQ(AllocateMapped(hole.memory(), kMapped / 2), 0);
}

}  // namespace
}  // namespace penstock::emulator::store
