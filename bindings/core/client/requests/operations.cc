// The table of operations, and what a call of each kind holds.
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/requests/arguments.h"
#include "bindings/core/client/requests/fields.h"
#include "bindings/core/client/requests/operation.h"
#include "bindings/core/client/requests/results.h"
#include "bindings/core/errors.h"
#include "penstock/bodies.h"
#include "penstock/presign.h"

namespace penstock::python {
namespace {

namespace py = pybind11;

// An operation whose callback stores the result until Take.
template <class Response>
class StoredResult : public Operation {
 public:
  py::object Take() final { return Convert(Unwrap(std::move(*result_))); }

 protected:
  Callback<Response> Store(std::function<void()> done) {
    return [this, done = std::move(done)](Result<Response> result) {
      result_.emplace(std::move(result));
      done();
    };
  }
  virtual py::object Convert(const Response& response) = 0;

 private:
  std::optional<Result<Response>> result_;
};

// Most operations: a request without a body.
template <class Request>
class Plain : public StoredResult<typename Request::Response> {
 public:
  explicit Plain(Arguments& arguments) { LoadFields(arguments, request_); }
  void Start(Client& client, std::stop_token cancel, std::function<void()> done) override {
    request_.options.cancel = std::move(cancel);
    client.Start(std::move(request_), this->Store(std::move(done)));
  }

 protected:
  py::object Convert(const typename Request::Response& response) override {
    return ToPython(response);
  }
  Request request_;
};

// Reads into the argument `buffer`, or into new memory.
class Get final : public Plain<GetObjectRequest> {
 public:
  explicit Get(Arguments& arguments) : Plain(arguments), buffer_(arguments.Take("buffer")) {
    if (buffer_) {
      view_.emplace(buffer_, BufferView::Access::kWrite, "buffer");
      into_.emplace(view_->writable());
      request_.sink = &*into_;
    } else {
      request_.sink = &new_memory_;
    }
  }

 private:
  py::object Convert(const ObjectMetadata& metadata) override {
    if (!into_) return GetResultToPython(py::bytes(text_), metadata);
    const py::object whole = py::memoryview(buffer_).attr("cast")("B");
    return GetResultToPython(whole[py::slice(0, py::ssize_t(into_->bytes().size()), 1)], metadata);
  }

  py::object buffer_;
  std::optional<BufferView> view_;
  std::optional<SpanSink> into_;
  // Received without the GIL, which Python's memory needs, and copied at the end.
  std::string text_;
  StringSink new_memory_{text_};
};

// Sends the argument `data`.
template <class Request>
class Send final : public Plain<Request> {
 public:
  explicit Send(Arguments& arguments) : Plain<Request>(arguments) {
    const py::object data = arguments.Take("data");
    if (!data || PyObject_CheckBuffer(data.ptr()) == 0)
      argument::Refuse("data", data ? data : py::none(), "bytes or another buffer");
    view_.emplace(data, BufferView::Access::kRead, "data");
    body_.emplace(Body::View(view_->bytes()));
    this->request_.body = body_->source();
  }

 private:
  py::object Convert(const typename Request::Response& response) override {
    if constexpr (std::is_same_v<Request, UploadPartRequest>)
      return ToPython(response, view_->bytes().size());
    else return ToPython(response);
  }

  std::optional<BufferView> view_;
  std::optional<Body> body_;
};

class CopyPart final : public Plain<UploadPartCopyRequest> {
 public:
  explicit CopyPart(Arguments& arguments) : Plain(arguments) {
    if (request_.source_range) size_ = request_.source_range->size();
  }

 private:
  py::object Convert(const CompletedPart& part) override { return ToPython(part, size_); }
  std::optional<std::uint64_t> size_;
};

// The response of DeleteObjects lists what was deleted.
class DeleteMany final : public Plain<DeleteObjectsRequest> {
 public:
  explicit DeleteMany(Arguments& arguments) : Plain(arguments) { request_.list_deleted = true; }
};

std::chrono::seconds TakeExpires(Arguments& arguments) {
  constexpr std::int64_t kWeek = 604'800;
  std::int64_t seconds = 3600;
  arguments.Load("expires_in", seconds);
  if (seconds < 1 || seconds > kWeek) {
    Raise(Error::Make(
        ErrorKind::kInvalidArgument,
        "expires_in must be 1 to 604800 seconds (7 days), not " + std::to_string(seconds)));
  }
  return std::chrono::seconds(seconds);
}

// Lets a stop request end a wait for StartPresign, which takes no stop token. The result that
// arrives later is dropped.
template <class T>
Callback<T> UntilStopped(const std::stop_token& cancel, Callback<T> done) {
  struct Wait {
    Callback<T> done;
    std::atomic<bool> ended{false};
    std::optional<std::stop_callback<std::function<void()>>> stop;

    void End(Result<T> result) {
      if (!ended.exchange(true)) done(std::move(result));
    }
  };
  const auto wait = std::make_shared<Wait>();
  wait->done = std::move(done);
  wait->stop.emplace(cancel, [weak = std::weak_ptr(wait)] {
    if (const auto waiting = weak.lock())
      waiting->End(Error::Make(ErrorKind::kCancelled, "the signing was cancelled"));
  });
  return [wait](Result<T> result) { wait->End(std::move(result)); };
}

template <class Request>
class PresignUrl final : public StoredResult<PresignedRequest> {
 public:
  explicit PresignUrl(Arguments& arguments) : options_{TakeExpires(arguments)} {
    LoadFields(arguments, request_);
  }
  void Start(Client& client, std::stop_token cancel, std::function<void()> done) override {
    StartPresign(client, request_, options_, UntilStopped(cancel, Store(std::move(done))));
  }

