// SPDX-License-Identifier: Apache-2.0
// Known answers come from RFC 7914 (scrypt) and from the GCM specification of McGrew and Viega (test cases 13 to 16).
#include "format/encrypted/encrypted_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "base/file.h"
#include "format/container.h"
#include "format/encrypted/cipher.h"

namespace rk::format {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> hex(std::string_view text) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<uint8_t>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return out;
}

ByteSpan text_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(Scrypt, AgreesWithTheRfc) {
  std::vector<uint8_t> out(64);
  ASSERT_TRUE(
      scrypt(text_bytes("password"), text_bytes("NaCl"), {.n = 1024, .r = 8, .p = 16}, out).ok());
  EXPECT_EQ(out, hex("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                     "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"));
  ASSERT_TRUE(
      scrypt(text_bytes("pleaseletmein"), text_bytes("SodiumChloride"), {.n = 16384}, out).ok());
  EXPECT_EQ(out, hex("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                     "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"));
}

struct GcmCase {
  std::string_view key, nonce, associated, plain, sealed, tag;
};

constexpr GcmCase kGcmCases[] = {
    {"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000",
     "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000",
     "", "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18",
     "d0d1c8a799996bf0265b98b5d48ab919"},
    {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b"
     "5"
     "25b16aedf5aa0de657ba637b39",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828"
     "838"
     "c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
};

TEST(Gcm, AgreesWithTheSpecification) {
  for (const GcmCase& c : kGcmCases) {
    CipherKey key{};
    std::ranges::copy(hex(c.key), key.begin());
    const auto nonce = hex(c.nonce), associated = hex(c.associated), plain = hex(c.plain);
    std::vector<uint8_t> sealed(plain.size()), tag(kTagBytes), opened(plain.size());
    ASSERT_TRUE(gcm_seal({key, nonce, associated}, plain, sealed, tag).ok());
    EXPECT_EQ(sealed, hex(c.sealed));
    EXPECT_EQ(tag, hex(c.tag));
    EXPECT_TRUE(*gcm_open({key, nonce, associated}, sealed, tag, opened));
    EXPECT_EQ(opened, plain);
    tag[3] ^= 1;
    EXPECT_FALSE(*gcm_open({key, nonce, associated}, sealed, tag, opened));
  }
}

std::vector<uint8_t> sample(size_t bytes) {
  std::vector<uint8_t> out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
  return out;
}

ModelKeys phrase(std::string text) { return {std::move(text), std::nullopt}; }

TEST(EncryptedModel, OpensWithItsKeyAtEveryLevel) {
  const std::string path = testing::TempDir() + "encrypted_model_test.key";
  ASSERT_TRUE(write_file(path, sample(64)).ok());
  const auto plain = sample(5000);
  for (int level = 1; level <= 3; ++level) {
    for (const ModelKeys& keys : {ModelKeys{}, phrase("a phrase"), ModelKeys{std::nullopt, path}}) {
      const auto file = encrypt_model(plain, level, keys);
      ASSERT_TRUE(file.ok()) << file.status().message();
      EXPECT_TRUE(is_encrypted(*file));
      const auto info = describe_encrypted(*file);
      ASSERT_TRUE(info.ok());
      EXPECT_EQ(info->level, level);
      EXPECT_EQ(info->plain_bytes, plain.size());
      const auto back = decrypt_model(*file, keys);
      ASSERT_TRUE(back.ok()) << back.status().message();
      EXPECT_EQ(*back, plain);
    }
  }
  std::remove(path.c_str());
}

TEST(EncryptedModel, ShowsNothingOfTheFileAndIsNeverTheSameTwice) {
  auto plain = sample(4096);
  constexpr std::string_view kName = "a_layer_with_a_name";
  std::ranges::copy(kName, plain.begin() + 100);
  const auto a = encrypt_model(plain, 1, {}), b = encrypt_model(plain, 1, {});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(std::ranges::search(*a, kName).size(), 0u);
  // No eight bytes of the plain file are left where they were.
  for (size_t i = 0; i + 8 <= plain.size(); ++i)
    EXPECT_FALSE(std::equal(plain.begin() + static_cast<ptrdiff_t>(i),
                            plain.begin() + static_cast<ptrdiff_t>(i + 8),
                            a->begin() + static_cast<ptrdiff_t>(96 + i)));
  EXPECT_NE(*a, *b);
}

TEST(EncryptedModel, AMissingOrWrongKeyIsNamed) {
  const auto file = encrypt_model(sample(100), 1, phrase("right"));
  ASSERT_TRUE(file.ok());
  const auto missing = decrypt_model(*file, {});
  EXPECT_EQ(missing.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(missing.status().message(), HasSubstr("RKNN_MODEL_PASSPHRASE"));
  const auto wrong = decrypt_model(*file, phrase("wrong"));
  EXPECT_EQ(wrong.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(wrong.status().message(), HasSubstr("passphrase is not the one"));
  EXPECT_FALSE(decrypt_model(*file, phrase("")).ok());
  EXPECT_FALSE(encrypt_model(sample(9), 1, {"both", "files"}).ok());
  EXPECT_FALSE(encrypt_model(sample(9), 0, {}).ok());
  EXPECT_FALSE(encrypt_model(sample(9), 4, {}).ok());
  EXPECT_FALSE(encrypt_model(*file, 1, {}).ok());
}

TEST(EncryptedModel, EveryChangedBitAndEveryLengthIsRefused) {
  const auto plain = sample(64);
  const auto file = encrypt_model(plain, 1, {});
  ASSERT_TRUE(file.ok());
  for (size_t bit = 0; bit < file->size() * 8; ++bit) {
    auto damaged = *file;
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(decrypt_model(damaged, {}).ok()) << "bit " << bit;
  }
  for (size_t size = 0; size < file->size(); ++size)
    EXPECT_FALSE(decrypt_model(ByteSpan(*file).first(size), {}).ok()) << size << " bytes";
}

TEST(EncryptedModel, AVendorsFileAndALookInsideAreRefusedInWords) {
  const auto vendor = describe_encrypted(text_bytes("CYPTRKNN and the rest"));
  EXPECT_EQ(vendor.status().code(), Code::kUnsupported);
  EXPECT_THAT(vendor.status().message(), HasSubstr("vendor"));
  const auto file = encrypt_model(sample(100), 1, {});
  ASSERT_TRUE(file.ok());
  const auto container = split_container(*file);
  EXPECT_THAT(container.status().message(), HasSubstr("not looked into"));
}

}  // namespace
}  // namespace rk::format
