"""Tools that are only described, as an MCP server: a call that was recorded gets the recorded answer.

    recorded_server.py FILE

FILE has `tools`, `answers` (query, name, arguments, content, is_error), and `otherwise`: `accept` or `error`.
"""
import json
import sys

from mcp_stdio import serve, take_stdout, tool


class World:
    def __init__(self, described):
        self.described = described
        self.answers = {}
        for answer in described["answers"]:
            for query in (answer["query"], None):
                self.answers.setdefault(key(query, answer["name"], answer["arguments"]), answer)

    def tools(self):
        return [tool(each["name"], each["description"], each["parameters"], self.reads(each)) for each in self.described["tools"]]

    def reads(self, each):
        """Nothing is changed by any. But who tries those that read, without arguments, should get an answer."""
        accepts = self.described["otherwise"] == "accept" or key(None, each["name"], {}) in self.answers
        return accepts or bool(each["parameters"].get("required"))

    def call(self, name, arguments, query=None):
        answer = self.answers.get(key(query, name, arguments)) or self.answers.get(key(None, name, arguments))
        if answer:
            return answer["content"], answer["is_error"]
        if self.described["otherwise"] == "accept":
            return json.dumps({"status": "accepted", "name": name}), False
        return json.dumps({"error": "no answer to this call of %s was recorded" % name}), True


def key(query, name, arguments):
    return json.dumps([query, name, arguments], sort_keys=True)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        serve(World(json.load(file)), take_stdout())
