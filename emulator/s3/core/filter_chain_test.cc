#include "emulator/s3/core/filter_chain.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/log/diagnostics.h"

namespace penstock::emulator::s3 {
namespace {

class NoResponse final : public AsyncResponse {
 public:
  Executor& executor() override { std::abort(); }
  void Complete() noexcept override {}
};

class EmptyBody final : public BodyReader {
 public:
  Result<std::size_t> Read(MutableByteView) override { return std::size_t{0}; }
  std::optional<std::uint64_t> Length() const override { return 0; }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> trailers_;
};

class NotingWrapper final : public BodyWrapper {
 public:
  NotingWrapper(BodyReader& inner, std::string& notes) : BodyWrapper(inner), notes_(notes) {}
  ~NotingWrapper() override { notes_ += "~body "; }
  Result<std::size_t> Read(MutableByteView buffer) override { return inner().Read(buffer); }

 private:
  std::string& notes_;
};

// Notes the calls, and wraps the body.
class NotingFilter final : public Filter {
 public:
  NotingFilter(std::string name, std::string& notes) : name_(std::move(name)), notes_(notes) {}

  FilterStatus OnRequest(Exchange& exchange) override {
    notes_ += name_ + " ";
    exchange.WrapBody<NotingWrapper>(notes_);
    return responds ? FilterStatus::kResponded : FilterStatus::kContinue;
  }
  void OnResponse(Exchange& exchange) override {
    notes_ += name_ + "=" + std::to_string(exchange.response.status) + " ";
    if (throws) throw std::runtime_error("a filter failed");
  }
  bool responds = false;
  bool throws = false;

 private:
  const std::string name_;
  std::string& notes_;
};

class Operations final : public Handler {
 public:
  explicit Operations(std::string& notes) : notes_(notes) {}
  void Handle(Exchange& exchange) override {
    notes_ += "handle ";
    if (exchange.async == nullptr) {
      exchange.response.status = 418;
    } else {
      later.emplace(exchange.RespondLater());
    }
  }
  void Finish(Exchange& exchange) override {
    notes_ += "finish ";
    exchange.response.status = 299;
    if (throws) throw std::runtime_error("the operation failed");
  }
  std::optional<PendingResponse> later;
  bool throws = false;

 private:
  std::string& notes_;
};

class FilterChainTest : public testing::Test {
 protected:
  FilterChainTest() {
    auto first = std::make_unique<NotingFilter>("first", notes_);
    auto second = std::make_unique<NotingFilter>("second", notes_);
    first_ = first.get();
    second_ = second.get();
    chain_.emplace(operations_, std::move(first), std::move(second));
    exchange_.body = &body_;
  }

  std::string notes_;
  Operations operations_{notes_};
  NotingFilter* first_;
  NotingFilter* second_;
  std::optional<FilterChain> chain_;
  RequestHead head_;
  Connection connection_;
  EmptyBody body_;
  NoResponse async_;
  Exchange exchange_{head_, connection_};
};

TEST_F(FilterChainTest, ResponsesPassTheFiltersInReverseOrder) {
  chain_->Handle(exchange_);
  EXPECT_EQ(notes_, "first second handle ~body ~body second=418 first=418 ");
  EXPECT_EQ(exchange_.body, &body_);
}

TEST_F(FilterChainTest, AFilterThatRespondsEndsTheRequest) {
  first_->responds = true;
  chain_->Handle(exchange_);
  EXPECT_EQ(notes_, "first ~body first=200 ");
}

TEST_F(FilterChainTest, PendingResponsesPassTheFiltersOnceFinished) {
  exchange_.async = &async_;
  chain_->Handle(exchange_);
  EXPECT_EQ(notes_, "first second handle ~body ~body ");
  EXPECT_EQ(exchange_.body, &body_);
  notes_.clear();
  exchange_.pending = false;
  chain_->Finish(exchange_);
  EXPECT_EQ(notes_, "finish second=299 first=299 ");
}

TEST_F(FilterChainTest, AnExceptionOfAPendingResponseSkipsNoFilter) {
  exchange_.async = &async_;
  chain_->Handle(exchange_);
  operations_.throws = true;
  second_->throws = true;
  notes_.clear();
  const std::uint64_t before = DiagnosticCounts()["s3.further_exception"];
  try {
    chain_->Finish(exchange_);
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& first) {
    EXPECT_STREQ(first.what(), "the operation failed");
  }
  EXPECT_EQ(DiagnosticCounts()["s3.further_exception"], before + 1);
  EXPECT_EQ(notes_, "finish second=299 first=299 ");
}

}  // namespace
}  // namespace penstock::emulator::s3
