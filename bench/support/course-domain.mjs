// One small domain as a dropped-in dataset, with its server in JavaScript or in Python: a search that reads a table, keeps
// what was asked in another, and answers with an id of its own. `burnMs` is what each call computes besides.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const JAVASCRIPT = `
function search_courses(context, { keyword }) {
  const courses = context.table("Course").where((course) => keyword.includes(course.topic));
  const search_id = context.newId("SRC");
  context.table("Search").insert({ search_id, keyword, found: courses.length });
  return { search_id, courses };
}
export default { today: "2026-03-02", reads: {}, writes: { search_courses } };
`;

const pythonServer = (burnMs) => `
import copy, json, os, time, uuid

ENTITIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "database", "outputs", "entities")

class Session:
    def __init__(self, tables):
        self.databases = copy.deepcopy(tables)

class CoursesServer:
    def __init__(self, domain_name):
        with open(os.path.join(ENTITIES, "Course.json"), encoding="utf-8") as file:
            self.tables = {"Course": json.load(file), "Search": []}
        self.sessions = {}

    def _get_session(self, session_id):
        if session_id not in self.sessions:
            self.sessions[session_id] = Session(self.tables)
        return self.sessions[session_id]

    def invoke(self, session_id, tool_name, **arguments):
        tables = self._get_session(session_id).databases
        if tool_name == "search_courses":
            return self.search_courses(tables, **arguments)
        return {"error": f"Unknown tool: {tool_name}"}

    def search_courses(self, tables, term, keyword):
        end = time.thread_time() + ${burnMs} / 1000
        while time.thread_time() < end:
            pass
        courses = [course for course in tables["Course"] if course["topic"] in keyword]
        search_id = "SRC-" + uuid.uuid4().hex[:8]
        tables["Search"].append({"search_id": search_id, "keyword": keyword, "found": len(courses)})
        return {"search_id": search_id, "courses": courses}
`;

const text = (description) => ({ type: "string", description });
const parameters = {
  type: "object",
  properties: { term: text("The term, such as 2026FA."), keyword: text("A part of what the course is about.") },
  required: ["term", "keyword"],
  additionalProperties: false,
};
const TOOLS = [{ type: "function", function: { name: "search_courses", description: "Find courses.", parameters } }];
const course = (n) => ({
  course_id: `C${n}`,
  topic: `topic ${n}`,
  title: `Course number ${n}`,
  credits: 3,
  open: true,
});

/** `queries` dialogues that all open alike, over a table of so many `courses`; language is `js` or `py`. */
export function writeCourses(folder, { language, queries, burnMs = 0, courses = 20 }) {
  const opening = [{ role: "user", content: "What is open?" }];
  const lines = Array.from({ length: queries }, (_, n) => JSON.stringify({ id: `q${n}`, messages: opening }));
  const files = {
    [`mcp_servers/Courses.${language}`]: language === "py" ? pythonServer(burnMs) : JAVASCRIPT,
    "tool_lists/Courses.json": JSON.stringify(TOOLS),
    "queries/Courses.jsonl": `${lines.join("\n")}\n`,
    "database/outputs/entities/Course.json": JSON.stringify(Array.from({ length: courses }, (_, n) => course(n))),
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}
