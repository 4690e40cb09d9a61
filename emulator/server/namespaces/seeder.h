// Fills a bucket from a directory: every regular file below it becomes an object named by its
// relative path.
//
// Symbolic links below the directory, pipes, sockets and devices are skipped. Objects are stored
// through the router, exactly like PutObject.
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
  const std::atomic<bool>& stop;  // set: stop between two files or two blocks of a file

  // Creates the bucket if it is missing. Returns kInvalidArgument; its message names the directory,
  // the file or the S3 error and its reason. Returns kCancelled if `request.cancelled` returns
  // true. After an error, a bucket that it created is removed with its new objects, unless `stop`
  // is set. In an existing bucket, objects stored before the error remain.
  Result<SeedReport> Fill(const SeedRequest& request) const;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_SEEDER_H_
