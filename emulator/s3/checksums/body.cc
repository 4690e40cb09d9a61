#include "emulator/s3/checksums/body.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/log/diagnostics.h"
#include "emulator/s3/checksums/hash_pipeline.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

constinit DiagnosticEvent second_thread_not_started("body.second_thread_not_started");

constexpr std::size_t kBlockBytes = 256u << 10;
constexpr std::size_t kBlocksBytes = HashPipeline::kBlocks * kBlockBytes;
// A smaller body has been read before a second thread would start.
constexpr std::uint64_t kMinTwoThreadBodyBytes = 1u << 20;
// Reserved for a document of which nothing has arrived.
constexpr std::uint64_t kMaxReservedBytes = 64u << 10;

// Buffers and helper thread that a serving thread reuses for all its bodies.
struct ThreadScratch {
  ~ThreadScratch() {
    if (second != nullptr && !second->is_here()) static_cast<void>(second.release());
  }

  const std::unique_ptr<std::byte[]> memory =
      std::make_unique_for_overwrite<std::byte[]>(kBlocksBytes);
  std::unique_ptr<message::StandbyThread> second;  // Created for the first large body.

  MutableByteView blocks() { return {memory.get(), kBlocksBytes}; }
};

ThreadScratch& LocalScratch() {
  thread_local ThreadScratch scratch;
  return scratch;
}

Error EntityTooLarge(std::uint64_t proposed) {
  return MakeError("EntityTooLarge", {{"ProposedSize", std::to_string(proposed)},
                                      {"MaxSizeAllowed", std::to_string(kMaxBodyBytes)}});
}

// Returns Content-MD5 as 16 raw bytes; empty if absent.
Result<std::string> ReadContentMd5(const Call& call) {
  const auto header = call.exchange.request.Find("content-md5");
  if (!header) return std::string();
  auto raw = Base64Decode(*header);
  if (!raw || raw->size() != 16)
    return MakeError("InvalidDigest", {{"Content-MD5", std::string(*header)}});
  return std::move(*raw);
}

Result<void> VerifyMd5(const std::string& expected, const std::string& computed, Md5Style style) {
  if (expected.empty() || expected == computed) return Ok();
  return MakeError("BadDigest",
                   {{"CalculatedDigest", Base64Encode(AsBytes(computed))},
                    {"ExpectedDigest", style == Md5Style::kHex ? HexEncode(AsBytes(expected))
                                                               : Base64Encode(AsBytes(expected))}});
}

