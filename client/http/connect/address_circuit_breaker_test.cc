#include "client/http/connect/address_circuit_breaker.h"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const MonotonicTime kNow{seconds(1000)};
const PeerAddress kDead = PeerAddress::OfText("192.0.2.1", 443);

TEST(AddressCircuitBreakerTest, SkipsAFailedAddressAndThenProbesItOnce) {
  AddressCircuitBreaker circuit;
  EXPECT_FALSE(circuit.Avoids(kDead, kNow));
  circuit.OnFailure(kDead, kNow);
  EXPECT_TRUE(circuit.Avoids(kDead, kNow + milliseconds(999)));
  EXPECT_FALSE(circuit.Avoids(PeerAddress::OfText("192.0.2.2", 443), kNow));
  EXPECT_FALSE(circuit.Avoids(PeerAddress::OfText("192.0.2.1", 80), kNow))
      << "another port is another service";
  EXPECT_FALSE(circuit.Avoids(kDead, kNow + seconds(1))) << "the probe";
  EXPECT_TRUE(circuit.Avoids(kDead, kNow + seconds(1))) << "other callers skip the address";
  EXPECT_FALSE(circuit.Avoids(kDead, kNow + seconds(12))) << "but not forever";
}

TEST(AddressCircuitBreakerTest, FailuresInARowDoubleTheTimeUpToAMinute) {
  AddressCircuitBreaker circuit;
  for (const int wait : {1, 2, 4, 8, 16, 32, 60, 60}) {
    circuit.OnFailure(kDead, kNow);
    EXPECT_TRUE(circuit.Avoids(kDead, kNow + seconds(wait) - milliseconds(1))) << wait;
    EXPECT_FALSE(circuit.Avoids(kDead, kNow + seconds(wait))) << wait;
  }
}

TEST(AddressCircuitBreakerTest, SuccessResetsFailures) {
  AddressCircuitBreaker circuit;
  circuit.OnFailure(kDead, kNow);
  circuit.OnFailure(kDead, kNow);
  circuit.OnSuccess(kDead);
  EXPECT_FALSE(circuit.Avoids(kDead, kNow));
  circuit.OnFailure(kDead, kNow);
  EXPECT_FALSE(circuit.Avoids(kDead, kNow + seconds(1)));
}

}  // namespace
}  // namespace penstock::http
