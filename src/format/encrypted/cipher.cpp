// SPDX-License-Identifier: Apache-2.0
#include "format/encrypted/cipher.h"

#include <dlfcn.h>

#include <algorithm>

#include "base/symbol.h"

namespace rk::format {
namespace {

// Constants of libcrypto's stable interface.
constexpr int kCtrlSetNonceBytes = 0x9, kCtrlGetTag = 0x10, kCtrlSetTag = 0x11;
// Lengths are ints there.
constexpr size_t kPiece = size_t{1} << 30;

struct Context;
struct CipherType;
struct Engine;

struct Libcrypto {
  int (*random)(uint8_t* out, int bytes);
  int (*scrypt)(const char* secret, size_t secret_bytes, const uint8_t* salt, size_t salt_bytes,
                uint64_t n, uint64_t r, uint64_t p, uint64_t max_bytes, uint8_t* out,
                size_t out_bytes);
  const CipherType* (*aes_256_gcm)();
  Context* (*make)();
  void (*free)(Context*);
  int (*init)(Context*, const CipherType*, Engine*, const uint8_t* key, const uint8_t* nonce,
              int encrypt);
  int (*control)(Context*, int what, int bytes, void* data);
  int (*update)(Context*, uint8_t* out, int* written, const uint8_t* in, int bytes);
  int (*finish)(Context*, uint8_t* out, int* written);
};

bool find_all(void* library, Libcrypto& out) {
  return find_symbol(library, "RAND_bytes", out.random) &&
         find_symbol(library, "EVP_PBE_scrypt", out.scrypt) &&
         find_symbol(library, "EVP_aes_256_gcm", out.aes_256_gcm) &&
         find_symbol(library, "EVP_CIPHER_CTX_new", out.make) &&
         find_symbol(library, "EVP_CIPHER_CTX_free", out.free) &&
         find_symbol(library, "EVP_CipherInit_ex", out.init) &&
         find_symbol(library, "EVP_CIPHER_CTX_ctrl", out.control) &&
         find_symbol(library, "EVP_CipherUpdate", out.update) &&
         find_symbol(library, "EVP_CipherFinal_ex", out.finish);
}

Result<const Libcrypto*> libcrypto() {
  struct Loaded {
    Libcrypto functions{};
    bool found = false;
  };
  static const Loaded loaded = [] {
    Loaded out;
    for (const char* const name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
      void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) continue;
      out.found = find_all(library, out.functions);
      if (out.found) break;
      dlclose(library);
    }
    return out;
  }();
  if (!loaded.found) {
    return Status(
        Code::kUnavailable,
        "encrypted models need OpenSSL's libcrypto.so.3 or libcrypto.so.1.1, which is not "
        "installed (Debian package libssl3)");
  }
  return &loaded.functions;
}

Status failed(const char* what) {
  return Status(Code::kUnavailable, str("libcrypto failed at ", what));
}

// One AES-256-GCM run in either direction, up to the tag.
class GcmRun {
 public:
  explicit GcmRun(const Libcrypto& lib) : lib_(lib), context_(lib.make()) {}
  ~GcmRun() {
    if (context_ != nullptr) lib_.free(context_);
  }
  GcmRun(const GcmRun&) = delete;
  GcmRun& operator=(const GcmRun&) = delete;

  Status start(const GcmInput& input, bool encrypt) {
    const int direction = encrypt ? 1 : 0;
    if (context_ == nullptr) return out_of_memory("no memory for a cipher context");
    if (input.nonce.size() != kNonceBytes) return failed("the nonce");
    const bool ok =
        lib_.init(context_, lib_.aes_256_gcm(), nullptr, nullptr, nullptr, direction) == 1 &&
        lib_.control(context_, kCtrlSetNonceBytes, static_cast<int>(kNonceBytes), nullptr) == 1 &&
        lib_.init(context_, nullptr, nullptr, input.key.data(), input.nonce.data(), direction) == 1;
    if (!ok) return failed("EVP_CipherInit_ex");
    return add(input.associated, nullptr);
  }

  Status add(ByteSpan in, uint8_t* out) {
    for (size_t at = 0; at < in.size(); at += kPiece) {
      const auto bytes = static_cast<int>(std::min(kPiece, in.size() - at));
      int written = 0;
      if (lib_.update(context_, out == nullptr ? nullptr : out + at, &written, in.data() + at,
                      bytes) != 1)
        return failed("EVP_CipherUpdate");
    }
    return ok_status();
  }

  bool finish() {
    uint8_t none[kTagBytes];
    int written = 0;
    return lib_.finish(context_, none, &written) == 1;
  }
  bool control(int what, uint8_t* data, size_t bytes) {
    return lib_.control(context_, what, static_cast<int>(bytes), data) == 1;
  }

 private:
  const Libcrypto& lib_;
  Context* context_;
};

}  // namespace

Status scrypt(ByteSpan secret, ByteSpan salt, const ScryptCost& cost, std::span<uint8_t> out) {
  RK_ASSIGN(const Libcrypto* const lib, libcrypto());
  // What RFC 7914's algorithm holds, and a little for libcrypto's own buffers.
  const uint64_t max_bytes = 128 * cost.r * (cost.n + cost.p) + (uint64_t{1} << 20);
  if (lib->scrypt(reinterpret_cast<const char*>(secret.data()), secret.size(), salt.data(),
                  salt.size(), cost.n, cost.r, cost.p, max_bytes, out.data(), out.size()) != 1)
    return failed("EVP_PBE_scrypt");
  return ok_status();
}

Status random_bytes(std::span<uint8_t> out) {
  RK_ASSIGN(const Libcrypto* const lib, libcrypto());
  if (lib->random(out.data(), static_cast<int>(out.size())) != 1) return failed("RAND_bytes");
  return ok_status();
}

Status gcm_seal(const GcmInput& input, ByteSpan plain, std::span<uint8_t> out,
                std::span<uint8_t> tag) {
  RK_ASSIGN(const Libcrypto* const lib, libcrypto());
  GcmRun run(*lib);
  RK_TRY(run.start(input, true));
  RK_TRY(run.add(plain, out.data()));
  if (!run.finish() || !run.control(kCtrlGetTag, tag.data(), kTagBytes)) return failed("the tag");
  return ok_status();
}

Result<bool> gcm_open(const GcmInput& input, ByteSpan sealed, ByteSpan tag,
                      std::span<uint8_t> out) {
  RK_ASSIGN(const Libcrypto* const lib, libcrypto());
  GcmRun run(*lib);
  RK_TRY(run.start(input, false));
  RK_TRY(run.add(sealed, out.data()));
  std::array<uint8_t, kTagBytes> expected{};
  std::copy_n(tag.begin(), kTagBytes, expected.begin());
  if (!run.control(kCtrlSetTag, expected.data(), kTagBytes)) return failed("the tag");
  return run.finish();
}

}  // namespace rk::format
