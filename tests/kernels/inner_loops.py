#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inner loops of kernels, counted in the disassembly: of ARM ones because time cannot be measured under emulation, of x86 ones
because many a CPU that they are for is not at hand.

    inner_loops.py arm64|x86 BUILD_FOLDER [--show]     --show prints the loops

For each kernel the innermost loop with the most products is looked at: how many multiply-accumulates it does, and how many
of its instructions are products. A loop that spills its sums or widens its operands has few. x86 kernels for CPUs without
AVX-512 must not have a single instruction of its encoding (EVEX), and the loops of those for 256 bits no register of 512.
"""
import os
import re
import subprocess
import sys

# Products of one instruction by mnemonic and the type of its result.
PRODUCTS = {("sdot", "4s"): 16, ("smmla", "4s"): 32, ("smlal", "4s"): 4, ("smlal2", "4s"): 4, ("mla", "8h"): 8,
            ("fmla", "4s"): 4, ("fmla", "8h"): 8,
            ("vpdpbusd", "ymm"): 32, ("vpdpbusd", "zmm"): 64, ("vpmaddubsw", "ymm"): 32, ("vpmaddwd", "ymm"): 16,
            ("vfmadd231ps", "ymm"): 8, ("vfmadd231ps", "zmm"): 16}
# Kernel, object file below src/kernels, products that its loop is made of, least share of them among its instructions; x86:
# also the widest registers and the encoding it may use.
LOOPS = {
    "arm64": [("conv_i8__i8mm_4x16", "conv/i8/arm64_i8mm.cpp", "smmla", 0.45),
              ("conv_i8__dotprod_5x16", "conv/i8/arm64_dotprod.cpp", "sdot", 0.5),
              ("conv_i8__neon_5x16", "conv/i8/arm64_neon.cpp", "smlal", 0.7),
              ("conv_f16, NEON", "conv/f16/arm64_neon.cpp", "fmla", 0.5),
              ("matrix_i8__i8mm_4x16", "gemm/arm64_i8mm_i8.cpp", "smmla", 0.5),
              ("matrix_i8__dotprod_6x16", "gemm/arm64_dotprod_i8.cpp", "sdot", 0.5),
              ("matrix_f16__neon_6x16", "gemm/arm64_neon_f16.cpp", "fmla", 0.5),
              ("gemm_f32__neon", "gemm/arm64_neon.cpp", "fmla", 0.5),
              ("recurrent, NEON", "recurrent/arm64_neon.cpp", "fmla", 0.25)],
    "x86": [("conv_i8__avxvnni_6x16", "conv/i8/x86_avxvnni.cpp", "vpdpbusd", 0.5, "ymm", "VEX"),
            ("conv_i8__avx512vnni256_6x16", "conv/i8/x86_avx512vnni256.cpp", "vpdpbusd", 0.5, "ymm", "EVEX"),
            ("conv_i8__avx512vnni_6x64", "conv/i8/x86_avx512vnni.cpp", "vpdpbusd", 0.5, "zmm", "EVEX"),
            ("conv_i8__avx2_6x16", "conv/i8/x86_avx2.cpp", "vpmaddwd", 0.3, "ymm", "VEX"),
            ("conv_i8__avx2_quads", "conv/i8/x86_avx2_quads.cpp", "vpmaddubsw", 0.25, "ymm", "VEX"),
            ("conv_f16__avx2", "conv/f16/x86_avx2.cpp", "vfmadd231ps", 0.45, "ymm", "VEX")],
}
OBJDUMP = {"arm64": "aarch64-linux-gnu-objdump", "x86": "objdump"}
BRANCH = re.compile(r"^(?:b(?:\.\w+)?|cbn?z|tbn?z|j\w+)$")
LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+)\t(?:\{\w+\}\s+)?(\S+)[ \t]*([^\n]*)", re.MULTILINE)
EVEX = "62"  # the first byte of such an instruction, and in 64-bit code of no other


def functions(objdump, path):
    """Lists of (address, mnemonic, operands, bytes), one per function."""
    text = subprocess.run([objdump, "-d", "-w", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    for part in re.split(r"^[0-9a-f]+ <.*>:$", text, flags=re.MULTILINE)[1:]:
        yield [(int(address, 16), name, operands, raw) for address, raw, name, operands in LINE.findall(part)]


def innermost_loops(code):
    """The instructions between the target of a branch backward and the branch, where no other loop lies inside."""
    spans = set()
    for address, name, operands, _ in code:
        target = re.search(r"([0-9a-f]+) <", operands) if BRANCH.match(name) else None
        if target and code[0][0] <= int(target.group(1), 16) <= address:
            spans.add((int(target.group(1), 16), address))
    for start, end in spans:
        if not any((s, e) != (start, end) and start <= s and e <= end for s, e in spans):
            yield [line for line in code if start <= line[0] <= end]


def result_type(operands):
    """Of ARM's first operand, v1.4s, or of x86's last, %ymm1."""
    if "%" in operands:
        return re.sub(r"\d.*", "", operands.rsplit("%", 1)[-1])
    return operands.split(",")[0].split(".")[-1]


def products(loop, wanted):
    """How many multiply-accumulates an iteration does, by how many instructions."""
    counts = [PRODUCTS.get((name, result_type(operands)), 0) for _, name, operands, _ in loop if name.startswith(wanted)]
    return sum(counts), sum(count > 0 for count in counts)


def figure(name, value, bar, ok):
    print(f"FIGURE {name} | {value} | {bar} | {'ok' if ok else 'SHORT'}", flush=True)
    return not ok


def judge(arch, build, show, kernel, source, wanted, bar, widest="", encoding=""):
    """How many figures of a kernel are short."""
    path = os.path.join(build, "src/CMakeFiles/rk_kernels.dir/kernels", source + ".o")
    code = list(functions(OBJDUMP[arch], path))
    loops = [loop for function in code for loop in innermost_loops(function)]
    best = max(loops, key=lambda loop: (products(loop, wanted)[1], -len(loop)), default=[])
    count, instructions = products(best, wanted) if best else (0, 0)
    share = instructions / len(best) if best else 0
    if show:
        print("\n".join(f"    {name:8} {operands}" for _, name, operands, _ in best))
    short = figure(f"{arch} {kernel}: {wanted} among the instructions of the inner loop",
                   f"{instructions} of {len(best)} ({share * 100:.0f} %), {count} products, "
                   f"{len(best) / count * 16 if count else 0:.2f} instructions for 16", f">= {bar * 100:.0f} %", share >= bar)
    if encoding:
        lines = [line for function in code for line in function]
        evex = sum(raw.split()[0] == EVEX for _, _, _, raw in lines)
        wide = sum(widest == "ymm" and "%zmm" in operands for _, _, operands, _ in best)
        of_loop = sum(raw.split()[0] == EVEX for _, _, _, raw in best)
        short += figure(f"{arch} {kernel}: encoding and registers", f"{evex} EVEX instructions; in the inner loop {of_loop}, "
                        f"{wide} of 512 bits", f"{encoding}, up to {widest}",
                        wide == 0 and (evex == 0 if encoding == "VEX" else of_loop > 0))
    return short


def main():
    arch, build, show = sys.argv[1], sys.argv[2], "--show" in sys.argv
    return 1 if sum([judge(arch, build, show, *row) for row in LOOPS[arch]]) else 0


if __name__ == "__main__":
    sys.exit(main())
