"""Boxes that overlap less than a share, the better before the worse."""

from __future__ import annotations

from ..._rushlight import Tensor, empty, int64, maximum, minimum, stack

__all__ = ["nms"]


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Return which boxes (x1, y1, x2, y2) stay when every one goes that a better one overlaps by more."""
    if dets.dim() != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {dets.dim()}D")
    if dets.shape[1] != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {dets.shape[1]}")
    if scores.dim() != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.dim()}D")
    if dets.shape[0] != scores.shape[0]:
        raise RuntimeError(
            "boxes and scores should have same number of elements in dimension 0, got "
            f"{dets.shape[0]} and {scores.shape[0]}"
        )
    order = scores.detach().argsort(descending=True, stable=True)
    boxes = dets.detach()
    low, high = boxes[:, :2], boxes[:, 2:]
    areas = (high - low).prod(1)
    kept = []
    while order.numel():
        best, order = order[0], order[1:]
        kept.append(best)
        inside = (minimum(high[best], high[order]) - maximum(low[best], low[order])).clamp(min=0).prod(1)
        overlap = inside / (areas[best] + areas[order] - inside)
        order = order[~(overlap > iou_threshold)]
    return stack(kept) if kept else empty(0, dtype=int64)
