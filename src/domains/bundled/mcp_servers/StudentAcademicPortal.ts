// The academic portal: catalogue, registration, degree progress, transcripts, graduation.
import type { DomainServer, Json, ToolContext } from "agent-rollout";

type Answer = { [key: string]: Json };
type Student = {
  student_id: string;
  name: string;
  email: string;
  phone: string;
  address: string;
  date_of_birth: string;
  program: string;
  year: number;
  residency: string;
  status: string;
  advisor: string;
  emergency_contact: { name: string; phone: string; relation: string };
};
type Program = { program_id: string; name: string; required_credits: number; core_courses: string[] };
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
/** What a student earned in the terms before those of the Enrollment table. */
type AcademicRecord = {
  academicrecord_id: string;
  student_id: string;
  catalog_year: number;
  earlier_credits: number;
  earlier_gpa: number;
  earlier_courses: string[];
};
type Hold = { hold_id: string; student_id: string; type: string; status: string; reason: string; placed_by: string };

const RUNNING = "2026SP";
const NEXT = "2026FA";
const TERM_NAMES: { [term: string]: string } = { "2025FA": "Fall 2025", [RUNNING]: "Spring 2026", [NEXT]: "Fall 2026" };
const GRADUATION_DEADLINES: { [term: string]: string } = { [RUNNING]: "2026-02-15", [NEXT]: "2026-09-15" };
const GRADE_POINTS: { [grade: string]: number } = {
  A: 4,
  "A-": 3.7,
  "B+": 3.3,
  B: 3,
  "B-": 2.7,
  "C+": 2.3,
  C: 2,
  D: 1,
  F: 0,
};
const MAX_CREDITS = 18;
const FULL_TIME_CREDITS = 12;
const MAX_WAITLISTS = 2;
const MAX_SIGN_IN_ATTEMPTS = 3;
const TRANSCRIPT_FEE = 12;
const MAILING_FEE = 5;
const GRADUATION_FEE = 45;

// Signing in

function authorizeStudent(context: ToolContext, args: { student_id: string; date_of_birth: string }): Answer {
  const { session } = context;
  if (session.student_id && session.student_id !== args.student_id) {
    return {
      error: `This conversation belongs to ${session.student_id}. Another student needs a conversation of their own.`,
    };
  }
  const failed = Number(session.failed_attempts ?? 0);
  if (failed >= MAX_SIGN_IN_ATTEMPTS) {
    return { error: "Sign-in is locked after three failed attempts. Transfer the caller to the registrar." };
  }
  const student = context.table<Student>("Student").get(args.student_id);
  if (student?.date_of_birth !== args.date_of_birth) {
    session.failed_attempts = failed + 1;
    const left = MAX_SIGN_IN_ATTEMPTS - failed - 1;
    return { error: `Student ID and date of birth do not match our records. Attempts left: ${left}.` };
  }
  session.student_id = student.student_id;
  return { success: true, student_id: student.student_id, name: student.name };
}

/** A tool for the student who signed in; nobody else's records can be reached through it. */
function signedIn<A>(handler: (context: ToolContext, student: Student, args: A) => Answer) {
  return (context: ToolContext, args: A): Answer => {
    const student = context.table<Student>("Student").get(String(context.session.student_id ?? ""));
    return student ? handler(context, student, args) : { error: "Not authorized. Call authorize_student first." };
  };
}

// Catalogue

type Search = {
  term: string;
  department?: string;
  keyword?: string;
  days?: string[];
  open_only?: boolean;
  limit?: number;
};

function searchCourses(context: ToolContext, args: Search): Answer {
  const keyword = args.keyword?.toLowerCase();
  const found = context.table<Section>("Section").where((section) => {
    if (section.term !== args.term) return false;
    const course = courseOf(context, section);
    if (args.department && course.department !== args.department) return false;
    if (keyword && !`${course.course_id} ${course.title}`.toLowerCase().includes(keyword)) return false;
    if (args.days && !section.days.every((day) => args.days?.includes(day))) return false;
    return !args.open_only || openSeats(context, section) > 0;
  });
  const sections = found.slice(0, args.limit ?? 10).map((section) => {
    const { course_id, title, credits } = courseOf(context, section);
    return {
      section_id: section.section_id,
      course_id,
      title,
      credits,
      schedule: scheduleOf(section),
      instructor: section.instructor,
      open_seats: openSeats(context, section),
    };
  });
  return { total: found.length, sections };
}

