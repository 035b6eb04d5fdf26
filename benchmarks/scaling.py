"""How much faster several processes train than one: steps of a model that each does with inputs of its own.

    python benchmarks/scaling.py [--processes 1 2] [--rounds 5] [--steps 15] [--width 768] [--torch]

Processes have one thread each. Rounds of each number of processes take turns, and the best step of all rounds
counts, since a machine does other things as well. "alone" is a step whose gradients stay where they are:
what the others cost beside it (memory, caches, cores that are not free) is no matter of the network.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


def work(torch, steps, width, batch):
    """Train, and return the seconds of the best step with the others and of the best alone."""
    dist, nn = torch.distributed, torch.nn
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    layers = [nn.Linear(width, width) if place % 2 == 0 else nn.ReLU() for place in range(7)]
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=4)
    step = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(batch, width)

    def train():
        step.zero_grad()
        model(x).square().mean().backward()
        step.step()

    def best():
        seconds = []
        for _ in range(steps):
            dist.barrier()
            begin = time.perf_counter()
            train()
            seconds.append(time.perf_counter() - begin)
        return min(seconds[2:])

    together = best()
    with model.no_sync():
        alone = best()
    dist.barrier()
    dist.destroy_process_group()
    return together, alone


def measure(count, options, port):
    """Start processes, and return the seconds of the slowest of each kind of step."""
    with tempfile.TemporaryDirectory() as folder:
        begun = []
        for rank in range(count):
            told = {"RANK": rank, "WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            environment = {**os.environ, **{name: str(value) for name, value in told.items()}}
            said = [f"--{name}={getattr(options, name)}" for name in ("steps", "width", "batch")]
            command = [sys.executable, __file__, *said, "--worker", f"{folder}/{rank}"]
            begun.append(subprocess.Popen(command + (["--torch"] if options.torch else []), env=environment))
        codes = [process.wait() for process in begun]
        if any(codes):
            sys.exit("a process has failed")
        found = []
        for rank in range(count):
            with open(f"{folder}/{rank}") as file:
                found.append(json.load(file))
    return [max(column) for column in zip(*found, strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--torch", action="store_true", help="measure torch itself")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        if options.torch:
            import torch
        else:
            import rushlight as torch
        found = work(torch, options.steps, options.width, options.batch)
        with open(options.worker, "w") as file:
            json.dump(found, file)
        return
    best = {}
    for turn in range(options.rounds):
        for place, count in enumerate(options.processes):
            found = measure(count, options, 29600 + turn * len(options.processes) + place)
            best[count] = [min(pair) for pair in zip(best.get(count, found), found, strict=True)]
    first = options.processes[0]
    print("| processes | step | alone | inputs a second, beside the first |\n|---|---|---|---|")
    for count, (together, alone) in best.items():
        gain = best[first][0] / together * count / first
        print(f"| {count} | {together * 1e3:.1f} ms | {alone * 1e3:.1f} ms | {gain:.2f} |")


if __name__ == "__main__":
    main()
