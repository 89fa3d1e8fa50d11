# Recipes of every day. `cargo install just`, `npm install --global rust-just` or `pipx run rust-just` has the program;
# CI and npm need none of this.

set positional-arguments

# As `napi build` has it, so that tests and addon share what is compiled.
export CARGO_BUILD_TARGET := `rustc -vV | sed -n 's/^host: //p'`

# Lists the recipes.
_default:
    @just --list --unsorted

# Installs the tools, and builds the addon and the JavaScript: once after a clone.
dev:
    npm run --silent setup
    npm run --silent build:quick

# Formatters, linters and type checkers: after every change.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    npx biome ci
    npx tsc --noEmit
    npx tsc --project js/report
    npx tsc --project __test__

# Tests of one crate, by its folder (`just test v8`), or files of the package's tests (`just test __test__/api.test.ts`).
test what *filter:
    #!/usr/bin/env bash
    set -euo pipefail
    if [ -d "crates/$1" ]; then
      name=heap-analyzer-${1//_/-}
      shift
      cargo test --package "$name" -- "$@"
    else
      npx vitest run "$@"
    fi

# The page of the explorer with vite's server, which reloads it after every edit. Without files: the dumps of the demo.
page *files:
    node .ci/page.mjs "$@"

# Writes schema/*.json from the types of options and answers, and all that is generated from it.
generate:
    cargo run --quiet --package heap-analyzer-schema
    npx vitest run -u --project package __test__/generated.test.ts

# Files for a new question, and a list of what is left to do.
new-question name:
    node .ci/new_question.mjs "$1"

# The binaries of all platforms, or of those that are named, on Linux with zig. `--release`: as they are published.
build-all *platforms:
    node .ci/platforms/build.mjs "$@"

# These binaries in emulators and in all versions of Node, with a table: size, loaded, suite passed.
run-all *platforms:
    node .ci/platforms/run.mjs "$@"

# All that CI asks of a change.
ready:
    bash .ci/run
