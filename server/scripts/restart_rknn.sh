#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ends the rknn_server of this user; start_rknn.sh or systemd starts it again. Without either it is started here, with
# the options given.
here=$(cd "$(dirname "$0")" && pwd)
running=$(pgrep -x -u "$(id -u)" rknn_server)
# shellcheck disable=SC2086
[ -n "$running" ] && kill $running
sleep 3
pgrep -x -u "$(id -u)" rknn_server >/dev/null && exit 0
nohup "$here/start_rknn.sh" "$@" >/dev/null 2>&1 &
