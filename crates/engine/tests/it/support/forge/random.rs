//! Numbers that look random and are the same every time: of a sequence, and as a permutation that
//! needs no table.

/// A sequence of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    /// A number below `limit`.
    #[inline]
    pub fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }
}

/// Spreads the bits of a number over all of it.
#[inline]
pub fn scramble(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A random order of the numbers below `count`, with its inverse.
///
/// Steps that can be undone (adding, multiplying by an odd number, xor with the upper half) permute all
/// numbers with this number of bits; a result that is not below `count` is permuted again.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u32,
    mask: u32,
    shift: u32,
    offset: u32,
    factors: [u32; 2],
    inverses: [u32; 2],
}

impl Permutation {
    pub fn new(count: u32, random: &mut Random) -> Self {
        let bits = (32 - count.saturating_sub(1).leading_zeros()).max(2);
        let factors = [(); 2].map(|()| random.next() as u32 | 1);
        Self {
            count,
            mask: u32::MAX >> (32 - bits),
            // At least half of the bits: then the xor undoes itself.
            shift: bits.div_ceil(2),
            offset: random.next() as u32,
            factors,
            inverses: factors.map(inverse),
        }
    }

    /// The number at a position.
    #[inline]
    pub fn at(&self, position: u32) -> u32 {
        let [first, second] = self.factors;
        let mut number = position;
        loop {
            number = number.wrapping_add(self.offset) & self.mask;
            number = number.wrapping_mul(first) & self.mask;
            number ^= number >> self.shift;
            number = number.wrapping_mul(second) & self.mask;
            number ^= number >> self.shift;
            if number < self.count {
                return number;
            }
        }
    }

    /// The position of a number.
    #[inline]
    pub fn position_of(&self, number: u32) -> u32 {
        let [first, second] = self.inverses;
        let mut position = number;
        loop {
            position ^= position >> self.shift;
            position = position.wrapping_mul(second) & self.mask;
            position ^= position >> self.shift;
            position = position.wrapping_mul(first) & self.mask;
            position = position.wrapping_sub(self.offset) & self.mask;
            if position < self.count {
                return position;
            }
        }
    }
}

/// The inverse of an odd number under multiplication; each step doubles the number of correct bits.
fn inverse(odd: u32) -> u32 {
    (0..5).fold(odd, |inverse, _| {
        inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)))
    })
}
