// SPDX-License-Identifier: Apache-2.0
// File images are spelled out as numpy wrote them; nothing here is produced by the writer under
// test except where the writer is the subject.
#include "base/npy.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace rk {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes image(int major, std::string header, const Bytes& data) {
  Bytes out = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<uint8_t>(major), 0};
  const size_t size = header.size();
  out.push_back(static_cast<uint8_t>(size & 255));
  out.push_back(static_cast<uint8_t>(size >> 8));
  if (major > 1) out.insert(out.end(), {0, 0});
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

std::string header(std::string descr, std::string order, std::string shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }  \n";
}

std::string error_of(const Bytes& file) {
  const auto array = decode_npy(file, "x.npy");
  return array.ok() ? "no error" : array.status().message();
}

TEST(NpyTest, ReadsAllThreeVersions) {
  for (const int major : {1, 2, 3}) {
    const auto array =
        decode_npy(image(major, header("<u2", "False", "(2, 1)"), {1, 2, 3, 4}), "x.npy");
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->kind, 'u');
    EXPECT_EQ(array->item_size, 2);
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(array->bytes, (Bytes{1, 2, 3, 4}));
  }
}

TEST(NpyTest, ReadsEveryDtypeItPromises) {
  for (const std::string descr :
       {"<f2", "<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "|b1"}) {
    const auto size = static_cast<size_t>(descr[2] - '0');
    const auto array =
        decode_npy(image(1, header(descr, "False", "(1,)"), Bytes(size, 1)), "x.npy");
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->kind, descr[1]);
    EXPECT_EQ(array->item_size, descr[2] - '0');
  }
}

TEST(NpyTest, BigEndianIsTurned) {
  const auto array = decode_npy(
      image(1, header(">i4", "False", "(2,)"), {0, 0, 1, 2, 0xff, 0xff, 0xff, 0xfe}), "x.npy");
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(load<int32_t>(array->bytes.data()), 258);
  EXPECT_EQ(load<int32_t>(array->bytes.data() + 4), -2);
}

TEST(NpyTest, FortranOrderIsTurnedToC) {
  // numpy.asfortranarray([[1, 2, 3], [4, 5, 6]])
  const auto flat =
      decode_npy(image(1, header("|u1", "True", "(2, 3)"), {1, 4, 2, 5, 3, 6}), "x.npy");
  ASSERT_TRUE(flat.ok());
  EXPECT_EQ(flat->bytes, (Bytes{1, 2, 3, 4, 5, 6}));
  // value = 100 * i + 10 * j + k of shape (2, 2, 3), first index fastest, two bytes each,
  // big-endian
  const auto cube = decode_npy(
      image(1, header(">u2", "True", "(2, 2, 3)"), {0, 0,  0, 100, 0, 10, 0, 110, 0, 1,  0, 101,
                                                    0, 11, 0, 111, 0, 2,  0, 102, 0, 12, 0, 112}),
      "x.npy");
  ASSERT_TRUE(cube.ok());
  EXPECT_EQ(cube->bytes, (Bytes{0,   0, 1,   0, 2,   0, 10,  0, 11,  0, 12,  0,
                                100, 0, 101, 0, 102, 0, 110, 0, 111, 0, 112, 0}));
}

TEST(NpyTest, ReadsScalarsEmptyArraysAndBools) {
  const auto scalar = decode_npy(image(1, header("<f4", "False", "()"), {0, 0, 128, 63}), "x.npy");
  ASSERT_TRUE(scalar.ok());
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(load<float>(scalar->bytes.data()), 1.0f);
  const auto empty = decode_npy(image(1, header("<f4", "True", "(3, 0, 2)"), {}), "x.npy");
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->bytes.empty());
  const auto flags = decode_npy(image(1, header("|b1", "False", "(3,)"), {0, 1, 7}), "x.npy");
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->bytes, (Bytes{0, 1, 1}));
}

TEST(NpyTest, AcceptsAnyOrderOfKeysAndPythonTwoLongs) {
  const auto array = decode_npy(
      image(1, "{\"shape\":(2L,),'fortran_order':False,\"descr\":\"|i1\"}", {5, 6}), "x.npy");
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2}));
}

TEST(NpyTest, WritesWhatNumpyWrites) {
  NpyArray array{'f', 4, {2, 1}, {0, 0, 128, 63, 0, 0, 0, 64}};
  const auto file = encode_npy(array);
  ASSERT_TRUE(file.ok());
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
  text.resize(117, ' ');
  EXPECT_EQ(*file, image(1, text + "\n", array.bytes));
  EXPECT_EQ(file->size(), 128u + 8u);
  // A header that ends just below 128 bytes: the room numpy keeps for the first extent moves it to
  // 192.
  NpyArray deep{'u', 1, {1, 100, 100, 100, 100, 100, 100, 100, 0}, {}};
  EXPECT_EQ(encode_npy(deep)->size(), 128u);
  deep.shape.insert(deep.shape.begin() + 1, 100);
  EXPECT_EQ(encode_npy(deep)->size(), 192u);
}

