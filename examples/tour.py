"""The tour that `make demo` runs: autograd step by step, then a network that learns two spirals."""

from __future__ import annotations

import ast
import sys
import textwrap
import time

import rushlight as torch
import spirals
from terminal import WIDTH, styled, title

LESSON = [
    (
        "A tensor that asks for its gradient is watched from now on.",
        "x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)",
    ),
    (
        "Each result knows the operation that made it. Together they form the graph, recorded as the "
        "program runs.",
        """
        y = x * x + 3 * x
        y
        out = y.mean()
        out.grad_fn
        out.grad_fn.next_functions[0][0]
        """,
    ),
    (
        "backward() walks that graph from the end and leaves the derivative at its beginning. By hand: "
        "out is a quarter of the sum of x² + 3x, so the derivative is (2x + 3) / 4.",
        """
        out.backward()
        x.grad
        torch.equal(x.grad, (2 * x + 3) / 4)
        """,
    ),
    (
        "The walk uses up what the graph had saved. Asking twice is an error that says so.",
        "out.backward()",
    ),
    (
        "Any Python may decide what is computed; the graph is of the path that was taken.",
        """
        w = torch.tensor(1.5, requires_grad=True)
        power = w
        while power < 10:
            power = power * w
        power.backward()
        power, w.grad
        """,
    ),
    (
        "A derivative is a tensor like any other. Kept in the graph, it can be differentiated again.",
        """
        t = torch.tensor(2., requires_grad=True)
        (slope,) = torch.autograd.grad(t ** 4, t, create_graph=True)
        (curvature,) = torch.autograd.grad(slope, t)
        slope.item(), curvature.item()
        """,
    ),
    (
        "Where no record is wanted, none is kept.",
        """
        with torch.no_grad():
            z = x * 2
        z.requires_grad
        """,
    ),
]


def show(explanation: str, source: str, namespace: dict) -> None:
    """Print the explanation, then the source as if it was typed at the prompt, with what it answers."""
    print("\n" + styled(textwrap.fill(explanation, WIDTH), "text"))
    source = textwrap.dedent(source).strip()
    for statement in ast.parse(source).body:
        typed = ast.get_source_segment(source, statement) or ""
        for number, line in enumerate(typed.splitlines()):
            print(styled("... " if number else ">>> ", "prompt") + styled(line, "code"))
        try:
            exec(compile(ast.Interactive([statement]), "<tour>", "single"), namespace)
        except RuntimeError as error:
            print(styled(textwrap.fill(f"RuntimeError: {error}", WIDTH), "error"))


def main() -> None:
    title("Autograd, step by step")
    namespace = {"torch": torch}
    for explanation, source in LESSON:
        show(explanation, source, namespace)

    title("A network that learns two spirals")
    torch.manual_seed(7)
    points, labels = spirals.two_spirals()
    started = time.perf_counter()
    model = spirals.train(points, labels)
    seconds = time.perf_counter() - started
    print(f"  {spirals.STEPS} steps in {seconds:.1f} s, {1000 * seconds / spirals.STEPS:.2f} ms each\n")
    print(spirals.preview(model))
    print(f"\n  The whole picture: {spirals.paint(model, points, labels)}\n")


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    main()
