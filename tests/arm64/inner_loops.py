#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of the inner loops of ARM kernels, counted in the disassembly: time cannot be measured under emulation.

    inner_loops.py BUILD_FOLDER [--show]        BUILD_FOLDER: build/aarch64-tests; --show prints the loops

For each kernel the innermost loop with the most products is looked at: how many multiply-accumulates it does, and how many
of its instructions are products. A loop that spills its sums or widens its operands has few.
"""
import os
import re
import subprocess
import sys

# Products of one instruction by mnemonic and the type of its result.
PRODUCTS = {("sdot", "4s"): 16, ("smmla", "4s"): 32, ("smlal", "4s"): 4, ("smlal2", "4s"): 4, ("mla", "8h"): 8,
            ("fmla", "4s"): 4, ("fmla", "8h"): 8}
# Kernel, object file below src/kernels, products that its loop is made of, least share of them among its instructions.
LOOPS = [("conv_i8__i8mm_4x16", "conv/i8/arm64_i8mm.cpp", "smmla", 0.45),
         ("conv_i8__dotprod_5x16", "conv/i8/arm64_dotprod.cpp", "sdot", 0.5),
         ("conv_i8__neon_5x16", "conv/i8/arm64_neon.cpp", "smlal", 0.7),
         ("conv_f16, NEON", "conv/f16/arm64_neon.cpp", "fmla", 0.5),
         ("matrix_i8__i8mm_4x16", "gemm/arm64_i8mm_i8.cpp", "smmla", 0.5),
         ("matrix_i8__dotprod_6x16", "gemm/arm64_dotprod_i8.cpp", "sdot", 0.5),
         ("matrix_f16__neon_6x16", "gemm/arm64_neon_f16.cpp", "fmla", 0.5),
         ("gemm_f32__neon", "gemm/arm64_neon.cpp", "fmla", 0.5),
         ("recurrent, NEON", "recurrent/arm64_neon.cpp", "fmla", 0.25)]
BRANCH = re.compile(r"^(?:b(?:\.\w+)?|cbn?z|tbn?z)$")


def functions(path):
    """Lists of (address, mnemonic, operands), one per function."""
    text = subprocess.run(["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    for part in re.split(r"^[0-9a-f]+ <.*>:$", text, flags=re.MULTILINE)[1:]:
        yield [(int(address, 16), name, operands) for address, name, operands in
               re.findall(r"^\s*([0-9a-f]+):\t(\S+)\t?([^\n]*)", part, flags=re.MULTILINE)]


def innermost_loops(code):
    """The instructions between the target of a branch backward and the branch, where no other loop lies inside."""
    spans = []
    for address, name, operands in code:
        target = re.search(r"([0-9a-f]+) <", operands) if BRANCH.match(name) else None
        if target and code[0][0] <= int(target.group(1), 16) <= address:
            spans.append((int(target.group(1), 16), address))
    for start, end in spans:
        if not any((s, e) != (start, end) and start <= s and e <= end for s, e in spans):
            yield [line for line in code if start <= line[0] <= end]


def products(loop, wanted):
    """How many multiply-accumulates an iteration does, by how many instructions."""
    counts = [PRODUCTS.get((name, operands.split(",")[0].split(".")[-1]), 0) for _, name, operands in loop
              if name.startswith(wanted)]
    return sum(counts), sum(count > 0 for count in counts)


def main():
    build, show = sys.argv[1], "--show" in sys.argv
    short = 0
    for kernel, source, wanted, bar in LOOPS:
        path = os.path.join(build, "src/CMakeFiles/rk_kernels.dir/kernels", source + ".o")
        best = max((loop for code in functions(path) for loop in innermost_loops(code)),
                   key=lambda loop: (products(loop, wanted)[1], -len(loop)), default=[])
        count, instructions = products(best, wanted) if best else (0, 0)
        share = instructions / len(best) if best else 0
        if show:
            print("\n".join(f"    {name:8} {operands}" for _, name, operands in best))
        ok = share >= bar
        short += not ok
        print(f"FIGURE arm64 {kernel}: {wanted} among the instructions of the inner loop | {instructions} of {len(best)} "
              f"({share * 100:.0f} %), {count} products, {len(best) / count * 16 if count else 0:.2f} instructions for 16 | "
              f">= {bar * 100:.0f} % | {'ok' if ok else 'SHORT'}", flush=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
