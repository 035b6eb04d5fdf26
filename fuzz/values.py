"""What programs are written in: names that stand for tensors, and values that arguments are replaced by."""

import ast
import re

# What a name means; a program begins with the lines that it needs.
NAMES = {
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "linalg": "torch.linalg",
    "special": "torch.special",
    "t": "torch.tensor",
    "inf": "float('inf')",
    "nan": "float('nan')",
    "x": "torch.linspace(0.1, 0.9, 12).double().reshape(3, 4).requires_grad_()",
    "y": "(torch.linspace(0.1, 0.9, 12).double().reshape(3, 4) + 1).requires_grad_()",
    "z": "torch.complex(torch.ones(3), torch.linspace(0.1, 0.9, 3)).requires_grad_()",
    "square": "(torch.eye(3).double() + 0.25).requires_grad_()",
    "vector": "torch.linspace(0.1, 0.9, 4).double().requires_grad_()",
    "batch": "torch.linspace(0.1, 0.9, 24).double().reshape(2, 3, 4).requires_grad_()",
    "image": "torch.linspace(0.1, 0.9, 32).double().reshape(1, 2, 4, 4).requires_grad_()",
    "filters": "torch.linspace(0.1, 0.9, 18).double().reshape(2, 3, 3).requires_grad_()",
    "kernels": "torch.linspace(0.1, 0.9, 36).double().reshape(2, 2, 3, 3).requires_grad_()",
    "index": "torch.tensor([0, 2, 1])",
    "places": "torch.tensor([[0], [2], [1]])",
    "mask": "torch.tensor([[True, False, True, True]] * 3)",
}

INTEGERS = [
    *("0 1 -1 2 3 -2 7 64 1000 -1000 255 65536").split(),
    *("2**31-1 2**31 -2**31 2**32 2**53 2**62 2**63-1 -2**63 2**63 2**64 10**30 -10**30").split(),
]
REALS = "0.0 -0.0 0.5 -1.5 nan inf -inf 1e308 -1e308 5e-324 1e-45 1e19 1e39 16777217.0".split()
OTHERS = [
    *(
        "None True False '' 'a' 'mean' () [] (0,) (0,-1) (0,0) [1,2] (2,3) [-1] [2**62,4] [[1],2] {} 1j"
    ).split(),
    *("... slice(None) object() int len torch.Size([2]) torch.strided torch.contiguous_format").split(),
    *("torch.channels_last torch.float16 torch.bfloat16 torch.float32 torch.float64 torch.int8").split(),
    *("torch.uint8 torch.int32 torch.int64 torch.bool torch.complex64 torch.complex128 'cpu'").split(),
    *("torch.device('cpu') b'a' range(3) iter([1,2]) (1,2.5) [True] [None] [t(1)] [x] (x,y)").split(),
]
TENSORS = [
    *(name for name in NAMES if name not in {"F", "nn", "linalg", "special", "t", "inf", "nan"}),
    *("t(2.) t(3) t(True) t(1j) t([]) t([nan,inf,-inf]) t([1e308,-1e308]) t([5e-324]).double()").split(),
    *("torch.ones(0) torch.ones(2,0,3) torch.ones(0,3) torch.ones(3,1) torch.ones(1,1,1,1,1)").split(),
    *("torch.ones(3,4) torch.ones(4,3).t() torch.ones(6,8)[::2,::2] torch.ones(1).expand(3,4)").split(),
    *(
        "torch.arange(12) torch.arange(12.).view(3,4) torch.arange(6,dtype=torch.uint8) t([300,-7,-1])"
    ).split(),
    *("t([2**63-1,-2**63]) t([0,1],dtype=torch.int8) t([1.5,2],dtype=torch.float16)").split(),
    *(
        "t([1.5,nan],dtype=torch.bfloat16) z.conj() z.conj().imag z.detach() x.detach() x.t() x[:,1] x[1:1]"
    ).split(),
    *(
        "torch.arange(12.).as_strided((3,3),(1,1)) torch.ones(3,4).double() torch.nn.Parameter(torch.ones(3,4))"
    ).split(),
    *(
        "torch.eye(3) torch.zeros(3,3) torch.full((3,3),nan) torch.ones(2,3,4,5) torch.ones(2,3,4,5,6)"
    ).split(),
    "torch.ones(2,3,4,4).to(memory_format=torch.channels_last)",
    "torch.eye(3).to(torch.complex64)",
]
GIANTS = [
    *(
        "torch.ones(1).expand(2**40) torch.ones(1,1).expand(2**20,2**20) torch.ones(1,1).expand(2**31,2)"
    ).split(),
    *(
        "torch.ones(1,1).expand(274177,1) torch.ones(1,1).expand(1,67280421310721) torch.empty(2**40,0)"
    ).split(),
    *("torch.empty(0,2**40) t([0]).expand(2**40) t([True]).expand(2**40) t([1j]).expand(2**40)").split(),
    *("torch.ones(1,1,1).expand(3,2**33,1) torch.ones(1).double().expand(2**50).requires_grad_()").split(),
    *("torch.ones(1,1,1,1).expand(1,1,2**20,2**20) t([1],dtype=torch.uint8).expand(2**45)").split(),
]


class Folded(ast.NodeTransformer):
    """Powers are numbers, so that no exponent is ever replaced by a large one: Python would not come back."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        operands = [getattr(side, "value", None) for side in (node.left, node.right)]
        if isinstance(node.op, (ast.Pow, ast.Sub)) and all(type(number) is int for number in operands):
            return ast.Constant(eval(ast.unparse(node)))
        return node


def folded(source):
    return Folded().visit(ast.parse(source))


def parsed(sources):
    return [folded(source).body[0].value for source in sources]


# Names, but neither attributes nor keywords.
WORDS = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w|=[^=])")


def used(source):
    """The lines that define the names a program uses, in order. A word in a text counts as a name too."""
    names = set(WORDS.findall(source))
    return "".join(f"{name} = {made}\n" for name, made in NAMES.items() if name in names)
