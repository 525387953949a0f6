// The academic portal's records: programmes, courses, sections, and who has taken, takes or waits for what. The people
// in the portal's queries are placed by hand; everyone else is drawn.
import { createRandom, type Random } from "../../src/core/index.ts";
import type { Row } from "../../src/tools/index.ts";
import { makeTables as makeStudents } from "./student.ts";

type Course = { course_id: string; title: string; department: string; credits: number; prerequisites: string[] };
type Section = {
  section_id: string;
  course_id: string;
  term: string;
  instructor: string;
  days: string[];
  start_time: string;
  end_time: string;
  room: string;
  session: string;
  capacity: number;
  waitlist_capacity: number;
  add_by: string;
  drop_by: string;
};
type Enrollment = {
  enrollment_id: string;
  student_id: string;
  section_id: string;
  term: string;
  status: string;
  grade: string | null;
  credits: number;
};
type Student = { student_id: string; name: string; program: string; year: number };
/** A student's studies: courses from the archive, grades of 2025FA ("CS-101 A-"), section ids of the current term. */
type Studies = {
  earlier: { credits: number; gpa: number; courses: string };
  fall: string[];
  spring: string[];
  waitlisted?: string[];
};

// id | title | credits | prerequisites | slots in spring | slots in autumn
// A slot is a letter for the days and a number for the hour; "<" and ">" mark the first and the second half of a term.
const CATALOGUE = `
CS-101 | Introduction to Programming | 4 | | M1 T2 | M1 T2
CS-150 | Scripting Workshop | 2 | | F2> |
CS-201 | Data Structures | 4 | CS-101 | M2 T3 | M2
CS-210 | Computer Organization | 3 | CS-101 | T1 | T4
CS-301 | Algorithms | 4 | CS-201 MATH-220 | M3 | T2
CS-320 | Databases | 3 | CS-201 | T4 | M4
CS-340 | Operating Systems | 4 | CS-201 CS-210 | M4 | T1
CS-410 | Machine Learning | 3 | CS-301 STAT-201 | T2 |
CS-490 | Senior Project | 4 | CS-301 CS-320 | F1 | F1
ME-101 | Engineering Graphics | 3 | | T3 | T3
ME-201 | Statics | 3 | PHYS-101 | M1 | M4
ME-220 | Thermodynamics | 3 | PHYS-101 MATH-102 | T2 | M2
ME-310 | Fluid Mechanics | 3 | ME-220 | M4 | T1
ME-330 | Machine Design | 4 | ME-201 | T4 | T4
ME-490 | Capstone Design | 4 | ME-310 ME-330 | F1 | F1
BIO-101 | General Biology | 4 | | M1 T4 | M1 T4
BIO-201 | Cell Biology | 4 | BIO-101 | M3 | M3
BIO-210 | Ecology | 3 | BIO-101 | T2 | F1
BIO-310 | Genetics | 4 | BIO-201 | M2 | T2
BIO-330 | Microbiology | 4 | BIO-201 CHEM-101 | T3 | M4
BIO-420 | Evolutionary Biology | 3 | BIO-310 | F1 | T1
ECON-101 | Principles of Microeconomics | 3 | | M2 T1 | M2 T1
ECON-102 | Principles of Macroeconomics | 3 | | T4 | M3
ECON-201 | Intermediate Microeconomics | 3 | ECON-101 MATH-101 | M4 | T3
ECON-310 | Econometrics | 4 | ECON-201 STAT-201 | M1 | T2
ECON-330 | Public Finance | 3 | ECON-102 | T3 | M4
ECON-420 | Game Theory | 3 | ECON-201 | F2 | M1
HIST-101 | World History to 1500 | 3 | | M3 | M3 T2
HIST-102 | World History since 1500 | 3 | | T1 | M1
HIST-210 | Medieval Europe | 3 | HIST-101 | T3 | T3
HIST-240 | History of East Asia | 3 | | M4 | T4
HIST-320 | Revolutions in the Atlantic World | 3 | HIST-102 | M1 | M2
HIST-350 | Oral History Methods | 3 | HIST-102 | T2 | F1
HIST-480 | Senior Thesis Seminar | 4 | HIST-320 | F1 | F2
NURS-101 | Foundations of Nursing | 4 | | M1 | M1
NURS-110 | Human Anatomy | 4 | | T2 | T2
NURS-210 | Pharmacology | 3 | NURS-101 CHEM-101 | M3 | M3
NURS-220 | Adult Health Nursing | 4 | NURS-101 NURS-110 | T3 | T4
NURS-310 | Pediatric Nursing | 4 | NURS-220 | F1 | M2
NURS-420 | Community Health | 3 | NURS-220 | M4 | T1
MATH-101 | Calculus I | 4 | | M1 T1 | M1 T3
MATH-102 | Calculus II | 4 | MATH-101 | M2 | T2
MATH-220 | Discrete Mathematics | 3 | MATH-101 | T2 | M3
MATH-230 | Linear Algebra | 3 | MATH-101 | M3 T4 | T1
MATH-310 | Real Analysis | 4 | MATH-102 | T3 | M4
MATH-340 | Abstract Algebra | 3 | MATH-230 | M4 | T4
MATH-450 | Topology | 3 | MATH-310 | | M2
STAT-201 | Statistics I | 3 | | M4 T2 | T3 M2
PSY-101 | Introduction to Psychology | 3 | | M2 T1 | T1 M3
PSY-210 | Research Methods | 4 | PSY-101 STAT-201 | T3 | M4
PSY-220 | Developmental Psychology | 3 | PSY-101 | M3 | T2
PSY-310 | Cognitive Psychology | 3 | PSY-101 | T4 | M1
PSY-340 | Abnormal Psychology | 3 | PSY-220 | M1 | T3
PSY-430 | Clinical Practicum | 4 | PSY-210 PSY-340 | F1 | F1
ARCH-101 | Design Studio I | 5 | | F3 | F3
ARCH-102 | Design Studio II | 5 | ARCH-101 | M5 | M5
ARCH-210 | History of Architecture | 3 | | T2 | T2
ARCH-230 | Building Structures | 3 | PHYS-101 | T1 | M2
ARCH-310 | Urban Design | 4 | ARCH-102 | T5 | T5
ARCH-330 | Sustainable Building | 3 | ARCH-230 | M2 | M1
ARCH-410 | Thesis Studio | 5 | ARCH-310 | F3 | M5
MUS-101 | Music Theory I | 3 | | M2 | M2
MUS-102 | Music Theory II | 3 | MUS-101 | T2 | T1
MUS-150 | University Choir | 1 | | E1 | E1
MUS-210 | Music History | 3 | | M1 | T4
MUS-220 | Composition | 3 | MUS-102 | T4 | M4
MUS-310 | Conducting | 3 | MUS-102 | M3 | F1
MUS-440 | Senior Recital | 3 | MUS-220 | F2 | F2
ENG-101 | Academic Writing | 3 | | M2 T4 | M2 T1 T4
ENG-215 | Creative Writing | 3 | ENG-101 | F1 | F2
PHIL-130 | Ethics | 3 | | M4 T3 | M4
SPAN-101 | Spanish I | 3 | | M1 T3 | T2
PHYS-101 | Mechanics | 4 | | M3 | M3 T1
CHEM-101 | General Chemistry | 4 | | T1 T4 | M1
LIB-100 | Research Skills | 1 | | E2> | E2>
PE-110 | Swimming | 1 | | F2< | F2<
PE-120 | Hiking and Navigation | 1 | | F2> | F2>
`;

