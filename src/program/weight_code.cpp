// SPDX-License-Identifier: Apache-2.0
#include "program/weight_code.h"

#include <algorithm>
#include <array>

#include "base/checked_math.h"

namespace rk::program {
namespace {

using target::WeightCode;

constexpr size_t kClasses = 8;    // of differences with a prefix of their own
constexpr uint8_t kRunClass = 8;  // longer list of runs
constexpr uint64_t kHeaderBytes = 16;
constexpr uint64_t kStreamAlign = 64;
constexpr int64_t kGroup = 8;  // differences that share a class where there are two streams

// Prefixes by rank, first bit first. The classes of a stream are ranked in its header.
struct Prefix {
  uint8_t bits, length;
};
constexpr std::array<Prefix, kClasses> kPrefixes = {{{0b00, 2},
                                                     {0b01, 2},
                                                     {0b111, 3},
                                                     {0b011, 3},
                                                     {0b110, 3},
                                                     {0b1010, 4},
                                                     {0b10010, 5},
                                                     {0b00010, 5}}};
constexpr int kLongestPrefix = 5;

constexpr std::array<uint8_t, 1 << kLongestPrefix> make_ranks() {
  std::array<uint8_t, 1 << kLongestPrefix> out = {};
  for (uint32_t word = 0; word < out.size(); ++word) {
    for (uint8_t rank = 0; rank < kClasses; ++rank) {
      const uint32_t mask = (1u << kPrefixes[rank].length) - 1;
      if ((word & mask) == kPrefixes[rank].bits) out[word] = rank;
    }
  }
  return out;
}
constexpr std::array<uint8_t, 1 << kLongestPrefix> kRanks = make_ranks();

// Bits from the lowest of each byte on. Past the end they are 0, and `ok` says so.
class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  uint32_t peek(int count) const {
    uint32_t word = 0;
    const size_t first = static_cast<size_t>(at_ / 8);
    for (size_t i = 0; i < 3; ++i) {
      if (first + i < bytes_.size()) word |= uint32_t{bytes_[first + i]} << (8 * i);
    }
    return (word >> (at_ % 8)) & ((1u << count) - 1);
  }
  uint32_t take(int count) {
    const uint32_t out = peek(count);
    at_ += static_cast<uint64_t>(count);
    return out;
  }
  bool ok() const { return at_ <= bytes_.size() * 8; }
  uint64_t used_bytes() const { return (at_ + 7) / 8; }

 private:
  ByteSpan bytes_;
  uint64_t at_ = 0;
};

Status damaged(std::string_view what) { return invalid_model(str("compressed weights: ", what)); }

// Where one stream writes: `unit` bytes here, then those of the other streams.
class Places {
 public:
  Places(std::span<uint8_t> out, uint64_t stream, uint64_t streams, uint64_t unit)
      : out_(out), at_(stream * unit), skip_((streams - 1) * unit), unit_(unit) {}

  void put(int32_t value) {
    if (at_ < out_.size()) out_[at_] = static_cast<uint8_t>(value);
    ++at_;
    if (++in_unit_ == unit_) {
      in_unit_ = 0;
      at_ += skip_;
    }
  }