function getSectionDetails(context: ToolContext, args: { section_id: string }): Answer {
  const section = context.table<Section>("Section").get(args.section_id);
  if (!section) return noSection(args.section_id);
  const course = courseOf(context, section);
  return {
    ...section,
    title: course.title,
    department: course.department,
    credits: course.credits,
    prerequisites: course.prerequisites,
    schedule: scheduleOf(section),
    open_seats: openSeats(context, section),
    waitlist_length: seatsIn(context, section, "waitlisted"),
  };
}

function courseOf(context: ToolContext, section: Section): Course {
  return context.table<Course>("Course").get(section.course_id) as Course;
}

function seatsIn(context: ToolContext, section: Section, status: string): number {
  return context.table<Enrollment>("Enrollment").where({ section_id: section.section_id, status }).length;
}

function openSeats(context: ToolContext, section: Section): number {
  return Math.max(0, section.capacity - seatsIn(context, section, "enrolled"));
}

function scheduleOf(section: Section): string {
  const half = section.session === "full" ? "" : ` (${section.session.replace("_", " ")} of the term)`;
  return `${section.days.join("/")} ${section.start_time}-${section.end_time}${half}`;
}

function noSection(id: string): Answer {
  return { error: `There is no section ${id}. Section ids look like CS-101-26SP-1; find them with search_courses.` };
}

// The student's own records

function getStudentProfile(_context: ToolContext, student: Student): Answer {
  const { student_id, name, email, phone, address, program, year, residency, status, advisor, emergency_contact } =
    student;
  return { student_id, name, email, phone, address, program, year, residency, status, advisor, emergency_contact };
}

function listEnrollments(context: ToolContext, student: Student, args: { term?: string; status?: string }): Answer {
  const rows = enrollmentsOf(context, student).filter(
    (row) => (!args.term || row.term === args.term) && (!args.status || row.status === args.status),
  );
  const creditsByTerm: { [term: string]: number } = {};
  const enrollments = rows.map((row) => {
    const section = context.table<Section>("Section").get(row.section_id) as Section;
    if (row.status === "enrolled") creditsByTerm[row.term] = (creditsByTerm[row.term] ?? 0) + row.credits;
    return {
      ...row,
      course_id: section.course_id,
      title: courseOf(context, section).title,
      schedule: scheduleOf(section),
      drop_by: section.drop_by,
    };
  });
  return { enrollments, credits_by_term: creditsByTerm };
}

function listHolds(context: ToolContext, student: Student, args: { include_released?: boolean }): Answer {
  const holds = context.table<Hold>("Hold").where({ student_id: student.student_id });
  return { holds: holds.filter((hold) => args.include_released || hold.status === "active") };
}

function checkDegreeProgress(context: ToolContext, student: Student): Answer {
  const progress = progressOf(context, student);
  const ofCourse = (id: string) => {
    const { title, credits, prerequisites } = context.table<Course>("Course").get(id) as Course;
    return { course_id: id, title, credits, prerequisites };
  };
  const { required, earned, inProgress, nextTerm } = progress;
  return {
    program: student.program,
    gpa: progress.gpa,
    required_credits: required,
    earned_credits: earned,
    in_progress_credits: inProgress,
    next_term_credits: nextTerm,
    remaining_credits: Math.max(0, required - earned - inProgress - nextTerm),
    core: {
      completed: progress.core.filter((id) => progress.completed.has(id)),
      underway: progress.core.filter((id) => progress.underway.has(id) && !progress.completed.has(id)),
      missing: progress.core.filter((id) => !progress.completed.has(id) && !progress.underway.has(id)).map(ofCourse),
    },
  };
}

function enrollmentsOf(context: ToolContext, student: Student): Enrollment[] {
  return context.table<Enrollment>("Enrollment").where({ student_id: student.student_id });
}

function enrolledIn(context: ToolContext, student: Student, term: string): Section[] {
  return enrollmentsOf(context, student)
    .filter((row) => row.term === term && row.status === "enrolled")
    .map((row) => context.table<Section>("Section").get(row.section_id) as Section);
}

function creditsIn(context: ToolContext, student: Student, term: string): number {
  return enrolledIn(context, student, term).reduce((sum, section) => sum + courseOf(context, section).credits, 0);
}

