// SPDX-License-Identifier: Apache-2.0
// Streams of coded weights written bit by bit, as docs/facts/container.md describes them.
#include "program/weight_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "base/checked_math.h"

namespace rk::program {
namespace {

using target::WeightCode;
using testing::ElementsAre;
using testing::HasSubstr;

// '0' and '1' from the lowest bit of the first byte on; anything else is for the reader.
std::vector<uint8_t> bits(std::string_view text) {
  std::vector<uint8_t> out;
  size_t count = 0;
  for (const char c : text) {
    if (c != '0' && c != '1') continue;
    if (count % 8 == 0) out.push_back(0);
    if (c == '1') out.back() |= static_cast<uint8_t>(1u << (count % 8));
    ++count;
  }
  return out;
}

using Bytes = std::vector<uint8_t>;
constexpr uint8_t kRanked[] = {0x10, 0x32, 0x54, 0x76};  // class 0 first, class 7 last

Bytes header(std::initializer_list<uint8_t> first, std::initializer_list<uint8_t> last = {}) {
  Bytes out(first);
  out.insert(out.end(), std::begin(kRanked), std::end(kRanked));
  out.insert(out.end(), last);
  out.resize(align_up<size_t>(out.size(), 16));
  return out;
}

void append_stream(Bytes& out, Bytes header, const Bytes& data) {
  header.insert(header.end(), data.begin(), data.end());
  header.resize(align_up<size_t>(header.size(), 64));
  out.insert(out.end(), header.begin(), header.end());
}

Bytes eight(const Bytes& header, const Bytes& first, const Bytes& others) {
  Bytes out;
  for (int i = 0; i < 8; ++i) append_stream(out, header, i == 0 ? first : others);
  return out;
}

// Four values of the first stream; the others hold the offset four times.
std::vector<int> first_of_eight(const Bytes& coded) {
  const auto out = decode_weights(WeightCode::kEightStreams, coded, 32);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  std::vector<int> values;
  for (size_t i = 0; i < 4; ++i) values.push_back(static_cast<int8_t>((*out)[i]));
  for (size_t i = 4; i < 32; ++i) EXPECT_EQ((*out)[i], (*out)[4]) << i;
  return values;
}

const Bytes kNoDifference = bits("00 0  00 0  00 0  00 0");

TEST(WeightCodeTest, DifferencesHaveClassSignAndTheBitsBelowTheirHighest) {
  // -17, then -20, 43, 19, -1 more than that: classes 5, 6, 5, 0 of ranks 5, 6, 5, 0.
  const Bytes data = bits("0101 1 1100   01001 0 11010   0101 0 1100   00 1");
  EXPECT_THAT(first_of_eight(eight(header({0x00, 0xef, 0xff, 0x00}), data, kNoDifference)),
              ElementsAre(-37, 26, 2, -18));
}

TEST(WeightCodeTest, EveryClassHasItsPrefix) {
  // 1, 2, 5, 9 of classes 1 to 4; 100 of class 7 and -32 - 1 of class 6, 0 twice.
  const Bytes header_bytes = header({0, 0, 0, 0});
  EXPECT_THAT(first_of_eight(
                  eight(header_bytes, bits("10 0  111 0 0  110 0 10  011 0 100"), kNoDifference)),
              ElementsAre(1, 2, 5, 9));
  EXPECT_THAT(first_of_eight(eight(header_bytes, bits("01000 0 001001  01001 1 00000  00 0  00 0"),
                                   kNoDifference)),
              ElementsAre(100, -33, 0, 0));
}

TEST(WeightCodeTest, RunsAreOfListedLengths) {
  // Lengths 2 and 256 in class 0, 1 and 3 in class 8, which takes the rank of class 2.
  const Bytes head = {0x11, 0x05, 0x00, 0x00, 0x10, 0x38, 0x54, 0x76, 2, 0, 0, 1, 1, 0, 3, 0};
  const Bytes full = bits("00 0  00 0");
  EXPECT_THAT(first_of_eight(eight(head, bits("00 0   110 1 10   10 0"), full)),
              ElementsAre(5, 5, 0, 6));  // a run of 2, then -5 of class 3, 1
  EXPECT_THAT(first_of_eight(eight(head, bits("111 1   01000 1 0000000"), full)),
              ElementsAre(5, 5, 5, -123));  // a run of 3, then -128: a negative 0
}

TEST(WeightCodeTest, TwoStreamsTakeTurnsByBytesAndShareAClassByEight) {
  Bytes coded;
  // Surplus -5, class 2: 3, -4, six times 0. Then surplus 0, class 0: 0 and -1 in turns.
  append_stream(coded, header({0xfb, 0xff, 0xff, 0xff}),
                bits("111  01000000  11 11 00 00 00 00 00 00"));
  append_stream(coded, header({0, 0, 0, 0}), bits("00  01010101"));
  const auto out = decode_weights(WeightCode::kTwoStreams, coded, 16);
  ASSERT_TRUE(out.ok()) << out.status().message();
  const std::vector<int8_t> values(out->begin(), out->end());
  EXPECT_THAT(values, ElementsAre(8, 0, 1, -1, 5, 0, 5, -1, 5, 0, 5, -1, 5, 0, 5, -1));
}

TEST(WeightCodeTest, StreamsAreOfOneLengthWhereUnitsDoNotComeOutEven) {
  // 17 units in 16 streams: eight values in each, of which all but the first end in four of no place. Stream s holds s.
  Bytes coded;
  for (uint8_t stream = 0; stream < 16; ++stream)
    append_stream(coded, header({0, stream, 0, 0}), bits("000 000 000 000 000 000 000 000"));
  const auto out = decode_weights(WeightCode::kSixteenStreams, coded, 68);
  ASSERT_TRUE(out.ok()) << out.status().message();
  for (size_t i = 0; i < 68; ++i) EXPECT_EQ((*out)[i], i / 4 % 16) << i;
}

std::string refusal(WeightCode code, const Bytes& coded, uint64_t size) {
  const auto out = decode_weights(code, coded, size);
  EXPECT_FALSE(out.ok());
  return out.ok() ? "" : out.status().message();
}

TEST(WeightCodeTest, DamagedStreamsAreRefused) {
  constexpr WeightCode kEight = WeightCode::kEightStreams;
  const Bytes good = eight(header({0, 0, 0, 0}), kNoDifference, kNoDifference);
  ASSERT_TRUE(decode_weights(kEight, good, 32).ok());
  const auto with = [&](size_t at, uint8_t value) {
    Bytes out = good;
    out[at] = value;
    return out;
  };
  EXPECT_THAT(refusal(kEight, with(4, 0x00), 32), HasSubstr("not ranked"));
  EXPECT_THAT(refusal(kEight, with(4, 0x18), 32), HasSubstr("not ranked"));
  EXPECT_THAT(refusal(kEight, with(0, 0x02), 32), HasSubstr("another form"));
  EXPECT_THAT(refusal(kEight, with(0, 0x10), 32), HasSubstr("another form"));
  EXPECT_THAT(refusal(kEight, with(0, 0x91), 32), HasSubstr("another form"));
  EXPECT_THAT(refusal(kEight, with(0, 0x41), 32), HasSubstr("a run is longer than its stream"));
  EXPECT_THAT(refusal(kEight, with(2, 0x01), 32), HasSubstr("another form"));
  EXPECT_THAT(refusal(kEight, with(15, 0x01), 32), HasSubstr("another form"));
  EXPECT_THAT(refusal(kEight, Bytes(good.begin(), good.begin() + 448), 32),
              HasSubstr("stream 7 of 8"));
  EXPECT_THAT(refusal(kEight, Bytes(good.begin(), good.begin() + 458), 32), HasSubstr("no header"));
  EXPECT_THAT(refusal(kEight, good, 1 << 20), HasSubstr("a stream ends too early"));
  EXPECT_THAT(refusal(kEight, good, 30), HasSubstr("30 bytes dealt out by 4"));
  EXPECT_THAT(refusal(WeightCode::kTwoStreams, with(0, 0x7f), 32), HasSubstr("the file has 512"));
  EXPECT_THAT(refusal(WeightCode::kTwoStreams, with(1, 0x7f), 32), HasSubstr("another form"));
  EXPECT_THAT(refusal(WeightCode::kNone, good, 32), HasSubstr("this chip has none"));
}

// The code of `blocks`, from which they come back.
CodedWeights coded(WeightCode code, const Bytes& blocks) {
  const auto out = encode_weights(code, blocks);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  const auto back = decode_weights(code, out->bytes, blocks.size());
  EXPECT_TRUE(back.ok()) << back.status().message();
  EXPECT_TRUE(back.ok() && *back == blocks);
  for (const CodedStream& stream : out->streams) EXPECT_EQ(stream.begin % 64, 0U);
  const CodedStream& last = out->streams.back();
  EXPECT_EQ(out->bytes.size(),
            align_up<size_t>(last.begin + last.header_bytes + last.data_bytes, 64));
  return *out;
}

// Of `size` bytes: 0 with the given probability, else normal with the given deviation.
Bytes random_blocks(size_t size, double zeros, double deviation, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, deviation);
  std::bernoulli_distribution zero(zeros);
  Bytes out(size);
  for (uint8_t& byte : out) {
    const double value = zero(random) ? 0 : normal(random);
    byte = static_cast<uint8_t>(static_cast<int8_t>(std::clamp(value, -128.0, 127.0)));
  }
  return out;
}

TEST(WeightCodeTest, WhatIsEncodedComesBack) {
  for (const WeightCode code : {WeightCode::kEightStreams, WeightCode::kTwoStreams}) {
    for (const size_t size : {32U, 64U, 96U, 512U, 9216U, 102400U}) {
      for (const double zeros : {0.0, 0.3, 0.9, 0.999}) {
        for (const double deviation : {0.5, 20.0, 300.0})
          coded(code, random_blocks(size, zeros, deviation, static_cast<uint32_t>(size)));
      }
    }
    for (const int value : {0, 5, -128, 127, -1}) {
      Bytes blocks(4608, static_cast<uint8_t>(value));
      EXPECT_LT(coded(code, blocks).bytes.size(), blocks.size() / 4);
      // The differences of 127 from -128 and back wrap around.
      blocks[7] = 0x7f, blocks[100] = 0x80, blocks[4607] = 0;
      coded(code, blocks);
    }
    Bytes every(65536);
    for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<uint8_t>(i * 7 / 4);
    coded(code, every);
  }
}

TEST(WeightCodeTest, SparseWeightsTakeRunsWhereThatIsShorter) {
  const CodedWeights sparse = coded(WeightCode::kEightStreams, random_blocks(73728, 0.97, 30, 1));
  EXPECT_LT(sparse.bytes.size(), 73728U / 6);
  for (const CodedStream& stream : sparse.streams) EXPECT_EQ(sparse.bytes[stream.begin] & 15, 1);
  const CodedWeights dense = coded(WeightCode::kEightStreams, random_blocks(73728, 0, 12, 1));
  EXPECT_LT(dense.bytes.size(), 73728U);
  for (const CodedStream& stream : dense.streams) EXPECT_EQ(dense.bytes[stream.begin] & 15, 0);
  EXPECT_LT(coded(WeightCode::kTwoStreams, random_blocks(73728, 0, 12, 1)).bytes.size(), 73728U);
}

TEST(WeightCodeTest, RunsOfManyLengthsArePutTogetherOfListedOnes) {
  // One value, then a run one longer than the last, in each stream.
  Bytes blocks(32768);
  for (size_t i = 0, next = 0; i < 4096; next += ++i) {
    for (size_t stream = 0; stream < 8 && next < 4096; ++stream)
      blocks[next / 4 * 32 + stream * 4 + next % 4] = static_cast<uint8_t>(1 + stream);
  }
  const CodedWeights out = coded(WeightCode::kEightStreams, blocks);
  EXPECT_EQ(out.bytes[0] & 15, 1);
  EXPECT_LT(out.bytes.size(), blocks.size() / 8);
}

TEST(WeightCodeTest, WhatDoesNotDealOutEvenlyIsNotEncoded) {
  EXPECT_FALSE(encode_weights(WeightCode::kEightStreams, Bytes(24)).ok());
  EXPECT_FALSE(encode_weights(WeightCode::kTwoStreams, Bytes(25)).ok());
  EXPECT_FALSE(encode_weights(WeightCode::kNone, Bytes(64)).ok());
}

TEST(WeightCodeTest, NativeShapesAreCountedWithinOneObject) {
  const std::vector<int32_t> two = {4, 1, 1, 1, 16, 32, 1, 1, 1, 1, 8, 32};
  const std::vector<int32_t> none_first = {0, 2, 3, 3, 1, 32, 1, 1, 3, 3, 1, 32};
  const auto rest = native_weight_bytes(none_first);
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  EXPECT_EQ(*rest, 9u * 32);
  const auto bytes = native_weight_bytes(two);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(*bytes, 4u * 16 * 32 + 8 * 32);
  for (const std::vector<int32_t>& bad : {std::vector<int32_t>{},
                                          {1, 2, 3},
                                          {1, 1, 1, 1, 0, 8},
                                          {1, 1, 1, -1, 8, 8},
                                          {65536, 65536, 1, 1, 1, 1}}) {
    EXPECT_FALSE(native_weight_bytes(bad).ok());
  }
}

}  // namespace
}  // namespace rk::program
