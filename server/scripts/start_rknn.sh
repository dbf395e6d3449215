#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs rknn_server and starts it again when it ends, until this script is ended. Options are the server's.
here=$(cd "$(dirname "$0")" && pwd)
server=$here/rknn_server
[ -x "$server" ] || server=rknn_server
trap 'kill "$child" 2>/dev/null; exit 0' TERM INT
while true; do
  "$server" "$@" &
  child=$!
  wait "$child"
  echo "start_rknn.sh: rknn_server ended with $?; it starts again in one second" >&2
  sleep 1 &
  child=$!
  wait "$child"
done
