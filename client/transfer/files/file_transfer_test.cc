#include "client/transfer/files/file_transfer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "client/transfer/checksummed_store_test_support.h"
#include "client/transfer/transfer_test_support.h"
#include "penstock/base/blocking.h"

namespace penstock::transfer {
namespace {

namespace fs = std::filesystem;

class FileTransferTest : public ::testing::Test {
 protected:
  FileTransferTest() { fs::create_directories(folder_); }
  ~FileTransferTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const Bytes& content) const {
    std::ofstream(Path(name), std::ios::binary) << AsText(content);
  }
  Bytes Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const ByteView bytes = AsBytes(text);
    return {bytes.begin(), bytes.end()};
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / ("files" + std::to_string(::getpid()));
  const std::shared_ptr<ObjectStore> inner_ = MakeStore();
  std::function<std::optional<penstock::testing::Fault>(const penstock::testing::CallPoint&)> hook_;
  const std::shared_ptr<penstock::testing::FaultyObjectStore> store_ =
      std::make_shared<penstock::testing::FaultyObjectStore>(
          inner_, [this](const penstock::testing::CallPoint& point) {
            return hook_ ? hook_(point) : std::nullopt;
          });
};

TEST_F(FileTransferTest, FilesOfEverySizeAreSentAndReceived) {
  for (const std::uint64_t size : {0ull, 1ull, 1000ull, (8ull << 20) + 1}) {
    const Bytes content = MakeContent(size, size);
    Write("in", content);
    UploadOptions options;
    options.single_put_limit_bytes = 1000;
    const auto sent = UploadFile(store_, Path("in"), kBucket, kKey, options);
    ASSERT_TRUE(sent.ok()) << sent.error().message;
    EXPECT_EQ(sent->bytes, size);
    EXPECT_TRUE(Stored(*store_) == content) << size;
    const auto got = DownloadFile(store_, kBucket, kKey, Path("out"), {.sync = true});
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->bytes, size);
    EXPECT_EQ(got->metadata.etag.value, sent->etag.value);
    EXPECT_TRUE(Read("out") == content) << size;
    EXPECT_EQ(Files(), 2u) << "no temporary file is left";
  }
  EXPECT_EQ(store_->count("PutObject"), 3u);  // one request per small file
}

