// Runs each line of endpoint_table.tsv through ResolveEndpoint. The table contains botocore's
// results (written by tests/foreign/libraries/endpoint_table.py). URL, scheme, signing name and
// region, or the message, must be equal.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/s3/endpoint/bucket_name.h"
#include "client/s3/endpoint/endpoint.h"

namespace penstock::s3 {
namespace {

using Fields = std::vector<std::string>;

Fields Split(const std::string& line, char separator) {
  Fields fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, separator);) fields.push_back(field);
  return fields;
}

// Returns the value of a field; "-" means that it is not set.
std::string ValueOf(const std::string& field) { return field == "-" ? "" : field; }

void SetFlag(const std::string& flag, EndpointInputs& in) {
  if (flag == "fips") in.fips = true;
  else if (flag == "dualstack") in.dualstack = true;
  else if (flag == "path") in.addressing_style = AddressingStyle::kPath;
  else if (flag == "accelerate") in.accelerate = true;
  else if (flag == "global") in.global_us_east_1 = true;
  else if (flag == "arn_region") in.use_arn_region = true;
  else if (flag == "client_region") in.use_arn_region = false;
  else if (flag == "no_mrap") in.multi_region_access_points = false;
  else if (flag == "no_access_points") in.operation.no_access_points = true;
  else if (flag == "control") in.operation.express_control = true;
  else if (flag == "no_session") in.express_sessions = false;
  else if (flag == "object_lambda") in.operation.object_lambda = true;
  else if (flag != "-") ADD_FAILURE() << "unknown flag " << flag;
}

std::string_view SchemeName(AuthScheme scheme) {
  if (scheme == AuthScheme::kSigV4Express) return "sigv4-s3express";
  return scheme == AuthScheme::kSigV4 ? "sigv4" : "sigv4a";
}

// Returns "url\t…" or "error\t…", as in the table.
std::string ActualLine(const Fields& row) {
  EndpointInputs in;
  in.addressing_style = AddressingStyle::kVirtual;  // The default of the rule set.
  in.bucket = ValueOf(row[0]);
  in.region = ValueOf(row[1]);
  if (row[2] != "-") {
    auto url = ParseEndpointUrl(row[2]);
    if (!url.ok()) return "error\t" + url.error().message;
    in.custom = *std::move(url);
  }
  for (const std::string& flag : Split(row[3], ',')) SetFlag(flag, in);
  const auto out = ResolveEndpoint(in);
  if (!out.ok()) return "error\t" + out.error().message;
  return "url\t" + out->endpoint.scheme + "://" + out->authority + out->BasePath(in.bucket) + "\t" +
         std::string(SchemeName(out->auth)) + "\t" + out->signing_name + "\t" + out->signing_region;
}

// The rule set validates the region in some cases only; this client always does.
bool HasInvalidRegion(const Fields& row) { return row[1] != "-" && !IsHostLabel(row[1]); }

// The rule set puts a name with dots in front of an IP address, which cannot be resolved. This
// client puts it into the path.
bool HasDottedNameAtAnIpAddress(const Fields& row) {
  return row[5].starts_with("http://dotted.name.127.0.0.1") ||
         row[5].starts_with("http://dotted.name.[");
}

TEST(EndpointTableTest, MatchesEveryResultOfBotocore) {
  std::ifstream file(PENSTOCK_ENDPOINT_TABLE);
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const Fields row = Split(line, '\t');
    ASSERT_GE(row.size(), 6u) << line;
    std::string expected = row[4];
    for (std::size_t i = 5; i < row.size(); ++i) expected += "\t" + row[i];
    if (HasInvalidRegion(row)) expected = "error\tInvalid region: region was not a valid DNS name.";
    if (HasDottedNameAtAnIpAddress(row))
      expected = "url\t" + row[2] + "/dotted.name\tsigv4\ts3\tus-west-2";
    const std::string actual = ActualLine(row);
    // This client's messages continue with the value and the fix.
    const bool same =
        expected.starts_with("error") ? actual.starts_with(expected) : actual == expected;
    EXPECT_TRUE(same) << line << "\nactual: " << actual;
  }
  EXPECT_GT(lines, 1500);
}

}  // namespace
}  // namespace penstock::s3
