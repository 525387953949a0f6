// What the people in the queries across the academic portal and financial services (S1106-S1122) have beyond their
// drawn records: a bill that blocks something, an offer that depends on credits, courses in the coming term.
import type { Row } from "../../src/tools/index.ts";

const TERM = "2026SP";
const PAST_DUE_HOLD = "Past-due balance on the student account";
const FINANCE = "Student Financial Services";

export function makeTables(): { [table: string]: Row[] } {
  return {
    Charge: [
      charge("S1106", 11, "library", "Lost book: The Silk Roads", 63, "2026-01-30"),
      charge("S1109", 11, "late_fee", "Late fee, audio recorder loan", 50, "2026-02-05"),
      charge("S1110", 11, "lab_fee", "Statistics software licence", 120, "2026-01-30"),
      charge("S1112", 11, "housing", "Birch Hall, damage to a window", 240, "2026-02-02"),
      charge("S1115", 11, "housing", "Foundry Row apartment, January", 738, "2026-02-06"),
      { ...charge("S1117", 11, "late_fee", "Late fee, fall studio deposit", 50, "2025-10-10"), ...WAIVED_IN_FALL },
      charge("S1117", 12, "late_fee", "Late fee, studio key", 50, "2026-02-06"),
      charge("S1119", 11, "lab_fee", "Field trip to the salt marsh", 95, "2026-01-30"),
      charge("S1121", 11, "lab_fee", "Model-making workshop", 84, "2026-01-30"),
      charge("S1121", 12, "housing", "Birch Lane studio", 1600, "2026-02-20"),
    ],
    Payment: [
      {
        payment_id: "PAY-1115a",
        student_id: "S1115",
        amount: 738,
        fee: 0,
        method: "bank_account",
        charge_ids: ["CHG-111511"],
        paid_on: "2026-02-02",
        recorded_at: "2026-02-02T11:42:00Z",
        status: "returned",
      },
    ],
    LateFeeWaiver: [
      {
        latefeewaiver_id: "WVR-1117",
        student_id: "S1117",
        academic_year: "2025-2026",
        charge_id: "CHG-111711",
        reason: "oversight",
        granted_on: "2025-10-21",
      },
    ],
    AidAward: [
      award("AID-1107b", "Civic Architecture Scholarship", "scholarship", 1400, 12, "2026-02-13"),
      award("AID-1108b", "Nursing Futures Grant", "grant", 1800, 12, "2026-02-16"),
      award("AID-1111b", "Accelerated Track Scholarship", "scholarship", 1500, 15, "2026-02-13"),
      award("AID-1116a", "Mediterranean Studio Scholarship", "scholarship", 1100, 15, "2026-02-13"),
    ],
    Hold: [
      hold("HOLD-C1106", "2026-02-03"),
      hold("HOLD-C1109", "2026-02-06"),
      hold("HOLD-C1110a", "2026-02-03"),
      {
        ...hold("HOLD-C1110b", "2026-01-26"),
        type: "advising",
        reason: "First-year review with the advisor not done",
        placed_by: "Academic Advising",
      },
      hold("HOLD-C1112", "2026-02-05"),
      hold("HOLD-C1115", "2026-02-09"),
      hold("HOLD-C1117", "2026-02-10"),
      hold("HOLD-C1119", "2026-02-03"),
      hold("HOLD-C1121", "2026-02-03"),
    ],
    Enrollment: [
      autumn("ENR-111721", "S1117", "HIST-240-26FA-1", 3),
      autumn("ENR-111722", "S1117", "BIO-101-26FA-1", 4),
      autumn("ENR-111723", "S1117", "SPAN-101-26FA-1", 3),
    ],
  };
}

const WAIVED_IN_FALL = { term: "2025FA", status: "waived" };

function charge(
  student_id: string,
  number: number,
  kind: string,
  description: string,
  amount: number,
  due_on: string,
): Row {
  const charge_id = `CHG-${student_id.slice(1)}${number}`;
  return { charge_id, student_id, term: TERM, kind, description, amount, amount_paid: 0, due_on, status: "open" };
}

function award(
  aidaward_id: string,
  name: string,
  kind: string,
  amount: number,
  min_credits: number,
  respond_by: string,
): Row {
  return {
    aidaward_id,
    student_id: `S${aidaward_id.slice(4, 8)}`,
    term: TERM,
    name,
    kind,
    amount,
    accepted_amount: 0,
    min_credits,
    respond_by,
    disburse_on: "2026-02-27",
    responded_on: null,
    status: "offered",
  };
}

function hold(hold_id: string, placed_on: string): Row {
  return {
    hold_id,
    student_id: `S${hold_id.slice(6, 10)}`,
    type: "financial",
    status: "active",
    reason: PAST_DUE_HOLD,
    placed_by: FINANCE,
    placed_on,
    released_on: null,
  };
}

function autumn(enrollment_id: string, student_id: string, section_id: string, credits: number): Row {
  return { enrollment_id, student_id, section_id, term: "2026FA", status: "enrolled", grade: null, credits };
}
