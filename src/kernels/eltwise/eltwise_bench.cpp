// SPDX-License-Identifier: Apache-2.0
// Speed of the element-wise kernels, one thread. The rate that is printed counts elements.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/eltwise/eltwise.h"

namespace rk::kernels {
namespace {

// ResNet50's residual additions: 256 x 56 x 56 and 2048 x 7 x 7 elements.
void sum_of_two_i8(benchmark::State& state) {
  const auto elements = static_cast<size_t>(state.range(0));
  const std::vector<int8_t> a(elements, 3), b(elements, -7);
  std::vector<int8_t> y(elements);
  const SumI8Input inputs[] = {{a.data(), {3, {20000, 5}}}, {b.data(), {-128, {32767, 7}}}};
  const SumI8Args args = {inputs, 2, true, {{16384, 24}, -20}, y.data(), state.range(0)};
  for (auto _ : state) {
    sum_i8(args, {0, eltwise_units(args.elements)});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sum_of_two_i8)->Arg(256 * 56 * 56)->Arg(2048 * 7 * 7);

void table_of_i8(benchmark::State& state) {
  std::vector<int8_t> x(static_cast<size_t>(state.range(0)), 5), table(256, 9);
  for (auto _ : state) {
    table_i8({x.data(), x.data(), table.data(), state.range(0)},
             {0, eltwise_units(state.range(0))});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(table_of_i8)->Arg(256 * 56 * 56);

void sum_of_two_f16(benchmark::State& state) {
  const std::vector<uint16_t> a(static_cast<size_t>(state.range(0)), 0x3c00), b = a;
  std::vector<uint16_t> y(a.size());
  for (auto _ : state) {
    sum_f16({a.data(), b.data(), y.data(), true, state.range(0)},
            {0, eltwise_units(state.range(0))});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sum_of_two_f16)->Arg(256 * 56 * 56);

}  // namespace
}  // namespace rk::kernels
