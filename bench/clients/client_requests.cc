// Sends PUT or GET requests for objects of SIZE bytes, one request per object, IN_FLIGHT at a time,
// and prints their cost as one JSON line.
//
//   bench_client_requests penstock get|put SIZE REQUESTS IN_FLIGHT ENDPOINT BUCKET
//   bench_client_requests libcurl get|put SIZE REQUESTS IN_FLIGHT PRESIGNED_URL
//
// A GET of Penstock's client reads the object "k", which must exist. libcurl verifies no checksum
// and calculates none. CPU is user plus system time of this process.
#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "bench/clients/cost.h"
#include "bench/clients/make_client.h"
#include "penstock/client.h"

namespace {

using penstock::bench::CpuSeconds;
using penstock::bench::Fail;

// Returns memory at the start of a page, which is kept until the process ends. malloc's large
// blocks start 16 bytes after one: on AMD Zen 3 and 4, copies from other pages to such an address
// take twice as long (glibc bug 30994).
penstock::MutableByteView Pages(std::size_t size) {
  const std::size_t whole = (size + 4095) / 4096 * 4096;
  const penstock::MutableByteView memory(static_cast<std::byte*>(std::aligned_alloc(4096, whole)),
                                         size);
  std::ranges::fill(memory, std::byte{'x'});
  return memory;
}

struct Work {
  penstock::Client& client;
  penstock::BucketName bucket;
  bool puts;
  std::atomic<int> left{0};
  std::counting_semaphore<> ended{0};
};

// Runs requests one after the other, from and into its own memory.
class Lane final : public penstock::BodySink, public penstock::BodySource {
 public:
  Lane(Work& work, std::size_t size) : work_(work), memory_(Pages(size + 1)) {}

  void Next() {
    if (work_.left.fetch_sub(1) <= 0) return work_.ended.release();
    const auto done = [this](const auto& result) {
      if (!result.ok()) Fail(result.error().ToString());
      if (position_ != size()) Fail("moved " + std::to_string(position_) + " bytes");
      Next();
    };
    if (work_.puts) {
      penstock::PutObjectRequest request;
      request.bucket = work_.bucket;
      request.key = penstock::ObjectKey("k");
      request.body = this;
      work_.client.Start(std::move(request), done);
    } else {
      penstock::GetObjectRequest request;
      request.bucket = work_.bucket;
      request.key = penstock::ObjectKey("k");
      request.sink = this;
      work_.client.Start(std::move(request), done);
    }
  }

  penstock::Result<void> Begin(const penstock::ObjectMetadata&,
                               std::optional<std::uint64_t>) override {
    position_ = 0;
    return penstock::Ok();
  }
  penstock::MutableByteView Window() override { return memory_.subspan(position_); }
  penstock::Result<void> Commit(std::size_t count) override {
    position_ += count;
    return penstock::Ok();
  }

  std::uint64_t size() const override { return memory_.size() - 1; }
  void Rewind() override { position_ = 0; }
  penstock::ByteView Next(std::size_t limit) override {
    const penstock::ByteView rest =
        penstock::ByteView(memory_).subspan(position_, memory_.size() - 1 - position_);
    const penstock::ByteView next = rest.first(std::min(limit, rest.size()));
    position_ += next.size();
    return next;
  }

 private:
  Work& work_;
  // One byte more than the object, so that a window is never empty.
  penstock::MutableByteView memory_;
  std::size_t position_ = 0;
};

class PenstockRequests {
 public:
  PenstockRequests(char** argv, bool puts, std::size_t size, int in_flight)
      : client_(penstock::bench::MakeClient(argv[0])),
        work_{*client_, penstock::BucketName(argv[1]), puts} {
    for (int i = 0; i < in_flight; ++i) lanes_.push_back(std::make_unique<Lane>(work_, size));
  }
  void Run(int requests) {
    work_.left = requests;
    for (const auto& lane : lanes_) lane->Next();
    for (std::size_t i = 0; i < lanes_.size(); ++i) work_.ended.acquire();
  }

