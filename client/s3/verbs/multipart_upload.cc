#include "client/s3/verbs/verbs.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/crc/named_crc.h"
#include "base/xml/xml.h"
#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"
#include "client/s3/verbs/write_attributes.h"

namespace penstock::s3 {
namespace {

struct ChecksumOfUpload {
  std::string algorithm;  // Empty: none.
  std::string type;       // Empty: S3's default.
};

// Returns what a request that creates or completes an upload declares.
template <class Request>
ChecksumOfUpload ChecksumFor(const Request& request, const BuildContext& context) {
  ChecksumOfUpload out{request.checksum_algorithm, request.checksum_type};
  if (out.algorithm == "none") return {};
  if (out.algorithm.empty()) {
    if (!context.upload_checksums) return {};
    out.algorithm = "crc64nvme";
  }
  if (out.type.empty() && out.algorithm == "crc64nvme") out.type = "FULL_OBJECT";
  return out;
}

// The element of a checksum in S3's documents.
constexpr std::string_view kChecksumElement = "Checksum";
std::string ChecksumElement(std::string_view algorithm) {
  return std::string(kChecksumElement) + AlgorithmName(algorithm);
}

// Returns the algorithms and values of these elements below `root`.
std::vector<std::pair<std::string, std::string>> ReadChecksumElements(const XmlElement& root) {
  std::vector<std::pair<std::string, std::string>> checksums;
  for (const XmlElement& child : root.Children()) {
    const std::string_view name = child.name();
    if (!name.starts_with(kChecksumElement) || name == "ChecksumType") continue;
    checksums.emplace_back(AsciiLower(name.substr(kChecksumElement.size())), child.text());
  }
  return checksums;
}

}  // namespace

Result<WireRequest> BuildRequest(const CreateMultipartUploadRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kCreateMultipartUpload,
                                                       request.bucket, request.key, context));
  wire.query.emplace_back("uploads", "");
  PENSTOCK_TRY(AppendAttributes(request.attributes, wire));
  PENSTOCK_TRY(CheckAlgorithm(request.checksum_algorithm));
  const ChecksumOfUpload checksum = ChecksumFor(request, context);
  if (!checksum.algorithm.empty())
    wire.headers.push_back({"x-amz-checksum-algorithm", AlgorithmName(checksum.algorithm)});
  PENSTOCK_TRY(AppendText("x-amz-checksum-type", checksum.type, wire.headers));
  return wire;
}

Result<CreateMultipartUploadResponse> ParseResponse(const CreateMultipartUploadRequest&,
                                                    const WireResponse& response) {
  PENSTOCK_ASSIGN(
      const XmlDocument document,
      ReadDocumentWithKey(response, "InitiateMultipartUploadResult", "InitiateMultipartUpload"));
  CreateMultipartUploadResponse out{UploadId(document.root().Child("UploadId").text())};
  // Only what S3 confirms: services without CRC64NVME do not return the header.
  out.keeps_crc64nvme = response.head.Find("x-amz-checksum-algorithm") == "CRC64NVME";
  if (out.upload_id.empty())
    return Error::Make(ErrorKind::kUnavailable, "the response has no UploadId");
  return out;
}

Result<WireRequest> BuildRequest(const UploadPartRequest& request, const BuildContext& context) {
  if (request.body == nullptr && !context.presigned)
    return InvalidRequest("UploadPart needs a body");
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_TRY(CheckPartNumber(request.part_number));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kUploadPart, request.bucket, request.key, context));
  wire.query = {{"partNumber", std::to_string(request.part_number)},
                {"uploadId", request.upload_id.value}};
  BodySource* const body = context.presigned ? nullptr : request.body;
  const bool by_default = context.upload_checksums && body != nullptr && !body->FollowsChecksum();
  AppendCustomerKey(request.customer_key, wire);
  PENSTOCK_TRY(AppendBodyChecksum({request.checksum_algorithm, request.checksum_value, body},
                                  by_default, wire.headers));
  wire.source = body;
  return wire;
}

