#include "client/transfer/progress_meter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/fake_clock.h"

namespace penstock::transfer {
namespace {

class ProgressMeterTest : public ::testing::Test {
 protected:
  ProgressMeter Meter() {
    return ProgressMeter([this](const TransferProgress& progress) { told_.push_back(progress); },
                         clock_);
  }

  FakeClock clock_;
  std::vector<TransferProgress> told_;
};

TEST_F(ProgressMeterTest, ReportsAtMostOncePerInterval) {
  ProgressMeter meter(Meter());
  for (int i = 0; i < 1000; ++i) meter.Add(10);
  EXPECT_TRUE(told_.empty());
  clock_.Advance(ProgressMeter::kInterval);
  for (int i = 0; i < 1000; ++i) meter.Add(10);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].bytes_done, 10'010u);
  EXPECT_FALSE(told_[0].bytes_total.has_value());
}

TEST_F(ProgressMeterTest, FinishReportsTheTotalImmediately) {
  ProgressMeter meter(Meter());
  meter.SetTotal(50);
  meter.Add(20);
  meter.Finish(50);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].bytes_done, 50u);
  EXPECT_EQ(told_[0].bytes_total, 50u);
}

TEST_F(ProgressMeterTest, ReportedProgressNeverDecreasesOrExceedsTheTotal) {
  ProgressMeter meter(Meter());
  meter.SetTotal(100);
  clock_.Advance(ProgressMeter::kInterval);
  meter.Add(90);
  meter.Add(-90);  // the attempt failed and restarts from 0
  clock_.Advance(ProgressMeter::kInterval);
  meter.Add(10);
  clock_.Advance(ProgressMeter::kInterval);
  meter.Add(200);
  ASSERT_EQ(told_.size(), 3u);
  EXPECT_EQ(told_[0].bytes_done, 90u);
  EXPECT_EQ(told_[1].bytes_done, 90u);
  EXPECT_EQ(told_[2].bytes_done, 100u);
}

TEST_F(ProgressMeterTest, DoesNothingWithoutACallback) {
  ProgressMeter meter(nullptr, clock_);
  clock_.Advance(ProgressMeter::kInterval);
  meter.Add(1);
  meter.Finish(1);
  EXPECT_TRUE(told_.empty());
}

TEST_F(ProgressMeterTest, CallsTheCallbackOneAtATime) {
  int inside = 0;
  int most = 0;
  int calls = 0;
  ProgressMeter meter(
      [&](const TransferProgress&) {
        most = std::max(most, ++inside);  // unguarded on purpose: calls must not overlap
        clock_.Advance(ProgressMeter::kInterval);
        ++calls;
        --inside;
      },
      clock_);
  clock_.Advance(ProgressMeter::kInterval);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&meter] {
        for (int i = 0; i < 1000; ++i) meter.Add(1);
      });
    }
  }
  EXPECT_EQ(most, 1);
  EXPECT_GT(calls, 0);
}

}  // namespace
}  // namespace penstock::transfer
