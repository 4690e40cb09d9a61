// Configurations of a bucket: versioning and tags as values, all others as documents.
#include <cstdio>
#include <string>

#include "command_line.h"

using examples::Must;
using Kind = penstock::BucketConfigurationKind;

int main(int argc, char** argv) {
  const examples::CommandLine line(argc, argv,
                                   "buckets s3://bucket [--endpoint URL] [--region NAME]", {});
  const auto bucket = line.ParsePlace(line.Argument(0)).bucket;
  const auto client = line.MakeClient();

  Must(client->PutBucketVersioning(
      {.bucket = bucket, .status = penstock::BucketVersioning::kEnabled}));
  const auto versioning = Must(client->GetBucketVersioning({.bucket = bucket}));
  std::printf("versioning %s\n",
              versioning.status == penstock::BucketVersioning::kEnabled ? "enabled" : "off");

  Must(client->PutBucketTagging({.bucket = bucket, .tags = {{"team", "vision"}}}));
  for (const auto& tag : Must(client->GetBucketTagging({.bucket = bucket})).tags)
    std::printf("%s=%s\n", tag.key.c_str(), tag.value.c_str());

  const std::string lifecycle =
      "<LifecycleConfiguration><Rule><ID>old</ID><Filter><Prefix>tmp/</Prefix></Filter>"
      "<Status>Enabled</Status><Expiration><Days>7</Days></Expiration></Rule>"
      "</LifecycleConfiguration>";
  Must(client->PutBucketConfiguration(
      {.bucket = bucket, .kind = Kind::kLifecycle, .document = lifecycle}));
  const std::string policy =
      R"({"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*",)"
      R"("Action":"s3:PutObject","Resource":"arn:aws:s3:::)" +
      bucket.value + R"(/never/*"}]})";
  Must(client->PutBucketConfiguration(
      {.bucket = bucket, .kind = Kind::kPolicy, .document = policy}));
  for (const Kind kind : {Kind::kLifecycle, Kind::kPolicy}) {
    const auto found = Must(client->GetBucketConfiguration({.bucket = bucket, .kind = kind}));
    std::printf("%s\n",
                found.document.find(kind == Kind::kPolicy ? "never" : "tmp/") != std::string::npos
                    ? "as it was set"
                    : "other");
    Must(client->DeleteBucketConfiguration({.bucket = bucket, .kind = kind}));
  }
  const std::string notification =
      "<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>";
  Must(client->PutBucketConfiguration(
      {.bucket = bucket, .kind = Kind::kNotification, .document = notification}));
  const auto events =
      Must(client->GetBucketConfiguration({.bucket = bucket, .kind = Kind::kNotification}));
  std::printf("%s\n", events.document.find("EventBridge") != std::string::npos ? "events are sent"
                                                                               : "no events");
  const auto gone = client->GetBucketConfiguration({.bucket = bucket, .kind = Kind::kLifecycle});
  std::printf("%s\n", gone.ok() ? "still there" : gone.error().code.c_str());
}
