// Uses the request surface of the C++ client through its public headers: attributes, conditions,
// versions, configurations, presigned requests. tests/foreign/servers/test_cpp_requests.py runs it
// against several servers and compares what boto3 sees.
//
//     cpp_requests SCENARIO ENDPOINT BUCKET
//
// Prints "name=value" lines. Exits with 1 and a message on stderr if a call fails unexpectedly.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/client.h"
#include "penstock/presign.h"
#include "penstock/transfer.h"

namespace {

using namespace penstock;  // NOLINT: a program of one file.

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Die(result.error().ToString());
  return std::move(result).value();
}
void Must(const Result<void>& result) {
  if (!result.ok()) Die(result.error().ToString());
}

void Print(const std::string& name, const std::string& value) {
  std::printf("%s=%s\n", name.c_str(), value.c_str());
}

class TextBody final : public BodySource {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  void Rewind() override { at_ = 0; }
  ByteView Next(std::size_t limit) override {
    const std::size_t count = std::min(limit, text_.size() - at_);
    const ByteView piece = AsBytes(std::string_view(text_).substr(at_, count));
    at_ += count;
    return piece;
  }

 private:
  const std::string text_;
  std::size_t at_ = 0;
};

class TextSink final : public BodySink {
 public:
  Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t>) override {
    text.clear();
    return Ok();
  }
  MutableByteView Window() override { return window_; }
  Result<void> Commit(std::size_t count) override {
    text.append(AsText(ByteView(window_).first(count)));
    return Ok();
  }
  std::string text;

 private:
  std::array<std::byte, 4096> window_{};
};

constexpr WallTime kYear2030{std::chrono::seconds(1893801600)};  // 2030-01-05T00:00:00Z

struct Scene {
  Client& client;
  BucketName bucket;

  PutObjectResponse Put(const std::string& key, const std::string& text,
                        const std::function<void(PutObjectRequest&)>& change = {}) const {
    TextBody body(text);
    PutObjectRequest request{.bucket = bucket, .key = ObjectKey(key), .body = &body};
    if (change) change(request);
    return Must(client.Call(std::move(request)));
  }
  Result<std::string> Get(const std::string& key,
                          const std::function<void(GetObjectRequest&)>& change = {}) const {
    TextSink sink;
    GetObjectRequest request{.bucket = bucket, .key = ObjectKey(key), .sink = &sink};
    if (change) change(request);
    PENSTOCK_TRY(client.Call(std::move(request)));
    return sink.text;
  }
  Result<ObjectMetadata> Head(const std::string& key,
                              const std::function<void(HeadObjectRequest&)>& change = {}) const {
    HeadObjectRequest request{.bucket = bucket, .key = ObjectKey(key)};
    if (change) change(request);
    return client.Call(std::move(request));
  }
};

void SetContentHeaders(ObjectAttributes& attributes) {
  attributes.content_type = "text/plain";
  attributes.user_metadata = {{"n", "v"}};
  attributes.cache_control = "no-cache";
  attributes.content_encoding = "identity";
  attributes.content_disposition = "attachment";
  attributes.content_language = "de";
  attributes.expires = kYear2030;
  attributes.website_redirect = "/other";
}

void Attributes(const Scene& scene) {
  scene.Put("attributes", "hello", [](PutObjectRequest& request) {
    SetContentHeaders(request.attributes);
    request.attributes.tags = {{"a", "b c"}, {"d", ""}};
    request.attributes.encryption = SseS3{};
    request.attributes.acl = "bucket-owner-full-control";
    request.checksum_algorithm = "sha256";
  });
  const ObjectMetadata head = Must(scene.Head("attributes"));
  Print("cache_control", head.details->cache_control);
  Print("content_encoding", head.details->content_encoding);
  Print("content_disposition", head.details->content_disposition);
  Print("content_language", head.details->content_language);
  Print("expires", head.details->expires);
  Print("website_redirect", head.details->website_redirect);
  Print("tag_count", std::to_string(head.details->tag_count.value_or(0)));
  Print("encryption", head.encryption == EncryptionKind::kS3 ? "s3" : "other");

  CopyObjectRequest copy;
  copy.source_bucket = copy.bucket = scene.bucket;
  copy.source_key = ObjectKey("attributes");
  copy.key = ObjectKey("copied");
  Must(scene.client.Call(copy));
  copy.key = ObjectKey("replaced");
  copy.metadata_directive = CopyDirective::kReplace;
  copy.attributes.content_type = "text/html";
  copy.tagging_directive = CopyDirective::kReplace;
  copy.attributes.tags = {{"x", "y"}};
  Must(scene.client.Call(copy));
}

