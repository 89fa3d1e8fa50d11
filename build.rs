//! Tells the linker to accept N-API symbols, which the Node process provides when it loads the addon.

fn main() {
    if std::env::var_os("CARGO_FEATURE_NAPI").is_some() {
        napi_build::setup();
    }
}
