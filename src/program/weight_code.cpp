// SPDX-License-Identifier: Apache-2.0
#include "program/weight_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>

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

// Bits from the lowest of each byte on.
class BitWriter {
 public:
  void put(uint32_t bits, int count) {
    word_ |= uint64_t{bits} << filled_;
    for (filled_ += count; filled_ >= 8; filled_ -= 8, word_ >>= 8)
      bytes_.push_back(static_cast<uint8_t>(word_));
  }
  std::vector<uint8_t> release() {
    constexpr size_t kWord = 4;
    if (filled_ > 0) bytes_.push_back(static_cast<uint8_t>(word_));
    bytes_.resize(align_up(bytes_.size(), kWord));
    return std::move(bytes_);
  }

 private:
  std::vector<uint8_t> bytes_;
  uint64_t word_ = 0;
  int filled_ = 0;
};

// A stream's differences from its offset, its most frequent value.
struct Differences {
  int32_t offset = 0;
  std::vector<int8_t> values;
};

struct StreamCode {
  std::vector<uint8_t> header, data;
  size_t size() const { return header.size() + data.size(); }
};

int size_of(int8_t d) { return std::bit_width(static_cast<uint8_t>(d < 0 ? ~d : d)); }

// Ranks by class, the most used first, and their order as the header has it; kClasses: no rank. The
// wanted class is brought to its rank by an exchange, as in vendor files.
struct Ranking {
  Order order{};
  std::array<uint8_t, kClasses + 1> rank{};

  explicit Ranking(std::span<const uint64_t> uses) {
    std::vector<uint8_t> classes(uses.size());
    std::iota(classes.begin(), classes.end(), uint8_t{0});
    rank.fill(kClasses);
    for (size_t i = 0; i < kClasses; ++i) {
      const auto most = std::max_element(classes.begin() + static_cast<ptrdiff_t>(i), classes.end(),
                                         [&](uint8_t a, uint8_t b) { return uses[a] < uses[b]; });
      std::swap(classes[i], *most);
      order[i] = classes[i];
      rank[classes[i]] = static_cast<uint8_t>(i);
    }
  }
  uint64_t bits(size_t of_class) const { return kPrefixes[rank[of_class]].length; }
  void put(size_t of_class, BitWriter& to) const {
    const Prefix& prefix = kPrefixes[rank[of_class]];
    to.put(prefix.bits, prefix.length);
  }
};

std::vector<uint8_t> make_header(int32_t first_word, const Order& order) {
  std::vector<uint8_t> out(kHeaderBytes);
  for (size_t i = 0; i < 4; ++i)
    out[i] = static_cast<uint8_t>(static_cast<uint32_t>(first_word) >> (8 * i));
  for (size_t i = 0; i < kClasses; ++i)
    out[4 + i / 2] = static_cast<uint8_t>(out[4 + i / 2] | order[i] << (4 * (i % 2)));
  return out;
}

// Form, offset and 0 of one of eight or sixteen streams.
int32_t first_word(int form, int32_t offset) { return form | (offset & 0xffff) << 8; }

StreamCode encode_singly(const Differences& from) {
  std::array<uint64_t, kClasses> uses{};
  for (const int8_t d : from.values) ++uses[static_cast<size_t>(size_of(d))];
  const Ranking ranking(uses);
  BitWriter bits;
  for (const int8_t d : from.values) {
    const int size = size_of(d);
    ranking.put(static_cast<size_t>(size), bits);
    bits.put(d < 0 ? 1 : 0, 1);
    if (size == 0) continue;
    const auto magnitude = static_cast<uint32_t>(d < 0 ? ~d : d);
    bits.put(magnitude & ((1u << (size - 1)) - 1), size - 1);
  }
  return {make_header(first_word(0, from.offset), ranking.order), bits.release()};
}

StreamCode encode_groups(const Differences& from) {
  std::array<uint64_t, kClasses> uses{};
  const auto group_at = [&](size_t at) {
    return std::span(from.values).subspan(at, std::min<size_t>(kGroup, from.values.size() - at));
  };
  const auto size_at = [&](size_t at) {
    int size = 0;
    for (const int8_t d : group_at(at)) size = std::max(size, size_of(d));
    return size;
  };
  for (size_t i = 0; i < from.values.size(); i += kGroup) ++uses[static_cast<size_t>(size_at(i))];
  const Ranking ranking(uses);
  BitWriter bits;
  for (size_t i = 0; i < from.values.size(); i += kGroup) {
    std::array<int8_t, kGroup> group{};
    std::ranges::copy(group_at(i), group.begin());
    const int size = size_at(i);
    ranking.put(static_cast<size_t>(size), bits);
    for (const int8_t d : group) bits.put(d < 0 ? 1 : 0, 1);
    for (const int8_t d : group) bits.put(static_cast<uint32_t>(d < 0 ? ~d : d), size);
  }
  return {make_header(-from.offset, ranking.order), bits.release()};
}

