// SPDX-License-Identifier: Apache-2.0
// Speed of the poolings of ResNet and YOLOv5s, one thread. The rate that is printed counts elements of the output.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/pool/pool.h"

namespace rk::kernels {
namespace {

constexpr PoolShape kPools[] = {
    {1, 64, {112, 112}, {56, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, false},
    {1, 256, {20, 20}, {20, 20}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, false},
    {1, 2048, {7, 7}, {1, 1}, {7, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, false},
};

template <typename T, typename Args>
void run(benchmark::State& state, Args args, void (*kernel)(const Args&, IndexRange)) {
  const PoolShape& s = args.shape;
  const auto outputs = static_cast<size_t>(blocked_elements({s.batch, s.channels, s.out}));
  const std::vector<T> input(static_cast<size_t>(blocked_elements({s.batch, s.channels, s.in})));
  std::vector<T> output(outputs);
  args.input = input.data();
  args.output = output.data();
  for (auto _ : state) {
    kernel(args, {0, pool_units_blocked(s)});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(outputs));
}

void max_i8(benchmark::State& state) {
  PoolArgs<int8_t> args;
  args.shape = kPools[state.range(0)];
  run<int8_t>(state, args, max_pool_i8);
}
void max_f16(benchmark::State& state) {
  PoolArgs<uint16_t> args;
  args.shape = kPools[state.range(0)];
  run<uint16_t>(state, args, max_pool_f16);
}
void average_i8(benchmark::State& state) {
  const std::vector<ScaleShift> scales(50, {20000, 20});
  AveragePoolI8Args args;
  args.shape = kPools[state.range(0)];
  args.scale_by_count = scales.data();
  run<int8_t>(state, args, average_pool_i8);
}
void average_f16(benchmark::State& state) {
  PoolArgs<uint16_t> args;
  args.shape = kPools[state.range(0)];
  run<uint16_t>(state, args, average_pool_f16);
}
BENCHMARK(max_i8)->Arg(0)->Arg(1);
BENCHMARK(max_f16)->Arg(0)->Arg(1);
BENCHMARK(average_i8)->Arg(2);
BENCHMARK(average_f16)->Arg(2);

}  // namespace
}  // namespace rk::kernels
