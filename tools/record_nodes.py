"""Record what the nodes of the reference library show: `PY tools/record_nodes.py`, with a Python that has it.

Reads the calls in tests/graph/calls.txt and writes tests/graph/nodes.txt.
"""

import sys
import warnings
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"


def main():
    sys.path[:0] = [str(TESTS), str(TESTS / "graph")]
    from support import alias_reference

    alias_reference()
    table = TESTS / "graph" / "nodes.txt"
    table.touch()
    import test_node_table

    warnings.simplefilter("ignore")
    rows = [row for call in test_node_table.calls() for row in (call, *test_node_table.lines(call))]
    table.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
