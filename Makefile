# make demo: the product's main job, from a bare checkout.   make test: the whole suite.
# Both do all set-up first; a second run installs and rebuilds nothing without need.
SHELL := /bin/bash
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
PYTHON := $(if $(PASSNET_PYTHON),$(PASSNET_PYTHON),.venv/bin/python)
SHARED ?= ../shared

.PHONY: help setup build demo test check-all check-peers sanitize gpu-check fuzz bench samples format tidy clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: ## install system packages, torch and NVRTC (into .venv)
	@tools/setup

OPTIONS = -DPASSNET_SHARED="$(abspath $(SHARED))" $(if $(PASSNET_PYTHON),-DPASSNET_PYTHON="$(PASSNET_PYTHON)")
build/options: FORCE  # what was configured; touched when that changes
	@mkdir -p build; echo '$(OPTIONS)' | cmp -s - $@ || echo '$(OPTIONS)' >$@
FORCE:

build/build.ninja: CMakeLists.txt CMakePresets.json build/options | setup
	@cmake --preset release $(OPTIONS) >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }; rm -f build.log

build: build/build.ninja ## build build/passnet
	@cmake --build build -j $(JOBS) -- --quiet

DEMO_TASKS = qwen2_silu_mlp gpt2_tanh_gelu llama_rms_norm
demo: build ## bench hand-written passes, the author's and none on three tasks of samples/, and print the table
	@build/passnet doctor
	@echo
	@build/passnet eval samples/qwen2_silu_mlp --passes examples/silu_mul --no-files || true
	@echo
	@rm -rf build/demo && build/passnet bench $(DEMO_TASKS:%=samples/%) --candidates hand=examples/hand,author,none --budget 0.5 --out build/demo
	@echo "The author's passes are in build/demo/author, the records in build/demo/records.jsonl."
	@echo
	@echo "== An agent without a language model: the author answers through the same tools"
	@rm -rf build/demo-agent && build/passnet agent run samples/gpt2_tanh_gelu --model author --budget 0.5 --out build/demo-agent
	@build/passnet agent export build/demo-agent --format transcript 2>/dev/null | sed -n '/--- step 3/,$$p'
	@for format in r2e openai sharegpt; do build/passnet agent export build/demo-agent --format $$format -o build/demo-agent/$$format.jsonl 2>/dev/null; done
	@echo "The event log, and trajectories for training in three formats, are in build/demo-agent."

# $(call ctest,FOLDER,ENVIRONMENT,OPTIONS): the tests, their sum, and whether they passed.
ctest = (cd $(1) && $(2) ctest --output-on-failure --test-output-size-passed 1000000 --output-junit ctest.xml $(3)); \
	code=$$?; $(PYTHON) tests/summary.py $(1)/ctest.xml; exit $$code

# Drawn inputs are the same on every machine, so that what fails there fails here.
test: build ## run the whole suite; ends with 'N passed, N failed'
	@$(call ctest,build,PASSNET_DRAW_SECRET=test,-j $(JOBS))

check-all: build ## as test, every graph of $(SHARED)/passbench against Python torch, kernels against Triton's interpreter (an hour)
	@$(call ctest,build,PASSNET_ALL=1 TILE_RANDOM_COUNT=400,-j 1)

check-peers: build ## the agent against LiteLLM, mcp, fastmcp, openenv-core and datasets from PyPI (into .venv-peers)
	@test -e .venv-peers/.done || { python3 -m venv .venv-peers && .venv-peers/bin/pip install -q -r tests/agent/requirements-peers.txt && touch .venv-peers/.done; }
	@$(PYTHON) tests/agent/peers_test.py build/passnet samples

# Leaks are looked for in the unit tests (tests/unit/CMakeLists.txt): that takes seconds a process, and the text cases are thousands of them.
sanitize: setup ## the suite under address and undefined-behaviour sanitizers
	@cmake --preset sanitize $(OPTIONS) >/dev/null && cmake --build --preset sanitize -j $(JOBS) -- --quiet
	@$(call ctest,build-sanitize,ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0,-j $(JOBS) -LE differential)

gpu-check: ## build, compare and time on a machine with a GPU; the report goes to docs/gpu-report.txt
	@set -o pipefail; tools/gpu-check $(CMAKE_OPTIONS) | tee docs/gpu-report.txt

MINUTES ?= 15
fuzz: setup ## fuzz everything that reads text, MINUTES=15 each, and print the coverage (needs clang)
	@tests/fuzz/run.sh $(MINUTES)

bench: build ## every benchmark, both sides of each claim from one run
	@PASSBENCH="$(SHARED)/passbench" bench/run $(PYTHON)

samples: ## make samples/ again (its own environment in .venv-samples)
	@test -e .venv-samples || { python3 -m venv .venv-samples && .venv-samples/bin/pip install -q -r python/requirements-samples.txt; }
	@.venv-samples/bin/python python/make_samples.py

format: ## clang-format every source
	@git ls-files '*.cpp' '*.h' | xargs clang-format -i

tidy: build ## clang-tidy over src
	@git ls-files 'src/*.cpp' | xargs clang-tidy -p build --quiet

clean: ## remove what was built
	@rm -rf build build-*