/** Credits, average and courses. A course counts as completed from grade C on; credit is earned for anything but an F. */
function progressOf(context: ToolContext, student: Student) {
  const program = context.table<Program>("Program").first({ name: student.program }) as Program;
  const record = context.table<AcademicRecord>("AcademicRecord").first({ student_id: student.student_id });
  const completed = new Set(record?.earlier_courses);
  const credited = new Set(record?.earlier_courses);
  const underway = new Set<string>();
  const credits = { earned: record?.earlier_credits ?? 0, [RUNNING]: 0, [NEXT]: 0 };
  let graded = credits.earned;
  let points = credits.earned * (record?.earlier_gpa ?? 0);
  const rows = enrollmentsOf(context, student).filter((row) => row.status === "enrolled");
  for (const row of rows.filter((row) => row.grade !== null)) {
    const course = context.table<Section>("Section").get(row.section_id)?.course_id as string;
    const gradePoints = GRADE_POINTS[row.grade as string] ?? 0;
    graded += row.credits;
    points += row.credits * gradePoints;
    if (gradePoints >= 2) completed.add(course);
    if (gradePoints > 0 && !credited.has(course)) credits.earned += row.credits;
    if (gradePoints > 0) credited.add(course);
  }
  for (const row of rows.filter((row) => row.grade === null)) {
    const course = context.table<Section>("Section").get(row.section_id)?.course_id as string;
    underway.add(course);
    if (!credited.has(course)) credits[row.term as typeof RUNNING | typeof NEXT] += row.credits;
  }
  return {
    core: program.core_courses,
    required: program.required_credits,
    earned: credits.earned,
    inProgress: credits[RUNNING],
    nextTerm: credits[NEXT],
    gpa: graded === 0 ? 0 : Math.round((points / graded) * 100) / 100,
    completed,
    underway,
  };
}

// Registration

function registerForCourse(
  context: ToolContext,
  student: Student,
  args: { section_id: string; confirm?: boolean },
): Answer {
  const section = context.table<Section>("Section").get(args.section_id);
  if (!section) return noSection(args.section_id);
  const course = courseOf(context, section);
  const credits = creditsIn(context, student, section.term) + course.credits;
  const problem =
    whyNotTake(context, student, section) ??
    whyNoTime(context, student, section) ??
    (credits > MAX_CREDITS
      ? `${course.course_id} would bring ${TERM_NAMES[section.term]} to ${credits} credits; the limit is ${MAX_CREDITS}.`
      : undefined) ??
    (openSeats(context, section) === 0
      ? `${section.section_id} is full. Look for another section or offer join_waitlist.`
      : undefined);
  if (problem) return { error: problem };
  if (!args.confirm) {
    return preview(
      `Register for ${course.course_id} ${course.title}, section ${section.section_id}, ${scheduleOf(section)}, ` +
        `${course.credits} credits. ${TERM_NAMES[section.term]} total afterwards: ${credits} credits.`,
      { term_credits: credits },
    );
  }
  const row = addEnrollment(context, student, section, "enrolled");
  return { success: true, enrollment_id: row.enrollment_id, section_id: section.section_id, term_credits: credits };
}

function joinWaitlist(context: ToolContext, student: Student, args: { section_id: string; confirm?: boolean }): Answer {
  const section = context.table<Section>("Section").get(args.section_id);
  if (!section) return noSection(args.section_id);
  const waiting = enrollmentsOf(context, student).filter(
    (row) => row.status === "waitlisted" && row.term === section.term,
  );
  const position = seatsIn(context, section, "waitlisted") + 1;
  const problem =
    whyNotTake(context, student, section) ??
    (openSeats(context, section) > 0 ? `${section.section_id} has open seats. Use register_for_course.` : undefined) ??
    (waiting.length >= MAX_WAITLISTS
      ? `The student is on ${waiting.length} waitlists for ${TERM_NAMES[section.term]} (${waiting.map((row) => row.section_id).join(", ")}); the limit is ${MAX_WAITLISTS}.`
      : undefined) ??
    (position > section.waitlist_capacity ? `The waitlist of ${section.section_id} is full.` : undefined);
  if (problem) return { error: problem };
  if (!args.confirm) {
    const { course_id, title } = courseOf(context, section);
    return preview(
      `Join the waitlist for ${course_id} ${title}, section ${section.section_id}, ${scheduleOf(section)}, at position ${position}.`,
      { position },
    );
  }
  const row = addEnrollment(context, student, section, "waitlisted");
  return { success: true, enrollment_id: row.enrollment_id, section_id: section.section_id, position };
}

