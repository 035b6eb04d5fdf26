"""Record what the nodes of the reference library show: `PY tools/record_nodes.py`, with a Python that has it.

Reads the calls in tests/graph/calls.txt and writes tests/graph/nodes.txt; writes the digests in
tests/graph/digests.txt anew, where a new call is added as `? call`. With calls as arguments it says what
their graphs are.
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
    import test_node_table as graphs

    warnings.simplefilter("ignore")
    if sys.argv[1:]:
        for call in sys.argv[1:]:
            print(call, *graphs.lines(call), sep="\n")
        return
    rows = [row for call in graphs.calls() for row in (call, *graphs.lines(call))]
    table.write_text("\n".join(rows) + "\n")
    rows = [f"{graphs.digest(graphs.lines(call))} {call}" for call in graphs.DIGESTS]
    table.with_name("digests.txt").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
