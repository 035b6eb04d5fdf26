//! What holds of every block, whoever's bytes they are.

use super::*;
use std::sync::Arc;

#[test]
fn large_blocks_start_on_a_cache_line() {
    for bytes in [0, 1, 16, 1023, 1024, 1 << 20] {
        let storage = Storage::uninit(bytes).unwrap();
        let align = if bytes >= LARGE { CACHE_LINE } else { 8 };
        assert_eq!(storage.data().as_ptr().addr() % align, 0);
        assert!(!storage.is_lent());
    }
}

#[test]
fn owners_live_exactly_as_long_as_the_last_handle() {
    let owner = Arc::new(vec![1u8; 8]);
    let data = NonNull::new(owner.as_ptr().cast_mut()).unwrap();
    // SAFETY: the vector lives in the owner and is only read.
    let storage = unsafe { Storage::external(data, 8, Arc::new(owner.clone())) }.unwrap();
    let second = storage.clone();
    drop(storage);
    assert_eq!(Arc::strong_count(&owner), 2);
    drop(second);
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn an_alias_shares_bytes_but_not_the_version() {
    let storage = Storage::zeroed(16).unwrap();
    let alias = storage.alias().unwrap();
    alias.bump_version();
    assert_eq!((storage.version(), alias.version()), (0, 1));
    assert_eq!(storage.data(), alias.data());
    assert!(alias.root().is(&storage) && !alias.is(&storage));
    let mut last = alias.clone();
    for _ in 0..1_000_000 {
        last = last.alias().unwrap();
    }
    drop(last);
    drop(storage);
    assert_eq!(alias.bytes(), 16);
}

#[test]
fn memory_allocated_while_nobody_counts_has_no_version_and_aliases_made_later_know() {
    let counted = Storage::zeroed(8).unwrap();
    set_counting(false);
    let uncounted = Storage::zeroed(8).unwrap();
    let (alias, early) = (counted.alias().unwrap(), uncounted.alias().unwrap());
    set_counting(true);
    assert!(counted.bump_version() && alias.is_counted_throughout());
    assert!(!uncounted.bump_version() && !early.is_counted());
    for late in [uncounted.alias().unwrap(), early.alias().unwrap()] {
        assert!(late.bump_version() && !late.is_counted_throughout());
    }
    assert!(Storage::zeroed(8).unwrap().is_counted());
}

#[test]
fn a_count_that_is_full_starts_over() {
    let storage = Storage::zeroed(8).unwrap();
    storage.set_version(JOINED - 1);
    assert!(storage.bump_version());
    assert_eq!(storage.version(), 0);
}

#[test]
fn absurd_sizes_are_errors() {
    assert!(Storage::uninit(usize::MAX).is_err());
    assert!(Storage::zeroed(isize::MAX as usize).is_err());
}

#[test]
fn a_small_tensor_costs_a_header_of_16_bytes() {
    assert_eq!(HEADER, 16);
    assert_eq!(size_of::<Option<Storage>>(), 8);
}
