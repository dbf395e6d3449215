// SPDX-License-Identifier: Apache-2.0
// Every type, layout and chip through the C interface at awkward sizes, against reference.h.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/e2e/figure.h"
#include "tests/matmul/reference.h"

namespace rk::matmul_reference {
namespace {

struct Case {
  const Chip& chip;
  const Type& type;
  int b_layout, ac_layout;
  int b_quant, ac_quant;
  int64_t m, k, n;
  int group_size = 0;
};

std::string name_of(const Case& c) {
  return std::string(c.chip.name) + " type " + std::to_string(c.type.value) + " B_layout " +
         std::to_string(c.b_layout) + " AC_layout " + std::to_string(c.ac_layout) + " quant " +
         std::to_string(c.b_quant) + "/" + std::to_string(c.ac_quant) + " " + std::to_string(c.m) +
         "x" + std::to_string(c.k) + "x" + std::to_string(c.n);
}

struct Params {
  std::vector<float> scale;
  std::vector<int32_t> zero;
};

Params draw_params(size_t count, bool asymmetric, Element e, std::mt19937& random, float around) {
  Params out;
  for (size_t i = 0; i < count; ++i) {
    out.scale.push_back(around * (1 + static_cast<float>(random() % 1000) / 500));
    const int range = e == Element::kI4 ? 8 : 100;
    out.zero.push_back(asymmetric ? static_cast<int>(random() % (2 * range)) - range : 0);
  }
  return out;
}

void set_params(rknn_matmul_ctx ctx, const char* name, Params& params) {
  rknn_quant_params c{};
  std::strcpy(c.name, name);
  c.scale = params.scale.data();
  c.scale_len = static_cast<int32_t>(params.scale.size());
  c.zp = params.zero.data();
  c.zp_len = static_cast<int32_t>(params.zero.size());
  ASSERT_EQ(rknn_matmul_set_quant_params(ctx, &c), 0);
}

rknn_tensor_mem* bind(rknn_matmul_ctx ctx, rknn_matmul_tensor_attr& attr,
                      const std::vector<uint8_t>* data) {
  rknn_tensor_mem* const mem = rknn_create_mem(ctx, attr.size);
  EXPECT_NE(mem, nullptr);
  if (mem == nullptr) return nullptr;
  if (data != nullptr) std::memcpy(mem->virt_addr, data->data(), attr.size);
  EXPECT_EQ(rknn_matmul_set_io_mem(ctx, mem, &attr), 0);
  return mem;
}

// What one element must be, and how far off it may be.
struct Expected {
  double value, tolerance;
};

struct Reader {
  const Case& c;
  const std::vector<uint8_t>&a_data, &b_data;
  const Params &a, &b, &out;

  Expected element(int64_t m, int64_t n) const {
    const uint64_t a_block = c.ac_layout == 1 ? row_block(c.chip, c.type.a) : 0;
    const int64_t groups = c.group_size == 0 ? 1 : c.k / c.group_size;
    const bool int_a = is_integer(c.type.a), int_b = is_integer(c.type.b);
    const bool grouped = c.group_size != 0;
    int64_t whole = 0;
    double sum = 0, magnitude = 0;
    for (int64_t k = 0; k < c.k; ++k) {
      const size_t q = grouped ? n * groups + k / c.group_size : b.scale.size() == 1 ? 0 : n;
      double x = get(c.type.a, a_data.data(), place_of_row(a_block, m, k, c.m, c.k));
      double w =
          get(c.type.b, b_data.data(), place_of_b(c.chip, c.type, c.b_layout, k, n, c.k, c.n));
      if (int_a) x -= a.zero[0];
      if (int_b) w -= b.zero[q];
      if (int_a && !grouped) {
        whole += static_cast<int64_t>(x) * static_cast<int64_t>(w);
        continue;
      }
      const double product =
          x * w * (int_a ? double{a.scale[0]} : 1) * (int_b ? double{b.scale[q]} : 1);
      sum += product;
      magnitude += std::fabs(product);
    }
    if (int_a && !grouped) return integer(whole, n);
    const double slack = static_cast<double>(c.k + groups + 2) * 0x1p-24 * magnitude;
    return {sum, slack + ulp(sum)};
  }

