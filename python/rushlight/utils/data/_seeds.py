"""Seeds of numpy's generators in processes that load data."""

from __future__ import annotations

__all__: list[str] = []

_MASK = 0xFFFFFFFF
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_L, _MIX_R = 0xCA01F9DD, 0x4973F715
_SHIFT = 16


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Return four words of which numpy's generator is seeded, as its `SeedSequence` makes them.

    >>> from rushlight.utils.data._utils.worker import _generate_state
    >>> len(_generate_state(1, 0))
    4
    """
    entropy = [worker_id, base_seed & _MASK, base_seed >> 32, 0]
    constant = _INIT_A

    def hashed(value: int) -> int:
        nonlocal constant
        value = (value ^ constant) & _MASK
        constant = (constant * _MULT_A) & _MASK
        value = (value * constant) & _MASK
        return (value ^ (value >> _SHIFT)) & _MASK

    def mixed(x: int, y: int) -> int:
        found = ((_MIX_L * x & _MASK) - (_MIX_R * y & _MASK)) & _MASK
        return (found ^ (found >> _SHIFT)) & _MASK

    pool = [hashed(one) for one in entropy]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = mixed(pool[target], hashed(pool[source]))
    constant = _INIT_B
    state = []
    for word in pool:
        value = (word ^ constant) & _MASK
        constant = (constant * _MULT_B) & _MASK
        value = (value * constant) & _MASK
        state.append((value ^ (value >> _SHIFT)) & _MASK)
    return state
