"""One server, written with the official Python SDK (`sdk`) or with FastMCP (`fastmcp`), over `stdio` or at a port.

`show` answers with its arguments as Python prints them, `total` with structured content alone.
"""
import sys
from typing import Any

library, place = sys.argv[1:]
if library == "sdk":
    from mcp.server import MCPServer
    from mcp.types import CallToolResult

    server = MCPServer("numbers")

    def structured(value: dict) -> Any:
        return CallToolResult(content=[], structured_content=value)

else:
    from fastmcp import FastMCP
    from fastmcp.tools import ToolResult

    server = FastMCP("numbers")

    def structured(value: dict) -> Any:
        return ToolResult(content=[], structured_content=value)


@server.tool()
def show(value: Any, price: float, count: int) -> str:
    return repr([value, price, count])


@server.tool(**({"structured_output": False} if library == "sdk" else {"output_schema": None}))
def total() -> Any:
    return structured({"left": 2.0, "id": 12345678901234567890, "nested": [{"zero": -0.0, "small": 1e-7}]})


if place == "stdio":
    server.run()
elif library == "sdk":
    server.run("streamable-http", port=int(place))
else:
    server.run("http", port=int(place), show_banner=False)
