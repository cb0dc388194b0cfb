#!/usr/bin/env bash
# tests/fuzz/run.sh [minutes] [target...]: builds the `fuzz` preset, fuzzes each target (py, graph, author, pass, tile, kernel, log, data, chat, websocket) for that long on one
# core (0: not at all), merges what is new into its corpus, then prints the line coverage that the corpus reaches in
# src/py, src/fx, src/host, src/match, src/kernels, src/pass, src/tile, src/bench, src/agent, src/author and src/serve. Crashes are left in build-fuzz/crashes and make it exit 1.
set -euo pipefail
cd "$(dirname "$0")/../.."
minutes=${1:-1}
shift || true
targets=("$@")
[ $# -gt 0 ] || targets=(py graph author pass tile kernel log data chat websocket)
programs=("${targets[@]/#/fuzz_}")
llvm=$(clang --version | sed -nE 's/.*version ([0-9]+).*/-\1/p' | head -1)

cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target "${programs[@]}" -j1
failed=0
mkdir -p build-fuzz/crashes
for target in "${targets[@]}"; do
  corpus=tests/fuzz/corpus/$target found=build-fuzz/found_$target
  mkdir -p "$corpus" "$found"
  dict=tests/fuzz/$target.dict
  [ -e "$dict" ] || dict=tests/fuzz/python.dict
  if [ "$minutes" -gt 0 ]; then
    nice build-fuzz/fuzz_"$target" "$found" "$corpus" -dict="$dict" -max_total_time=$((minutes * 60)) \
      -max_len=4096 -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix=build-fuzz/crashes/"$target"- \
      2> build-fuzz/"$target".log || failed=1
    grep -E "stat::|ERROR|SUMMARY" build-fuzz/"$target".log || true
  fi
  # The corpus becomes the smallest files that reach what it and the finds reach.
  merged=$(mktemp -d)
  nice build-fuzz/fuzz_"$target" -set_cover_merge=1 -use_counters=0 "$merged" "$corpus" "$found" 2> /dev/null
  [ -n "$(ls "$merged")" ]
  rm -f "$corpus"/*
  cp "$merged"/* "$corpus"/
  rm -r "$merged"
done

# Coverage: the same programs, instrumented by source line and without sanitizers, replay the corpus.
cmake -S . -B build-coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_CXX_FLAGS="-fprofile-instr-generate -fcoverage-mapping -O1" -DPASSNET_FUZZ=ON -DPASSNET_TESTS=OFF > /dev/null
cmake --build build-coverage --target "${programs[@]}" -j1 > /dev/null
objects=()
for target in "${targets[@]}"; do
  LLVM_PROFILE_FILE=build-coverage/$target.profraw build-coverage/fuzz_"$target" -runs=0 tests/fuzz/corpus/"$target" 2> /dev/null
  objects+=(-object "build-coverage/fuzz_$target")
done
(cd build-coverage && "llvm-profdata$llvm" merge -o all.profdata "${targets[@]/%/.profraw}")
"llvm-cov$llvm" report "${objects[@]:1}" -instr-profile=build-coverage/all.profdata -show-functions=false \
  -show-region-summary=false -show-branch-summary=false src/py src/fx src/host src/match src/kernels src/pass src/tile src/bench/log.cpp src/bench/record.cpp src/bench/score.cpp src/agent/chat.cpp src/author src/serve/websocket.cpp
exit $failed
