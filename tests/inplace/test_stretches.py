"""In-place operations on so many elements that they are written a stretch at a time, and parts of matrices cleared."""

import math

import pytest
import rushlight as torch

COUNT = 3 * 2**16 + 5


def numbers(count=COUNT, dtype=torch.float32):
    x = ((torch.arange(count) * 37 % 101) - 50).to(dtype)
    if dtype.is_floating_point:
        x[3::501], x[5::701], x[7::901], x[9::1001] = math.nan, math.inf, -math.inf, -0.0
    return x


WRITES = {
    "addcmul": lambda f, x, y, z: f(x, y, z, value=2),
    "addcdiv": lambda f, x, y, z: f(x, y, z, value=2),
    "lerp": lambda f, x, y, z: f(x, y, 0.25),
    "clamp": lambda f, x, y, z: f(x, -3, 7),
    "clamp_min": lambda f, x, y, z: f(x, y),
    "clamp_max": lambda f, x, y, z: f(x, y),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_many_elements_are_what_they_are_out_of_place(name, dtype):
    if dtype == torch.int64 and name in ("addcdiv", "lerp"):
        pytest.skip("torch has it of floating-point numbers")
    x, y, z = numbers(dtype=dtype), numbers(dtype=dtype).flip(0), numbers(dtype=dtype).roll(11)
    call = WRITES[name]
    wanted = call(getattr(torch, name), x, y, z)
    for others in ((y, z), (y.reshape(-1, 1).expand(-1, 2)[:, 0], z)):
        written = x.clone()
        again = call(getattr(torch.Tensor, name + "_"), written, *others)
        assert again is written and written._version == 1
        torch.testing.assert_close(written, wanted, rtol=0, atol=0, equal_nan=True)


OVERWRITES = {
    "add": lambda f, x, y: f(x, y),
    "sub": lambda f, x, y: f(x, y, alpha=3),
    "mul": lambda f, x, y: f(x, y),
    "floor_divide": lambda f, x, y: f(x, y),
    "remainder": lambda f, x, y: f(x, y),
    "bitwise_xor": lambda f, x, y: f(x, y),
    "bitwise_left_shift": lambda f, x, y: f(x, y),
}


@pytest.mark.parametrize("name", OVERWRITES)
@pytest.mark.parametrize(
    "dtype",
    [torch.int64, torch.int32, torch.int16, torch.uint8, torch.float16, torch.bfloat16, torch.complex64],
)
def test_elements_of_types_without_loops_in_place_are_what_they_are_out_of_place(name, dtype):
    is_integer = not dtype.is_complex and not dtype.is_floating_point
    is_divided = name in ("floor_divide", "remainder") and not dtype.is_complex
    if not (is_integer or is_divided or name in ("add", "sub", "mul")):
        pytest.skip("torch does not have it of this type")
    others = [3, torch.tensor(3, dtype=dtype)]
    for count in (0, 1, 1023, 1024, 1025, COUNT):
        x = numbers(count, dtype)
        y = (numbers(count, torch.int64) % 5 + 1).to(dtype)
        for other in (*others, y, y.flip(0).flip(0), y[:1]):
            wanted = OVERWRITES[name](getattr(torch, name), x, other)
            written = x.clone()
            assert OVERWRITES[name](getattr(torch.Tensor, name + "_"), written, other) is written
            torch.testing.assert_close(written, wanted, rtol=0, atol=0, equal_nan=True)
            assert written._version == 1


def test_nothing_is_written_where_a_bound_does_not_fit():
    x = torch.ones(COUNT)
    with pytest.raises(RuntimeError, match="overflow"):
        x.clamp_(min=1e300)
    assert x.eq(1).all() and x._version == 0
    assert torch.tensor([math.nan, -5.0, 5.0]).clamp_(-1, 1).nan_to_num(9).tolist() == [9, -1, 1]
    assert torch.tensor([2.0, -5.0]).clamp_(min=math.nan).isnan().all()
    assert torch.tensor([2.0, -5.0]).clamp_(3, 1).tolist() == [1, 1]


def test_what_is_written_may_be_read_at_the_same_place():
    x = numbers()
    assert torch.equal(x.clone().addcmul_(y := numbers(), y).nan_to_num(1), (x + x * x).nan_to_num(1))
    itself = torch.ones(COUNT)
    assert itself.addcmul_(itself, itself).eq(2).all()


def test_gradients_pass_where_many_elements_were_written():
    x = torch.ones(COUNT, requires_grad=True)
    (x * 1).addcmul_(torch.full((COUNT,), 2.0), x).sum().backward()
    assert x.grad.eq(3).all()
    y = torch.ones(COUNT)
    y.addcmul_(torch.full((COUNT,), 2.0), x.detach())
    assert y.eq(3).all() and not y.requires_grad


def test_clamping_with_two_tensors_takes_each_as_its_bound():
    x, low = numbers(), numbers().flip(0).nan_to_num(0)
    high = low + 5
    written = x.clone().clamp_(low, high)
    assert torch.equal(written.nan_to_num(9), torch.clamp(x, low, high).nan_to_num(9))
    assert torch.equal(x.clone().clamp_(max=high).nan_to_num(9), torch.clamp(x, max=high).nan_to_num(9))


def test_a_result_of_another_type_is_refused_before_anything_is_written():
    x, y = torch.ones(COUNT, dtype=torch.int64), torch.ones(COUNT, dtype=torch.float32)
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        x.addcmul_(y, y)
    assert x.eq(1).all() and x._version == 0


@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (3, 4, 4), (2, 0, 3), (400, 300)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64])
def test_triangles_are_cleared_where_they_lie(shape, dtype):
    x = (torch.arange(math.prod(shape)) % 7 - 3).view(shape).to(dtype)
    for diagonal in (-9, -2, 0, 1, 6):
        for name in ("tril", "triu"):
            wanted = getattr(x, name)(diagonal)
            written = x.clone()
            assert getattr(written, name + "_")(diagonal) is written and written._version == 1
            assert torch.equal(written, wanted)
            turned = x.mT.clone().mT
            getattr(turned, name + "_")(diagonal)
            assert torch.equal(turned, wanted)


