"""Sequences of different lengths, packed and padded: their types, and what is refused."""

import pytest
import rushlight as torch

rnn = torch.nn.utils.rnn
pack_padded_sequence, pad_packed_sequence = rnn.pack_padded_sequence, rnn.pad_packed_sequence
pad_sequence, unpad_sequence = rnn.pad_sequence, rnn.unpad_sequence


def packed():
    return pack_padded_sequence(torch.arange(12.0).view(2, 3, 2), torch.tensor([3, 2]), batch_first=True)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("half", torch.float16),
        ("double", torch.float64),
        ("long", torch.int64),
        ("int", torch.int32),
        ("short", torch.int16),
        ("char", torch.int8),
        ("byte", torch.uint8),
    ],
)
def test_packed_sequences_are_converted_by_name(name, dtype):
    converted = getattr(packed(), name)()
    assert converted.data.dtype == dtype
    assert converted.batch_sizes.tolist() == [2, 2, 1]


def test_packed_sequences_stay_where_they_are():
    sequence = packed()
    assert sequence.cpu() is sequence
    assert sequence.cpu(torch.float64).data.dtype == torch.float64
    assert not sequence.is_pinned()
    assert not sequence.is_cuda


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: pad_sequence([torch.ones(1)], padding_side="top"),
            RuntimeError,
            "left or right, but got top.$",
        ),
        (
            lambda: pad_sequence([torch.ones(1), 3]),
            TypeError,
            "^expected Tensor as element 1 in argument 0, but g",
        ),
        (
            lambda: pad_sequence(3),
            RuntimeError,
            "Expected iterable for input sequences, but got arg of type: <cl",
        ),
        (lambda: pad_packed_sequence(3), AttributeError, "'int' object has no attribute 'batch_sizes'"),
        (lambda: pack_padded_sequence(3, [1]), TypeError, "'input' .position 1. must be Tensor, not int"),
        (
            lambda: pack_padded_sequence(torch.ones(0, 2), [1, 1]),
            RuntimeError,
            "^Cannot pack empty tensors.$",
        ),
        (
            lambda: pack_padded_sequence(torch.ones(2, 1), torch.tensor(2)),
            RuntimeError,
            "but got 0D cpu Long tens",
        ),
        (
            lambda: unpad_sequence(torch.ones(2, 2), torch.tensor([2]), batch_first=True),
            ValueError,
            "shorter than",
        ),
    ],
)
def test_wrong_sequences_are_refused_in_these_words(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_sequences_may_come_one_by_one():
    padded = pad_sequence((torch.ones(length) for length in (2, 1)), batch_first=True)
    assert padded.tolist() == [[1.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("lengths", "elements", "sizes"),
    [([5, 1], [0.0, 1.0, 2.0, 4.0], [2, 1, 1, 1, 1]), ([3, 3], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [2, 2, 2])],
)
def test_steps_are_packed_run_by_run(lengths, elements, sizes):
    x = torch.arange(6.0).view(3, 2)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths)
    assert (packed.data.tolist(), packed.batch_sizes.tolist()) == (elements, sizes)
