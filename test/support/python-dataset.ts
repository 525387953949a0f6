// A small dataset folder as users drop it in: two Python servers that share a table, queries with reference plans, and
// the odd file names that such folders have. Written by the tests that use it.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Members book slots; every booking gets a generated id. */
const SLOT_DESK = `
import copy, json, os, uuid

class SlotDeskServer:
    def __init__(self, domain_name):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "database", "outputs", "entities")
        fused = os.path.join(root, domain_name)
        root = fused if os.path.isdir(fused) else root
        with open(os.path.join(root, "Member.json")) as f: self._members = json.load(f)
        with open(os.path.join(root, "Booking.json")) as f: self._bookings = json.load(f)
        self._sessions = {}
    def _get_session(self, session_id):
        if session_id not in self._sessions:
            tables = {"Member": copy.deepcopy(self._members), "Booking": copy.deepcopy(self._bookings)}
            self._sessions[session_id] = type("S", (), {"databases": tables, "member": None})()
        return self._sessions[session_id]
    def invoke(self, session_id, tool_name, **kw):
        tool = {"authorize_member": self.authorize_member, "book_slot": self.book_slot, "list_bookings": self.list_bookings}.get(tool_name)
        return tool(self._get_session(session_id), **kw) if tool else {"error": f"Unknown tool: {tool_name}"}
    def authorize_member(self, s, member_id=None, **kw):
        if not any(m["member_id"] == member_id for m in s.databases["Member"]):
            return {"success": False, "message": "Member not found"}
        s.member = member_id
        print("noise on standard output")
        return {"success": True}
    def book_slot(self, s, slot_id=None, confirm=False, **kw):
        if not s.member: return {"error": "Session not authorized"}
        if not confirm: return {"needs_confirmation": True, "action_preview": f"Book {slot_id}"}
        row = {"booking_id": str(uuid.uuid4()), "member_id": s.member, "slot_id": slot_id}
        s.databases["Booking"].append(row)
        return {"success": True, "booking_id": row["booking_id"], "price": 1.0, "reference": 9007199254740993}
    def list_bookings(self, s, **kw):
        if not s.member: return {"error": "Session not authorized"}
        return {"bookings": [b for b in s.databases["Booking"] if b["member_id"] == s.member]}
`;

/** A second server over the same bookings, with an acronym in its name and a tool of the same name. */
const DOOR_MCP = `
import copy, json, os

class DoorKeeperMCPServer:
    def __init__(self, domain_name):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "database", "outputs", "entities")
        fused = os.path.join(root, domain_name)
        self.domain_name = domain_name
        root = fused if os.path.isdir(fused) else root
        with open(os.path.join(root, "Booking.json")) as f: self._bookings = json.load(f)
        self._sessions = {}
    def _get_session(self, session_id):
        if session_id not in self._sessions:
            self._sessions[session_id] = type("S", (), {"databases": {"Booking": copy.deepcopy(self._bookings)}})()
        return self._sessions[session_id]
    def invoke(self, session_id, tool_name, **kw):
        s = self._get_session(session_id)
        if tool_name == "open_door":
            found = [b for b in s.databases["Booking"] if b["booking_id"] == kw.get("booking_id")]
            return {"success": True, "slot_id": found[0]["slot_id"], "told": self.domain_name} if found else {"error": "No such booking"}
        if tool_name == "list_bookings":
            return {"count": len(s.databases["Booking"])}
        return {"error": f"Unknown tool: {tool_name}"}
`;

const tool = (name: string, properties: object = {}, required: string[] = []) => ({
  type: "function",
  function: { name, description: `${name}.`, parameters: { type: "object", properties, required } },
});

const TOOL_LISTS = {
  SlotDesk: [
    tool("authorize_member", { member_id: { type: "string" } }, ["member_id"]),
    tool("book_slot", { slot_id: { type: "string" }, confirm: { type: "boolean" } }, ["slot_id"]),
    tool("list_bookings"),
  ],
  DoorKeeperMCP: [tool("open_door", { booking_id: { type: "string" } }, ["booking_id"]), tool("list_bookings")],
};

