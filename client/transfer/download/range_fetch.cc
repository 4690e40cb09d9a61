#include "client/transfer/download/range_fetch.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/caught.h"
#include "client/transfer/part_plan.h"

namespace penstock::transfer {
namespace {

constexpr std::string_view kStart = "the start of a ranged read";
constexpr std::string_view kEnd = "the end of a ranged read";

Error Changed(std::string what) {
  return Error::Make(ErrorKind::kPreconditionFailed,
                     "the object changed while it was read: " + std::move(what) +
                         "; read it again from the start");
}

// An element of S3's InvalidRange error document.
constexpr const char* kActualSize = "ActualObjectSize";

bool IsInvalidRange(const Error& error) {
  return error.code == "InvalidRange" || error.http_status == 416;
}

std::optional<std::uint64_t> SizeInError(const Error& error) {
  for (const auto& [name, text] : error.details) {
    std::uint64_t size = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (name == kActualSize && problem == std::errc() && end == text.data() + text.size())
      return size;
  }
  return std::nullopt;
}

// A server refused a range (416), but the request had none. Its size cannot be trusted.
Error RefusedWithoutRange(Error error) {
  error.kind = ErrorKind::kUnsupported;
  error.code = "416";
  error.details.clear();
  error.message =
      "the server answered 416 (range not satisfiable), but the request had no Range header: check "
      "that the endpoint is an S3 service (" +
      error.message + ")";
  return error;
}

// Receive memory, in one piece or several, with its fill position.
class ReceiveBuffer {
 public:
  ReceiveBuffer() = default;
  explicit ReceiveBuffer(MutableByteView memory) : here_(memory), size_(memory.size()) {}
  explicit ReceiveBuffer(std::vector<MutableByteView> pieces) : pieces_(std::move(pieces)) {
    for (const MutableByteView piece : pieces_) {
      PENSTOCK_CHECK(!piece.empty());
      size_ += piece.size();
    }
    here_ = pieces_.front();
  }

  std::uint64_t size() const { return size_; }
  // Returns the unfilled rest of the current piece. Empty at the end.
  MutableByteView Window() const { return here_.subspan(filled_); }

  void Advance(std::uint64_t count) {
    filled_ += count;
    if (filled_ == here_.size() && index_ + 1 < pieces_.size()) {
      here_ = pieces_[++index_];
      filled_ = 0;
    }
  }

  void Restart() {
    index_ = 0;
    if (!pieces_.empty()) here_ = pieces_.front();
    filled_ = 0;
  }

 private:
  std::vector<MutableByteView> pieces_;  // empty: here_ is the only piece
  std::size_t index_ = 0;
  MutableByteView here_;
  std::uint64_t filled_ = 0;  // bytes of here_
  std::uint64_t size_ = 0;
};

// Sink and state of one fetch. The store calls it from one thread at a time.
class RangeFetch final : public BodySink, public std::enable_shared_from_this<RangeFetch> {
 public:
  RangeFetch(ObjectStore& store, RangeFetchSpec spec)
      : store_(store), spec_(std::move(spec)), pinned_(spec_.etag) {}

  // `done` runs exactly once, even if memory runs out.
  void Start(Callback<RangeFetched> done) {
    done_ = std::move(done);
    Result<void> started = Caught(kStart, [this] { Send(); });
    if (!started.ok()) Fail(std::move(started).error());
  }

  Result<void> Begin(const ObjectMetadata& metadata,
                     std::optional<std::uint64_t> body_length) override {
    Count(-static_cast<std::int64_t>(position_));
    position_ = 0;
    target_.Restart();
    if (pinned_ && metadata.etag != *pinned_) {
      return Changed("ETag " + metadata.etag.value + " instead of " + pinned_->value);
    }
    const bool same_size = placed_ && metadata.size == metadata_.size;
    if (placed_ && !same_size && !IsConfirmed(metadata))
      return OtherSize(metadata.size, metadata_.size, pinned_);
    rival_size_.reset();
    if (!same_size) PENSTOCK_TRY(Place(metadata));
    if (body_length && *body_length != length_) {
      return Error::Make(ErrorKind::kDataLoss, "the response to a range of " +
                                                   std::to_string(length_) + " bytes has " +
                                                   std::to_string(*body_length) + " bytes");
    }
    crc_value_ = 0;
    enough_ = false;
    return Advance();
  }

