"""The words of failures of convolutions, pooling, padding and normalisation."""

from __future__ import annotations

LAYERS: dict[str, tuple[type[Exception], str]] = {
    "ConvolutionCount": (
        RuntimeError,
        "expected {argument} to be a single integer value or a list of {count} values to "
        "match the convolution "
        "dimensions, but got {argument}={got}",
    ),
    "ConvolutionSign": (RuntimeError, "{what} is not supported"),
    "ConvolutionRank": (
        RuntimeError,
        "Expected {ndim}-dimensional input for {ndim}-dimensional weight {weight}, but got "
        "{input:rank}-dimensional "
        "input of size {input} instead",
    ),
    "ConvolutionLeading": (
        RuntimeError,
        "Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
        "but got weight of size "
        "{weight} instead",
    ),
    "ConvolutionGroups": (
        RuntimeError,
        "Given groups={groups}, expected weight to be divisible by {groups} at dimension "
        "0, but got weight of size "
        "[{weight}] instead",
    ),
    "ConvolutionChannels": (
        RuntimeError,
        "Given {groups}, weight of size {weight}, expected input{input} to have {expected} channels, "
        "but got {got} channels instead",
    ),
    "ConvolutionBias": (
        RuntimeError,
        "Given {transposed}weight of size {weight}, expected bias to be 1-dimensional with "
        "{channels} elements, but got "
        "bias of size {bias} instead",
    ),
    "ConvolutionKernel": (
        RuntimeError,
        "Calculated padded input size per channel: ({padded:by}). Kernel size: "
        "({kernel:by}). Kernel size can't be "
        "greater than actual input size",
    ),
    "ConvolutionOutputPadding": (
        RuntimeError,
        "output padding must be smaller than either stride or dilation, but got output_padding_height: "
        "{output_padding:first} output_padding_width: {output_padding:last} stride_height: {stride:first} "
        "stride_width: {stride:last} dilation_height: {dilation:first} dilation_width: {dilation:last}",
    ),
    "ConvolutionTooSmall": (
        RuntimeError,
        "Given input size per channel: ({input:by}). Calculated output size per channel: "
        "({output:by}). Output "
        "size is too small",
    ),
    "ConvolutionWeight": (RuntimeError, "weight should have at least three dimensions"),
    "ConvolutionDTypes": (
        RuntimeError,
        "Input type ({input:type}) and weight type ({weight:type}) should be the same or "
        "input should be a MKLDNN "
        "tensor and weight is a dense tensor",
    ),
    "ConvolutionBiasDType": (
        RuntimeError,
        "Input type ({input:C}) and bias type ({bias:C}) should be the same",
    ),
    "ConvolutionInput": (
        RuntimeError,
        "Expected {single}D (unbatched) or {batched}D (batched) input to {operation}, but "
        "got input of size: {shape}",
    ),
    "ConvolutionSameStride": (RuntimeError, "padding='same' is not supported for strided convolutions"),
    "PoolStride": (RuntimeError, "stride should not be zero"),
    "PoolKernel": (RuntimeError, "kernel size should be greater than zero"),
    "PoolDilation": (
        RuntimeError,
        "dilation should be greater than zero, but got dilationH: {dilation:first} "
        "dilationW: {dilation:last}",
    ),
    "ConvolutionDilation": (RuntimeError, "dilation should be greater than zero{found}"),
    "PoolPaddingNegative": (RuntimeError, "pad must be non-negative, but got pad: {padding}"),
    "PoolPadding": (
        RuntimeError,
        "pad should be at most half of effective kernel size, but got pad={padding}, "
        "kernel_size={kernel} and "
        "dilation={dilation}",
    ),
    "PoolTooSmall": (
        RuntimeError,
        "Given input size: ({channels}{input}). Calculated output size: "
        "({channels}{output}). Output size is too small",
    ),
    "PoolDivisor": (RuntimeError, "divisor must be not zero"),
    "AdaptivePoolNegative": (
        RuntimeError,
        "adaptive_avg_pool2d: elements of output_size must be greater than or "
        "equal to 0 but received "
        "{sizes:braces}",
    ),
    "AdaptivePoolNegative3": (
        RuntimeError,
        "adaptive_avg_pool3d: elements of output_size must be greater than or "
        "equal to 0 but received {{{depth}, {height},{width}}}",
    ),
    "PoolNumbers": (
        RuntimeError,
        "{operation}: {argument} must either be a single int, or a tuple of {words} ints",
    ),
    "PoolInput": (
        RuntimeError,
        "non-empty {single}D or {batched}D (batch mode) tensor expected for input",
    ),
    "PoolDilation3": (
        RuntimeError,
        "dilation should be greater than zero, but got dilationT: {depth} dilationH: {height} "
        "dilationW: {width}",
    ),
    "PoolPaddingHalf": (
        RuntimeError,
        "pad should be smaller than or equal to half of kernel size, but got padW = {padding:last}, "
        "padH = {padding:first}, kW = {kernel:last}, kH = {kernel:first}",
    ),
    "PoolSamples": (
        RuntimeError,
        "{operation}Expected {least}D or {most}D (batch mode) tensor with optional 0 dim batch size for "
        "input, but got:{shape}",
    ),
    "PoolSamples3": (
        RuntimeError,
        "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have "
        "positive length, but input has a shape of {shape} and non-batch dimension 0 has length zero!",
    ),
    "PoolLineNumber": (
        RuntimeError,
        "max_pool1d() {argument} must be {kinds} of size 1 but got size {got}",
    ),
    "PoolLineSign": (RuntimeError, "max_pool1d() {argument} must be greater than zero, but got {value}"),
    "PoolLineNegative": (RuntimeError, "max_pool1d() padding must be non-negative, but got {padding}"),
    "PoolLinePadding": (
        RuntimeError,
        "max_pool1d() padding should be at most half of kernel size, but got padding={padding} and "
        "kernel_size={kernel}",
    ),
    "PoolLineCount": (RuntimeError, "max_pool1d() Invalid computed output size: {count}"),
    "PoolLines": (
        RuntimeError,
        "Expected 2 to 3 dimensions, but got {ndim}-dimensional tensor for argument #1 'self' (while "
        "checking arguments for {operation})",
    ),
    "AdaptivePoolRank": (
        RuntimeError,
        "{operation}(): Expected {single}D or {batched}D tensor, but got{colon} {shape}",
    ),
    "AdaptivePoolEmpty": (
        RuntimeError,
        "{operation}(): Expected input to have non-zero size for non-batch dimensions, but input has "
        "sizes {shape} with dimension {dim} being empty",
    ),
    "AdaptivePoolLength": (
        RuntimeError,
        "{operation}() argument 'output_size' should contain one int (got {got})",
    ),
    "AdaptivePoolLengths": (RuntimeError, "{operation}: output_size must be {count}"),
    "AdaptivePoolInternal": (
        RuntimeError,
        "{operation}(): internal error: output_size.size() must be {count}",
    ),
    "PadOdd": (RuntimeError, "Padding length must be divisible by 2"),
    "PadMode": (NotImplementedError, "Unrecognised padding mode {mode}"),
    "PadLong": (
        RuntimeError,
        "Padding length should be less than or equal to two times the input dimension but got padding length "
        "{length} and input of dimension {ndim}",
    ),
    "PadReflection": (
        RuntimeError,
        "Argument #{argument}: Padding size should be less than the corresponding input "
        "dimension, but got: padding "
        "({padding:listed}) at dimension {dim} of input {shape}",
    ),
    "PadNothing": (
        RuntimeError,
        "Expected {least}D or {most}D (batch mode) tensor with possibly 0 batch size and other "
        "non-zero dimensions for input, but got: {shape}",
    ),
    "PadTooSmall": (
        RuntimeError,
        "input (size {size} at dimension {dim}) is too small. Calculated output size: {output}",
    ),
    "UpsampleSizes": (
        RuntimeError,
        "Input and output sizes should be greater than 0, but got input ({input:image}) "
        "output ({output:image})",
    ),
    "UpsampleLine": (
        RuntimeError,
        "Input and output sizes should be greater than 0, but got input (W: {input}) and "
        "output (W: {output})",
    ),
    "LikelihoodDType": (RuntimeError, "Found dtype {got:Float} but expected {expected:Float}"),
    "FoldSign": (
        RuntimeError,
        "{what} should be {wanted}, but got {name}_height: {height} {name}_width: {width}",
    ),
    "UpsampleNothing": (
        RuntimeError,
        "Non-empty {ndim}D data tensor expected but got a tensor with sizes {shape}",
    ),
    "PoolNothing": (
        RuntimeError,
        "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{shape}",
    ),
    "PoolNothing3": (
        RuntimeError,
        "avg_pool3d(): Expected input's non-batch dimensions to have positive length, but input has a "
        "shape of {shape} and non-batch dimension 0 has length zero!",
    ),
    "FoldEmpty": (
        RuntimeError,
        "Given input with spatial size ({size:listed}), kernel_size=({kernel:listed}), "
        "dilation=({dilation:listed}), "
        "padding=({padding:listed}), calculated shape of the array of sliding blocks as "
        "({counts:listed}), but its components "
        "must be at least one.",
    ),
    "UnfoldRank": (
        RuntimeError,
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
        "non-zero dimensions for input, "
        "but got: {shape}",
    ),
    "FoldRank": (
        RuntimeError,
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
        "non-zero dimensions for "
        "input, but got: {shape}",
    ),
    "FoldChannels": (
        RuntimeError,
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
        "input.size(1)={got} and kernel_size=({kernel:listed}).",
    ),
    "FoldPlaces": (
        RuntimeError,
        "Given output_size=({size:listed}), kernel_size=({kernel:listed}), dilation=({dilation:listed}), "
        "padding=({padding:listed}), stride=({stride:listed}), expected size of input's "
        "dimension 2 to match the calculated "
        "number of sliding blocks {rows} * {columns} = {places}, but got input.size(2)={got}.",
    ),
    "NormaliseDType": (RuntimeError, "mixed dtype (CPU): expect parameter to have scalar type of Float"),
    "NormaliseMixed": (RuntimeError, "mixed dtype (CPU): all inputs must share same datatype."),
    "BatchNormCount": (RuntimeError, "{argument} should contain {expected} elements not {got}"),
    "BatchNormRunning": (RuntimeError, "{argument} must be defined in evaluation mode"),
    "NormalizedShapeEmpty": (
        RuntimeError,
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
        "one element, but got "
        "normalized_shape = []",
    ),
    "NormalizedAffine": (
        RuntimeError,
        "Expected {argument} to be of same shape as normalized_shape, but got {argument} of shape {got} and "
        "normalized_shape = {normalized}",
    ),
    "NormalizedRank": (ValueError, "Input tensor must have at least {least} dimensions, but got {ndim}"),
    "NormalizedShape": (
        RuntimeError,
        "Given normalized_shape={normalized}, expected input with shape [*{list}], but got "
        "input of size{shape}",
    ),
    "GroupNormRank": (RuntimeError, "Expected at least 2 dimensions for input tensor but received {ndim}"),
    "GroupNormCount": (RuntimeError, "Expected num groups to be greater than 0, got {groups}"),
    "GroupNormChannels": (
        RuntimeError,
        "Expected number of channels in input to be divisible by num_groups, but got input "
        "of shape {shape} and "
        "num_groups={groups}",
    ),
    "GroupNormAffine": (
        RuntimeError,
        "Expected {argument} to be a vector of size equal to the number of channels in "
        "input, but got {argument} of "
        "shape {got} and input of shape {shape}",
    ),
    "EmbeddingWeight": (RuntimeError, "'weight' must be 2-D"),
    "EmbeddingDType": (
        RuntimeError,
        "Expected tensor for argument #1 'indices' to have one of the following scalar "
        "types: Long, Int; but got "
        "{dtype:type} instead (while checking arguments for embedding)",
    ),
    "FeatureDropoutRank": (RuntimeError, "Feature dropout requires at least 2 dimensions in the input"),
    "ShuffleRank": (
        RuntimeError,
        "{operation} expects input to have at least 3 dimensions, but got input with {ndim} dimension(s)",
    ),
    "ShuffleFactor": (RuntimeError, "{operation} expects a positive {argument}, but got {factor}"),
    "PadOverflow": (
        RuntimeError,
        "The input size {size}, plus negative padding {before} and {behind} resulted in a negative output "
        "size, which is invalid. Check dimension {dim} of your input.",
    ),
    "ConvolutionPadding": (
        RuntimeError,
        "Given padding={padding} at dimension {dim} , expected padding to be at most {most}",
    ),
    "PixelShuffleFactor": (
        ValueError,
        "upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor={factor}",
    ),
    "PixelShuffleChannels": (
        RuntimeError,
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
        "square of upscale_factor, but "
        "input.size(-3)={channels} is not divisible by {square}",
    ),
    "PixelUnshuffleSize": (
        RuntimeError,
        "pixel_unshuffle expects {dimension} to be divisible by downscale_factor, but "
        "input.size({dim})={size} is not "
        "divisible by {factor}",
    ),
    "ChannelShuffleCount": (
        RuntimeError,
        "Number of groups to divide channels in must be positive. Value of groups:{groups}",
    ),
    "ChannelShuffleGroups": (
        RuntimeError,
        "Number of channels must be divisible by groups. Got {channels} channels and {groups} groups.",
    ),
    "UnfoldSize": (RuntimeError, "maximum size for tensor at dimension {dim} is {step} but size is {size}"),
    "UnfoldNegative": (RuntimeError, "size is {size} but must be >= 0"),
    "UnfoldStep": (RuntimeError, "step is {step} but must be > 0"),
    "TwoNumbers": (RuntimeError, "expected two numbers, but got {count}"),
    "UnevenPadding": (
        UserWarning,
        "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of "
        "the input be created",
    ),
    "PaddingWord": (RuntimeError, "Invalid padding string: '{word}'"),
}
