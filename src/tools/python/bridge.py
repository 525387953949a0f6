"""Serves the Python servers of dropped-in datasets to Rollout: one process, many rollouts.

Requests are JSON lines on descriptor 4. Replies go to descriptor 5, each on a line of its own: the request's number `n`,
a seal, the microseconds that it took, and JSON, or `=` and the content itself where a call has nothing but a content of
one line. The seal is made with the key of the first request, which user code is never given: should a server write to the
channel itself, or fork and come back twice, that is not taken for a reply. Requests are answered one at a time, in order,
each exactly once:

  describe  files
           -> {"tools": by file a list of {name, description, parameters}}, or as an unusable server
  open   session, seed, domain_name, servers [{name, file, functions: true for a file of plain functions}]
           -> {} or {"unusable": text, "file": path, "line": number or null}
  call   session, server (its position), tool, arguments (JSON text), number
           -> {"content": text} or {"failed": text}
  state  session
           -> {"changes": JSON text of {table: {id: fields or null}}} or {"failed": text}
  close  session
           -> {}

Standard library only, Python 3.9 or newer. Started as `bridge.py [start of the clock, in seconds since 1970]`.
"""

import fcntl
import gc
import hmac
import json
import os
import select
import signal
import sys
import threading
import traceback
from time import perf_counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0] = HERE
import rollout_copy
import rollout_repeat
import rollout_state
from rollout_load import Unusable, enter, load_server
from rollout_text import BIGGEST_RESULT, describe, to_text, without_surrogates

del sys.path[0]  # what lies next to this file is not for servers to import

LIFELINE = 3  # the parent holds the other end and never writes: its end is the parent's end
REQUESTS, REPLIES = 4, 5
IDLE_COMBINATIONS = 8  # loaded ones without a session that are kept; more would hold memory for nothing


def main():
    requests = take_channel()
    first = json.loads(requests.readline())
    key, own = first["key"].encode(), os.getpid()
    die_with_parent()
    rollout_repeat.install(float(sys.argv[1]) if len(sys.argv) > 1 else None)
    rollout_copy.install()
    bridge = Bridge()
    answer(key, first["n"], {}, 0)
    for line in requests:
        begun = perf_counter()
        request = json.loads(str(line, "utf-8"))
        number = request.pop("n")
        reply = getattr(bridge, request.pop("op"))(**request)
        if os.getpid() != own:  # a server forked, and this is the copy: it has no part in the dialogue
            os._exit(0)
        answer(key, number, reply, perf_counter() - begun)
    end_group()  # the parent is gone, whichever of its descriptors said so first


def answer(key, number, reply, seconds):
    payload = b"%d %s" % (seconds * 1_000_000, write_reply(reply))
    head = b"%d " % number
    seal = hmac.digest(key, head + payload, "sha256").hex()[:32].encode()
    line = b"\n%s%s %s\n" % (head, seal, payload)
    written = os.write(REPLIES, line)
    while written < len(line):
        written += os.write(REPLIES, line[written:])


def write_reply(reply):
    content = reply.get("content")
    if content is not None and "\n" not in content:  # JSON as it is, not once more as a text in JSON
        return b"=" + content.encode("utf-8")
    return without_surrogates(to_text(reply)).encode("utf-8")


def take_channel():
    """For this process alone: what servers start, or fork off, does not get it."""
    for descriptor in (REQUESTS, REPLIES):
        os.set_inheritable(descriptor, False)
        os.register_at_fork(after_in_child=lambda descriptor=descriptor: os.close(descriptor))
    return os.fdopen(REQUESTS, "rb", closefd=False)


