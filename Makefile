# The front door. `make demo` shows the product, `make test` proves it; both install what they need from Debian
# packages (packages.txt), configure, build and run. Everything is built below build/.
SHELL := /bin/bash
.DEFAULT_GOAL := help

BUILD := build
JOBS ?= $(shell nproc)
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PYTHON := /usr/bin/python3

.PHONY: help
help:
	@echo "make demo     convert the bundled detector to int8, run it through the C API, draw what it finds"
	@echo "make test     everything: sanitized unit tests, ABI, end-to-end figures; ends with 'N passed, N failed'"
	@echo "make deps     install the Debian packages of packages.txt that are missing (the other targets do it too; NO_INSTALL=1: they only name them)"
	@echo "make release  build/release: librknnrt.so, librknn_toolkit.so, the rknn command"
	@echo "make wheel    build/dist: the Python packages rknn and rknnlite; make check-python tries them"
	@echo "make packages  build/packages: wheels and Debian packages for old and new systems, notices, checksums; packages-arm64: for ARM, too"
	@echo "make docs     build/site: the documentation as a site (needs mkdocs)"
	@echo "make wheel-arm64  the same for 64-bit ARM, cross-compiled and tried under qemu-user"
	@echo "make test-arm64  kernel tests, C callers and a model's bytes for 64-bit ARM under qemu-user"
	@echo "make dev      build/dev: the same with ASan and UBSan"
	@echo "make check-foundation  the acceptance figures of fp16, zero-copy, chips and hardening (about 10 minutes)"
	@echo "make check-frontends  TFLite, TensorFlow, Darknet and Caffe models against other engines (needs ../shared)"
	@echo "make check-onnx  the ONNX standard's conformance cases against their bars (needs ../shared)"
	@echo "make check-quant  accuracy figures of int8, of accuracy analysis and of calibration (needs ../shared)"
	@echo "make check-matmul  rknn_matmul_api.h and rknn_custom_op.h: results, sanitized run, examples, speed"
	@echo "make check-vendor  figures on files made by the vendor's converter (needs ../shared)"
	@echo "make check-interop  register lists and constants beside the vendor compiler's; encrypted models (needs ../shared and RK_VENDOR_FURTHER)"
	@echo "make check-cost  the cost model beside the vendor compiler's tables (needs ../shared)"
	@echo "make check-applications  generated programs, librga, examples, video, CI template (needs ../shared, cargo, crossbuild-essential-arm64, qemu-user)"
	@echo "make bench    networks through the C API, beside ONNX Runtime and OpenVINO where they are installed; bench-kernels, bench-peers"
	@echo "make check-runtime  the C interface: flows, threads, load, random calls, overhead (LONG=1: 20 minutes more)"
	@echo "make check-server  rknn_server: same bytes (also for 64-bit ARM under qemu-user), faults, load, sanitized (about 10 minutes and builds)"
	@echo "make check-report  pages of rknn report in a browser (needs ../shared and chromium)"
	@echo "make check-speed  the benchmark judged against its bars (about 8 minutes)"
	@echo "make check-sound  failing memory, killed exports, bombs, guard pages, pairs of features, fuzzing, coverage (LONG=1: four hours more)"
	@echo "make check-hardening  unit tests under valgrind: no decision by memory that nobody wrote (about 20 minutes)"
	@echo "make check-install  packages in freshly installed systems, first steps, pages in a browser (needs mmdebstrap, chromium, ../shared)"
	@echo "make check-house  the tree itself: words, sizes, guides, options, variants, golden files, install, other builds"
	@echo "make fuzz     libFuzzer programs of every reader (clang from Debian), run for SECONDS=240"
	@echo "make coverage  lines of every module that the tests reach"
	@echo "make clean    remove build/"

