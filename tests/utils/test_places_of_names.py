"""Names that libraries import from where torch keeps them."""

import importlib
import pickle

import rushlight as torch


def test_operators_are_imported_from_their_module():
    module = importlib.import_module(f"{torch.__name__}.ops")
    assert module is torch.ops
    assert module.aten.mm is torch.ops.aten.mm
    assert type(module).__mro__[1] is type(importlib)


def test_the_error_of_matrices_has_a_place_and_is_pickled():
    kind = torch.linalg.LinAlgError
    assert torch._C._LinAlgError is kind
    assert pickle.loads(pickle.dumps(kind("singular"))).args == ("singular",)
    assert kind.__module__ == f"{torch.__name__}._C"


def test_batches_are_made_where_loaders_of_others_look():
    collate = importlib.import_module(f"{torch.__name__}.utils.data._utils.collate")
    assert collate.default_collate is torch.utils.data.default_collate
    assert collate.default_convert is torch.utils.data.default_convert
    assert hasattr(torch.utils.data.dataloader, "_collate_fn_t")


def test_distributions_find_the_root_of_a_precision():
    place = importlib.import_module(f"{torch.__name__}.distributions.multivariate_normal")
    precision = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    root = place._precision_to_scale_tril(precision)
    torch.testing.assert_close(root @ root.T, precision.inverse())
    assert root[0, 1] == 0