  bool FollowsChecksum() const override { return crc_ != Crc::kNone; }

  MutableByteView Window() override {
    const MutableByteView window = target_.Window();
    return window.first(std::min<std::uint64_t>(window.size(), granted_ - position_));
  }

  Result<void> Commit(std::size_t count) override {
    PENSTOCK_CHECK(count <= granted_ - position_);
    crc_value_ = UpdateCrc(crc_, target_.Window().first(count), crc_value_);
    target_.Advance(count);
    position_ += count;
    Count(static_cast<std::int64_t>(count));
    return position_ == granted_ ? Advance() : Ok();
  }

 private:
  // Throws only before the store accepts the request.
  void Send() {
    GetObjectRequest request;
    request.bucket = spec_.bucket;
    request.key = spec_.key;
    request.range = Wanted();
    request.if_match = pinned_;
    if (!pinned_) request.listed_etag = spec_.listed_etag;
    request.version_id = spec_.version_id;
    request.customer_key = spec_.customer_key;
    request.sink = this;
    request.options = spec_.call;
    store_.Start(std::move(request), [self = shared_from_this()](Result<ObjectMetadata> result) {
      self->Ended(std::move(result));
    });
  }

  // A whole object is requested without a range. Then the response has its checksum, and an empty
  // object is not an invalid range.
  std::optional<RangeRequest> Wanted() const {
    if (spec_.range.end != UINT64_MAX) return RangeRequest{spec_.range.begin, spec_.range.end, {}};
    if (spec_.range.begin > 0) return RangeRequest{spec_.range.begin, {}, {}};
    return std::nullopt;
  }

  void Count(std::int64_t bytes) {
    if (spec_.progress != nullptr && bytes != 0) spec_.progress->Add(bytes);
  }

  Result<void> Advance() {
    granted_ = length_;
    if (position_ == length_ || !spec_.grant) return Ok();
    const Grant grant = spec_.grant(position_);
    if (grant.memory) {
      target_ = ReceiveBuffer(*grant.memory);
      target_.Advance(position_);
    }
    granted_ = grant.until;
    PENSTOCK_CHECK(granted_ >= position_ && granted_ <= target_.size());
    enough_ = granted_ == position_;
    if (enough_)
      return Error::Make(ErrorKind::kCancelled, "other requests fetch the rest of the range");
    return Ok();
  }

  // The size differs from that of an earlier response to this request, whose body failed. Two
  // responses that agree outweigh it.
  bool IsConfirmed(const ObjectMetadata& metadata) {
    const bool confirmed = pinned_ && rival_size_ == metadata.size;
    rival_size_ = metadata.size;
    return confirmed;
  }

  Result<void> Place(const ObjectMetadata& metadata) {
    const ByteRange clipped = ClipRange(spec_.range.begin, spec_.range.end, metadata.size);
    PENSTOCK_ASSIGN(Placement placement, spec_.place(metadata, clipped.size()));
    length_ = clipped.size();
    metadata_ = metadata;
    if (!pinned_ && !metadata.etag.empty()) pinned_ = metadata.etag;
    placed_ = true;
    target_ = placement.pieces.empty() ? ReceiveBuffer(placement.memory)
                                       : ReceiveBuffer(std::move(placement.pieces));
    crc_ = placement.crc;
    if (target_.size() != length_ && !spec_.grant) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "the destination has " + std::to_string(target_.size()) +
                             " bytes of memory, but the range has " + std::to_string(length_) +
                             ": return memory of exactly that size");
    }
    return Ok();
  }

  void Ended(Result<ObjectMetadata> result) {
    // After the first byte, the store may have requested the rest by a range.
    if (!result.ok() && !placed_ && !Wanted() && IsInvalidRange(result.error()))
      return Fail(RefusedWithoutRange(std::move(result).error()));
    if (!result.ok() && !placed_ && !enough_ && IsInvalidRange(result.error()) &&
        !SizeInError(result.error())) {
      return AskForSize(std::move(result).error());
    }
    Result<void> read = Caught(kEnd, [&] { return ResultOf(std::move(result)); });
    read.ok() ? Succeed() : Fail(std::move(read).error());
  }

