// Requests for tests of fault rules, without a server.
#ifndef PENSTOCK_EMULATOR_FAULTS_TEST_SUPPORT_H_
#define PENSTOCK_EMULATOR_FAULTS_TEST_SUPPORT_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fake_clock.h"
#include "emulator/faults/rules/request_properties.h"
#include "emulator/faults/scenario/running_scenario.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/s3/dispatch/operations.h"

namespace penstock::emulator::faults {

class TextBody final : public s3::BodyReader {
 public:
  Result<std::size_t> Read(MutableByteView buffer) override {
    const std::size_t count = std::min(buffer.size(), text.size() - at_);
    std::memcpy(buffer.data(), text.data() + at_, count);
    at_ += count;
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return text.size(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers;
  }

  std::string text;
  std::vector<std::pair<std::string, std::string>> trailers;

 private:
  std::size_t at_ = 0;
};

// A request that owns everything that its exchange refers to.
class TestRequest {
 public:
  TestRequest(std::string method, std::string target,
              std::vector<std::pair<std::string, std::string>> headers = {})
      : method_(std::move(method)), target_(std::move(target)), headers_(std::move(headers)) {
    head_.method = method_;
    head_.target = target_;
    for (const auto& [name, value] : headers_) head_.headers.push_back({name, value});
    connection_.peer = "127.0.0.1:50000";
    exchange_.target = s3::ParseTarget(target_, "127.0.0.1", {}).value();
    exchange_.operation = s3::OperationName(head_, exchange_.target);
    exchange_.request_id = "REQUEST";
  }
  TestRequest(const TestRequest&) = delete;
  TestRequest& operator=(const TestRequest&) = delete;

  s3::Exchange& exchange() { return exchange_; }
  const s3::Exchange& exchange() const { return exchange_; }
  s3::Connection& connection() { return connection_; }
  void set_body(std::string text) { body_.text = std::move(text); }
  RequestProperties properties() const { return PropertiesOf(exchange_); }

 private:
  const std::string method_;
  const std::string target_;
  const std::vector<std::pair<std::string, std::string>> headers_;
  s3::RequestHead head_;
  s3::Connection connection_;
  TextBody body_;
  s3::Exchange exchange_{head_, connection_, &body_};
};

// Evaluates the scenario once for the request.
inline std::vector<std::unique_ptr<Ticket>> Meet(RunningScenario& scenario,
                                                 const TestRequest& request, WallTime now = {}) {
  LazyRequestProperties properties(request.exchange());
  return scenario.Meet(properties, FakeClock(now));
}

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_TEST_SUPPORT_H_
