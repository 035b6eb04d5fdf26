"""`rushlight.graph`: nodes, edges, shapes, source lines, what is kept; and its pictures."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
import rushlight as torch

pytestmark = pytest.mark.own


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


def example():
    w, b = leaf(3, 4), leaf(4)
    x = torch.ones(2, 3)
    hidden = (x @ w + b).relu()
    return (hidden * hidden).sum()


def by_title(graph):
    return {node.title: node for node in graph.nodes}


def test_a_graph_has_every_node_once_and_every_edge():
    x = leaf(2)
    y = x * 2
    graph = torch.graph(y * y)
    assert [node.name for node in graph.nodes] == [
        "MulBackward0",
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
    ]
    assert [(edge.source, edge.input, edge.target, edge.output) for edge in graph.edges] == [
        (0, 0, 1, 0),
        (0, 1, 1, 0),
        (1, 0, 2, 0),
    ]


def test_nodes_come_before_those_that_they_lead_to():
    graph = torch.graph(example())
    assert all(edge.source < edge.target for edge in graph.edges)


def test_nodes_know_shapes_and_types_of_their_outputs():
    a, b = leaf(4).double().split(2)
    nodes = by_title(torch.graph(a * b))
    assert [shape for shape, _ in nodes["SplitBackward0"].outputs] == [(2,), (2,)]
    assert nodes["SplitBackward0"].dtype is torch.float64 and nodes["leaf"].dtype is torch.float32


def test_nodes_know_their_source_line():
    y = leaf(2).exp()
    line = test_nodes_know_their_source_line.__code__.co_firstlineno + 1
    origin = torch.graph(y).nodes[0].origin
    assert (origin.file, origin.line) == (__file__, line)
    assert origin.source == "y = leaf(2).exp()"


def test_nodes_know_what_they_keep_and_how_many_bytes():
    (node,) = [node for node in torch.graph(leaf(1000).exp()).nodes if node.leaf is None]
    (saved,) = node.saved
    assert (saved.name, saved.shape, saved.dtype) == ("result", (1000,), torch.float32)
    assert 4000 <= node.saved_bytes < 4100


def test_a_block_that_is_kept_twice_counts_once():
    x = leaf(1000)
    assert torch.graph(x * x).saved_bytes == torch.graph(x.sin()).saved_bytes


def test_leaves_are_the_tensors_themselves():
    x = leaf(2)
    assert torch.graph(x * 2).nodes[-1].leaf is x


def test_a_tensor_without_history_has_an_empty_graph():
    assert len(torch.graph(torch.ones(2))) == 0
    assert torch.graph(torch.ones(2)).to_svg().startswith("<svg")


def test_a_graph_of_a_leaf_is_the_leaf():
    assert [node.title for node in torch.graph(leaf(2)).nodes] == ["leaf"]


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch.graph(1)


def test_the_text_lists_the_nodes():
    lines = str(torch.graph(leaf(2, 3).exp().sum())).splitlines()
    assert len(lines) == 3 and "ExpBackward0 2x3" in lines[1] and "test_graph.py" in lines[1]


def test_dot_names_every_node_and_edge():
    graph = torch.graph(example())
    dot = graph.to_dot()
    assert dot.startswith("digraph {") and dot.endswith("}\n")
    assert len(re.findall(r"^  n\d+ \[label=", dot, re.M)) == len(graph.nodes)
    assert len(re.findall(r"^  n\d+ -> n\d+", dot, re.M)) == len(graph.edges)


def boxes_of(svg):
    space = "{http://www.w3.org/2000/svg}"
    rects = ElementTree.fromstring(svg).iter(f"{space}rect")
    return [tuple(float(rect.get(name)) for name in ("x", "y", "width", "height")) for rect in rects]


def test_the_drawing_is_well_formed_and_no_boxes_overlap():
    graph = torch.graph(example())
    boxes = boxes_of(graph.to_svg())
    assert len(boxes) == len(graph.nodes)
    for index, (x, y, width, height) in enumerate(boxes):
        for u, v, other_width, other_height in boxes[:index]:
            apart = x + width <= u or u + other_width <= x or y + height <= v or v + other_height <= y
            assert apart


def test_results_stand_below_what_they_were_computed_from():
    graph = torch.graph(example())
    tops = [box[1] for box in boxes_of(graph.to_svg())]
    assert all(tops[edge.target] < tops[edge.source] for edge in graph.edges)


def test_a_notebook_shows_the_drawing():
    assert "<svg" in torch.graph(example())._repr_html_()


def test_names_are_escaped():
    x = leaf(2)
    names = {"x": x}
    exec(compile("y = x.exp()", '<a & "b">', "exec"), names)
    graph = torch.graph(names["y"])
    assert '\\"b\\"' in graph.to_dot()
    assert "&amp;" in graph.to_svg() and len(boxes_of(graph.to_svg())) == 2


def test_a_thousand_nodes_are_drawn_one_by_one():
    y = leaf(4)
    for _ in range(250):
        y = (y * 1.01).exp().tanh() + y
    assert len(boxes_of(torch.graph(y).to_svg())) == 1001


def test_a_chain_of_a_hundred_thousand_nodes_needs_no_deep_stack():
    y = leaf(1)
    for _ in range(100_000):
        y = y * 1
    assert len(torch.graph(y)) == 100_001
