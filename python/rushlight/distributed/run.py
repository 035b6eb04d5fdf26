"""Start several processes of a program: `python -m rushlight.distributed.run --nproc-per-node 2 program.py`.

Each finds in its environment who it is (`RANK`, `WORLD_SIZE`, `LOCAL_RANK`) and where the first is
(`MASTER_ADDR`, `MASTER_PORT`), as `init_process_group` wants it. If one fails, the others are ended.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["get_args_parser", "main", "run"]

# How long processes that were asked to end may take.
_GRACE = 10.0


def get_args_parser() -> argparse.ArgumentParser:
    """Return what understands the command line.

    >>> import rushlight as torch
    >>> parser = torch.distributed.run.get_args_parser()
    >>> parser.parse_args(["--nproc-per-node", "2", "train.py"]).nproc_per_node
    '2'
    """
    parser = argparse.ArgumentParser(
        prog="python -m rushlight.distributed.run", description="Start several processes of a program."
    )
    add = parser.add_argument
    add("--nnodes", default="1", help="how many machines there are")
    add("--nproc-per-node", "--nproc_per_node", default="1", help="processes on each: a number, auto or cpu")
    add("--node-rank", "--node_rank", type=int, default=0, help="which of the machines this is")
    add("--master-addr", "--master_addr", default="127.0.0.1", help="the first machine")
    add("--master-port", "--master_port", type=int, default=None, help="a port there that is free")
    add("--rdzv-endpoint", "--rdzv_endpoint", default="", help="the first machine and its port, host:port")
    add("--rdzv-backend", "--rdzv_backend", default="static", choices=["static", "c10d"], help="one way")
    add("--rdzv-id", "--rdzv_id", default="", help="a name of the run")
    add("--standalone", action="store_true", help="one machine, at any port that is free")
    add(
        "--max-restarts",
        "--max_restarts",
        type=int,
        default=0,
        help="how often to begin anew after a failure",
    )
    add("-m", "--module", action="store_true", help="the program is a module")
    add("--no-python", "--no_python", action="store_true", help="the program is no Python program")
    add("training_script", help="the program")
    add("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def main(args: Sequence[str] | None = None) -> None:
    """Do what the command line says, and end with the code of the process that failed."""
    code = run(get_args_parser().parse_args(args))
    if code:
        sys.exit(code)


def run(args: argparse.Namespace) -> int:
    """Start the processes, wait for them, and return the code of the first that failed, or 0."""
    nodes, here = _number(args.nnodes, "nnodes"), _processes(args.nproc_per_node)
    host, port = args.master_addr, args.master_port
    if args.rdzv_endpoint:
        host, _, said = args.rdzv_endpoint.partition(":")
        port = int(said) if said else port
    if port is None or (args.standalone and not args.rdzv_endpoint):
        port = 29500 if nodes > 1 else _free_port()
    name = args.rdzv_id or uuid.uuid4().hex
    code = 0
    for restart in range(args.max_restarts + 1):
        started = []
        for local in range(here):
            told = {
                "LOCAL_RANK": local,
                "RANK": args.node_rank * here + local,
                "GROUP_RANK": args.node_rank,
                "LOCAL_WORLD_SIZE": here,
                "WORLD_SIZE": nodes * here,
                "GROUP_WORLD_SIZE": nodes,
                "MASTER_ADDR": host,
                "MASTER_PORT": port,
                "TORCHELASTIC_RUN_ID": name,
                "TORCHELASTIC_RESTART_COUNT": restart,
                "TORCHELASTIC_MAX_RESTARTS": args.max_restarts,
            }
            environment = {**os.environ, **{key: str(value) for key, value in told.items()}}
            # Processes share the cores.
            environment.setdefault("RUSHLIGHT_NUM_THREADS", str(max(1, _cores() // here)))
            started.append(subprocess.Popen(_command(args), env=environment))
        code = _wait(started, args.node_rank * here)
        if not code:
            break
    return code


def _number(text: str, name: str) -> int:
    # A range, as for machines that come and go, means as many as there are at least.
    first = text.partition(":")[0]
    if not first.isdigit() or int(first) < 1:
        raise ValueError(f"{name} has to be a number of at least 1, but is {text!r}")
    return int(first)


def _processes(text: str) -> int:
    if text in ("auto", "cpu"):
        return _cores()
    if text == "gpu":
        raise ValueError("Cuda is not available.")
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"Unsupported nproc_per_node value: {text}")
    return int(text)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def _command(args: argparse.Namespace) -> list[str]:
    begin = [] if args.no_python else [sys.executable, "-u", *(["-m"] if args.module else [])]
    return [*begin, args.training_script, *args.training_script_args]


def _wait(started: list[subprocess.Popen[bytes]], first: int) -> int:
    """Wait until all have ended well, or one has not: then end the others."""
    try:
        while True:
            codes = [process.poll() for process in started]
            failed = next((place for place, code in enumerate(codes) if code), None)
            if failed is not None:
                code = codes[failed] or 1
                why = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
                print(f"rank {first + failed} (pid {started[failed].pid}) failed: {why}", file=sys.stderr)
                return code if code > 0 else 128 - code
            if all(code == 0 for code in codes):
                return 0
            time.sleep(0.05)
    finally:
        _end(started)


def _end(started: list[subprocess.Popen[bytes]]) -> None:
    for process in started:
        if process.poll() is None:
            process.terminate()
    end = time.monotonic() + _GRACE
    for process in started:
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
