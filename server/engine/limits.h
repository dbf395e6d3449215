// SPDX-License-Identifier: Apache-2.0
// What one server gives away at most, and counters that hold it to that.
#pragma once

#include <atomic>
#include <cstdint>

namespace rk::server {

struct Limits {
  uint64_t max_model_bytes = uint64_t{1} << 30;
  uint64_t max_message_bytes = uint64_t{64}
                               << 20;  // of one call: its inputs, or a piece of a model
  uint64_t max_bytes_in_flight = uint64_t{1} << 30;
  uint32_t max_tensors = 64;   // of one call
  uint32_t max_contexts = 64;  // of rknn_init and rknn_dup_context together
  uint32_t max_sessions = 32;
  uint32_t max_models_per_session = 16;
  uint32_t max_waiting = 256;  // calls that wait for a context
  uint32_t idle_s = 3600;      // a session without calls ends; 0: never
  uint32_t upload_s = 600;     // an upload that takes longer is ended
  uint32_t instances = 0;      // contexts of one model; 0: as many as there are CPUs
};

// A sum that is never let past its maximum.
class Budget {
 public:
  explicit Budget(uint64_t maximum) : maximum_(maximum) {}
  // Nothing is taken on failure.
  bool take(uint64_t amount) {
    uint64_t now = taken_.load();
    do {
      if (amount > maximum_ || now > maximum_ - amount) return false;
    } while (!taken_.compare_exchange_weak(now, now + amount));
    return true;
  }
  void give_back(uint64_t amount) { taken_ -= amount; }
  uint64_t taken() const { return taken_; }
  uint64_t maximum() const { return maximum_; }

 private:
  const uint64_t maximum_;
  std::atomic<uint64_t> taken_{0};
};

// What was taken, given back at the end of a scope.
class Share {
 public:
  explicit Share(Budget& budget) : budget_(budget) {}
  ~Share() { budget_.give_back(amount_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  bool take(uint64_t amount) {
    if (!budget_.take(amount)) return false;
    amount_ += amount;
    return true;
  }

 private:
  Budget& budget_;
  uint64_t amount_ = 0;
};

}  // namespace rk::server
