#include "emulator/http/socket/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "emulator/http/socket/flawed_certificates.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::http {
namespace {

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using SslPtr = std::unique_ptr<SSL, FreeSsl>;
using SslContextPtr = std::unique_ptr<SSL_CTX, FreeContext>;

// Small pieces are combined up to one TLS record, so that a head and its small body cost one write.
constexpr std::size_t kRecordBytes = 16 << 10;
constexpr std::size_t kFileStepBytes = 256 << 10;

class OpenSslStream final : public TlsStream {
 public:
  OpenSslStream(int fd, SslPtr ssl) : TlsStream(fd), ssl_(std::move(ssl)) {}

  ~OpenSslStream() override {
    if (usable_ && !ended_) SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }

  bool tls() const override { return true; }
  std::string_view tls_version() const override {
    constexpr std::string_view kPrefix = "TLSv";
    const std::string_view name = SSL_get_version(ssl_.get());  // static text: "TLSv1.3"
    return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  }

  IoStatus Handshake() override {
    ERR_clear_error();
    const int done = SSL_accept(ssl_.get());
    usable_ = done == 1;
    return usable_ ? IoStatus::kOk : Classify(done);
  }

  bool waits_for_room() const override { return events_ == POLLOUT; }

  IoResult TryRead(MutableByteView into) override {
    ERR_clear_error();
    std::size_t got = 0;
    const int done = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
    if (done == 1) return {IoStatus::kOk, got};
    return {Classify(done), 0};
  }

  IoResult Write(std::span<const ByteView> pieces, More /*more*/,
                 std::chrono::milliseconds timeout) override {
    IoResult total;
    gathered_.clear();
    for (const ByteView piece : pieces) {
      if (gathered_.size() + piece.size() <= kRecordBytes) {
        gathered_.insert(gathered_.end(), piece.begin(), piece.end());
        continue;
      }
      if (!WriteAll(gathered_, timeout, total)) return total;
      gathered_.clear();
      if (!WriteAll(piece, timeout, total)) return total;
    }
    WriteAll(gathered_, timeout, total);
    return total;
  }

  IoResult SendFile(int file, std::uint64_t offset, std::uint64_t count) override {
    IoResult total;
    std::vector<std::byte> buffer(std::min<std::uint64_t>(count, kFileStepBytes));
    while (total.bytes < count) {
      const std::size_t step = std::min<std::uint64_t>(count - total.bytes, buffer.size());
      const ssize_t got =
          ::pread(file, buffer.data(), step, static_cast<off_t>(offset + total.bytes));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        total.status = IoStatus::kBroken;
        return total;
      }
      if (!WriteAll(ByteView(buffer).first(static_cast<std::size_t>(got)),
                    std::chrono::milliseconds(0), total))
        return total;
    }
    return total;
  }

  void EndWriting() override {
    if (usable_ && !ended_) SSL_shutdown(ssl_.get());
    ended_ = true;
    Stream::EndWriting();
  }

 protected:
  short read_events() const override { return events_; }

 private:
  bool WriteAll(ByteView bytes, std::chrono::milliseconds timeout, IoResult& total) {
    while (!bytes.empty()) {
      ERR_clear_error();
      std::size_t sent = 0;
      const int done = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
      if (done == 1) {
        total.bytes += sent;
        bytes = bytes.subspan(sent);
        continue;
      }
      total.status = Classify(done);
      if (total.status == IoStatus::kWouldBlock) total.status = Wait(events_, timeout);
      if (total.status != IoStatus::kOk) {
        if (total.status == IoStatus::kEnd) total.status = IoStatus::kBroken;
        return false;
      }
    }
    return true;
  }

  IoStatus Classify(int done) {
    switch (SSL_get_error(ssl_.get(), done)) {
      case SSL_ERROR_WANT_READ: events_ = POLLIN; return IoStatus::kWouldBlock;
      case SSL_ERROR_WANT_WRITE: events_ = POLLOUT; return IoStatus::kWouldBlock;
      case SSL_ERROR_ZERO_RETURN: return IoStatus::kEnd;
      default:
        usable_ = false;  // OpenSSL forbids SSL_shutdown after a fatal error
        return IoStatus::kBroken;
    }
  }

  SslPtr ssl_;
  std::vector<std::byte> gathered_;
  short events_ = POLLIN;
  bool usable_ = false;
  bool ended_ = false;
};

// Returns null when OpenSSL is out of memory. The context has no certificate yet.
SslContextPtr NewContext() {
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return nullptr;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                         SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  return context;
}

class OpenSslContext final : public TlsContext {
 public:
  explicit OpenSslContext(SslContextPtr context)
      : context_(std::move(context)), may_sign_(MaySign(*context_)) {}

