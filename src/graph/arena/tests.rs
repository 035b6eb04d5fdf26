//! The arena alone, without graphs: items, links and owners, one after the other and by threads.

use super::*;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;

struct Plain(Arc<AtomicUsize>);
impl Drop for Plain {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
home!(Plain);

struct Link(#[expect(dead_code, reason = "held, not read")] Option<Strong<Link>>);
home!(Link);

struct Shared(u64);
home!(Shared);

struct Grown(u32);
home!(Grown);

struct Looked(u32);
home!(Looked);

struct Returned(u32);
home!(Returned);

struct Told(AtomicUsize, AtomicUsize);
home!(Told, told_to_wake, told_to_rest);
impl Told {
    fn told_to_wake(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn told_to_rest(&self, is_alone: &dyn Fn() -> bool) {
        assert!(is_alone());
        self.1.fetch_add(1, Ordering::Relaxed);
    }
    fn times(&self) -> (usize, usize) {
        (self.0.load(Ordering::Relaxed), self.1.load(Ordering::Relaxed))
    }
}

#[test]
fn an_item_is_dropped_once_when_its_last_handle_goes() {
    let drops = Arc::new(AtomicUsize::new(0));
    let first = Strong::new(Plain(drops.clone()));
    let second = first.clone();
    drop(first);
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    drop(second);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn an_owned_item_is_told_when_others_come_and_when_they_have_gone() {
    let owners = Strong::new_owned(Told(AtomicUsize::new(0), AtomicUsize::new(0)));
    assert_eq!(owners.times(), (0, 0));
    let first = owners.clone();
    let second = Strong::<Told>::upgrade(owners.id());
    assert_eq!((owners.times(), owners.count()), ((1, 0), 3));
    drop(first);
    assert_eq!(owners.times(), (1, 0));
    drop(second);
    assert_eq!(owners.times(), (1, 1));
    assert!(Strong::<Told>::upgrade(owners.id()).is_none(), "the owner may be going");
    let third = owners.clone();
    assert_eq!(owners.times(), (2, 1));
    let owners = owners.disown().expect("another handle is there");
    drop(third);
    assert_eq!(owners.times(), (2, 2));
    let id = owners.id();
    assert!(owners.disown().is_none());
    assert!(Strong::<Told>::upgrade(id).is_none());
}

#[test]
fn a_reused_slot_has_another_generation_and_the_old_id_finds_nothing() {
    let drops = Arc::new(AtomicUsize::new(0));
    let first = Strong::new(Plain(drops.clone()));
    let id = first.id();
    assert!(Strong::<Plain>::upgrade(id).is_some());
    drop(first);
    assert!(Strong::<Plain>::upgrade(id).is_none());
    let second = Strong::new(Plain(drops.clone()));
    assert_eq!(second.id().slot, id.slot, "the free list gives back the slot freed last");
    assert_ne!(second.id(), id);
    assert!(Strong::<Plain>::upgrade(id).is_none());
    assert_eq!(second.count(), 1, "a stale id leaves the count of the tenant alone");
}

#[test]
fn a_chain_of_ten_million_is_dropped_on_a_small_stack() {
    let build = || {
        let mut head = Strong::new(Link(None));
        for _ in 0..10_000_000 {
            head = Strong::new(Link(Some(head)));
        }
        drop(head);
    };
    let worker = thread::Builder::new().stack_size(64 * 1024).spawn(build).unwrap();
    worker.join().unwrap();
}

#[test]
fn slots_stay_in_place_while_the_arena_grows() {
    let handles: Vec<_> = (0..10_000).map(|i| Strong::new(Grown(i))).collect();
    let first: *const Grown = &*handles[0];
    let more: Vec<_> = (0..10_000).map(|i| Strong::new(Grown(i))).collect();
    assert!(std::ptr::eq(first, &*handles[0]));
    assert!(handles.iter().zip(0..).all(|(handle, i)| handle.0 == i));
    let capacity = Grown::arena().capacity();
    assert!(capacity >= 20_000);
    drop((handles, more));
    let again: Vec<_> = (0..10_000).map(|i| Strong::new(Grown(i))).collect();
    assert_eq!(Grown::arena().capacity(), capacity, "freed slots are used before new ones");
    assert_eq!(again.len(), 10_000);
}

#[test]
fn items_are_looked_for_only_where_threads_have_slots() {
    let lent = || Looked::arena().pages.lock().lent().count();
    let first = Strong::new(Looked(1));
    for turn in 0..3 {
        let many: Vec<_> = (0..50_000).map(Looked).map(Strong::new).collect();
        assert!(lent() > 40, "turn {turn}");
        let ids: HashSet<_> = Looked::arena().ids().into_iter().collect();
        assert!(ids.len() == 50_001 && many.iter().chain([&first]).all(|item| ids.contains(&item.id())));
        drop(many);
        assert_eq!(Looked::arena().ids(), [first.id()]);
        assert!(lent() < 5, "{}", lent());
        assert!(ids.into_iter().filter_map(Strong::<Looked>::upgrade).map(|item| item.0).eq([first.0]));
    }
}

#[test]
fn memory_that_nobody_uses_goes_back_and_old_ids_find_nothing_in_what_comes_after() {
    let many = || (0..50_000).map(Returned).map(Strong::new).collect::<Vec<_>>();
    let mut earlier = HashSet::new();
    for turn in 0..3 {
        let items = many();
        assert!(items.iter().zip(0..).all(|(item, i)| item.0 == i), "turn {turn}");
        let ids: HashSet<_> = items.iter().map(Strong::id).collect();
        assert!(ids.is_disjoint(&earlier), "turn {turn}");
        assert!(earlier.iter().all(|id| Strong::<Returned>::upgrade(*id).is_none()), "turn {turn}");
        assert_eq!(Returned::arena().capacity(), 50_176, "what was given back is used before what is new");
        // Every third goes later: pages empty in no order.
        let (later, now): (Vec<_>, Vec<_>) = items.into_iter().enumerate().partition(|(i, _)| i % 3 == 0);
        drop(now);
        assert_eq!(Returned::arena().pages.lock().vacant(), 0, "turn {turn}");
        drop(later);
        let vacant = Returned::arena().pages.lock().vacant();
        assert!((25..=33).contains(&vacant), "turn {turn}: {vacant} of 49");
        earlier.extend(ids);
    }
    assert_eq!(earlier.len(), 150_000);
}

#[test]
fn threads_share_items_and_slots() {
    let shared = Strong::new(Shared(7));
    let id = shared.id();
    let work = move |seed: u64| {
        let mut held = Vec::new();
        for i in 0..20_000 {
            held.push(Strong::new(Shared(seed + i)));
            assert_eq!(Strong::<Shared>::upgrade(id).map(|s| s.0), Some(7));
            if i % 3 == 0 {
                let item = held.swap_remove((i as usize * 7) % held.len());
                assert!(item.0 >= seed && item.0 <= seed + i);
            }
        }
    };
    thread::scope(|scope| (0..4).for_each(|t| drop(scope.spawn(move || work(1_000_000 * (t + 1))))));
    assert_eq!(shared.count(), 1);
}
