"""The steps of `steps.py` as pure functions of a state, written for jax.

Each makes a state and a function from one state to the next. What a step only computes, without training, is
a part of the state too, so that nothing is left out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
from jax import lax, nn
from jax import numpy as jnp

Made = tuple[Any, Callable[[Any], Any]]

FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8


def drawn(number: int, *shape: int, dtype: Any = jnp.float32) -> Any:
    return jax.random.normal(jax.random.key(number), shape, dtype)


def trained(parameters: Any, loss: Callable[[Any], Any], rate: float = 1e-3, decay: float = 0.0) -> Made:
    """Adam, which decays weights beside the gradient."""
    zeros = partial(jax.tree.map, jnp.zeros_like)

    def step(state: Any) -> Any:
        parameters, first, second, count, _ = state
        value, gradient = jax.value_and_grad(loss)(parameters)
        count = count + 1
        first = jax.tree.map(lambda m, g: FIRST * m + (1 - FIRST) * g, first, gradient)
        second = jax.tree.map(lambda v, g: SECOND * v + (1 - SECOND) * g * g, second, gradient)
        by, over = 1 - FIRST**count, 1 - SECOND**count

        def moved(x: Any, m: Any, v: Any) -> Any:
            return x * (1 - rate * decay) - rate * (m / by) / (jnp.sqrt(v / over) + EPSILON)

        return jax.tree.map(moved, parameters, first, second), first, second, count, value

    value = jnp.zeros((), jax.tree.leaves(parameters)[0].dtype)
    return (parameters, zeros(parameters), zeros(parameters), jnp.zeros((), value.dtype), value), step


def descended(parameters: Any, loss: Callable[[Any], Any], rate: float, momentum: float = 0.0) -> Made:
    def step(state: Any) -> Any:
        parameters, before, _ = state
        value, gradient = jax.value_and_grad(loss)(parameters)
        if momentum:
            gradient = before = jax.tree.map(lambda b, g: momentum * b + g, before, gradient)
        return jax.tree.map(lambda x, g: x - rate * g, parameters, gradient), before, value

    before = jax.tree.map(jnp.zeros_like, parameters) if momentum else None
    return (parameters, before, jnp.zeros(())), step


def layers(number: int, sizes: list[int]) -> Any:
    pairs = itertools.pairwise(sizes)
    return [(drawn(number + at, a, b) / a**0.5, jnp.zeros(b)) for at, (a, b) in enumerate(pairs)]


def perceptron(parameters: Any, x: Any) -> Any:
    for weight, bias in parameters[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = parameters[-1]
    return x @ weight + bias


def entropy(y: Any, target: Any) -> Any:
    return jnp.maximum(y, 0) - y * target + jnp.log1p(jnp.exp(-jnp.abs(y)))


def tiny() -> Made:
    x, y = drawn(1, 64, 2), drawn(2, 64, 1)
    return trained(layers(3, [2, 16, 1]), lambda p: jnp.mean((perceptron(p, x) - y) ** 2))


def logistic() -> Made:
    x, y = drawn(1, 100, 5), (drawn(2, 100, 1) > 0).astype(jnp.float32)
    return descended(layers(3, [5, 1]), lambda p: entropy(perceptron(p, x), y).mean(), 0.1)


def rosenbrock() -> Made:
    def value(x: Any) -> Any:
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    # What follows depends on what was before, or nothing would be done again.
    return jnp.zeros(10), lambda x: jax.grad(value)(x * 0)


def gradient() -> Made:
    weight, bias = drawn(1, 4, 4), drawn(2, 4)
    return drawn(3, 4), lambda x: jax.grad(lambda x: jnp.tanh(weight @ x + bias).sum())(x)


def equation() -> Made:
    points = jnp.linspace(0, 1, 64)

    def loss(parameters: Any) -> Any:
        u = lambda x: perceptron(parameters, x[None, None])[0, 0]  # noqa: E731
        value, second = jax.vmap(u)(points), jax.vmap(jax.grad(jax.grad(u)))(points)
        return jnp.mean((second + value) ** 2)

    return trained(layers(1, [1, 32, 32, 1]), loss)


def autoencoder() -> Made:
    x = jax.random.uniform(jax.random.key(1), (32, 64))

    def loss(parameters: Any) -> Any:
        encoder, decoder, seed = parameters
        mean, spread = jnp.split(perceptron(encoder, x), 2, 1)
        noise = jax.random.normal(jax.random.key(lax.stop_gradient(seed).astype(jnp.int32)), mean.shape)
        y = perceptron(decoder, mean + noise * jnp.exp(0.5 * spread))
        return entropy(y, x).sum() - 0.5 * jnp.sum(1 + spread - mean**2 - jnp.exp(spread))

    return trained((layers(2, [64, 32, 8]), layers(4, [4, 32, 64]), jnp.zeros(())), loss)


def differential() -> Made:
    start = drawn(1, 16, 2)

    def loss(parameters: Any) -> Any:
        def turn(y: Any, _: None) -> tuple[Any, None]:
            h = 0.05
            a = perceptron(parameters, y)
            b = perceptron(parameters, y + h / 2 * a)
            c = perceptron(parameters, y + h / 2 * b)
            d = perceptron(parameters, y + h * c)
            return y + h / 6 * (a + 2 * b + 2 * c + d), None

        return jnp.mean(lax.scan(turn, start, None, 20)[0] ** 2)

    return trained(layers(2, [2, 16, 2]), loss)


def memory() -> Made:
    x = drawn(1, 30, 8, 16)

    def loss(parameters: Any) -> Any:
        inner, outer, bias = parameters

        def turn(state: Any, x: Any) -> tuple[Any, Any]:
            h, c = state
            i, f, g, o = jnp.split(x + h @ outer, 4, 1)
            c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
            h = nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((8, 32))
        return jnp.mean(lax.scan(turn, (zeros, zeros), x @ inner + bias)[1] ** 2)

    return trained((drawn(2, 16, 128) / 6, drawn(3, 32, 128) / 6, jnp.zeros(128)), loss)


def gated() -> Made:
    x = drawn(1, 30, 8, 16)

    def loss(parameters: Any) -> Any:
        inner, outer, bias, behind = parameters

        def turn(h: Any, x: Any) -> tuple[Any, Any]:
            y = h @ outer + behind
            r, z = nn.sigmoid(x[:, :32] + y[:, :32]), nn.sigmoid(x[:, 32:64] + y[:, 32:64])
            h = (1 - z) * jnp.tanh(x[:, 64:] + r * y[:, 64:]) + z * h
            return h, h

        return jnp.mean(lax.scan(turn, jnp.zeros((8, 32)), x @ inner + bias)[1] ** 2)

    return trained((drawn(2, 16, 96) / 6, drawn(3, 32, 96) / 6, jnp.zeros(96), jnp.zeros(96)), loss)


def process() -> Made:
    x, y = drawn(1, 60, 2, dtype=jnp.float64), drawn(2, 60, dtype=jnp.float64)
    noise = jnp.eye(60, dtype=jnp.float64)

    def loss(parameters: Any) -> Any:
        scaled = x / jnp.exp(parameters[0])
        squares = jnp.sum((scaled[:, None] - scaled[None]) ** 2, -1)
        factor = jnp.linalg.cholesky(jnp.exp(-0.5 * squares) + jnp.exp(parameters[1]) * noise)
        weights = jax.scipy.linalg.cho_solve((factor, True), y)
        return 0.5 * (y @ weights) + jnp.log(jnp.diagonal(factor)).sum()

    return trained([jnp.zeros(2, jnp.float64), jnp.zeros((), jnp.float64)], loss)


def normalised(x: Any, axes: tuple[int, ...], weight: Any, bias: Any) -> Any:
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * weight + bias


def transformer() -> Made:
    x = drawn(1, 8, 32, 64)

    def loss(parameters: Any) -> Any:
        (into, of), up, down, first, second = parameters
        q, k, v = jnp.split(x @ into[0] + into[1], 3, -1)
        heads = lambda t: t.reshape(8, 32, 4, 16).transpose(0, 2, 1, 3)  # noqa: E731
        weights = nn.softmax(heads(q) @ heads(k).transpose(0, 1, 3, 2) / 4, -1)
        seen = (weights @ heads(v)).transpose(0, 2, 1, 3).reshape(8, 32, 64)
        y = normalised(x + seen @ of[0] + of[1], (-1,), *first)
        z = nn.relu(y @ up[0] + up[1]) @ down[0] + down[1]
        return jnp.mean(normalised(y + z, (-1,), *second) ** 2)

    line = lambda number, a, b: (drawn(number, a, b) / a**0.5, jnp.zeros(b))  # noqa: E731
    norm = lambda: (jnp.ones(64), jnp.zeros(64))  # noqa: E731
    parameters = ((line(2, 64, 192), line(3, 64, 64)), line(4, 64, 128), line(5, 128, 64), norm(), norm())
    return trained(parameters, loss, decay=1e-2)


def residual() -> Made:
    x = drawn(1, 4, 32, 16, 16)

    def loss(parameters: Any) -> Any:
        filters, norms = parameters
        convolved = partial(lax.conv, window_strides=(1, 1), padding="SAME")
        spread = lambda pair: [part[None, :, None, None] for part in pair]  # noqa: E731
        inner = nn.relu(normalised(convolved(x, filters[0]), (0, 2, 3), *spread(norms[0])))
        outer = normalised(convolved(inner, filters[1]), (0, 2, 3), *spread(norms[1]))
        return jnp.mean(nn.relu(outer + x) ** 2)

    filters = [drawn(number, 32, 32, 3, 3) / 17 for number in (2, 3)]
    norms = [(jnp.ones(32), jnp.zeros(32)) for _ in range(2)]
    return descended((filters, norms), loss, 0.01, 0.9)


def crossed(y: Any, classes: Any) -> Any:
    return -jnp.take_along_axis(nn.log_softmax(y), classes[:, None], 1).mean()


def digits() -> Made:
    x, classes = drawn(1, 64, 784), jax.random.randint(jax.random.key(2), (64,), 0, 10)
    return descended(layers(3, [784, 128, 10]), lambda p: crossed(perceptron(p, x), classes), 0.01, 0.9)


def convolutional() -> Made:
    x, classes = drawn(1, 16, 1, 28, 28), jax.random.randint(jax.random.key(2), (16,), 0, 10)

    def loss(parameters: Any) -> Any:
        filters, lines = parameters
        y = x
        for (kernel, bias), padding in zip(filters, ("SAME", "VALID"), strict=True):
            y = nn.relu(lax.conv(y, kernel, (1, 1), padding) + bias[:, None, None])
            y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        y = y.reshape(16, 400)
        for weight, bias in lines[:-1]:
            y = nn.relu(y @ weight + bias)
        return crossed(y @ lines[-1][0] + lines[-1][1], classes)

    filters = [(drawn(3, 6, 1, 5, 5) / 5, jnp.zeros(6)), (drawn(4, 16, 6, 5, 5) / 12, jnp.zeros(16))]
    return trained((filters, layers(5, [400, 120, 84, 10])), loss)


def curvature() -> Made:
    kept = 10
    value = jax.value_and_grad(lambda x: jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))

    def direction(gradient: Any, moves: Any, changes: Any, count: Any) -> Any:
        products = jnp.sum(moves * changes, 1)
        over = jnp.where(products > 0, 1 / jnp.where(products > 0, products, 1), 0)

        def down(at: Any, pair: Any) -> Any:
            place = (count - 1 - at) % kept
            q, along = pair
            part = over[place] * (moves[place] @ q)
            return q - part * changes[place], along.at[place].set(part)

        q, along = lax.fori_loop(0, kept, down, (-gradient, jnp.zeros(kept)))
        last = (count - 1) % kept
        square = changes[last] @ changes[last]
        q = q * jnp.where(square > 0, products[last] / jnp.where(square > 0, square, 1), 1)

        def up(at: Any, q: Any) -> Any:
            place = (count + at) % kept
            return q + moves[place] * (along[place] - over[place] * (changes[place] @ q))

        return lax.fori_loop(0, kept, up, q)

    def turn(count: Any, state: Any) -> Any:
        x, gradient, moves, changes = state
        move = direction(gradient, moves, changes, count) * 0.1
        after = value(x + move)[1]
        place = count % kept
        return x + move, after, moves.at[place].set(move), changes.at[place].set(after - gradient)

    def step(x: Any) -> Any:
        start = x * 0
        zeros = jnp.zeros((kept, 10))
        return lax.fori_loop(0, 40, turn, (start, value(start)[1], zeros, zeros))[0]

    return jnp.zeros(10), step


def sloped(x: Any, value: Callable[[Any], Any]) -> Made:
    """A value and its gradient by `x` alone."""

    def step(state: Any) -> Any:
        computed, slope = jax.value_and_grad(value)(state[0])
        return state[0], slope, computed

    return (x, jax.tree.map(jnp.zeros_like, x), jnp.zeros(())), step


def classes() -> Made:
    chosen = jax.random.randint(jax.random.key(2), (1024,), 0, 1000)
    return sloped(drawn(1, 1024, 1000), lambda x: crossed(x, chosen))


def normed() -> Made:
    def value(state: Any) -> Any:
        x, weight, bias = state
        return nn.gelu(normalised(x, (-1,), weight, bias), approximate=False).sum()

    return sloped((drawn(1, 1000, 1000), jnp.ones(1000), jnp.zeros(1000)), value)


def pendulum() -> Made:
    def cost(force: Any) -> Any:
        def turn(state: Any, given: Any) -> Any:
            angle, speed, found = state
            speed = speed + 0.05 * (9.8 * jnp.sin(angle) + given)
            angle = angle + 0.05 * speed
            return (angle, speed, found + angle**2 + 0.1 * speed**2 + 0.001 * given**2), None

        return lax.scan(turn, (jnp.float32(3.0), jnp.float32(0.0), jnp.float32(0.0)), force)[0][2]

    return trained(jnp.zeros(30), cost, rate=0.1)


def scan() -> Made:
    return drawn(1, 4), lambda y: lax.fori_loop(0, 1000, lambda _, y: y * 0.99 + 0.01, y)


def chain(turns: int, curved: bool = False) -> Made:
    def value(x: Any) -> Any:
        for _ in range(turns):
            x = x * 1.01 + 0.01
        return (jnp.tanh(x) if curved else x).sum()

    return sloped(drawn(1, 1_000_000), value)


DOUBLE = {"Gaussian process, Adam"}
"""Those that calculate in double precision."""
