"""Makes a program that fails smaller, as long as it fails in the same way."""

import ast
import copy
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

from worker import HANGS

WORKER = Path(__file__).resolve().parent / "worker.py"
# Programs that are tried at most.
TRIES = 80
# How many times longer than it may work a process may wait for others.
LEFT_ALONE = 10
SIMPLE = [ast.parse(text, mode="eval").body for text in ("t(2.)", "torch.ones(2, 3)", "0", "1", "None")]


def outcome(source):
    """What is wrong with a program that runs in a process of its own: a kind and words, or nothing."""
    try:
        done = subprocess.run(
            [sys.executable, str(WORKER), "--once"],
            input=source,
            capture_output=True,
            text=True,
            timeout=LEFT_ALONE * HANGS,
        )
    except subprocess.TimeoutExpired:
        return "hang", ""
    if done.returncode == -signal.SIGXCPU:
        return "hang", ""
    if done.returncode < 0 or done.returncode > 1:
        return "died", f"exit {done.returncode}"
    return json.loads(done.stdout or "null")


def key(found):
    """What makes two faults the same: numbers and names apart."""
    kind, words = found
    return kind, re.sub(r"0x[0-9a-f]+|-?\d+", "#", words)[:80]


def smaller(tree):
    """Programs with one thing less."""
    for place in range(len(tree.body)):
        if len(tree.body) > 1:
            shorter = copy.deepcopy(tree)
            del shorter.body[place]
            yield shorter
    count = sum(1 for _ in ast.walk(tree))
    for place in range(count):
        node = list(ast.walk(tree))[place]
        parts = (
            ("keywords", "args")
            if isinstance(node, ast.Call)
            else ("elts",)
            if isinstance(node, (ast.List, ast.Tuple))
            else ()
        )
        for field in parts:
            for index in range(len(getattr(node, field))):
                shorter = copy.deepcopy(tree)
                inner = list(ast.walk(shorter))[place]
                del getattr(inner, field)[index]
                yield shorter
        if isinstance(node, ast.Call):
            for index, argument in enumerate(node.args):
                if isinstance(argument, (ast.Call, ast.BinOp, ast.Attribute)):
                    for simple in SIMPLE:
                        if ast.unparse(simple) != ast.unparse(argument):
                            other = copy.deepcopy(tree)
                            list(ast.walk(other))[place].args[index] = simple
                            yield other


def minimised(source, found):
    """The smallest program that was found to fail as this one does."""
    wanted, tries, going = key(found), 0, True
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    while going:
        going = False
        for other in smaller(tree):
            tries += 1
            if tries > TRIES or (found[0] == "hang" and tries > 8):
                return ast.unparse(tree)
            result = outcome(ast.unparse(other))
            if result and key(result) == wanted:
                tree, going = other, True
                break
    return ast.unparse(tree)
