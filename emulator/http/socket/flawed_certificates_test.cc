#include "emulator/http/socket/flawed_certificates.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace penstock::emulator::http {
namespace {

using ContextPtr = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

ContextPtr NewContext() { return {SSL_CTX_new(TLS_server_method()), &SSL_CTX_free}; }

// A server context with a certificate for "localhost", self-signed, that may or may not sign
// others.
ContextPtr OwnContext(bool may_sign, const char* type = "EC") {
  ContextPtr context = NewContext();
  EVP_PKEY* const key = std::string(type) == "RSA" ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509V3_CTX extending{};
  X509V3_set_ctx(&extending, certificate, certificate, nullptr, nullptr, 0);
  for (const auto& [kind, value] :
       {std::pair(NID_basic_constraints, may_sign ? "critical,CA:TRUE" : "critical,CA:FALSE"),
        std::pair(NID_key_usage,
                  may_sign ? "critical,keyCertSign,digitalSignature" : "critical,digitalSignature"),
        std::pair(NID_subject_key_identifier, "hash"),
        std::pair(NID_subject_alt_name, "DNS:localhost")}) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &extending, kind, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(certificate, key, EVP_sha256());
  SSL_CTX_use_certificate(context.get(), certificate);
  SSL_CTX_use_PrivateKey(context.get(), key);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return context;
}

// The result of verification by a client that trusts the server's own certificate and expects
// "localhost".
std::string Verdict(SSL_CTX& own, CertificateFlaw flaw, unsigned long flags = 0) {
  const ContextPtr flawed = NewContext();
  const auto made = UseFlawedCertificate(*flawed, own, flaw);
  EXPECT_TRUE(made.ok());
  EXPECT_EQ(SSL_CTX_check_private_key(flawed.get()), 1);
  X509_STORE* const store = X509_STORE_new();
  X509_STORE_add_cert(store, SSL_CTX_get0_certificate(&own));
  X509_STORE_CTX* const check = X509_STORE_CTX_new();
  X509_STORE_CTX_init(check, store, SSL_CTX_get0_certificate(flawed.get()), nullptr);
  X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(check), "localhost", 0);
  X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(check), flags);
  X509_STORE_CTX_set_purpose(check, X509_PURPOSE_SSL_SERVER);
  const bool accepted = X509_verify_cert(check) == 1;
  const std::string verdict =
      accepted ? "accepted" : X509_verify_cert_error_string(X509_STORE_CTX_get_error(check));
  X509_STORE_CTX_free(check);
  X509_STORE_free(store);
  return verdict;
}

TEST(FlawedCertificatesTest, EachHasOnlyItsFlaw) {
  for (const char* type : {"EC", "RSA"}) {
    const ContextPtr own = OwnContext(true, type);
    for (const unsigned long flags : {0UL, static_cast<unsigned long>(X509_V_FLAG_X509_STRICT)}) {
      EXPECT_EQ(Verdict(*own, CertificateFlaw::kExpired, flags), "certificate has expired");
      EXPECT_EQ(Verdict(*own, CertificateFlaw::kNotYetValid, flags),
                "certificate is not yet valid");
      EXPECT_EQ(Verdict(*own, CertificateFlaw::kWrongHost, flags), "hostname mismatch");
      EXPECT_EQ(Verdict(*own, CertificateFlaw::kSelfSigned, flags), "self-signed certificate");
      EXPECT_EQ(Verdict(*own, CertificateFlaw::kUnknownAuthority, flags),
                "unable to get local issuer certificate");
    }
  }
}

TEST(FlawedCertificatesTest, IsAcceptedApartFromTheFlaw) {
  const ContextPtr own = OwnContext(true);
  EXPECT_EQ(Verdict(*own, CertificateFlaw::kExpired, X509_V_FLAG_NO_CHECK_TIME), "accepted");
  EXPECT_EQ(Verdict(*own, CertificateFlaw::kNotYetValid, X509_V_FLAG_NO_CHECK_TIME), "accepted");
}

TEST(FlawedCertificatesTest, ReportsCertificatesThatMayNotSign) {
  EXPECT_TRUE(MaySign(*OwnContext(true)));
  const ContextPtr own = OwnContext(false);
  EXPECT_FALSE(MaySign(*own));
  EXPECT_EQ(Verdict(*own, CertificateFlaw::kSelfSigned), "self-signed certificate");
  EXPECT_EQ(Verdict(*own, CertificateFlaw::kUnknownAuthority),
            "unable to get local issuer certificate");
}

}  // namespace
}  // namespace penstock::emulator::http
