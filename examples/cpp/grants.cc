// ACLs: a bucket and an object that another account may read. Creates the bucket with the object
// ownership "ObjectWriter": S3's default ownership disables ACLs.
#include <cstdio>
#include <string>

#include "command_line.h"

using examples::Must;
using penstock::GrantPermission;
using penstock::ObjectKey;

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv,
      "grants s3://new-bucket/prefix/ CANONICAL-USER-ID [--endpoint URL] [--region NAME]", {});
  const auto [bucket, prefix] = line.ParsePlace(line.Argument(0));
  const std::string reader = "id=\"" + line.Argument(1) + "\"";
  const auto client = line.MakeClient();

  Must(client->CreateBucket({.bucket = bucket,
                             .grants = {{GrantPermission::kRead, reader}},
                             .object_ownership = "ObjectWriter"}));

  penstock::PutObjectRequest put{.bucket = bucket, .key = ObjectKey(prefix + "shared")};
  put.attributes.grants = {{GrantPermission::kRead, reader}, {GrantPermission::kReadAcp, reader}};
  Must(client->PutObject(std::move(put), "for both"));
  Must(client->PutObject(bucket, ObjectKey(prefix + "own"), "for the owner"));  // no ACL: private

  // ACLs are returned, and may be replaced, as documents.
  const auto acl =
      Must(client->GetObjectConfiguration({.bucket = bucket,
                                           .key = ObjectKey(prefix + "shared"),
                                           .kind = penstock::ObjectConfigurationKind::kAcl}));
  std::printf("%s\n", acl.document.c_str());
}
