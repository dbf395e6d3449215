// SPDX-License-Identifier: Apache-2.0
// The matmul interface beside the limits of this machine, all measured in one run on the same threads: dot products, fused
// multiply-adds, memory. Each number is the best of many short rounds, in turn, so that neighbors disturb both sides alike.
// Usage: matmul_bench [threads]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/peak.h"
#include "rknn_matmul_api.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Sum over threads of what each measures for itself at the same time.
double on_threads(int threads, const std::function<double(int)>& measure) {
  std::vector<double> parts(static_cast<size_t>(threads));
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back([&, t] { parts[static_cast<size_t>(t)] = measure(t); });
  parts[0] = measure(0);
  for (std::thread& other : others) other.join();
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

// A product with random contents, ready to run.
class Product {
 public:
  Product(int m, int k, int n, rknn_matmul_type type) {
    rknn_matmul_info info{};
    info.M = m;
    info.K = k;
    info.N = n;
    info.type = type;
    info.B_layout = RKNN_MM_LAYOUT_NATIVE;
    if (rknn_matmul_create(&ctx_, &info, &io_) != 0) std::exit(2);
    rknn_matmul_tensor_attr* const attrs[] = {&io_.A, &io_.B, &io_.C};
    for (int i = 0; i < 3; ++i) {
      mem_[i] = rknn_create_mem(ctx_, attrs[i]->size);
      if (mem_[i] == nullptr) std::exit(2);
      auto* const bytes = static_cast<uint8_t*>(mem_[i]->virt_addr);
      // As int8 every value; as float16 the high byte is that of a small positive number.
      const bool half = attrs[i]->type == RKNN_TENSOR_FLOAT16;
      for (uint32_t b = 0; b < attrs[i]->size; ++b)
        bytes[b] = static_cast<uint8_t>(half && b % 2 == 1 ? b * 37 % 60 : b * 2654435761u >> 24);
      if (rknn_matmul_set_io_mem(ctx_, mem_[i], attrs[i]) != 0) std::exit(2);
    }
  }
  ~Product() {
    for (rknn_tensor_mem* mem : mem_) rknn_destroy_mem(ctx_, mem);
    rknn_matmul_destroy(ctx_);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  double run() {
    return seconds([&] {
      if (rknn_matmul_run(ctx_) != 0) std::exit(2);
    });
  }
  double b_bytes() const { return io_.B.size; }

 private:
  rknn_matmul_ctx ctx_ = 0;
  rknn_matmul_io_attr io_{};
  rknn_tensor_mem* mem_[3] = {};
};

// Bytes per second that threads read from memory, each its own part; 256 MiB in all, far beyond the caches.
class MemoryReader {
 public:
  double run(int threads) {
    const size_t words = data_.size() / static_cast<size_t>(threads);
    std::vector<uint64_t> sums(static_cast<size_t>(threads));
    const double time = seconds([&] {
      on_threads(threads, [&](int t) {
        const uint64_t* from = data_.data() + words * static_cast<size_t>(t);
        uint64_t sum[8] = {};
        for (size_t i = 0; i + 8 <= words; i += 8) {
          for (size_t lane = 0; lane < 8; ++lane) sum[lane] += from[i + lane];
        }
        for (const uint64_t part : sum) sums[static_cast<size_t>(t)] += part;
        return 0.0;
      });
    });
    for (const uint64_t sum : sums) kept_ = kept_ + sum;
    return static_cast<double>(data_.size() * 8) / time;
  }

 private:
  std::vector<uint64_t> data_ = std::vector<uint64_t>(size_t{32} << 20, 1);
  volatile uint64_t kept_ = 0;
};

bool figure(const std::string& name, double value, double bar) {
  const bool holds = value >= bar;
  std::printf("FIGURE %s | %.1f %% | >= %.0f %% | %s\n", name.c_str(), value, bar,
              holds ? "ok" : "SHORT");
  std::fflush(stdout);
  return holds;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  setenv("RKNN_NUM_THREADS", std::to_string(threads).c_str(), 1);
  setenv("RKNN_LOG_LEVEL", "0", 1);
  constexpr double kMacs = 1024.0 * 1024 * 1024;
  constexpr int kRounds = 60;
  bool holds = true;
  const auto square = [&](const char* name, rknn_matmul_type type, double (*peak_of)(), double bar) {
    Product product(1024, 1024, 1024, type);
    double peak = 0, best = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      if (round % 4 == 0) peak = std::max(peak, on_threads(threads, [&](int) { return peak_of(); }));
      best = std::min(best, product.run());
    }
    const double reached = kMacs / best * 1e-9;
    std::printf("%s: %.1f GMAC/s of %.1f on %d threads, %.2f ms\n", name, reached, peak, threads,
                best * 1e3);
    holds &= figure(std::string(name) + " of the measured peak", 100 * reached / peak, bar);
  };
  square("INT8xINT8->INT32 1024x1024x1024, native B", RKNN_INT8_MM_INT8_TO_INT32,
         rk::bench::any_int8_peak_gmacs, 70);
  square("FLOAT16xFLOAT16->FLOAT32 1024x1024x1024, native B", RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32,
         rk::bench::float_peak_gmacs, 60);
  MemoryReader reader;
  const auto decode = [&](const char* name, int n, rknn_matmul_type type) {
    Product product(1, 4096, n, type);
    double bandwidth = 0, best = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      bandwidth = std::max(bandwidth, reader.run(threads));
      best = std::min(best, product.run());
    }
    const double reached = product.b_bytes() / best;
    std::printf("%s: %.1f GB/s of %.1f, B %.0f MB, %.2f ms\n", name, reached * 1e-9,
                bandwidth * 1e-9, product.b_bytes() * 1e-6, best * 1e3);
    holds &= figure(std::string(name) + " of the measured memory bandwidth",
                    100 * reached / bandwidth, 80);
  };
  decode("M=1 INT8xINT8->INT32, 4096x32768", 32768, RKNN_INT8_MM_INT8_TO_INT32);
  decode("M=1 FLOAT16xFLOAT16->FLOAT32, 4096x16384", 16384, RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32);
  return holds ? 0 : 1;
}
