"""`copy.deepcopy`, quick for what tables are made of: servers copy their whole database for each session. The result is
the same as the real one's, which does the rest: other types, and whatever else is asked of it. Installed before any server
is loaded, so a server's `from copy import deepcopy` gets this one."""

import copy

PLAIN = frozenset((str, int, float, bool, type(None)))  # their own copies
real = copy.deepcopy


def install():
    copy.deepcopy = deepcopy


def deepcopy(x, memo=None, _nil=[]):
    return quick(x, {}) if memo is None else real(x, memo)


def quick(x, memo):
    known = memo.get(id(x))  # the same list in two places stays the same list
    if known is not None:
        return known
    kind = type(x)
    if kind is dict and PLAIN.issuperset(map(type, x)):
        made = memo[id(x)] = x.copy()
        if not PLAIN.issuperset(map(type, x.values())):
            for key, value in x.items():
                if type(value) not in PLAIN:
                    made[key] = quick(value, memo)
        return made
    if kind is list:
        made = memo[id(x)] = x.copy()
        if not PLAIN.issuperset(map(type, x)):
            for position, value in enumerate(x):
                if type(value) not in PLAIN:
                    made[position] = quick(value, memo)
        return made
    return real(x, memo)
