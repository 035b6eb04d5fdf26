"""Graph convolutions and attention on a ring with chords."""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_mean_pool


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(3, 8), GATConv(8, 4, heads=2)
        self.third, self.fourth = SAGEConv(8, 8), GINConv(torch.nn.Linear(8, 8))
        self.last = torch.nn.Linear(8, 2)

    def forward(self, x, edges, batch):
        x = self.first(x, edges).relu()
        x = self.second(x, edges).relu()
        x = self.fourth(self.third(x, edges).relu(), edges).relu()
        return self.last(global_mean_pool(x, batch))


def work():
    torch.manual_seed(0)
    ring = torch.arange(6)
    edges = torch.stack([torch.cat([ring, ring[:3]]), torch.cat([(ring + 1) % 6, ring[3:]])])
    graphs = [Data(x=torch.randn(6, 3), edge_index=edges, y=torch.tensor([i % 2])) for i in range(6)]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    losses = []
    for _ in range(3):
        for batch in DataLoader(graphs, batch_size=3):
            optimizer.zero_grad()
            out = net(batch.x, batch.edge_index, batch.batch)
            loss = torch.nn.functional.cross_entropy(out, batch.y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return {"losses": losses}
