// One request as the journal keeps it.
#ifndef PENSTOCK_EMULATOR_JOURNAL_ENTRY_H_
#define PENSTOCK_EMULATOR_JOURNAL_ENTRY_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "penstock/base/clock.h"
#include "penstock/base/types.h"

namespace penstock::emulator::journal {

// How the request ended for the server.
enum class Ending : std::uint8_t {
  kAnswered,  // the whole answer left
  kBroken,    // the connection ended before: by the client, or because a fault ended it
};

// The texts are views: into what is being written, or into the journal's memory while a Reading of it lives.
struct Entry {
  std::uint64_t number = 0;  // from 1 on, in the order in which requests ended; Append gives it
  WallTime received{};       // by the namespace's clock
  // Since the journal began, by the machine's monotonic clock.
  std::chrono::nanoseconds began{};
  std::chrono::nanoseconds ended{};
  std::uint64_t connection = 0;
  std::uint64_t requests_before = 0;  // on the same connection
  bool tls = false;
  Ending ending = Ending::kAnswered;
  int status = 0;
  std::uint32_t attempt = 1;      // as the client says
  std::uint64_t bytes_in = 0;     // of the bodies, as they were on the wire
  std::uint64_t bytes_out = 0;
  std::optional<ByteRange> range;  // of the object that the answer covers; unset: not a read of an object's bytes
  std::string_view method;
  std::string_view target;      // as on the request line
  std::string_view operation;   // "GetObject"; empty: none of S3's
  std::string_view bucket;
  std::string_view key;
  std::string_view access_key;  // of the identity; empty: anonymous, or refused before it was known
  std::string_view invocation;  // amz-sdk-invocation-id
  std::string_view user_agent;
  std::string_view peer;
  std::string_view request_id;
  std::string_view error_code;  // "NoSuchKey"
  std::string_view faults;      // ids of the rules that fired, with commas between
  std::string_view checksums;   // what the request sent, "x-amz-checksum-crc32=...,content-md5=...", as headers or trailers
  std::string_view payload;     // x-amz-content-sha256's kind: "signed", "unsigned", "STREAMING-..."; empty: none

  std::chrono::nanoseconds lasted() const { return ended - began; }
};

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_ENTRY_H_