function dropCourse(
  context: ToolContext,
  student: Student,
  args: { enrollment_id: string; confirm?: boolean },
): Answer {
  const row = context.table<Enrollment>("Enrollment").get(args.enrollment_id);
  if (!row || row.student_id !== student.student_id) {
    return { error: `${args.enrollment_id} is not one of the student's enrollments. See list_enrollments.` };
  }
  const section = context.table<Section>("Section").get(row.section_id) as Section;
  const course = courseOf(context, section);
  if (row.status === "dropped" || row.grade !== null) {
    return { error: `${course.course_id} in ${TERM_NAMES[row.term]} is already ${row.grade ? "graded" : "dropped"}.` };
  }
  const enrolled = row.status === "enrolled";
  const credits = creditsIn(context, student, row.term) - (enrolled ? row.credits : 0);
  const problem = enrolled ? whyNotDrop(context, student, section, credits) : undefined;
  if (problem) return { error: problem };
  if (!args.confirm) {
    const warning =
      enrolled && row.term === RUNNING && credits < FULL_TIME_CREDITS
        ? ` Warning: below ${FULL_TIME_CREDITS} credits the student is no longer full-time, which may affect aid and housing.`
        : "";
    const what = enrolled ? "Drop" : "Leave the waitlist for";
    return preview(
      `${what} ${course.course_id} ${course.title} (${row.section_id}). ${TERM_NAMES[row.term]} total afterwards: ${credits} credits.${warning}`,
      { term_credits: credits },
    );
  }
  context.table<Enrollment>("Enrollment").update(row.enrollment_id, { status: "dropped" });
  return { success: true, enrollment_id: row.enrollment_id, section_id: row.section_id, term_credits: credits };
}

function whyNotTake(context: ToolContext, student: Student, section: Section): string | undefined {
  const course = courseOf(context, section);
  if (context.today > section.add_by) return `${section.section_id} could be added until ${section.add_by}.`;
  const hold = context.table<Hold>("Hold").first({ student_id: student.student_id, status: "active" });
  if (hold)
    return `Registration is blocked by an active ${hold.type} hold (${hold.hold_id}: ${hold.reason}; ${hold.placed_by}).`;
  const same = enrollmentsOf(context, student).find(
    (row) =>
      row.term === section.term &&
      row.status !== "dropped" &&
      context.table<Section>("Section").get(row.section_id)?.course_id === course.course_id,
  );
  if (same)
    return `The student is already ${same.status} in ${same.section_id} (${same.enrollment_id}). Drop that one first.`;
  const { completed, underway } = progressOf(context, student);
  if (completed.has(course.course_id)) return `${course.course_id} is already completed with a C or better.`;
  const missing = course.prerequisites.filter(
    (id) => !completed.has(id) && !(section.term === NEXT && underway.has(id)),
  );
  if (missing.length === 0) return undefined;
  const named = (id: string) => `${id} ${context.table<Course>("Course").get(id)?.title}`;
  const needed = course.prerequisites.map(named).join(" and ");
  return `${course.course_id} needs a C or better in ${needed}; missing: ${missing.map(named).join(", ")}.`;
}

function whyNoTime(context: ToolContext, student: Student, section: Section): string | undefined {
  const other = enrolledIn(context, student, section.term).find((held) => overlap(held, section));
  if (!other) return undefined;
  const { title } = courseOf(context, other);
  return `${section.section_id} (${scheduleOf(section)}) conflicts with ${title}, ${other.section_id} (${scheduleOf(other)}).`;
}

function overlap(a: Section, b: Section): boolean {
  if (a.session !== "full" && b.session !== "full" && a.session !== b.session) return false;
  return a.days.some((day) => b.days.includes(day)) && a.start_time < b.end_time && b.start_time < a.end_time;
}

function whyNotDrop(
  context: ToolContext,
  student: Student,
  section: Section,
  creditsAfter: number,
): string | undefined {
  if (context.today > section.drop_by) {
    return `The drop deadline for ${section.section_id} was ${section.drop_by}. A late withdrawal goes through the registrar.`;
  }
  if (section.term !== RUNNING) return undefined;
  if (creditsAfter === 0)
    return "Dropping the last course is a withdrawal from the term, which goes through the registrar.";
  if (student.residency === "international" && creditsAfter < FULL_TIME_CREDITS) {
    return (
      `International students must keep ${FULL_TIME_CREDITS} credits in the running term; ${creditsAfter} would remain. ` +
      "Exceptions are up to the international office."
    );
  }
  return undefined;
}

