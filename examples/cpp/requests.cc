// What requests for objects can carry: attributes, tags, encryption, conditions, checksums, copy
// directives, versions, and headers that the library does not know.
#include <chrono>
#include <cstdio>
#include <string>

#include "command_line.h"

using examples::Must;
using penstock::AsBytes;
using penstock::ObjectKey;

namespace {

// An attribute of every kind, and a checksum that S3 compares.
void WriteWithAttributes(penstock::Client& client, const examples::Place& place) {
  penstock::PutObjectRequest put{.bucket = place.bucket, .key = ObjectKey(place.path + "report")};
  put.attributes.content_type = "text/csv";
  put.attributes.cache_control = "no-cache";
  put.attributes.user_metadata = {{"team", "vision"}};
  put.attributes.tags = {{"stage", "raw"}};
  put.attributes.encryption = penstock::SseS3{};
  put.checksum_algorithm = "sha256";
  put.options.extra_query = {{"x-id", "PutObject"}};
  put.options.on_response = [](const penstock::ResponseInfo& info) {
    std::printf("stored with %d attempt, request id %s\n", info.attempts,
                info.request_id.empty() ? "none" : "present");
  };
  Must(client.PutObject(std::move(put), "a,b\n"));
  const auto head =
      Must(client.HeadObject({.bucket = place.bucket, .key = ObjectKey(place.path + "report")}));
  std::printf("%s, %s, %zu metadata, %d tag\n", head.content_type.c_str(),
              head.details->cache_control.c_str(), head.user_metadata.size(),
              head.details->tag_count.value_or(0));

  penstock::GetObjectRequest read{.bucket = place.bucket, .key = ObjectKey(place.path + "report")};
  read.if_none_match = head.etag;
  const auto unchanged = client.GetObject(std::move(read));
  std::printf("%s\n", !unchanged.ok() && unchanged.error().kind == penstock::ErrorKind::kNotModified
                          ? "not modified"
                          : "modified");
}

void CopyWithOtherMetadata(penstock::Client& client, const examples::Place& place) {
  penstock::CopyObjectRequest copy{.source_bucket = place.bucket,
                                   .source_key = ObjectKey(place.path + "report"),
                                   .bucket = place.bucket,
                                   .key = ObjectKey(place.path + "copy")};
  copy.metadata_directive = penstock::CopyDirective::kReplace;
  copy.attributes.content_type = "text/plain";
  copy.attributes.storage_class = "STANDARD_IA";
  copy.tagging_directive = penstock::CopyDirective::kReplace;
  copy.attributes.tags = {{"stage", "copied"}};
  Must(client.CopyObject(std::move(copy)));
  const auto head =
      Must(client.HeadObject({.bucket = place.bucket, .key = ObjectKey(place.path + "copy")}));
  const auto tags = Must(
      client.GetObjectTagging({.bucket = place.bucket, .key = ObjectKey(place.path + "copy")}));
  std::printf("copied as %s, %s, %s\n", head.content_type.c_str(), head.storage_class.c_str(),
              tags.tags.at(0).value.c_str());
}

// Headers that S3 stores with the object, its ACL, and who owns the bucket and pays.
void WriteWithHeaders(penstock::Client& client, const examples::Place& place) {
  const ObjectKey key(place.path + "headers");
  penstock::PutObjectRequest put{.bucket = place.bucket, .key = key};
  put.attributes.content_encoding = "gzip";
  put.attributes.content_disposition = "attachment";
  put.attributes.content_language = "en";
  put.attributes.expires = penstock::WallTime(std::chrono::hours(24 * 365 * 100));
  put.attributes.website_redirect = "/other";
  put.attributes.acl = "private";
  put.attributes.encryption = penstock::SseKms{.context = {{"team", "vision"}}};
  put.options.requester_pays = true;
  put.options.extra_headers = {{"x-amz-meta-team", "vision"}};
  Must(client.PutObject(std::move(put), "text"));
  const auto head = Must(client.HeadObject({.bucket = place.bucket, .key = key}));
  std::printf("%s, %s, %s, %s, redirected to %s, %s\n", head.details->content_encoding.c_str(),
              head.details->content_disposition.c_str(), head.details->content_language.c_str(),
              head.details->expires.c_str(), head.details->website_redirect.c_str(),
              head.encryption == penstock::EncryptionKind::kKms ? "SSE-KMS" : "not SSE-KMS");

  penstock::HeadObjectRequest of_another{.bucket = place.bucket, .key = key};
  of_another.options.expected_bucket_owner = "999999999999";
  const auto refused = client.HeadObject(std::move(of_another));
  std::printf("%s\n", refused.ok() ? "the owner is 999999999999" : "another owner");
}

// SSE-C: S3 forgets the key, so every read needs it. A client can have it for all its requests.
void EncryptWithOwnKey(const examples::CommandLine& line, const examples::Place& place) {
  penstock::ClientConfig config;
  config.endpoint_url = line.Option("endpoint");
  config.region = line.Option("region");
  config.customer_key = Must(penstock::CustomerKey::Create(AsBytes(std::string(32, 'k'))));
  const auto keyed = Must(penstock::Client::Create(std::move(config)));
  Must(keyed->PutObject(place.bucket, ObjectKey(place.path + "secret"), "secret"));
  const auto read = Must(keyed->GetObject(place.bucket, ObjectKey(place.path + "secret")));
  const auto without = line.MakeClient()->GetObject(place.bucket, ObjectKey(place.path + "secret"));
  std::printf("with the key: '%s', without it: %s\n", read.body.c_str(),
              without.ok() ? "readable" : "refused");
}

// DSSE-KMS: two layers of encryption, here with the key that AWS manages for S3.
void EncryptTwice(penstock::Client& client, const examples::Place& place) {
  penstock::PutObjectRequest put{.bucket = place.bucket, .key = ObjectKey(place.path + "twice")};
  put.attributes.encryption = penstock::DsseKms{.context = {{"team", "vision"}}};
  const auto stored = Must(client.PutObject(std::move(put), "text"));
  std::printf("%s, key %s\n",
              stored.encryption == penstock::EncryptionKind::kDsse ? "DSSE-KMS" : "not DSSE-KMS",
              stored.kms_key_id.empty() ? "not named" : "named");
}

void DeleteVersions(penstock::Client& client, const examples::Place& place) {
  Must(client.PutBucketVersioning({.bucket = place.bucket}));
  const ObjectKey key(place.path + "versioned");
  Must(client.PutObject(place.bucket, key, "first"));
  Must(client.PutObject(place.bucket, key, "second"));
  const auto listed =
      Must(client.ListObjectVersions({.bucket = place.bucket, .prefix = key.value}));
  penstock::DeleteObjectsRequest removal{.bucket = place.bucket};
  for (const auto& version : listed.versions)
    removal.objects.push_back({version.key, version.version_id});
  removal.list_deleted = true;
  const auto deleted = Must(client.DeleteObjects(std::move(removal)));
  std::printf("%zu versions deleted\n", deleted.deleted.size());
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "requests s3://bucket/prefix/ [--endpoint URL] [--region NAME]", {});
  const examples::Place place = line.ParsePlace(line.Argument(0));
  const auto client = line.MakeClient();
  WriteWithAttributes(*client, place);
  CopyWithOtherMetadata(*client, place);
  WriteWithHeaders(*client, place);
  EncryptTwice(*client, place);
  EncryptWithOwnKey(line, place);
  DeleteVersions(*client, place);
}