void Conditions(const Scene& scene) {
  const ETag etag = scene.Put("k", "hello").etag;
  const auto get = [&](const std::function<void(GetObjectRequest&)>& change) {
    const Result<std::string> text = scene.Get("k", change);
    return text.ok() ? *text : std::string(ErrorKindName(text.error().kind));
  };
  Print("none_match_same", get([&](auto& request) { request.if_none_match = etag; }));
  Print("none_match_other", get([&](auto& request) { request.if_none_match = ETag("x"); }));
  // A time in the future would be ignored (RFC 9110, section 13.1.3).
  const WallTime written = Must(scene.Head("k")).last_modified;
  Print("modified_since", get([&](auto& request) { request.if_modified_since = written; }));
  Print("unmodified_since_1970", get([](auto& request) {
          request.if_unmodified_since = WallTime(std::chrono::seconds(86400));
        }));
  Print("match_other", get([](auto& request) { request.if_match = ETag("x"); }));
  const auto head = scene.Head("k", [&](auto& request) { request.if_none_match = etag; });
  Print("head_none_match_same", std::string(ErrorKindName(head.error().kind)));

  ResponseInfo info;
  Must(scene.Head("k", [&](auto& request) {
    request.options.on_response = [&info](const ResponseInfo& received) { info = received; };
    request.options.extra_headers = {{"x-amz-meta-extra", "1"}};
    request.options.extra_query = {{"x-id", "HeadObject"}};
  }));
  Print("info_status", std::to_string(info.http_status));
  Print("info_attempts", std::to_string(info.attempts));
  Print("info_has_id", info.request_id.empty() ? "no" : "yes");
}

void Parts(const Scene& scene) {
  CreateMultipartUploadRequest create{.bucket = scene.bucket, .key = ObjectKey("parts")};
  SetContentHeaders(create.attributes);
  create.checksum_algorithm = "sha256";
  create.checksum_type = "COMPOSITE";
  const UploadId id = Must(scene.client.Call(create)).upload_id;
  CompleteMultipartUploadRequest complete{
      .bucket = scene.bucket, .key = ObjectKey("parts"), .upload_id = id};
  for (const auto& [number, size] : {std::pair{1, 5 << 20}, std::pair{2, 7}}) {
    TextBody body(std::string(static_cast<std::size_t>(size), static_cast<char>('0' + number)));
    UploadPartRequest part{.bucket = scene.bucket,
                           .key = ObjectKey("parts"),
                           .upload_id = id,
                           .part_number = number,
                           .body = &body};
    part.checksum_algorithm = "sha256";
    complete.parts.push_back(Must(scene.client.Call(part)));
    complete.object_size += static_cast<std::uint64_t>(size);
    Print("part_checksum", complete.parts.back().checksum_value);
  }
  complete.checksum_algorithm = "sha256";
  complete.checksum_type = "COMPOSITE";
  Must(scene.client.Call(complete));
  const auto second = scene.Get("parts", [](auto& request) { request.part_number = 2; });
  Print("second_part", second.ok() ? *second : std::string(ErrorKindName(second.error().kind)));
  const ObjectMetadata head =
      Must(scene.Head("parts", [](auto& request) { request.part_number = 2; }));
  Print("size", std::to_string(head.size));
  Print("range", std::to_string(head.range.begin) + "-" + std::to_string(head.range.end));
  Print("parts_count", std::to_string(head.parts_count.value_or(0)));
}

void CustomerKeys(const Scene& scene) {
  const CustomerKey key = Must(CustomerKey::Create(AsBytes(std::string(32, 'k'))));
  scene.Put("secret", "hello", [&](auto& request) { request.attributes.encryption = key; });
  Print("with_key", Must(scene.Get("secret", [&](auto& request) { request.customer_key = key; })));
  const auto without = scene.Get("secret");
  Print("without_key", without.ok() ? *without : std::string(ErrorKindName(without.error().kind)));
  CopyObjectRequest copy;
  copy.source_bucket = copy.bucket = scene.bucket;
  copy.source_key = ObjectKey("secret");
  copy.key = ObjectKey("plain");
  copy.source_customer_key = key;
  Must(scene.client.Call(copy));
  Print("copied", Must(scene.Get("plain")));
}

