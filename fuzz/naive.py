"""The simplest engine that differentiates programs of views, writes and hooks, in the names of tensors.

An element is a place on a tape; a tensor is an array of such places, so that views and writes through them are
numpy's. Gradients walk the tape backwards, an element at a time.
"""

import math

import numpy

TAPE = []  # A value, and (place, slope) of each element that it was made of.


def element(value, sources=()):
    TAPE.append((value, sources, []))
    return len(TAPE) - 1


def value(place):
    return TAPE[place][0]


class Array:
    def __init__(self, places, root=None):
        self.places = places
        self.root = self if root is None else root
        self.grad = None

    @property
    def shape(self):
        return self.places.shape

    def made(self, function, *others):
        """An array of a function of elements, which answers a value and a slope by each operand."""
        operands = [self.places, *(other.places if isinstance(other, Array) else other for other in others)]
        together = numpy.broadcast(*operands)
        result = numpy.empty(together.shape, dtype=object)
        for slot, row in zip(numpy.ndindex(together.shape), together, strict=True):
            numbers = [
                value(it) if isinstance(other, Array) else it
                for it, other in zip(row, (self, *others), strict=True)
            ]
            answer, slopes = function(*numbers)
            pairs = zip(row, slopes, (self, *others), strict=True)
            result[slot] = element(
                answer, [(it, slope) for it, slope, other in pairs if isinstance(other, Array)]
            )
        return Array(result)

    def __mul__(self, other):
        return self.made(lambda a, b: (a * b, (b, a)), other)

    def __add__(self, other):
        return self.made(lambda a, b: (a + b, (1.0, 1.0)), other)

    def __sub__(self, other):
        return self.made(lambda a, b: (a - b, (1.0, -1.0)), other)

    def sin(self):
        return self.made(lambda a: (math.sin(a), (math.cos(a),)))

    def tanh(self):
        return self.made(lambda a: (math.tanh(a), (1 - math.tanh(a) ** 2,)))

    def clone(self):
        return self.made(lambda a: (a, (1.0,)))

    def sum(self, dim=None):
        if dim is not None:
            lines = numpy.moveaxis(self.places, dim, -1)
            result = numpy.empty(lines.shape[:-1], dtype=object)
            for slot in numpy.ndindex(result.shape):
                result[slot] = added(lines[slot])
            return Array(result)
        result = numpy.empty((), dtype=object)
        result[()] = added(self.places.ravel())
        return Array(result)

    # Views.

    def seen(self, places):
        return Array(places, self.root)

    def __getitem__(self, index):
        return self.seen(self.places[index if isinstance(index, tuple) else (index, ...)])

    def transpose(self, first, second):
        return self.seen(self.places.swapaxes(first, second))

    def unsqueeze(self, dim):
        return self.seen(numpy.expand_dims(self.places, dim))

    def expand(self, *sizes):
        return self.seen(numpy.broadcast_to(self.places, sizes))

    def diagonal(self):
        view = self.places.diagonal()
        view.flags.writeable = True
        return self.seen(view)

    # Writes: all elements of the memory are new, those that were not written to as well, as hooks tell them apart.

    def write(self, result):
        places = numpy.broadcast_to(result, self.shape).copy()
        root = self.root.places
        for slot in numpy.ndindex(root.shape):
            root[slot] = element(value(root[slot]), [(root[slot], 1.0)])
        self.places[...] = places
        return self

    def mul_(self, other):
        return self.write((self * other).places)

    def add_(self, other):
        return self.write((self + other).places)

    def copy_(self, other):
        return self.write(other.clone().places)

    def sin_(self):
        return self.write(self.sin().places)

    def __setitem__(self, index, other):
        view = self[index]
        view.write(view.made(lambda _, b: (b, (0.0, 1.0)), other).places)

    # Hooks scale what passes.

    def register_hook(self, hook):
        for place in self.places.ravel():
            TAPE[place][2].append(hook)


def added(places):
    return element(math.fsum(value(it) for it in places), [(it, 1.0) for it in places])


def leaf(numbers):
    array = numpy.empty(numpy.shape(numbers), dtype=object)
    for slot in numpy.ndindex(array.shape):
        array[slot] = element(float(numpy.asarray(numbers)[slot]))
    return Array(array)


def gradients(y, leaves):
    """The gradients of a number by the elements of the leaves."""
    given = [0.0] * len(TAPE)
    given[y.places[()]] = 1.0
    for place in reversed(range(len(TAPE))):
        _, sources, hooks = TAPE[place]
        for hook in hooks:
            given[place] = hook(given[place])
        for source, slope in sources:
            given[source] += given[place] * slope
    return [numpy.vectorize(lambda place: given[place], otypes=[float])(x.places).tolist() for x in leaves]
