// The clinic's tables. Seeded background for every student; the records that the health queries rely on are placed by
// hand below and belong to S1071-S1105. Of S1106-S1140 every third student lacks part of the required vaccines and has
// an upload that could prove them, for the combinations.
import { createRandom } from "../../src/core/index.ts";
import type { Row } from "../../src/tools/index.ts";
import { makeTables as makeStudents } from "./student.ts";

type Person = { student_id: string; date_of_birth: string };

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIRST_DAY = 11; // of February 2026, a Wednesday
const LAST_DAY = 27;

const PROVIDERS: [string, string, string[], string[], boolean, boolean, string][] = [
  ["Dr. Amelia Thornton", "primary_care", ["English", "Spanish"], ["mon", "tue", "thu"], true, true, "Room 110"],
  ["Dr. Rajesh Menon", "primary_care", ["English", "Hindi"], ["tue", "wed", "fri"], true, false, "Room 112"],
  ["Dr. Sofia Lindholm", "primary_care", ["English", "Swedish"], ["mon", "wed", "thu"], false, true, "Room 114"],
  ["Dr. Kwabena Asante", "primary_care", ["English", "French"], ["wed", "fri"], true, true, "Room 116"],
  [
    "Nurse Paula Reyes",
    "immunization",
    ["English", "Spanish"],
    ["mon", "tue", "wed", "thu", "fri"],
    true,
    false,
    "Room 102",
  ],
  ["Nurse Tom Hallam", "immunization", ["English"], ["tue", "thu"], true, false, "Room 103"],
  [
    "Dr. Ines Caldeira",
    "mental_health",
    ["English", "Portuguese", "Spanish"],
    ["mon", "wed", "fri"],
    true,
    true,
    "Room 301",
  ],
  ["Daniel Osei, LCSW", "mental_health", ["English", "French"], ["tue", "thu"], true, true, "Room 303"],
  ["Dr. Wen Li Zhao", "mental_health", ["English", "Mandarin"], ["wed", "thu"], false, true, "Room 305"],
  ["Marta Kovac, PT", "physiotherapy", ["English", "Croatian"], ["mon", "wed", "thu"], true, false, "Room 020"],
  ["Julian Pryce, PT", "physiotherapy", ["English"], ["tue", "fri"], true, false, "Room 021"],
  ["Dr. Helen Abara", "sexual_health", ["English", "French"], ["tue", "thu"], true, true, "Room 210"],
  ["Dr. Noor Siddiqui", "sexual_health", ["English", "Urdu", "Arabic"], ["mon", "fri"], true, false, "Room 212"],
  ["Clara Bergstrom, RD", "nutrition", ["English", "German"], ["wed", "thu"], true, true, "Room 220"],
  ["Dr. Victor Almeida", "dental", ["English", "Portuguese"], ["mon", "tue"], true, false, "Room 401"],
  ["Dr. Yuki Harada", "dental", ["English", "Japanese"], ["thu", "fri"], true, false, "Room 402"],
  ["Dr. Elias Farouk", "travel_medicine", ["English", "Arabic", "French"], ["wed", "fri"], true, false, "Room 104"],
];

/** Slot lengths by specialty; if there are two, they alternate. */
const MINUTES: { [specialty: string]: number[] } = {
  primary_care: [20, 40],
  immunization: [20],
  mental_health: [50],
  physiotherapy: [40],
  sexual_health: [20],
  nutrition: [40],
  dental: [40],
  travel_medicine: [40],
};

const FEES: [string, string, number, number][] = [
  ["visits", "Primary care visit, 20 minutes", 0, 45],
  ["visits", "Physical exam with form, 40 minutes", 0, 60],
  ["visits", "Counseling session", 0, 0],
  ["visits", "Physiotherapy session", 15, 50],
  ["visits", "Nutrition consultation", 0, 35],
  ["visits", "Travel medicine consultation", 20, 60],
  ["vaccines", "MMR, per dose", 0, 95],
  ["vaccines", "MenACWY, per dose", 0, 140],
  ["vaccines", "Influenza", 0, 0],
  ["vaccines", "Typhoid, injection", 55, 85],
  ["vaccines", "Yellow fever", 120, 190],
  ["labs", "Rapid strep test", 0, 20],
  ["labs", "Basic blood panel", 10, 65],
  ["labs", "STI panel", 10, 60],
  ["dental", "Check-up and cleaning", 40, 95],
  ["dental", "Dental X-ray", 25, 60],
  ["penalties", "Cancellation less than 24 hours ahead", 25, 25],
  ["penalties", "Missed appointment", 40, 40],
  ["administrative", "Copy of the medical record", 5, 5],
];