// Uploads in parts and parallel downloads of an object with SSE-C.
void CustomerKeyTransfers(const Scene& scene) {
  const CustomerKey key = Must(CustomerKey::Create(AsBytes(std::string(32, 'k'))));
  const std::shared_ptr<ObjectStore> store(std::shared_ptr<void>(), &scene.client);
  const std::string content(std::size_t{11} << 20, 's');
  UploadOptions options;
  options.single_put_limit_bytes = 0;
  options.part_size_bytes = 5 << 20;
  options.attributes.encryption = key;
  Must(Upload(store, scene.bucket, ObjectKey("secret"), AsBytes(content), options));
  const auto writer =
      ObjectWriter::Create(store, scene.bucket, ObjectKey("written"), std::move(options));
  Must(writer->Write(AsBytes(content)));
  Must(writer->Finish());
  std::string read;
  DownloadRequest download{.bucket = scene.bucket, .key = ObjectKey("secret")};
  download.destination = [&read](std::uint64_t size) -> Result<MutableByteView> {
    read.resize(size);
    return std::as_writable_bytes(std::span(read));
  };
  download.options.part_size_bytes = 5 << 20;
  download.options.max_parallel_parts = 2;
  download.options.customer_key = key;
  Must(Download(scene.client, std::move(download)));
  Print("downloaded", read == content ? "same" : "different");
  const auto stream =
      ObjectStream::Open(store, {.bucket = scene.bucket, .key = ObjectKey("written")},
                         {.part_size_bytes = 5 << 20, .customer_key = key});
  std::string streamed;
  for (;;) {
    const std::optional<StreamBlock> block = Must(stream->Next());
    if (!block) break;
    streamed += AsText(ByteView(block->data.get(), block->size));
  }
  Print("streamed", streamed == content ? "same" : "different");
}

void Versions(const Scene& scene) {
  PutBucketVersioningRequest versioning{.bucket = scene.bucket};
  Must(scene.client.Call(versioning));
  const auto status = Must(scene.client.Call(GetBucketVersioningRequest{scene.bucket, {}}));
  Print("versioning", status.status == BucketVersioning::kEnabled ? "enabled" : "other");
  const VersionId first = scene.Put("v", "1").version_id;
  const VersionId second = scene.Put("v", "2").version_id;
  const auto marker =
      Must(scene.client.Call(DeleteObjectRequest{.bucket = scene.bucket, .key = ObjectKey("v")}));
  Print("marker", marker.delete_marker && !marker.version_id.empty() ? "yes" : "no");
  const auto gone = scene.Head("v");
  const auto& details = gone.error().details;
  const std::pair<std::string, std::string> expected("DeleteMarker", "true");
  Print("head_of_marker",
        std::find(details.begin(), details.end(), expected) == details.end() ? "plain" : "marker");
  DeleteObjectsRequest many{.bucket = scene.bucket};
  many.objects = {{.key = ObjectKey("v"), .version_id = first},
                  {.key = ObjectKey("v"), .version_id = marker.version_id}};
  many.keys = {ObjectKey("w")};
  many.list_deleted = true;
  const auto deleted = Must(scene.client.Call(many));
  Print("deleted", std::to_string(deleted.deleted.size()));
  Print("failures", std::to_string(deleted.failures.size()));
  Print("current", Must(scene.Get("v")));
  Print("current_is_second", Must(scene.Head("v")).version_id == second ? "yes" : "no");
}

void Configurations(const Scene& scene) {
  Must(scene.client.Call(PutBucketTaggingRequest{scene.bucket, {{"team", "a+b=c"}}, {}}));
  const auto tags = Must(scene.client.Call(GetBucketTaggingRequest{scene.bucket, {}})).tags;
  Print("bucket_tag", tags.at(0).key + ":" + tags.at(0).value);
  using Kind = BucketConfigurationKind;
  const std::string lifecycle =
      "<LifecycleConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Rule><ID>r</ID>"
      "<Filter><Prefix>tmp/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>1</Days>"
      "</Expiration></Rule></LifecycleConfiguration>";
  const std::string policy =
      "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Deny\",\"Principal\":\"*\","
      "\"Action\":\"s3:PutObject\",\"Resource\":\"arn:aws:s3:::" +
      scene.bucket.value + "/never/*\"}]}";
  const std::string cors =
      "<CORSConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><CORSRule>"
      "<AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule>"
      "</CORSConfiguration>";
  for (const auto& [kind, name, document] :
       {std::tuple{Kind::kLifecycle, "lifecycle", lifecycle},
        std::tuple{Kind::kPolicy, "policy", policy}, std::tuple{Kind::kCors, "cors", cors}}) {
    const auto put =
        scene.client.Call(PutBucketConfigurationRequest{scene.bucket, kind, document, {}, {}});
    Print(std::string(name) + "_put",
          put.ok() ? "ok" : std::string(ErrorKindName(put.error().kind)));
    const auto got =
        Must(scene.client.Call(GetBucketConfigurationRequest{scene.bucket, kind, {}, {}}));
    Print(name, got.document.empty() ? "empty" : "stored");
    if (kind == Kind::kPolicy) continue;
    Must(scene.client.Call(DeleteBucketConfigurationRequest{scene.bucket, kind, {}, {}}));
    const auto gone = scene.client.Call(GetBucketConfigurationRequest{scene.bucket, kind, {}, {}});
    Print(std::string(name) + "_deleted", gone.ok() ? "found" : gone.error().code);
  }
  const auto missing =
      scene.client.Call(GetBucketConfigurationRequest{scene.bucket, Kind::kWebsite, {}, {}});
  Print("website", missing.ok() ? "found" : missing.error().operation);
}

