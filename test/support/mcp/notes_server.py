"""An MCP server on Python's standard library: notes, kept for each session or, over HTTP without sessions, for everybody.

Without arguments it speaks over stdio. `--http` listens and prints its address; `--sessions` gives session ids, and
`--forget N` forgets each session after N calls. `--log FILE` gets its pid, what opened each session and how it ended.
`--die FILE` ends it while starting, as often as FILE has lines. Other arguments are only shown by `whoami`.
"""
import json, os, sys, threading, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ARGS = sys.argv[1:]
lock = threading.Lock()


def value(flag):
    return ARGS[ARGS.index(flag) + 1] if flag in ARGS else None


def log(*words):
    if value("--log"):
        with open(value("--log"), "a") as file:
            file.write(" ".join(str(word) for word in words) + "\n")


def tool(name, read_only=False, **properties):
    return {
        "name": name,
        "description": f"Does {name}.",
        "inputSchema": {"type": "object", "properties": properties},
        "annotations": {"readOnlyHint": read_only},
    }


TOOLS = [
    tool("add", text={"type": "string"}),
    tool("list", True),
    tool("whoami", True),
    tool("reset"),
    tool("prepare", text={"type": "string"}),
]


class Session:
    def __init__(self, headers=None, path=None):
        self.notes, self.calls, self.opened = [], 0, None
        self.headers, self.path = headers, path

    def answer(self, method, params):
        meta = params.get("_meta", {})
        if method == "initialize":
            self.opened = meta.get("rollout/task")
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": TOOLS}
        if method != "tools/call":
            return {}
        self.calls += 1
        name, args = params["name"], params.get("arguments", {})
        if name in ("add", "prepare", "unlisted"):
            self.notes.append(args["text"])
            return self.said(len(self.notes))
        if name == "reset":
            self.notes = []
        if name == "whoami":
            env = {key: value for key, value in os.environ.items() if key.startswith("WORLD_")}
            said = {"args": ARGS, "env": env, "path": self.path, "headers": self.headers}
            return self.said({**said, "opened": self.opened, "called": meta.get("rollout/task")})
        return self.said(self.notes)

    def said(self, value):
        return {"content": [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}]}


def serve_stdio():
    session = Session()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = session.answer(message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


sessions, everybody = {}, Session()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, text in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(text))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        with lock:
            known = sessions.pop(self.headers.get("Mcp-Session-Id"), None)
        log("delete", self.headers.get("Mcp-Session-Id"))
        self.reply(200 if known else 404)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        id = self.headers.get("Mcp-Session-Id")
        headers = {key.lower(): text for key, text in self.headers.items() if key.lower().startswith("x-")}
        with lock:
            if "--sessions" not in ARGS:
                session = everybody
                session.headers, session.path = headers, self.path
            elif message.get("method") == "initialize":
                id = str(uuid.uuid4())
                session = sessions[id] = Session(headers, self.path)
                log("session", id)
            else:
                session = sessions.get(id)
            if session is None:
                return self.reply(404)
            if "id" not in message:
                return self.reply(202)
            result = session.answer(message["method"], message.get("params", {}))
            if value("--forget") and session.calls >= int(value("--forget")) and not os.path.exists(value("--once")):
                open(value("--once"), "w").close()
                sessions.pop(id, None)
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        extra = {"Mcp_Session_Id": id} if id else {}
        self.reply(200, body, Content_Type="application/json", **extra)


log("pid", os.getpid())
if value("--die") and os.path.exists(value("--die")):
    with open(value("--die")) as file:
        left = file.read().splitlines()[1:]
    with open(value("--die"), "w") as file:
        file.write("".join(line + "\n" for line in left))
    if left:
        sys.exit("not yet")
if "--http" in ARGS:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # a client that leaves is no news
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
else:
    serve_stdio()
