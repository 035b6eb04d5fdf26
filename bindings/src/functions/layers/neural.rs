//! Attention, convolutions, normalisation, embeddings and dropout.
use crate::calls::callable::Function;
use crate::functions::entries::inner;
use crate::overrides::in_mode;
use crate::values::returns::ToPython;
use rushlight::ops::neural::recurrent::lstm;

const LSTM: &[&str] = &[
    "(Tensor input, Tensor weight_ih, Tensor weight_hh, Tensor bias_ih, Tensor bias_hh, Tensor hx, Tensor cx, bool reverse)",
];

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[inner(
    "lstm",
    LSTM,
    "A layer of a long short-term memory over a sequence, if it can be computed as one operation.",
    |a| {
        if in_mode() {
            return ().answer(a.py());
        }
        let inputs = [0, 1, 2, 3, 4, 5, 6].map(|index| a.tensor(index));
        let [x, to_gates, own, bias, own_bias, shown, memory] = inputs;
        let found = lstm([x?, to_gates?, own?, bias?, own_bias?, shown?, memory?], a.boolean(7));
        found.map(|found| found.map(|[all, shown, memory]| (all, shown, memory))).answer(a.py())
    },
)];
