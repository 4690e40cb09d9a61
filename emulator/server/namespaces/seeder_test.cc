#include "emulator/server/namespaces/seeder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <future>
#include <thread>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

class SeederTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(folder_.path() + "/" + name).parent_path());
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << text;
  }
  Result<SeedReport> Seed(const std::string& directory) {
    return emulator_->Seed({.bucket = "data", .directory = directory});
  }
  std::string Body(const std::string& key) {
    const HttpResponse response = Send(emulator_->endpoint(), {.target = "/data/" + key});
    return response.status == 200 ? response.text.substr(response.text.find("\r\n\r\n") + 4)
                                  : std::to_string(response.status);
  }

  const TemporaryFolder folder_;
  const std::unique_ptr<Emulator> emulator_ = Emulator::Start({}).value();
};

TEST_F(SeederTest, EveryFileBecomesAnObject) {
  Write("a.txt", "a");
  Write("deep/er/b.txt", "bb");
  Write("empty", "");
  const auto report = Seed(folder_.path());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->objects, 3u);
  EXPECT_EQ(report->bytes, 3u);
  EXPECT_EQ(Body("a.txt"), "a");
  EXPECT_EQ(Body("deep/er/b.txt"), "bb");
  EXPECT_EQ(Body("empty"), "");
}

TEST_F(SeederTest, LargeFilesAreStreamed) {
  const std::string text(3 << 20, 'x');
  Write("large", text);
  ASSERT_TRUE(Seed(folder_.path()).ok());
  EXPECT_TRUE(Body("large") == text);
}

TEST_F(SeederTest, CancelledSeedRemovesItsNewBucket) {
  for (const std::string name : {"a", "b", "c"}) Write(name, "text");
  int asked = 0;
  const auto report =
      emulator_->Seed({.bucket = "data", .directory = folder_.path(), .cancelled = [&asked] {
                         return ++asked > 3;
                       }});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::kCancelled);
  EXPECT_NE(report.error().message.find("after 1 objects"), std::string::npos)
      << report.error().message;
  EXPECT_EQ(Body("a"), "404");
  EXPECT_EQ(Send(emulator_->endpoint(), {.target = "/data"}).status, 404);
}

TEST_F(SeederTest, CancelledSeedEndsInTheMiddleOfAFile) {
  Write("large", std::string(8 << 20, 'x'));
  int asked = 0;
  ASSERT_EQ(Send(emulator_->endpoint(), {.method = "PUT", .target = "/data"}).status, 200);
  const auto report =
      emulator_->Seed({.bucket = "data", .directory = folder_.path(), .cancelled = [&asked] {
                         return ++asked > 3;
                       }});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(asked, 4) << "nothing may be read afterwards";
  EXPECT_EQ(Body("large"), "404");
}

TEST_F(SeederTest, StopEndsASeedInTheMiddleOfAFile) {
  Write("large", std::string(8 << 20, 'x'));
  std::promise<void> reading;
  std::promise<void> stopping;
  int asked = 0;
  const auto wait_for_the_stop = [&] {
    if (++asked == 3) {
      reading.set_value();
      stopping.get_future().wait_for(std::chrono::seconds(60));
    }
    return false;
  };
  auto seed = std::async(std::launch::async, [&] {
    return emulator_->Seed(
        {.bucket = "data", .directory = folder_.path(), .cancelled = wait_for_the_stop});
  });
  reading.get_future().wait();
  std::jthread stop([this] { emulator_->Stop(); });
  // The port closes when the emulator begins to stop. Seeds are cancelled at the same time.
  while (Send(emulator_->endpoint(), {.target = "/data"}).status != 0) std::this_thread::yield();
  stopping.set_value();
  const auto report = seed.get();
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("the emulator is stopping"), std::string::npos)
      << report.error().message;
}

TEST_F(SeederTest, SkipsLinksAndPipes) {
  const TemporaryFolder outside;
  std::ofstream(outside.path() + "/secret") << "secret";
  Write("kept", "k");
  fs::create_symlink(outside.path() + "/secret", folder_.path() + "/link");
  fs::create_directory_symlink(outside.path(), folder_.path() + "/folder-link");
  ASSERT_EQ(mkfifo((folder_.path() + "/pipe").c_str(), 0600), 0);
  const auto report = Seed(folder_.path());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->objects, 1u);
  EXPECT_EQ(report->skipped, 3u);
  EXPECT_EQ(Body("link"), "404");
  EXPECT_EQ(Body("folder-link/secret"), "404");
}

