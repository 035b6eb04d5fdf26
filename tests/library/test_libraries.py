"""Libraries of operators: what they declare, what they refuse, and how long what they have is there."""

from itertools import count

import pytest
import rushlight as torch
from rushlight._subclasses.fake_tensor import FakeTensorMode
from rushlight.fx.experimental.proxy_tensor import make_fx
from rushlight.library import Library
from support import raises

numbers = count()


@pytest.fixture
def name():
    return f"declared{next(numbers)}"


@pytest.fixture
def library(name):
    return Library(name, "DEF")


def operators(library):
    return getattr(torch.ops, library.ns)


def test_a_namespace_is_claimed_once_and_pieces_are_added(library, name):
    for taken in ("aten", name):
        with pytest.raises(RuntimeError, match=f"Only a single TORCH_LIBRARY .* the namespace {taken};"):
            Library(taken, "DEF")
    Library(name, "FRAGMENT").define("piece(Tensor x) -> Tensor")
    assert not hasattr(operators(library), "piece")  # Nobody kept that library.
    library._destroy()
    Library(name, "DEF")._destroy()


def test_a_key_that_is_none_is_refused(library):
    with raises(RuntimeError, "could not parse dispatch key: FOO"):
        Library(library.ns, "IMPL", "FOO")
    library.define("f(Tensor x) -> Tensor")
    with raises(RuntimeError, "could not parse dispatch key: FOO"):
        library.impl("f", torch.neg, "FOO")
    with raises(TypeError, "Input function is required to be a callable but found type <class 'int'>"):
        library.impl("f", 3, "CPU")


def test_an_overload_is_declared_once(library):
    library.define("f(Tensor x) -> Tensor")
    library.define("f.int(Tensor x, int y) -> Tensor")
    for schema in ("f(Tensor x, int y) -> Tensor", "f.int(Tensor x) -> Tensor"):
        with pytest.raises(RuntimeError, match="with the same name and overload name multiple times"):
            library.define(schema)
    with pytest.raises(RuntimeError, match=r"test_libraries.py:\d+. Original registration: registered at"):
        library.define("f(Tensor x) -> Tensor")