const DAYS: { [letter: string]: string[] } = { M: ["Mon", "Wed"], T: ["Tue", "Thu"], F: ["Fri"], E: ["Tue"] };
const HOURS: { [slot: string]: [string, string] } = {
  M1: ["09:00", "10:15"],
  M2: ["10:30", "11:45"],
  M3: ["13:00", "14:15"],
  M4: ["14:30", "15:45"],
  M5: ["16:00", "18:30"],
  T1: ["09:00", "10:15"],
  T2: ["10:30", "11:45"],
  T3: ["13:00", "14:15"],
  T4: ["14:30", "15:45"],
  T5: ["16:00", "18:30"],
  F1: ["09:00", "11:45"],
  F2: ["13:00", "15:45"],
  F3: ["09:00", "14:00"],
  E1: ["18:00", "19:30"],
  E2: ["17:00", "18:15"],
};

const PROGRAMS: [name: string, prefix: string, core: string][] = [
  ["Computer Science", "CS", "CS-101 MATH-101 CS-201 MATH-220 CS-210 STAT-201 CS-301 CS-320 CS-340 CS-490"],
  ["Mechanical Engineering", "ME", "MATH-101 PHYS-101 ME-101 ME-201 MATH-102 ME-220 ME-310 ME-330 ME-490"],
  ["Biology", "BIO", "BIO-101 CHEM-101 BIO-201 BIO-210 STAT-201 BIO-310 BIO-330 BIO-420"],
  ["Economics", "ECON", "ECON-101 ECON-102 MATH-101 ECON-201 STAT-201 ECON-310 ECON-330 ECON-420"],
  ["History", "HIST", "HIST-101 HIST-102 HIST-210 HIST-240 HIST-320 HIST-350 HIST-480"],
  ["Nursing", "NURS", "NURS-101 NURS-110 CHEM-101 NURS-220 STAT-201 NURS-210 NURS-310 NURS-420"],
  ["Mathematics", "MATH", "MATH-101 MATH-102 MATH-230 MATH-220 STAT-201 MATH-310 MATH-340 MATH-450"],
  ["Psychology", "PSY", "PSY-101 STAT-201 PSY-220 PSY-210 PSY-310 PSY-340 PSY-430"],
  ["Architecture", "ARCH", "ARCH-101 ARCH-102 PHYS-101 ARCH-210 ARCH-230 ARCH-310 ARCH-330 ARCH-410"],
  ["Music", "MUS", "MUS-101 MUS-102 MUS-150 MUS-210 MUS-220 MUS-310 MUS-440"],
];

