//! The order in which torch's messages name the keywords of a call: that of a chained hash table
//! with 13 buckets, where a new word goes to the front of its bucket, and the first word of a
//! bucket to the front of all. Only messages depend on it.

const BUCKETS: u64 = 13;

/// The indices of the words in that order.
pub(crate) fn iteration_order(words: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let bucket = |at: usize| hash(words[at].as_bytes()) % BUCKETS;
    for at in 0..words.len() {
        let front = order.iter().position(|&other| bucket(other) == bucket(at)).unwrap_or(0);
        order.insert(front, at);
    }
    order
}

/// 64-bit MurmurHash2 with the seed of the GNU C++ library.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let mix = |value: u64| value ^ (value >> 47);
    let mut state = 0xc70f_6907 ^ (bytes.len() as u64).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = mix(u64::from_le_bytes(*word).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
        state = (state ^ word).wrapping_mul(FACTOR);
    }
    if !rest.is_empty() {
        let tail = rest.iter().rev().fold(0, |tail, &byte| (tail << 8) | u64::from(byte));
        state = (state ^ tail).wrapping_mul(FACTOR);
    }
    mix(mix(state).wrapping_mul(FACTOR))
}
