"""Schemas of operators, right and wrong: read, defined, and called."""

KINDS = "Tensor Tensor? Tensor(a!) Tensor(a) Tensor[] Tensor?[] int int[] int[2] int? SymInt SymInt[] float float[] bool bool? str str? Scalar ScalarType Device Generator? Layout MemoryFormat complex ( a! ??? Tensor[][]".split()
DEFAULTS = [
    "",
    "",
    "",
    "=0",
    "=None",
    "=True",
    "=1.5",
    "='a'",
    "=[1,2]",
    "=-1",
    "=[]",
    "=",
    "==",
    "=99999999999999999999",
]
RESULTS = [
    "Tensor",
    "()",
    "(Tensor, Tensor)",
    "Tensor(a!)",
    "Tensor[]",
    "int",
    "",
    "(Tensor a, int b)",
    "Tensor?",
    "(",
    "float",
]
WORDS = [
    "(",
    ")",
    ",",
    "->",
    "*",
    "Tensor",
    "(a!)",
    "?",
    "[]",
    "=",
    " ",
    "\0",
    "é",
    "...",
    "a",
    "::",
    ".x",
    "'",
    "0",
    "|",
]
SOURCE = """name = 'fuzz{number}'
with torch.library._scoped_library(name, 'FRAGMENT') as library:
    library.define({schema!r})
    library.impl('f', lambda *given, **named: {answer}, 'CompositeExplicitAutograd')
    operator = getattr(torch.ops, name).f
    repr(operator.default._schema)
    result = operator({given})
"""
INFERRED = """from typing import *
def f({arguments}) -> {result}:
    return {answer}
schema = torch.library.infer_schema(f, mutates_args={mutates})
operator = torch.library.custom_op('fuzz{number}::f', f, mutates_args={mutates})
operator({given})
"""
ANNOTATIONS = "torch.Tensor Optional[torch.Tensor] List[torch.Tensor] Sequence[int] int float bool str torch.dtype Tuple[int,int] dict object None torch.device".split()
VALUES = [
    "torch.ones(2)",
    "1",
    "1.5",
    "None",
    "[1, 2]",
    "'a'",
    "[torch.ones(1)]",
    "True",
    "torch.float32",
    "{}",
    "2**63",
]


def program(dice):
    count, number = dice.randint(0, 4), dice.randrange(10**9)
    given = ", ".join(dice.choice(VALUES) for _ in range(dice.randint(0, count + 1)))
    answer = dice.choice(
        ["given[0]", "None", "torch.ones(1)", "1", "(torch.ones(1), torch.ones(1))", "given"]
    )
    if dice.random() < 0.3:
        arguments = [f"a{place}: {dice.choice(ANNOTATIONS)}" for place in range(count)]
        return INFERRED.format(
            arguments=", ".join(arguments),
            result=dice.choice([*ANNOTATIONS, "Tuple[torch.Tensor, torch.Tensor]"]),
            answer="a0.clone()" if count else "torch.ones(1)",
            mutates=dice.choice(["()", "('a0',)", "'unknown'", "('b',)", "1", "None"]),
            number=number,
            given=given,
        )
    arguments = [f"{dice.choice(KINDS)} a{place}{dice.choice(DEFAULTS)}" for place in range(count)]
    if arguments and dice.random() < 0.2:
        arguments.insert(dice.randint(0, count), "*")
    schema = f"f({', '.join(arguments)}) -> {dice.choice(RESULTS)}"
    for _ in range(dice.choice([0, 0, 1, 3])):
        place = dice.randint(0, len(schema))
        schema = schema[:place] + dice.choice(WORDS) + schema[place + dice.randint(0, 3) :]
    return SOURCE.format(number=number, schema=schema, answer=answer, given=given)
