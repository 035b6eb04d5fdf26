"""Calls that are known, with arguments replaced, left out, added and exchanged; some go on to gradients."""

import ast
import copy

import corpus
from values import GIANTS, INTEGERS, OTHERS, REALS, TENSORS, parsed

POOLS = [parsed(INTEGERS), parsed(REALS), parsed(OTHERS), parsed(TENSORS)]
LARGE = parsed(GIANTS)


def fresh(dice, pool):
    return copy.deepcopy(dice.choice(pool))


def value(dice, giants):
    """Anything that an argument may be replaced by."""
    if dice.random() < giants:
        return fresh(dice, LARGE)
    return fresh(dice, dice.choice(POOLS))


def change_call(dice, call, giants):
    """Other arguments, fewer, or more."""
    given, named = call.args, call.keywords
    roll = dice.random()
    if roll < 0.5 and given + named:
        place = dice.randrange(len(given) + len(named))
        if place < len(given):
            given[place] = value(dice, giants)
        else:
            named[place - len(given)].value = value(dice, giants)
    elif roll < 0.6 and len(given) > 1:
        i, j = dice.sample(range(len(given)), 2)
        given[i], given[j] = given[j], given[i]
    elif roll < 0.68 and given:
        del given[dice.randrange(len(given))]
    elif roll < 0.74 and named:
        del named[dice.randrange(len(named))]
    elif roll < 0.84:
        given.insert(dice.randint(0, len(given)), value(dice, giants))
    else:
        word = dice.choice(corpus.keywords())
        if word not in {keyword.arg for keyword in named}:
            named.append(ast.keyword(word, value(dice, giants)))


def change_number(dice, statements):
    """One of the numbers in a program becomes another."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    numbers = [
        node for node in nodes if isinstance(node, ast.Constant) and type(node.value) in (int, float, bool)
    ]
    if numbers:
        node = dice.choice(numbers)
        other = dice.choice(POOLS[0] if type(node.value) is int or dice.random() < 0.3 else POOLS[1])
        node.value = eval(ast.unparse(other), {"nan": float("nan"), "inf": float("inf")})


def change_operand(dice, statements, giants):
    """What a method is called on becomes something else."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    owners = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    owners = [node for node in owners if node.value.id not in {"torch", "F", "linalg", "special", "nn"}]
    if owners:
        dice.choice(owners).value = fresh(dice, LARGE if dice.random() < giants else POOLS[3])


def program(dice, giants=0.004):
    known = dice.random() < 0.7
    statements = copy.deepcopy(dice.choice(corpus.recorded())) if known else corpus.call(dice)
    for _ in range(dice.choice((0, 1, 1, 1, 2, 2, 3))):
        calls = [
            node for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Call)
        ]
        roll = dice.random()
        if roll < 0.7 and calls:
            change_call(dice, dice.choice(calls), giants)
        elif roll < 0.9:
            change_number(dice, statements)
        else:
            change_operand(dice, statements, giants)
    if isinstance(statements[-1], ast.Expr):
        source = ast.unparse(ast.Module(statements[:-1], []))
        last = ast.unparse(statements[-1])
        source = f"{source}\nresult = {last}" if source else f"result = {last}"
        roll = dice.random()
        if roll < 0.25:
            source += "\nresult.real.sum().backward()"
        elif roll < 0.3:
            source += "\nrepr(result)"
        elif roll < 0.33:
            source += "\nresult.mul_(2)"
        return source
    return ast.unparse(ast.Module(statements, []))
