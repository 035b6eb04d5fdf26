//! What graphs keep of a tensor whose memory is replaced (`x.data = y`). As if they kept the tensor itself,
//! they find the new memory from then on.

use super::arena::Home;
use super::node::{Edge, Node, NodeRef};
use super::saved::Source;
use crate::tensor::Array;

/// Has graphs show `new` where they keep the inputs whose history is `edge` and whose memory was `old`.
pub(crate) fn replace_kept(edge: Option<&Edge>, old: &Array, new: &Array) {
    let key = |edge: &Edge| (edge.node.id(), edge.output);
    let edge = edge.map(key);
    for node in Node::arena().ids().into_iter().filter_map(NodeRef::upgrade) {
        node.change_saved(|saved| {
            for saved in saved {
                let source = saved.source();
                if matches!(source, Source::Input(_)) && source.edge(&node).as_ref().map(key) == edge {
                    saved.replace(old, new);
                }
            }
        });
    }
}
