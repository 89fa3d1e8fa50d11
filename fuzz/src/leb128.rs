//! Unsigned LEB128 numbers, as WebAssembly and DWARF write them.

/// Reads a number at `at`, which then points to the byte after it.
pub fn read(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(value).ok();
        }
    }
    None
}

/// A number in as few bytes as possible.
pub fn encoded(value: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    wasm_encoder::Encode::encode(&value, &mut bytes);
    bytes
}

/// A number in five bytes.
pub fn padded(value: u32) -> [u8; 5] {
    [0, 7, 14, 21, 28]
        .map(|shift| (value >> shift) as u8 & 0x7f | if shift < 28 { 0x80 } else { 0 })
}
