#include "emulator/server/namespaces/seeder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "base/io/descriptor.h"
#include "base/text/utf8.h"
#include "base/xml/xml.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/store/system/path_check.h"

namespace penstock::emulator::server {
namespace {

constexpr std::size_t kMaxKeyBytes = 1024;

Error Invalid(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

// A file as a request body, with the size that it had when it was opened. Calls `check_stopped`
// before each read.
class FileBody final : public s3::BodyReader {
 public:
  FileBody(int descriptor, std::uint64_t size, std::function<Result<void>()> check_stopped)
      : descriptor_(descriptor),
        size_(size),
        left_(size),
        check_stopped_(std::move(check_stopped)) {}

  Result<std::size_t> Read(MutableByteView buffer) override {
    if (left_ == 0) return std::size_t{0};
    PENSTOCK_TRY(check_stopped_());
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), left_);
    ssize_t count = 0;
    do {
      count = ::read(descriptor_, buffer.data(), wanted);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return Invalid(std::string("reading failed: ") + std::strerror(errno));
    if (count == 0) return Invalid("the file was truncated while it was read");
    left_ -= static_cast<std::uint64_t>(count);
    return static_cast<std::size_t>(count);
  }
  std::optional<std::uint64_t> Length() const override { return size_; }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }

 private:
  int descriptor_;
  std::uint64_t size_;
  std::uint64_t left_;
  const std::function<Result<void>()> check_stopped_;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

// The body of CreateBucket.
class TextBody final : public s3::BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> Read(MutableByteView buffer) override {
    const std::size_t count = std::min(buffer.size(), text_.size() - offset_);
    std::memcpy(buffer.data(), text_.data() + offset_, count);
    offset_ += count;
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return text_.size(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }

 private:
  std::string text_;
  std::size_t offset_ = 0;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

// One traversal. Directories are opened relative to their parents and never through links, so that
// concurrent renames cannot move the traversal outside the root.
class Traversal {
 public:
  Traversal(const Seeder& seeder, const SeedRequest& request)
      : seeder_(seeder), request_(request) {}