# $(call INSTALL,names): the Debian packages of these that are missing are named, then installed; apt's lists are refreshed
# only when something has to be installed. NO_INSTALL=1 names them and stops.
INSTALL = missing=$$(for p in $(1); do \
	  dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	  if [ -n "$(NO_INSTALL)" ]; then echo "missing Debian packages (without NO_INSTALL they are installed):" $$missing; exit 1; fi; \
	  echo "installing Debian packages:" $$missing; \
	  $(SUDO) apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi

# Every target that builds comes past here.
.PHONY: deps
deps:
	@$(call INSTALL,$$(grep -v '^#' packages.txt))

# configure-<preset>: quiet unless it fails.
configure-%: deps
	@cmake/configure.sh $* $(BUILD)

NINJA = cmake --build $(BUILD)/$(1) -j $(JOBS) --target $(2) -- $(if $(CI),--quiet,)

.PHONY: release dev
release dev: %: configure-%
	@$(call NINJA,$@,all)

.PHONY: demo
demo: configure-release
	@$(call NINJA,release,signs_demo rknn)
	@$(BUILD)/release/examples/signs_demo examples/signs $(BUILD)/demo

# The layout of code is part of it (tests/house/layout.py), and clang-tidy on what the last commits touch (tidy.py); our
# libraries are loaded beside torch's, and autosparsity trains a model of it.
.PHONY: test test-packages
test-packages:
	@$(call INSTALL,clang-format-14 clang-tidy-14 python3-torch)
test: test-packages dev release
	@$(PYTHON) tests/run.py --dev $(BUILD)/dev --release $(BUILD)/release

# The acceptance checks reuse the release build; they are not part of `make test`.
.PHONY: check-foundation
check-foundation: configure-release configure-tsan
	@$(call NINJA,release,foundation rknn fuzz e2e)
	@$(call NINJA,tsan,units_base units_runtime units_capi)
	@$(PYTHON) tests/check.py check-foundation \
	  -- $(BUILD)/release/tests/foundation/foundation \
	  -- $(BUILD)/release/tests/e2e/e2e --gtest_filter='ClientPatterns.*' \
	  -- $(BUILD)/tsan/src/units_base \
	  -- $(BUILD)/tsan/src/units_runtime \
	  -- $(BUILD)/tsan/src/units_capi \
	  -- LONG=1 $(BUILD)/release/tests/fuzz/fuzz

# The ONNX standard's node tests, single-layer nets and whole networks (needs ../shared for all but the last).
.PHONY: check-onnx
check-onnx: configure-release
	@$(call NINJA,release,onnx_conformance quantized_ops networks)
	@$(PYTHON) tests/conformance/check.py --binary $(BUILD)/release/tests/conformance/onnx_conformance \
	  --quantized $(BUILD)/release/tests/conformance/quantized_ops --networks $(BUILD)/release/tests/networks/networks

# TFLite, TensorFlow, Darknet, Caffe and TorchScript: tiny models, real networks and single layers of ../shared, 20,000 damaged
# files each, libFuzzer on each for 30 s (LONG=1: ten minutes).
FRONTENDS ?= tflite,tensorflow,darknet,caffe,torchscript
.PHONY: check-frontends frontend-fuzzers
frontend-fuzzers: fuzz-packages configure-fuzz
	@$(call NINJA,fuzz,frontend_fuzzers)
check-frontends: configure-release frontend-fuzzers
	@$(call NINJA,release,frontend_cases frontend_run frontend_damaged frontend_torchscript damaged_pt)
	@$(PYTHON) tests/check.py check-frontends \
	  -- $(BUILD)/release/tests/frontends/frontend_cases \
	  -- $(PYTHON) tests/frontends/check.py --binary $(BUILD)/release/tests/frontends/frontend_run --formats $(FRONTENDS) \
	     --work $(BUILD)/check-frontends \
	  -- $(PYTHON) tests/frontends/switched_off.py --work $(BUILD)/check-frontends/off \
	  -- LONG=1 $(BUILD)/release/tests/frontends/frontend_damaged \
	  -- RKNN_IMPORT_TORCHSCRIPT=$(BUILD)/release/tools/import_torchscript/rknn-import-torchscript \
	     $(BUILD)/release/tests/frontends/frontend_torchscript \
	  -- $(PYTHON) tests/frontends/torchscript/check.py --binary $(BUILD)/release/tests/frontends/frontend_run \
	     --work $(BUILD)/check-frontends/torchscript_digits \
	  -- $(PYTHON) tests/frontends/torchscript/damage.py $(BUILD)/release/tests/frontends/damaged_pt \
	  -- $(PYTHON) tests/fuzz/run.py frontends --programs $(BUILD)/fuzz/tests/fuzz --corpus $(BUILD)/fuzz/corpus \
	     --each $(if $(LONG),600,30)

# The C interface: flows in C99, threads, load, random calls, overhead. LONG=1 takes 10 minutes of load and 5 of calls.
.PHONY: check-runtime
check-runtime: configure-release configure-dev configure-tsan
	@$(call NINJA,release,runtime_check e2e rknn rknnmrt abi_flows abi_write_models)
	@$(call NINJA,dev,runtime_check abi_flows abi_write_models abi_caller units_runtime units_capi)
	@$(call NINJA,tsan,runtime_check abi_flows abi_write_models units_runtime units_capi)
	@$(PYTHON) tests/check.py check-runtime \
	  -- ctest --test-dir $(BUILD)/dev -R '^(abi_|doc_examples)' --no-tests=error --output-on-failure \
	  -- ctest --test-dir $(BUILD)/tsan -R '^abi_(models|flow_(multi_thread|multi_batch|async|general))' --no-tests=error --output-on-failure \
	  -- $(BUILD)/dev/src/units_runtime -- $(BUILD)/dev/src/units_capi \
	  -- $(BUILD)/tsan/src/units_runtime -- $(BUILD)/tsan/src/units_capi \
	  -- $(BUILD)/release/tests/e2e/e2e --gtest_filter='ClientPatterns.*:DynamicShape.*' \
	  -- $(BUILD)/release/tests/runtime/runtime_check \
	  -- LONG= $(BUILD)/tsan/tests/runtime/runtime_check --gtest_filter='Soak.*' \
	  -- $(BUILD)/dev/tests/runtime/runtime_check --gtest_filter='ApiFuzz.*'

# rknn_server and its clients: on this machine, sanitized, and for 64-bit ARM under qemu-user. Needs the Debian packages
# crossbuild-essential-arm64, qemu-user and python3-distributed, and tritonclient[grpc] of PyPI in TRITON_PYTHON. PARTS:
# those of tests/server/check.py, default all.
TRITON_PYTHON ?= $(BUILD)/triton-venv/bin/python
.PHONY: check-server triton-venv
triton-venv:
	@$(BUILD)/triton-venv/bin/python -c 'import tritonclient.grpc' 2>/dev/null || { $(PYTHON) -m venv $(BUILD)/triton-venv && \
	  $(BUILD)/triton-venv/bin/pip install -q 'tritonclient[grpc]' numpy; }
check-server: configure-release configure-dev configure-tsan triton-venv
	@cmake/sysroot_arm64.sh $(BUILD)/sysroot-arm64
	@cmake/configure.sh aarch64 $(BUILD)
	@$(call NINJA,release,rknn_server rknn_remote server_test server_check rknnrt_stand_in rkcst_pair rknn_toolkit rknn \
	  rknnrt signs_demo)
	@$(call NINJA,dev,rknn_server rknnrt)
	@$(call NINJA,tsan,rknn_server rknnrt)
	@$(call NINJA,aarch64,rknn_server rknn_remote rknnrt)
	@mkdir -p $(BUILD)/aarch64/plugins
	@aarch64-linux-gnu-gcc -shared -fPIC -O2 -Iinclude tests/matmul/plugin.c \
	  -o $(BUILD)/aarch64/plugins/librkcst_pair.so
	@$(BUILD)/release/examples/signs_demo examples/signs $(BUILD)/demo >/dev/null
	@$(PYTHON) tests/check.py check-server $(foreach part,$(or $(PARTS),local vendor arm evaluate triton cost load faults \
	  asan tsan),-- $(PYTHON) tests/server/check.py $(part) --build $(BUILD)/release --dev $(BUILD)/dev --tsan $(BUILD)/tsan \
	  --arm $(BUILD)/aarch64 --sysroot $(BUILD)/sysroot-arm64 --signs $(BUILD)/demo/signs.rknn \
	  --triton-python $(TRITON_PYTHON))

# Products of matrices and custom operators: every figure beside its bar, the sanitized run, the examples, the speed.
.PHONY: check-matmul
check-matmul: configure-release configure-dev
	@$(call NINJA,release,matmul_check matmul_bench matmul_demo custom_op_cpu custom_op_gpu rknn_toolkit rknnrt units_kernels)
	@$(call NINJA,dev,matmul_check)
	@$(PYTHON) tests/check.py check-matmul \
	  -- RK_NEED_SHARED=1 RK_NEED_OPENCL=1 $(BUILD)/release/tests/matmul/matmul_check \
	  -- RK_NEED_SHARED=1 $(BUILD)/dev/tests/matmul/matmul_check --gtest_filter=-GpuOp.* \
	  -- $(BUILD)/release/src/units_kernels --gtest_filter='Matrix*' \
	  -- $(PYTHON) tests/matmul/examples.py --build $(BUILD)/release --work $(BUILD)/check-matmul --need-gpu \
	  -- $(BUILD)/release/bench/matmul_bench

# Quantization and accuracy analysis: every figure beside its bar. The networks of the speed figures are made on demand.
.PHONY: check-quant
check-quant: configure-release
	@$(call NINJA,release,quant_check rknn)
	@$(PYTHON) bench/models.py $(BUILD)/bench/models --only mobilenet_v2
	@$(PYTHON) bench/models.py $(BUILD)/bench/models --only yolov5s_relu
	@$(PYTHON) tests/check.py check-quant \
	  -- RK_BENCH_MODELS=$(BUILD)/bench/models $(BUILD)/release/tests/quant/quant_check \
	  -- $(PYTHON) tests/quant/reproduce.py $(BUILD)/release/tools/rknn/rknn

# Files made by the vendor's converter: every figure beside its bar. LONG=1 takes 50,000 damaged files.
.PHONY: check-vendor
check-vendor: configure-release
	@$(call NINJA,release,vendor_check vendor_corpus vendor_cost vendor_emulator vendor_lift)
	@$(PYTHON) tests/vendor/check.py $(BUILD)/release

# What we write for a board beside what the vendor's compiler writes.
.PHONY: check-interop
check-interop: configure-release
	@$(call NINJA,release,register_compare constant_compare own_lists interop_encryption units_format rknn)
	@$(PYTHON) tests/interop/check.py $(BUILD)/release

# What a model costs on a chip, counted beside the tables of the vendor's compiler.
.PHONY: check-cost
check-cost: configure-release
	@$(call NINJA,release,cost_check rknn)
	@$(PYTHON) tests/check.py check-cost -- $(PYTHON) tests/cost/check.py $(BUILD)/release/tests/cost/cost_check \
	  -- $(PYTHON) tests/cost/boards.py $(BUILD)/release/tools/rknn/rknn

# Applications: generated programs, the 2D engine's calls, the examples.
EXAMPLE_PROGRAMS := $(foreach name,dynamic_shape face face_compare mobilenet pool segmentation tracking vad video yolov5,rknn_$(name)_demo)
.PHONY: check-applications
check-applications: configure-release
	@cmake/sysroot_arm64.sh $(BUILD)/sysroot-arm64
	@cmake/configure.sh aarch64 $(BUILD)
	@$(call NINJA,release,rknn rknn_toolkit rknnrt rga rga_caller mpimmz openrknn_board board_caller matmul_demo custom_op_cpu custom_op_gpu \
	  $(EXAMPLE_PROGRAMS))
	@$(call NINJA,aarch64,rknnrt rga rknn_yolov5_demo)
	@$(PYTHON) tests/check.py check-applications \
	  -- $(BUILD)/release/tests/applications/rga_caller \
	  -- $(PYTHON) tests/applications/rga_check.py $(BUILD)/release/src/rga/librga.so \
	  -- $(PYTHON) -B tests/applications/examples_check.py --build $(BUILD)/release --work $(BUILD)/check-applications/examples \
	  -- $(PYTHON) tests/matmul/examples.py --build $(BUILD)/release --work $(BUILD)/check-applications/matmul --need-gpu \
	  -- $(PYTHON) -B tests/applications/demo_check.py --build $(BUILD)/release --work $(BUILD)/check-applications/demo \
	  -- LD_PRELOAD=$(abspath $(BUILD))/release/src/standins/libopenrknn_board.so RKNN_TARGET=rk3588 $(BUILD)/release/tests/applications/board_caller \
	     $(BUILD)/check-applications/examples/digits_i8.rknn \
	  -- $(PYTHON) -B tests/applications/video_check.py --build $(BUILD)/release --work $(BUILD)/check-applications/video \
	  -- $(PYTHON) -B tests/applications/ci_check.py --build $(BUILD)/release --work $(BUILD)/check-applications/ci \
	  -- $(PYTHON) -B tests/applications/install_check.py --build $(BUILD) --work $(BUILD)/check-applications/install \
	  -- $(PYTHON) tests/applications/codegen_check.py --build $(BUILD)/release --work $(BUILD)/check-applications/codegen \
	     --arm64 $(BUILD)/aarch64/src/capi

# One wheel for every Python: both packages, both libraries with what they need, headers, the rknn command.
.PHONY: wheel
wheel: release
	@$(PYTHON) python/make_wheel.py --build $(BUILD)/release --output $(BUILD)/dist

# The same for 64-bit ARM, tried under qemu-user beside this machine's: needs crossbuild-essential-arm64 and qemu-user.
.PHONY: wheel-arm64
wheel-arm64: deps wheel
	@cmake/sysroot_arm64.sh $(BUILD)/sysroot-arm64
	@cmake/configure.sh aarch64 $(BUILD)
	@$(call NINJA,aarch64,rknn_toolkit rknn_remote rknnrt rknn)
	@$(PYTHON) python/make_wheel.py --build $(BUILD)/aarch64 --output $(BUILD)/dist --machine aarch64 \
	  --sysroot $(BUILD)/sysroot-arm64
	@$(PYTHON) tests/python/check_arm64.py --sysroot $(BUILD)/sysroot-arm64 \
	  --wheel $(BUILD)/dist/openrknn-*-py3-none-manylinux_*_aarch64.whl

# Everything that is published: wheels and Debian packages that run on old systems, notices, checksums (packaging/).
PACKAGING_PACKAGES := dpkg-dev nasm python3-six unicode-data
.PHONY: packages packages-arm64 packaging-packages
packaging-packages:
	@$(call INSTALL,$(PACKAGING_PACKAGES))
PACKAGED := rknn rknn_toolkit rknnrt rknnmrt rknnrt_static rknnmrt_static rga mpimmz openrknn_board rknn_server rknn_remote \
  rknn-import-torchscript
packages: configure-release packaging-packages
	@$(call NINJA,release,$(PACKAGED))
	@packaging/release.sh $(BUILD) $(BUILD)/packages
packages-arm64: configure-release packaging-packages
	@$(call NINJA,release,$(PACKAGED))
	@cmake/sysroot_arm64.sh $(BUILD)/sysroot-arm64
	@cmake/configure.sh aarch64 $(BUILD)
	@$(call NINJA,aarch64,$(filter-out rknn-import-torchscript,$(PACKAGED)))
	@packaging/release.sh $(BUILD) $(BUILD)/packages x86_64 aarch64

# The runtime for 64-bit ARM and its kernel tests under qemu-user: needs crossbuild-essential-arm64, qemu-user, libgtest-dev.
.PHONY: test-arm64
test-arm64: configure-release configure-aarch64-tests
	@$(call NINJA,release,rknn outputs)
	@$(call NINJA,aarch64-tests,units_kernels outputs abi_layout_c abi_layout_cpp abi_caller abi_write_models abi_flows)
	@$(PYTHON) tests/arm64/check.py --arm $(BUILD)/aarch64-tests --host $(BUILD)/release \
	  --rknn $(BUILD)/release/tools/rknn/rknn --work $(BUILD)/test-arm64
	@$(PYTHON) tests/kernels/inner_loops.py arm64 $(BUILD)/aarch64-tests

.PHONY: check-python
check-python: wheel
	@$(PYTHON) tests/python/check.py --wheel $(BUILD)/dist/openrknn-*-py3-none-manylinux_*_$(shell uname -m).whl

# Kernels with Google Benchmark, then whole networks beside ONNX Runtime where a python has it (see bench/run.py).
BENCH := --build $(BUILD)/release --work $(BUILD)/bench
.PHONY: bench bench-kernels bench-peers
bench: configure-release
	@$(call NINJA,release,rknn network quant_check)
	@$(PYTHON) bench/run.py $(BENCH)
	@$(PYTHON) bench/models.py $(BUILD)/bench/models --only mobilenet_v2
	@RK_BENCH_MODELS=$(BUILD)/bench/models $(BUILD)/release/tests/quant/quant_check \
	  --gtest_filter='Calibration.CostsLittle*' | grep '^FIGURE'
bench-kernels: configure-release
	@$(call NINJA,release,kernels_bench)
	@$(BUILD)/release/bench/kernels_bench --benchmark_min_time=0.1
# Every figure of the benchmark beside its bar, and that every kernel variant gives the generic one's bytes.
.PHONY: check-speed
check-speed: configure-release
	@$(call NINJA,release,rknn network units_kernels)
	@$(PYTHON) tests/check.py check-speed \
	  -- $(PYTHON) bench/run.py $(BENCH) --all \
	  -- $(PYTHON) bench/judge.py $(BUILD)/bench/results.json \
	  -- $(BUILD)/release/src/units_kernels \
	  -- ctest --test-dir $(BUILD)/release -R '^inner_loops$$' --output-on-failure --no-tests=ignore
bench-peers:
	@$(PYTHON) -m venv $(BUILD)/bench-venv && $(BUILD)/bench-venv/bin/pip install -q onnxruntime openvino numpy

# libFuzzer programs, one per reader, with seeds made of the operators' stored cases. Not part of `make test`.
FUZZ_PACKAGES := clang-14 libclang-rt-14-dev
SECONDS ?= $(if $(LONG),14400,240)
FUZZ := $(PYTHON) tests/fuzz/run.py
.PHONY: fuzz-packages fuzzers fuzz
fuzz-packages:
	@$(call INSTALL,$(FUZZ_PACKAGES))
	@command -v clang++-14 >/dev/null || { echo "clang is absent, libFuzzer needs it: apt install $(FUZZ_PACKAGES)"; exit 1; }
fuzzers: fuzz-packages configure-fuzz
	@$(call NINJA,fuzz,fuzzers fuzz_replay)
	@$(FUZZ) seeds --replay $(BUILD)/fuzz/tests/fuzz/fuzz_replay --corpus $(BUILD)/fuzz/corpus
fuzz: fuzzers
	@$(PYTHON) tests/check.py fuzz \
	  -- $(FUZZ) fuzz --programs $(BUILD)/fuzz/tests/fuzz --corpus $(BUILD)/fuzz/corpus --seconds $(SECONDS)

# Lines that tests reach: units, end to end, tiny models of every format, plug-ins and products, lifted files, damaged
# files, the seeds of fuzzing (with the standard's node tests and files of the vendor's converter, where ../shared has them).
COVERED := $(BUILD)/coverage
COVERAGE_BARS := --bar format=90 --bar frontends=90 --bar verify=90 --bar capi=90
.PHONY: coverage-run coverage
coverage-run: configure-coverage
	@$(call NINJA,coverage,units e2e fuzz fuzz_replay frontend_cases matmul_check golden_lift)
	@find $(COVERED) -name '*.gcda' -delete
	@-$(COVERED)/src/units >$(COVERED)/units.log 2>&1
	@-$(COVERED)/tests/e2e/e2e >$(COVERED)/e2e.log 2>&1
	@-env -u LONG $(COVERED)/tests/fuzz/fuzz >$(COVERED)/fuzz.log 2>&1
	@-$(COVERED)/tests/frontends/frontend_cases >$(COVERED)/frontends.log 2>&1
	@-$(COVERED)/tests/matmul/matmul_check --gtest_filter=-GpuOp.* >$(COVERED)/matmul.log 2>&1
	@-$(COVERED)/tests/golden/golden_lift >$(COVERED)/golden.log 2>&1
	@$(FUZZ) seeds --replay $(COVERED)/tests/fuzz/fuzz_replay --corpus $(COVERED)/corpus
	@-$(FUZZ) replay --replay $(COVERED)/tests/fuzz/fuzz_replay --corpus $(COVERED)/corpus >$(COVERED)/replay.log 2>&1
coverage: coverage-run
	@$(PYTHON) tests/sound/coverage.py $(COVERED)

# Faults of the machine, of files and of callers. LONG=1 fails every allocation and fuzzes for four hours.
PRODUCTS := $(BUILD)/release/tools/rknn/rknn $(BUILD)/release/src/capi/librknnrt.so $(BUILD)/release/src/capi/librknnmrt.so \
  $(BUILD)/release/src/toolkit/librknn_toolkit.so
.PHONY: check-sound
check-sound: configure-release fuzzers coverage-run
	@$(call NINJA,release,rknn rknnrt rknnmrt rknn_toolkit fuzz sound failing_memory guard_malloc pairs units_kernels)
	@$(PYTHON) tests/check.py check-sound \
	  -- $(BUILD)/release/tests/fuzz/fuzz --gtest_filter='BadFiles.*' \
	  -- $(PYTHON) tests/sound/bombs.py $(BUILD)/release/tools/rknn/rknn tests/fuzz/bad \
	  -- $(BUILD)/release/tests/sound/sound \
	  -- $(BUILD)/release/tests/sound/failing_memory \
	  -- LD_PRELOAD=$(CURDIR)/$(BUILD)/release/tests/sound/libguard_malloc.so $(BUILD)/release/src/units_kernels \
	  -- $(PYTHON) tests/sound/hardening.py $(PRODUCTS) \
	  -- $(BUILD)/release/tests/sound/pairs/pairs \
	  -- $(PYTHON) -B tests/python/check_pads.py $(BUILD)/release/tools/rknn/rknn \
	  -- ctest --test-dir $(BUILD)/release -R '^python_(signatures|wheel)$$' --no-tests=error --output-on-failure \
	  -- $(PYTHON) tests/sound/coverage.py $(COVERED) $(COVERAGE_BARS) \
	  -- $(FUZZ) fuzz --programs $(BUILD)/fuzz/tests/fuzz --corpus $(BUILD)/fuzz/corpus --seconds $(SECONDS)

# Memory that was never written: the sanitizers of the dev build do not see it, valgrind does.
.PHONY: check-hardening
check-hardening: configure-memcheck
	@$(call INSTALL,valgrind)
	@$(call NINJA,memcheck,units)
	@$(PYTHON) tests/check.py check-hardening -- $(PYTHON) tests/sound/memcheck.py $(BUILD)/memcheck/src/units

# Pages of `rknn report` in a real browser (Debian's chromium); screenshots are left in $(BUILD)/check-report.
REPORT_MODELS = $(wildcard $(foreach name,digits/digits fastestdet/FastestDet ort_mnist/mnist rk_concat_block/concat_block \
  ultraface_rfb320/version-RFB-320 ultraface_rfb320_simplified/version-RFB-320_simplified vittracker/vitTracker \
  yunet_n_320/yunet_n_320_320,../shared/assets/models/onnx/$(name).onnx))
YOLO := $(BUILD)/bench/models/yolov5s_relu.float.onnx
# Accessibility is judged by axe-core of npm, where that can be had.
AXE := $(BUILD)/axe/node_modules/axe-core/axe.min.js
BROWSER_CHECK = $(PYTHON) -B tests/report/browser_check.py --rknn $(BUILD)/release/tools/rknn/rknn --work $(BUILD)/check-report \
  --axe $(AXE) --analyzed $(YOLO) $(BUILD)/check-report/dataset.txt ../shared/assets/images/bus.jpg $(REPORT_MODELS)
.PHONY: check-report report-inputs
report-inputs:
	@$(PYTHON) bench/models.py $(BUILD)/bench/models --only yolov5s_relu
	@mkdir -p $(BUILD)/check-report $(BUILD)/axe
	@echo $(abspath ../shared/assets/images/bus.jpg) >$(BUILD)/check-report/dataset.txt
	@[ -e $(AXE) ] || ! command -v npm >/dev/null || (cd $(BUILD)/axe && npm install --silent --no-save axe-core >/dev/null 2>&1) || true
check-report: configure-release report-inputs
	@$(call NINJA,release,rknn)
	@$(PYTHON) tests/check.py check-report -- $(BROWSER_CHECK)

# What is published, in freshly installed systems: packages, symbol versions, first steps, help texts, pages in a browser.
# Needs root, mmdebstrap, mkdocs, chromium and the archives of Debian and Ubuntu; the systems are kept in $(BUILD)/roots.
.PHONY: check-install
check-install: packages report-inputs
	@command -v mmdebstrap >/dev/null || { echo "make check-install needs the Debian package mmdebstrap"; exit 1; }
	@$(PYTHON) tests/check.py check-install \
	  -- $(PYTHON) -B tests/install/symbols.py $(BUILD)/packages/openrknn-*.whl \
	  -- $(PYTHON) -B tests/install/packages_check.py --build $(BUILD) --packages $(BUILD)/packages \
	  -- $(PYTHON) -B tests/report/view_check.py $(BUILD)/release/tools/rknn/rknn examples/digits \
	  -- $(PYTHON) -B tests/install/command_line_check.py $(BUILD)/release/tools/rknn/rknn \
	  -- PYTHONPATH=python OPENRKNN_LIBRARY_DIR=$(BUILD)/release/src/toolkit:$(BUILD)/release/src/capi \
	     $(PYTHON) -B tests/python/test_help.py \
	  -- $(PYTHON) -B tests/install/clean_roots.py --packages $(BUILD)/packages --build $(BUILD)/release --roots $(BUILD)/roots \
	  -- $(MAKE) -s docs \
	  -- $(PYTHON) -B tests/install/pages_check.py --packages $(BUILD)/packages --roots $(BUILD)/roots \
	  -- $(BROWSER_CHECK)

# The documentation as a site, by Debian's mkdocs: $(BUILD)/site/index.html.
.PHONY: docs
docs: configure-release
	@command -v mkdocs >/dev/null || { echo "make docs needs the Debian package mkdocs"; exit 1; }
	@$(call NINJA,release,rknn rknn_toolkit rknnrt)
	@$(PYTHON) -B packaging/docs_site.py --rknn $(BUILD)/release/tools/rknn/rknn --work $(BUILD)/docs --output $(BUILD)/site \
	  --libraries $(BUILD)/release/src/toolkit:$(BUILD)/release/src/capi

# The tree itself: words, sizes, guides, options declared once, variants tested, files of older versions, an outside
# project against an installed prefix, a runtime-only build.
.PHONY: check-house
check-house: configure-release
	@$(call NINJA,release,all)
	@$(PYTHON) tests/check.py check-house \
	  -- $(PYTHON) tests/house/check.py . \
	  -- ctest --test-dir $(BUILD)/release -R '^(layers.*|options_page|operators_page|python_(options|signatures|wheel)|golden.*|install|abi_.*|units_kernels.*|op_paths)$$' \
	     --no-tests=error --output-on-failure -j $(JOBS) \
	  -- $(PYTHON) tests/house/builds.py . $(BUILD)/house

# Layout of code is decided by .clang-format (Debian's clang-format 14); `make tidy` runs the checks of .clang-tidy on
# what differs from BASE, or with ALL=1 on every source.
BASE ?= origin/main
.PHONY: format tidy
format: test-packages
	@$(PYTHON) tests/house/layout.py . --change
tidy: test-packages configure-release
	@$(PYTHON) tests/house/tidy.py $(BUILD)/release \
	  $(if $(ALL),--all,$$(git diff --name-only --diff-filter=AM $(BASE) -- '*.cpp'))

.PHONY: clean
clean:
	rm -rf $(BUILD)