 private:
  py::object Convert(const PresignedRequest& request) override { return ToPython(request); }
  PresignOptions options_;
  Request request_;
};

class PresignForm final : public StoredResult<PostForm> {
 public:
  explicit PresignForm(Arguments& arguments) {
    request_.expires = TakeExpires(arguments);
    arguments.LoadRequired("bucket", request_.bucket.value);
    arguments.LoadRequired("key", request_.key.value);
    arguments.Load("fields", request_.fields);
    arguments.Load("starts_with", request_.starts_with);
    if (const py::object bounds = arguments.Take("content_length_range")) {
      if (!PyTuple_Check(bounds.ptr()) || py::len(bounds) != 2)
        argument::Refuse("content_length_range", bounds, "a pair (least, most) of sizes in bytes");
      auto& range = request_.content_length_range.emplace();
      LoadValue("content_length_range[0]", py::tuple(bounds)[0], range.first);
      LoadValue("content_length_range[1]", py::tuple(bounds)[1], range.second);
    }
  }
  void Start(Client& client, std::stop_token cancel, std::function<void()> done) override {
    StartPresign(client, request_, UntilStopped(cancel, Store(std::move(done))));
  }

 private:
  py::object Convert(const PostForm& form) override { return ToPython(form); }
  PostFormRequest request_;
};

using Make = std::unique_ptr<Operation> (*)(Arguments&);
template <class T>
std::unique_ptr<Operation> New(Arguments& arguments) {
  return std::make_unique<T>(arguments);
}

// By the name of the method of S3Client.
const std::map<std::string, Make, std::less<>>& Table() {
  static const auto* table = new std::map<std::string, Make, std::less<>>{
      {"get", New<Get>},
      {"head", New<Plain<HeadObjectRequest>>},
      {"put", New<Send<PutObjectRequest>>},
      {"delete", New<Plain<DeleteObjectRequest>>},
      {"delete_objects", New<DeleteMany>},
      {"copy", New<Plain<CopyObjectRequest>>},
      {"get_object_attributes", New<Plain<GetObjectAttributesRequest>>},
      {"restore_object", New<Plain<RestoreObjectRequest>>},
      {"create_multipart_upload", New<Plain<CreateMultipartUploadRequest>>},
      {"upload_part", New<Send<UploadPartRequest>>},
      {"upload_part_copy", New<CopyPart>},
      {"complete_multipart_upload", New<Plain<CompleteMultipartUploadRequest>>},
      {"abort_multipart_upload", New<Plain<AbortMultipartUploadRequest>>},
      {"list_objects", New<Plain<ListObjectsRequest>>},
      {"list_object_versions", New<Plain<ListObjectVersionsRequest>>},
      {"list_parts", New<Plain<ListPartsRequest>>},
      {"list_multipart_uploads", New<Plain<ListMultipartUploadsRequest>>},
      {"get_object_tagging", New<Plain<GetObjectTaggingRequest>>},
      {"put_object_tagging", New<Plain<PutObjectTaggingRequest>>},
      {"delete_object_tagging", New<Plain<DeleteObjectTaggingRequest>>},
      {"create_bucket", New<Plain<CreateBucketRequest>>},
      {"head_bucket", New<Plain<HeadBucketRequest>>},
      {"delete_bucket", New<Plain<DeleteBucketRequest>>},
      {"list_buckets", New<Plain<ListBucketsRequest>>},
      {"get_bucket_versioning", New<Plain<GetBucketVersioningRequest>>},
      {"put_bucket_versioning", New<Plain<PutBucketVersioningRequest>>},
      {"get_bucket_tagging", New<Plain<GetBucketTaggingRequest>>},
      {"put_bucket_tagging", New<Plain<PutBucketTaggingRequest>>},
      {"get_bucket_configuration", New<Plain<GetBucketConfigurationRequest>>},
      {"put_bucket_configuration", New<Plain<PutBucketConfigurationRequest>>},
      {"delete_bucket_configuration", New<Plain<DeleteBucketConfigurationRequest>>},
      {"get_object_configuration", New<Plain<GetObjectConfigurationRequest>>},
      {"put_object_configuration", New<Plain<PutObjectConfigurationRequest>>},
      {"presign_get", New<PresignUrl<GetObjectRequest>>},
      {"presign_head", New<PresignUrl<HeadObjectRequest>>},
      {"presign_put", New<PresignUrl<PutObjectRequest>>},
      {"presign_delete", New<PresignUrl<DeleteObjectRequest>>},
      {"presign_upload_part", New<PresignUrl<UploadPartRequest>>},
      {"presign_post", New<PresignForm>},
  };
  return *table;
}

}  // namespace

std::unique_ptr<Operation> MakeOperation(const std::string& name, const py::dict& arguments) {
  const auto found = Table().find(name);
  if (found == Table().end()) throw py::type_error("unknown operation " + name);
  Arguments named(name, arguments);
  std::unique_ptr<Operation> operation = found->second(named);
  named.CheckAllTaken();
  return operation;
}

}  // namespace penstock::python