Result<CompletedPart> ParseResponse(const UploadPartRequest& request,
                                    const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  PENSTOCK_TRY(CheckHasETag(response.head));
  CompletedPart part;
  part.part_number = request.part_number;
  part.etag = ReadETag(response.head.Find("etag").value_or(std::string_view{}));
  // Only a checksum that S3 confirmed may go into CompleteMultipartUpload, where a server without
  // CRC64NVME would reject it.
  part.checksum_crc64nvme = response.head.Find(kCrc64NvmeHeader).value_or(std::string_view{});
  const std::string& chosen = request.checksum_algorithm;
  if (chosen.empty() || chosen == "crc64nvme") return part;
  if (const auto confirmed = response.head.Find("x-amz-checksum-" + chosen)) {
    part.checksum_algorithm = chosen;
    part.checksum_value = *confirmed;
  }
  return part;
}

Result<WireRequest> BuildRequest(const UploadPartCopyRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_TRY(CheckPartNumber(request.part_number));
  PENSTOCK_ASSIGN(std::string source,
                  CopySource(request.source_bucket, request.source_key, request.source_version_id));
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kUploadPartCopy, request.bucket,
                                                       request.key, context));
  wire.query = {{"partNumber", std::to_string(request.part_number)},
                {"uploadId", request.upload_id.value}};
  wire.headers.push_back({"x-amz-copy-source", std::move(source)});
  if (request.source_range) {
    const RangeRequest range{request.source_range->begin, request.source_range->end, std::nullopt};
    PENSTOCK_ASSIGN(std::string text, FormatRange(range));
    wire.headers.push_back({"x-amz-copy-source-range", std::move(text)});
  }
  if (request.source_if_match) {
    wire.headers.push_back({"x-amz-copy-source-if-match", QuoteETag(*request.source_if_match)});
  }
  AppendSourceCustomerKey(request.source_customer_key, wire);
  AppendCustomerKey(request.customer_key, wire);
  PENSTOCK_TRY(AppendText("x-amz-source-expected-bucket-owner",
                          request.source_expected_bucket_owner, wire.headers));
  return wire;
}

Result<CompletedPart> ParseResponse(const UploadPartCopyRequest& request,
                                    const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "CopyPartResult"));
  CompletedPart part;
  part.part_number = request.part_number;
  part.etag = ReadETag(document.root().Child("ETag").text());
  for (auto& [algorithm, value] : ReadChecksumElements(document.root())) {
    if (algorithm == "crc64nvme") {
      part.checksum_crc64nvme = std::move(value);
    } else {
      part.checksum_algorithm = std::move(algorithm);
      part.checksum_value = std::move(value);
    }
  }
  if (part.etag.empty())
    return Error::Make(ErrorKind::kUnavailable, "the response has no ETag for the part");
  return part;
}

namespace {

Result<void> CheckParts(const std::vector<CompletedPart>& parts) {
  if (parts.empty()) return InvalidRequest("CompleteMultipartUpload needs at least one part");
  int previous = 0;
  for (const CompletedPart& part : parts) {
    PENSTOCK_TRY(CheckPartNumber(part.part_number));
    if (part.part_number <= previous) {
      return InvalidRequest("part " + std::to_string(part.part_number) + " follows part " +
                            std::to_string(previous) + "; parts must be in ascending order");
    }
    if (part.etag.empty())
      return InvalidRequest("part " + std::to_string(part.part_number) + " has no ETag");
    previous = part.part_number;
  }
  return Ok();
}

std::string PartsDocument(const std::vector<CompletedPart>& parts) {
  XmlWriter xml;
  xml.Open("CompleteMultipartUpload", kXmlNamespace);
  for (const CompletedPart& part : parts) {
    xml.Open("Part");
    xml.Element("PartNumber", std::to_string(part.part_number));
    xml.Element("ETag", QuoteETag(part.etag));
    if (!part.checksum_crc64nvme.empty()) xml.Element("ChecksumCRC64NVME", part.checksum_crc64nvme);
    if (!part.checksum_algorithm.empty())
      xml.Element(ChecksumElement(part.checksum_algorithm), part.checksum_value);
    xml.Close("Part");
  }
  xml.Close("CompleteMultipartUpload");
  return xml.Take();
}

}  // namespace

