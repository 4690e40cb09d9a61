#include "emulator/store/system/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace penstock::emulator::store {
namespace {

TEST(DescriptorShare, RaisesTheSoftLimitToTheHardLimit) {
  EXPECT_GT(DescriptorShare::Limit(), 0);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
}

TEST(DescriptorShare, GrantsUpToTheLimitAndAgainAfterRelease) {
  std::vector<DescriptorShare> all;
  for (std::int64_t i = 0; i < DescriptorShare::Limit(); ++i) {
    all.push_back(DescriptorShare::Take());
    ASSERT_TRUE(all.back().held()) << i;
  }
  EXPECT_FALSE(DescriptorShare::Take().held());
  all.pop_back();
  EXPECT_TRUE(DescriptorShare::Take().held());
}

TEST(SystemError, NamesTheFileAndSetsTheKind) {
  const Error full = SystemError(ErrorKind::kInternal, "write", "a/b", ENOSPC);
  EXPECT_EQ(full.kind, ErrorKind::kResourceExhausted);
  EXPECT_NE(full.message.find("cannot write a/b"), std::string::npos);
  EXPECT_EQ(SystemError(ErrorKind::kInvalidArgument, "open", "a", EACCES).kind,
            ErrorKind::kInvalidArgument);
}

TEST(WriteAll, ReturnsTheErrorNumber) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  ByteView left = AsBytes("x");
  EXPECT_EQ(WriteAll(full.get(), left), ENOSPC);
  EXPECT_EQ(left.size(), 1u);
}

TEST(WriteAll, KeepsUnwrittenBytes) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  const std::string text(1 << 20, 'x');
  ByteView left = AsBytes(text);
  EXPECT_EQ(WriteAll(writer.get(), left), EAGAIN);
  std::string read(text.size(), ' ');
  EXPECT_EQ(::read(reader.get(), read.data(), read.size()),
            static_cast<ssize_t>(text.size() - left.size()));
  EXPECT_LT(left.size(), text.size());
}

}  // namespace
}  // namespace penstock::emulator::store
