// What the queries over all three offices rely on, for S1123-S1140 only: records in addition to those that the
// academic, financial and health tables hold for these students anyway.
import type { Row } from "../../src/tools/index.ts";

/** student, number of the charge, kind, description, amount, due date, term */
const CHARGES: [string, number, string, string, number, string, string][] = [
  ["S1125", 11, "library", "Lost book: Poor Economics", 64, "2026-01-30", "2026SP"],
  ["S1127", 11, "clinic_fee", "Typhoid vaccination on 2025-12-17", 55, "2026-01-16", "2025FA"],
  ["S1128", 11, "clinic_fee", "Missed appointment on 2025-11-19", 40, "2025-12-19", "2025FA"],
  ["S1128", 12, "late_fee", "Late fee, clinic charge of fall 2025", 50, "2026-01-30", "2026SP"],
  ["S1132", 11, "library", "Overdue scores, music library", 36, "2026-01-31", "2026SP"],
];

/** student, type, placed on */
const HOLDS: [string, "financial" | "immunization", string][] = [
  ["S1125", "financial", "2026-02-04"],
  ["S1125", "immunization", "2026-01-26"],
  ["S1127", "financial", "2026-02-04"],
  ["S1128", "financial", "2026-02-04"],
  ["S1132", "financial", "2026-02-05"],
  ["S1134", "immunization", "2026-01-26"],
  ["S1140", "immunization", "2026-01-26"],
];

const OFFICES = {
  financial: ["Past-due balance on the student account", "Student Financial Services"],
  immunization: ["Proof of MMR (two doses) and MenACWY (one dose) is not complete", "Student Health Services"],
} as const;

/** student, letter of the award, name, kind, amount, credits it takes, answer due, whether it is accepted */
const AWARDS: [string, string, string, string, number, number, string, boolean][] = [
  ["S1126", "b", "String Players' Scholarship", "scholarship", 1000, 12, "2026-01-30", true],
  ["S1138", "b", "Women in Engineering Award", "scholarship", 900, 12, "2026-02-16", false],
  ["S1138", "c", "Persistence Grant", "grant", 500, 6, "2026-02-16", false],
  ["S1139", "b", "Direct Unsubsidized Loan", "loan", 1750, 0, "2026-02-20", false],
  ["S1140", "a", "Computing Alumni Award", "scholarship", 850, 15, "2026-02-13", false],
];

/** student, place among the student's placed visits, provider, date, time, visit type, reason, status */
const VISITS: [string, number, string, string, string, string, string, string][] = [
  ["S1124", 5, "PRV-11", "2026-02-10", "16:00", "new_concern", "sore wrist", "booked"],
  ["S1127", 5, "PRV-17", "2025-12-17", "11:20", "vaccination", "trip to Morocco", "completed"],
  ["S1128", 5, "PRV-02", "2025-11-19", "11:20", "new_concern", "annual check-up", "no_show"],
  ["S1129", 5, "PRV-03", "2025-11-06", "09:40", "new_concern", "dust allergy", "completed"],
  ["S1137", 5, "PRV-10", "2026-01-29", "14:00", "new_concern", "stiff shoulder", "completed"],
  ["S1137", 6, "PRV-10", "2026-02-19", "09:00", "follow_up", "stiff shoulder", "booked"],
];

/** The only visit above that can be moved, so it needs a slot to give back. */
const SLOT: Row = {
  slot_id: "SLT-5137",
  provider_id: "PRV-10",
  date: "2026-02-19",
  time: "09:00",
  minutes: 40,
  status: "booked",
};

export function makeTables(): { [table: string]: Row[] } {
  return {
    Charge: CHARGES.map(([student_id, number, kind, description, amount, due_on, term]) => ({
      charge_id: `CHG-${student_id.slice(1)}${number}`,
      student_id,
      term,
      kind,
      description,
      amount,
      amount_paid: 0,
      due_on,
      status: "open",
    })),
    Hold: HOLDS.map(([student_id, type, placed_on]) => ({
      hold_id: `HOLD-${student_id.slice(1)}${type[0]}`,
      student_id,
      type,
      status: "active",
      reason: OFFICES[type][0],
      placed_by: OFFICES[type][1],
      placed_on,
      released_on: null,
    })),
    AidAward: AWARDS.map(([student_id, letter, name, kind, amount, min_credits, respond_by, accepted]) => ({
      aidaward_id: `AID-${student_id.slice(1)}${letter}`,
      student_id,
      term: "2026SP",
      name,
      kind,
      amount,
      accepted_amount: accepted ? amount : 0,
      min_credits,
      respond_by,
      disburse_on: "2026-02-27",
      responded_on: accepted ? respond_by : null,
      status: accepted ? "accepted" : "offered",
    })),
    Appointment: VISITS.map(([student_id, place, provider_id, date, time, visit_type, reason, status]) => ({
      appointment_id: `APT-${place}${student_id.slice(2)}`,
      student_id,
      provider_id,
      slot_id: date === SLOT.date ? "SLT-5137" : null,
      date,
      time,
      visit_type,
      modality: "in_person",
      reason,
      status,
      reschedules: 0,
      booked_at: date < "2026" ? "2025-11-03T09:30:00Z" : "2026-01-20T09:30:00Z",
    })),
    Slot: [SLOT],
    Payment: [
      {
        payment_id: "PAY-1127",
        student_id: "S1127",
        amount: 55,
        fee: 0,
        method: "bank_account",
        charge_ids: ["CHG-112711"],
        paid_on: "2026-01-14",
        recorded_at: "2026-01-14T16:42:00Z",
        status: "returned",
      },
    ],
    PaymentPlan: [
      {
        paymentplan_id: "PLAN-1131",
        student_id: "S1131",
        term: "2026SP",
        charge_ids: ["CHG-113103", "CHG-113105"],
        financed: 2300,
        instalments: 4,
        instalments_paid: 0,
        bank_last4: "4287",
        fee: 40,
        first_draw_on: "2026-02-15",
        started_on: "2026-02-03",
        ended_on: null,
        status: "active",
      },
    ],
  };
}
