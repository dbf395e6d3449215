// SPDX-License-Identifier: Apache-2.0
// The devices a user knows: from RKNN_DEVICES, from a file that `rknn device add` writes, and by address.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace rk::remote {

inline constexpr int kDefaultPort = 8001;

struct Device {
  std::string id;       // what list_devices prints and device_id takes
  std::string address;  // host:port or unix:path
  std::string token_file;
  std::string tls_ca, tls_cert, tls_key;  // files; a CA makes the connection TLS
};

// "10.0.0.5" -> "10.0.0.5:8001"; "[::1]:9000" and "unix:/run/x" as they are. kInvalidArgument for what is no address.
Result<std::string> full_address(std::string_view text);

// RKNN_DEVICES ("lab=10.0.0.5:8001, 10.0.0.6") first, then the file. kInvalidArgument says which entry is wrong.
Result<std::vector<Device>> known_devices();

// Where known_devices() reads: $RKNN_DEVICE_FILE, or openrknn/devices.json in the user's folder of settings.
std::string device_file();
// Adds or replaces the entry with this id.
Status add_device(const Device& device);
// kInvalidArgument when there is none.
Status remove_device(std::string_view id);

// The device an id or an address means. Empty: the only one that is known; with several the error lists them, with none
// it is kUnavailable. An address that is not listed takes token and certificates from RKNN_TOKEN_FILE, RKNN_TLS_CA,
// RKNN_TLS_CERT and RKNN_TLS_KEY.
Result<Device> find_device(std::string_view id);

}  // namespace rk::remote
