//! How normalisations are called.

use super::{Affine, Running, batch_norm, group_norm, layer_norm, rms_norm};
use crate::schema::{Entry, IntoReply, function};

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "batch_norm",
        &[
            "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled)",
        ],
        "Normalizes every channel over a batch to mean zero and variance one, then scales and shifts it.",
        |a| {
            let affine = Affine { weight: a.optional_tensor(1), bias: a.optional_tensor(2) };
            let running = Running {
                mean: a.optional_tensor(3),
                variance: a.optional_tensor(4),
                training: a.boolean(5),
                momentum: a.float(6)?,
            };
            batch_norm(a.tensor(0)?, affine, running, a.float(7)?).reply()
        },
    )
    .operators(&[("NativeBatchNormBackward0", "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)")]),
    function(
        "layer_norm",
        &[
            "(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True)",
        ],
        "Normalizes the last dimensions to mean zero and variance one, then scales and shifts them.",
        |a| {
            let affine = Affine { weight: a.optional_tensor(2), bias: a.optional_tensor(3) };
            layer_norm(a.tensor(0)?, &a.ints(1)?, affine, a.float(4)?).reply()
        },
    )
    .operators(&[("NativeLayerNormBackward0", "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)")]),
    function(
        "group_norm",
        &[
            "(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True)",
        ],
        "Normalizes groups of channels to mean zero and variance one, then scales and shifts them.",
        |a| {
            let affine = Affine { weight: a.optional_tensor(2), bias: a.optional_tensor(3) };
            group_norm(a.tensor(0)?, a.int(1)?, affine, a.float(4)?).reply()
        },
    )
    .operators(&[("NativeGroupNormBackward0", "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)")]),
    function(
        "rms_norm",
        &["(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None)"],
        "Divides the last dimensions by their root mean square, then scales them.",
        |a| {
            let weight = a.optional_tensor(2);
            rms_norm(a.tensor(0)?, &a.ints(1)?, weight, a.optional_float(3)?).reply()
        },
    ),
];