 private:
  std::span<uint8_t> out_;
  uint64_t at_, skip_, unit_, in_unit_ = 0;
};

struct Streams {
  uint64_t count, unit;  // bytes dealt out at a time
};
Streams streams_of(WeightCode code) {
  switch (code) {
    case WeightCode::kSixteenStreams:
      return {16, 4};
    case WeightCode::kEightStreams:
      return {8, 4};
    case WeightCode::kTwoStreams:
    case WeightCode::kNone:
      break;
  }
  return {2, 1};
}

using Order = std::array<uint8_t, kClasses>;

Result<Order> read_order(ByteSpan header, uint8_t classes) {
  Order out;
  uint32_t seen = 0;
  for (size_t i = 0; i < kClasses; ++i) {
    out[i] = (header[4 + i / 2] >> (4 * (i % 2))) & 15;
    if (out[i] >= classes || (seen >> out[i] & 1) != 0)
      return damaged("the classes of a stream are not ranked");
    seen |= 1u << out[i];
  }
  return out;
}

uint8_t next_class(BitReader& bits, const Order& order) {
  const uint8_t rank = kRanks[bits.peek(kLongestPrefix)];
  bits.take(kPrefixes[rank].length);
  return order[rank];
}

// d, or -d - 1.
int32_t with_sign(uint32_t magnitude, uint32_t sign) {
  const auto d = static_cast<int32_t>(magnitude);
  return sign != 0 ? ~d : d;
}

// One of eight or sixteen streams without runs: the class of a difference is the number of bits of its magnitude, whose highest
// bit is not stored.
Result<uint64_t> decode_singly(ByteSpan coded, int32_t offset, uint64_t count, Places places) {
  RK_ASSIGN(const Order order, read_order(coded, kClasses));
  if (std::any_of(coded.begin() + 8, coded.begin() + kHeaderBytes,
                  [](uint8_t b) { return b != 0; }))
    return unsupported("compressed weights: a stream header of another form");
  BitReader bits(coded.subspan(kHeaderBytes));
  for (uint64_t i = 0; i < count && bits.ok(); ++i) {
    const int size = next_class(bits, order);
    const uint32_t sign = bits.take(1);
    const uint32_t magnitude = size == 0 ? 0 : 1u << (size - 1) | bits.take(size - 1);
    places.put(offset + with_sign(magnitude, sign));
  }
  if (!bits.ok()) return damaged("a stream ends too early");
  return kHeaderBytes + bits.used_bytes();
}

// The same with runs of no difference: class 0 is a run of one of the first two lengths of a list, class 8 of one of the
// others. So 0 has no sign, -128 is a negative 0 of class 7, and that class stores all its bits.
Result<uint64_t> decode_runs(ByteSpan coded, int32_t offset, uint64_t count, Places places) {
  RK_ASSIGN(const Order order, read_order(coded, kClasses + 1));
  const int index_bits = coded[0] >> 4;
  constexpr int kMostIndexBits = 8;
  if (index_bits > kMostIndexBits)
    return unsupported("compressed weights: a list of runs of another form");
  const uint64_t lengths = 2 + (uint64_t{1} << index_bits);
  const uint64_t first = align_up<uint64_t>(8 + 2 * lengths, kHeaderBytes);
  if (coded.size() < first) return damaged("a stream ends in its list of runs");
  BitReader bits(coded.subspan(static_cast<size_t>(first)));
  for (uint64_t i = 0; i < count && bits.ok();) {
    const uint8_t kind = next_class(bits, order);
    if (kind == 0 || kind == kRunClass) {
      const uint32_t index = kind == 0 ? bits.take(1) : 2 + bits.take(index_bits);
      const uint64_t run = load<uint16_t>(coded.data() + 8 + 2 * index);
      if (run == 0 || run > count - i) return damaged("a run is longer than its stream");
      for (uint64_t k = 0; k < run; ++k) places.put(offset);
      i += run;
      continue;
    }
    const uint32_t sign = bits.take(1);
    const uint32_t magnitude = kind == 7 ? bits.take(7) : 1u << (kind - 1) | bits.take(kind - 1);
    const auto d = static_cast<int32_t>(magnitude == 0 ? 128 : magnitude);
    places.put(sign != 0 ? offset - d : offset + d);
    ++i;
  }
  if (!bits.ok()) return damaged("a stream ends too early");
  return first + bits.used_bytes();
}

// One of two streams: groups of eight differences share a class, which is how many bits each magnitude has; their
// signs come first. The header holds what is to be taken away.
Result<uint64_t> decode_groups(ByteSpan coded, uint64_t count, Places places) {
  RK_ASSIGN(const Order order, read_order(coded, kClasses));
  const auto surplus = load<int32_t>(coded.data());
  const bool known = std::all_of(coded.begin() + 8, coded.begin() + kHeaderBytes,
                                 [](uint8_t b) { return b == 0; });
  if (!known || surplus < -255 || surplus > 255)
    return unsupported("compressed weights: a stream header of another form");
  BitReader bits(coded.subspan(kHeaderBytes));
  for (uint64_t i = 0; i < count && bits.ok(); i += kGroup) {
    const int size = next_class(bits, order);
    const uint32_t signs = bits.take(kGroup);
    for (int k = 0; k < kGroup; ++k) {
      const int32_t d = with_sign(bits.take(size), signs >> k & 1);
      places.put(d - surplus);
    }
  }
  if (!bits.ok()) return damaged("a stream ends too early");
  return kHeaderBytes + bits.used_bytes();
}

// Bytes of the stream.
Result<uint64_t> decode_stream(WeightCode code, ByteSpan coded, uint64_t count, Places places) {
  if (coded.size() < kHeaderBytes) return damaged("a stream has no header");
  if (code == WeightCode::kTwoStreams) return decode_groups(coded, count, places);
  const auto offset = load<int16_t>(coded.data() + 1);
  const int form = coded[0] & 15;
  const bool singly = form == 0 && coded[0] >> 4 == 0;
  if ((!singly && form != 1) || coded[3] != 0 || offset < -128 || offset > 127)
    return unsupported("compressed weights: a stream header of another form");
  return singly ? decode_singly(coded, offset, count, places)
                : decode_runs(coded, offset, count, places);
}

}  // namespace

Result<uint64_t> native_weight_bytes(std::span<const int32_t> native_shape) {
  constexpr size_t kAxes = 6;
  if (native_shape.empty() || native_shape.size() % kAxes != 0)
    return damaged(str("a native shape of ", native_shape.size(), " extents"));
  uint64_t out = 0;
  for (size_t i = 0; i < native_shape.size(); i += kAxes) {
    uint64_t block = 1;
    for (const int32_t extent : native_shape.subspan(i, kAxes)) {
      const auto more = checked_mul(block, static_cast<uint64_t>(std::max(extent, 0)));
      if (extent < 0 || !more || *more > kMaxObjectBytes)
        return damaged("an extent of the native shape is out of range");
      block = *more;
    }
    out += block;
    if (out > kMaxObjectBytes) return damaged("the native shape stands for more than 1 GiB");
  }
  if (out == 0) return damaged("a native shape of nothing");
  return out;
}

Result<std::vector<uint8_t>> decode_weights(WeightCode code, ByteSpan coded, uint64_t size) {
  if (code == WeightCode::kNone) return unsupported("compressed weights: this chip has none");
  const Streams form = streams_of(code);
  if (size % form.unit != 0)
    return unsupported(str("compressed weights: ", size, " bytes dealt out by ", form.unit));
  std::vector<uint8_t> out(static_cast<size_t>(size));
  // All streams are of one length: where units do not come out even, the last ones end in values that belong nowhere.
  const uint64_t units = ceil_div(size / form.unit, form.count);
  uint64_t at = 0;
  for (uint64_t stream = 0; stream < form.count; ++stream) {
    if (at >= coded.size())
      return damaged(str("stream ", stream, " of ", form.count, " is missing"));
    RK_ASSIGN(const uint64_t used,
              decode_stream(code, coded.subspan(static_cast<size_t>(at)), units * form.unit,
                            Places(out, stream, form.count, form.unit)));
    at = align_up<uint64_t>(at + used, kStreamAlign);
  }
  if (at != coded.size())
    return damaged(str("the streams take ", at, " bytes, the file has ", coded.size()));
  return out;
}

}  // namespace rk::program