def test_schemas_are_read_when_they_are_declared(library):
    with pytest.raises(RuntimeError, match="unknown type specifier"):
        library.define("f(Tensr x) -> Tensor")
    with raises(RuntimeError, "Invalid alias_analysis type FOO"):
        library.define("f(Tensor x) -> Tensor", "FOO")
    with pytest.raises(RuntimeError, match=r"Explicitly provided namespace \(other\) in schema string"):
        library.define("other::f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="Cannot define an operator inside of a TORCH_LIBRARY_IMPL block"):
        Library(library.ns, "IMPL").define("f(Tensor x) -> Tensor")
    library.define("g(Tensor w, int x = 2, *, int y = 3, int z) -> Tensor")
    said = f"{library.ns}::g(Tensor w, int x=2, *, int y=3, int z) -> Tensor"
    assert str(operators(library).g.default._schema) == said


def test_what_is_written_to_need_not_have_a_name_for_its_memory(library):
    library.define("f.out(Tensor A, Tensor B, Tensor! out) -> ()")
    schema = operators(library).f.out._schema
    assert schema.is_mutable and [one.is_write for one in schema.arguments] == [False, False, True]


def test_tags_are_kept(library):
    tag = torch.Tag.nondeterministic_seeded
    library.define("f(Tensor x) -> Tensor", tags=tag)
    library.define("g(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
    assert operators(library).f.default.tags == [tag]
    assert operators(library).g.default.tags == [torch.Tag.pt2_compliant_tag]


def test_what_a_library_gave_goes_with_it(library):
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CPU")
    other = Library(library.ns, "IMPL")
    other.impl("f", lambda x: x + 2, "CPU")
    x = torch.zeros(1)
    assert operators(library).f(x).item() == 2
    other._destroy()
    assert operators(library).f(x).item() == 1


def test_tensors_without_numbers_go_where_there_is_a_form(library):
    for operator, key in [
        ("a", "CPU"),
        ("b", "CompositeExplicitAutograd"),
        ("c", "CompositeImplicitAutograd"),
    ]:
        library.define(f"{operator}(Tensor x) -> Tensor")
        library.impl(operator, lambda x: x + 1, key)
    found, hollow = operators(library), torch.ones(2, device="meta")
    with pytest.raises(NotImplementedError, match="there was no fake impl or Meta kernel registered"):
        found.a(hollow)
    assert found.b(hollow).shape == found.c(hollow).shape == (2,)
    library.impl("a", lambda x: x.new_empty(3), "Meta")
    assert found.a(hollow).shape == (3,)
    assert found.a(torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(
        RuntimeError, match="We should not register a meta kernel directly to the operator 'c'"
    ):
        library.impl("c", torch.empty_like, "Meta")
    with pytest.raises(RuntimeError, match="a CompositeImplicitAutograd kernel in core"):
        torch.library.register_fake(f"{library.ns}::c", torch.empty_like)


def test_an_operator_of_a_function_says_its_form_in_a_mode(name):
    @torch.library.custom_op(f"{name}::double", mutates_args=())
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    told = (
        f"There was no fake impl registered for <CustomOpDef({name}::double)>. This is necessary for "
        "torch.compile/export/fx tracing to work. Please use `double.register_fake` to add an fake impl."
    )
    with raises(RuntimeError, told):
        double(torch.ones(2, device="meta"))
    with FakeTensorMode(), raises(RuntimeError, told):
        double(torch.ones(2))
    double.register_fake(lambda x: x.new_empty(x.shape, dtype=torch.float64))
    with FakeTensorMode():
        assert double(torch.ones(2)).dtype is torch.float64
    graph = make_fx(lambda x: double(x) + 1)(torch.ones(2))
    assert f"torch.ops.{name}.double.default(x_1)" in graph.code


def test_a_shape_that_depends_on_numbers_has_no_form(name):
    @torch.library.custom_op(f"{name}::places", mutates_args=())
    def places(x: torch.Tensor) -> torch.Tensor:
        return x.nonzero()

    @places.register_fake
    def _(x):
        return x.new_empty([torch.library.get_ctx().new_dynamic_size(), x.dim()], dtype=torch.int64)

    with pytest.raises(RuntimeError, match="You're trying to run this operator with meta Tensors"):
        places(torch.ones(2, device="meta"))
    assert torch.library.get_ctx() is None
    assert set(torch.library.opcheck(places, (torch.ones(2),)).values()) == {"SUCCESS"}


def test_the_dispatcher_is_asked_which_functions_there_are(library):
    library.define("a(Tensor x) -> Tensor")
    library.define("b(Tensor x) -> Tensor")
    library.impl("a", lambda x: x + 1, "CPU")
    library.impl("b", lambda x: x + 1, "CompositeExplicitAutograd")
    a, b = f"{library.ns}::a", f"{library.ns}::b"
    has, computed = (
        torch._C._dispatch_has_kernel_for_dispatch_key,
        torch._C._dispatch_has_computed_kernel_for_dispatch_key,
    )
    assert [has(a, "CPU"), has(b, "CPU"), has(b, "CompositeExplicitAutograd"), has(a, "Autograd")] == [
        True,
        False,
        True,
        False,
    ]
    assert [computed(a, "CUDA"), computed(b, "CUDA"), computed(a, "AutogradCPU")] == [False, True, True]
    assert has("aten::add.Tensor", "CPU")
    assert operators(library).a.default.has_kernel_for_dispatch_key(torch._C.DispatchKey.CPU)
    assert a in torch._C._dispatch_get_all_op_names()
    assert str(torch._C._get_schema(a, "")) == f"{a}(Tensor x) -> Tensor"
    assert torch._C._parse_dispatch_key("none") is None


def test_a_declared_operator_is_mapped_by_its_rule(library):
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CPU")
    seen = []

    def rule(info, in_dims, x):
        seen.append((info.batch_size, in_dims, tuple(x.shape)))
        return x + 1, in_dims[0]

    torch.library.register_vmap(f"{library.ns}::f", rule)
    assert torch.vmap(operators(library).f)(torch.zeros(3, 2)).tolist() == [[1.0, 1.0]] * 3
    assert seen == [(3, (0,), (3, 2))]
