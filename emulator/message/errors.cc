#include "emulator/message/errors.h"

#include "base/text/utf8.h"
#include "base/xml/xml.h"

namespace penstock::emulator::message {
namespace {

using enum ErrorKind;

// Texts recorded against Amazon S3. Codes whose text depends on the case have none here.
constexpr ErrorInfo kErrors[] = {
    {"NoSuchKey", 404, kNotFound, "The specified key does not exist."},
    {"NoSuchBucket", 404, kNotFound, "The specified bucket does not exist"},
    {"SlowDown", 503, kThrottled, "Please reduce your request rate."},
    {"ServiceUnavailable", 503, kUnavailable, "Service is unable to handle request."},
    {"InternalError", 500, kInternal, "We encountered an internal error. Please try again."},
    {"PreconditionFailed", 412, ErrorKind::kPreconditionFailed,
     "At least one of the pre-conditions you specified did not hold"},
    {"NotModified", 304, kNotModified, "Not Modified"},
    {"AccessDenied", 403, kAccessDenied, "Access Denied"},
    {"SignatureDoesNotMatch", 403, kUnauthenticated,
     "The request signature we calculated does not match the signature you provided. Check your "
     "key and signing "
     "method."},
    {"InvalidAccessKeyId", 403, kUnauthenticated,
     "The AWS Access Key Id you provided does not exist in our records."},
    {"RequestTimeTooSkewed", 403, kUnauthenticated,
     "The difference between the request time and the current time is too large."},
    {"ExpiredToken", 400, kUnauthenticated, "The provided token has expired."},
    {"InvalidToken", 400, kUnauthenticated,
     "The provided token is malformed or otherwise invalid."},
    {"TokenRefreshRequired", 400, kUnauthenticated, "The provided token must be refreshed."},
    {"AuthorizationHeaderMalformed", 400, kUnauthenticated,
     "The authorization header is malformed."},
    {"AuthorizationQueryParametersError", 400, kUnauthenticated,
     "The authorization query parameters are malformed."},
    {"CredentialsNotSupported", 400, kUnauthenticated,
     "This request does not support credentials."},
    {"AccessForbidden", 403, kAccessDenied, "Access Forbidden"},
    {"AccountProblem", 403, kAccessDenied, "There is a problem with your AWS account."},
    {"AllAccessDisabled", 403, kAccessDenied, "All access to this object has been disabled."},
    {"CrossLocationLoggingProhibitted", 403, kAccessDenied,
     "Cross S3 location logging not allowed. "},
    {"InvalidObjectState", 403, kAccessDenied,
     "The operation is not valid for the object's storage class"},
    {"InvalidPayer", 403, kAccessDenied, "All access to this object has been disabled."},
    {"NotSignedUp", 403, kAccessDenied, "Your account is not signed up for the Amazon S3 service."},
    {"PermanentRedirect", 301, kWrongRegion,
     "The bucket you are attempting to access must be addressed using the specified endpoint. "
     "Please send all future "
     "requests to this endpoint."},
    {"TemporaryRedirect", 307, kWrongRegion,
     "Please re-send this request to the specified temporary endpoint. Continue to use the "
     "original request endpoint "
     "for future requests."},
    {"Redirect", 307, kWrongRegion,
     "Please re-send this request to the specified temporary endpoint."},
    {"AccessControlListNotSupported", 400, kInvalidArgument, "The bucket does not allow ACLs"},
    {"BadDigest", 400, kDataLoss, "The Content-MD5 you specified did not match what we received."},
    {"BadRequest", 400, kInvalidArgument, "Bad Request"},
    {"400", 400, kInvalidArgument, "Bad Request"},
    {"EncryptionTypeMismatch", 400, kInvalidArgument,
     "The encryption type specified does not match that of the existing object."},
    {"EntityTooLarge", 400, kInvalidArgument,
     "Your proposed upload exceeds the maximum allowed size"},
    {"EntityTooSmall", 400, kInvalidArgument,
     "Your proposed upload is smaller than the minimum allowed size"},
    {"IllegalLocationConstraintException", 400, kInvalidArgument,
     "The unspecified location constraint is incompatible for the region specific endpoint this "
     "request was sent to."},
    {"IllegalVersioningConfigurationException", 400, kInvalidArgument,
     "The Versioning element must be specified"},
    {"IncompleteBody", 400, kDataLoss,
     "You did not provide the number of bytes specified by the Content-Length HTTP header"},
    {"InvalidArgument", 400, kInvalidArgument, "Invalid Argument"},
    {"InvalidBucketName", 400, kInvalidArgument, "The specified bucket is not valid."},
    {"InvalidBucketOwnerAWSAccountID", 400, kInvalidArgument,
     "The value of the expected bucket owner parameter must be an AWS Account ID"},
    {"IdempotencyParameterMismatch", 400, kInvalidArgument,
     "The parameters of the request do not match those of the one that had this client token "
     "first."},
    {"IdMismatch", 400, kInvalidArgument,
     "Document ID does not match the specified configuration ID."},
    {"InvalidBucketAclWithBlockPublicAccessError", 400, kInvalidArgument,
     "Bucket cannot have public ACLs set with BlockPublicAccess enabled"},
    {"InvalidBucketAclWithObjectOwnership", 400, kInvalidArgument,
     "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting"},
    {"InvalidChunkSizeError", 400, kInvalidArgument,
     "Only the last chunk is allowed to have a size less than 8192 bytes"},
    {"InvalidConfigurationId", 400, kInvalidArgument, "The specified configuration ID is invalid."},
    {"InvalidDigest", 400, kInvalidArgument, "The Content-MD5 you specified was invalid."},
    {"InvalidEncryptionAlgorithmError", 400, kInvalidArgument,
     "The Encryption request you specified is not valid. Supported value: AES256."},
    {"InvalidLocationConstraint", 400, kInvalidArgument,
     "The specified location-constraint is not valid"},
    {"InvalidPart", 400, kInvalidArgument,
     "One or more of the specified parts could not be found.  The part may not have been uploaded, "
     "or the specified "
     "entity tag may not match the part's entity tag."},
    {"InvalidPartOrder", 400, kInvalidArgument,
     "The list of parts was not in ascending order. Parts must be ordered by part number."},
    {"InvalidPolicyDocument", 400, kInvalidArgument,
     "The content of the form does not meet the conditions specified in the policy document."},
    {"InvalidRequest", 400, kInvalidArgument, "Invalid Request"},
    {"InvalidS3DestinationBucket", 400, kInvalidArgument, "Invalid bucket ARN."},
    {"InvalidStorageClass", 400, kInvalidArgument, "The storage class you specified is not valid"},
    {"InvalidTargetBucketForLogging", 400, kInvalidArgument,
     "The target bucket for logging does not exist"},
    {"InvalidTag", 400, kInvalidArgument, "The TagKey you have provided is invalid"},
    {"InvalidWriteOffset", 400, kInvalidArgument,
     "The write offset value that you specified does not match the current object size."},
    {"InvalidURI", 400, kInvalidArgument, "Couldn't parse the specified URI."},
    {"InvalidRedirectLocation", 400, kInvalidArgument,
     "The website redirect location must have a prefix of 'http://' or 'https://' or '/'."},
    {"KMS.DisabledException", 400, kInvalidArgument, "The specified KMS key is not enabled."},
    {"KMS.KMSInvalidStateException", 400, kInvalidArgument,
     "The state of the specified KMS key is not valid for this request."},
    {"KMS.NotFoundException", 400, kInvalidArgument, "The specified KMS key could not be found."},
    {"KeyTooLongError", 400, kInvalidArgument, "Your key is too long"},
    {"MalformedACLError", 400, kInvalidArgument,
     "The XML you provided was not well-formed or did not validate against our published schema"},
    {"MalformedPolicy", 400, kInvalidArgument,
     "Policies must be valid JSON and the first byte must be '{'"},
    {"MalformedPOSTRequest", 400, kInvalidArgument,
     "The body of your POST request is not well-formed multipart/form-data."},
    {"MalformedTrailerError", 400, kInvalidArgument,
     "The request contained trailing data that was not well-formed or did not conform to our "
     "published schema."},
    {"MalformedContinuationToken", 400, kInvalidArgument,
     "The continuation-token you provided invalid."},
    {"MalformedXML", 400, kInvalidArgument,
     "The XML you provided was not well-formed or did not validate against our published schema"},
    // As recorded against Amazon S3. Its documentation says ...ExceededError.
    {"MaxPostPreDataLengthExceeded", 400, kInvalidArgument,
     "Your POST request fields preceeding the upload file was too large."},
    {"MaxMessageLengthExceeded", 400, kInvalidArgument, "Your request was too big."},
    {"MetadataTooLarge", 400, kInvalidArgument,
     "Your metadata headers exceed the maximum allowed metadata size"},
    {"MissingRequestBodyError", 400, kInvalidArgument, "Request Body is empty"},
    {"MissingSecurityHeader", 400, kInvalidArgument, "Your request was missing a required header"},
    {"NoLoggingStatusForKey", 400, kInvalidArgument,
     "There is no such thing as a logging status subresource for a key."},
    {"NotSupported", 400, kInvalidArgument, "The operation is not supported."},
    {"RequestHeaderSectionTooLarge", 400, kInvalidArgument,
     "Your request header section exceeds the maximum allowed size."},
    {"RequestTimeout", 400, kTimeout,
     "Your socket connection to the server was not read from or written to within the timeout "
     "period. Idle connections "
     "will be closed."},
    {"TooManyBuckets", 400, kInvalidArgument,
     "You have attempted to create more buckets than allowed"},
    {"TooManyConfigurations", 400, kInvalidArgument,
     "You are attempting to create a new configuration but have already reached the "
     "1,000-configuration limit."},
    {"TooManyParts", 400, kInvalidArgument, "You have attempted to add more parts than allowed"},
    {"UnexpectedContent", 400, kInvalidArgument, "This request does not support content"},
    {"UserKeyMustBeSpecified", 400, kInvalidArgument, "User key must be specified."},
    {"XAmzContentSHA256Mismatch", 400, kDataLoss,
     "The provided 'x-amz-content-sha256' header does not match what was computed."},
    {"NoSuchUpload", 404, kNotFound,
     "The specified upload does not exist. The upload ID may be invalid, or the upload may have "
     "been aborted or "
     "completed."},
    {"NoSuchVersion", 404, kNotFound, "The specified version does not exist."},
    {"NoSuchBucketPolicy", 404, kNotFound, "The bucket policy does not exist"},
    {"NoSuchCORSConfiguration", 404, kNotFound, "The CORS configuration does not exist"},
    {"NoSuchConfiguration", 404, kNotFound, "The specified configuration does not exist."},
    {"NoSuchLifecycleConfiguration", 404, kNotFound, "The lifecycle configuration does not exist"},
    {"NoSuchObjectLockConfiguration", 404, kNotFound,
     "The specified object does not have a ObjectLock configuration"},
    {"NoSuchPublicAccessBlockConfiguration", 404, kNotFound,
     "The public access block configuration was not found"},
    {"NoSuchTagSet", 404, kNotFound, "The TagSet does not exist"},
    {"NoSuchWebsiteConfiguration", 404, kNotFound,
     "The specified bucket does not have a website configuration"},
    {"ObjectLockConfigurationNotFoundError", 404, kNotFound,
     "Object Lock configuration does not exist for this bucket"},
    {"OwnershipControlsNotFoundError", 404, kNotFound,
     "The bucket ownership controls were not found"},
    {"ReplicationConfigurationNotFoundError", 404, kNotFound,
     "The replication configuration was not found"},
    {"ServerSideEncryptionConfigurationNotFoundError", 404, kNotFound,
     "The server side encryption configuration was not found"},
    {"MethodNotAllowed", 405, kInvalidArgument,
     "The specified method is not allowed against this resource."},
    {"BucketAlreadyExists", 409, kAlreadyExists,
     "The requested bucket name is not available. The bucket namespace is shared by all users of "
     "the system. Please "
     "select a different name and try again."},
    {"BucketAlreadyOwnedByYou", 409, kAlreadyExists,
     "Your previous request to create the named bucket succeeded and you already own it."},
    {"BucketNotEmpty", 409, kConflict, "The bucket you tried to delete is not empty"},
    {"ConditionalRequestConflict", 409, kConflict,
     "The conditional request cannot succeed due to a conflicting operation against this "
     "resource."},
    {"InvalidBucketState", 409, kConflict,
     "The request is not valid for the current state of the bucket."},
    {"OperationAborted", 409, kConflict,
     "A conflicting conditional operation is currently in progress against this resource. Please "
     "try again."},
    {"RestoreAlreadyInProgress", 409, kConflict, "Object restore is already in progress"},
    {"MissingContentLength", 411, kInvalidArgument,
     "You must provide the Content-Length HTTP header."},
    {"InvalidRange", 416, kInvalidArgument, "The requested range is not satisfiable"},
    {"InvalidPartNumber", 416, kInvalidArgument, "The requested partnumber is not satisfiable"},
    {"NotImplemented", 501, kUnsupported,
     "A header you provided implies functionality that is not implemented"},
    {"InsufficientStorage", 507, kResourceExhausted, "The emulator's storage is full."},
};

// Details may quote headers or form fields that are not UTF-8, but the document must be.
void WriteQuoted(XmlWriter& xml, std::string_view name, std::string_view text) {
  if (IsValidUtf8(text)) {
    xml.Element(name, text);
  } else {
    xml.Element(name, ReplaceIllFormedUtf8(text));
  }
}

}  // namespace

const ErrorInfo* FindErrorInfo(std::string_view code) {
  for (const ErrorInfo& info : kErrors) {
    if (info.code == code) return &info;
  }
  return nullptr;
}

Error MakeError(std::string_view code, ErrorDetails details, std::string message) {
  const ErrorInfo* info = FindErrorInfo(code);
  Error error = Error::Make(info ? info->kind : kInternal, std::move(message));
  if (error.message.empty() && info) error.message = info->message;
  error.code = code;
  error.http_status = info ? info->status : 500;
  error.details = std::move(details);
  return error;
}

Error ServerStops() {
  return MakeError("ServiceUnavailable", {},
                   "Service is unable to handle request. The emulator stops.");
}

std::string ErrorDocument(std::string_view code, std::string_view message,
                          const ErrorDetails& details, std::string_view request_id,
                          std::string_view host_id) {
  XmlWriter xml;
  xml.Open("Error");
  xml.Element("Code", code);
  WriteQuoted(xml, "Message", message);
  for (const auto& [name, value] : details) WriteQuoted(xml, name, value);
  xml.Element("RequestId", request_id);
  xml.Element("HostId", host_id);
  xml.Close("Error");
  return xml.Take();
}

}  // namespace penstock::emulator::message