def test_nothing_but_zeros_is_left_of_numbers_that_are_none():
    x = torch.full((3, 3), math.nan).tril_(-1)
    assert x.isnan().tolist() == [[False] * 3, [True, False, False], [True, True, False]]
    leaf = torch.ones(3, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf.tril_()
    (leaf * 2).triu_().sum().backward()
    assert leaf.grad.tolist() == [[2, 2, 2], [0, 2, 2], [0, 0, 2]]


@pytest.mark.parametrize("name", ["add_", "mul_", "pow_", "exp_", "neg_", "sigmoid_"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_elements_are_written_where_they_lie_in_another_order_or_in_rows(name, dtype):
    given = (2,) if name in ("add_", "mul_", "pow_") else ()
    base = (torch.arange(60 * 70) % 11 - 5).view(60, 70).to(dtype)
    shown = [
        lambda x: x.t(),
        lambda x: x[:, 1:],
        lambda x: x[3:, 20:-3],
        lambda x: x[:, ::2],
        lambda x: x.view(6, 10, 70).permute(2, 0, 1),
        lambda x: x.view(6, 10, 70)[:, 2:, 1:],
        lambda x: x[:, :3],
        lambda x: x[::2],
    ]
    for show in shown:
        x = base.clone()
        wanted = base.clone()
        show(wanted).copy_(getattr(show(base).contiguous(), name)(*given))
        getattr(show(x), name)(*given)
        assert torch.equal(x, wanted)


def test_many_rows_are_written_by_whatever_threads_there_are():
    threads = torch.get_num_threads()
    found = []
    for count in (1, 2):
        torch.set_num_threads(count)
        x = torch.ones(3000, 100)
        x[:, 1:].mul_(3.0)
        found.append(x)
    torch.set_num_threads(threads)
    assert torch.equal(*found) and found[0][:, 0].eq(1).all() and found[0][:, 1:].eq(3).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_named_elements_are_put_where_they_lie(dtype):
    base = (torch.arange(40 * 50) % 5).view(40, 50).to(dtype)
    index, source = torch.tensor([0, -1, 7, 7, 1999]), torch.tensor([1, 0, 1, 1, 1]).to(dtype)
    for accumulate in (False, True):
        wanted = base.flatten().clone()
        for place, value in zip(index.tolist(), source.tolist(), strict=True):
            wanted[place] = wanted[place] + value if accumulate else value
        x = base.clone()
        assert x.put_(index, source, accumulate) is x and x._version == 1
        assert torch.equal(x.flatten(), wanted)
        turned = base.t().clone().t()
        assert torch.equal(turned.put_(index, source, accumulate).flatten(), wanted)
    with pytest.raises(RuntimeError, match="unsupported operation"):
        x.put_(index, x.view(-1)[:5])
    with pytest.raises(IndexError, match="out of range"):
        x.put_(torch.tensor([2000]), source[:1])
    if dtype == torch.float32:
        values = torch.ones(5, requires_grad=True)
        base.clone().put_(index, values).sum().backward()
        assert values.grad.tolist() == [1] * 5


@pytest.mark.parametrize("count", [0, 1, 31, 4096, 100_000])
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.float32])
def test_whether_any_or_all_hold_is_found_wherever_it_is(count, dtype):
    for place in {0, count // 2, count - 1} & set(range(count)):
        x = torch.zeros(count, dtype=dtype)
        assert not x.any()
        x[place] = 1
        assert x.any() and x.any().dtype == (torch.uint8 if dtype == torch.uint8 else torch.bool)
        assert not x.logical_not().to(dtype).all() and (count == 1 or not x.all())
    assert torch.ones(count, dtype=dtype).all() and not torch.zeros(count, dtype=dtype).any()