const MEDICATIONS: [string, string, number, boolean][] = [
  ["Albuterol inhaler", "90 mcg", 30, false],
  ["Cetirizine", "10 mg", 30, false],
  ["Levothyroxine", "50 mcg", 90, false],
  ["Sertraline", "50 mg", 30, false],
  ["Norethindrone", "0.35 mg", 84, false],
  ["Omeprazole", "20 mg", 30, false],
  ["Fluticasone nasal spray", "50 mcg", 30, false],
  ["Methylphenidate ER", "18 mg", 30, true],
];

const ALLERGIES = ["penicillin", "latex", "peanuts", "ibuprofen", "bee stings"];
const COMMON_REASONS = ["sore throat", "back pain", "annual check-up", "headaches", "stomach trouble", "skin check"];

export function makeTables(): { [table: string]: Row[] } {
  const students = makeStudents().Student as (Person & Row)[];
  const slots = makeSlots();
  const prescriptions = makePrescriptions(students);
  return {
    Provider: makeProviders(),
    Slot: [...slots, ...PLACED_SLOTS],
    Appointment: [...makeAppointments(students, slots), ...PLACED_APPOINTMENTS],
    Immunization: makeImmunizations(students),
    Prescription: [...prescriptions, ...PLACED_PRESCRIPTIONS],
    Refill: makeRefills(prescriptions),
    InsuranceWaiver: makeWaivers(students),
    Referral: makeReferrals(),
    Upload: makeUploads(students),
    ClinicFee: FEES.map(([category, service, student_plan, own_plan], index) => ({
      clinicfee_id: `FEE-${two(index + 1)}`,
      category,
      service,
      student_plan,
      own_plan,
    })),
    HealthRecord: makeHealthRecords(students),
    Hold: PLACED_HOLDS,
    Charge: PLACED_CHARGES,
  };
}

function makeProviders(): Row[] {
  return PROVIDERS.map(([name, specialty, languages, days, accepting_new, telehealth, room], index) => ({
    provider_id: providerId(index),
    name,
    specialty,
    languages,
    days,
    accepting_new,
    telehealth,
    room,
  }));
}

/** Three or four times for each day that a provider works, some of them taken. */
function makeSlots(): Row[] {
  const random = createRandom("bundled clinic slots");
  const slots: Row[] = [];
  for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
    for (const [index, [, specialty, , days]] of PROVIDERS.entries()) {
      if (!days.includes(DAYS[(day - 1) % 7] as string)) continue; // 1 February 2026 is a Sunday
      const times = [random.pick(["09:00", "09:40"]), random.pick(["10:40", "11:20"]), random.pick(["13:20", "14:00"])];
      if (random.chance(0.6)) times.push(random.pick(["15:20", "16:00"]));
      for (const [place, time] of times.entries()) {
        const lengths = MINUTES[specialty] as number[];
        slots.push({
          slot_id: `SLT-${1001 + slots.length}`,
          provider_id: providerId(index),
          date: `2026-02-${two(day)}`,
          time,
          minutes: lengths[(place + day) % lengths.length] as number,
          status: random.chance(0.6) ? "open" : "booked",
        });
      }
    }
  }
  return slots;
}

/** One or two past visits for most students, and an owner for every slot that is taken. */
function makeAppointments(students: Person[], slots: Row[]): Row[] {
  const random = createRandom("bundled appointments");
  const appointments: Row[] = [];
  const add = (row: Row) => appointments.push({ appointment_id: `APT-${1001 + appointments.length}`, ...row });
  for (const { student_id } of students) {
    if (isOurs(student_id)) continue;
    for (let visits = random.int(3); visits > 0; visits--) {
      const [place, month] = [random.int(4), random.pick(["2025-10", "2025-11", "2026-01"])];
      add({
        student_id,
        provider_id: providerId(place),
        slot_id: null,
        date: `${month}-${two(13 + random.int(15))}`,
        time: random.pick(["09:00", "11:20", "14:00"]),
        visit_type: "new_concern",
        modality: "in_person",
        reason: random.pick(COMMON_REASONS),
        status: random.chance(0.9) ? "completed" : "no_show",
        reschedules: 0,
        booked_at: `${month}-10T10:00:00Z`,
      });
    }
  }
  const others = students.filter(({ student_id }) => !isOurs(student_id) && !isCombined(student_id));
  const taken = slots.filter((slot) => slot.status === "booked");
  for (const [index, slot] of taken.entries()) {
    const specialty = specialtyOf(slot.provider_id as string);
    add({
      student_id: (others[(index * 37) % others.length] as Person).student_id,
      provider_id: slot.provider_id as string,
      slot_id: slot.slot_id as string,
      date: slot.date as string,
      time: slot.time as string,
      visit_type:
        specialty === "immunization" ? "vaccination" : specialty === "mental_health" ? "counseling" : "new_concern",
      modality: "in_person",
      reason: specialty === "primary_care" ? random.pick(COMMON_REASONS) : "as arranged",
      status: "booked",
      reschedules: 0,
      booked_at: `2026-02-0${2 + random.int(5)}T${two(9 + random.int(7))}:15:00Z`,
    });
  }
  return appointments;
}

