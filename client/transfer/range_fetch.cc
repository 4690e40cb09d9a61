#include "client/transfer/range_fetch.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/transfer/part_plan.h"

namespace penstock::transfer {
namespace {

// For a store that does not try again by itself: how often a range that makes progress is asked again.
constexpr int kMaxResumes = 5;

bool IsTransient(ErrorKind kind) {
  return kind == ErrorKind::kUnavailable || kind == ErrorKind::kThrottled || kind == ErrorKind::kTimeout;
}

Error Changed(std::string what) {
  return Error::Make(ErrorKind::kPreconditionFailed, "the object changed while it was read: " + std::move(what) +
                                                         "; read it again from the start");
}

// Memory in one piece or several, and how far it is filled.
class Landing {
 public:
  Landing() = default;
  explicit Landing(MutableByteView memory) : here_(memory), size_(memory.size()) {}
  explicit Landing(std::vector<MutableByteView> pieces) : pieces_(std::move(pieces)) {
    for (const MutableByteView piece : pieces_) {
      PENSTOCK_CHECK(!piece.empty());
      size_ += piece.size();
    }
    here_ = pieces_.front();
  }

  std::uint64_t size() const { return size_; }
  // What is left of the piece that is being filled; empty at the end.
  MutableByteView Window() const { return here_.subspan(filled_); }

  void Advance(std::uint64_t count) {
    filled_ += count;
    if (filled_ == here_.size() && index_ + 1 < pieces_.size()) {
      here_ = pieces_[++index_];
      filled_ = 0;
    }
  }

  void Seek(std::uint64_t position) {
    if (!pieces_.empty()) {
      index_ = 0;
      while (position >= pieces_[index_].size() && index_ + 1 < pieces_.size()) position -= pieces_[index_++].size();
      here_ = pieces_[index_];
    }
    filled_ = position;
  }

 private:
  std::vector<MutableByteView> pieces_;  // empty: here_ is all
  std::size_t index_ = 0;
  MutableByteView here_;
  std::uint64_t filled_ = 0;  // of here_
  std::uint64_t size_ = 0;
};

// Sink and state of one fetch. Its calls follow one another, so no two threads are in it at once; the store's
// completion orders them.
class RangeFetch final : public BodySink, public std::enable_shared_from_this<RangeFetch> {
 public:
  RangeFetch(ObjectStore& store, RangeFetchSpec spec, Callback<RangeFetched> done)
      : store_(store), spec_(std::move(spec)), done_(std::move(done)), pinned_(spec_.etag) {}

  void Ask() {
    GetObjectRequest request;
    request.bucket = spec_.bucket;
    request.key = spec_.key;
    request.range = Remaining();
    request.if_match = pinned_;
    request.version_id = spec_.version_id;
    request.sink = this;
    request.options = spec_.call;
    store_.Start(std::move(request), [self = shared_from_this()](Result<ObjectMetadata> result) {
      self->Ended(std::move(result));
    });
  }

  Result<void> Begin(const ObjectMetadata& metadata, std::optional<std::uint64_t> body_length) override {
    Count(-static_cast<std::int64_t>(position_ - base_));
    position_ = base_;
    target_.Seek(base_);
    if (pinned_ && metadata.etag != *pinned_) {
      return Changed("ETag " + metadata.etag.value + " instead of " + pinned_->value);
    }
    if (!placed_) {
      PENSTOCK_TRY(Place(metadata));
    } else if (metadata.size != metadata_.size) {
      return Changed(std::to_string(metadata.size) + " bytes instead of " + std::to_string(metadata_.size));
    }
    if (body_length && *body_length != length_ - base_) {
      return Error::Make(ErrorKind::kDataLoss, "a range of " + std::to_string(length_ - base_) +
                                                   " bytes was answered with " + std::to_string(*body_length) +
                                                   " bytes");
    }
    crc_value_ = crc_at_base_;
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
  // A whole object is asked for as one: then its checksum comes along, and an empty one is no bad range.
  std::optional<RangeRequest> Remaining() const {
    const std::uint64_t begin = spec_.range.begin + base_;
    if (placed_) return RangeRequest{begin, spec_.range.begin + length_, {}};
    if (spec_.range.end != UINT64_MAX) return RangeRequest{begin, spec_.range.end, {}};
    if (begin > 0) return RangeRequest{begin, {}, {}};
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
      target_ = Landing(*grant.memory);
      target_.Seek(position_);
    }
    granted_ = grant.until;
    PENSTOCK_CHECK(granted_ >= position_ && granted_ <= target_.size());
    enough_ = granted_ == position_;
    if (enough_) return Error::Make(ErrorKind::kCancelled, "the rest of the range comes by other requests");
    return Ok();
  }