// Fills `block`, unless the body ends first. Returns the number of bytes.
Result<std::size_t> Fill(const Exchange& exchange, MutableByteView block) {
  PENSTOCK_TRY(RefuseIfCancelled(exchange));
  BodyReader& body = *exchange.body;
  std::size_t filled = 0;
  while (filled < block.size()) {
    PENSTOCK_ASSIGN(const std::size_t count, body.Read(block.subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

// Reads the body to its end and passes each block to `take`.
template <class Take>
Result<void> Drain(const Exchange& exchange, const Take& take) {
  const MutableByteView block = LocalScratch().blocks().first(kBlockBytes);
  for (;;) {
    PENSTOCK_ASSIGN(const std::size_t count, Fill(exchange, block));
    if (count == 0) return Ok();
    PENSTOCK_TRY(take(ByteView(block.first(count))));
  }
}

using BlockFunction = std::function<Result<void>(ByteView)>;

unsigned Processors() {
  // Cached, because the library reads a file for it.
  static const unsigned count = std::thread::hardware_concurrency();
  return count;
}

// Returns a second thread for a body of `length` bytes if the machine has at least `processors`
// processors. Returns null if a second thread would not help or cannot be created.
message::StandbyThread* SecondThread(std::uint64_t length, unsigned processors) {
  if (length < kMinTwoThreadBodyBytes || Processors() < processors) return nullptr;
  std::unique_ptr<message::StandbyThread>& second = LocalScratch().second;
  if (second != nullptr && second->is_here()) return second.get();
  static_cast<void>(second.release());  // Belongs to the parent process of a fork.
  try {
    second = std::make_unique<message::StandbyThread>();
  } catch (...) {  // No thread or no memory.
    second_thread_not_started.Report(CurrentExceptionError());
    return nullptr;
  }
  return second.get();
}

// Reads the body to its end and passes each block to both functions. `on_second_thread` runs on the
// second thread if there is one.
Result<void> DrainWithTwoThreads(const Exchange& exchange, message::StandbyThread* second,
                                 const BlockFunction& on_this_thread,
                                 const BlockFunction& on_second_thread) {
  if (second == nullptr) {
    return Drain(exchange, [&](ByteView bytes) -> Result<void> {
      PENSTOCK_TRY(on_second_thread(bytes));
      return on_this_thread(bytes);
    });
  }
  HashPipeline pipeline(*second, LocalScratch().blocks(), on_second_thread);
  for (;;) {
    const MutableByteView block = pipeline.NextBlock();
    PENSTOCK_ASSIGN(const std::size_t count, Fill(exchange, block));
    if (count == 0) return pipeline.Finish();
    PENSTOCK_TRY(pipeline.Submit(count));
    PENSTOCK_TRY(on_this_thread(block.first(count)));
  }
}

}  // namespace

Result<ReceivedBody> ReceiveBody(Call& call, ReceiveOptions options) {
  const auto length = call.exchange.body->Length();
  if (!length) return MakeError("MissingContentLength");
  if (*length > kMaxBodyBytes) return EntityTooLarge(*length);
  PENSTOCK_ASSIGN(const std::string expected_md5, ReadContentMd5(call));

  PENSTOCK_ASSIGN(auto writer, call.store.NewBlob(*length));
  std::optional<Digester> md5;
  if (options.md5 || !expected_md5.empty()) md5.emplace(DigestAlgorithm::kMd5);
  std::vector<ChecksumDigester> digesters;
  if (options.claim.info) digesters.emplace_back(options.claim.info->algorithm);
  for (const ChecksumAlgorithm algorithm : options.also_compute) digesters.emplace_back(algorithm);
  ReceivedBody received;
  const BlockFunction hash = [&](ByteView bytes) -> Result<void> {
    md5->Update(bytes);
    return Ok();
  };
  const BlockFunction write = [&](ByteView bytes) { return writer->Append(bytes); };
  const BlockFunction check = [&](ByteView bytes) -> Result<void> {
    received.size += bytes.size();
    if (received.size > kMaxBodyBytes) return EntityTooLarge(received.size);
    for (ChecksumDigester& digester : digesters) digester.Update(bytes);
    return Ok();
  };
  const BlockFunction check_and_write = [&](ByteView bytes) -> Result<void> {
    PENSTOCK_TRY(check(bytes));
    return write(bytes);
  };
  // MD5 takes longer than everything else together. Without MD5, separate threads for receiving and
  // writing help only with a third processor, for example for a client on the same machine.
  if (md5) {
    PENSTOCK_TRY(
        DrainWithTwoThreads(call.exchange, SecondThread(*length, 2), check_and_write, hash));
  } else {
    PENSTOCK_TRY(DrainWithTwoThreads(call.exchange, SecondThread(*length, 3), check, write));
  }

  if (md5) received.md5 = md5->Finish();
  PENSTOCK_TRY(VerifyMd5(expected_md5, received.md5, options.expected_digest));
  auto digester = digesters.begin();
  if (options.claim.info) received.claimed = (digester++)->Finish();
  for (; digester != digesters.end(); ++digester) received.computed.push_back(digester->Finish());
  PENSTOCK_TRY(TakeTrailer(options.claim, call.exchange.body->Trailers()));
  PENSTOCK_TRY(VerifyChecksum(options.claim, received.claimed));
  PENSTOCK_ASSIGN(received.content, writer->Finish());
  return received;
}

Result<std::string> ReadDocument(Call& call, DocumentOptions options) {
  PENSTOCK_ASSIGN(const std::string expected_md5, ReadContentMd5(call));
  ChecksumClaim claim;
  if (options.checksum_of_body) {
    PENSTOCK_ASSIGN(claim, ReadChecksumClaim(call));
  }
  if (options.require_checksum && expected_md5.empty() && claim.info == nullptr) {
    return InvalidRequest(
        "Missing required header for this request: Content-MD5 OR x-amz-checksum-*");
  }
  std::string document;
  document.reserve(std::min(call.exchange.body->Length().value_or(0),
                            std::min(options.limit_bytes, kMaxReservedBytes)));
  PENSTOCK_TRY(Drain(call.exchange, [&](ByteView bytes) -> Result<void> {
    if (document.size() + bytes.size() > options.limit_bytes) {
      return MakeError("MaxMessageLengthExceeded",
                       {{"MaxMessageLengthBytes", std::to_string(options.limit_bytes)}});
    }
    document.append(AsText(bytes));
    return Ok();
  }));
  PENSTOCK_TRY(TakeTrailer(claim, call.exchange.body->Trailers()));
  if (!expected_md5.empty()) {
    const Md5Digest digest = Md5(AsBytes(document));
    PENSTOCK_TRY(VerifyMd5(expected_md5, std::string(AsText(digest)), Md5Style::kBase64));
  }
  if (claim.info) {
    ChecksumDigester digester(claim.info->algorithm);
    digester.Update(AsBytes(document));
    PENSTOCK_TRY(VerifyChecksum(claim, digester.Finish()));
  }
  return document;
}

Result<ContentDigests> DigestContent(const Exchange& exchange, const store::Content& content,
                                     ByteRange range, DigestOptions options) {
  std::optional<Digester> md5;
  if (options.md5) md5.emplace(DigestAlgorithm::kMd5);
  ChecksumDigester checksum(options.algorithm);
  const MutableByteView block = LocalScratch().blocks();
  for (std::uint64_t at = range.begin; at < range.end;) {
    PENSTOCK_TRY(RefuseIfCancelled(exchange));
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), range.end - at));
    PENSTOCK_TRY(store::ReadContent(content, at, block.first(count)));
    if (md5) md5->Update(block.first(count));
    checksum.Update(block.first(count));
    at += count;
  }
  return ContentDigests{md5 ? md5->Finish() : std::string(), checksum.Finish()};
}

Result<void> CheckCopySource(const Exchange& exchange, const store::Content& content,
                             ByteRange range) {
  constexpr std::uint64_t kStepBytes = 16u << 20;
  for (std::uint64_t at = range.begin; at < range.end; at += kStepBytes) {
    PENSTOCK_TRY(RefuseIfCancelled(exchange));
    PENSTOCK_TRY(store::CheckContentAnew(content, {at, std::min(range.end, at + kStepBytes)}));
  }
  return Ok();
}

}  // namespace penstock::emulator::s3