function addEnrollment(context: ToolContext, student: Student, section: Section, status: string): Enrollment {
  return context.table<Enrollment>("Enrollment").insert({
    enrollment_id: context.newId("ENR"),
    student_id: student.student_id,
    section_id: section.section_id,
    term: section.term,
    status,
    grade: null,
    credits: courseOf(context, section).credits,
  });
}

function preview(text: string, details: Answer): Answer {
  return { needs_confirmation: true, action_preview: text, ...details };
}

// Requests

type TranscriptArguments = {
  kind: "official" | "unofficial";
  delivery: { method: "electronic" | "mail" | "pickup"; recipient?: string; email?: string; address?: string };
  copies?: number;
  hold_for_grades?: boolean;
  confirm?: boolean;
};

function requestTranscript(context: ToolContext, student: Student, args: TranscriptArguments): Answer {
  const { kind, delivery, copies = 1, hold_for_grades = false } = args;
  const destination = destinationOf(student, args);
  if (!destination) {
    return { error: `Delivery by ${delivery.method} needs an ${delivery.method === "mail" ? "address" : "email"}.` };
  }
  const problem = whyNoTranscript(context, student, args);
  if (problem) return { error: problem };
  const fee = kind === "official" ? TRANSCRIPT_FEE * copies + (delivery.method === "mail" ? MAILING_FEE : 0) : 0;
  const recipient = (kind === "official" && delivery.recipient) || student.name;
  if (!args.confirm) {
    const wait = hold_for_grades ? " Sent once the grades of the running term are in." : "";
    const what = `${copies} ${kind} transcript${copies > 1 ? "s" : ""} for ${recipient}`;
    return preview(`Order ${what}, ${delivery.method} delivery: ${destination}. Fee: $${fee}.${wait}`, {
      fee,
      destination,
    });
  }
  const id = context.newId("TR");
  context.table("TranscriptRequest").insert({
    transcriptrequest_id: id,
    student_id: student.student_id,
    kind,
    copies,
    method: delivery.method,
    recipient,
    destination,
    hold_for_grades,
    fee,
    status: "submitted",
    requested_on: context.today,
  });
  return { success: true, transcriptrequest_id: id, fee, destination };
}

function destinationOf(student: Student, { kind, delivery }: TranscriptArguments): string | undefined {
  if (kind === "unofficial") return student.email;
  if (delivery.method === "pickup") return "Registrar's window";
  return delivery.method === "electronic" ? delivery.email : delivery.address;
}

function whyNoTranscript(context: ToolContext, student: Student, args: TranscriptArguments): string | undefined {
  const { kind, delivery, copies = 1 } = args;
  if (
    kind === "unofficial" &&
    (delivery.method !== "electronic" || (delivery.email ?? student.email) !== student.email)
  ) {
    return `Unofficial transcripts go by electronic delivery to the student's own address, ${student.email}, only.`;
  }
  if (delivery.method === "electronic" && copies > 1) return "Electronic delivery is one copy per request.";
  const hold = context
    .table<Hold>("Hold")
    .first({ student_id: student.student_id, type: "financial", status: "active" });
  return kind === "official" && hold
    ? `Official transcripts are withheld while financial hold ${hold.hold_id} is active (${hold.reason}). Unofficial ones are available.`
    : undefined;
}

type ContactArguments = {
  phone?: string;
  address?: string;
  emergency_contact?: Student["emergency_contact"];
  confirm?: boolean;
};

function updateContactInfo(context: ToolContext, student: Student, { confirm, ...changes }: ContactArguments): Answer {
  const fields = Object.keys(changes) as (keyof typeof changes)[];
  if (fields.length === 0) return { error: "Nothing to change. Give a phone, an address or an emergency_contact." };
  if (!confirm) {
    const lines = fields.map(
      (field) => `${field.replace("_", " ")}: ${spell(student[field])} -> ${spell(changes[field])}`,
    );
    return preview(`Change ${lines.join("; ")}.`, { fields });
  }
  context.table<Student>("Student").update(student.student_id, changes);
  return { success: true, updated: fields };
}

function spell(value: string | Student["emergency_contact"] | undefined): string {
  return typeof value === "object" ? `${value.name} (${value.relation}, ${value.phone})` : (value ?? "none");
}

