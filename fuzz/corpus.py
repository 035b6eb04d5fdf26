"""Calls that are known to mean something: those of the tests' tables, and those that the stub's signatures ask for."""

import ast
from functools import cache
from pathlib import Path

from values import NAMES, folded, parsed

TOP = Path(__file__).resolve().parent.parent
# Functions that change the process for whoever comes next, end it, wait, or write where they are told to.
UNWANTED = {
    *("set_num_threads set_num_interop_threads set_default_dtype set_default_device exit save input".split()),
    *(
        "breakpoint _exit sleep wait kill fork save_model system Pool Process quit print_stats install export".split()
    ),
    *("share_memory_ from_file compile download_url_to_file load_state_dict_from_url set_dir lobpcg".split()),
    *(
        "_add_docstr _look_around _crash_if_asan load_library detect_anomaly data_ptr cdist_reference fuzz".split()
    ),
    *("_push_saved_tensors_default_hooks _push_interceptor _push_torch_function_mode".split()),
    *("_exchange_mode_beneath _set_minding".split()),
    *("use_deterministic_algorithms set_warn_always set_printoptions as_torch open exec eval".split()),
}


class Qualified(ast.NodeTransformer):
    """Names of functions get the module that a table does without."""

    def __init__(self, torch, assigned):
        self.torch, self.assigned = torch, assigned

    def visit_Name(self, node):
        known = node.id in NAMES or node.id in self.assigned or node.id == "torch"
        if known or not hasattr(self.torch, node.id):
            return node
        return ast.Attribute(ast.Name("torch", ast.Load()), node.id, ast.Load())


def wanted(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in UNWANTED:
            return False
        if isinstance(node, ast.Name) and (node.id in UNWANTED or node.id in {"np", "leaf", "G", "GG"}):
            return False
    return True


def lines(*folders):
    for folder in folders:
        for path in sorted((TOP / "tests" / folder).glob("*.txt")):
            for line in path.read_text(encoding="utf-8").splitlines():
                if line and not line.startswith(("#", " ")):
                    yield folder, path.stem, line


@cache
def recorded():
    """The programs of the tests' tables, as lists of statements."""
    import rushlight as torch

    found = {}
    for folder, name, line in lines("answers", "messages", "graph"):
        if folder == "graph":
            if name == "nodes":
                continue
            source = line.split(" ", 1)[1] if name == "digests" else line
        else:
            source = line.replace(";;", ";")
        try:
            tree = folded(source)
        except (SyntaxError, TypeError):
            continue
        if folder == "graph":
            Qualified(torch, ()).visit(tree)
        if wanted(tree):
            found[ast.unparse(tree)] = tree.body
    return list(found.values())


# By the kind of an annotation, what stands for an argument at first.
FITTING = {
    "Tensor": ["x", "y", "vector", "batch", "image", "square", "index", "mask"],
    "_int": ["0", "1", "2", "-1"],
    "_Ints": ["(2,)", "(0,)", "[1, 2]", "(3, 4)"],
    "_bool": ["True", "False"],
    "_float": ["0.5", "2.0"],
    "_Number": ["2", "0.5"],
    "_str": ["'mean'", "'a'", "'ij'"],
    "_Tensors": ["(x, y)", "[vector]", "[square, square]"],
    "_DType": ["torch.float32", "torch.int64"],
}


def arguments(function):
    """What a signature asks for: positional kinds, and keywords with theirs."""

    def kind(annotation):
        text = "" if annotation is None else ast.unparse(annotation)
        return next((name for name in text.replace("|", " ").split() if name in FITTING), "Tensor")

    given = function.args
    first = 1 if given.args and given.args[0].arg in {"self", "cls"} else 0
    positional = [(argument.arg, kind(argument.annotation)) for argument in given.args[first:]]
    required = max(0, len(positional) - len(given.defaults))
    return positional, required, [(argument.arg, kind(argument.annotation)) for argument in given.kwonlyargs]


@cache
def signatures():
    """Functions and methods of the stub: how they are called, and with what."""
    tree = ast.parse((TOP / "python/rushlight/_rushlight.pyi").read_text(encoding="utf-8"))
    import rushlight as torch

    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name not in UNWANTED and hasattr(torch, node.name):
            found.append((f"torch.{node.name}", *arguments(node)))
        if isinstance(node, ast.ClassDef) and node.name in {"Tensor", "TensorBase", "Generator"}:
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name not in UNWANTED:
                    found.append((f".{inner.name}", *arguments(inner)))
    for module in ("nn.functional", "linalg", "special", "fft"):
        inner = torch
        for part in module.split("."):
            inner = getattr(inner, part)
        for name in dir(inner):
            if (
                callable(getattr(inner, name))
                and name[0] != "_"
                and name[0].islower()
                and name not in UNWANTED
            ):
                found.append((f"torch.{module}.{name}", [("", "Tensor")] * 3, 1, []))
    return found


@cache
def keywords():
    """Keywords that some call somewhere takes."""
    named = {name for _, _, _, kinds in signatures() for name, _ in kinds}
    return sorted(named | {"dim", "keepdim", "reduction", "weight", "correction", "p", "eps", "size"})


def fitting(dice, kind):
    return parsed([dice.choice(FITTING[kind])])[0]


def call(dice):
    """A call of a function or a method by its signature."""
    name, positional, required, kinds = dice.choice(signatures())
    count = dice.randint(required, len(positional))
    given = [fitting(dice, kind) for _, kind in positional[:count]]
    named = [ast.keyword(word, fitting(dice, kind)) for word, kind in kinds if dice.random() < 0.15]
    if name.startswith("."):
        function = ast.Attribute(fitting(dice, "Tensor"), name[1:], ast.Load())
    else:
        function = ast.parse(name, mode="eval").body
    return [ast.Expr(ast.Call(function, given, named))]