TEST_F(SeederTest, CountsNamesThatAreNotValidKeys) {
  Write("good", "g");
  Write("bad\xFF", "b");
  const auto report = Seed(folder_.path());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->objects, 1u);
  EXPECT_EQ(report->skipped, 1u);
}

TEST_F(SeederTest, FillsAnExistingBucket) {
  Write("a", "1");
  ASSERT_TRUE(Seed(folder_.path()).ok());
  Write("a", "2");
  ASSERT_TRUE(Seed(folder_.path()).ok());
  EXPECT_EQ(Body("a"), "2");
}

TEST_F(SeederTest, NamesUnreadableFiles) {
  EXPECT_NE(Seed("/nowhere/at/all").error().message.find("'/nowhere/at/all'"), std::string::npos);
  EXPECT_NE(Seed("relative").error().message.find("absolute"), std::string::npos);
  EXPECT_NE(emulator_->Seed({.bucket = "B", .directory = folder_.path()})
                .error()
                .message.find("InvalidBucketName"),
            std::string::npos);
}

TEST_F(SeederTest, FailureRemovesTheNewBucketAndReportsTheError) {
  Write("a", "1");
  Write("b/c", "2");
  Write("b/d", "");
  fs::resize_file(folder_.path() + "/b/d", 6ull << 30);  // sparse; S3 accepts at most 5 GiB
  const auto failed = Seed(folder_.path());
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("file 'b/d' of '" + folder_.path() +
                                        "' cannot be stored: the response is 400 EntityTooLarge: "
                                        "Your proposed upload exceeds the maximum allowed size"),
            std::string::npos)
      << failed.error().message;
  EXPECT_EQ(Send(emulator_->endpoint(), {.target = "/data"}).status, 404);
}

TEST_F(SeederTest, FailureKeepsAnExistingBucket) {
  Write("a", "1");
  ASSERT_TRUE(Seed(folder_.path()).ok());
  Write("b", "");
  fs::resize_file(folder_.path() + "/b", 6ull << 30);
  ASSERT_FALSE(Seed(folder_.path()).ok());
  EXPECT_EQ(Body("a"), "1");
}

TEST_F(SeederTest, RefusesAPathWithANul) {
  const auto refused = Seed(folder_.path() + std::string("\0/nonexistent", 13));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "directory '" + folder_.path() +
                                         "' is followed by a NUL character, which ends a path; "
                                         "remove it");
}

TEST_F(SeederTest, RefusesAnInvalidPrefix) {
  Write("a", "1");
  using std::string;
  for (const string& prefix :
       {string("../"), string("a/../../"), string("\xFF/"), string(1024, 'p')}) {
    const auto refused =
        emulator_->Seed({.bucket = "data", .directory = folder_.path(), .prefix = prefix});
    ASSERT_FALSE(refused.ok()) << prefix;
    EXPECT_NE(refused.error().message.find("invalid prefix '" + prefix + "'"), std::string::npos);
  }
  EXPECT_EQ(Send(emulator_->endpoint(), {.target = "/data"}).status, 404);
}

TEST_F(SeederTest, CreatesADirectoryBucketInTheZoneOfItsName) {
  Write("a/b", "1");
  const auto report =
      emulator_->Seed({.bucket = "data--usw2-lax1-az1--x-s3", .directory = folder_.path()});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->objects, 1u);
  const auto refused =
      emulator_->Seed({.bucket = "data--nozone--x-s3", .directory = folder_.path()});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("BASE--ZONE--x-s3"), std::string::npos);
}

TEST(SeederRegionTest, CreatesTheBucketInTheHomeRegion) {
  const TemporaryFolder folder;
  const auto emulator = Emulator::Start({.region = "eu-west-1"}).value();
  const auto report = emulator->Seed({.bucket = "data", .directory = folder.path()});
  EXPECT_TRUE(report.ok()) << report.error().message;
}

}  // namespace
}  // namespace penstock::emulator::server
