// The named operations: writes, reads, copies, lists and deletes small objects under a prefix.
#include <cstdio>
#include <string>

#include "command_line.h"

using penstock::ObjectKey;

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "objects s3://bucket/prefix/ [--endpoint URL] [--region NAME]", {});
  const auto [bucket, prefix] = line.ParsePlace(line.Argument(0));
  const auto client = line.MakeClient();
  const ObjectKey first(prefix + "first");
  const ObjectKey second(prefix + "second");

  // A body is a string, a vector or a penstock::Body, which the call owns.
  const auto put = client->PutObject({.bucket = bucket,
                                      .key = first,
                                      .attributes = {.content_type = "text/plain"},
                                      .if_none_match_any = true},
                                     "some text");
  if (!put.ok()) examples::Die(put.error().ToString());

  const auto read = client->GetObject(bucket, first);
  if (!read.ok()) examples::Die(read.error().ToString());
  std::printf("read '%s', %s\n", read->body.c_str(), read->metadata.content_type.c_str());

  const auto part =
      client->GetObject({.bucket = bucket, .key = first, .range = {{.begin = 5, .end = 9}}});
  if (!part.ok()) examples::Die(part.error().ToString());
  std::printf("bytes 5 to 9: '%s'\n", part->body.c_str());

  const auto copied = client->CopyObject(
      {.source_bucket = bucket, .source_key = first, .bucket = bucket, .key = second});
  if (!copied.ok()) examples::Die(copied.error().ToString());

  const auto listed = client->ListObjects({.bucket = bucket, .prefix = prefix});
  if (!listed.ok()) examples::Die(listed.error().ToString());
  for (const auto& object : listed->objects) {
    std::printf("%llu %s\n", static_cast<unsigned long long>(object.size),
                object.key.value.c_str());
  }

  const auto deleted = client->DeleteObjects({.bucket = bucket, .keys = {first, second}});
  if (!deleted.ok()) examples::Die(deleted.error().ToString());
  const auto gone = client->HeadObject({.bucket = bucket, .key = first});
  std::printf("%s\n", !gone.ok() && gone.error().kind == penstock::ErrorKind::kNotFound
                          ? "deleted"
                          : "still there");
}
