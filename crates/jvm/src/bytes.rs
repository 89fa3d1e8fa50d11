//! Numbers out of a file: big endian, and ids of 4 or 8 bytes.

/// The size of an id in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdSize {
    Four,
    Eight,
}

impl IdSize {
    pub(crate) fn of(size: u32) -> Option<Self> {
        match size {
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The id at the start of these bytes, which are at least as many.
    #[inline]
    pub(crate) fn read(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Four => bytes
                .first_chunk()
                .map_or(0, |id| u32::from_be_bytes(*id).into()),
            Self::Eight => bytes.first_chunk().map_or(0, |id| u64::from_be_bytes(*id)),
        }
    }
}

/// Reads numbers one after the other. `None` is the end of the bytes.
#[derive(Clone, Copy)]
pub(crate) struct RecordCursor<'a> {
    bytes: &'a [u8],
    pub(crate) at: usize,
    pub(crate) ids: IdSize,
}

impl<'a> RecordCursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize, ids: IdSize) -> Self {
        Self { bytes, at, ids }
    }

    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    #[inline]
    pub(crate) fn id(&mut self) -> Option<u64> {
        let ids = self.ids;
        self.take(ids.bytes()).map(|bytes| ids.read(bytes))
    }
}

/// The type of a field, of a static, or of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum JavaType {
    Object,
    Boolean,
    Char,
    Float,
    Double,
    Byte,
    Short,
    Int,
    Long,
}

impl JavaType {
    /// Those that are no references.
    pub(crate) const PRIMITIVES: [Self; 8] = [
        Self::Boolean,
        Self::Char,
        Self::Float,
        Self::Double,
        Self::Byte,
        Self::Short,
        Self::Int,
        Self::Long,
    ];

    #[inline]
    pub(crate) fn of(code: u8) -> Option<Self> {
        Some(match code {
            2 => Self::Object,
            4 => Self::Boolean,
            5 => Self::Char,
            6 => Self::Float,
            7 => Self::Double,
            8 => Self::Byte,
            9 => Self::Short,
            10 => Self::Int,
            11 => Self::Long,
            _ => return None,
        })
    }

    /// The bytes that a value takes in the file.
    #[inline]
    pub(crate) fn bytes(self, ids: IdSize) -> usize {
        match self {
            Self::Object => ids.bytes(),
            _ => self.value_bytes(),
        }
    }

    /// The bytes of a value that is no reference; 0 for one that is.
    #[inline]
    pub(crate) fn value_bytes(self) -> usize {
        match self {
            Self::Object => 0,
            Self::Boolean | Self::Byte => 1,
            Self::Char | Self::Short => 2,
            Self::Float | Self::Int => 4,
            Self::Double | Self::Long => 8,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "java.lang.Object",
            Self::Boolean => "boolean",
            Self::Char => "char",
            Self::Float => "float",
            Self::Double => "double",
            Self::Byte => "byte",
            Self::Short => "short",
            Self::Int => "int",
            Self::Long => "long",
        }
    }

    /// Its place among [`PRIMITIVES`](Self::PRIMITIVES).
    pub(crate) fn primitive(self) -> Option<usize> {
        Self::PRIMITIVES.iter().position(|&other| other == self)
    }
}
