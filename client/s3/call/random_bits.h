// Random numbers for jitter and invocation ids: cheap, lock-free, and different in a forked child.
// Not for secrets.
#ifndef PENSTOCK_CLIENT_S3_CALL_RANDOM_BITS_H_
#define PENSTOCK_CLIENT_S3_CALL_RANDOM_BITS_H_

#include <cstdint>
#include <functional>
#include <string>

namespace penstock::s3 {

// Returns 64 random bits per call. Thread safety: may be called from any thread.
using RandomBits = std::function<std::uint64_t()>;

RandomBits MakeRandomBits();

// Maps 64 bits to a number in [0, 1).
double ToUnitInterval(std::uint64_t bits);

// Returns a version 4 UUID in lower case.
std::string MakeUuid(const RandomBits& random);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_RANDOM_BITS_H_
