// Puts COUNT small objects with callbacks, at most 64 at a time. The main thread waits only for the
// last one.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <vector>

#include "command_line.h"

namespace {

// A body in memory. The client may rewind it to send it again.
class Text final : public penstock::BodySource {
 public:
  void Set(std::string text) { text_ = std::move(text); }
  std::uint64_t size() const override { return text_.size(); }
  void Rewind() override { sent_ = 0; }
  penstock::ByteView Next(std::size_t limit) override {
    const auto rest = std::string_view(text_).substr(sent_, limit);
    sent_ += rest.size();
    return penstock::AsBytes(rest);
  }

 private:
  std::string text_;
  std::size_t sent_ = 0;
};

// Sends one object after the other. Each callback starts the next put, on the client's own thread.
class Lane {
 public:
  Lane(penstock::Client& client, examples::Place place, std::atomic<int>& next, int count,
       std::counting_semaphore<>& ended)
      : client_(client), place_(std::move(place)), next_(next), count_(count), ended_(ended) {}

  void Go() {
    const int number = next_.fetch_add(1);
    if (number >= count_) return ended_.release();
    body_.Set("object " + std::to_string(number) + "\n");
    penstock::PutObjectRequest request;
    request.bucket = place_.bucket;
    request.key = penstock::ObjectKey(place_.path + std::to_string(number));
    request.body = &body_;
    client_.Start(std::move(request), [this](penstock::Result<penstock::PutObjectResponse> result) {
      if (!result.ok()) examples::Die(result.error().ToString());
      Go();
    });
  }

 private:
  penstock::Client& client_;
  const examples::Place place_;
  std::atomic<int>& next_;
  const int count_;
  std::counting_semaphore<>& ended_;
  Text body_;
};

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "put_many s3://bucket/prefix COUNT [--endpoint URL] [--region NAME]", {});
  const examples::Place place = line.ParsePlace(line.Argument(0));
  const int count = std::atoi(line.Argument(1).c_str());
  if (count < 1) line.Fail("COUNT must be at least 1, not '" + line.Argument(1) + "'");
  const auto client = line.MakeClient();

  constexpr int kLanes = 64;
  std::atomic<int> next{0};
  std::counting_semaphore<> ended{0};
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < kLanes; ++i)
    lanes.push_back(std::make_unique<Lane>(*client, place, next, count, ended));
  for (const auto& lane : lanes) lane->Go();
  for (int i = 0; i < kLanes; ++i) ended.acquire();

  const penstock::ClientStats stats = client->stats();
  const penstock::TimeHistogram& times = stats.operations.at("PutObject").duration;
  std::printf("%d objects in %llu requests, half of them within %.1f ms\n", count,
              static_cast<unsigned long long>(stats.requests.at("PutObject")),
              std::chrono::duration<double, std::milli>(times.Quantile(0.5)).count());
}
