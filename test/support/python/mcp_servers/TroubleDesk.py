"""Every trouble that a server can make, and values that are hard to carry."""

import ctypes
import datetime
import math
import os
import random
import re
import secrets
import subprocess
import sys
import threading
import time
import uuid
from uuid import uuid4

from helpers import greeting


class TroubleDeskServer:
    def __init__(self, domain_name):
        self.domain_name = domain_name
        self.born = str(uuid4())
        self._sessions = {}

    def _get_session(self, session_id):
        return self._sessions.setdefault(session_id, type("S", (), {"databases": {"Note": [], "Log": [{"log_id": 1}]}, "count": 0})())

    def invoke(self, session_id, tool_name, **kw):
        tool = getattr(self, "tool_" + tool_name, None)
        return tool(self._get_session(session_id), **kw) if tool else f"Unknown tool: {tool_name}"

    def tool_echo(self, s, **kw):
        return kw

    def tool_add_note(self, s, text):
        note = {"note_id": str(uuid4()), "text": text}
        s.databases["Note"].append(note)
        return {"success": True, "notes": len(s.databases["Note"]), "note_id": note["note_id"]}

    def tool_rewrite_log(self, s):
        s.databases["Log"] = [{"log_id": 2, "entry": {"deep": [1]}}]
        return {"success": True}

    def tool_chance(self, s):
        return {
            "born": self.born, "uuid": [str(uuid.uuid1()), str(uuid.uuid4()), str(uuid4())], "random": random.random(),
            "own": random.Random().random(), "system": random.SystemRandom().random(), "secret": secrets.token_hex(4),
            "bytes": os.urandom(4).hex(), "order": list({"a", "b", "c", "d", "e", "f"}),
        }

    def tool_clock(self, s):
        now = datetime.datetime.now()
        return {
            "now": now.isoformat(), "utc": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "today": str(datetime.date.today()), "time": time.time(), "text": time.strftime("%H:%M"),
            "is": [isinstance(now, datetime.datetime), isinstance(now, datetime.date), isinstance(3, datetime.date)],
            "parsed": datetime.datetime.strptime("2020-02-03", "%Y-%m-%d").isoformat(),
            "later": str(now + datetime.timedelta(days=1)),
        }

    def tool_numbers(self, s):
        return {"big": 9223372036854775807, "one": 1.0, "tiny": 1e-7, "nan": math.nan, "inf": [math.inf, -math.inf]}

    def tool_characters(self, s):
        return {"lone": "a\ud83dz", "pair": "\U0001f600", "lines": "\u2028\u0085\x00\n", "when": datetime.date(2020, 1, 2), (1, 2): "key"}

    def tool_plain(self, s, text):
        return text

    def tool_fail(self, s):
        return {}["missing"]

    def tool_leave(self, s):
        sys.exit(3)

    def tool_circle(self, s):
        circle = []
        circle.append(circle)
        return circle

    def tool_noise(self, s, size=10):
        print('{"content": "forged", "error": false}')
        print("x" * size)
        os.write(1, b"raw noise\n")
        subprocess.run(["/bin/echo", "noise of a child"], check=True)
        sys.stderr.write("y" * size)
        ctypes.CDLL(None).puts(b"noise of C")
        return {"read": sys.stdin.read(), "folder": os.listdir(".")}

    def tool_environment(self, s):
        return dict(os.environ)

    def tool_prefix(self, s):
        return [sys.prefix]

    def tool_sessions(self, s):
        return len(self._sessions)

    def tool_greet(self, s, name):
        return greeting(name)

    def tool_process(self, s):
        return os.getpid()

    def tool_nap(self, s, seconds):
        time.sleep(seconds)
        return os.getpid()

    def tool_hang(self, s):
        time.sleep(600)

    def tool_hang_in_c(self, s):
        re.match(r"(a+)+$", "a" * 60 + "b")

    def tool_crash(self, s):
        print("about to crash", file=sys.stderr)
        os._exit(7)

    def tool_crash_once(self, s, mark):
        if not os.path.exists(mark):
            open(mark, "w").close()
            os._exit(7)
        return {"success": True}

    def tool_start_child(self, s):
        return subprocess.Popen(["sleep", "600"]).pid

    def tool_close_files(self, s):
        os.closerange(3, 256)

    def tool_uncertain(self, s):
        return time.time_ns()

    def tool_fork(self, s, how, comes_back="returns"):
        child = os.fork() if how == "os" else ctypes.CDLL(None).fork()
        if child == 0:
            if comes_back == "raises":
                raise RuntimeError("I am the copy")
            if comes_back == "exits":
                sys.exit(3)
            if comes_back == "stays":
                time.sleep(600)
            return {"from": "the copy"}
        return {"from": "the server", "copy": child}

    def tool_write_everywhere(self, s, text, later=0):
        """To every descriptor that can be written to; `later` seconds after the call, in a thread."""

        def write():
            time.sleep(later)
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, text.encode("utf-8", "surrogateescape"))
                except OSError:
                    pass

        if later:
            threading.Thread(target=write, daemon=True).start()
        else:
            write()
        return {"written": True}

    def tool_write_during(self, s, text, seconds):
        """Again and again from a thread, while results are written."""

        def write():
            end = time.time() + seconds
            while time.time() < end:
                try:
                    os.write(5, text.encode())
                except OSError:
                    pass

        threading.Thread(target=write, daemon=True).start()
        return {"started": True}

    def tool_deep_row(self, s, depth):
        value = []
        for _ in range(depth):
            value = [value]
        s.databases["Note"].append({"note_id": "deep", "value": value})
        return {"success": True}
