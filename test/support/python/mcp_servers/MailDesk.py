"""Half of a combination: see BankDesk."""


class MailDeskServer:
    def __init__(self, domain_name):
        self.domain_name = domain_name
        self._sessions = {}

    def _get_session(self, session_id):
        if session_id not in self._sessions:
            tables = {"Customer": [{"customer_id": "c1", "name": "Bo", "tier": 1}, {"customer_id": "c2"}], "Letter": []}
            self._sessions[session_id] = type("S", (), {"databases": tables, "user": None})()
        return self._sessions[session_id]

    def invoke(self, session_id, tool_name, **kw):
        s = self._get_session(session_id)
        customers = s.databases["Customer"]
        if tool_name == "authorize":
            s.user = kw["customer_id"]
        elif tool_name == "rename":
            customers[0]["name"] = kw["name"]
        elif tool_name == "remove":
            s.databases["Customer"] = [row for row in customers if row["customer_id"] != kw["customer_id"]]
        elif tool_name == "audit":
            s.databases.setdefault("Audit", []).append({"line": "from the mail"})
        return {"domain": self.domain_name, "user": s.user, "databases": s.databases}
