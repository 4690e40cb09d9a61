#include "emulator/server/admin/journal_body.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/mutex.h"

namespace penstock::emulator::server {
namespace {

constexpr std::uint64_t kPieceBytes = 256 << 10;

// The pieces of one document. Only the last requested piece is kept.
class MadePieces {
 public:
  MadePieces(journal::Document document, std::vector<journal::Piece> pieces,
             std::shared_ptr<void> place)
      : document_(std::move(document)), pieces_(std::move(pieces)), place_(std::move(place)) {}

  const std::vector<journal::Piece>& pieces() const { return pieces_; }

  // The view is valid until the next call.
  ByteView Text(std::size_t index) {
    const MutexLock lock(mutex_);
    if (index != made_) {
      made_ = kNone;
      text_ = journal::PieceText(document_, pieces_, index);
      made_ = index;
    }
    return AsBytes(text_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  const journal::Document document_;
  const std::vector<journal::Piece> pieces_;
  const std::shared_ptr<void> place_;
  Mutex mutex_;
  std::size_t made_ PENSTOCK_GUARDED_BY(mutex_) = kNone;
  std::string text_ PENSTOCK_GUARDED_BY(mutex_);
};

class PieceBlob final : public store::Blob {
 public:
  PieceBlob(std::shared_ptr<MadePieces> of, std::size_t index)
      : of_(std::move(of)), index_(index) {}
  std::uint64_t size() const override { return of_->pieces()[index_].bytes; }
  std::optional<ByteView> Memory() const override { return of_->Text(index_); }
  int FileDescriptor() const override { return -1; }

 private:
  const std::shared_ptr<MadePieces> of_;
  const std::size_t index_;
};

}  // namespace

Result<AdminBody> JournalBody(journal::Document document, ConcurrencyLimit& limit) {
  std::vector<journal::Piece> pieces = journal::CutDocument(document, kPieceBytes);
  if (pieces.size() == 1) return AdminBody(journal::PieceText(document, pieces, 0));
  std::shared_ptr<void> place = limit.Take();
  if (place == nullptr) {
    return Error::Make(ErrorKind::kUnavailable,
                       "too many clients read a large journal at the same time; finish those "
                       "downloads, or retry later");
  }
  const auto made =
      std::make_shared<MadePieces>(std::move(document), std::move(pieces), std::move(place));
  store::Content content;
  for (std::size_t i = 0; i < made->pieces().size(); ++i) {
    content.slices.push_back({std::make_shared<PieceBlob>(made, i), {0, made->pieces()[i].bytes}});
  }
  return AdminBody(std::move(content));
}

}  // namespace penstock::emulator::server
