#include "emulator/store/checks/scrubber.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log/diagnostics.h"
#include "base/log/log.h"
#include "emulator/store/blobs/blob_file.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

using std::chrono::nanoseconds;

constinit DiagnosticEvent scrub_failed("store.scrub_failed");
constinit DiagnosticEvent step_threw("store.scrub_step_threw");

// Logs each error, because each names another damaged block or blob.
void Report(const Error& error) {
  scrub_failed.Count();
  Log({LogLevel::kError,
       "store.scrub_failed",
       {{"kind", ErrorKindName(error.kind)}, {"detail", error.message}}});
}

}  // namespace

nanoseconds Scrubber::Step() noexcept {
  try {
    return TryStep();
  } catch (...) {  // the next start verifies the rest of the blob
    step_threw.Report(CurrentExceptionError("the scrubber"));
    blob_ = nullptr;
    return kPause;
  }
}

nanoseconds Scrubber::TryStep() {
  if (blob_ == nullptr) {
    const Result<bool> found = Next();
    if (!found.ok()) Report(found.error());
    if (!found.ok() || !*found) {
      connection_.reset();
      return kPause;
    }
    if (blob_ == nullptr) return nanoseconds(0);  // it was removed or cannot be opened
  }
  const std::uint64_t begin = at_;
  const Result<std::uint64_t> read = ReadBlock();
  if (!read.ok()) Report(read.error());
  at_ += read.ok() ? *read : std::min(kBlockBytes - at_ % kBlockBytes, blob_->size() - at_);
  // If more than a block was verified, the rest had been verified before and was not read.
  const std::uint64_t cost = std::min(at_ - begin, kBlockBytes);
  if (!read.ok()) hasher_ = {};
  if (at_ >= blob_->size()) Finish();
  return nanoseconds(std::chrono::seconds(1)) * cost / options_.bytes_per_second;
}

Result<bool> Scrubber::Next() {
  if (connection_ == nullptr) {
    PENSTOCK_ASSIGN(connection_, OpenReader(options_.database));
  }
  Query query(
      *connection_,
      "SELECT id, size, checksums FROM blobs WHERE id>? AND bytes IS NULL ORDER BY id LIMIT 1");
  PENSTOCK_ASSIGN(const bool found, query.Bind(last_id_).Step());
  if (!found) return false;
  last_id_ = query.Int(0);
  at_ = 0;
  hasher_ = {};
  blob_ = registry_->Find(last_id_);
  if (blob_ != nullptr) return true;
  auto opened =
      FileBlob::Open(registry_, last_id_, static_cast<std::uint64_t>(query.Int(1)), query.Text(2));
  if (!opened.ok()) {
    Report(opened.error());
    return true;
  }
  if (*opened != nullptr) blob_ = registry_->AddLoaded(*opened);
  return true;
}

Result<std::uint64_t> Scrubber::ReadBlock() {
  if (!blob_->block_checksums().empty()) return blob_->Checked({at_, blob_->size()});
  std::vector<std::byte> block(std::min(kBlockBytes, blob_->size() - at_));
  PENSTOCK_TRY(ReadContent(Content{{{blob_, {at_, blob_->size()}}}}, 0, block));
  hasher_.Update(block);
  return block.size();
}

void Scrubber::Finish() {
  const StoredBlobPtr blob = std::move(blob_);
  blob_ = nullptr;
  const std::string checksums = hasher_.Finish();
  if (!blob->block_checksums().empty() || !FitsSize(checksums, blob->size())) return;
  if (const Result<void> adopted = options_.adopt(blob->id(), checksums); !adopted.ok())
    Report(adopted.error());
}

}  // namespace penstock::emulator::store
