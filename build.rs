//! Lets the linker leave N-API symbols to the Node process that loads the addon.

fn main() {
    if std::env::var_os("CARGO_FEATURE_NAPI").is_some() {
        napi_build::setup();
    }
}
