// Coroutines: copies objects under a prefix to another one, several at a time. Each continues on an
// I/O thread, so between two co_await it must not block.
#include <cstdio>
#include <string>
#include <vector>

#include "command_line.h"
#include "penstock/transfer.h"

using penstock::ObjectKey;
using penstock::Pending;

namespace {

// A coroutine that returns Pending starts at once. It ends with a value or an Error.
Pending<std::uint64_t> CopyOne(penstock::Client& client, penstock::BucketName bucket,
                               ObjectKey source, ObjectKey target) {
  const auto read = co_await client.GetObjectAsync(bucket, source);
  if (!read.ok()) co_return read.error();
  const auto written = co_await client.PutObjectAsync(bucket, target, read->body);
  if (!written.ok()) co_return written.error();
  co_return read->body.size();
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "coroutines s3://bucket/from/ to/ [--endpoint URL] [--region NAME]", {});
  const auto [bucket, from] = line.ParsePlace(line.Argument(0));
  const std::string to = line.Argument(1);
  const auto client = line.MakeClient();

  std::vector<Pending<std::uint64_t>> copies;
  const auto pages = penstock::Lister::Create(client, {.bucket = bucket, .prefix = from});
  for (;;) {
    const auto page = pages->Next();
    if (!page.ok()) examples::Die(page.error().ToString());
    if (!*page) break;
    for (const auto& object : (*page)->objects) {
      const std::string name = object.key.value.substr(from.size());
      copies.push_back(CopyOne(*client, bucket, object.key, ObjectKey(to + name)));
    }
  }
  std::uint64_t bytes = 0;
  for (Pending<std::uint64_t>& copy : copies) {
    const auto copied = copy.Get();  // the main thread may block
    if (!copied.ok()) examples::Die(copied.error().ToString());
    bytes += *copied;
  }
  std::printf("%zu objects, %llu bytes\n", copies.size(), static_cast<unsigned long long>(bytes));
}