type GraduationArguments = { term: string; attend_ceremony: boolean; diploma_name?: string; confirm?: boolean };

function applyForGraduation(context: ToolContext, student: Student, args: GraduationArguments): Answer {
  const problem = whyNotGraduate(context, student, args.term);
  if (problem) return { error: problem };
  const diplomaName = args.diploma_name ?? student.name;
  if (!args.confirm) {
    return preview(
      `Apply to graduate in ${student.program}, ${TERM_NAMES[args.term]}, diploma name "${diplomaName}", ` +
        `${args.attend_ceremony ? "attending" : "not attending"} the ceremony. Fee: $${GRADUATION_FEE}.`,
      { fee: GRADUATION_FEE },
    );
  }
  const id = context.newId("GA");
  context.table("GraduationApplication").insert({
    graduationapplication_id: id,
    student_id: student.student_id,
    program: student.program,
    term: args.term,
    diploma_name: diplomaName,
    attend_ceremony: args.attend_ceremony,
    fee: GRADUATION_FEE,
    status: "submitted",
    applied_on: context.today,
  });
  return { success: true, graduationapplication_id: id, fee: GRADUATION_FEE };
}

function whyNotGraduate(context: ToolContext, student: Student, term: string): string | undefined {
  const earlier = context.table("GraduationApplication").first({ student_id: student.student_id });
  if (earlier) return `There is already an application, ${earlier.graduationapplication_id} for ${earlier.term}.`;
  const deadline = GRADUATION_DEADLINES[term] as string;
  if (context.today > deadline) return `Applications for ${TERM_NAMES[term]} closed on ${deadline}.`;
  const { core, required, earned, inProgress, nextTerm, completed } = progressOf(context, student);
  const terms = term === NEXT ? [RUNNING, NEXT] : [RUNNING];
  const taking = new Set(
    terms.flatMap((each) => enrolledIn(context, student, each).map((section) => section.course_id)),
  );
  const missing = core.filter((id) => !completed.has(id) && !taking.has(id));
  const credits = earned + inProgress + (term === NEXT ? nextTerm : 0);
  const shortfalls = [
    missing.length > 0 ? `core courses still missing: ${missing.join(", ")}` : "",
    credits < required ? `${credits} of ${required} credits with the courses underway` : "",
  ].filter(Boolean);
  return shortfalls.length > 0 ? `Not eligible for ${TERM_NAMES[term]}: ${shortfalls.join("; ")}.` : undefined;
}

function transferToOffice(context: ToolContext, args: { office: string; summary: string }): Answer {
  const id = context.newId("HND");
  context.table("Handoff").insert({
    handoff_id: id,
    student_id: context.session.student_id ?? null,
    office: args.office,
    summary: args.summary,
    created_at: context.now(),
  });
  return { success: true, handoff_id: id, office: args.office };
}

const server: DomainServer = {
  today: "2026-02-10",
  reads: {
    search_courses: searchCourses,
    get_section_details: getSectionDetails,
    get_student_profile: signedIn(getStudentProfile),
    list_enrollments: signedIn(listEnrollments),
    list_holds: signedIn(listHolds),
    check_degree_progress: signedIn(checkDegreeProgress),
  },
  writes: {
    authorize_student: authorizeStudent,
    register_for_course: signedIn(registerForCourse),
    join_waitlist: signedIn(joinWaitlist),
    drop_course: signedIn(dropCourse),
    request_transcript: signedIn(requestTranscript),
    update_contact_info: signedIn(updateContactInfo),
    apply_for_graduation: signedIn(applyForGraduation),
    transfer_to_office: transferToOffice,
  },
  rules: [
    {
      id: "authorize-first",
      rule: "authorize_first",
      tool: "authorize_student",
      except: ["search_courses", "get_section_details", "transfer_to_office"],
    },
    {
      id: "confirm-writes",
      rule: "confirm_before",
      tools: [
        "register_for_course",
        "join_waitlist",
        "drop_course",
        "request_transcript",
        "update_contact_info",
        "apply_for_graduation",
      ],
    },
    { id: "one-student", rule: "one_person", tool: "authorize_student", by: "student_id" },
    {
      id: "listed-transfers",
      rule: "transfer",
      tools: ["transfer_to_office"],
      ask: true,
      locked_by: "authorize_student",
    },
  ],
  volatile: { Handoff: ["summary", "created_at"], TranscriptRequest: ["recipient"] },
};

export default server;
