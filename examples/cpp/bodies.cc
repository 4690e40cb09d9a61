// Bodies without own classes: a file, a stream and memory as sources and sinks.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

#include "command_line.h"
#include "penstock/bodies.h"

using penstock::Body;
using penstock::ObjectKey;

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "bodies s3://bucket/key FILE [--endpoint URL] [--region NAME]", {});
  const auto [bucket, path] = line.ParsePlace(line.Argument(0));
  const ObjectKey key(path);
  const auto client = line.MakeClient();

  // A file is read while it is sent, and again if the request is retried.
  auto file = Body::File(line.Argument(1));
  if (!file.ok()) examples::Die(file.error().ToString());
  const auto put = client->PutObject(bucket, key, std::move(file).value());
  if (!put.ok()) examples::Die(put.error().ToString());

  // Into memory that the program owns, without a copy.
  std::vector<std::byte> memory(16);
  penstock::SpanSink span(memory);
  const auto head = client->GetObject(
      {.bucket = bucket, .key = key, .range = {{.begin = 0, .end = 16}}, .sink = &span});
  if (!head.ok()) examples::Die(head.error().ToString());

  // Into a stream.
  std::ostringstream text;
  penstock::StreamSink stream(text);
  const auto whole = client->GetObject({.bucket = bucket, .key = key, .sink = &stream});
  if (!whole.ok()) examples::Die(whole.error().ToString());
  std::printf("%zu bytes in memory, %zu of %llu bytes in the stream\n", span.bytes().size(),
              text.str().size(), static_cast<unsigned long long>(whole->metadata.size));
}
