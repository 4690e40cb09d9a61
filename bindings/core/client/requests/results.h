// Responses as Python objects: the classes of penstock.requests, and plain values.
//
// All functions need the GIL.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_RESULTS_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_RESULTS_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>

#include "penstock/client.h"
#include "penstock/files.h"
#include "penstock/presign.h"

namespace penstock::python {

pybind11::object ToPython(const NoResponse& response);
pybind11::object ToPython(const ObjectMetadata& metadata);
pybind11::object ToPython(const PutObjectResponse& response);
pybind11::object ToPython(const DeleteObjectResponse& response);
pybind11::object ToPython(const DeleteObjectsResponse& response);
pybind11::object ToPython(const CopyObjectResponse& response);
pybind11::object ToPython(const CreateMultipartUploadResponse& response);
// A page as a tuple (bindings/core/client/listing/pages.h).
pybind11::object ToPython(const ListObjectsResponse& page);
pybind11::object ToPython(const ListObjectVersionsResponse& page);
pybind11::object ToPython(const ListPartsResponse& response);
pybind11::object ToPython(const ListMultipartUploadsResponse& response);
pybind11::object ToPython(const HeadBucketResponse& response);
pybind11::object ToPython(const ListBucketsResponse& response);
pybind11::object ToPython(const GetBucketVersioningResponse& response);
pybind11::object ToPython(const GetBucketTaggingResponse& response);
pybind11::object ToPython(const GetObjectTaggingResponse& response);
// The document as bytes, as received.
pybind11::object ToPython(const BucketConfiguration& configuration);
pybind11::object ToPython(const ObjectConfiguration& configuration);
pybind11::object ToPython(const ObjectConfigurationResponse& response);
pybind11::object ToPython(const RestoreObjectResponse& response);
pybind11::object ToPython(const GetObjectAttributesResponse& response);
pybind11::object ToPython(const PresignedRequest& request);
pybind11::object ToPython(const PostForm& form);
pybind11::object ToPython(const UploadResponse& response);
pybind11::object ToPython(const DirectoryResponse& response);

// Unset `size`: not known.
pybind11::object ToPython(const CompletedPart& part,
                          std::optional<std::uint64_t> size = std::nullopt);
pybind11::object GetResultToPython(const pybind11::object& body, const ObjectMetadata& metadata);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_RESULTS_H_
