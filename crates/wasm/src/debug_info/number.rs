//! The number types of AssemblyScript, by the names that the debug information gives them.

/// A number or a boolean as it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum Number {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    Isize,
    Usize,
    F32,
    I64,
    U64,
    F64,
    V128,
}

impl Number {
    const ALL: [Self; 14] = [
        Self::Bool,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::Isize,
        Self::Usize,
        Self::F32,
        Self::I64,
        Self::U64,
        Self::F64,
        Self::V128,
    ];

    /// The type of this name; `None` for any other name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|number| number.name() == name)
    }

    /// The name in the source.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::Isize => "isize",
            Self::Usize => "usize",
            Self::F32 => "f32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F64 => "f64",
            Self::V128 => "v128",
        }
    }

    /// Bytes in memory.
    pub fn size(self) -> u32 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::Isize | Self::Usize | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::V128 => 16,
        }
    }
}