function makeImmunizations(students: Person[]): Row[] {
  const random = createRandom("bundled immunizations");
  const rows: Row[] = [];
  const add = (student_id: string, vaccine: string, date: string) =>
    rows.push({
      immunization_id: `IMM-${1001 + rows.length}`,
      student_id,
      vaccine,
      date,
      status: "verified",
      recorded_on: "2025-08-20",
    });
  for (const { student_id, date_of_birth } of students) {
    const born = Number(date_of_birth.slice(0, 4));
    const complete: [string, string][] = [
      ["MMR", `${born + 2}-${two(1 + random.int(12))}-${two(1 + random.int(28))}`],
      ["MMR", `${born + 5}-${two(1 + random.int(12))}-${two(1 + random.int(28))}`],
      ["MenACWY", `${born + 17}-${two(1 + random.int(8))}-${two(1 + random.int(28))}`],
    ];
    if (random.chance(0.4)) complete.push(["Influenza", `2025-10-${two(1 + random.int(28))}`]);
    const doses = PLACED_DOSES[student_id] ?? (isIncomplete(student_id) ? complete.slice(0, 1) : complete);
    for (const [vaccine, date] of doses) add(student_id, vaccine, date);
  }
  return rows;
}

function makePrescriptions(students: Person[]): Row[] {
  const random = createRandom("bundled prescriptions");
  const rows: Row[] = [];
  for (const { student_id } of students) {
    if (isOurs(student_id) || !random.chance(0.45)) continue;
    const [medication, strength, days_supply, controlled] = random.pick(MEDICATIONS);
    rows.push({
      prescription_id: `RX-${2001 + rows.length}`,
      student_id,
      provider_id: providerId(random.int(4)),
      medication,
      strength,
      days_supply,
      controlled,
      refills_left: random.int(5),
      last_filled_on: `2026-0${1 + random.int(2)}-0${1 + random.int(9)}`,
      expires_on: `2026-${two(3 + random.int(9))}-28`,
    });
  }
  return rows;
}

/** The last filling of every seeded prescription. */
function makeRefills(prescriptions: Row[]): Row[] {
  return prescriptions.map((prescription, index) => ({
    refill_id: `RFL-${6001 + index}`,
    prescription_id: prescription.prescription_id as string,
    student_id: prescription.student_id as string,
    pickup_location: "campus_pharmacy",
    requested_on: prescription.last_filled_on as string,
    ready_on: prescription.last_filled_on as string,
    status: "picked_up",
  }));
}

/** Waivers of last term, long decided. */
function makeWaivers(students: Person[]): Row[] {
  const random = createRandom("bundled waivers");
  return students
    .filter(({ student_id }) => !isOurs(student_id) && random.chance(0.2))
    .map(({ student_id }, index) => ({
      insurancewaiver_id: `IWV-${3001 + index}`,
      student_id,
      term: "2025FA",
      insurer: random.pick(["Harborline Mutual", "Crestview Health", "Northgate Assurance"]),
      policy_number: `P${100000 + random.int(900000)}`,
      covered_until: "2026-01-31",
      annual_deductible: 500 * (1 + random.int(4)),
      covers_mental_health: true,
      local_claims_office: true,
      status: "approved",
      submitted_on: `2025-09-0${1 + random.int(9)}`,
    }));
}

