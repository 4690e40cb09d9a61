#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "penstock/bodies.h"

namespace penstock {
namespace {

class FileBodiesTest : public ::testing::Test {
 protected:
  FileBodiesTest() { std::filesystem::create_directories(folder_); }
  ~FileBodiesTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("bodies" + std::to_string(::getpid()));
};

std::string ReadAll(Body& body) {
  std::string text;
  body.source()->Rewind();
  for (ByteView next = body.source()->Next(1 << 20); !next.empty();
       next = body.source()->Next(1 << 20)) {
    text += AsText(next);
  }
  return text;
}

// One pass of a read, of a body with an announced length.
Result<void> Fill(BodySink& sink, std::string_view text, std::optional<std::uint64_t> length) {
  PENSTOCK_TRY(sink.Begin({}, length));
  const MutableByteView window = sink.Window();
  std::memcpy(window.data(), text.data(), text.size());
  return sink.Commit(text.size());
}

Result<void> Fill(BodySink& sink, std::string_view text) { return Fill(sink, text, text.size()); }

TEST_F(FileBodiesTest, FileIsReadInPartsAndAgain) {
  std::string content(600'000, 'a');
  content += "end";
  Write("f", content);
  Body whole = Body::File(Path("f")).value();
  Body range = Body::File(Path("f"), 599'999, 600'002).value();
  Body clipped = Body::File(Path("f"), 600'000, 10'000'000).value();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(ReadAll(whole) == content);
    EXPECT_EQ(ReadAll(range), "aen");
    EXPECT_EQ(ReadAll(clipped), "end");
  }
  EXPECT_EQ(Body::File(Path("f"), 900'000)->source()->size(), 0u);
}

TEST_F(FileBodiesTest, ErrorsNameThePath) {
  const Error missing = Body::File(Path("none")).error();
  EXPECT_EQ(missing.kind, ErrorKind::kNotFound);
  EXPECT_NE(missing.message.find(Path("none")), std::string::npos);
  EXPECT_EQ(Body::File(folder_.string()).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(FileSink::Create(Path("none/f")).error().kind, ErrorKind::kNotFound);
}

TEST_F(FileBodiesTest, FileThatBecameShorterEndsTheUpload) {
  Write("f", "0123456789");
  Body body = Body::File(Path("f")).value();
  std::filesystem::resize_file(Path("f"), 4);
  EXPECT_EQ(AsText(body.source()->Next(100)), "0123");
  EXPECT_THROW(body.source()->Next(100), std::runtime_error);
}

TEST_F(FileBodiesTest, StreamIsReadFromItsPosition) {
  std::istringstream stream("skipped:text");
  stream.seekg(8);
  Body body = Body::Stream(stream).value();
  EXPECT_EQ(body.source()->size(), 4u);
  EXPECT_EQ(ReadAll(body), "text");
  EXPECT_EQ(ReadAll(body), "text");
  stream.setstate(std::ios::failbit);
  EXPECT_EQ(Body::Stream(stream).error().kind, ErrorKind::kInvalidArgument);
}

TEST_F(FileBodiesTest, FileSinkStartsAgain) {
  {
    const auto sink = FileSink::Create(Path("out")).value();
    ASSERT_TRUE(Fill(*sink, "too many bytes").ok());
    ASSERT_TRUE(Fill(*sink, "final").ok());
  }
  EXPECT_EQ(Read("out"), "final");
}

TEST_F(FileBodiesTest, FileSinkReportsAFailedClose) {
  const auto sink = FileSink::Create(Path("out")).value();
  ASSERT_TRUE(Fill(*sink, "text").ok());
  EXPECT_TRUE(sink->Close().ok());
  EXPECT_TRUE(sink->Close().ok()) << "it is closed already";
  EXPECT_EQ(Read("out"), "text");
  const int next = ::dup(0);
  ::close(next);  // The next file gets this descriptor.
  const auto broken = FileSink::Create(Path("broken")).value();
  ASSERT_EQ(::close(next), 0);
  const Result<void> closed = broken->Close();
  ASSERT_FALSE(closed.ok());
  EXPECT_NE(closed.error().message.find(Path("broken")), std::string::npos);
}

TEST_F(FileBodiesTest, StreamSinkSeeksBackOrFails) {
  std::ostringstream stream;
  StreamSink sink(stream);
  ASSERT_TRUE(Fill(sink, "first").ok());
  ASSERT_TRUE(Fill(sink, "again").ok());
  EXPECT_EQ(stream.str(), "again");
  std::ofstream broken;
  broken.setstate(std::ios::badbit);
  StreamSink broken_sink(broken);
  EXPECT_EQ(Fill(broken_sink, "x").error().kind, ErrorKind::kResourceExhausted);

  struct NoSeek final : std::stringbuf {
    pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
      return pos_type(off_type(-1));
    }
  } buffer;
  std::ostream pipe(&buffer);
  StreamSink pipe_sink(pipe);
  ASSERT_TRUE(Fill(pipe_sink, "first").ok());
  EXPECT_EQ(Fill(pipe_sink, "again").error().kind, ErrorKind::kUnsupported);
}

TEST_F(FileBodiesTest, StreamSinkKeepsNoBytesOfALongerAttempt) {
  const auto restart = [](std::string_view text, std::optional<std::uint64_t> length) {
    std::ostringstream stream;
    StreamSink sink(stream);
    EXPECT_TRUE(Fill(sink, "first", 10).ok());
    const Result<void> again = Fill(sink, text, length);
    return again.ok() ? stream.str() : std::string(ErrorKindName(again.error().kind));
  };
  const std::string unsupported(ErrorKindName(ErrorKind::kUnsupported));
  EXPECT_EQ(restart("new", 3), unsupported) << "of `first`, `st` would remain";
  EXPECT_EQ(restart("second", std::nullopt), unsupported) << "the body may be short";
  EXPECT_EQ(restart("again", 5), "again");
  EXPECT_EQ(restart("longer one", 10), "longer one");

  std::ostringstream stream;
  StreamSink sink(stream);
  ASSERT_TRUE(Fill(sink, "the longest", 11).ok());
  ASSERT_TRUE(Fill(sink, "short", 12).ok());
  EXPECT_EQ(Fill(sink, "shorter", 7).error().kind, ErrorKind::kUnsupported)
      << "bytes of the first attempt would remain";
}

TEST_F(FileBodiesTest, StreamSinkNoticesAStreamThatAppends) {
  for (const std::string before : {"", "earlier "}) {
    Write("log", before);
    std::ofstream stream(Path("log"), std::ios::app);
    StreamSink sink(stream);
    ASSERT_TRUE(Fill(sink, "first").ok());
    EXPECT_EQ(Fill(sink, "again").error().kind, ErrorKind::kUnsupported) << before;
  }
  Write("log", "earlier ");
  std::ofstream stream(Path("log"), std::ios::app);
  StreamSink sink(stream);
  ASSERT_TRUE(Fill(sink, "first").ok()) << "without a restart, a stream may append";
  stream.close();
  EXPECT_EQ(Read("log"), "earlier first");
}

}  // namespace
}  // namespace penstock