// Vendor files have no longer run, and no list of more bits.
constexpr size_t kLongestRun = 256;
constexpr int kListedBits = 4;
using RunUses = std::array<uint64_t, kLongestRun + 1>;  // by length

// Calls value(d) for differences and run(length) for runs of none of them, long ones in parts.
template <typename Value, typename Run>
void walk_runs(const std::vector<int8_t>& values, const Value& value, const Run& run) {
  for (size_t i = 0; i < values.size();) {
    if (values[i] != 0) {
      value(values[i++]);
      continue;
    }
    size_t length = 1;
    while (length < kLongestRun && i + length < values.size() && values[i + length] == 0) ++length;
    run(length);
    i += length;
  }
}

size_t listed_lengths(int index_bits) { return 2 + (size_t{1} << index_bits); }

// Lengths of runs as a header lists them: the two most used ones first, then others, rising. A run
// that is not listed is put together of those that are.
class RunList {
 public:
  // 1 is one of `lengths`, which are two at least; further ones that fill the list are not used.
  RunList(const RunUses& runs, int index_bits, std::vector<uint16_t> lengths)
      : index_bits_(index_bits), lengths_(std::move(lengths)) {
    std::ranges::sort(lengths_);
    find_best();
    const std::vector<uint64_t> uses = uses_of(runs);
    std::vector<size_t> order(lengths_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t i, size_t k) { return uses[i] > uses[k]; });
    std::sort(order.begin() + 2, order.end());
    std::vector<uint16_t> listed;
    for (const size_t i : order) listed.push_back(lengths_[i]);
    lengths_ = std::move(listed);
    find_best();
    for (uint16_t more = 1; lengths_.size() < listed_lengths(index_bits); ++more) {
      if (std::ranges::find(lengths_, more) == lengths_.end()) lengths_.push_back(more);
    }
  }

  int index_bits() const { return index_bits_; }
  const std::vector<uint16_t>& lengths() const { return lengths_; }
  // Calls use(index) for each entry that makes up the run.
  template <typename Use>
  void split(size_t length, const Use& use) const {
    while (length > 0) {
      const size_t index = best_[length];
      use(index);
      length -= lengths_[index];
    }
  }
  std::vector<uint64_t> uses_of(const RunUses& runs) const {
    std::vector<uint64_t> out(lengths_.size());
    for (size_t length = 1; length <= kLongestRun; ++length) {
      if (runs[length] != 0) split(length, [&](size_t index) { out[index] += runs[length]; });
    }
    return out;
  }

 private:
  // The longest entry within each length.
  void find_best() {
    best_.fill(0);
    for (size_t length = 1; length <= kLongestRun; ++length) {
      for (size_t i = 0; i < lengths_.size(); ++i) {
        const bool longer =
            lengths_[best_[length]] > length || lengths_[i] > lengths_[best_[length]];
        if (lengths_[i] <= length && longer) best_[length] = i;
      }
    }
  }

  int index_bits_;
  std::vector<uint16_t> lengths_;
  std::array<size_t, kLongestRun + 1> best_{};
};

// Class 7 has all bits of -128 but its highest, which is said by 0.
int magnitude_of(int8_t d) { return d < 0 ? -int{d} : d; }
size_t class_in_runs(int8_t d) {
  return d == INT8_MIN
             ? 7
             : static_cast<size_t>(std::bit_width(static_cast<unsigned>(magnitude_of(d))));
}

size_t stored_bits(size_t of_class) { return of_class == 7 ? 7 : of_class - 1; }

// The `kept` most used lengths, then the shortest ones: 1 is one of them.
std::vector<uint16_t> most_used(const RunUses& runs, size_t listed, size_t kept) {
  std::vector<uint16_t> out(kLongestRun);
  std::iota(out.begin(), out.end(), uint16_t{1});
  std::ranges::stable_sort(out, [&](uint16_t a, uint16_t b) { return runs[a] > runs[b]; });
  std::sort(out.begin() + static_cast<ptrdiff_t>(kept), out.end());
  out.resize(listed);
  return out;
}

using RunClassUses = std::array<uint64_t, kClasses + 1>;

// A list and what comes of it.
struct RunPlan {
  RunList list;
  Ranking ranking;
  uint64_t bits = 0;  // header included
};

// Nothing where all nine classes are in use. `uses` is that of differences.
std::optional<RunPlan> plan_runs(RunClassUses uses, const RunUses& runs, RunList list) {
  const int index_bits = list.index_bits();
  const std::vector<uint64_t> entries = list.uses_of(runs);
  for (size_t i = 0; i < entries.size(); ++i) uses[i < 2 ? 0 : kRunClass] += entries[i];
  const Ranking ranking(uses);
  uint64_t bits = 8 * align_up<uint64_t>(8 + 2 * entries.size(), kHeaderBytes);
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == 0) continue;
    if (ranking.rank[i] == kClasses) return std::nullopt;
    const size_t rest = i == 0           ? 1
                        : i == kRunClass ? static_cast<size_t>(index_bits)
                                         : 1 + stored_bits(i);
    bits += uses[i] * (ranking.bits(i) + rest);
  }
  return RunPlan{std::move(list), ranking, bits};
}

