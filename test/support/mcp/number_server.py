"""An MCP server of the standard library that shows every number as it arrived.

    python3 number_server.py stdio - [LOG]
    python3 number_server.py http json|sse|odd|resumed [LOG]     prints its address

`echo` answers with its arguments: as they stood in the message (`text`, `got`), and as Python reads them (`read`). `keep`
stores them for its session, and writes them to the log; `kept` is all that was stored. The kinds of HTTP: plain JSON, event
streams, event streams in the oddest form that the standard allows, and streams that break before the answer and are
taken up again.
"""
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCHEMA = '{"type":"object","properties":{"limit":{"type":"number","maximum":1e400,"default":2.0}}}'
STORED = {}
ANSWERS = {}


def arguments_of(line):
    """As they are written."""
    start = line.index('"arguments":') + len('"arguments":')
    while line[start] in " \t\r\n":
        start += 1
    _, end = json.JSONDecoder(strict=False).raw_decode(line, start)
    return line[start:end]


def answer(line, session=None):
    stored = STORED.setdefault(session, [])
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message or method is None:
        return None

    def reply(result):
        return '{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(message["id"]), result)

    if method == "initialize":
        hello = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
        return reply(json.dumps({**hello, "serverInfo": {"name": "numbers", "version": "1"}}))
    if method == "tools/list":
        names = ["echo", "keep", "kept", "fail", "picture", "deep"]
        return reply('{"tools":[%s]}' % ",".join('{"name":"%s","inputSchema":%s}' % (n, SCHEMA) for n in names))
    if method != "tools/call":
        return reply("{}")
    given = arguments_of(line) if '"arguments":' in line else "{}"
    name = params["name"]
    if name == "fail":
        error = '{"code":-32000.0,"message":"no","data":{"left":2.0,"most":1e400}}'
        return '{"jsonrpc":"2.0","id":%s.0,"error":%s}' % (message["id"], error)
    if name == "deep":
        return reply('{"content":[],"structuredContent":{"deep":%s2.0%s}}' % ("[" * 500, "]" * 500))
    if name == "picture":
        part = '{"type":"image","mimeType":"image/png","data":"AAAA","_meta":{"scale":2.0}}'
        return reply('{"content":[%s],"_meta":{"cost":1e400},"structuredContent":%s}' % (part, given))
    if name == "keep":
        stored.append(given)
        if len(sys.argv) > 3:
            with open(sys.argv[3], "a") as log:
                log.write(given + "\n")
        return reply('{"content":[{"type":"text","text":"%d"}]}' % len(stored))
    if name == "kept":
        return reply('{"content":[{"type":"text","text":%s}]}' % json.dumps("\n".join(stored)))
    read = json.dumps(json.loads(given, parse_float=str, parse_int=str))
    return reply('{"content":[],"structuredContent":{"text":%s,"got":%s,"read":%s},"_meta":{"took":1.0}}' % (json.dumps(given), given, read))


def serve_stdio():
    for line in sys.stdin:
        reply = answer(line)
        if reply is not None:
            print(reply, flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    kind = "json"
    session = ""

    def log_message(self, *_):
        pass

    def send(self, status, body=b"", kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("mcp-session-id", self.session)
        self.end_headers()
        self.wfile.write(body)

    def stream(self, pieces):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("connection", "close")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
        self.close_connection = True

    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        self.session = self.headers.get("mcp-session-id") or "s%d" % len(STORED)
        reply = answer(text, self.session)
        is_call = '"tools/call"' in text
        if reply is None:
            self.send(202)
        elif self.kind == "json" or not is_call:
            self.send(200, reply.encode())
        elif self.kind == "sse":
            progress = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":2.0}}'
            self.stream([b"event: message\ndata: %s\n\n" % part.encode() for part in (progress, reply)])
        elif self.kind == "odd":
            # a byte order mark, comments, no space after the colon, JSON over several lines, CRLF, one byte at a time
            lines = json_lines(reply)
            event = "\ufeff: hello\r\nid:7\r\n" + "".join("data:%s\r\n" % each for each in lines) + "\r\n"
            raw = event.encode()
            self.stream([raw[at : at + 1] for at in range(len(raw))])
        else:
            key = str(len(ANSWERS))
            ANSWERS[key] = reply
            self.stream([b"id: %s\nretry: 10\ndata: \n\n" % key.encode()])

    def do_GET(self):
        reply = ANSWERS.pop(self.headers.get("last-event-id") or "", None)
        if reply is None:
            self.send(405)
        else:
            self.stream([b"id: again\ndata: %s\n\n" % reply.encode()])

    def do_DELETE(self):
        self.send(200)


def json_lines(text):
    """Breaks lines at commas outside of strings."""
    lines, line, inside, escaped = [], "", False, False
    for char in text:
        line += char
        if inside:
            inside = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            inside = True
        elif char == ",":
            lines.append(line)
            line = ""
    return [*lines, line]


if sys.argv[1] == "stdio":
    serve_stdio()
else:
    Handler.kind = sys.argv[2]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("http://127.0.0.1:%d/mcp" % server.server_port, flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()
