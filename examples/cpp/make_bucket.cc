// Creates a bucket. An existing bucket of the same account is accepted.
#include <cstdio>

#include "command_line.h"

int main(int argc, char** argv) {
  const examples::CommandLine line(argc, argv,
                                   "make_bucket s3://bucket [--endpoint URL] [--region NAME]", {});

  penstock::CreateBucketRequest request;
  request.bucket = line.ParsePlace(line.Argument(0)).bucket;
  const auto made = line.MakeClient()->CreateBucket(request);
  if (!made.ok() && made.error().kind != penstock::ErrorKind::kAlreadyExists)
    examples::Die(made.error().ToString());
  std::printf("%s\n", request.bucket.value.c_str());
}
