#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Netron's reader shows a file of ours and the vendor's file of the same network: the same nodes?

    netron_check.py NETRON_FOLDER DUMP.mjs OURS.rknn=VENDOR.rknn ...

NETRON_FOLDER is the folder "source" of Netron, or the package's own; DUMP.mjs is netron-dump.mjs of ../shared/tools. Nodes are
compared by operator, by type and extents of the first operand and of the results.
"""
import collections
import json
import subprocess
import sys


LEAST = 10  # networks shown alike; the others are listed with what differs


def nodes_of(folder, dump, path):
    text = subprocess.run(["node", dump, folder, path, "--json"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    model = json.loads(text)["graphs"][0]["nodes"][0]  # one node that holds the graph
    return collections.Counter(shown(node) for node in model["graph"]["nodes"])


def shown(node):
    values = [[value["type"] for argument in node[side] for value in argument["value"] if not value["constant"]]
              for side in ("inputs", "outputs")]
    # Operands after the first are scratch and helper constants, too, which each compiler chooses.
    return node["type"], tuple(values[0][:1]), tuple(values[1])


def main():
    folder, dump, pairs = sys.argv[1], sys.argv[2], [argument.split("=") for argument in sys.argv[3:]]
    same = 0
    for ours, vendors in pairs:
        a, b = nodes_of(folder, dump, ours), nodes_of(folder, dump, vendors)
        same += a == b
        for count, text in ((a - b, "ours only"), (b - a, "the vendor's only")):
            for node, times in count.items():
                print(f"{ours}: {text}: {times} x {node[0]} {' '.join(node[1])} -> {' '.join(node[2])}")
    ok = same >= LEAST
    print(f"FIGURE networks whose nodes Netron shows alike in our file and in the vendor's | {same} of {len(pairs)} | {LEAST} | "
          f"{'ok' if ok else 'SHORT'}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