type Call = { name: string; arguments: object };

function query(id: string, opening: string, calls: Call[][], said: string) {
  return {
    id,
    messages: [{ role: "user", content: opening }],
    user_system_prompt: "You are a member who wants a slot.",
    task_info: {
      trajectory: calls.flat().map((call) => call.name),
      plan: [
        { steps: calls.map((step) => ({ think: "Step by step.", calls: step })), say: said },
        { user: "Thanks! ###STOP###" },
      ],
    },
  };
}

const single = (id: string, member: string, slot: string) =>
  query(
    id,
    `Please book ${slot} for ${member}.`,
    [
      [{ name: "authorize_member", arguments: { member_id: member } }],
      [{ name: "book_slot", arguments: { slot_id: slot } }],
      [{ name: "book_slot", arguments: { slot_id: slot, confirm: true } }],
      [{ name: "list_bookings", arguments: {} }],
    ],
    "Booked as {{book_slot.booking_id}}.",
  );

const cross = (id: string, member: string, slot: string) =>
  query(
    id,
    `Book ${slot} for ${member} and open the door.`,
    [
      [{ name: "SlotDesk.authorize_member", arguments: { member_id: member } }],
      [{ name: "SlotDesk.book_slot", arguments: { slot_id: slot, confirm: true } }],
      [{ name: "DoorKeeperMCP.open_door", arguments: { booking_id: "{{book_slot.booking_id}}" } }],
      [{ name: "DoorKeeperMCP.list_bookings", arguments: {} }],
    ],
    "The door to {{open_door.slot_id}} is open.",
  );

/** `single domain/` and `cross_domain/` in one folder, as the generator leaves them. */
export function writePythonDataset(folder: string, options: { queries?: number } = {}): void {
  const members = ["m1", "m2", "m3"].map((id) => ({ member_id: id, name: id.toUpperCase() }));
  const files: { [path: string]: string } = {};
  const put = (path: string, content: unknown) => {
    files[path] = typeof content === "string" ? content : `${JSON.stringify(content, null, 1)}\n`;
  };
  for (const root of ["single domain", "cross_domain"]) {
    put(`${root}/mcp_servers/SlotDesk.py`, SLOT_DESK);
    put(`${root}/mcp_servers/DoorKeeperMCP.py`, DOOR_MCP);
    for (const [server, tools] of Object.entries(TOOL_LISTS)) put(`${root}/tool_lists/${server}.json`, tools);
  }
  const lines = (queries: object[]) => queries.map((line) => `${JSON.stringify(line)}\n`).join("");
  const count = options.queries ?? 3;
  const ids = Array.from({ length: count }, (_, index) => index);
  put("single domain/queries/SlotDesk.jsonl", lines(ids.map((n) => single(`slot-${n}`, `m${1 + (n % 3)}`, `A${n}`))));
  put("single domain/policies/SlotDesk.md", "<!-- POLICY_START -->\nConfirm before booking.\n<!-- POLICY_END -->\n");
  put("single domain/database/outputs/entities/Member.json", members);
  put("single domain/database/outputs/entities/Booking.json", []);
  // scattered queries; a policy and a database with the names in another order
  const half = Math.ceil(count / 2);
  const crossed = ids.map((n) => cross(`door-${n}`, `m${1 + (n % 3)}`, `B${n}`));
  put("cross_domain/queries/SlotDesk_DoorKeeperMCP/part1.jsonl", lines(crossed.slice(0, half)));
  put("cross_domain/queries/SlotDesk_DoorKeeperMCP/part2.jsonl", lines([...crossed.slice(half), crossed[0] as object]));
  put("cross_domain/policies/DoorKeeperMCP_SlotDesk.md", "Both desks.\n");
  put("cross_domain/database/outputs/entities/DoorKeeperMCP_SlotDesk/Member.json", members);
  put("cross_domain/database/outputs/entities/DoorKeeperMCP_SlotDesk/Booking.json", []);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
