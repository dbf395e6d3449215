// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <new>
#include <string>

#include "base/float_env.h"

namespace rk {
namespace {

TEST(ThreadPoolTest, EveryIndexIsVisitedOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t count : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 100, 1023}) {
      for (const int64_t grain : {0, 1, 4, 50, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
        pool.parallel_for(count, grain, [&](IndexRange range) {
          EXPECT_LT(range.begin, range.end);
          for (int64_t i = range.begin; i < range.end; ++i) ++visits[static_cast<size_t>(i)];
        });
        EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int n) { return n == 1; }))
            << threads << " threads, " << count << " by " << grain;
      }
    }
  }
}

// Threads inherit the rounding of the thread that starts them.
TEST(ThreadPoolTest, WorkersRoundToNearestWhateverTheirMakerDoes) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  ThreadPool pool(4);
  std::fesetround(FE_TONEAREST);
  std::atomic<int> wrong{0};
  for (int round = 0; round < 50; ++round) {
    pool.parallel_for(64, 1, [&](IndexRange) { wrong += std::fegetround() != FE_TONEAREST; });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(DefaultFloatEnvTest, RoundingReturnsToTheCallersOwn) {
  ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
  int inside = -1;
  {
    const DefaultFloatEnv env;
    inside = std::fegetround();
  }
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(inside, FE_TONEAREST);
  EXPECT_EQ(after, FE_DOWNWARD);
}

TEST(ThreadPoolTest, NothingToDoCallsNothing) {
  ThreadPool pool(2);
  int calls = 0;
  pool.parallel_for(0, 1, [&](IndexRange) { ++calls; });
  pool.parallel_for(-5, 1, [&](IndexRange) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(ThreadPoolTest, RangesAreNotSmallerThanTheGrainExceptTheLast) {
  ThreadPool pool(4);
  std::atomic<int> small{0};
  pool.parallel_for(1000, 70, [&](IndexRange range) {
    if (range.end - range.begin < 70 && range.end != 1000) ++small;
  });
  EXPECT_EQ(small, 0);
}

TEST(ThreadPoolTest, ResultsAreVisibleToTheCallerAfterEachOfManyRounds) {
  ThreadPool pool(4);
  std::vector<int64_t> values(64, 0);
  for (int64_t round = 1; round <= 2000; ++round) {
    pool.parallel_for(64, 1, [&](IndexRange range) {
      for (int64_t i = range.begin; i < range.end; ++i) values[static_cast<size_t>(i)] += i;
    });
    ASSERT_EQ(values[63], 63 * round);
    ASSERT_EQ(values[1], round);
  }
}

TEST(ThreadPoolTest, PoolsThatNeverWorkedEnd) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(3);
}

TEST(ThreadPoolTest, TheEnvironmentSetsTheNumberOfThreads) {
  const char* const before = std::getenv("RKNN_NUM_THREADS");
  const std::string saved = before != nullptr ? before : "";
  setenv("RKNN_NUM_THREADS", "3", 1);
  EXPECT_EQ(default_thread_count(), 3);
  setenv("RKNN_NUM_THREADS", "0", 1);
  EXPECT_EQ(default_thread_count(), 1);
  setenv("RKNN_NUM_THREADS", "-4", 1);
  EXPECT_EQ(default_thread_count(), 1);
  setenv("RKNN_NUM_THREADS", "9999", 1);
  EXPECT_EQ(default_thread_count(), 256);
  unsetenv("RKNN_NUM_THREADS");
  EXPECT_GE(default_thread_count(), 1);
  EXPECT_LE(default_thread_count(), 16);
  if (before != nullptr) setenv("RKNN_NUM_THREADS", saved.c_str(), 1);
}

TEST(ThreadPoolTest, AnExceptionOfTheWorkReachesTheCallerAndThePoolGoesOn) {
  ThreadPool pool(4);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.parallel_for(1000, 1,
                                   [](IndexRange range) {
                                     if (range.end > 500) throw std::bad_alloc();
                                   }),
                 std::bad_alloc);
    std::atomic<int64_t> sum = 0;
    pool.parallel_for(1000, 1, [&](IndexRange range) { sum += range.end - range.begin; });
    EXPECT_EQ(sum, 1000);
  }
}

// A limit on processes does not bind root, so it is the stacks that cannot be had: 2^47 bytes each.
TEST(ThreadPoolTest, ThreadsThatCannotBeStartedAreDoneWithout) {
  EXPECT_EXIT(
      {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, size_t{1} << 47);
        pthread_setattr_default_np(&attributes);
        ThreadPool pool(4);
        std::atomic<int64_t> sum = 0;
        pool.parallel_for(1000, 1, [&](IndexRange range) { sum += range.end - range.begin; });
        std::_Exit(pool.threads() == 1 && sum == 1000 ? 7 : 8);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace rk