const DEPARTMENTS: { [prefix: string]: string } = {
  ...Object.fromEntries(PROGRAMS.map(([name, prefix]) => [prefix, name])),
  STAT: "Mathematics",
  ENG: "Humanities",
  PHIL: "Humanities",
  SPAN: "Humanities",
  PHYS: "Physical Sciences",
  CHEM: "Physical Sciences",
  LIB: "General Studies",
  PE: "General Studies",
};

const ELECTIVES = `ENG-101 HIST-101 PHIL-130 ECON-101 MUS-210 STAT-201 PSY-101 HIST-240 SPAN-101 ENG-215 PSY-220 BIO-101
ECON-102 HIST-102 MUS-101 ARCH-210 CS-101 MATH-101 PHYS-101`.split(/\s+/);

const INSTRUCTORS: { [prefix: string]: string[] } = {
  CS: ["Faraday", "Mwangi", "Thorne"],
  ME: ["Brunner", "Okeke", "Salinas"],
  BIO: ["Delacroix", "Lindgren", "Pereira"],
  ECON: ["Calloway", "Stavros", "Ueno"],
  HIST: ["Abernathy", "Brandt", "Kaplan"],
  NURS: ["Holloway", "Osei", "Whitlock"],
  MATH: ["Iyer", "Jansen", "Rahman"],
  STAT: ["Nordstrom", "Vance"],
  PSY: ["Eastwood", "Grimaldi", "Yamada"],
  ARCH: ["Ferrante", "Quintero", "Sandoval"],
  MUS: ["Lowell", "Marchetti", "Pemberton"],
  ENG: ["Ashworth", "Donnelly"],
  PHIL: ["Oyelaran", "Voss"],
  SPAN: ["Ibarra", "Montes"],
  PHYS: ["Kessler", "Nair"],
  CHEM: ["Ulrich", "Zhou"],
  LIB: ["Garrity"],
  PE: ["Rourke"],
};

const GRADES = ["A", "A", "A-", "A-", "B+", "B+", "B", "B", "B-", "C+", "C", "D", "F"];

/** Sections without a free seat: their capacity is what they hold. */
const FULL = ["HIST-240-26SP-1", "PSY-101-26SP-1", "SPAN-101-26SP-1"];

const SESSIONS: { [mark: string]: { session: string; spring: [string, string]; autumn: [string, string] } } = {
  "": { session: "full", spring: ["2026-02-13", "2026-02-20"], autumn: ["2026-09-04", "2026-09-11"] },
  "<": { session: "first_half", spring: ["2026-01-30", "2026-02-06"], autumn: ["2026-08-28", "2026-09-04"] },
  ">": { session: "second_half", spring: ["2026-03-27", "2026-04-03"], autumn: ["2026-10-23", "2026-10-30"] },
};

