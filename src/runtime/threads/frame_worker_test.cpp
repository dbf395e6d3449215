// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/frame_worker.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <new>

namespace rk::runtime {
namespace {

TEST(FrameWorkerTest, AFrameRunsWhileTheCallerGoesOn) {
  FrameWorker worker;
  std::promise<void> gate;
  const Status started = worker.start([open = gate.get_future().share()] {
    open.wait();
    return ok_status();
  });
  ASSERT_TRUE(started.ok());
  EXPECT_FALSE(worker.wait_for(std::chrono::milliseconds(1)));
  gate.set_value();
  worker.wait();
  EXPECT_TRUE(worker.wait_for(std::chrono::milliseconds(0)));
  EXPECT_TRUE(worker.take_status().ok());
}

TEST(FrameWorkerTest, AFailureIsToldOnce) {
  FrameWorker worker;
  ASSERT_TRUE(worker.start([] { return invalid_argument("broken"); }).ok());
  worker.wait();
  EXPECT_EQ(worker.take_status().message(), "broken");
  EXPECT_TRUE(worker.take_status().ok());
}

TEST(FrameWorkerTest, FramesDoNotOverlapAndTheLastOneEndsBeforeTheWorker) {
  std::atomic<int> running = 0, done = 0;
  {
    FrameWorker worker;
    for (int i = 0; i < 100; ++i) {
      const Status started = worker.start([&] {
        EXPECT_EQ(++running, 1);
        --running;
        ++done;
        return ok_status();
      });
      ASSERT_TRUE(started.ok());
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

TEST(FrameWorkerTest, AForkedChildGoesOnWithAThreadOfItsOwn) {
  FrameWorker worker;
  ASSERT_TRUE(worker.start([] { return ok_status(); }).ok());
  worker.wait();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool ran = false;
    const bool started = worker
                             .start([&] {
                               ran = true;
                               return ok_status();
                             })
                             .ok();
    const bool ended = worker.wait_for(std::chrono::seconds(10));
    _exit(started && ended && ran ? 7 : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(FrameWorkerTest, AFrameThatRanDuringTheForkIsAnErrorInTheChild) {
  FrameWorker worker;
  std::promise<void> gate;
  ASSERT_TRUE(worker
                  .start([open = gate.get_future().share()] {
                    open.wait();
                    return ok_status();
                  })
                  .ok());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    worker.wait();
    _exit(worker.take_status().code() == Code::kUnavailable ? 7 : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  gate.set_value();
  worker.wait();
  EXPECT_TRUE(worker.take_status().ok());
}

TEST(FrameWorkerTest, WhatAFrameThrowsIsItsStatus) {
  FrameWorker worker;
  ASSERT_TRUE(worker.start([]() -> Status { throw std::bad_alloc(); }).ok());
  worker.wait();
  EXPECT_EQ(worker.take_status().code(), Code::kOutOfMemory);
}

}  // namespace
}  // namespace rk::runtime
