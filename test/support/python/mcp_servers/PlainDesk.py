"""A server without sessions or tables."""


class PlainDeskServer:
    def __init__(self, domain_name):
        pass

    def invoke(self, session_id, tool_name, **kw):
        return {"session": session_id}