/** The people in the queries. Sections without a term are in spring. */
const PEOPLE: { [student: string]: Studies } = {
  S1002: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["NURS-101 B+", "ENG-101 B", "ECON-101 B-", "STAT-201 C+"],
    spring: ["NURS-110-1", "CHEM-101-1", "PSY-101-1", "MATH-101-1"],
  },
  S1003: {
    earlier: { credits: 60, gpa: 3.4, courses: "NURS-101 NURS-110 CHEM-101 ENG-101 PSY-101 STAT-201" },
    fall: ["NURS-220 A-", "NURS-210 B+", "PHIL-130 A", "SPAN-101 B"],
    spring: ["NURS-420-1", "HIST-101-1", "ENG-215-1", "PSY-310-1"],
  },
  S1004: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["NURS-101 A-", "ENG-101 B+", "PSY-101 A", "HIST-101 B"],
    spring: ["NURS-110-1", "CHEM-101-1", "STAT-201-1", "ECON-102-1"],
  },
  S1005: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["BIO-101 A", "ENG-101 B", "PSY-101 B+", "ECON-102 C+"],
    spring: ["BIO-201-1", "CHEM-101-1", "STAT-201-2", "LIB-100-1"],
  },
  S1006: {
    earlier: { credits: 58, gpa: 3.1, courses: "ARCH-101 ARCH-102 PHYS-101 ENG-101 HIST-101" },
    fall: ["ARCH-210 B+", "ARCH-310 A-", "MATH-101 B-", "ECON-102 B"],
    spring: ["ARCH-230-1", "ENG-215-1", "STAT-201-1", "MUS-101-1"],
  },
  S1007: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["CS-101 A-", "MATH-101 B+", "ENG-101 B", "PSY-101 A"],
    spring: ["CS-201-1", "CS-210-1", "SPAN-101-1", "MATH-220-1"],
  },
  S1008: {
    earlier: { credits: 30, gpa: 3.6, courses: "HIST-101 ENG-101 PHIL-130" },
    fall: ["HIST-102 A", "HIST-210 A-", "ARCH-210 B+", "BIO-101 B"],
    spring: ["HIST-320-1", "HIST-350-1", "ECON-101-1", "MATH-101-2"],
  },
  S1009: {
    earlier: { credits: 91, gpa: 3.5, courses: "PSY-101 STAT-201 PSY-220 PSY-310 ENG-101 BIO-101" },
    fall: ["PSY-210 A-", "PSY-340 A", "SPAN-101 B+", "MUS-101 A-", "LIB-100 A"],
    spring: ["PSY-430-1", "HIST-101-1", "ECON-101-1", "MUS-210-1", "ARCH-210-1"],
  },
  S1010: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["CS-101 A", "MATH-101 B", "ENG-101 C+", "ECON-101 B+"],
    spring: ["CS-201-1", "CS-210-1", "PHIL-130-1", "SPAN-101-1"],
  },
  S1011: {
    earlier: { credits: 93, gpa: 3.8, courses: "MATH-101 MATH-102 MATH-230 MATH-220 STAT-201 MATH-310 ENG-101" },
    fall: ["MATH-450 A", "PHYS-101 A-", "PHIL-130 A", "MUS-210 A-"],
    spring: ["MATH-340-1", "CS-101-2", "ENG-215-1", "ECON-101-2"],
  },
  S1012: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["CS-101 B", "MATH-101 B-", "MUS-101 A", "ENG-101 B+"],
    spring: ["CS-201-2", "MATH-220-1", "PSY-101-1", "ECON-102-1"],
  },
  S1013: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["CS-101 A", "MATH-101 A-", "PSY-101 B+", "ENG-101 B"],
    spring: ["CS-201-1", "CS-210-1", "MATH-220-1", "HIST-101-1", "SPAN-101-2"],
  },
  S1014: {
    earlier: { credits: 92, gpa: 3.2, courses: "MATH-101 MATH-102 MATH-230 MATH-220 STAT-201 ENG-101 ECON-101" },
    fall: ["MATH-310 B", "MATH-340 B+", "HIST-101 A-", "SPAN-101 B"],
    spring: ["CS-101-1", "PHYS-101-1", "PHIL-130-1", "ARCH-210-1"],
  },
  S1015: {
    earlier: { credits: 31, gpa: 2.9, courses: "MATH-101 MATH-102 ENG-101 PSY-101" },
    fall: ["MATH-230 B", "STAT-201 B+", "ECON-101 C+", "CHEM-101 C"],
    spring: ["MATH-220-1", "MATH-310-1", "PHIL-130-1", "CS-101-1"],
  },
  S1016: {
    earlier: { credits: 90, gpa: 3.3, courses: "HIST-101 HIST-102 HIST-210 HIST-240 ENG-101 ECON-101" },
    fall: ["HIST-320 A-", "PSY-101 B", "STAT-201 C+", "BIO-101 B"],
    spring: ["HIST-480-1", "HIST-350-1", "PSY-310-1", "MUS-101-1", "MUS-210-1", "MUS-150-1"],
  },
  S1017: {
    earlier: { credits: 61, gpa: 2.8, courses: "NURS-101 NURS-110 CHEM-101 ENG-101 STAT-201" },
    fall: ["NURS-220 B", "NURS-210 C+", "PSY-101 B", "HIST-101 B-"],
    spring: ["NURS-310-1", "NURS-420-1", "ECON-102-1", "SPAN-101-2", "PE-110-1"],
  },
  S1018: {
    earlier: { credits: 32, gpa: 3.1, courses: "NURS-101 ENG-101 PSY-101 PHIL-130" },
    fall: ["NURS-110 B+", "CHEM-101 B", "HIST-101 A-", "STAT-201 B-"],
    spring: ["NURS-220-1", "NURS-210-1", "ECON-101-2", "MUS-210-1"],
  },
  S1019: {
    earlier: { credits: 30, gpa: 2.7, courses: "HIST-101 ENG-101" },
    fall: ["STAT-201 D", "HIST-102 B", "ECON-101 C+", "ARCH-210 B-"],
    spring: ["HIST-210-1", "HIST-320-1", "PSY-101-2", "ENG-215-1"],
  },
  S1020: {
    earlier: { credits: 61, gpa: 3.4, courses: "ECON-101 ECON-102 MATH-101 ENG-101 PSY-101" },
    fall: ["ECON-201 A-", "SPAN-101 B", "PHIL-130 B+", "HIST-101 A"],
    spring: ["STAT-201-2", "ECON-420-1", "MATH-102-1", "PSY-220-1", "MUS-150-1"],
  },
  S1021: {
    earlier: { credits: 62, gpa: 3.0, courses: "MATH-101 MATH-102 MATH-230 ENG-101 STAT-201" },
    fall: ["MATH-220 B-", "PHYS-101 C+", "PHIL-130 A-", "ECON-101 B"],
    spring: ["MATH-310-1", "MATH-340-1", "CS-101-1", "ARCH-210-1"],
  },
  S1022: {
    earlier: { credits: 28, gpa: 3.2, courses: "MUS-101 ENG-101 HIST-102" },
    fall: ["MUS-102 A", "MUS-150 A", "MUS-210 B+", "SPAN-101 B", "ECON-101 B-"],
    spring: ["MUS-220-1", "MUS-310-1", "PHIL-130-2", "ENG-215-1"],
    waitlisted: ["PSY-101-1"],
  },
  S1023: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["ARCH-101 B+", "PHYS-101 B", "ENG-101 A-", "HIST-101 B"],
    spring: ["ARCH-102-1", "ARCH-210-1", "ARCH-230-1", "PSY-101-1"],
  },
  S1024: {
    earlier: { credits: 0, gpa: 0, courses: "" },
    fall: ["NURS-101 B", "ENG-101 C+", "PSY-101 B+", "HIST-101 B"],
    spring: ["NURS-110-1", "CHEM-101-1", "STAT-201-1", "MUS-101-1"],
  },
  S1025: {
    earlier: { credits: 63, gpa: 3.0, courses: "MATH-101 PHYS-101 ME-101 MATH-102 ENG-101" },
    fall: ["ME-201 B", "ME-220 B-", "HIST-102 B+", "STAT-201 A-"],
    spring: ["ME-310-1", "ME-330-1", "HIST-101-1", "PSY-101-1"],
  },
  S1026: {
    earlier: { credits: 33, gpa: 3.3, courses: "HIST-101 ENG-101 SPAN-101" },
    fall: ["HIST-102 A-", "HIST-210 B+", "ECON-101 B", "PSY-101 B+"],
    spring: ["HIST-320-1", "STAT-201-1", "MUS-101-1", "PSY-220-1"],
  },
  S1027: {
    earlier: { credits: 31, gpa: 3.7, courses: "PSY-101 ENG-101 BIO-101" },
    fall: ["STAT-201 A", "PSY-220 A-", "ECON-101 B+", "PHIL-130 A"],
    spring: ["PSY-210-1", "PSY-310-1", "PSY-340-1", "HIST-101-1"],
  },
  S1028: {
    earlier: { credits: 30, gpa: 3.2, courses: "BIO-101 CHEM-101 ENG-101" },
    fall: ["BIO-201 B+", "STAT-201 B", "HIST-102 B-", "PHIL-130 A-"],
    spring: ["BIO-210-1", "BIO-330-1", "ENG-215-1", "CS-150-1"],
    waitlisted: ["PSY-101-1", "HIST-240-1"],
  },
};

