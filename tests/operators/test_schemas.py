"""Schemas of operators: read, printed, compared with older ones."""

import pytest
import rushlight as torch

parse = torch._C.parse_schema


def test_a_schema_is_read_and_printed_as_it_is_written():
    text = (
        'ns::f.out(Tensor self, int[2] b=[1, 2], int[2] p=0, *, str? order="NCHW", Scalar al=1, '
        "bool[3]? m=None, float[] fl=[0., 1.], Tensor(a!) out, Dict(str, Tensor) d, (int, Tensor) t) "
        "-> (Tensor(a!) x, int y, Tensor?[])"
    )
    schema = parse(text)
    assert str(schema) == text
    assert (schema.name, schema.overload_name) == ("ns::f", "out")
    assert schema.is_mutable
    b, p = schema.arguments[1:3]
    assert (b.name, b.default_value, b.N, b.kwarg_only) == ("b", [1, 2], 2, False)
    assert p.default_value == [0, 0]
    names = [argument.name for argument in schema.arguments if argument.kwarg_only]
    assert names == ["order", "al", "m", "fl", "out", "d", "t"]
    assert [argument.is_out for argument in schema.arguments].count(True) == 1
    assert [one.name for one in schema.returns] == ["x", "y", ""]
    assert not schema.arguments[0].has_default_value()


@pytest.mark.parametrize(
    "text",
    [
        "foo(Tensor self) -> ()",
        "foo() -> Tensor",
        "foo(Tensor self, ...) -> ...",
        "foo(Tensor self, *, Tensor(a!)[] out) -> ()",
        "split(Tensor(a -> *) self, SymInt size, int dim=0) -> Tensor(a)[]",
        "to(Tensor self, *, ScalarType? dtype=None, Layout? l=None, MemoryFormat? mf=None) -> Tensor",
    ],
)
def test_reading_what_was_printed_gives_the_same(text):
    schema = parse(text)
    assert str(schema) == text
    assert str(parse(str(schema))) == text
    if ")[]" not in text:  # torch compares memory that elements show by where it notes that.
        assert parse(str(schema)) == schema
        assert hash(parse(text)) == hash(schema)


def test_types_are_shown_as_schemas_and_as_python_write_them():
    schema = parse("f(int[2]? a, ScalarType? b, SymInt[] c, Scalar d, Device e, (int, str) g) -> SymInt")
    found = [(argument.type.kind(), str(argument.type), argument.type.str()) for argument in schema.arguments]
    assert found == [
        ("OptionalType", "Optional[List[int]]", "int[]?"),
        ("OptionalType", "Optional[int]", "int?"),
        ("ListType", "List[int]", found[2][2]),
        ("NumberType", "number", "Scalar"),
        ("DeviceObjType", "Device", "Device"),
        ("TupleType", "Tuple[int, str]", "(int, str)"),
    ]
    assert schema.returns[0].type.str() == "int"
    assert schema.returns[0].real_type.str() == "SymInt"
    assert schema.arguments[1].real_type.str() == "ScalarType?"


def test_types_are_made_and_compared():
    kinds = torch._C
    integer = kinds.IntType.get()
    assert kinds.ListType(integer) == kinds.ListType.ofInts()
    assert kinds.ListType(integer) != kinds.ListType.ofFloats()
    assert integer.isSubtypeOf(kinds.NumberType.get())
    assert integer.isSubtypeOf(kinds.OptionalType(integer))
    assert kinds.NoneType.get().isSubtypeOf(kinds.OptionalType(integer))
    assert not kinds.OptionalType(integer).isSubtypeOf(integer)
    assert kinds.DictType(kinds.StringType.get(), integer).getValueType() == integer
    assert str(kinds.UnionType([integer, kinds.StringType.get()])) == "Union[int, str]"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("foo", "Tried to parse a function schema but only the operator name was given"),
        ("foo(Tensor x", "expected ) but found 'eof' here:\nfoo(Tensor x"),
        ("foo(Tensor x) -> ", "expected ident but found 'eof' here:\nfoo(Tensor x) -> "),
        ("(Tensor) -> Tensor", "expected ident but found '(' here:\n(Tensor) -> Tensor\n~ <--- HERE\n"),
        (
            "foo(int a=x) -> int",
            "\ninvalid numeric default value:\nfoo(int a=x) -> int\n           ~ <--- HERE\n",
        ),
        ("foo(Blah x) -> Tensor", "#func :\nfoo(Blah x) -> Tensor\n    ~~~~ <--- HERE\n"),
        ("f(int a, int b=2, ...)", "schemas with vararg (...) can't have default value args"),
    ],
)
def test_what_is_no_schema_is_refused(text, words):
    with pytest.raises(RuntimeError) as raised:
        parse(text)
    assert words in str(raised.value)