  Result<void> Place(const ObjectMetadata& metadata) {
    const ByteRange clipped = ClipRange(spec_.range.begin, spec_.range.end, metadata.size);
    length_ = clipped.size();
    metadata_ = metadata;
    if (!pinned_ && !metadata.etag.empty()) pinned_ = metadata.etag;
    placed_ = true;
    PENSTOCK_ASSIGN(Placement placement, spec_.place(metadata, length_));
    target_ = placement.pieces.empty() ? Landing(placement.memory) : Landing(std::move(placement.pieces));
    crc_ = placement.crc;
    if (target_.size() != length_ && !spec_.grant) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "the destination has " + std::to_string(target_.size()) + " bytes, but " +
                             std::to_string(length_) + " will arrive: return memory of exactly that size");
    }
    return Ok();
  }

  void Ended(Result<ObjectMetadata> result) {
    if (enough_) return Succeed();
    if (result.ok()) {
      // A store may answer an empty body without touching the sink.
      Result<void> begun = placed_ ? Ok() : Begin(*result, std::nullopt);
      if (!begun.ok()) return Fail(std::move(begun).error());
      if (position_ == length_) return Succeed();
      return Fail(Error::Make(ErrorKind::kDataLoss, "only " + std::to_string(position_) + " of " +
                                                        std::to_string(length_) + " bytes arrived"));
    }
    if (!MayResume(result.error())) return Fail(std::move(result).error());
    ++resumes_;
    // All bytes here, and yet an error: what was wrong is unknown, so none of them counts.
    const bool anew = position_ == length_;
    base_ = anew ? 0 : position_;
    crc_at_base_ = anew ? 0 : crc_value_;
    Ask();
  }

  bool MayResume(const Error& error) const {
    // A store that counts attempts, as the Client does, has gone on from the byte reached by itself, and given up.
    return error.attempts == 0 && IsTransient(error.kind) && placed_ && pinned_ && position_ > base_ && resumes_ < kMaxResumes &&
           !spec_.call.cancel.stop_requested() && !spec_.call.deadline.Passed(SystemClock());
  }

  void Succeed() {
    RangeFetched fetched{position_, crc_value_, std::move(metadata_)};
    std::exchange(done_, nullptr)(std::move(fetched));
  }

  void Fail(Error error) {
    error.At("GetObject", spec_.bucket.value, spec_.key.value);
    std::exchange(done_, nullptr)(std::move(error));
  }

  ObjectStore& store_;  // outlives the completion
  const RangeFetchSpec spec_;
  Callback<RangeFetched> done_;
  std::optional<ETag> pinned_;
  bool placed_ = false;
  Landing target_;
  std::uint64_t length_ = 0;
  std::uint64_t base_ = 0;      // where the current request starts, within the range
  std::uint64_t position_ = 0;  // bytes in place, within the range
  std::uint64_t granted_ = 0;   // how far Window() may go
  bool enough_ = false;         // the asker wants no more than what is here
  Crc crc_ = Crc::kNone;
  std::uint64_t crc_value_ = 0;  // of the bytes in place
  std::uint64_t crc_at_base_ = 0;
  int resumes_ = 0;
  ObjectMetadata metadata_;
};

}  // namespace

void StartRangeFetch(ObjectStore& store, RangeFetchSpec spec, Callback<RangeFetched> done) {
  std::make_shared<RangeFetch>(store, std::move(spec), std::move(done))->Ask();
}

std::optional<ObjectMetadata> BeyondTheEnd(const Error& error) {
  if (error.code != "InvalidRange" && error.http_status != 416) return std::nullopt;
  ObjectMetadata metadata;
  for (const auto& [name, text] : error.details) {
    if (name != "ActualObjectSize") continue;
    std::from_chars(text.data(), text.data() + text.size(), metadata.size);
  }
  return metadata;
}

}  // namespace penstock::transfer
