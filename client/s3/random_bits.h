// Random numbers for jitter and invocation ids: cheap, without locks, and different in a forked
// child. Not for secrets.
#ifndef PENSTOCK_CLIENT_S3_RANDOM_BITS_H_
#define PENSTOCK_CLIENT_S3_RANDOM_BITS_H_

#include <cstdint>
#include <functional>
#include <string>

namespace penstock::s3 {

// 64 random bits per call. Thread safety: callable from any thread.
using RandomBits = std::function<std::uint64_t()>;

RandomBits MakeRandomBits();

// A number in [0, 1) from 64 bits.
double ToUnitInterval(std::uint64_t bits);

// A version 4 UUID, lower-case.
std::string MakeUuid(const RandomBits& random);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RANDOM_BITS_H_
