// Fills a bucket from a directory: every regular file below it becomes an object named by its
// relative path.
//
// Symbolic links, below the directory, are skipped and never followed; so are pipes, sockets and
// devices. Objects go through the router, so that they are what PutObject makes of them.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_SEEDER_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_SEEDER_H_

#include <atomic>
#include <memory>
#include <string>

#include "emulator/s3/core/exchange.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

struct Seeder {
  s3::Handler& router;
  std::shared_ptr<s3::Namespace> space;
  s3::Identity owner;
  std::string region;
  const std::atomic<bool>& stop;  // ends the walk between two files or two blocks of a file

  // Makes the bucket where it is missing. kInvalidArgument naming the directory, the file or S3's
  // refusal and its reason; kCancelled where `request.cancelled` says so. After an error, a bucket
  // that it made is removed with what it put there, unless `stop` is set. In a bucket that existed,
  // the objects that were put before the error stay.
  Result<SeedReport> Fill(const SeedRequest& request) const;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_SEEDER_H_
