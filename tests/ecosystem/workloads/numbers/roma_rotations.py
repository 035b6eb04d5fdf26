"""Rotations as vectors, matrices and quaternions, the nearest one to a matrix, and points laid on others."""

import roma
import torch


def work():
    torch.manual_seed(0)
    vectors = torch.randn(5, 3, requires_grad=True)
    matrices = roma.rotvec_to_rotmat(vectors)
    quaternions = roma.rotmat_to_unitquat(matrices)
    between = roma.unitquat_slerp(quaternions[0], quaternions[1], torch.linspace(0, 1, 4))
    (quaternions.sum() + between.square().sum() + matrices[0, 0, 1]).backward()
    return {
        "matrices": matrices,
        "quaternions": quaternions,
        "between": between,
        "nearest": roma.special_procrustes(torch.randn(4, 3, 3)),
        "distance": roma.rotmat_geodesic_distance(matrices[0], matrices[1]),
        "laid": roma.rigid_points_registration(torch.randn(5, 3), torch.randn(5, 3)),
        "gradient": vectors.grad,
    }
