//! The source of random bits: the Mersenne Twister MT19937, with torch's seeding, word order and
//! serialised state. What is made of the bits stands in the sibling modules.

use crate::kernels::simd::vectorised;

/// Words in the state.
const SIZE: usize = 624;
/// The distance of the words that are mixed.
const SHIFT: usize = 397;

// Where the fields lie in the serialised state.
const LEFT: usize = 8;
const SEEDED: usize = 12;
const NEXT: usize = 16;
const WORDS: usize = 24;
const SPARE: usize = WORDS + 8 * SIZE + 8;
const SPARE_VALID: usize = SPARE + 16;

/// A stream of random bits. Its owner draws from it strictly in order, so equal generators give
/// equal numbers.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    state: [u32; SIZE],
    /// The state's words as they are handed out.
    words: [u32; SIZE],
    /// How many of `words` were handed out. 0 only before the first draw, when they are not made.
    next: usize,
    /// The second number of a pair of normal ones, waiting to be asked for.
    pub(super) spare_normal: Option<f64>,
}

impl Generator {
    /// The seed of a generator that was given none.
    pub const DEFAULT_SEED: u64 = 67_280_421_310_721;

    /// The bytes of a serialised state.
    pub const STATE_BYTES: usize = SPARE_VALID + 16;

    /// A generator at its start. Only the low 32 bits of the seed matter.
    pub fn new(seed: u64) -> Self {
        let mut state = [0; SIZE];
        let mut last = seed as u32;
        state[0] = last;
        for (index, word) in (0u32..).zip(&mut state).skip(1) {
            last = (last ^ (last >> 30)).wrapping_mul(1_812_433_253).wrapping_add(index);
            *word = last;
        }
        Generator { seed, state, words: [0; SIZE], next: 0, spare_normal: None }
    }

    /// The seed that the generator was started with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The next 32 bits.
    #[inline]
    pub fn random(&mut self) -> u32 {
        match self.take(1) {
            [word, ..] => *word,
            [] => unreachable!("`take` never comes back with empty hands"),
        }
    }

    /// The next 64 bits, high half first.
    #[inline]
    pub fn random64(&mut self) -> u64 {
        let high = u64::from(self.random());
        high << 32 | u64::from(self.random())
    }

    /// The next words, at least one and at most `limit` of them; `limit` is not zero.
    #[inline]
    pub(super) fn take(&mut self, limit: usize) -> &[u32] {
        if self.next == 0 || self.next == SIZE {
            self.refill();
        }
        let start = self.next;
        self.next = SIZE.min(start + limit);
        &self.words[start..self.next]
    }

    /// The next pairs of words, high half first: at most `limit` of them, and none if what comes next is a pair
    /// of which the state has to be stepped in between.
    #[inline]
    pub(super) fn take_pairs(&mut self, limit: usize) -> &[[u32; 2]] {
        if self.next == 0 || self.next == SIZE {
            self.refill();
        }
        let (pairs, _) = self.words[self.next..].as_chunks();
        let pairs = &pairs[..limit.min(pairs.len())];
        self.next += 2 * pairs.len();
        pairs
    }

    /// Steps the whole state.
    #[inline(never)]
    fn refill(&mut self) {
        vectorised(
            SIZE,
            #[inline(always)]
            || self.step(),
        );
    }

    #[inline(always)]
    fn step(&mut self) {
        let state = &mut self.state;
        for index in 0..SIZE - SHIFT {
            state[index] = state[index + SHIFT] ^ twist(state[index], state[index + 1]);
        }
        for index in SIZE - SHIFT..SIZE - 1 {
            state[index] = state[index + SHIFT - SIZE] ^ twist(state[index], state[index + 1]);
        }
        state[SIZE - 1] = state[SHIFT - 1] ^ twist(state[SIZE - 1], state[0]);
        self.words = state.map(temper);
        self.next = 0;
    }

    /// The state as bytes, laid out as in `torch.get_rng_state()`.
    pub fn state_bytes(&self) -> Vec<u8> {
        let left = if self.next == 0 { 1 } else { SIZE + 1 - self.next };
        let mut bytes = vec![0; Self::STATE_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &self.seed.to_le_bytes());
        put(LEFT, &(left as u32).to_le_bytes());
        put(SEEDED, &1u32.to_le_bytes());
        put(NEXT, &(self.next as u64).to_le_bytes());
        for (index, word) in self.state.iter().enumerate() {
            put(WORDS + 8 * index, &word.to_le_bytes());
        }
        if let Some(spare) = self.spare_normal {
            put(SPARE, &spare.to_le_bytes());
            put(SPARE_VALID, &1u32.to_le_bytes());
        }
        bytes
    }

    /// The generator with that state; `None` for bytes that are not one.
    pub fn from_state_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::STATE_BYTES {
            return None;
        }
        let (left, next) = (field(bytes, LEFT) as u32 as usize, field(bytes, NEXT) as usize);
        let fresh = left == 1 && next == 0;
        let running = (1..=SIZE).contains(&next) && left == SIZE + 1 - next;
        if field(bytes, SEEDED) as u32 == 0 || !(fresh || running) {
            return None;
        }
        let state = std::array::from_fn(|index| field(bytes, WORDS + 8 * index) as u32);
        let spare_valid = field(bytes, SPARE_VALID) as u32 != 0;
        Some(Generator {
            seed: field(bytes, 0),
            state,
            words: state.map(temper),
            next,
            spare_normal: spare_valid.then(|| f64::from_bits(field(bytes, SPARE))),
        })
    }
}

/// Eight bytes of a serialised state as a number.
fn field(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Mixes the upper bit of one word with the lower bits of the next.
#[inline]
fn twist(word: u32, next: u32) -> u32 {
    let joined = (word & 0x8000_0000) | (next & 0x7fff_ffff);
    (joined >> 1) ^ ((next & 1).wrapping_neg() & 0x9908_b0df)
}

/// Spreads the bits of a word of the state.
#[inline]
fn temper(mut word: u32) -> u32 {
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c_5680;
    word ^= (word << 15) & 0xefc6_0000;
    word ^ (word >> 18)
}
