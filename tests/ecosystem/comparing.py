"""Numbers of a workload beside those that torch recorded."""

import math


def leaves(value, path=""):
    """Walk over numbers and words, with where each stands."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from leaves(one, f"{path}[{index}]")
    else:
        yield path, value


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def apart(one, other):
    """Return how far two numbers are from each other, for their size; things that are no numbers are equal or not."""
    if not (is_number(one) and is_number(other)):
        return 0.0 if one == other else math.inf
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    distance = abs(one - other) / (abs(one) + 1e-3)
    return distance if math.isfinite(distance) else math.inf


def compare(expected, found):
    """Return the greatest distance, and where it is."""
    expected, found = dict(leaves(expected)), dict(leaves(found))
    places = [*expected, *(place for place in found if place not in expected)]
    missing = object()
    distances = [(apart(expected.get(p, missing), found.get(p, missing)), p) for p in places]
    return max(distances, default=(0.0, ""), key=lambda pair: pair[0])
