"""A server that keeps state for each session, written with the official Python SDK (`sdk`) or with FastMCP (`fastmcp`),
over `stdio` or at a port.

`write` adds a note, `dump` answers with the session's whole state, `who` with what a call's _meta says of its task.
"""
import json
import sys
from typing import Any

library, place = sys.argv[1:]
if library == "sdk":
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context

    server = MCPServer("desk")
else:
    from fastmcp import Context, FastMCP

    server = FastMCP("desk")

desks: dict[Any, list] = {}


def desk(context: Context) -> list:
    request = getattr(context.request_context, "request", None)
    session = request.headers.get("mcp-session-id") if request else None
    return desks.setdefault(session, [])


@server.tool()
def write(text: str, price: float, context: Context) -> str:
    desk(context).append({"text": text, "price": price})
    return str(len(desk(context)))


@server.tool()
def dump(context: Context) -> str:
    return json.dumps({"notes": {str(n): note for n, note in enumerate(desk(context))}})


@server.tool()
def who(context: Context) -> str:
    return json.dumps((context.request_context.meta or {}).get("rollout/task"))


if place == "stdio":
    server.run()
elif library == "sdk":
    server.run("streamable-http", port=int(place))
else:
    server.run("http", port=int(place), show_banner=False)
