// Presigned requests for programs without credentials: prints a URL to write an object, one to read
// it, the URL of a part of an upload, and a browser form. URLs of a directory bucket (S3 Express
// One Zone) are signed with the client's session, which Presign creates.
#include <chrono>
#include <cstdio>

#include "command_line.h"
#include "penstock/bucket_kind.h"
#include "penstock/presign.h"

using examples::Must;
using penstock::ObjectKey;

namespace {

void Print(const penstock::PresignedRequest& request) {
  std::printf("%s %s\n", request.method.c_str(), request.url.c_str());
  for (const auto& [name, value] : request.headers)
    std::printf("header %s: %s\n", name.c_str(), value.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(argc, argv,
                                   "presign s3://bucket/key [--endpoint URL] [--region NAME]", {});
  const auto [bucket, path] = line.ParsePlace(line.Argument(0));
  const ObjectKey key(path);
  const auto client = line.MakeClient();

  penstock::PutObjectRequest put{.bucket = bucket, .key = key};
  put.attributes.content_type = "text/plain";  // must be sent with the URL
  Print(Must(Presign(*client, put, {.expires = std::chrono::minutes(10)})));

  penstock::GetObjectRequest get{.bucket = bucket, .key = key};
  get.overrides.Edit().content_disposition = "attachment";
  const auto url = Must(Presign(*client, get));
  Print(url);
  const std::chrono::duration<double> left = url.expires_at - penstock::SystemClock().Now();
  std::printf("expires in %.0f s\n", left.count());

  const auto upload = Must(client->CreateMultipartUpload({.bucket = bucket, .key = key}));
  penstock::UploadPartRequest part{
      .bucket = bucket, .key = key, .upload_id = upload.upload_id, .part_number = 1};
  Print(Must(Presign(*client, part)));
  Must(client->AbortMultipartUpload({bucket, key, upload.upload_id, {}}));

  if (penstock::IsDirectoryBucket(bucket.value)) return 0;  // S3 has no forms for them
  const auto form =
      Must(Presign(*client, penstock::PostFormRequest{.bucket = bucket,
                                                      .key = key,
                                                      .fields = {{"Content-Type", "text/plain"}},
                                                      .content_length_range = {{1, 1024}}}));
  std::printf("POST %s\n", form.url.c_str());
  for (const auto& [name, value] : form.fields)
    std::printf("field %s: %s\n", name.c_str(), value.c_str());
}