const HOLDS: Row[] = [
  {
    ...hold("HOLD-301", "S1003", "immunization", "2026-01-19"),
    reason: "Measles booster not on record",
    placed_by: "Student Health Services",
  },
  {
    ...hold("HOLD-302", "S1015", "financial", "2026-01-12"),
    reason: "Past-due balance from Fall 2025",
    placed_by: "Bursar's Office",
  },
  {
    ...hold("HOLD-303", "S1026", "advising", "2026-01-14"),
    reason: "Yearly meeting with the advisor",
    placed_by: "Academic Advising",
    status: "released",
    released_on: "2026-02-06",
  },
];

export function makeTables(): { [table: string]: Row[] } {
  const random = createRandom("bundled academic");
  const courses = makeCourses();
  const sections = makeSections(courses, random);
  const students = makeStudents().Student as Student[];
  const enrollments: Enrollment[] = [];
  const records: Row[] = [];
  const registry = new Registry(courses, sections);

  for (const student of students) {
    const placed = PEOPLE[student.student_id];
    const studies = placed ? withSections(placed, registry) : draw(student, registry, random);
    records.push({
      academicrecord_id: student.student_id.replace("S", "REC-"),
      student_id: student.student_id,
      catalog_year: 2026 - student.year,
      earlier_credits: studies.earlier.credits,
      earlier_gpa: studies.earlier.gpa,
      earlier_courses: studies.earlier.courses.split(" ").filter(Boolean),
    });
    enrollments.push(...registry.enroll(student.student_id, studies));
  }
  for (const id of FULL) registry.section(id).capacity = registry.taken(id);

  return {
    Program: PROGRAMS.map(([name, prefix, core]) => ({
      program_id: `PRG-${prefix}`,
      name,
      required_credits: 120,
      core_courses: core.split(" "),
    })),
    Course: courses,
    Section: sections,
    AcademicRecord: records,
    Enrollment: enrollments,
    Hold: HOLDS,
    TranscriptRequest: makeTranscriptRequests(students, random),
    GraduationApplication: makeGraduationApplications(students, random),
  };
}

