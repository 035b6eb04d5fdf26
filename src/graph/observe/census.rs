//! A walk over everything that some nodes and tensors lead to, which counts the handles that it finds.
//!
//! Note [Circles]
//! ----
//! Counting alone keeps what is part of a circle for ever: a leaf keeps its gradient, a gradient that
//! was recorded (`create_graph`) keeps its history, and that leads to the leaf. Functions of the host
//! close circles too. So what is suspected is walked over, and the handles are counted that are found
//! inside. A thing of which others are held is held from outside, and so is what it leads to. What is
//! left is held by nothing but itself.
//!
//! What is not known about counts as being outside, so that nothing is ever taken for a circle that is
//! not. A run of the engine on another thread holds its roots from outside as long as it lasts.

use crate::graph::node::{NodeId, NodeRef};
use crate::graph::observe::spread::SpreadMap;
use crate::graph::references::Holding;
use crate::tensor::Tensor;

/// A node or a tensor, with a handle of the census' own.
#[derive(Clone)]
pub enum Thing {
    /// A node.
    Node(NodeRef),
    /// A tensor.
    Tensor(Tensor),
}

impl Thing {
    /// Shows what it holds.
    pub fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        match self {
            Thing::Node(node) => node.visit_holdings(visit),
            Thing::Tensor(tensor) => tensor.visit_holdings(visit),
        }
    }

    /// Lets go of what closes circles. Nobody else leads here any more.
    pub fn let_go(&self) {
        match self {
            Thing::Node(node) => node.let_go(),
            Thing::Tensor(tensor) => tensor.let_go(),
        }
    }
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Node(NodeId),
    Tensor(usize),
}

struct Member {
    thing: Thing,
    /// Handles that were found.
    found: u32,
    /// Where in `Census::held` stands what it holds: from here to where that of the next begins.
    holds: u32,
    /// Whether it holds anything of the host.
    hosts: bool,
}

/// What was found. Members are known by their number.
#[derive(Default)]
pub struct Census {
    members: Vec<Member>,
    /// Of which members it is known what they hold.
    walked: usize,
    held: Vec<u32>,
    places: SpreadMap<Key, u32>,
}

impl Census {
    /// Makes `node` a member, because somebody leads to it who has `handles` that count as found.
    pub fn add_node(&mut self, node: &NodeRef, handles: u32) -> u32 {
        self.add(Key::Node(node.id()), handles, || Thing::Node(node.clone()))
    }

    /// Makes `tensor` a member, as `add_node` does.
    pub fn add_tensor(&mut self, tensor: &Tensor, handles: u32) -> u32 {
        self.add(Key::Tensor(tensor.address()), handles, || Thing::Tensor(tensor.clone()))
    }

    fn add(&mut self, key: Key, handles: u32, thing: impl FnOnce() -> Thing) -> u32 {
        let next = self.members.len() as u32;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.members.push(Member { thing: thing(), found: 0, holds: 0, hosts: false });
        }
        self.members[place as usize].found += handles;
        place
    }

    /// The number of what is held, if it is a member.
    pub fn place(&self, holding: &Holding<'_>) -> Option<u32> {
        let key = match holding {
            Holding::Node(node) => Key::Node(node.id()),
            Holding::Tensor(tensor) => Key::Tensor(tensor.address()),
            _ => return None,
        };
        self.places.get(&key).copied()
    }

    /// Walks on to everything that the members lead to. Gives up when there are more than `most`
    /// members, or one that makes it hopeless; then nothing is known.
    pub fn walk(&mut self, most: usize, is_hopeless: impl Fn(&Tensor) -> bool) -> bool {
        let mut found = Vec::new();
        while self.walked < self.members.len() {
            let (mut hosts, holds) = (false, self.held.len() as u32);
            // What is found is put down first: members may move while more are added.
            self.members[self.walked].thing.visit_holdings(&mut |holding| match holding {
                Holding::Node(node) => found.push((Key::Node(node.id()), Thing::Node(node.clone()))),
                Holding::Tensor(tensor) => {
                    found.push((Key::Tensor(tensor.address()), Thing::Tensor(tensor.clone())));
                }
                _ => hosts = true,
            });
            for (key, thing) in found.drain(..) {
                let next = self.members.len() as u32;
                let place = self.add(key, 1, || thing);
                self.held.push(place);
                let is_new = place == next;
                if is_new
                    && let Thing::Tensor(tensor) = &self.members[place as usize].thing
                    && is_hopeless(tensor)
                {
                    return false;
                }
            }
            let member = &mut self.members[self.walked];
            (member.holds, member.hosts) = (holds, hosts);
            self.walked += 1;
            if self.members.len() > most {
                return false;
            }
        }
        true
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// What a member is.
    pub fn thing(&self, place: u32) -> &Thing {
        &self.members[place as usize].thing
    }

    /// The handles that there are besides that of the census.
    pub fn handles(&self, place: u32) -> u32 {
        match self.thing(place) {
            Thing::Node(node) => node.count() - 1,
            Thing::Tensor(tensor) => tensor.handles() as u32 - 1,
        }
    }

    /// Counts handles of a member as found.
    pub fn find(&mut self, place: u32, handles: u32) {
        self.members[place as usize].found += handles;
    }

    /// The handles that were found.
    pub fn found(&self, place: u32) -> u32 {
        self.members[place as usize].found
    }

    /// Whether a member holds anything of the host.
    pub fn has_hosts(&self, place: u32) -> bool {
        self.members[place as usize].hosts
    }

    /// What a member holds, as often as it does.
    pub fn held(&self, place: u32) -> &[u32] {
        let index = place as usize;
        let end = self.members.get(index + 1).map_or(self.held.len(), |next| next.holds as usize);
        &self.held[self.members[index].holds as usize..end]
    }

    /// Which members are held from outside, or by one that is.
    pub fn outside(&self) -> Vec<bool> {
        let mut outside = vec![false; self.members.len()];
        let mut pending: Vec<u32> = (0..self.members.len() as u32)
            .filter(|&place| self.handles(place) != self.found(place))
            .collect();
        while let Some(place) = pending.pop() {
            if !std::mem::replace(&mut outside[place as usize], true) {
                pending.extend(self.held(place));
            }
        }
        outside
    }
}