TEST_F(FileTransferTest, FailedDownloadLeavesTheEarlierFile) {
  Put(*inner_, MakeContent(1000));
  Write("out", MakeContent(3));
  int reads = 0;
  hook_ =
      [&](const penstock::testing::CallPoint& point) -> std::optional<penstock::testing::Fault> {
    if (point.operation != "GetObject" || ++reads < 3) return std::nullopt;
    return MakeFault(ErrorKind::kAccessDenied);
  };
  const auto got = DownloadFile(store_, kBucket, kKey, Path("out"), {.part_size_bytes = 100});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(Read("out"), MakeContent(3));
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FileTransferTest, MissingObjectCreatesNoFile) {
  EXPECT_EQ(DownloadFile(store_, kBucket, kKey, Path("out")).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(Files(), 0u);
}

// Symptom: the download replaced the file, and the caller found the wrong length afterwards.
TEST_F(FileTransferTest, ASizeThatContradictsTheListingIsRefusedBeforeAFileExists) {
  const std::uint64_t sizes[] = {0, 1000, 250'000};  // the last one in parts
  for (const std::uint64_t size : sizes) {
    const ETag etag = Put(*inner_, MakeContent(size, size));
    Write("out", MakeContent(3));
    FileDownloadOptions options{.part_size_bytes = 100'000, .listed = {size + 1, etag}};
    bool reported = false;
    options.progress = [&](const TransferProgress&) { reported = true; };
    const auto got = DownloadFile(store_, kBucket, kKey, Path("out"), options);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().kind, ErrorKind::kDataLoss);
    for (const std::string& value :
         {std::to_string(size) + ":", std::to_string(size + 1) + " bytes", etag.value})
      EXPECT_NE(got.error().message.find(value), std::string::npos) << got.error().message;
    EXPECT_FALSE(reported);
    EXPECT_EQ(Read("out"), MakeContent(3));
    EXPECT_EQ(Files(), 1u);
    options.listed.size = size;
    EXPECT_TRUE(DownloadFile(store_, kBucket, kKey, Path("out"), options).ok()) << size;
    options.listed = {size + 1, ETag("another version")};
    EXPECT_TRUE(DownloadFile(store_, kBucket, kKey, Path("out"), options).ok()) << size;
  }
}

TEST_F(FileTransferTest, AFileThatAppearsDuringTheDownloadIsKept) {
  Put(*inner_, MakeContent(1000));
  FileDownloadOptions options{.part_size_bytes = 100, .replace = false};
  options.progress = [&](const TransferProgress&) { Write("out", MakeContent(3)); };
  const auto got = DownloadFile(store_, kBucket, kKey, Path("out"), options);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kAlreadyExists) << got.error().message;
  EXPECT_EQ(Read("out"), MakeContent(3));
  EXPECT_EQ(Files(), 1u) << "the temporary file is left";
  EXPECT_TRUE(DownloadFile(store_, kBucket, kKey, Path("other"), options).ok());
  EXPECT_EQ(Read("other"), MakeContent(1000));
}

TEST_F(FileTransferTest, ErrorsNameThePath) {
  Put(*inner_, MakeContent(10));
  const Error no_folder = DownloadFile(store_, kBucket, kKey, Path("none/out")).error();
  EXPECT_EQ(no_folder.kind, ErrorKind::kNotFound);
  EXPECT_NE(no_folder.message.find(Path("none")), std::string::npos);
  EXPECT_EQ(DownloadFile(store_, kBucket, kKey, Path("")).error().kind,
            ErrorKind::kInvalidArgument);
  for (const FileDownloadOptions& options :
       {FileDownloadOptions{.max_parallel_parts = 0},
        FileDownloadOptions{.max_parallel_parts = 257}, FileDownloadOptions{.part_size_bytes = 0},
        FileDownloadOptions{.part_size_bytes = UINT64_MAX}}) {
    EXPECT_EQ(DownloadFile(store_, kBucket, kKey, Path("out"), options).error().kind,
              ErrorKind::kInvalidArgument);
  }
  EXPECT_EQ(UploadFile(store_, Path("none"), kBucket, kKey).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(UploadFile(store_, folder_, kBucket, kKey).error().kind, ErrorKind::kInvalidArgument);
}

TEST_F(FileTransferTest, FileThatChangesIsNotPublished) {
  Write("in", MakeContent(17ull << 20));
  UploadOptions options;
  options.single_put_limit_bytes = 1;
  bool grown = false;
  hook_ = [&](const penstock::testing::CallPoint& point) {
    if (point.operation == "UploadPart" && !std::exchange(grown, true))
      std::ofstream(Path("in"), std::ios::app) << "more";
    return std::optional<penstock::testing::Fault>();
  };
  const auto sent = UploadFile(store_, Path("in"), kBucket, kKey, options);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().kind, ErrorKind::kDataLoss);
  EXPECT_FALSE(Stored(*inner_));
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_F(FileTransferTest, FileThatGrowsForEverIsNotReadForEver) {
  Write("in", MakeContent(17ull << 20));
  UploadOptions options;
  options.single_put_limit_bytes = 1;
  options.part_size_bytes = 8ull << 20;
  int parts = 0;
  hook_ = [&](const penstock::testing::CallPoint& point) {
    constexpr int kMax = 20;  // so that the test ends if the upload does not
    if (point.operation == "UploadPart" && ++parts < kMax)
      std::ofstream(Path("in"), std::ios::app) << std::string(std::size_t{9} << 20, 'x');
    return std::optional<penstock::testing::Fault>();
  };
  const auto sent = UploadFile(store_, Path("in"), kBucket, kKey, options);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().kind, ErrorKind::kDataLoss);
  EXPECT_LE(parts, 3) << "it was read beyond its size at the start";
  EXPECT_FALSE(Stored(*inner_));
}

TEST_F(FileTransferTest, FilesWithoutASizeAreReadToTheirEnd) {
  const auto sent = UploadFile(store_, "/proc/self/status", kBucket, kKey);
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  const std::optional<Bytes> stored = Stored(*store_);
  ASSERT_TRUE(stored);
  EXPECT_EQ(sent->bytes, stored->size());
  EXPECT_TRUE(AsText(*stored).starts_with("Name:"));
}

TEST_F(FileTransferTest, ExceptionOfProgressFailsTheDownload) {
  Put(*inner_, MakeContent(1000));
  FileDownloadOptions options{.part_size_bytes = 100};
  options.progress = [](const TransferProgress&) { throw std::runtime_error("planted"); };
  const auto got = DownloadFile(store_, kBucket, kKey, Path("out"), options);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kInternal);
  EXPECT_NE(got.error().message.find("planted"), std::string::npos) << got.error().message;
  EXPECT_EQ(Files(), 0u);
}

