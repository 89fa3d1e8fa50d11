#!/usr/bin/env bash
# Fuzzes every target in turn with libFuzzer, from the kept corpus: `npm run fuzz -- --minutes 5`, and
# `--target heap` for one of them. What it finds lies in fuzz/artifacts/, what it learns in
# fuzz/target/corpus/. It takes the stable toolchain and a C++ compiler, which libFuzzer is written for.
set -euo pipefail
cd "$(dirname "$0")"

minutes=5
targets=(dump module debug_info classes collector_code heap analyze compare)
while (($#)); do
  case $1 in
    --minutes) minutes=$2 ;;
    --target) targets=("$2") ;;
    *) echo "error: unknown option $1; expected --minutes <number> or --target <${targets[*]}>" >&2; exit 2 ;;
  esac
  shift 2
done

# Coverage as cargo-fuzz asks for it. All of these are stable; only the sanitizers are not, and they
# would look for what safe code cannot do.
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
# With --target, so that the flags are not for build scripts.
cargo build --release --locked --target "$host" --features libfuzzer --bins

seconds=$(awk "BEGIN { printf \"%d\", $minutes * 60 / ${#targets[@]} + 1 }")
found=0
for target in "${targets[@]}"; do
  echo "== $target, $seconds s"
  mkdir -p "artifacts/$target" "target/corpus/$target" "corpus/$target"
  "target/$host/release/$target" -max_total_time="$seconds" -max_len=8192 -timeout=30 -rss_limit_mb=3072 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="artifacts/$target/" \
    "target/corpus/$target" "corpus/$target" || found=1
done
exit $found