function hold(hold_id: string, student_id: string, type: string, placed_on: string): Row {
  return { hold_id, student_id, type, status: "active", reason: "", placed_by: "", placed_on, released_on: null };
}

function catalogueLines(): string[][] {
  return CATALOGUE.trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
}

function makeCourses(): Course[] {
  return catalogueLines().map(([id = "", title = "", credits, prerequisites = ""]) => ({
    course_id: id,
    title,
    department: DEPARTMENTS[id.split("-")[0] ?? ""] as string,
    credits: Number(credits),
    prerequisites: prerequisites.split(" ").filter(Boolean),
  }));
}

function makeSections(courses: Course[], random: Random): Section[] {
  const sections: Section[] = [];
  const lines = catalogueLines();
  for (const [index, course] of courses.entries()) {
    const [spring = "", autumn = ""] = (lines[index] ?? []).slice(4);
    const offered: [string, string][] = [
      ["2025FA", autumn || spring],
      ["2026SP", spring],
      ["2026FA", autumn],
    ];
    for (const [term, slots] of offered) {
      for (const [number, slot] of slots.split(" ").filter(Boolean).entries()) {
        const section = makeSection(course, term, number + 1, slot, random);
        sections.push({ ...section, instructor: freeInstructor(section, sections, random) });
      }
    }
  }
  return sections;
}

