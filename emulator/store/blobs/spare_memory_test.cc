#include "emulator/store/blobs/spare_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "emulator/store/blobs/blob_memory.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers
using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr SpareMemoryLimits kSmall{.floor_bytes = kMiB, .max_bytes = 4 * kMiB, .kept_for = 1h};

// A memory file that holds `size` stored bytes.
MemoryFile Filled(SpareMemory& spare, std::uint64_t size) {
  MemoryFile memory = spare.Take(size);
  EXPECT_EQ(::ftruncate(memory.file.get(), static_cast<off_t>(size)), 0);
  memory.size = size;
  spare.AddStored(size);
  return memory;
}

ino_t Identity(const MemoryFile& memory) {
  struct stat status {};
  EXPECT_EQ(::fstat(memory.file.get(), &status), 0);
  return status.st_ino;
}

TEST(SpareMemory, ReusesReturnedMemory) {
  SpareMemory spare(kSmall);
  MemoryFile memory = Filled(spare, kMiB);
  const ino_t identity = Identity(memory);
  EXPECT_GT(::lseek(memory.file.get(), 0, SEEK_END), 0);
  spare.Return(std::move(memory), false);
  EXPECT_EQ(spare.held_bytes(), kMiB);
  const MemoryFile again = spare.Take(kMiB / 2);
  EXPECT_EQ(Identity(again), identity);
  EXPECT_EQ(again.size, kMiB);
  EXPECT_EQ(::lseek(again.file.get(), 0, SEEK_CUR), 0);
  EXPECT_EQ(spare.held_bytes(), 0u);
}

TEST(SpareMemory, DoesNotReuseMemoryThatIsBeingSent) {
  SpareMemory spare(kSmall);
  spare.Return(Filled(spare, kMiB), true);
  EXPECT_EQ(spare.held_bytes(), 0u);
}

TEST(SpareMemory, TakesTheBestFit) {
  SpareMemory spare({.floor_bytes = 64 * kMiB, .max_bytes = 64 * kMiB, .kept_for = 1h});
  std::vector<MemoryFile> files;
  for (const std::uint64_t size : {kMiB, 3 * kMiB, 16 * kMiB}) files.push_back(Filled(spare, size));
  for (MemoryFile& file : files) spare.Return(std::move(file), false);
  EXPECT_EQ(spare.Take(2 * kMiB).size, 3 * kMiB);
  EXPECT_EQ(spare.Take(3 * kMiB).size, kMiB);  // 16 MiB would be truncated to a fifth
  EXPECT_EQ(spare.Take(kMiB).size, 0u);
  EXPECT_EQ(spare.Take(20 * kMiB).size, 16 * kMiB);
}

TEST(SpareMemory, HoldsAtMostTheStoredBytes) {
  SpareMemory spare(kSmall);
  std::vector<MemoryFile> files;
  for (int i = 0; i < 8; ++i) files.push_back(Filled(spare, kMiB));
  for (std::size_t i = 0; i < files.size(); ++i) {
    spare.Return(std::move(files[i]), false);
    const std::uint64_t stored = (7 - i) * kMiB;
    EXPECT_LE(spare.held_bytes(), std::min<std::uint64_t>(4 * kMiB, std::max(stored, kMiB)));
  }
  EXPECT_EQ(spare.held_bytes(), kMiB);
}

TEST(SpareMemory, FreesMemoryThatIsNotReusedInTime) {
  SpareMemory spare({.kept_for = 20ms});
  spare.Return(Filled(spare, kMiB), false);
  for (int i = 0; i < 5000 && spare.held_bytes() > 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(spare.held_bytes(), 0u);
  spare.Return(Filled(spare, kMiB), false);  // The thread still runs.
  for (int i = 0; i < 5000 && spare.held_bytes() > 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(spare.held_bytes(), 0u);
}

TEST(SpareMemory, ReusesTheDescriptorOfSpareMemoryIfNoOtherIsAvailable) {
  SpareMemory spare(kSmall);
  spare.Return(Filled(spare, kMiB), false);
  std::vector<DescriptorShare> all;
  for (std::int64_t i = 0; i < DescriptorShare::Limit(); ++i)
    all.push_back(DescriptorShare::Take());
  const MemoryFile last = spare.Take(kMiB / 100);
  EXPECT_TRUE(last.file);
  EXPECT_FALSE(spare.Take(kMiB / 100).file);
}

class SpareBlobTest : public ::testing::Test {
 protected:
  Content Write(const std::string& body, std::uint64_t hint) {
    const auto writer = NewMemoryBlobWriter(registry_, hint);
    EXPECT_TRUE(writer->Append(AsBytes(body)).ok());
    return writer->Finish().value();
  }
  std::uint64_t held() { return registry_->spare_memory().held_bytes(); }
  std::shared_ptr<BlobRegistry> registry_ = std::make_shared<BlobRegistry>("", 1);
};

TEST_F(SpareBlobTest, ShorterBlobInReusedMemoryContainsNoOldBytes) {
  Write(std::string(2 * kMiB, 'x'), 2 * kMiB);
  EXPECT_EQ(held(), 2 * kMiB);
  const std::string body = Body(600'000);
  const Content content = Write(body, body.size());
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(content.size(), body.size());
  EXPECT_EQ(Text(content), body);
  struct stat status {};
  ASSERT_EQ(::fstat(content.slices[0].blob->FileDescriptor(), &status), 0);
  EXPECT_EQ(status.st_size, 600'000);
}

TEST_F(SpareBlobTest, LongerBlobExtendsReusedMemory) {
  Write(std::string(kMiB, 'x'), kMiB);
  const std::string body = Body(3'000'000);
  EXPECT_EQ(Text(Write(body, body.size())), body);
}

TEST_F(SpareBlobTest, MemoryWithASharedDescriptorIsNotReused) {
  {
    const Content content = Write(Body(600'000), 600'000);
    EXPECT_GE(content.slices[0].blob->FileDescriptor(), 0);
  }
  EXPECT_EQ(held(), 0u);
}

TEST_F(SpareBlobTest, InFileDoesNotPreventReuse) {
  {
    const Content content = Write(Body(600'000), 600'000);
    EXPECT_TRUE(content.slices[0].blob->InFile());
  }
  EXPECT_EQ(held(), 600'000u);
}

TEST_F(SpareBlobTest, BlobsKeepTheirBytesIfThreadsReuseMemoryConcurrently) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([this, number] {
      for (int i = 0; i < 30; ++i) {
        const std::string body =
            Body(static_cast<std::size_t>(300'000 + 50'000 * ((number + i) % 5)));
        const Content content = Write(body, body.size());
        if (i % 3 == number % 3) {
          EXPECT_EQ(Text(content), body);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace penstock::emulator::store