  double ulp(double value) const {
    if (c.type.c == Element::kF32) return 0;
    int exponent = 0;
    std::frexp(value, &exponent);
    if (c.type.c == Element::kBf16) return std::ldexp(1.0, exponent - 8);
    return std::ldexp(1.0, std::max(exponent, -13) - 11);
  }

  Expected integer(int64_t sum, int64_t n) const {
    const bool channel = b.scale.size() > 1;
    float largest = 0;
    for (const float s : b.scale) largest = std::max(largest, s);
    if (!is_integer(c.type.c)) {
      const double exact =
          static_cast<double>(sum) * (double{a.scale[0]} * b.scale[channel ? n : 0]);
      const double rounded = c.type.c == Element::kF32 ? static_cast<float>(exact) : exact;
      return {rounded, c.type.c == Element::kF32 ? 0 : ulp(exact) / 2};
    }
    if (channel) {
      const auto m = static_cast<int64_t>(std::nearbyint(16384.0 * b.scale[n] / largest));
      sum = scale_round(sum, m, 14);
    }
    if (c.type.c == Element::kI32) return {static_cast<double>(sum), 0};
    if (c.type.c == Element::kI16)
      return {static_cast<double>(std::min<int64_t>(32767, std::max<int64_t>(-32768, sum))), 0};
    const auto pair = to_scale_shift(double{a.scale[0]} * largest / out.scale[0]);
    const int64_t v = scale_round(sum, pair->scale, pair->shift) + out.zero[0];
    return {static_cast<double>(std::min<int64_t>(127, std::max<int64_t>(-128, v))), 0};
  }
};

// Multiplications of the reference per case: of larger products, elements are picked.
constexpr int64_t kBudget = 200'000;

// Runs one case and compares; gives how many elements were compared.
int64_t check(const Case& c, std::mt19937& random) {
  SCOPED_TRACE(name_of(c));
  setenv("RKNN_TARGET", c.chip.name, 1);
  rknn_matmul_info info{};
  info.M = static_cast<int>(c.m);
  info.K = static_cast<int>(c.k);
  info.N = static_cast<int>(c.n);
  info.type = c.type.value;
  info.B_layout = static_cast<int16_t>(c.b_layout);
  info.AC_layout = static_cast<int16_t>(c.ac_layout);
  info.B_quant_type = static_cast<int16_t>(c.b_quant);
  info.AC_quant_type = static_cast<int16_t>(c.ac_quant);
  info.group_size = static_cast<int16_t>(c.group_size);
  rknn_matmul_ctx ctx = 0;
  rknn_matmul_io_attr io{};
  EXPECT_EQ(rknn_matmul_create(&ctx, &info, &io), 0);
  if (ctx == 0) return 0;
  const size_t b_count = c.b_quant >= 4 ? c.n * (c.k / c.group_size) : c.b_quant >= 2 ? c.n : 1;
  Params a = draw_params(1, c.ac_quant == 1, c.type.a, random, 0.01f);
  Params b = draw_params(b_count, c.b_quant % 2 == 1, c.type.b, random, 0.005f);
  Params out = draw_params(1, c.ac_quant == 1, Element::kI8, random,
                           0.01f * 0.005f * 40 * std::sqrt(static_cast<float>(c.k)));
  if (is_integer(c.type.a)) set_params(ctx, "A", a);
  if (is_integer(c.type.b)) set_params(ctx, "B", b);
  if (c.type.c == Element::kI8) set_params(ctx, "C", out);
  std::vector<uint8_t> a_data(io.A.size), b_data(io.B.size);
  fill(c.type.a, a_data, random);
  fill(c.type.b, b_data, random);
  rknn_tensor_mem* const mems[] = {bind(ctx, io.A, &a_data), bind(ctx, io.B, &b_data),
                                   bind(ctx, io.C, nullptr)};
  EXPECT_EQ(rknn_matmul_run(ctx), 0);
  const Reader reader{c, a_data, b_data, a, b, out};
  const uint64_t c_block = c.ac_layout == 1 ? row_block(c.chip, c.type.c) : 0;
  const int64_t work = c.m * c.n * c.k, step = 1 + work / kBudget;
  int64_t compared = 0, wrong = 0;
  const auto* const result = static_cast<const uint8_t*>(mems[2]->virt_addr);
  for (int64_t i = 0; i < c.m * c.n; i += step, ++compared) {
    const Expected want = reader.element(i / c.n, i % c.n);
    const double got = get(c.type.c, result, place_of_row(c_block, i / c.n, i % c.n, c.m, c.n));
    if (std::fabs(got - want.value) <= want.tolerance) continue;
    if (++wrong < 4)
      ADD_FAILURE() << "C[" << i / c.n << "][" << i % c.n << "] is " << got << ", expected "
                    << want.value << " within " << want.tolerance;
  }
  EXPECT_EQ(wrong, 0);
  for (rknn_tensor_mem* mem : mems) EXPECT_EQ(rknn_destroy_mem(ctx, mem), 0);
  EXPECT_EQ(rknn_matmul_destroy(ctx), 0);
  return compared;
}

// The sanitized program looks for wrong accesses, not for wrong numbers, and is five times as slow: it takes every fourth
// combination, other ones for each type and chip.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kEvery = 4;
#else
constexpr int kEvery = 1;
#endif

TEST(Matmul, EveryTypeLayoutAndChipAtAwkwardSizesEqualsTheNaiveReference) {
  std::mt19937 random(77);
  int64_t cases = 0, elements = 0;
  int types = 0;
  for (const Chip& chip : kChips) {
    for (const Type& type : kTypes) {
      if (block_element(type) == Element::kI4 && chip.a_i4 == 0) continue;
      if (type.a == Element::kI4 && chip.a_i4 == 0) continue;
      const int n = align_n(chip, type);
      const int64_t longest = chip.k_max != 0 ? chip.k_max : 20480;
      const int64_t sizes[][3] = {{1, 32, n},   {3, 96, 8192},       {128, 160, 3 * n},
                                  {3, 8224, n}, {1, longest, 2 * n}, {128, 4128, n}};
      int turn = 0;
      ++types;
      for (int b_layout = 0; b_layout < 3; ++b_layout) {
        for (int ac_layout = 0; ac_layout < 2; ++ac_layout) {
          for (const auto& s : sizes) {
            // Quantization changes from case to case: layer, layer with zero points, channels, groups.
            Case c{chip, type, b_layout, ac_layout, 0, 0, s[0], s[1], s[2]};
            const int kinds = is_integer(type.c) ? 4 : 6;
            if (is_integer(type.b)) c.b_quant = turn % kinds;
            if (is_integer(type.a)) c.ac_quant = turn / 2 % 2;
            if (c.b_quant >= 4) c.group_size = 32;
            ++turn;
            if ((turn + types) % kEvery != 0) continue;
            elements += check(c, random);
            ++cases;
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
  e2e::figure_at_least("matmul: combinations of type, layout, chip and size equal to the reference",
                       static_cast<double>(cases), 2268 / kEvery);
  e2e::figure_at_least("matmul: elements compared", static_cast<double>(elements), 1e6 / kEvery);
}

TEST(Matmul, NormalToNativeFollowsTheFormulaWithSegments) {
  std::mt19937 random(5);
  int64_t moved = 0;
  for (const Chip& chip : kChips) {
    setenv("RKNN_TARGET", chip.name, 1);
    for (const Type& type : kTypes) {
      if (sub_n(chip, type) == 0 || (type.a == Element::kI4 && chip.a_i4 == 0)) continue;
      for (const int64_t k : {32, 96, 4128, 8224, 10240, 20480}) {
        if (chip.k_max != 0 && k > chip.k_max) continue;
        const int64_t n = 2 * align_n(chip, type);
        std::vector<uint8_t> normal(k * n * bits_of(type.b) / 8), native(normal.size(), 0xee);
        fill(type.b, normal, random);
        rknn_matmul_info info{};
        info.type = type.value;
        ASSERT_EQ(
            rknn_B_normal_layout_to_native_layout(normal.data(), native.data(), static_cast<int>(k),
                                                  static_cast<int>(n), &info),
            0);
        for (int64_t row = 0; row < k; ++row) {
          for (int64_t column = 0; column < n; ++column, ++moved) {
            ASSERT_EQ(get(type.b, normal.data(), row * n + column),
                      get(type.b, native.data(),
                          place_of_b(chip, type, RKNN_MM_LAYOUT_NATIVE, row, column, k, n)))
                << chip.name << " type " << type.value << " K " << k << " at " << row << ","
                << column;
          }
        }
      }
    }
  }
  e2e::figure_at_least("matmul: elements of native B where the formula has them",
                       static_cast<double>(moved), 1e7);
}

}  // namespace
}  // namespace rk::matmul_reference
