// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/frame_worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace rk::runtime {
namespace {

TEST(FrameWorkerTest, AFrameRunsWhileTheCallerGoesOn) {
  FrameWorker worker;
  std::promise<void> gate;
  worker.start([open = gate.get_future().share()] {
    open.wait();
    return ok_status();
  });
  EXPECT_FALSE(worker.wait_for(std::chrono::milliseconds(1)));
  gate.set_value();
  worker.wait();
  EXPECT_TRUE(worker.wait_for(std::chrono::milliseconds(0)));
  EXPECT_TRUE(worker.take_status().ok());
}

TEST(FrameWorkerTest, AFailureIsToldOnce) {
  FrameWorker worker;
  worker.start([] { return invalid_argument("broken"); });
  worker.wait();
  EXPECT_EQ(worker.take_status().message(), "broken");
  EXPECT_TRUE(worker.take_status().ok());
}

TEST(FrameWorkerTest, FramesDoNotOverlapAndTheLastOneEndsBeforeTheWorker) {
  std::atomic<int> running = 0, done = 0;
  {
    FrameWorker worker;
    for (int i = 0; i < 100; ++i) {
      worker.start([&] {
        EXPECT_EQ(++running, 1);
        --running;
        ++done;
        return ok_status();
      });
    }
  }
  EXPECT_EQ(done, 100);
}

TEST(FrameWorkerTest, AnIdleWorkerHasNothingToWaitFor) {
  FrameWorker worker;
  worker.wait();
  EXPECT_TRUE(worker.wait_for(std::chrono::milliseconds(0)));
  EXPECT_TRUE(worker.take_status().ok());
}

}  // namespace
}  // namespace rk::runtime