Result<WireRequest> BuildRequest(const CompleteMultipartUploadRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_TRY(CheckParts(request.parts));
  if (request.if_match && request.if_none_match_any) {
    return InvalidRequest(
        "CompleteMultipartUpload takes either if_match or if_none_match_any, not both");
  }
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kCompleteMultipartUpload,
                                                       request.bucket, request.key, context));
  wire.query.emplace_back("uploadId", request.upload_id.value);
  wire.headers.push_back({"Content-Type", "application/xml"});
  PENSTOCK_TRY(CheckAlgorithm(request.checksum_algorithm));
  const ChecksumOfUpload checksum = ChecksumFor(request, context);
  if (!request.checksum_value.empty()) {
    if (checksum.algorithm.empty() || request.checksum_algorithm.empty()) {
      return InvalidRequest(
          "checksum_value is set, but checksum_algorithm does not name the algorithm; set it, for "
          "example to crc32c");
    }
    wire.headers.push_back({"x-amz-checksum-" + checksum.algorithm, request.checksum_value});
  } else if (request.crc64nvme && checksum.algorithm == "crc64nvme") {
    wire.headers.push_back({kCrc64NvmeHeader, CrcText(Crc::kCrc64Nvme, *request.crc64nvme)});
  }
  PENSTOCK_TRY(AppendText("x-amz-checksum-type", checksum.type, wire.headers));
  AppendCustomerKey(request.customer_key, wire);
  wire.headers.push_back({"x-amz-mp-object-size", std::to_string(request.object_size)});
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  if (request.if_none_match_any) wire.headers.push_back({"If-None-Match", "*"});
  wire.document = PartsDocument(request.parts);
  return wire;
}

namespace {

// Compares the checksum of the whole object with the one that the request has.
Result<void> CheckConfirmed(const CompleteMultipartUploadRequest& request,
                            const PutObjectResponse& response) {
  std::string algorithm = request.checksum_algorithm;
  std::string sent = request.checksum_value;
  if (sent.empty() && request.crc64nvme) {
    algorithm = "crc64nvme";
    sent = CrcText(Crc::kCrc64Nvme, *request.crc64nvme);
  }
  for (const auto& [name, confirmed] : response.checksums) {
    if (sent.empty() || name != algorithm || confirmed == sent) continue;
    return Error::Make(ErrorKind::kDataLoss, "the object has " + AlgorithmName(algorithm) + " " +
                                                 sent + ", but the server confirms " + confirmed);
  }
  return Ok();
}

}  // namespace

Result<PutObjectResponse> ParseResponse(const CompleteMultipartUploadRequest& request,
                                        const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document,
                  ReadDocumentWithKey(response, "CompleteMultipartUploadResult"));
  ObjectMetadata metadata = ReadMetadata(response.head);
  PutObjectResponse out;
  out.etag = ReadETag(document.root().Child("ETag").text());
  out.version_id = std::move(metadata.version_id);
  if (document.root().Child("ChecksumType").text() != "COMPOSITE")
    out.checksums = ReadChecksumElements(document.root());
  PENSTOCK_TRY(CheckHasETag(response, out.etag));
  PENSTOCK_TRY(CheckConfirmed(request, out));
  out.encryption = metadata.encryption;
  if (metadata.details.has_value()) out.kms_key_id = std::move(metadata.details.Edit().kms_key_id);
  return out;
}

Result<WireRequest> BuildRequest(const AbortMultipartUploadRequest& request,
                                 const BuildContext& context) {
  // Without an id the request would be DeleteObject.
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kAbortMultipartUpload,
                                                       request.bucket, request.key, context));
  wire.query.emplace_back("uploadId", request.upload_id.value);
  return wire;
}

}  // namespace penstock::s3
