//! Where history stopped: a tensor that has none although it was computed from tensors that require
//! grad remembers, in two bytes, the place and the reason. Results of operations on it inherit that.

use std::cell::Cell;
use std::collections::HashMap;
use std::num::NonZeroU16;

use parking_lot::Mutex;

use crate::origin::{self, Origin};

/// Why history stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// An operation ran while nothing was recorded.
    NoGrad,
    /// `detach`, or `data`.
    Detach,
    /// The result is not of floating-point numbers.
    Integer,
    /// The numbers went through an array of the host's.
    Array,
    /// Backward freed what the operation had kept.
    Backward,
}

impl Reason {
    /// A name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NoGrad => "no_grad",
            Reason::Detach => "detach",
            Reason::Integer => "integer",
            Reason::Array => "array",
            Reason::Backward => "backward",
        }
    }
}

/// Where and why a tensor's history stopped, if it did: the number of an entry in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut(Option<NonZeroU16>);

type Site = (Reason, Origin);

/// The table. Programs have few places; when there are no numbers left, further ones are not told.
#[derive(Default)]
struct Sites {
    sites: Vec<Site>,
    numbers: HashMap<(Reason, u64), NonZeroU16>,
}

static SITES: Mutex<Option<Sites>> = Mutex::new(None);

thread_local! {
    /// The last cut of this thread, since programs loop.
    static LAST: Cell<(Option<Site>, Cut)> = const { Cell::new((None, Cut::NONE)) };
    /// Where a tensor that a history led to last became an array.
    static EXPORTED: Cell<Cut> = const { Cell::new(Cut::NONE) };
}

impl Cut {
    /// History did not stop: it is there, or there never was any.
    pub const NONE: Cut = Cut(None);

    /// History stops here. Asks the host where that is, so that nothing may be locked.
    #[cold]
    pub fn here(reason: Reason) -> Cut {
        Cut::at(reason, origin::here())
    }

    /// History stops there.
    pub(in crate::graph) fn at(reason: Reason, origin: Origin) -> Cut {
        let site = (reason, origin);
        match LAST.get() {
            (Some(last), cut) if last == site => cut,
            _ => Cut::new(site),
        }
    }

    #[cold]
    fn new(site: Site) -> Cut {
        let mut sites = SITES.lock();
        let Sites { sites, numbers } = sites.get_or_insert_default();
        let number = numbers.get(&(site.0, site.1.number())).copied().or_else(|| {
            let number = NonZeroU16::new(u16::try_from(sites.len() + 1).ok()?)?;
            sites.push(site);
            numbers.insert((site.0, site.1.number()), number);
            Some(number)
        });
        LAST.set((Some(site), Cut(number)));
        Cut(number)
    }

    /// The number of the entry, zero for none.
    pub(in crate::graph) fn number(self) -> u16 {
        self.0.map_or(0, NonZeroU16::get)
    }

    /// The entry of a number.
    pub(in crate::graph) fn of_number(number: u16) -> Cut {
        Cut(NonZeroU16::new(number))
    }

    /// Why and where.
    pub fn site(self) -> Option<(Reason, Origin)> {
        let number = usize::from(self.0?.get());
        SITES.lock().as_ref()?.sites.get(number - 1).copied()
    }

    /// A tensor with this cut becomes an array of the host's here.
    pub fn export(self) {
        if self != Cut::NONE {
            EXPORTED.set(Cut::here(Reason::Array));
        }
    }

    /// What is known of the history of an array: where one was last made of a tensor that had some.
    pub fn import() -> Cut {
        EXPORTED.get()
    }
}

/// What the results of an operation that is not recorded inherit from its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Whether any of them requires grad.
    pub requires_grad: bool,
    /// Where the history of one of them stopped.
    pub cut: Cut,
}

impl Standing {
    /// Of two inputs.
    #[must_use]
    pub fn and(self, other: Standing) -> Standing {
        Standing {
            requires_grad: self.requires_grad || other.requires_grad,
            cut: if self.cut == Cut::NONE { other.cut } else { self.cut },
        }
    }

    /// The cut of a result. Asks the host where it is if history stops with it.
    pub fn cut(self, reason: Reason) -> Cut {
        if self.requires_grad { Cut::here(reason) } else { self.cut }
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::observe::detach_site::*;

    #[test]
    fn results_inherit_where_history_stopped() {
        let line = origin::within(Origin::new(5));
        let stopped = Standing { requires_grad: true, cut: Cut::NONE };
        let cut = stopped.cut(Reason::NoGrad);
        drop(line);
        assert_eq!(cut.site(), Some((Reason::NoGrad, Origin::new(5))));
        let inherited = Standing::default().and(Standing { requires_grad: false, cut });
        assert_eq!(inherited.cut(Reason::Detach), cut);
        assert_eq!(Standing::default().cut(Reason::Detach), Cut::NONE);
    }
}
