//! Tells the linker to accept N-API symbols, which the Node process provides when it loads the addon.

fn main() {
    napi_build::setup();
}
