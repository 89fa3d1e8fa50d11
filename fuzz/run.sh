#!/usr/bin/env bash
# Fuzzes every target in turn with libFuzzer, starting from the kept corpus and the real programs:
# `npm run fuzz -- --minutes 5`; with `--target heap`, only that target. Inputs that fail are written to
# fuzz/artifacts/, new inputs to fuzz/target/corpus/, the full output to fuzz/target/logs/. `--keep` does
# not fuzz: it adds those new inputs to the kept corpus that reach code which the kept ones do not reach.
# It needs the stable toolchain and a C++ compiler, for libFuzzer.
set -euo pipefail
cd "$(dirname "$0")"

minutes=5
targets=(dump module instrument debug_info classes collector_code heap analyze compare questions expressions snapshot jvm coredump compressed native native_types)
keep=false
if [ "${1-}" = --programs ]; then
  # Compiles the real programs from which the fuzzers start.
  cd ..
  npm run --silent setup
  npm run build
  npx tsc --project fuzz/programs
  exec node build/fuzz_programs/make.mjs
fi
while (($#)); do
  case $1 in
    --minutes) minutes=$2; shift ;;
    --target) targets=("$2"); shift ;;
    --keep) keep=true ;;
    *) echo "error: unknown option $1; expected --minutes <number>, --target <${targets[*]}>, --keep or --programs" >&2; exit 2 ;;
  esac
  shift
done

# Coverage as cargo-fuzz asks for it. All of these are stable; only the sanitizers are not, and they
# would look for what safe code cannot do.
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
# With --target, so that the flags are not for build scripts.
cargo build --profile fuzz --locked --target "$host" --target-dir target --features libfuzzer --bins
programs="target/$host/fuzz"

# The kept corpus is one archive per target. It is unpacked for libFuzzer, which reads folders.
for target in "${targets[@]}"; do
  rm -rf "target/kept/$target"
  mkdir -p "target/kept/$target"
  tar -xzf "corpus/$target.tar.gz" -C "target/kept/$target"
done

if $keep; then
  for target in "${targets[@]}"; do
    # The corpus stays small: of inputs of up to 1.5 KiB, code that is reached counts,
    # not how often or with which values.
    rm -rf "target/small/$target"
    mkdir -p "target/corpus/$target" "target/small/$target"
    find "target/corpus/$target" -type f -size -4 -exec cp -t "target/small/$target" {} +
    "$programs/$target" -set_cover_merge=1 -use_counters=0 -use_cmp=0 -max_len=65536 -verbosity=0 \
      "target/kept/$target" "target/small/$target"
    # The same files make the same bytes, on any day.
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 \
      -C "target/kept/$target" -c --no-recursion $(ls "target/kept/$target") |
      gzip -9n >"corpus/$target.tar.gz"
  done
  exit
fi

mkdir -p target/logs
found=0
if ((${#targets[@]} > 1)); then
  echo "== growth: the same shapes, once and four times as large"
  if ! "$programs/growth" >target/logs/growth 2>&1; then
    found=1
    cat target/logs/growth
  fi
fi

seconds=$(awk "BEGIN { printf \"%d\", $minutes * 60 / ${#targets[@]} + 1 }")
summary=()
for target in "${targets[@]}"; do
  echo "== $target, $seconds s"
  mkdir -p "artifacts/$target" "target/corpus/$target"
  log="target/logs/$target"
  seeds=("target/corpus/$target" "target/kept/$target")
  case $target in
    # These take modules; the others read a recipe, which may ask for a real program.
    module | instrument | debug_info | collector_code) length=65536; seeds+=(programs) ;;
    snapshot | jvm | coredump | compressed) length=65536 ;;
    *) length=4096 ;;
  esac
  # The limits in src/limits.rs are tighter; these are for what never returns.
  status=0
  "$programs/$target" -max_total_time="$seconds" -max_len=$length -timeout=600 -rss_limit_mb=3072 \
    -entropic_scale_per_exec_time=1 -print_final_stats=1 -artifact_prefix="artifacts/$target/" "${seeds[@]}" >"$log" 2>&1 || status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
  finds=none
  if ((status)); then
    found=1
    artifact=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
    grep -v '^#' "$log" | tail -25
    finds="fuzz/${artifact:-target/logs/$target}; replay: fuzz/$programs/$target fuzz/${artifact:-<input>}"
  fi
  summary+=("$(printf '%-15s %10s %9s  %s' "$target" "${runs:-?}" "${edges:-?}" "$finds")")
done

printf '\n%-15s %10s %9s  %s\n' target executions edges finds
printf '%s\n' "${summary[@]}"
if ((found)); then
  echo "error: the fuzzers found something" >&2
fi
exit $found