function makeReferrals(): Row[] {
  const random = createRandom("bundled referrals");
  return ["S1004", "S1019", "S1044", "S1062", "S1145", "S1151"].map((student_id, index) => ({
    referral_id: `REF-${4001 + index}`,
    student_id,
    appointment_id: null,
    provider_id: providerId(random.int(4)),
    specialty: random.pick(["orthopedics", "dermatology", "cardiology", "ent"]),
    urgency: "routine",
    reason: "see visit notes",
    status: random.pick(["approved", "pending_review"]),
    requested_on: `2026-01-${two(19 + random.int(10))}`,
  }));
}

function makeUploads(students: Person[]): Row[] {
  const rows: Row[] = students
    .filter(({ student_id }) => isIncomplete(student_id))
    .map(({ student_id }, index) => ({
      upload_id: `UPL-${5001 + index}`,
      student_id,
      kind: "vaccination_card",
      received_on: "2026-02-09",
      readable: true,
    }));
  return [...rows, ...PLACED_UPLOADS];
}

function makeHealthRecords(students: Person[]): Row[] {
  const random = createRandom("bundled health records");
  return students.map(({ student_id }) => ({
    healthrecord_id: `HR-${student_id.slice(1)}`,
    student_id,
    primary_provider_id: providerId(random.int(4)),
    insurance: "student_plan",
    allergies: random.chance(0.3) ? [random.pick(ALLERGIES)] : [],
    ...PLACED_RECORDS[student_id],
  }));
}

function isOurs(student_id: string): boolean {
  return student_id >= "S1071" && student_id <= "S1105";
}

function isCombined(student_id: string): boolean {
  return student_id >= "S1106" && student_id <= "S1140";
}

function isIncomplete(student_id: string): boolean {
  return isCombined(student_id) && Number(student_id.slice(1)) % 3 === 0;
}

function providerId(index: number): string {
  return `PRV-${two(index + 1)}`;
}

