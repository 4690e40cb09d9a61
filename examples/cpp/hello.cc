// The program of docs/tutorials/cpp.md.
#include <cstdio>
#include <utility>

#include "penstock/client.h"

int main() {
  penstock::ClientConfig config;
  config.region = "us-east-1";
  const auto client = penstock::Client::Create(std::move(config));
  if (!client.ok()) {
    std::puts(client.error().ToString().c_str());
    return 1;
  }
  const penstock::BucketName bucket("greetings");
  const penstock::ObjectKey key("hello");
  if (const auto made = (*client)->CreateBucket({.bucket = bucket}); !made.ok()) {
    std::puts(made.error().ToString().c_str());
    return 1;
  }
  if (const auto put = (*client)->PutObject(bucket, key, "hello, world"); !put.ok()) {
    std::puts(put.error().ToString().c_str());
    return 1;
  }
  const auto read = (*client)->GetObject(bucket, key);
  std::puts(read.ok() ? read->body.c_str() : read.error().ToString().c_str());
  return read.ok() ? 0 : 1;
}
