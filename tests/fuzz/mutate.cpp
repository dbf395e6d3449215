// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/status.h"

namespace rk::fuzz {
namespace {

constexpr std::array<uint64_t, 16> kExtremes = {0,
                                                1,
                                                2,
                                                0x7F,
                                                0x80,
                                                0xFF,
                                                0x7FFF,
                                                0xFFFF,
                                                0x10000,
                                                0x3FFFFFFF,
                                                0x7FFFFFFF,
                                                0x80000000,
                                                0xFFFFFFF0,
                                                0xFFFFFFFF,
                                                0x7FFFFFFFFFFFFFFF,
                                                0xFFFFFFFFFFFFFFFF};

class Mutation {
 public:
  Mutation(std::vector<uint8_t>& file, Range where, Random& random)
      : file_(file), where_(where), random_(random) {}

  std::string apply(int kind) {
    const size_t at = position();
    switch (kind) {
      case 0: {
        const auto bit = static_cast<uint8_t>(1u << random_.below(8));
        file_[at] ^= bit;
        return str("flip ", int{bit}, " at ", at);
      }
      case 1:
        file_[at] = static_cast<uint8_t>(random_.next());
        return str("byte at ", at);
      case 2:
        return set_word(at, 4, kExtremes[random_.below(kExtremes.size())]);
      case 3:
        return set_word(at, 8, kExtremes[random_.below(kExtremes.size())]);
      case 4:
        return nudge_word(at);
      case 5: {  // a varint or a run of continuation bytes
        const size_t end = std::min(at + 1 + random_.below(9), where_.end);
        std::fill(file_.begin() + static_cast<int64_t>(at),
                  file_.begin() + static_cast<int64_t>(end), 0xFF);
        return str("0xFF at ", at, "..", end);
      }
      case 6: {  // one part of the file over another
        const size_t from = position();
        const size_t size = std::min({1 + random_.below(64), where_.end - at, where_.end - from});
        std::memmove(&file_[at], &file_[from], size);
        return str("copy ", size, " from ", from, " to ", at);
      }
      case 7: {
        const size_t size = 1 + random_.below(16);
        file_.insert(file_.begin() + static_cast<int64_t>(at), size,
                     static_cast<uint8_t>(random_.next()));
        where_.end += size;
        return str("insert ", size, " at ", at);
      }
      case 8: {
        const size_t size = std::min(1 + random_.below(16), where_.end - at);
        file_.erase(file_.begin() + static_cast<int64_t>(at),
                    file_.begin() + static_cast<int64_t>(at + size));
        where_.end -= size;
        return str("erase ", size, " at ", at);
      }
      default:
        file_.resize(at);
        where_.end = at;
        return str("cut at ", at);
    }
  }

  bool exhausted() const { return where_.begin >= where_.end; }

 private:
  size_t position() { return where_.begin + random_.below(where_.end - where_.begin); }

  std::string set_word(size_t at, size_t size, uint64_t value) {
    at = at / size * size;
    if (at < where_.begin || at + size > where_.end) return "nothing";
    std::memcpy(&file_[at], &value, size);
    return str("u", 8 * size, " ", value, " at ", at);
  }

  // Sizes and offsets that are a little wrong get past coarse checks.
  std::string nudge_word(size_t at) {
    at = at / 4 * 4;
    if (at < where_.begin || at + 4 > where_.end) return "nothing";
    uint32_t value = 0;
    std::memcpy(&value, &file_[at], 4);
    const auto by = static_cast<uint32_t>(random_.below(17)) - 8;
    value = random_.below(4) == 0 ? value << random_.below(32) : value + by;
    std::memcpy(&file_[at], &value, 4);
    return str("u32 becomes ", value, " at ", at);
  }

  std::vector<uint8_t>& file_;
  Range where_;
  Random& random_;
};

}  // namespace

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::string mutate(std::vector<uint8_t>& file, Range where, bool keep_size, Random& random) {
  Mutation mutation(file, where, random);
  const uint64_t count = 1 + random.below(4);
  std::string out;
  for (uint64_t i = 0; i < count && !mutation.exhausted(); ++i) {
    out +=
        (i == 0 ? "" : ", ") + mutation.apply(static_cast<int>(random.below(keep_size ? 7 : 10)));
  }
  return out;
}

}  // namespace rk::fuzz