StreamCode encode_runs(const Differences& from, const RunPlan& plan) {
  const int index_bits = plan.list.index_bits();
  BitWriter bits;
  walk_runs(
      from.values,
      [&](int8_t d) {
        const size_t kind = class_in_runs(d);
        plan.ranking.put(kind, bits);
        bits.put(d < 0 ? 1 : 0, 1);
        const auto stored = static_cast<int>(stored_bits(kind));
        bits.put(static_cast<uint32_t>(magnitude_of(d)) & ((1u << stored) - 1), stored);
      },
      [&](size_t length) {
        plan.list.split(length, [&](size_t index) {
          plan.ranking.put(index < 2 ? 0 : kRunClass, bits);
          bits.put(static_cast<uint32_t>(index < 2 ? index : index - 2),
                   index < 2 ? 1 : index_bits);
        });
      });
  StreamCode out{make_header(first_word(1 | index_bits << 4, from.offset), plan.ranking.order),
                 bits.release()};
  out.header.resize(8);
  for (const uint16_t length : plan.list.lengths()) {
    out.header.push_back(static_cast<uint8_t>(length));
    out.header.push_back(static_cast<uint8_t>(length >> 8));
  }
  out.header.resize(align_up<size_t>(out.header.size(), kHeaderBytes));
  return out;
}

// Singly or with runs, whichever is shorter.
StreamCode encode_one_of_many(const Differences& from) {
  RunUses runs{};
  RunClassUses uses{};
  walk_runs(
      from.values, [&](int8_t d) { ++uses[class_in_runs(d)]; },
      [&](size_t length) { ++runs[length]; });
  std::optional<RunPlan> best;
  const auto consider = [&](int index_bits, std::vector<uint16_t> lengths) {
    std::optional<RunPlan> plan = plan_runs(uses, runs, {runs, index_bits, std::move(lengths)});
    if (plan && (!best || plan->bits < best->bits)) best = std::move(plan);
  };
  for (int index_bits = 1; index_bits <= kListedBits; ++index_bits) {
    const size_t listed = listed_lengths(index_bits);
    for (const size_t kept : {size_t{2}, listed - 2, listed - 1})
      consider(index_bits, most_used(runs, listed, kept));
  }
  // Two lengths leave class 8 out, which all the others may need.
  for (uint16_t length = 2; length <= kLongestRun; length = static_cast<uint16_t>(2 * length))
    consider(1, {1, length});
  StreamCode singly = encode_singly(from);
  if (!best || singly.size() * 8 <= best->bits) return singly;
  return encode_runs(from, *best);
}

Differences differences_of(ByteSpan blocks, uint64_t stream, const Streams& form) {
  Differences out;
  std::array<uint64_t, 256> uses{};
  for (uint64_t at = stream * form.unit; at < blocks.size(); at += form.count * form.unit) {
    for (const uint8_t byte : blocks.subspan(at, form.unit)) {
      ++uses[byte];
      out.values.push_back(static_cast<int8_t>(byte));
    }
  }
  const auto most = std::ranges::max_element(uses) - uses.begin();
  out.offset = static_cast<int8_t>(most);
  for (int8_t& value : out.values) value = static_cast<int8_t>(value - out.offset);
  return out;
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

Result<CodedWeights> encode_weights(WeightCode code, ByteSpan blocks) {
  if (code == WeightCode::kNone) return unsupported("compressed weights: this chip has none");
  const Streams form = streams_of(code);
  if (blocks.size() % (form.count * form.unit) != 0)
    return unsupported(
        str("compressed weights: ", blocks.size(), " bytes in ", form.count, " streams"));
  CodedWeights out;
  for (uint64_t i = 0; i < form.count; ++i) {
    const Differences from = differences_of(blocks, i, form);
    const StreamCode stream =
        code == WeightCode::kTwoStreams ? encode_groups(from) : encode_one_of_many(from);
    out.streams.push_back({static_cast<uint32_t>(out.bytes.size()),
                           static_cast<uint32_t>(stream.header.size()),
                           static_cast<uint32_t>(stream.data.size())});
    out.bytes.insert(out.bytes.end(), stream.header.begin(), stream.header.end());
    out.bytes.insert(out.bytes.end(), stream.data.begin(), stream.data.end());
    out.bytes.resize(align_up<size_t>(out.bytes.size(), kStreamAlign));
  }
  return out;
}

}  // namespace rk::program
