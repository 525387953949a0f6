"""MCP on Python's standard library, for the servers of the tests: over standard input and output, or with `--http` at an
address that it prints, where each session (Mcp-Session-Id) has a world of its own. `--stateless` gives no session ids."""
import json
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def serve(open_world):
    """`open_world()` makes a new world: a function of a method and its params."""
    if "--http" in sys.argv:
        return serve_http(open_world)
    answer = open_world()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            print(reply_to(answer, message), flush=True)


def reply_to(answer, message):
    result = answer(message["method"], message.get("params", {}))
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})


def serve_http(open_world):
    worlds = {None: open_world()} if "--stateless" in sys.argv else {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def reply(self, status, body=b"", headers=()):
            self.send_response(status)
            for name, text in [("Content-Length", len(body)), ("Content-Type", "application/json"), *headers]:
                self.send_header(name, str(text))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.reply(405)

        def do_DELETE(self):
            self.reply(200 if worlds.pop(self.headers.get("Mcp-Session-Id"), None) else 404)

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            session = self.headers.get("Mcp-Session-Id")
            if message["method"] == "initialize" and "--stateless" not in sys.argv:
                session = str(uuid.uuid4())
                worlds[session] = open_world()
            if session not in worlds:
                return self.reply(404)
            if "id" not in message:
                return self.reply(202)
            body = reply_to(worlds[session], message).encode()
            self.reply(200, body, [("Mcp-Session-Id", session)] if session else [])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # a client that leaves is no news
    print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
    server.serve_forever()


def tool(name, fields, read_only):
    schema = {"type": "object", "properties": {field: {} for field in fields}, "required": fields}
    return {"name": name, "description": name, "inputSchema": schema, "annotations": {"readOnlyHint": read_only}}
