import copy, json, os, uuid

class SlotDeskServer:
    def __init__(self, domain_name):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "database", "outputs")
        with open(os.path.join(root, "entities", "Member.json")) as f: self._members = json.load(f)
        self._sessions = {}
    def _get_session(self, session_id):
        if session_id not in self._sessions:
            self._sessions[session_id] = type("S", (), {"databases": {"Member": copy.deepcopy(self._members), "Booking": []}, "member": None})()
        return self._sessions[session_id]
    def invoke(self, session_id, tool_name, **kw):
        tool = {"authorize_member": self.authorize_member, "book_slot": self.book_slot}.get(tool_name)
        return tool(self._get_session(session_id), **kw) if tool else {"error": f"Unknown tool: {tool_name}"}
    def authorize_member(self, s, member_id=None, **kw):
        if not any(m["member_id"] == member_id for m in s.databases["Member"]):
            return {"success": False, "message": "Member not found"}
        s.member = member_id
        return {"success": True}
    def book_slot(self, s, slot_id=None, confirm=False, **kw):
        if not s.member: return {"error": "Session not authorized"}
        if not confirm: return {"needs_confirmation": True, "action_preview": f"Book {slot_id}"}
        row = {"booking_id": str(uuid.uuid4()), "member_id": s.member, "slot_id": slot_id}
        s.databases["Booking"].append(row)
        return {"success": True, "booking_id": row["booking_id"]}
