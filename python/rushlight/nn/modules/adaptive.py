"""The logarithms of the probabilities of many classes, of which the rare ones cost less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._rushlight import Tensor, device, dtype
from .. import functional
from .containers import ModuleList, Sequential
from .layers import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax over frequent classes and groups of rare ones, and another one within each group.

    >>> import rushlight as torch
    >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[4, 10], div_value=2.0)
    >>> layer(torch.zeros(3, 8), torch.tensor([1, 5, 19])).output.shape
    torch.Size([3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        ascending = cutoffs == sorted(set(cutoffs)) and all(int(cutoff) == cutoff for cutoff in cutoffs)
        if not ascending or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for number in range(self.n_clusters):
            inner = int(in_features // (div_value ** (number + 1)))
            classes = self.cutoffs[number + 1] - self.cutoffs[number]
            first = Linear(in_features, inner, bias=False, **options)
            self.tail.append(Sequential(first, Linear(inner, classes, bias=False, **options)))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Return the logarithms of the probabilities of the right classes, and their negative mean."""
        rank = target_.dim()
        if rank > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if rank == 1 and input_.shape[0] != target_.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != rank + 1:
            raise RuntimeError(
                f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with size "
                f"{input_.size()}"
            )
        least, most = target_.min().item(), target_.max().item()
        if least < 0 or most >= self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{least}, {most}] were found. "
            )
        many = rank == 1
        output = self._right(*((input_, target_) if many else (input_.unsqueeze(0), target_.unsqueeze(0))))
        loss = (-output).mean()
        return _ASMoutput(output if many else output.squeeze(0), loss)

    def _right(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the logarithms for the right classes, of rare ones only where they are."""
        within = input.new_zeros(len(target))
        places = target.clone()
        for number, projection in enumerate(self.tail):
            first, end = self.cutoffs[number : number + 2]
            rows = ((target >= first) & (target < end)).argwhere().squeeze()
            if rows.numel() > 0:
                places.index_fill_(0, rows, self.shortlist_size + number)
                logarithms = functional.log_softmax(projection(input.index_select(0, rows)), dim=1)
                wanted = target.index_select(0, rows) - first
                within.index_copy_(0, rows, logarithms.gather(1, wanted.unsqueeze(1)).squeeze(1))
        head = functional.log_softmax(self.head(input), dim=1)
        within += head.gather(1, places.unsqueeze(1)).squeeze()
        return within

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of all classes."""
        scores = self.head(input)
        result = input.new_empty((scores.size(0), self.n_classes))
        head = functional.log_softmax(scores, dim=1)
        result[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for number, projection in enumerate(self.tail):
            within = functional.log_softmax(projection(input), dim=1)
            first, end = self.cutoffs[number : number + 2]
            result[:, first:end] = within + head[:, self.shortlist_size + number].unsqueeze(1)
        return result

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable class of every row."""
        return self.log_prob(input).argmax(-1)
