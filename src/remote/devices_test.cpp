// SPDX-License-Identifier: Apache-2.0
#include "remote/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "remote/client.h"

namespace rk::remote {
namespace {

using testing::HasSubstr;

// No device of the user's own gets in.
class Devices : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / str("rknn-devices-", ::getpid());
    std::filesystem::create_directories(folder_);
    setenv("RKNN_DEVICE_FILE", (folder_ / "sub" / "devices.json").c_str(), 1);
    unsetenv("RKNN_DEVICES");
    unsetenv("RKNN_TOKEN_FILE");
  }
  void TearDown() override {
    unsetenv("RKNN_DEVICE_FILE");
    unsetenv("RKNN_DEVICES");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(Devices, AddressesGetThePortAndBrackets) {
  EXPECT_EQ(*full_address("10.0.0.5"), "10.0.0.5:8001");
  EXPECT_EQ(*full_address(" board.local:9000 "), "board.local:9000");
  EXPECT_EQ(*full_address("[::1]"), "[::1]:8001");
  EXPECT_EQ(*full_address("[fe80::1]:70"), "[fe80::1]:70");
  EXPECT_EQ(*full_address("unix:/run/rknn.sock"), "unix:/run/rknn.sock");
}

TEST_F(Devices, WhatIsNoAddressIsRefusedWithTheReason) {
  for (const char* text : {"", "  ", "a b", "host:", ":80", "host:x", "host:0", "host:65536",
                           "fe80::1", "[::1", "[::1]80", "[::1]:", "http://host"}) {
    const auto got = full_address(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_THAT(got.status().message(), HasSubstr("is no device address")) << text;
  }
}

TEST_F(Devices, EnvironmentComesBeforeTheFile) {
  setenv("RKNN_DEVICES", "lab=10.0.0.5, 10.0.0.6:7000,", 1);
  ASSERT_TRUE(add_device({.id = "lab", .address = "1.1.1.1:1"}).ok());
  ASSERT_TRUE(add_device({.id = "desk", .address = "2.2.2.2:2", .token_file = "t"}).ok());
  const auto devices = known_devices();
  ASSERT_TRUE(devices.ok()) << devices.status().message();
  ASSERT_EQ(devices->size(), 3u);
  EXPECT_EQ((*devices)[0].address, "10.0.0.5:8001");
  EXPECT_EQ((*devices)[1].id, "10.0.0.6:7000");
  EXPECT_EQ((*devices)[2].token_file, "t");
}

TEST_F(Devices, NoIdMeansTheOnlyOneAndListsSeveral) {
  EXPECT_EQ(find_device("").status().code(), Code::kUnavailable);
  ASSERT_TRUE(add_device({.id = "one", .address = "1.1.1.1:1"}).ok());
  EXPECT_EQ(find_device("")->id, "one");
  ASSERT_TRUE(add_device({.id = "two", .address = "2.2.2.2:2"}).ok());
  const Status several = find_device("").status();
  EXPECT_EQ(several.code(), Code::kInvalidArgument);
  EXPECT_THAT(several.message(), HasSubstr("set device_id to one of: one, two"));
  EXPECT_EQ(find_device("two")->address, "2.2.2.2:2");
  EXPECT_EQ(find_device("2.2.2.2:2")->id, "two");
  EXPECT_EQ(find_device("3.3.3.3")->address, "3.3.3.3:8001");
  EXPECT_EQ(find_device("board:80")->address, "board:80");
  EXPECT_THAT(find_device("515e9b401c060c0b").status().message(),
              HasSubstr("known device (one, two)"));
  ASSERT_TRUE(remove_device("one").ok());
  EXPECT_EQ(find_device("")->id, "two");
  EXPECT_THAT(remove_device("one").message(), HasSubstr("has no device 'one'"));
}

TEST_F(Devices, AddingAgainReplaces) {
  ASSERT_TRUE(add_device({.id = "one", .address = "1.1.1.1:1"}).ok());
  ASSERT_TRUE(add_device({.id = "one", .address = "1.1.1.2:1"}).ok());
  ASSERT_EQ(known_devices()->size(), 1u);
  EXPECT_EQ(known_devices()->front().address, "1.1.1.2:1");
}

TEST_F(Devices, ADamagedFileIsNamed) {
  ASSERT_TRUE(add_device({.id = "one", .address = "1.1.1.1:1"}).ok());
  std::filesystem::resize_file(device_file(), 10);
  EXPECT_THAT(known_devices().status().message(), HasSubstr("devices.json"));
}

TEST(Versions, DifferOnlyInTheirNumbers) {
  EXPECT_EQ(version_warning("2.3.2-openrknn", {"2.3.2 (x@y)", "2.3.2 (429f@2025)", ""}), "");
  EXPECT_EQ(version_warning("2.3.2-openrknn", {"2.3.2 (x@y)", "", ""}), "");
  const std::string text = version_warning("2.3.2-openrknn", {"2.3.2 (x)", "1.6.0 (y)", ""});
  EXPECT_THAT(text, HasSubstr("toolkit 2.3.2, rknn_server 2.3.2, librknnrt 1.6.0"));
}

}  // namespace
}  // namespace rk::remote