def die_with_parent():
    """Also where user code is busy: a thread waits for the end of the lifeline, and where C code never lets a thread
    run (a runaway regular expression) Linux itself sends SIGIO, whose default action ends the whole process group."""
    os.set_inheritable(LIFELINE, False)

    def watch():
        select.select([LIFELINE], [], [])  # not a read: Linux sends no SIGIO while somebody reads
        end_group()

    if leads_group() and sys.platform == "linux":
        fcntl.fcntl(LIFELINE, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(LIFELINE, fcntl.F_SETFL, fcntl.fcntl(LIFELINE, fcntl.F_GETFL) | os.O_ASYNC)
    threading.Thread(target=watch, daemon=True).start()


def leads_group():
    return os.getpgrp() == os.getpid()


def end_group():
    """This process and whatever its servers started."""
    if leads_group():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


class Bridge:
    def __init__(self):
        self.combinations = {}
        self.sessions = {}
        self.left = 0  # closed, and perhaps still in memory

    def describe(self, files):
        try:
            tools = []
            for file in files:
                rollout_repeat.begin("load", file)
                tools.append([function.spec for function in load_functions(file).functions.values()])
            return {"tools": tools}
        except Unusable as unusable:
            return unusable.args[0]

    def open(self, session, seed, domain_name, servers):
        key = json.dumps([domain_name, servers])
        combination = self.combinations.pop(key, None)
        if combination is None:
            self.forget_idle()
            try:
                combination = Combination(domain_name, servers)
            except Unusable as unusable:
                return unusable.args[0]
        self.combinations[key] = combination  # last in order: the most recently used
        self.sessions[session] = Session(combination, session, seed)
        return {}

    def call(self, session, server, tool, arguments, number):
        if session not in self.sessions:  # closed while a call was on its way
            return {"failed": "the session is closed"}
        return self.sessions[session].call(server, tool, arguments, number)

    def state(self, session):
        return self.sessions[session].state() if session in self.sessions else {"failed": "the session is closed"}

    def close(self, session):
        if session in self.sessions and not self.sessions.pop(session).forget():
            self.left += 1
        if self.left > 8 + len(self.sessions) // 4:  # sessions that refer to themselves wait for the collector
            self.left = 0
            gc.collect()
        return {}

    def forget_idle(self):
        used = {id(session.combination) for session in self.sessions.values()}
        idle = [key for key, combination in self.combinations.items() if id(combination) not in used]
        for key in idle[: max(0, len(idle) - IDLE_COMBINATIONS + 1)]:
            del self.combinations[key]


def load_functions(file):
    """Imported where there are any: that takes longer than all the rest."""
    sys.path.insert(0, HERE)
    try:
        from rollout_functions import load_functions as load
    finally:
        sys.path.remove(HERE)
    return load(file)


class Combination:
    """The servers of one domain or combination, made once, with the tables as every session finds them at first."""

    def __init__(self, domain_name, servers):
        self.folders = [os.path.dirname(server["file"]) for server in servers]
        self.servers = []
        for server in servers:
            rollout_repeat.begin("load", domain_name, server["name"])
            own = server.get("functions")
            self.servers.append(load_functions(server["file"]) if own else load_server(server["name"], server["file"], domain_name))
        rollout_repeat.begin("load", domain_name)
        self.pristine = rollout_state.take_pristine(self.servers)


class Session:
    def __init__(self, combination, name, seed):
        self.combination = combination
        self.name = name
        self.seed = seed
        self.tables = None  # until the first call: a session that calls nothing copies nothing

    def call(self, position, tool, arguments, number):
        server = self.combination.servers[position]
        enter(self.combination.folders[position])
        try:
            if self.tables is None:
                self.open()
            rollout_repeat.begin(self.seed, number)
            result = server.invoke(self.name, tool, **json.loads(arguments))
            self.tables.after_call(position)
            content = without_surrogates(result if isinstance(result, str) else to_text(result))
        except BaseException as error:  # sys.exit in a server is that call's failure too
            traceback.print_exc()
            return {"failed": describe(error), "trace": without_surrogates(traceback.format_exc(limit=-4))}
        if len(content) > BIGGEST_RESULT:
            return {"failed": f"the result has {len(content)} characters, more than {BIGGEST_RESULT}"}
        return {"content": content}

    def open(self):
        rollout_repeat.begin(self.seed, "open")
        gc.disable()  # servers copy their whole database here, and the collector would walk it again and again
        try:
            self.tables = rollout_state.SharedTables(self.combination.servers, self.name)
        finally:
            gc.enable()

    def state(self):
        if self.tables is None:
            return {"changes": "{}"}
        try:
            return {"changes": to_text(rollout_state.changes(self.combination.pristine, self.tables.now()))}
        except Exception as error:
            traceback.print_exc()
            return {"failed": describe(error)}

    def forget(self):
        """Whether nothing of it is left."""
        return rollout_state.forget(self.combination.servers, self.name) or self.tables is None


if __name__ == "__main__":
    main()