  Result<void> ResultOf(Result<ObjectMetadata> response) {
    if (enough_) return Ok();
    if (!response.ok()) return std::move(response).error();
    // A store may complete an empty body without calling the sink.
    if (!placed_) PENSTOCK_TRY(Begin(*response, std::nullopt));
    if (position_ == length_) return Ok();
    return Error::Make(ErrorKind::kDataLoss, "received only " + std::to_string(position_) + " of " +
                                                 std::to_string(length_) + " bytes");
  }

  // S3 puts the object's size in a 416 response, but other servers may not. Only the size shows
  // that the range is beyond the end.
  void AskForSize(const Error& error) {
    Result<void> asked = Caught(kEnd, [&] {
      HeadObjectRequest request;
      request.bucket = spec_.bucket;
      request.key = spec_.key;
      request.version_id = spec_.version_id;
      request.customer_key = spec_.customer_key;
      request.options = spec_.call;
      Callback<ObjectMetadata> done = [self = shared_from_this(),
                                       error](const Result<ObjectMetadata>& head) {
        self->Fail(WithSize(error, head));
      };
      store_.Start(std::move(request), std::move(done));
    });
    if (!asked.ok()) Fail(std::move(asked).error());
  }

  static Error WithSize(Error error, const Result<ObjectMetadata>& head) {
    Contain(kEnd, [&] {
      if (head.ok()) error.details.emplace_back(kActualSize, std::to_string(head->size));
    });
    return error;
  }

  void Succeed() {
    RangeFetched fetched{position_, crc_value_, std::move(metadata_)};
    std::exchange(done_, nullptr)(std::move(fetched));
  }

  void Fail(Error error) {
    Contain(kEnd, [&] { error.At("GetObject", spec_.bucket.value, spec_.key.value); });
    std::exchange(done_, nullptr)(std::move(error));
  }

  ObjectStore& store_;  // must outlive the completion
  const RangeFetchSpec spec_;
  Callback<RangeFetched> done_;
  std::optional<ETag> pinned_;
  bool placed_ = false;
  std::optional<std::uint64_t> rival_size_;  // of the last response, if it was not metadata_.size
  ReceiveBuffer target_;
  std::uint64_t length_ = 0;
  std::uint64_t position_ = 0;  // bytes received, within the range
  std::uint64_t granted_ = 0;   // limit of Window()
  bool enough_ = false;         // the caller needs no more bytes
  Crc crc_ = Crc::kNone;
  std::uint64_t crc_value_ = 0;  // of the bytes received
  ObjectMetadata metadata_;
};

}  // namespace

void StartRangeFetch(ObjectStore& store, RangeFetchSpec spec, Callback<RangeFetched> done) {
  std::shared_ptr<RangeFetch> fetch;
  Result<void> made =
      Caught(kStart, [&] { fetch = std::make_shared<RangeFetch>(store, std::move(spec)); });
  made.ok() ? fetch->Start(std::move(done)) : done(std::move(made).error());
}

Error OtherSize(std::uint64_t size_bytes, std::uint64_t expected_bytes,
                const std::optional<ETag>& pinned) {
  const std::string sizes =
      std::to_string(size_bytes) + " bytes instead of " + std::to_string(expected_bytes);
  if (!pinned || pinned->empty()) return Changed(sizes);
  return Error::Make(ErrorKind::kDataLoss, "the response announces " + sizes +
                                               " for the same ETag " + pinned->value +
                                               ": one of the two sizes is wrong; read again");
}

std::optional<ObjectMetadata> BeyondTheEnd(const Error& error, std::uint64_t begin_bytes) {
  const std::optional<std::uint64_t> size =
      IsInvalidRange(error) ? SizeInError(error) : std::nullopt;
  if (!size || *size > begin_bytes) return std::nullopt;
  ObjectMetadata metadata;
  metadata.size = *size;
  return metadata;
}

}  // namespace penstock::transfer
