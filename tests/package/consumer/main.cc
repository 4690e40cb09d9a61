// Starts an emulator, puts an object and gets it back, through installed headers and libraries
// only. Types, exceptions and the log must work across the boundaries of shared libraries. Prints
// OK.
#include <atomic>
#include <cstddef>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "penstock/client.h"
#include "penstock/emulator.h"
#include "penstock/transfer.h"

namespace {

class FixedCredentials final : public penstock::CredentialsProvider {
 public:
  explicit FixedCredentials(const penstock::emulator::AccessKey& key)
      : credentials_(std::make_shared<const penstock::Credentials>(
            penstock::Credentials{key.id, key.secret, "", std::nullopt})) {}
  void Start(std::function<void(penstock::Result<penstock::CredentialsPtr>)> done) override {
    done(credentials_);
  }

 private:
  penstock::CredentialsPtr credentials_;
};

penstock::Error Unexpected(std::string what) {
  return penstock::Error::Make(penstock::ErrorKind::kInternal, std::move(what));
}

// The library recognizes the program's exception, and the program the library's type.
penstock::Result<void> CheckTypes(penstock::ObjectStore& store, penstock::DownloadRequest request) {
  if (dynamic_cast<penstock::Client*>(&store) == nullptr)
    return Unexpected("the store is not a Client");
  request.destination = [](std::uint64_t) -> penstock::Result<penstock::MutableByteView> {
    throw std::runtime_error("thrown by the program");
  };
  const auto failed = penstock::Download(store, std::move(request));
  if (failed.ok() || failed.error().message.find("thrown by the program") == std::string::npos)
    return Unexpected("the exception of the destination is not in the error");
  return penstock::Ok();
}

penstock::Result<std::string> PutAndGet(const std::string& text) {
  const penstock::emulator::AccessKey key{"consumer", "consumer-secret"};
  penstock::emulator::EmulatorOptions options;
  options.access_keys = {key};
  PENSTOCK_ASSIGN(auto emulator, penstock::emulator::Emulator::Start(std::move(options)));

  penstock::ClientConfig config;
  config.region = "us-east-1";
  config.endpoint_url = emulator->endpoint();
  config.credentials = std::make_shared<FixedCredentials>(key);
  config.max_attempts = 2;
  std::atomic<int> lines = 0;
  penstock::SetLogSink(penstock::LogLevel::kInfo,
                       [&lines](penstock::LogLevel, const std::string&) { ++lines; });
  PENSTOCK_ASSIGN(std::shared_ptr<penstock::Client> client,
                  penstock::Client::Create(std::move(config)));
  penstock::SetLogSink(penstock::LogLevel::kOff, nullptr);
  if (lines != 1) return Unexpected("a new client should log one line to the program's sink");

  const penstock::BucketName bucket("consumer-bucket");
  const penstock::ObjectKey object("folder/fault.txt");
  penstock::CreateBucketRequest create;
  create.bucket = bucket;
  PENSTOCK_TRY(client->Call(create));
  PENSTOCK_TRY(penstock::Upload(client, bucket, object, penstock::AsBytes(text), {}));

  std::vector<std::byte> memory;
  penstock::DownloadRequest request;
  request.bucket = bucket;
  request.key = object;
  PENSTOCK_TRY(CheckTypes(*client, request));
  request.destination =
      [&memory](std::uint64_t size_bytes) -> penstock::Result<penstock::MutableByteView> {
    memory.resize(size_bytes);
    return penstock::MutableByteView(memory);
  };
  PENSTOCK_TRY(penstock::Download(*client, std::move(request)));
  return std::string(penstock::AsText(memory));
}

}  // namespace

int main() {
  const std::string text = "what went in";
  const auto back = PutAndGet(text);
  if (!back.ok()) {
    std::cerr << "consumer: " << back.error().ToString() << '\n';
    return 1;
  }
  if (*back != text) {
    std::cerr << "consumer: put '" << text << "' and got '" << *back << "'\n";
    return 1;
  }
  std::cout << "OK\n";
  return 0;
}
