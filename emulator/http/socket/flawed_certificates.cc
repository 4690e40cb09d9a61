#include "emulator/http/socket/flawed_certificates.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>

namespace penstock::emulator::http {
namespace {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* thing) const {
    free(thing);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Free<X509_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;

constexpr long kDay = 86'400;
constexpr const char* kWrongHost = "wrong-host.invalid";  // reserved by RFC 6761

// The issuer: a name, a key, and its certificate if available.
struct Signer {
  const X509_NAME* name;
  EVP_PKEY* key;
  X509* certificate;
};

bool AddName(X509_NAME* name, const char* field, const char* value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_ASC,
                                    reinterpret_cast<const unsigned char*>(value), -1, -1, 0) == 1;
}

bool AddExtension(X509* certificate, X509* signer, int kind, const char* value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, signer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetValidity(X509* certificate, CertificateFlaw flaw) {
  long from = -kDay;
  if (flaw == CertificateFlaw::kExpired) from = -2 * kDay;
  if (flaw == CertificateFlaw::kNotYetValid) from = kDay;
  const long to = flaw == CertificateFlaw::kExpired ? -kDay : 365 * kDay;
  return X509_gmtime_adj(X509_getm_notBefore(certificate), from) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), to) != nullptr;
}

// Uses a name other than `own`'s, which may be the issuer's, but with the same common name. Without
// a subject alternative name, the common name is the host.
bool SetNames(X509* certificate, X509* own, CertificateFlaw flaw) {
  X509_NAME* const subject = X509_get_subject_name(certificate);
  if (flaw == CertificateFlaw::kWrongHost) {
    return AddName(subject, "CN", kWrongHost) &&
           AddExtension(certificate, nullptr, NID_subject_alt_name, "DNS:wrong-host.invalid");
  }
  if (X509_set_subject_name(certificate, X509_get_subject_name(own)) != 1) return false;
  if (!AddName(X509_get_subject_name(certificate), "OU", "penstock-emulator fault")) return false;
  const int place = X509_get_ext_by_NID(own, NID_subject_alt_name, -1);
  return place < 0 || X509_add_ext(certificate, X509_get_ext(own, place), -1) == 1;
}

bool SetSerialNumber(X509* certificate) {
  std::uint64_t number = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof number) != 1) return false;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), (number >> 1) + 1) == 1;
}

// EdDSA signatures include the digest.
const EVP_MD* DigestFor(EVP_PKEY* key) {
  return EVP_PKEY_is_a(key, "ED25519") || EVP_PKEY_is_a(key, "ED448") ? nullptr : EVP_sha256();
}

bool Fill(X509* certificate, EVP_PKEY* key, X509* own, const Signer& signer, CertificateFlaw flaw) {
  constexpr long kVersion3 = 2;
  if (X509_set_version(certificate, kVersion3) != 1 || !SetSerialNumber(certificate) ||
      !SetValidity(certificate, flaw))
    return false;
  if (X509_set_pubkey(certificate, key) != 1 || !SetNames(certificate, own, flaw)) return false;
  const X509_NAME* const issuer =
      signer.name != nullptr ? signer.name : X509_get_subject_name(certificate);
  if (X509_set_issuer_name(certificate, issuer) != 1) return false;
  if (!AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:FALSE"))
    return false;
  if (!AddExtension(certificate, certificate, NID_subject_key_identifier, "hash")) return false;
  // Only if the issuer has a key identifier.
  if (signer.certificate != nullptr && X509_get0_subject_key_id(signer.certificate) != nullptr &&
      !AddExtension(certificate, signer.certificate, NID_authority_key_identifier, "keyid")) {
    return false;
  }
  return X509_sign(certificate, signer.key, DigestFor(signer.key)) > 0;
}

struct Made {
  KeyPtr key;
  CertificatePtr certificate;
};

bool Make(Made& made, X509* own, EVP_PKEY* own_key, CertificateFlaw flaw) {
  made.key.reset(EVP_EC_gen("P-256"));
  made.certificate.reset(X509_new());
  if (!made.key || !made.certificate) return false;
  switch (flaw) {
    case CertificateFlaw::kSelfSigned:
      return Fill(made.certificate.get(), made.key.get(), own, {nullptr, made.key.get(), nullptr},
                  flaw);
    case CertificateFlaw::kUnknownAuthority: {
      const KeyPtr key(EVP_EC_gen("P-256"));
      const std::unique_ptr<X509_NAME, Free<X509_NAME_free>> name(X509_NAME_new());
      if (!key || !name || !AddName(name.get(), "CN", "penstock-emulator unknown authority"))
        return false;
      return Fill(made.certificate.get(), made.key.get(), own, {name.get(), key.get(), nullptr},
                  flaw);
    }
    default:
      return Fill(made.certificate.get(), made.key.get(), own,
                  {X509_get_subject_name(own), own_key, own}, flaw);
  }
}

// Adds the issuer chain of the new certificate, as far as `own` has it.
bool AddChain(SSL_CTX* into, const SSL_CTX* own) {
  if (SSL_CTX_add1_chain_cert(into, SSL_CTX_get0_certificate(own)) != 1) return false;
  STACK_OF(X509)* above = nullptr;
  // The macro only reads `own` but does not accept const.
  SSL_CTX_get0_chain_certs(const_cast<SSL_CTX*>(own), &above);
  for (int i = 0; i < sk_X509_num(above); ++i) {
    if (SSL_CTX_add1_chain_cert(into, sk_X509_value(above, i)) != 1) return false;
  }
  return true;
}

}  // namespace

bool MaySign(const ssl_ctx_st& own) { return X509_check_ca(SSL_CTX_get0_certificate(&own)) > 0; }

Result<void> UseFlawedCertificate(ssl_ctx_st& into, const ssl_ctx_st& own, CertificateFlaw flaw) {
  ERR_clear_error();
  Made made;
  const bool of_own =
      flaw != CertificateFlaw::kSelfSigned && flaw != CertificateFlaw::kUnknownAuthority;
  const bool done =
      Make(made, SSL_CTX_get0_certificate(&own), SSL_CTX_get0_privatekey(&own), flaw) &&
      SSL_CTX_use_certificate(&into, made.certificate.get()) == 1 &&
      SSL_CTX_use_PrivateKey(&into, made.key.get()) == 1 && (!of_own || AddChain(&into, &own));
  ERR_clear_error();
  if (!done) return Error::Make(ErrorKind::kInternal, "OpenSSL cannot make a certificate");
  return Ok();
}

}  // namespace penstock::emulator::http
