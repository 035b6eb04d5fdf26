//! The last writes in place to memory that others hold: where they were made, and which nodes they
//! led to. Asked only when backward finds a saved tensor overwritten; the failure is made here.
//!
//! The table has room for a fixed number of blocks of memory, each in the place that its address
//! hashes to; a later block takes the place of an earlier one, of which then less can be said.

use parking_lot::Mutex;

use crate::error::Error;
use crate::graph::following;
use crate::graph::node::NodeRef;
use crate::graph::observe::anomaly;
use crate::origin::{self, Origin};
use crate::storage::Storage;
use crate::tensor::Array;

/// What is known of a write.
#[derive(Clone)]
pub(crate) struct Write {
    storage: usize,
    version: u32,
    /// Where it was made.
    pub(crate) origin: Origin,
    recorded: Option<RecordedWrites>,
}

/// What is known of the recorded writes to some memory.
#[derive(Clone)]
struct RecordedWrites {
    /// The name of the last one's node, which may be gone.
    node: String,
    /// The version that the first one led to, if the memory's tensor had no history before.
    began: Option<u32>,
}

const PLACES: usize = 256;
const NONE: Write = Write { storage: 0, version: 0, origin: Origin::UNKNOWN, recorded: None };
static WRITES: [Mutex<Write>; PLACES] = [const { Mutex::new(NONE) }; PLACES];

fn slot(storage: &Storage) -> &'static Mutex<Write> {
    // Blocks of one size lie at equal distances: the multiplication spreads them.
    let hash = (storage.key() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    &WRITES[(hash >> 56) as usize % PLACES]
}

/// Remembers a write that was just counted, unless nobody else holds the memory.
pub(crate) fn note(storage: &Storage) {
    following::wrote(storage);
    if storage.is_unique() {
        return;
    }
    let (key, version, origin) = (storage.key(), storage.version(), origin::here());
    let mut write = slot(storage).lock();
    // An unrecorded write leaves the history of the tensor as it was.
    let continues = write.storage == key && write.version.wrapping_add(1) == version;
    let recorded = if continues { write.recorded.take() } else { None };
    *write = Write { storage: key, version, origin, recorded };
}

/// The write that was just noted made `node` the history of the memory's tensor; its first edge is the one before.
pub(crate) fn led_to(storage: &Storage, node: &NodeRef) {
    let mut write = slot(storage).lock();
    if write.storage == storage.key() {
        let began = match &write.recorded {
            Some(recorded) => recorded.began,
            None => node.edges()[0].is_none().then_some(write.version),
        };
        write.recorded = Some(RecordedWrites { node: node.name(), began });
    }
}

impl Write {
    /// The name of the history that the memory's tensor has by writes. One that had none in version `before`
    /// has it only if it began later; otherwise it is another tensor, that shows the same memory.
    pub(in crate::graph) fn history(self, before: Option<u32>) -> Option<String> {
        let recorded = self.recorded?;
        match before {
            None => Some(recorded.node),
            Some(before) => recorded.began.filter(|began| *began > before).map(|_| recorded.node),
        }
    }
}

/// The last write to this memory, if it is still known.
pub(crate) fn last(storage: &Storage) -> Option<Write> {
    let write = slot(storage).lock().clone();
    (write.storage == storage.key() && write.version == storage.version()).then_some(write)
}

/// A tensor has other memory from now on, which goes on with the count of its writes: what is known of the
/// last one is known of that.
pub(crate) fn moved(from: &Storage, to: &Storage) {
    let write = last(from).unwrap_or(NONE);
    *slot(to).lock() = Write { storage: to.key(), version: to.version(), ..write };
}

/// What `node` kept as `saved` was overwritten since; it comes from output `output` of `source`.
#[cold]
pub(in crate::graph) fn modified(
    node: &NodeRef,
    saved: &Array,
    expected: u32,
    (source, output): (String, u32),
) -> Box<Error> {
    Error::Modified {
        dtype: saved.dtype,
        shape: saved.layout.shape().to_vec(),
        output,
        source,
        version: saved.storage.version(),
        expected,
        anomaly: anomaly::is_enabled(),
        node: node.name(),
        saved: node.origin(),
        written: last(&saved.storage).map_or(Origin::UNKNOWN, |write| write.origin),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use crate::graph::observe::writes::*;

    #[test]
    fn a_write_is_remembered_if_somebody_else_holds_the_memory() {
        let storage = Storage::zeroed(16).unwrap();
        storage.bump_version();
        note(&storage);
        assert!(last(&storage).is_none());
        let _held = storage.clone();
        let _line = origin::within(Origin::new(3));
        storage.bump_version();
        note(&storage);
        assert_eq!(last(&storage).map(|write| write.origin.number()), Some(3));
        storage.bump_version();
        assert!(last(&storage).is_none(), "a write that was not noted makes what is known stale");
    }
}