  Result<SeedReport> Run() {
    if (!request_.directory.starts_with('/'))
      return Invalid("directory must be an absolute path, which begins with /, not '" +
                     request_.directory + "'");
    PENSTOCK_TRY(store::CheckPath("directory", request_.directory));
    const Descriptor root(::open(request_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.get() < 0) {
      return Invalid("directory '" + request_.directory + "' cannot be read: " +
                     std::strerror(errno) + "; name a directory that the emulator may read");
    }
    // Checks the prefix with a sample key.
    if (const auto checked = s3::CheckKey(request_.prefix + "k"); !checked.ok()) {
      return Invalid("invalid prefix '" + request_.prefix + "': keys are UTF-8, have at most " +
                     std::to_string(kMaxKeyBytes) +
                     " bytes and must not lead above their bucket; choose another");
    }
    PENSTOCK_TRY(EnsureBucket());
    auto visited = VisitDirectory(root.get(), request_.prefix);
    if (!visited.ok()) {
      if (made_bucket_ && !seeder_.stop) Undo();
      return std::move(visited).error();
    }
    return report_;
  }

 private:
  // The body of CreateBucket: a directory bucket needs the zone of its name.
  std::string CreateDocument() const {
    if (s3::IsDirectoryBucketName(request_.bucket)) {
      const std::string zone(s3::ZoneOf(request_.bucket).value_or(""));
      return "<CreateBucketConfiguration><Location><Type>" +
             std::string(s3::IsLocalZone(zone) ? "LocalZone" : "AvailabilityZone") +
             "</Type><Name>" + zone +
             "</Name></Location><Bucket><Type>Directory</Type></Bucket></"
             "CreateBucketConfiguration>";
    }
    if (seeder_.region == "us-east-1") return {};
    return "<CreateBucketConfiguration "
           "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><LocationConstraint>" +
           seeder_.region + "</LocationConstraint></CreateBucketConfiguration>";
  }

  Result<void> EnsureBucket() {
    std::string body = CreateDocument();
    if (TextBody none({}); SendRequest("HEAD", {}, none).status == 200) return Ok();
    TextBody reader(std::move(body));
    const RequestResult result = SendRequest("PUT", {}, reader);
    made_bucket_ = result.status == 200;
    if (made_bucket_ || result.code == "BucketAlreadyOwnedByYou") return Ok();
    return Invalid("bucket '" + request_.bucket + "' cannot be created: the response is " +
                   result.Text());
  }

  // Removes a bucket that this traversal created, with its objects. Objects of other clients keep
  // the bucket.
  void Undo() {
    for (const std::string& key : put_) {
      if (seeder_.stop) return;
      TextBody none({});
      SendRequest("DELETE", key, none);
    }
    TextBody none({});
    SendRequest("DELETE", {}, none);
  }

  Result<void> CheckStopped() const {
    if (seeder_.stop) return Invalid("the emulator is stopping; seed again after a restart");
    if (!request_.cancelled || !request_.cancelled()) return Ok();
    return Error::Make(ErrorKind::kCancelled,
                       "seeding bucket '" + request_.bucket + "' was cancelled after " +
                           std::to_string(report_.objects) +
                           " objects; keep the connection open until the response arrives");
  }

  // `prefix`: common prefix of the keys in this directory.
  Result<void> VisitDirectory(int directory, const std::string& prefix) {
    PENSTOCK_ASSIGN(const std::vector<std::string> names, Names(directory, prefix));
    for (const std::string& name : names) {
      PENSTOCK_TRY(CheckStopped());
      const std::string key = prefix + name;
      if (key.size() > kMaxKeyBytes || !IsValidUtf8(name)) {
        ++report_.skipped;
        continue;
      }
      // O_NONBLOCK: opening a pipe must not wait for its other end.
      const Descriptor entry(
          ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      struct stat status {};
      // A link, a socket, or a file that was just deleted.
      if (entry.get() < 0 && (errno == ELOOP || errno == ENXIO || errno == ENOENT)) {
        ++report_.skipped;
      } else if (entry.get() < 0 || ::fstat(entry.get(), &status) != 0) {
        return Invalid("'" + request_.directory + "', file '" + key +
                       "' cannot be read: " + std::strerror(errno));
      } else if (S_ISDIR(status.st_mode)) {
        PENSTOCK_TRY(VisitDirectory(entry.get(), key + "/"));
      } else if (S_ISREG(status.st_mode)) {
        PENSTOCK_TRY(PutFile(entry.get(), key, static_cast<std::uint64_t>(status.st_size)));
      } else {
        ++report_.skipped;
      }
    }
    return Ok();
  }

  // Sorted, so that all runs behave the same.
  Result<std::vector<std::string>> Names(int directory, const std::string& prefix) const {
    const int copy = ::fcntl(directory, F_DUPFD_CLOEXEC, 0);
    DIR* const stream = copy < 0 ? nullptr : ::fdopendir(copy);
    if (stream == nullptr) {
      if (copy >= 0) ::close(copy);
      return Invalid("'" + request_.directory + "', directory '" + prefix +
                     "' cannot be read: " + std::strerror(errno));
    }
    std::vector<std::string> names;
    while (const dirent* const entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(stream);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<void> PutFile(int descriptor, const std::string& key, std::uint64_t size) {
    Result<void> not_stopped = Ok();
    FileBody body(descriptor, size, [this, &not_stopped] { return not_stopped = CheckStopped(); });
    const RequestResult result = SendRequest("PUT", key, body);
    PENSTOCK_TRY(std::move(not_stopped));
    if (result.status != 200) {
      return Invalid("file '" + key + "' of '" + request_.directory +
                     "' cannot be stored: the response is " + result.Text());
    }
    if (made_bucket_) put_.push_back(key);
    ++report_.objects;
    report_.bytes += size;
    return Ok();
  }

  struct RequestResult {
    int status = 0;
    std::string code;
    std::string message;  // of the error document, or of the internal error

    std::string Text() const {
      return std::to_string(status) + (code.empty() ? "" : " " + code) +
             (message.empty() ? "" : ": " + message);
    }
  };

  // Sends a request for the bucket (empty key) or an object.
  RequestResult SendRequest(std::string_view method, const std::string& key,
                            s3::BodyReader& body) const {
    const std::string length = std::to_string(body.Length().value_or(0));
    s3::RequestHead head;
    head.method = method;
    head.headers = {{"Host", "localhost"}, {"Content-Length", length}};
    s3::Connection connection;
    s3::Exchange exchange{head, connection, &body};
    exchange.target.raw_path = "/" + request_.bucket + (key.empty() ? "" : "/" + key);
    head.target = exchange.target.raw_path;
    exchange.target.bucket = BucketName(request_.bucket);
    exchange.target.key = ObjectKey(key);
    exchange.identity = seeder_.owner;
    exchange.space = seeder_.space;
    seeder_.router.Handle(exchange);
    const s3::Response& response = exchange.response;
    RequestResult result{response.status, response.error_code, response.error_detail};
    const auto* const document = std::get_if<std::string>(&response.body);
    if (result.message.empty() && !response.error_code.empty() && document != nullptr) {
      const auto parsed = XmlDocument::Parse(*document);
      if (parsed.ok()) result.message = parsed->root().Child("Message").text();
    }
    return result;
  }

  const Seeder& seeder_;
  const SeedRequest& request_;
  SeedReport report_;
  bool made_bucket_ = false;
  std::vector<std::string> put_;  // stored keys, if this traversal created the bucket
};

}  // namespace

Result<SeedReport> Seeder::Fill(const SeedRequest& request) const {
  return Traversal(*this, request).Run();
}

}  // namespace penstock::emulator::server