function makeSection(course: Course, term: string, number: number, slot: string, random: Random): Section {
  const mark = slot.slice(2);
  const { session, spring, autumn } = SESSIONS[mark] as (typeof SESSIONS)[string];
  const [start_time, end_time] = HOURS[slot.slice(0, 2)] as [string, string];
  const deadlines =
    term === "2026SP" ? spring : (autumn.map((date) => date.replace("2026", term.slice(0, 4))) as [string, string]);
  return {
    section_id: `${course.course_id}-${term.slice(2)}-${number}`,
    course_id: course.course_id,
    term,
    instructor: "",
    days: DAYS[slot[0] as string] as string[],
    start_time,
    end_time,
    room: `${random.pick(["Aldous Hall", "Science Center", "North Building", "Weaver Hall"])} ${100 + random.int(300)}`,
    session,
    capacity: 24 + 2 * random.int(9),
    waitlist_capacity: 10,
    add_by: deadlines[0],
    drop_by: deadlines[1],
  };
}

/** Someone in the subject who does not teach another section at that hour. */
function freeInstructor(section: Section, others: Section[], random: Random): string {
  const names = (INSTRUCTORS[section.course_id.split("-")[0] as string] as string[]).map((name) => `Prof. ${name}`);
  const busy = others.filter((other) => other.term === section.term && clash(other, section));
  return random.pick(names.filter((name) => !busy.some((other) => other.instructor === name)));
}

/** Who sits where; knows which sections still have a seat and which of them clash. */
class Registry {
  readonly #courses: Map<string, Course>;
  readonly #sections: Map<string, Section>;
  readonly #taken = new Map<string, number>();

  constructor(courses: Course[], sections: Section[]) {
    this.#courses = new Map(courses.map((course) => [course.course_id, course]));
    this.#sections = new Map(sections.map((section) => [section.section_id, section]));
  }

  course(id: string): Course {
    const course = this.#courses.get(id);
    if (!course) throw new Error(`No course ${id}`);
    return course;
  }

  section(id: string): Section {
    const section = this.#sections.get(id);
    if (!section) throw new Error(`No section ${id}`);
    return section;
  }

  taken(id: string): number {
    return this.#taken.get(id) ?? 0;
  }

  /** A section of the course with a free seat that clashes with none of the others. */
  seat(course: string, term: string, others: string[]): string | undefined {
    const held = others.map((id) => this.section(id));
    for (const section of this.#sections.values()) {
      if (section.course_id !== course || section.term !== term) continue;
      if (this.taken(section.section_id) >= section.capacity) continue;
      if (!held.some((other) => clash(section, other))) return section.section_id;
    }
    return undefined;
  }

  enroll(student: string, studies: Studies): Enrollment[] {
    const rows: Enrollment[] = [];
    const add = (id: string, status: string, grade: string | null) => {
      const section = this.section(id);
      if (status === "enrolled") this.#taken.set(id, this.taken(id) + 1);
      rows.push({
        enrollment_id: `ENR-${student.slice(1)}${String(rows.length + 1).padStart(2, "0")}`,
        student_id: student,
        section_id: id,
        term: section.term,
        status,
        grade,
        credits: this.course(section.course_id).credits,
      });
    };
    for (const entry of studies.fall) {
      const [id = "", grade = null] = entry.split(" ");
      add(id, "enrolled", grade);
    }
    for (const id of studies.spring) add(id, "enrolled", null);
    for (const id of studies.waitlisted ?? []) add(id, "waitlisted", null);
    return rows;
  }
}

function clash(a: Section, b: Section): boolean {
  const together = a.session === "full" || b.session === "full" || a.session === b.session;
  const sameDay = a.days.some((day) => b.days.includes(day));
  return together && sameDay && a.start_time < b.end_time && b.start_time < a.end_time;
}

