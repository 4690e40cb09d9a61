// One function per S3 operation. Each leaves its success response in call.response() or returns
// S3's error.
//
// The router has already checked the bucket name, the key and the x-amz-* headers, and adds the
// request ids.
#ifndef PENSTOCK_EMULATOR_S3_CORE_HANDLERS_H_
#define PENSTOCK_EMULATOR_S3_CORE_HANDLERS_H_

#include "emulator/s3/core/call.h"

namespace penstock::emulator::s3 {

using OperationHandler = Result<void> (*)(Call& call);

// buckets.cc
Result<void> ListBuckets(Call& call);
Result<void> HeadBucket(Call& call);
Result<void> DeleteBucket(Call& call);
Result<void> GetBucketLocation(Call& call);

// create_bucket.cc
Result<void> CreateBucket(Call& call);
// create_directory_bucket.cc: CreateBucket for names of directory buckets.
Result<void> CreateDirectoryBucket(Call& call);
// list_directory_buckets.cc
Result<void> ListDirectoryBuckets(Call& call);
// create_session.cc
Result<void> CreateSession(Call& call);
// bucket_configuration.cc: every row of sub_resources.cc.
Result<void> GetBucketConfiguration(Call& call);
Result<void> PutBucketConfiguration(Call& call);
Result<void> DeleteBucketConfiguration(Call& call);
Result<void> ListBucketConfigurations(Call& call);
// acl_operations.cc: ACLs of buckets and objects.
Result<void> GetAcl(Call& call);
Result<void> PutAcl(Call& call);
// policy_operations.cc
Result<void> GetBucketPolicy(Call& call);
Result<void> PutBucketPolicy(Call& call);
Result<void> DeleteBucketPolicy(Call& call);
Result<void> GetBucketPolicyStatus(Call& call);
// versioning.cc
Result<void> GetBucketVersioning(Call& call);
Result<void> PutBucketVersioning(Call& call);
// object_lock_operations.cc
Result<void> GetObjectRetention(Call& call);
Result<void> PutObjectRetention(Call& call);
Result<void> GetObjectLegalHold(Call& call);
Result<void> PutObjectLegalHold(Call& call);
// cors.cc
Result<void> HandlePreflight(Call& call);

// bucket_encryption.cc
Result<void> GetBucketEncryption(Call& call);
Result<void> PutBucketEncryption(Call& call);
Result<void> DeleteBucketEncryption(Call& call);

// get_object.cc
Result<void> GetObject(Call& call);  // Also HeadObject.
// object_attributes.cc
Result<void> GetObjectAttributes(Call& call);
// put_object.cc
Result<void> PutObject(Call& call);
// append_object.cc: PutObject with x-amz-write-offset-bytes.
Result<void> AppendObject(Call& call);
// rename_object.cc
Result<void> RenameObject(Call& call);
// post_object.cc
Result<void> PostObject(Call& call);
// copy_object.cc
Result<void> CopyObject(Call& call);
// update_encryption.cc
Result<void> UpdateObjectEncryption(Call& call);
// restore_object.cc
Result<void> RestoreObject(Call& call);
// delete_object.cc
Result<void> DeleteObject(Call& call);
// delete_objects.cc
Result<void> DeleteObjects(Call& call);

// list_objects.cc
Result<void> ListObjectsV1(Call& call);
Result<void> ListObjectsV2(Call& call);
// list_directory.cc: ListObjectsV2 of a directory bucket.
Result<void> ListDirectory(Call& call, const store::BucketRecord& bucket);
// list_versions.cc
Result<void> ListObjectVersions(Call& call);

// multipart.cc
Result<void> CreateMultipartUpload(Call& call);
Result<void> AbortMultipartUpload(Call& call);
// upload_part.cc
Result<void> UploadPart(Call& call);
Result<void> UploadPartCopy(Call& call);
// complete_upload.cc
Result<void> CompleteMultipartUpload(Call& call);
// list_uploads.cc
Result<void> ListParts(Call& call);
Result<void> ListMultipartUploads(Call& call);

// tagging.cc
Result<void> GetObjectTagging(Call& call);
Result<void> PutObjectTagging(Call& call);
Result<void> DeleteObjectTagging(Call& call);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_HANDLERS_H_
