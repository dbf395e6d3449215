// SPDX-License-Identifier: Apache-2.0
// The matmul interface beside the limits of this machine, all measured in one run on the same threads: dot products, fused
// multiply-adds, memory. Both sides do rounds of equal work in turn, each from the first thread's start to the last one's end;
// judged is the median of the ratios of neighboring rounds, so that other programs disturb both sides alike.
// Usage: matmul_bench [threads]
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
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

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return since(start);
}

// Seconds that threads need for the same work together, from the moment when all of them are there.
class Team {
 public:
  explicit Team(int threads) : threads_(threads), arrived_(static_cast<size_t>(threads)) {
    for (int t = 1; t < threads; ++t) others_.emplace_back([this, t] { serve(t); });
  }
  ~Team() {
    work_ = nullptr;
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& other : others_) other.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  double run(const std::function<void(int)>& work) {
    work_ = &work;
    busy_.store(threads_ - 1);
    missing_.store(threads_);
    round_.fetch_add(1);
    round_.notify_all();
    arrive(0);
    work(0);
    for (int left = busy_.load(); left != 0; left = busy_.load()) std::this_thread::yield();
    return since(*std::max_element(arrived_.begin(), arrived_.end()));
  }

 private:
  void arrive(int thread) {
    arrived_[static_cast<size_t>(thread)] = Clock::now();
    missing_.fetch_sub(1);
    while (missing_.load() != 0) std::this_thread::yield();
  }

  // Note: asleep between rounds. A thread that kept looking for work would take half a core from the other side's.
  void serve(int thread) {
    for (int seen = 0;;) {
      round_.wait(seen);
      seen = round_.load();
      if (work_ == nullptr) return;
      arrive(thread);
      (*work_)(thread);
      busy_.fetch_sub(1);
    }
  }

  int threads_;
  std::vector<Clock::time_point> arrived_;
  std::vector<std::thread> others_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<int> round_{0}, missing_{0}, busy_{0};
};

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

// Memory far beyond the caches, on large pages where the system has them; read by all threads.
class MemoryReader {
 public:
  static constexpr size_t kBytes = size_t{256} << 20;

  MemoryReader() : data_(static_cast<uint8_t*>(std::aligned_alloc(size_t{2} << 20, kBytes))) {
    if (data_ == nullptr) std::exit(2);
    madvise(data_, kBytes, MADV_HUGEPAGE);
    std::memset(data_, 1, kBytes);
  }
  ~MemoryReader() { std::free(data_); }
  MemoryReader(const MemoryReader&) = delete;
  MemoryReader& operator=(const MemoryReader&) = delete;

  // Seconds to read `size_bytes` of it. Threads take the next block when they are done with one, as those of a product do.
  double run(Team& team, size_t size_bytes) {
    constexpr size_t kBlock = size_t{512} << 10;
    const size_t blocks = size_bytes / kBlock;
    std::atomic<size_t> next{0};
    return team.run([&](int) {
      for (size_t i = next.fetch_add(1); i < blocks; i = next.fetch_add(1))
        kept_.fetch_add(rk::bench::read_memory(data_ + i * kBlock, kBlock));
    });
  }

 private:
  uint8_t* data_;
  std::atomic<uint64_t> kept_{0};
};

// The best time of each side, and the median of the ratios of neighbors in time.
struct Comparison {
  double limit = 1e9, product = 1e9, median = 0;
};

Comparison compare(const std::function<double()>& limit, const std::function<double()>& product) {
  // Enough rounds to outlast the busy seconds of other machines on the same memory, yet no more than this.
  constexpr int kRounds = 1000;
  constexpr double kSeconds = 15;
  Comparison out;
  std::vector<double> ratios;
  const auto start = Clock::now();
  for (int round = 0; round < kRounds && since(start) < kSeconds; ++round) {
    const double limit_time = limit(), product_time = product();
    out.limit = std::min(out.limit, limit_time);
    out.product = std::min(out.product, product_time);
    ratios.push_back(limit_time / product_time);
  }
  std::sort(ratios.begin(), ratios.end());
  out.median = ratios[ratios.size() / 2];
  return out;
}

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
  bool holds = true;
  Team team(threads);
  const auto square = [&](const char* name, rknn_matmul_type type, const rk::bench::Peak& peak,
                          double bar) {
    if (peak.work == nullptr) {
      std::printf("%s: this CPU has no instructions whose peak is known\n", name);
      return;
    }
    Product product(1024, 1024, 1024, type);
    const auto rounds = static_cast<int64_t>(kMacs / peak.macs_per_round / threads);
    std::vector<int32_t> kept(static_cast<size_t>(threads) * 16);
    const Comparison times = compare(
        [&] {
          return team.run([&](int t) { peak.work(rounds, &kept[static_cast<size_t>(t) * 16]); });
        },
        [&] { return product.run(); });
    std::printf("%s: %.1f GMAC/s of %.1f on %d threads, %.2f ms at best (%d)\n", name,
                kMacs / times.product * 1e-9, kMacs / times.limit * 1e-9, threads,
                times.product * 1e3, kept[0] & 1);
    holds &= figure(std::string(name) + " of the measured peak", 100 * times.median, bar);
  };
  square("INT8xINT8->INT32 1024x1024x1024, native B", RKNN_INT8_MM_INT8_TO_INT32,
         rk::bench::any_int8_peak(), 70);
  square("FLOAT16xFLOAT16->FLOAT32 1024x1024x1024, native B", RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32,
         rk::bench::float_peak(), 60);
  MemoryReader reader;
  const auto decode = [&](const char* name, int n, rknn_matmul_type type) {
    Product product(1, 4096, n, type);
    const double bytes = product.b_bytes();
    const Comparison times = compare([&] { return reader.run(team, static_cast<size_t>(bytes)); },
                                     [&] { return product.run(); });
    std::printf("%s: %.1f GB/s of %.1f, B %.0f MB, %.2f ms at best\n", name,
                bytes / times.product * 1e-9, bytes / times.limit * 1e-9, bytes * 1e-6,
                times.product * 1e3);
    holds &=
        figure(std::string(name) + " of the measured memory bandwidth", 100 * times.median, 80);
  };
  decode("M=1 INT8xINT8->INT32, 4096x32768", 32768, RKNN_INT8_MM_INT8_TO_INT32);
  decode("M=1 FLOAT16xFLOAT16->FLOAT32, 4096x16384", 16384, RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32);
  return holds ? 0 : 1;
}
