"""A small MCP server on Python's standard library: notes, over standard input and output, or with `--http` at an address
that it prints, where each session has notes of its own."""
import json
import sys
import uuid

def tool(name, read_only):
    annotations = {"readOnlyHint": read_only}
    return {"name": name, "description": name, "inputSchema": {"type": "object"}, "annotations": annotations}


TOOLS = [tool("add", False), tool("list", True), tool("reset", False)]


def reply_to(notes, message):
    params, result = message.get("params", {}), {}
    if message["method"] == "initialize":
        info = {"name": "notes", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    elif message["method"] == "tools/list":
        result = {"tools": TOOLS}
    elif message["method"] == "tools/call":
        if params["name"] == "add":
            notes.append(params["arguments"]["text"])
        elif params["name"] == "reset":
            notes.clear()
        result = {"content": [{"type": "text", "text": json.dumps(notes)}]}
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})


def serve_stdio():
    notes = []
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            print(reply_to(notes, message), flush=True)


def serve_http():
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    sessions = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def log_message(self, *_):
            pass

        def reply(self, status, body=b"", session=None):
            self.send_response_only(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "application/json")
            if session:
                self.send_header("Mcp-Session-Id", session)
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        def do_GET(self):
            self.reply(405)

        def do_DELETE(self):
            sessions.pop(self.headers.get("Mcp-Session-Id"), None)
            self.reply(200)

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            session = self.headers.get("Mcp-Session-Id")
            if message["method"] == "initialize":
                session = str(uuid.uuid4())
                sessions[session] = []
            if session not in sessions:
                return self.reply(404)
            if "id" not in message:
                return self.reply(202)
            self.reply(200, reply_to(sessions[session], message).encode(), session)

    class Server(ThreadingHTTPServer):
        request_queue_size = 1024
        daemon_threads = True

        def handle_error(self, *_):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
    server.serve_forever()


if "--http" in sys.argv:
    serve_http()
else:
    serve_stdio()