 private:
  std::unique_ptr<penstock::Client> client_;
  Work work_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

// One libcurl handle with its own memory.
class Handle {
 public:
  Handle(const char* url, bool puts, std::size_t size)
      : memory_(Pages(size)), curl_(curl_easy_init()) {
    curl_easy_setopt(curl_, CURLOPT_URL, url);
    curl_easy_setopt(curl_, CURLOPT_PRIVATE, this);
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl_, CURLOPT_BUFFERSIZE, 256L << 10);
    curl_easy_setopt(curl_, CURLOPT_UPLOAD_BUFFERSIZE, 64L << 10);
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, &Handle::OnReceived);
    curl_easy_setopt(curl_, CURLOPT_WRITEDATA, this);
    if (const char* bundle = std::getenv("AWS_CA_BUNDLE"))
      curl_easy_setopt(curl_, CURLOPT_CAINFO, bundle);
    if (!puts) return;
    curl_easy_setopt(curl_, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl_, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(size));
    curl_easy_setopt(curl_, CURLOPT_READFUNCTION, &Handle::OnSend);
    curl_easy_setopt(curl_, CURLOPT_READDATA, this);
  }
  ~Handle() { curl_easy_cleanup(curl_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void StartOn(CURLM* multi) {
    position_ = 0;
    curl_multi_add_handle(multi, curl_);
  }
  void Finish(CURLM* multi, CURLcode code) {
    curl_multi_remove_handle(multi, curl_);
    if (code != CURLE_OK) Fail(curl_easy_strerror(code));
    if (position_ != memory_.size()) Fail("moved " + std::to_string(position_) + " bytes");
  }

 private:
  static std::size_t OnReceived(char* data, std::size_t, std::size_t count, void* self) {
    return static_cast<Handle*>(self)->Move(
        count, [data](std::byte* memory, std::size_t bytes) { std::memcpy(memory, data, bytes); });
  }
  static std::size_t OnSend(char* data, std::size_t, std::size_t count, void* self) {
    return static_cast<Handle*>(self)->Move(
        count,
        [data](const std::byte* memory, std::size_t bytes) { std::memcpy(data, memory, bytes); });
  }
  template <class Copy>
  std::size_t Move(std::size_t count, Copy copy) {
    const std::size_t bytes = std::min(count, memory_.size() - position_);
    copy(memory_.data() + position_, bytes);
    position_ += bytes;
    return bytes;
  }

  penstock::MutableByteView memory_;
  std::size_t position_ = 0;
  CURL* const curl_;
};

class CurlRequests {
 public:
  CurlRequests(char** argv, bool puts, std::size_t size, int in_flight) {
    for (int i = 0; i < in_flight; ++i)
      handles_.push_back(std::make_unique<Handle>(argv[0], puts, size));
  }
  ~CurlRequests() {
    handles_.clear();
    curl_multi_cleanup(multi_);
  }
  CurlRequests(const CurlRequests&) = delete;
  CurlRequests& operator=(const CurlRequests&) = delete;

  void Run(int requests) {
    int left = requests;
    for (const auto& handle : handles_) {
      if (left-- > 0) handle->StartOn(multi_);
    }
    for (int running = 1; running > 0;) {
      curl_multi_perform(multi_, &running);
      int queued = 0;
      while (CURLMsg* message = curl_multi_info_read(multi_, &queued)) {
        Handle* handle = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &handle);
        handle->Finish(multi_, message->data.result);
        if (left-- <= 0) continue;
        handle->StartOn(multi_);
        ++running;
      }
      if (running > 0) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
  }

 private:
  CURLM* const multi_ = curl_multi_init();
  std::vector<std::unique_ptr<Handle>> handles_;
};

template <class Requests>
void Measure(char** argv) {
  const bool puts = std::string_view(argv[2]) == "put";
  const std::size_t size = std::strtoull(argv[3], nullptr, 10);
  const int count = std::atoi(argv[4]);
  const int in_flight = std::atoi(argv[5]);
  Requests requests(argv + 6, puts, size, in_flight);
  requests.Run(4 * in_flight);  // opens connections and grows congestion windows
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  requests.Run(count);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double used = CpuSeconds() - cpu;
  const double gigabytes = static_cast<double>(size) * count / 1e9;
  std::printf("{\"seconds\": %.6f, \"cpu_per_gb\": %.6f, \"requests_per_cpu_s\": %.1f}\n", seconds,
              used / gigabytes, count / used);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view client = argc > 1 ? argv[1] : "";
  if (client == "penstock" && argc == 8) {
    Measure<PenstockRequests>(argv);
  } else if (client == "libcurl" && argc == 7) {
    Measure<CurlRequests>(argv);
  } else {
    Fail("see the head of client_requests.cc");
  }
  return 0;
}