TEST_F(FileTransferTest, ProgressReachesTheSize) {
  Put(*inner_, MakeContent(1000));
  std::vector<TransferProgress> reports;
  FileDownloadOptions options{.part_size_bytes = 100};
  options.progress = [&](const TransferProgress& report) { reports.push_back(report); };
  ASSERT_TRUE(DownloadFile(store_, kBucket, kKey, Path("out"), options).ok());
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().bytes_done, 1000u);
  EXPECT_EQ(reports.back().bytes_total, 1000u);
}

TEST_F(FileTransferTest, AnEmptyObjectReportsProgressOnce) {
  Put(*inner_, {});
  std::vector<std::uint64_t> reports;
  FileDownloadOptions options;
  options.progress = [&](const TransferProgress& report) { reports.push_back(report.bytes_done); };
  ASSERT_TRUE(DownloadFile(store_, kBucket, kKey, Path("out"), options).ok());
  EXPECT_EQ(reports, std::vector<std::uint64_t>{0});
}

TEST_F(FileTransferTest, BytesThatDifferFromTheChecksumAreReadOnceMore) {
  constexpr std::uint64_t kSize = 100'000;
  const Bytes content = MakeContent(kSize);
  Put(*inner_, content);
  const auto store = std::make_shared<ChecksummedStore>(store_, Crc64Text(content));
  store->flip = 30'000;
  std::vector<std::uint64_t> reports;
  FileDownloadOptions options{.part_size_bytes = 10'000};
  options.progress = [&](const TransferProgress& report) { reports.push_back(report.bytes_done); };
  store->flips_left = 1;
  const auto got = DownloadFile(store, kBucket, kKey, Path("out"), options);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_TRUE(Read("out") == content);
  EXPECT_TRUE(std::ranges::is_sorted(reports));
  EXPECT_EQ(reports.back(), kSize);

  store->flips_left = 1'000'000;  // damage in storage
  const auto damaged = DownloadFile(store, kBucket, kKey, Path("out2"), options);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(damaged.error().message.find("(read twice, in several ranges)"), std::string::npos)
      << damaged.error().message;
  store->repeats = false;
  store->flips_left = 1;
  EXPECT_EQ(DownloadFile(store, kBucket, kKey, Path("out2"), options).error().kind,
            ErrorKind::kDataLoss);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FileTransferTest, ConditionAndCancellation) {
  const ETag etag = Put(*inner_, MakeContent(10));
  EXPECT_TRUE(DownloadFile(store_, kBucket, kKey, Path("out"), {.if_match = etag}).ok());
  EXPECT_EQ(
      DownloadFile(store_, kBucket, kKey, Path("out"), {.if_match = ETag("other")}).error().kind,
      ErrorKind::kPreconditionFailed);
  std::stop_source stop;
  stop.request_stop();
  FileDownloadOptions options;
  options.call.cancel = stop.get_token();
  EXPECT_EQ(DownloadFile(store_, kBucket, kKey, Path("out2"), options).error().kind,
            ErrorKind::kCancelled);
  const IoThreadScope io_thread;
  EXPECT_EQ(DownloadFile(store_, kBucket, kKey, Path("out")).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(UploadFile(store_, Path("out"), kBucket, kKey).error().kind,
            ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::transfer