/** Hand-placed studies with whole section ids. */
function withSections(studies: Studies, registry: Registry): Studies {
  const inSpring = (id: string) => id.replace(/-(\d)$/, "-26SP-$1");
  const taken: string[] = [];
  const fall = studies.fall.map((entry) => {
    const [course = "", grade] = entry.split(" ");
    const section = registry.seat(course, "2025FA", taken);
    if (!section) throw new Error(`No seat in ${course} beside ${taken.join(", ")}`);
    taken.push(section);
    return `${section} ${grade}`;
  });
  return { ...studies, fall, spring: studies.spring.map(inSpring), waitlisted: studies.waitlisted?.map(inSpring) };
}

function draw(student: Student, registry: Registry, random: Random): Studies {
  const core = PROGRAMS.find(([name]) => name === student.program)?.[2].split(" ") ?? [];
  const before = student.year - 1;
  const earlier = core.slice(0, [0, 3, 5, 7][before]);
  if (before > 0) earlier.push(...ELECTIVES.slice(0, 2 * before).filter((id) => !earlier.includes(id)));
  const done = new Set(earlier);
  const fall = drawTerm("2025FA", 2, core, done, registry, random).map((id) => ({ id, grade: random.pick(GRADES) }));
  for (const { id, grade } of fall) if (grade !== "D" && grade !== "F") done.add(registry.section(id).course_id);
  const spring = drawTerm("2026SP", 2, core, done, registry, random);
  for (const id of spring) done.add(registry.section(id).course_id);
  const waits = isBystander(student) && random.chance(0.8);
  const wanted = random.pick(FULL);
  const waitlisted = waits && !done.has(registry.section(wanted).course_id) ? [wanted] : [];
  return {
    earlier: {
      credits: before === 0 ? 0 : before * 30 - 2 + random.int(5),
      gpa: before === 0 ? 0 : Math.round((2.4 + random.next() * 1.5) * 100) / 100,
      courses: earlier.join(" "),
    },
    fall: fall.map(({ id, grade }) => `${id} ${grade}`),
    spring,
    waitlisted,
  };
}

/** A term of at least twelve credits: some of the programme's core if the prerequisites are met, then electives. */
function drawTerm(
  term: string,
  coreCount: number,
  core: string[],
  done: Set<string>,
  registry: Registry,
  random: Random,
) {
  const chosen: string[] = [];
  const from = random.int(ELECTIVES.length);
  const electives = [...ELECTIVES.slice(from), ...ELECTIVES.slice(0, from)];
  let credits = 0;
  for (const [index, id] of [...core, ...electives].entries()) {
    if (credits >= 12) break;
    if (index < core.length && chosen.length >= coreCount) continue;
    const course = registry.course(id);
    if (done.has(id) || !course.prerequisites.every((needed) => done.has(needed))) continue;
    if (chosen.some((section) => registry.section(section).course_id === id)) continue;
    const section = registry.seat(id, term, chosen);
    if (!section) continue;
    chosen.push(section);
    credits += course.credits;
  }
  return chosen;
}

function makeTranscriptRequests(students: Student[], random: Random): Row[] {
  return students
    .filter((_, index) => index % 5 === 2)
    .map((student, index) => {
      const official = random.chance(0.7);
      return {
        transcriptrequest_id: `TR-${501 + index}`,
        student_id: student.student_id,
        kind: official ? "official" : "unofficial",
        copies: 1,
        method: official ? "pickup" : "electronic",
        recipient: student.name,
        destination: official ? "Registrar's window" : "university email",
        hold_for_grades: false,
        fee: official ? 12 : 0,
        status: "sent",
        requested_on: `2025-${random.pick(["09", "10", "11", "12"])}-${10 + random.int(19)}`,
      };
    });
}

/** Not in any query of any domain. */
function isBystander(student: Student): boolean {
  return Number(student.student_id.slice(1)) > 1140;
}

function makeGraduationApplications(students: Student[], random: Random): Row[] {
  return students
    .filter((student) => student.year === 4 && isBystander(student))
    .map((student, index) => ({
      graduationapplication_id: `GA-${701 + index}`,
      student_id: student.student_id,
      program: student.program,
      term: "2026SP",
      diploma_name: student.name,
      attend_ceremony: random.chance(0.7),
      fee: 45,
      status: "submitted",
      applied_on: `2026-01-${10 + random.int(19)}`,
    }));
}