  bool may_sign() const override { return may_sign_; }

  std::unique_ptr<TlsStream> Accept(int fd, CertificateFlaw flaw) override {
    SSL_CTX* const context = flaw == CertificateFlaw::kNone ? context_.get() : Flawed(flaw);
    ERR_clear_error();
    SslPtr ssl(context != nullptr ? SSL_new(context) : nullptr);
    if (ssl == nullptr || SSL_set_fd(ssl.get(), fd) != 1) {
      ::close(fd);
      return nullptr;
    }
    SSL_set_accept_state(ssl.get());
    return std::make_unique<OpenSslStream>(fd, std::move(ssl));
  }

 private:
  // Flawed contexts must not resume sessions: a resumed session shows no certificate.
  SSL_CTX* Flawed(CertificateFlaw flaw) {
    const MutexLock lock(mutex_);
    SslContextPtr& flawed = flawed_[flaw];
    if (flawed == nullptr) {
      SslContextPtr made = NewContext();
      if (made == nullptr || !UseFlawedCertificate(*made, *context_, flaw).ok()) return nullptr;
      SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
      SSL_CTX_set_num_tickets(made.get(), 0);
      flawed = std::move(made);
    }
    return flawed.get();
  }

  const SslContextPtr context_;
  const bool may_sign_;
  Mutex mutex_;
  // Entries are never removed.
  std::map<CertificateFlaw, SslContextPtr> flawed_ PENSTOCK_GUARDED_BY(mutex_);
};

constexpr char kCertificateFile[] = "The TLS certificate file";
constexpr char kKeyFile[] = "The TLS key file";

Error Unusable(const char* what, const std::string& path, const std::string& problem) {
  ERR_clear_error();
  return Error::Make(ErrorKind::kInvalidArgument, std::string(what) + " '" + path + "' " + problem);
}

Error UnusableForOpenSsl(const char* what, const std::string& path) {
  std::array<char, 256> reason{};
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  return Unusable(what, path,
                  std::string("cannot be used (") + reason.data() +
                      "): give readable PEM files of one key pair");
}

// Reading a FIFO or a terminal could block, and devices have no end. OpenSSL reports missing files.
Result<void> CheckRegular(const char* what, const std::string& path) {
  struct stat state {};
  if (::stat(path.c_str(), &state) != 0 || S_ISREG(state.st_mode)) return Ok();
  return Unusable(what, path, "is not a regular file; name a PEM file");
}

// Called by OpenSSL, which would otherwise ask on the terminal.
int RefusePassPhrase(char*, int, int, void* is_encrypted) {
  *static_cast<bool*>(is_encrypted) = true;
  return -1;
}

Result<void> UseKeyPair(SSL_CTX* context, const std::string& certificate_path,
                        const std::string& key_path) {
  PENSTOCK_TRY(CheckRegular(kCertificateFile, certificate_path));
  PENSTOCK_TRY(CheckRegular(kKeyFile, key_path));
  bool is_encrypted = false;  // set by these two calls
  SSL_CTX_set_default_passwd_cb(context, RefusePassPhrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &is_encrypted);
  const bool has_certificate =
      SSL_CTX_use_certificate_chain_file(context, certificate_path.c_str()) == 1;
  const bool has_key = has_certificate && SSL_CTX_use_PrivateKey_file(context, key_path.c_str(),
                                                                      SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb(context, nullptr);
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (is_encrypted) {
    return Unusable(has_certificate ? kKeyFile : kCertificateFile,
                    has_certificate ? key_path : certificate_path,
                    "is encrypted, and the emulator asks for no pass phrase; decrypt it (openssl "
                    "pkey -in ENCRYPTED -out DECRYPTED) and name the decrypted file");
  }
  if (!has_certificate) return UnusableForOpenSsl(kCertificateFile, certificate_path);
  if (!has_key || SSL_CTX_check_private_key(context) != 1)
    return UnusableForOpenSsl(kKeyFile, key_path);
  return Ok();
}

}  // namespace

Result<std::unique_ptr<TlsContext>> TlsContext::Create(const std::string& certificate_path,
                                                       const std::string& key_path) {
  ERR_clear_error();
  SslContextPtr context = NewContext();
  if (context == nullptr)
    return Error::Make(ErrorKind::kResourceExhausted, "OpenSSL cannot create a TLS context");
  PENSTOCK_TRY(UseKeyPair(context.get(), certificate_path, key_path));
  return std::unique_ptr<TlsContext>(std::make_unique<OpenSslContext>(std::move(context)));
}

}  // namespace penstock::emulator::http
