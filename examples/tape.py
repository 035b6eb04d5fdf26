"""A tape engine in a hundred lines: what rushlight does, small enough to read at once.

It has what the real one has: tensors with a history, nodes with positions on a tape, rules written in
operations (so that gradients have gradients), saved tensors with versions, a plan of what is reached, and a
run that writes `.grad` only if all went well. docs/tape-engine.md says where each piece lives in the engine.

    python examples/tape.py
"""

from __future__ import annotations

import itertools

import numpy as np

POSITIONS = itertools.count()
RECORDING = True


class Node:
    """What backward runs: a rule, the edges it leads along, and where on the tape it was made."""

    def __init__(self, rule, inputs):
        self.rule, self.shapes = rule, [x.value.shape for x in inputs]
        self.edges = [x.edge() if x.requires_grad else None for x in inputs]
        self.position = next(POSITIONS)  # After all that it leads to.


class Leaf(Node):
    """The end of an edge: a tensor that the user made, and that takes a gradient."""

    def __init__(self, tensor):
        super().__init__(None, [])
        self.tensor = tensor


class Saved:
    """A tensor that a rule keeps, and the version that its memory had."""

    def __init__(self, tensor):
        self.tensor, self.version = tensor, tensor.version

    def load(self):
        if self.tensor.version != self.version:
            raise RuntimeError("a tensor needed for backward was modified by an inplace operation")
        return self.tensor


class Tensor:
    def __init__(self, value, requires_grad=False, node=None):
        self.value, self.version = np.array(value, dtype=float), 0
        self.node, self.requires_grad, self.grad = node, requires_grad, None

    def edge(self):
        if self.node is None:
            self.node = Leaf(self)
        return self.node

    def add_(self, number):
        """Write in place: whoever saved this memory will notice."""
        self.value += number
        self.version += 1

    def __add__(self, other):
        return apply(np.add, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        a, b = Saved(self), Saved(other)
        return apply(np.multiply, (self, other), lambda g: (g * b.load(), g * a.load()))

    def exp(self):
        y = apply(np.exp, (self,), lambda g: (g * y,))
        return y

    def sum(self):
        ones = Tensor(np.ones_like(self.value))
        return apply(np.sum, (self,), lambda g: (g * ones,))


def apply(forward, inputs, rule):
    """The one way of a call: compute, and record if anybody asks for gradients."""
    recorded = RECORDING and any(x.requires_grad for x in inputs)
    value = forward(*(x.value for x in inputs))
    return Tensor(value, recorded, Node(rule, inputs) if recorded else None)


def plan(root):
    """The nodes that are reached, the last one made first; found with a loop, since graphs may be deep."""
    reached, found = [root], {root}
    for node in reached:
        new = [following for following in node.edges if following and following not in found]
        found.update(new)
        reached.extend(new)
    # A node is made after everything it leads to, so descending positions need no search.
    return sorted(found, key=lambda node: node.position, reverse=True)


def fitted(gradient, shape):
    """The sum that undoes broadcasting; no rule does that itself."""
    while gradient.value.shape != shape:
        extra = gradient.value.ndim - len(shape)
        axis = 0 if extra else next(i for i, n in enumerate(shape) if n != gradient.value.shape[i])
        before, keep = gradient.value.shape, not extra
        gradient = apply(
            lambda v, axis=axis, keep=keep: v.sum(axis, keepdims=keep),
            (gradient,),
            lambda g, before=before: (g * Tensor(np.ones(before)),),
        )
    return gradient


def backward(root, create_graph=False):
    """Run the rules from the last position to the first; write `.grad` when all have run."""
    global RECORDING
    before, RECORDING = RECORDING, create_graph
    gradients, finished = {root.edge(): Tensor(np.ones_like(root.value))}, []
    try:
        for node in plan(root.edge()):
            gradient = gradients.pop(node)
            if isinstance(node, Leaf):
                finished.append((node.tensor, gradient))
                continue
            for following, part, shape in zip(node.edges, node.rule(gradient), node.shapes, strict=True):
                if following is not None:
                    part = fitted(part, shape)
                    gradients[following] = gradients[following] + part if following in gradients else part
    finally:
        RECORDING = before
    for tensor, gradient in finished:
        tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient


if __name__ == "__main__":
    x, w = Tensor([1.0, 2.0], requires_grad=True), Tensor(3.0, requires_grad=True)
    y = ((x * w).exp() * x).sum()
    backward(y, create_graph=True)
    first, x.grad = x.grad, None
    print("tape:     ", first.value, w.grad.value)
    backward(first.sum())
    print("twice:    ", x.grad.value)

    import rushlight as torch

    a = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    b = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    da, db = torch.autograd.grad(((a * b).exp() * a).sum(), (a, b), create_graph=True)
    print("rushlight:", da.detach().numpy(), db.detach().numpy())
    print("twice:    ", torch.autograd.grad(da.sum(), a)[0].numpy())
