#include "client/s3/attempt/speed_floor.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ClientConfig Floor(std::uint64_t bytes) {
  ClientConfig config;
  config.low_speed_bytes_per_second = bytes;
  config.low_speed_time = seconds(2);
  return config;
}

TEST(SpeedFloorTest, ASlowResponseFailsAfterTheTime) {
  FakeClock clock;
  SpeedFloor floor(Floor(1000), clock);
  floor.Begin();
  clock.Advance(milliseconds(1999));
  EXPECT_TRUE(floor.Add(1).ok());
  clock.Advance(milliseconds(1));
  const auto slow = floor.Add(1);
  ASSERT_FALSE(slow.ok());
  EXPECT_EQ(slow.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(slow.error().message,
            "the response delivered 2 bytes in 2000 ms, less than 1000 bytes per second");
}

TEST(SpeedFloorTest, AFastEnoughResponseContinues) {
  FakeClock clock;
  SpeedFloor floor(Floor(1000), clock);
  floor.Begin();
  for (int i = 0; i < 10; ++i) {
    clock.Advance(seconds(1));
    EXPECT_TRUE(floor.Add(1000).ok()) << i;
  }
  clock.Advance(seconds(2));
  EXPECT_FALSE(floor.Add(1999).ok()) << "earlier speed does not count for ever";
}

TEST(SpeedFloorTest, EveryResponseStartsANewMeasurement) {
  FakeClock clock;
  SpeedFloor floor(Floor(1000), clock);
  floor.Begin();
  clock.Advance(seconds(5));
  floor.Begin();
  clock.Advance(seconds(1));
  EXPECT_TRUE(floor.Add(1).ok());
}

TEST(SpeedFloorTest, WithoutAFloorNothingIsTooSlow) {
  SpeedFloor floor;
  floor.Begin();
  EXPECT_TRUE(floor.Add(0).ok());
}

}  // namespace
}  // namespace penstock::s3