void Objects(const Scene& scene) {
  scene.Put("o", "hello");
  const ObjectKey key("o");
  Must(scene.client.Call(PutObjectTaggingRequest{scene.bucket, key, {{"a", "b/c @d"}}, {}, {}}));
  const auto tags = Must(scene.client.Call(GetObjectTaggingRequest{scene.bucket, key, {}, {}}));
  Print("tag", tags.tags.at(0).key + ":" + tags.tags.at(0).value);
  Must(scene.client.Call(DeleteObjectTaggingRequest{scene.bucket, key, {}, {}}));
  Print(
      "tags_left",
      std::to_string(
          Must(scene.client.Call(GetObjectTaggingRequest{scene.bucket, key, {}, {}})).tags.size()));
  const std::string owners =
      "<OwnershipControls xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Rule>"
      "<ObjectOwnership>BucketOwnerPreferred</ObjectOwnership></Rule></OwnershipControls>";
  Must(scene.client.Call(PutBucketConfigurationRequest{
      scene.bucket, BucketConfigurationKind::kOwnershipControls, owners, {}, {}}));
  PutObjectConfigurationRequest acl{.bucket = scene.bucket, .key = key};
  acl.canned_acl = "private";
  Must(scene.client.Call(acl));
  const auto got = Must(scene.client.Call(
      GetObjectConfigurationRequest{scene.bucket, key, ObjectConfigurationKind::kAcl, {}, {}}));
  Print("acl", got.document.find("FULL_CONTROL") == std::string::npos ? "other" : "full");
  const auto attributes =
      Must(scene.client.Call(GetObjectAttributesRequest{.bucket = scene.bucket, .key = key}));
  Print("size", std::to_string(attributes.size));
}

void PrintPresigned(const std::string& name, const PresignedRequest& request) {
  Print(name, request.url);
  for (const auto& [header, value] : request.headers) Print(name + "." + header, value);
}

void Presigned(const Scene& scene) {
  const ObjectKey key("presigned/a b");
  PutObjectRequest put{.bucket = scene.bucket, .key = key};
  put.attributes.content_type = "text/plain";
  put.attributes.user_metadata = {{"n", "v"}};
  PrintPresigned("put", Must(Presign(scene.client, put)));
  GetObjectRequest get{.bucket = scene.bucket, .key = key};
  PrintPresigned("get", Must(Presign(scene.client, get)));
  get.overrides.Edit().content_type = "text/html";
  PrintPresigned("get_as_html", Must(Presign(scene.client, get)));
  PrintPresigned("head", Must(Presign(scene.client, HeadObjectRequest{scene.bucket, key})));
  PrintPresigned("delete", Must(Presign(scene.client, DeleteObjectRequest{scene.bucket, key})));
  PrintPresigned("expired", Must(Presign(scene.client, get, {.expires = std::chrono::seconds(1)})));

  CreateMultipartUploadRequest create{.bucket = scene.bucket, .key = ObjectKey("uploaded")};
  const UploadId id = Must(scene.client.Call(create)).upload_id;
  UploadPartRequest part{
      .bucket = scene.bucket, .key = ObjectKey("uploaded"), .upload_id = id, .part_number = 1};
  PrintPresigned("part", Must(Presign(scene.client, part)));
  Print("upload_id", id.value);

  PostFormRequest form{.bucket = scene.bucket, .key = ObjectKey("form/${filename}")};
  form.fields = {{"Content-Type", "text/plain"}, {"success_action_status", "201"}};
  form.starts_with = {{"x-amz-meta-n", ""}};
  form.content_length_range = {1, 10};
  const PostForm made = Must(Presign(scene.client, form));
  Print("form", made.url);
  for (const auto& [name, value] : made.fields) Print("form." + name, value);
}

const std::map<std::string, void (*)(const Scene&)> kScenarios = {
    {"attributes", Attributes},
    {"conditions", Conditions},
    {"parts", Parts},
    {"customer_keys", CustomerKeys},
    {"versions", Versions},
    {"objects", Objects},
    {"customer_key_transfers", CustomerKeyTransfers},
    {"configurations", Configurations},
    {"presigned", Presigned},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || !kScenarios.contains(argv[1]))
    Die("usage: cpp_requests SCENARIO ENDPOINT BUCKET");
  ClientConfig config;
  config.endpoint_url = argv[2];
  config.region = "us-east-1";
  config.addressing_style = AddressingStyle::kPath;
  config.max_attempts = 2;
  const std::unique_ptr<Client> client = Must(Client::Create(std::move(config)));
  const Scene scene{*client, BucketName(argv[3])};
  Must(client->Call(CreateBucketRequest{.bucket = scene.bucket}));
  kScenarios.at(argv[1])(scene);
}
