//! Rows of a few keys in order: nothing is allocated, and what is moved is one number of a key and its place.

use crate::kernels::simd::vectorised;

/// The most keys that make a short row.
pub(super) const SHORT: usize = 1 << PLACE;

/// Bits of a place.
const PLACE: u32 = 7;

/// Of so few keys there is less room to be cleared.
pub(super) const FEW: usize = 32;

/// Calls `visit` with room for so many numbers.
#[inline(always)]
pub(super) fn with_room<R>(count: usize, visit: impl FnOnce(&mut [u64]) -> R) -> R {
    let (mut few, mut many);
    let room: &mut [u64] = if count <= FEW {
        few = [0; FEW];
        &mut few
    } else {
        many = [0; SHORT];
        &mut many
    };
    visit(&mut room[..count])
}

/// Calls `visit` with numbers of keys and their places, which are in the last bits, and with whether these are in order
/// as the keys are: places take bits of keys in which they may differ.
#[inline(always)]
fn with_items<R>(keys: &[u64], visit: impl FnOnce(&mut [u64], bool) -> R) -> R {
    with_room(keys.len(), |items| {
        let is_exact = vectorised(
            SHORT,
            #[inline(always)]
            || {
                let ends = (u64::MAX, 0);
                let (least, most) =
                    keys.iter().fold(ends, |(least, most), &key| (key.min(least), key.max(most)));
                // Of numbers that are near each other the first bits say nothing.
                let (shift, mut lost) = (most.wrapping_sub(least).leading_zeros().min(PLACE), 0);
                for (place, (item, key)) in (0..).zip(items.iter_mut().zip(keys)) {
                    let key = (key - least) << shift;
                    lost |= key % SHORT as u64;
                    *item = key - key % SHORT as u64 + place;
                }
                lost == 0
            },
        );
        visit(items, is_exact)
    })
}

fn place(item: u64) -> i64 {
    (item % SHORT as u64) as i64
}

/// How many items are before each of `W` at most, which are all different: each is compared with all, in less time than it
/// takes to ask which of two comes first.
#[inline(always)]
fn ranks<const W: usize>(items: &[u64]) -> [u64; W] {
    let mut all = [u64::MAX; W];
    all[..items.len()].copy_from_slice(items);
    vectorised(
        SHORT,
        #[inline(always)]
        || {
            let mut ranks = [0; W];
            for &item in items {
                for lane in 0..W {
                    ranks[lane] += u64::from(item < all[lane]);
                }
            }
            ranks
        },
    )
}

/// Items of a half of a few.
const FEWER: usize = FEW / 2;

/// The places of all keys in order, which of equal ones is their own.
pub(super) fn order(keys: &[u64], out: &mut [i64]) {
    let is_exact = with_items(keys, |items, is_exact| {
        let mut put = |ranks: &[u64]| {
            for (place, &rank) in (0..).zip(&ranks[..items.len()]) {
                out[rank as usize] = place;
            }
        };
        if items.len() <= FEWER {
            put(&ranks::<FEWER>(items));
        } else if items.len() <= FEW {
            put(&ranks::<FEW>(items));
        } else {
            items.sort_unstable_by(u64::cmp);
            out.iter_mut().zip(items).for_each(|(out, item)| *out = place(*item));
        }
        is_exact
    });
    if !is_exact {
        // They are nearly so.
        let item = |place: i64| (keys[place as usize], place);
        for end in 1..out.len() {
            let (moving, mut at) = (out[end], end);
            while at > 0 && item(out[at - 1]) > item(moving) {
                out[at] = out[at - 1];
                at -= 1;
            }
            out[at] = moving;
        }
    }
}

/// The place of the key that so many are before in order.
pub(super) fn ranked(keys: &[u64], rank: usize) -> i64 {
    let at = |ranks: &[u64]| ranks.iter().position(|&other| other == rank as u64).unwrap_or_default() as i64;
    let found = with_items(keys, |items, is_exact| {
        is_exact.then(|| {
            if items.len() <= FEWER {
                at(&ranks::<FEWER>(items))
            } else if items.len() <= FEW {
                at(&ranks::<FEW>(items))
            } else {
                place(*items.select_nth_unstable_by(rank, u64::cmp).1)
            }
        })
    });
    found.unwrap_or_else(|| {
        let mut places = [0; SHORT];
        order(keys, &mut places[..keys.len()]);
        places[rank]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_have_the_order_of_their_keys_and_places() {
        for spread in [1, 1 << 7, 1 << 40, (1 << 58) + 1, u64::MAX / 5] {
            for len in 0..=SHORT {
                let keys: Vec<u64> = (0..len as u64)
                    .map(|at| (at * 37 % 11).wrapping_mul(spread).wrapping_sub(at % 3))
                    .collect();
                let mut expected: Vec<i64> = (0..len as i64).collect();
                expected.sort_by_key(|&place| keys[place as usize]);
                let mut found = vec![0; len];
                order(&keys, &mut found);
                assert_eq!(found, expected);
                assert!((0..len).all(|rank| ranked(&keys, rank) == expected[rank]));
            }
        }
    }
}