TEST(NpyTest, FilesComeBackAsWritten) {
  const std::string path = testing::TempDir() + "rk_npy_test.npy";
  for (const NpyArray& array :
       {NpyArray{'i', 8, {}, Bytes(8, 0xfe)}, NpyArray{'b', 1, {3}, {0, 1, 1}},
        NpyArray{'f', 2, {1, 3, 1}, {1, 2, 3, 4, 5, 6}}}) {
    ASSERT_TRUE(write_npy(path, array).ok());
    const auto read = read_npy(path);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->kind, array.kind);
    EXPECT_EQ(read->item_size, array.item_size);
    EXPECT_EQ(read->shape, array.shape);
    EXPECT_EQ(read->bytes, array.bytes);
  }
  std::remove(path.c_str());
}

TEST(NpyTest, RefusesToWriteBytesThatDoNotMatchTheShape) {
  EXPECT_FALSE(encode_npy({'f', 4, {2}, Bytes(7)}).ok());
  EXPECT_FALSE(encode_npy({'f', 4, {-1}, {}}).ok());
  EXPECT_FALSE(encode_npy({'c', 8, {1}, Bytes(8)}).ok());
  EXPECT_FALSE(encode_npy({'u', 1, std::vector<int64_t>(33, 1), Bytes(1)}).ok());
}

TEST(NpyTest, ErrorsNameTheFileWhatWasFoundAndWhatWasExpected) {
  EXPECT_EQ(error_of({'P', 'K', 3, 4}),
            "'x.npy': not an .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(error_of(image(4, "{}", {})), "'x.npy': .npy version 4.0; 1.0 to 3.0 expected");
  EXPECT_EQ(error_of(image(1, header("<f4", "False", "(2, 3)"), Bytes(20))),
            "'x.npy': the header's shape needs 24 bytes of data, the file holds 20");
  EXPECT_EQ(error_of(image(1, header("<f4", "False", "(2, 3)"), Bytes(28))),
            "'x.npy': the header's shape needs 24 bytes of data, the file holds 28");
  EXPECT_EQ(
      error_of(image(1, header("<c8", "False", "(1,)"), Bytes(8))),
      "'x.npy': dtype '<c8'; expected float16/32/64, int8..int64, uint8..uint64 or bool: convert "
      "with .astype() before saving");
  EXPECT_EQ(error_of(image(1, "{'descr': [('a', '<f4')], 'shape': (1,)}", {})),
            "'x.npy': structured dtypes are not supported; save plain arrays");
  EXPECT_EQ(error_of(image(1, "{'descr': '<f4', 'descr': '<f4'}", {})),
            "'x.npy': header: unexpected or repeated key 'descr'");
  EXPECT_EQ(read_npy("/nowhere/x.npy").status().code(), Code::kIo);
}

TEST(NpyTest, RefusesHostileHeaders) {
  for (const std::string shape :
       {"(-1,)", "(9223372036854775808,)", "(4294967296, 4294967296, 4294967296)", "(1 2)", "(1,",
        "1", "(,)", "(1.0,)", "('1',)", "(4611686018427387904, 4)",
        "(9223372036854775807, 9223372036854775807, 0)"}) {
    EXPECT_NE(error_of(image(1, header("<f4", "False", shape), Bytes(4))), "no error") << shape;
  }
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  EXPECT_NE(error_of(image(1, header("|u1", "False", many + ")"), Bytes(1))), "no error");
  for (const std::string descr :
       {"", "f4", "<f", "<f44", "<f3", "<O8", "|f4", "|S1", "<b2", "?f4"}) {
    EXPECT_NE(error_of(image(1, header(descr, "False", "(1,)"), Bytes(4))), "no error") << descr;
  }
  for (const std::string text : {"", "{", "{}", "[]", "{'descr'", "{'descr: ", "{'descr': '<f4'}",
                                 "{'fortran_order': 1}", "{'fortran_order': None}"}) {
    EXPECT_NE(error_of(image(1, text, Bytes(4))), "no error") << text;
  }
  EXPECT_NE(error_of(image(1, header("<f4", "False", "(1,)") + "x", Bytes(4))), "no error");
}

TEST(NpyTest, RefusesEveryPrefixOfAFile) {
  const Bytes file = image(2, header("<i2", "True", "(3, 2)"), Bytes(12, 9));
  ASSERT_TRUE(decode_npy(file, "x.npy").ok());
  for (size_t size = 0; size < file.size(); ++size) {
    const Bytes prefix(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    const auto array = decode_npy(prefix, "x.npy");
    ASSERT_FALSE(array.ok()) << size;
    EXPECT_EQ(array.status().code(), Code::kInvalidArgument) << size;
  }
}

}  // namespace
}  // namespace rk