function specialtyOf(provider_id: string): string {
  return (PROVIDERS[Number(provider_id.slice(4)) - 1] as (typeof PROVIDERS)[number])[1];
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

// What the health queries rely on.

/** student, provider, date, visit type, reason; all at 08:00, a time that no seeded slot has */
const UPCOMING: [string, string, string, string, string][] = [
  ["S1073", "PRV-02", "2026-02-11", "new_concern", "cough that will not go away"],
  ["S1077", "PRV-10", "2026-02-16", "follow_up", "knee after ligament surgery"],
  ["S1089", "PRV-07", "2026-02-11", "counseling", "exam stress"],
  ["S1091", "PRV-14", "2026-02-18", "new_concern", "vegetarian diet and training"],
  ["S1091", "PRV-15", "2026-02-24", "new_concern", "chipped tooth"],
  ["S1093", "PRV-16", "2026-02-19", "new_concern", "check-up and cleaning"],
  ["S1097", "PRV-04", "2026-02-25", "follow_up", "blood pressure"],
];

/** student, provider, date, visit type, reason, status */
const PAST: [string, string, string, string, string, string][] = [
  ["S1076", "PRV-01", "2025-12-04", "follow_up", "attention medication", "completed"],
  ["S1077", "PRV-10", "2026-01-26", "new_concern", "knee after ligament surgery", "completed"],
  ["S1080", "PRV-15", "2026-01-13", "new_concern", "check-up and cleaning", "completed"],
  ["S1080", "PRV-04", "2026-01-21", "new_concern", "knee gives way on stairs", "completed"],
  ["S1087", "PRV-02", "2026-01-20", "new_concern", "headaches", "no_show"],
  ["S1087", "PRV-01", "2026-02-03", "new_concern", "headaches", "no_show"],
  ["S1095", "PRV-04", "2025-11-12", "new_concern", "asthma and allergies", "completed"],
  ["S1096", "PRV-02", "2025-09-30", "new_concern", "eczema", "completed"],
  ["S1097", "PRV-04", "2026-01-14", "new_concern", "blood pressure", "completed"],
  ["S1097", "PRV-11", "2026-01-30", "new_concern", "stiff shoulder", "completed"],
];

const PLACED_SLOTS: Row[] = UPCOMING.map(([, provider_id, date], index) => ({
  slot_id: `SLT-${901 + index}`,
  provider_id,
  date,
  time: "08:00",
  minutes: (MINUTES[specialtyOf(provider_id)] as number[])[0] as number,
  status: "booked",
}));

const PLACED_APPOINTMENTS: Row[] = [
  ...PAST.map(([student_id, provider_id, date, visit_type, reason, status], index) => ({
    appointment_id: `APT-${3001 + index}`,
    student_id,
    provider_id,
    slot_id: null,
    date,
    time: "10:40",
    visit_type,
    modality: "in_person",
    reason,
    status,
    reschedules: 0,
    booked_at: "2025-09-15T11:05:00Z",
  })),
  ...UPCOMING.map(([student_id, provider_id, date, visit_type, reason], index) => ({
    appointment_id: `APT-${3101 + index}`,
    student_id,
    provider_id,
    slot_id: `SLT-${901 + index}`,
    date,
    time: "08:00",
    visit_type,
    modality: "in_person",
    reason,
    status: "booked",
    reschedules: 0,
    booked_at: "2026-02-02T14:20:00Z",
  })),
];

const PLACED_DOSES: { [student: string]: [string, string][] } = {
  S1072: [["MMR", "2006-03-02"]],
  S1083: [["Tdap", "2013-06-11"]],
  S1085: [
    ["MMR", "2007-11-05"],
    ["MMR", "2011-02-18"],
    ["MenACWY", "2023-01-30"],
    ["HepatitisB", "2024-09-12"],
    ["HepatitisB", "2024-10-14"],
  ],
  S1094: [
    ["MMR", "2004-10-20"],
    ["MMR", "2008-04-03"],
  ],
};

const PLACED_UPLOADS: Row[] = [
  { upload_id: "UPL-4472", student_id: "S1072", kind: "clinic_letter", received_on: "2026-02-09", readable: true },
  { upload_id: "UPL-4483", student_id: "S1083", kind: "vaccination_card", received_on: "2026-02-06", readable: true },
  { upload_id: "UPL-4494", student_id: "S1094", kind: "vaccination_card", received_on: "2026-02-03", readable: false },
  { upload_id: "UPL-4501", student_id: "S1094", kind: "registry_extract", received_on: "2026-02-10", readable: true },
];

/** id, student, prescriber, index in MEDICATIONS, refills left, last filled, expires */
const PRESCRIBED: [string, string, string, number, number, string, string][] = [
  ["RX-1901", "S1075", "PRV-02", 0, 2, "2026-01-05", "2026-08-31"],
  ["RX-1902", "S1076", "PRV-01", 7, 2, "2026-01-12", "2026-06-04"],
  ["RX-1903", "S1088", "PRV-03", 3, 4, "2026-01-28", "2026-10-15"],
  ["RX-1904", "S1088", "PRV-03", 6, 1, "2025-12-15", "2026-05-20"],
  ["RX-1905", "S1095", "PRV-04", 0, 3, "2026-01-09", "2026-11-12"],
  ["RX-1906", "S1095", "PRV-04", 1, 0, "2026-01-09", "2026-11-12"],
  ["RX-1907", "S1095", "PRV-04", 5, 1, "2026-01-11", "2026-11-12"],
];

const PLACED_PRESCRIPTIONS: Row[] = PRESCRIBED.map(
  ([prescription_id, student_id, provider_id, place, refills_left, last_filled_on, expires_on]) => {
    const [medication, strength, days_supply, controlled] = MEDICATIONS[place] as (typeof MEDICATIONS)[number];
    return {
      prescription_id,
      student_id,
      provider_id,
      medication,
      strength,
      days_supply,
      controlled,
      refills_left,
      last_filled_on,
      expires_on,
    };
  },
);

const PLACED_RECORDS: { [student: string]: Row } = {
  S1080: { primary_provider_id: "PRV-04", allergies: ["ibuprofen"] },
  S1096: { primary_provider_id: "PRV-02", allergies: [] },
  S1097: { primary_provider_id: "PRV-04", allergies: ["penicillin"] },
};

const PLACED_HOLDS: Row[] = ["S1072", "S1083", "S1094"].map((student_id) => ({
  hold_id: `HOLD-H${student_id.slice(2)}`,
  student_id,
  type: "immunization",
  status: "active",
  reason: "Proof of MMR (two doses) and MenACWY (one dose) is not complete",
  placed_by: "Student Health Services",
  placed_on: "2026-01-26",
  released_on: null,
}));

const PLACED_CHARGES: Row[] = [
  {
    charge_id: "CHG-H097",
    student_id: "S1097",
    term: "2026SP",
    kind: "clinic_fee",
    description: "Physiotherapy session on 2026-01-30",
    amount: 15,
    due_on: "2026-02-28",
    status: "open",
  },
];
