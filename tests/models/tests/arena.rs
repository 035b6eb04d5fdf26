//! The arena of nodes: handles, ids and owners on several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rushlight_models::graph::arena::{Home, Strong};
use rushlight_models::{explore, home, together};

/// An item that knows whether it lives, and may lead to another.
struct Item(Arc<AtomicUsize>, Option<Strong<Item>>);
home!(Item);

impl Drop for Item {
    fn drop(&mut self) {
        assert_eq!(self.0.swap(0, Ordering::SeqCst), 1, "it is dropped once");
    }
}

fn item(next: Option<Strong<Item>>) -> (Strong<Item>, Arc<AtomicUsize>) {
    let alive = Arc::new(AtomicUsize::new(1));
    (Strong::new(Item(alive.clone(), next)), alive)
}

#[test]
fn an_id_leads_to_its_item_or_to_none_while_slots_change_tenants() {
    explore(|| {
        let (first, alive) = item(None);
        let id = first.id();
        let look = || -> Box<dyn FnOnce() + Send> {
            let alive = alive.clone();
            Box::new(move || {
                if let Some(found) = Strong::<Item>::upgrade(id) {
                    assert!(Arc::ptr_eq(&found.0, &alive), "it is no later tenant");
                    assert_eq!(alive.load(Ordering::SeqCst), 1);
                }
            })
        };
        let threads = vec![
            look(),
            look(),
            Box::new(move || {
                drop(first);
                // The thread's own list gives the same slot again.
                let (second, alive) = item(None);
                assert_ne!(second.id(), id);
                drop(second.clone());
                assert_eq!(alive.load(Ordering::SeqCst), 1);
            }),
        ];
        together(threads);
        assert!(Strong::<Item>::upgrade(id).is_none() && alive.load(Ordering::SeqCst) == 0);
        assert!(Item::arena().ids().is_empty());
    });
}

#[test]
fn chains_that_threads_share_go_with_the_last_of_them() {
    explore(|| {
        let (end, last) = item(None);
        let (first, second) = (item(Some(end.clone())), item(Some(end)));
        let both = [first.1.clone(), second.1.clone()];
        let reader = first.0.clone();
        together(vec![
            Box::new(move || drop(first)),
            Box::new(move || drop(second)),
            Box::new(move || {
                let next = reader.1.clone();
                drop(reader);
                assert_eq!(next.map(|next| next.0.load(Ordering::SeqCst)), Some(1));
            }),
        ]);
        assert!(both.iter().chain([&last]).all(|alive| alive.load(Ordering::SeqCst) == 0));
        assert!(Item::arena().ids().is_empty());
    });
}

#[test]
fn items_are_listed_whole_while_others_come_and_go() {
    explore(|| {
        let (kept, _) = item(None);
        let id = kept.id();
        together(vec![
            Box::new(|| drop((item(None), item(None)))),
            Box::new(|| drop(item(None))),
            Box::new(move || {
                let found = Item::arena().ids();
                assert!(found.contains(&id));
                for found in found.into_iter().filter_map(Strong::<Item>::upgrade) {
                    assert_eq!(found.0.load(Ordering::SeqCst), 1);
                }
            }),
        ]);
        assert_eq!(Item::arena().ids(), [id]);
    });
}

/// An item of an owner, who is kept while others have it: how often that began less how often it ended.
struct Owned(Arc<AtomicUsize>);
home!(Owned, is_woken, rests);

impl Owned {
    fn is_woken(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn rests(&self, is_alone: &dyn Fn() -> bool) {
        if is_alone() {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[test]
fn an_owner_gets_his_item_back_or_others_have_it() {
    explore(|| {
        let kept = Arc::new(AtomicUsize::new(0));
        let owners = Strong::new_owned(Owned(kept.clone()));
        let id = owners.id();
        let other = owners.clone();
        let (sender, receiver) = shuttle::sync::mpsc::channel();
        together(vec![
            Box::new(move || drop(sender.send(owners.disown()))),
            Box::new(move || drop(other)),
            Box::new(move || {
                if let Some(found) = Strong::<Owned>::upgrade(id) {
                    drop(found.clone());
                }
            }),
        ]);
        match receiver.recv().unwrap() {
            Some(owners) => assert!(owners.count() == 1 && owners.disown().is_none()),
            None => assert!(Strong::<Owned>::upgrade(id).is_none()),
        }
        assert!(Owned::arena().ids().is_empty());
    });
}
