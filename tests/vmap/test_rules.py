"""Every operation has a rule for many samples: what it gives is what a loop over them gives."""

import pytest
import rushlight as torch
from rushlight.func import grad, vmap
from rushlight.nn import functional

# torch says where it has no rule.
pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop")


def numbers(*shape):
    """Different numbers of both signs, no two alike."""
    count = 1
    for size in shape:
        count *= size
    return ((torch.arange(float(count)) * 37 % 101) / 50 - 1).reshape(shape)


def check(func, *args):
    """Values and gradients of each sample, at once against one after the other."""

    def weighed(*sample):
        y = func(*sample)
        return (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum()

    samples = list(zip(*args, strict=True))
    torch.testing.assert_close(vmap(func)(*args), torch.stack([func(*sample) for sample in samples]))
    if args[0].is_floating_point():
        expected = torch.stack([grad(weighed)(*sample) for sample in samples])
        torch.testing.assert_close(vmap(grad(weighed))(*args), expected, atol=1e-4, rtol=1e-4)
        whole = grad(lambda x, *rest: vmap(weighed)(x, *rest).sum())(*args)
        torch.testing.assert_close(whole, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "func",
    [
        lambda x: x.cumsum(0),
        lambda x: x.sort(0)[0],
        lambda x: x.max(0)[0],
        lambda x: x.softmax(0),
        lambda x: x.prod(),
        lambda x: x.median(0)[0],
        lambda x: x.topk(1, 0)[0],
        lambda x: x.index_select(0, torch.tensor([0])),
        lambda x: x.gather(0, torch.tensor(0)),
        lambda x: x.scatter(0, torch.tensor(0), torch.tensor(2.0)),
        lambda x: x.index_fill(0, torch.tensor([0]), 3.0),
        lambda x: x.repeat(3),
        lambda x: x.logcumsumexp(0),
    ],
)
def test_numbers_pass_operations_along_dimensions(func):
    check(func, numbers(3))


@pytest.mark.parametrize(
    "func",
    [
        lambda x, i: x[i % 2, i],
        lambda x, i: x[:, i],
        lambda x, i: x[i[:2] % 2, torch.tensor([True, False, True, False])],
        lambda x, i: torch.index_put(x, (i % 2, i), numbers(3)),
        lambda x, i: torch.index_put(x, (i % 2, i), x[0, :3], accumulate=True),
        lambda x, i: x.index_select(1, i),
        lambda x, i: x.index_add(1, i, numbers(2, 3), alpha=2),
        lambda x, i: x.gather(1, i.expand(2, 3)),
        lambda x, i: x.scatter_add(1, i.expand(2, 3), numbers(2, 3)),
        lambda x, i: x.take(i),
        lambda x, i: x.index_fill(1, i, 7.0),
        lambda x, i: torch.take_along_dim(x, i.expand(2, 3), 1),
    ],
)
def test_each_sample_has_indices_of_its_own(func):
    check(func, numbers(3, 2, 4), torch.tensor([[0, 1, 3], [2, 0, 1], [3, 3, 0]]))


@pytest.mark.parametrize(
    "func",
    [
        lambda x: x.masked_scatter(torch.tensor([True, False, True, False]), numbers(9)),
        lambda x: x.masked_select(torch.tensor([True, False, True, False])),
        lambda x: x[torch.tensor([[True, False, True, False], [False, True, True, True]])],
        lambda x: x.take(torch.tensor([1, 3, 3])),
        lambda x: x.roll(3),
        lambda x: x.as_strided((2, 2), (1, 2)).clone(),
        lambda x: torch.linalg.det(x[:, :2]),
        lambda x: torch.linalg.inv(x[:, :2] + torch.eye(2) * 3),
        lambda x: torch.linalg.solve(x[:, :2] + torch.eye(2) * 3, x),
        lambda x: torch.linalg.cholesky(x @ x.mT + torch.eye(2)),
        lambda x: x[:, :2].trace(),
        lambda x: x.nansum(1),
        lambda x: functional.glu(x, 1),
        lambda x: functional.pad(x, (1, 2, 0, 1)),
        lambda x: functional.nll_loss(x, torch.tensor([1, 3])),
        lambda x: functional.binary_cross_entropy(x.sigmoid(), torch.full((2, 4), 0.3)),
        lambda x: functional.layer_norm(x, (4,), numbers(4), numbers(4)),
    ],
)
def test_matrices_are_many_matrices(func):
    check(func, numbers(3, 2, 4))


@pytest.mark.parametrize(
    "func",
    [
        lambda x: functional.max_pool2d(x, 2),
        lambda x: functional.avg_pool2d(x, 2),
        lambda x: functional.adaptive_avg_pool2d(x, 2),
        lambda x: functional.adaptive_max_pool2d(x, 2),
        lambda x: functional.interpolate(x, scale_factor=2.0, mode="bilinear"),
        lambda x: functional.pad(x, (1, 2, 2, 1), mode="reflect"),
        lambda x: functional.unfold(x, 2),
        lambda x: functional.batch_norm(x, None, None, training=True),
        lambda x: functional.batch_norm(x, torch.ones(2), torch.full((2,), 2.0)),
        lambda x: functional.group_norm(x, 2, numbers(2), numbers(2)),
        lambda x: functional.instance_norm(x),
    ],
)
def test_images_are_many_images(func):
    check(func, numbers(3, 2, 2, 4, 4))


def test_parameters_of_a_normalisation_may_differ_between_samples():
    check(lambda x, w: functional.layer_norm(x, (4,), w, w), numbers(3, 2, 4), numbers(3, 4))
    check(lambda x, w: functional.group_norm(x, 2, w, w), numbers(3, 2, 4, 3), numbers(3, 4))
    check(lambda x, w: functional.batch_norm(x, w * 0, w * 0 + 2, w, w), numbers(3, 2, 4, 3), numbers(3, 4))


def test_tables_of_an_embedding_may_differ_between_samples():
    rows = torch.tensor([[0, 1, 4], [2, 2, 3], [1, 1, 1]])
    check(lambda table, rows: functional.embedding(rows, table), numbers(3, 5, 2), rows)
    check(lambda table: functional.embedding(rows, table), numbers(3, 5, 2))
    shared = numbers(5, 2)
    check(lambda rows: functional.embedding(rows, shared), rows)


def test_gradients_of_tables_that_differ_pass_by_the_padding_of_each():
    rows = torch.tensor([[0, 1, 4], [2, 2, 3]])

    def loss(table, rows):
        return functional.embedding(rows, table, padding_idx=2).sum()

    tables = numbers(2, 5, 2)
    expected = torch.stack([grad(loss)(table, row) for table, row in zip(tables, rows, strict=True)])
    assert vmap(grad(loss))(tables, rows).equal(expected)


def test_one_hot_needs_the_number_of_classes():
    classes = torch.tensor([[0, 2], [1, 0]])
    hot = vmap(lambda classes: functional.one_hot(classes, 3))(classes)
    assert hot.equal(functional.one_hot(classes, 3))
    with pytest.raises(RuntimeError, match="please provide an explicit positive num_classes argument"):
        vmap(functional.one_hot)(classes)


def test_an_index_out_of_range_counts_the_dimension_of_the_samples():
    def pick(x, index):
        return x.gather(0, index)

    with pytest.raises(RuntimeError, match=r"^index 4 is out of bounds for dimension 1 with size 4$"):
        vmap(pick)(numbers(2, 4), torch.tensor([[0], [4]]))


def test_shapes_that_do_not_go_together_count_the_dimension_of_the_samples():
    message = (
        r"^The size of tensor a \(4\) must match the size of tensor b \(2\) at non-singleton dimension 1$"
    )
    with pytest.raises(RuntimeError, match=message):
        vmap(lambda x: x + torch.ones(2))(numbers(3, 4))


def test_no_samples_give_no_results():
    assert vmap(lambda x: functional.max_pool1d(x, 2))(numbers(0, 2, 4)).shape == (0, 2, 2)
    assert vmap(lambda x: x.sort()[0])(numbers(0, 4)).shape == (0, 4)


@pytest.mark.own
def test_no_samples_give_no_results_of_convolutions():
    weight = numbers(2, 2, 3, 3)
    assert vmap(lambda x: functional.conv2d(x, weight))(numbers(0, 1, 2, 4, 4)).shape == (0, 1, 2, 2, 2)
