// SPDX-License-Identifier: Apache-2.0
// Listens until the process is told to end. gRPC stays behind this header.
#pragma once

#include <string>

#include "server/engine/store.h"

namespace rk::server {

// "rknn_server version: 2.3.2 (...)", which users of the vendor's server look for with `strings rknn_server`; and the
// part after the colon.
const char* version_line();
const char* version_text();

struct ServeOptions {
  std::string address = "127.0.0.1";  // or unix:PATH
  int port = 8001;                    // 0: any that is free
  std::string port_file;              // gets the port once the server listens; empty: no file
  std::string token_file;
  std::string tls_certificate, tls_key, tls_client_ca;
  std::string chip;
  bool model_control = false;
};

// Refuses an address that others can reach without a token or certificates of clients.
Status check_access(const ServeOptions& options);
Status serve(Store& store, const ServeOptions& options);

}  // namespace rk::server
