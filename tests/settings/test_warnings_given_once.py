"""Warnings that a program gets once, or every time if it says so."""

from __future__ import annotations

import warnings

import pytest
import rushlight as torch

MATRIX = torch.eye(3) * 2
SUPERSEDED = {
    "torch.cholesky is deprecated in favor of torch.linalg.cholesky": lambda: torch.cholesky(MATRIX),
    "torch.qr is deprecated in favor of torch.linalg.qr": lambda: torch.qr(MATRIX),
    "torch.lu is deprecated in favor of torch.linalg.lu_factor": lambda: torch.lu(MATRIX),
    "torch.lu_solve is deprecated in favor of torch.linalg.lu_solve": lambda: torch.lu_solve(
        MATRIX, *torch.linalg.lu_factor(MATRIX)
    ),
    "torch.triangular_solve is deprecated in favor of": lambda: torch.triangular_solve(MATRIX, MATRIX),
    "Using torch.cross without specifying the dim arg is deprecated": lambda: torch.cross(MATRIX, MATRIX),
    "torch.chain_matmul is deprecated": lambda: torch.chain_matmul(MATRIX, MATRIX),
    "torch.meshgrid: in an upcoming release": lambda: torch.meshgrid(MATRIX[0], MATRIX[0]),
    "index_reduce() is in beta": lambda: torch.index_reduce(MATRIX, 0, torch.tensor([0]), MATRIX[:1], "amax"),
    "where received a uint8 condition tensor": lambda: torch.where(MATRIX.byte(), MATRIX, MATRIX),
    "The use of `x.T` on tensors of dimension other than 2": lambda: torch.ones(2, 3, 4).T,
    "Tensor.T is deprecated on 0-D tensors": lambda: torch.tensor(1.0).T,
    "Tensor.mH is deprecated on 0-D tensors": lambda: torch.tensor(1.0).mH,
    "adjoint() is deprecated on 0-D tensors": lambda: torch.tensor(1.0).adjoint(),
    "This overload of add is deprecated": lambda: torch.add(MATRIX, 1, MATRIX),
    "A rectangular window will be applied,which": lambda: torch.stft(torch.ones(64), 16, return_complex=True),
    "Using padding='same' with even kernel lengths and odd dilation may": lambda: torch.conv1d(
        torch.ones(1, 1, 3), torch.ones(1, 1, 2), padding="same"
    ),
    "input value tensor is non-contiguous": lambda: torch.searchsorted(torch.ones(2, 3), torch.ones(3, 2).T),
}


def warnings_of(call) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("text", SUPERSEDED)
@pytest.mark.usefixtures("every_warning")
def test_a_program_that_wants_it_is_warned_every_time(text):
    for _ in range(2):
        (given,) = warnings_of(SUPERSEDED[text])
        assert text in given


@pytest.mark.parametrize("text", SUPERSEDED)
def test_others_are_warned_once(text):
    warnings_of(SUPERSEDED[text])
    assert warnings_of(SUPERSEDED[text]) == []


def test_whether_warnings_come_every_time_is_told():
    assert not torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    assert torch.is_warn_always_enabled()
    torch.set_warn_always(False)


def test_what_is_no_bool_does_not_say_whether_to_warn():
    with pytest.raises(RuntimeError, match=r"^setWarnOnlyOnce expects a bool, but got int$"):
        torch.set_warn_always(1)


def test_a_vector_product_with_a_dimension_does_not_warn():
    assert warnings_of(lambda: torch.cross(MATRIX, MATRIX, dim=1)) == []