SAME_OUT = "Function schema should have the same number of out arguments"
NOT_FORWARD = "'{}' is not forward compatible with the older version of the schema"
NEW = "Function schema is not forward compatible since the new argument 'c' of type {}"


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward"),
    [
        ("(Tensor s, int a) -> Tensor", "(Tensor s, int a) -> int", False, (True, "")),
        ("(Tensor s, int a) -> Tensor", "(Tensor s, int a) -> (Tensor, int)", False, (False, "")),
        ("(Tensor s, int a) -> Tensor", "(Tensor s) -> Tensor", False, (True, "")),
        ("(Tensor s, int a=1) -> Tensor", "(Tensor s, int a=1, int c=1) -> Tensor", True, (True, "")),
        (
            "(Tensor s) -> Tensor",
            "(Tensor s, int[2] c=1) -> Tensor",
            True,
            (False, NEW.format("int[] has a container type as its default value.")),
        ),
        (
            "(Tensor s) -> Tensor",
            "(Tensor s, int c) -> Tensor",
            False,
            (False, NEW.format("int did not provide a default value.")),
        ),
        ("(Tensor s) -> Tensor", "(Tensor? s) -> Tensor", True, (False, NOT_FORWARD.format("s"))),
        ("(Tensor? s) -> Tensor", "(Tensor s) -> Tensor", False, (True, "")),
        ("(Tensor(a) s) -> Tensor", "(Tensor s) -> Tensor", False, (False, NOT_FORWARD.format("s"))),
        ("(Tensor s) -> Tensor?", "(Tensor s) -> Tensor", True, (True, "")),
        (
            "(Tensor s, int b) -> Tensor",
            "(Tensor s, *, int b) -> Tensor",
            False,
            (False, NOT_FORWARD.format("b")),
        ),
        ("(Tensor s, *, int b) -> Tensor", "(Tensor s, int b) -> Tensor", True, (True, "")),
        (
            "(Tensor s, int b=1) -> Tensor",
            "(Tensor s, int b=4) -> Tensor",
            False,
            (False, NOT_FORWARD.format("b")),
        ),
        (
            "(Tensor s, int b) -> Tensor",
            "(Tensor s, int b=4) -> Tensor",
            True,
            (False, NOT_FORWARD.format("b")),
        ),
        (
            "(*, int a, Tensor(a!) out) -> Tensor",
            "(*, int a, Tensor(a!) out, Tensor(b!) c) -> Tensor",
            True,
            (False, SAME_OUT),
        ),
        (
            "(*, int a, Tensor(a!) out) -> Tensor",
            "(*, int a, Tensor(b!) ou) -> Tensor",
            False,
            (False, "Out argument ''ou is not FC with the older version of the schema"),
        ),
        ("(*, Tensor(a!) out) -> Tensor", "(*, int a=1, Tensor(a!) out) -> Tensor", True, (True, "")),
    ],
)
def test_a_schema_is_compared_with_an_older_one(old, new, backward, forward):
    old, new = parse(f"any{old}"), parse(f"any{new}")
    assert new.is_backward_compatible_with(old) is backward
    assert new.check_forward_compatible_with(old) == forward
    assert new != old


def test_every_operator_has_a_schema_that_reads_back():
    schemas = torch._C._jit_get_all_schemas()
    assert len(schemas) > 500
    for schema in schemas:
        if not schema.name.startswith("aten::") or ")[]" in str(schema):
            continue
        again = parse(str(schema))
        assert again == schema
        assert again.is_backward_compatible_with(schema)
    assert (
        str(torch._C._jit_get_schemas_for_operator("aten::mm")[0])
        == "aten::mm(Tensor self, Tensor mat2) -> Tensor"
    )


def test_operators_write_what_others_return():
    add = torch.ops.aten.add
    assert str(add.out) == "aten.add.out"
    assert str(add.out._schema) == (
        "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    )
    assert add.out._schema.is_mutable
    x, out = torch.tensor(2.0), torch.tensor(0.0)
    assert add.out(x, x, out=out) is out
    assert out.item() == 4
    assert add.out is torch.ops.aten.add.out
    with pytest.raises(AttributeError, match="has no overload name 'nothing_out'"):
        _ = add.nothing_out


def test_operators_are_computed_by_what_they_are_made_of():
    x, weight = torch.randn(2, 3), torch.randn(5, 3)
    linear = torch.ops.aten.linear.default
    assert torch.equal(linear.decompose(x, weight), linear(x, weight))
    assert torch.ops.aten.add.op.__module__ == torch.ops.aten.add.__module__


def test_operators_that_take_functions_are_computed_and_differentiated():
    from rushlight._ops import HigherOrderOperator

    class Summed(HigherOrderOperator):
        def __init__(self):
            super().__init__("summed")

        def __call__(self, *args):
            return super().__call__(*args)

    summed = Summed()

    @summed.py_impl(torch._C.DispatchKey.AutogradCPU)
    def compute(function, x):
        return function(x).sum()

    x = torch.arange(3.0)
    assert summed(torch.square, x).item() == 5
    if torch.__name__ == "rushlight":
        gradient = torch.func.grad(lambda x: summed(torch.square, x))(x)
        assert gradient.tolist() == [0.0, 2.0, 4.0]
        assert torch.vmap(lambda x: summed(torch.square, x))(torch.ones(2, 3)).tolist() == [3.0, 3.0]
    assert str(summed) == "summed"
    with pytest.raises(TypeError, match="Can't instantiate abstract class HigherOrderOperator"):
        HigherOrderOperator("none")


def test_defaults_of_lists_are_written_out_where_sizes_may_be_symbols():
    conv = str(torch.ops.aten.conv2d.default._schema)
    assert "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0]" in conv
    assert "int[2] stride=[], int[2] padding=0" in str(torch.ops.aten.avg_pool2d.default._schema)
    said = "f(int[2] a=1, SymInt[2] b=3, float[2] c=0.5, int[2]? d=None) -> Tensor"
    assert str(torch._C.parse_schema(said)) == (
        "f(int[2] a=1, SymInt[2] b=[3, 3], float[2] c=[0.5, 0.5], int[2]? d=None) -> Tensor"
    )
