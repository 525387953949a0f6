// The bursar's tables. Everyone has an account, charges, and payments that match the paid amounts; the people in
// the financial queries (S1036-S1062) get their current term by hand, since their questions depend on it.
// A drawn charge's id says what it is: the student's number, then 01 tuition 2025FA, 02 tuition 2026SP, 03 health
// insurance, 04 housing, 05 meal plan, 06 laboratory fee. Placed charges count from 11.
import { createRandom } from "../../src/core/index.ts";
import type { Row } from "../../src/tools/index.ts";
import { makeTables as makeStudents } from "./student.ts";

type Student = { student_id: string; program: string; year: number; residency: string };
/** kind, description, amount, due date, amount paid, term */
type PlacedCharge = [kind: string, text: string, amount: number, due: string, paid?: number, term?: string];
/** amount, date, method, numbers of the charges it was for, whether it bounced */
type PlacedPayment = [amount: number, on: string, method: string, charges: number[], returned?: boolean];
/** name, kind, amount, credits it takes, answer due, paid out on, status */
type PlacedAward = [string, string, number, number, string, string, ("accepted" | "disbursed")?];
type Case = {
  account?: Row;
  charges?: PlacedCharge[];
  payments?: PlacedPayment[];
  awards?: PlacedAward[];
  holds?: [type: string, reason: string, office: string, on: string][];
  plan?: Row;
  refund?: Row;
  waiver?: Row;
};

const TERM = "2026SP";
const TUITION: { [residency: string]: number } = { in_state: 4860, out_of_state: 9720, international: 11340 };
const LABS: { [program: string]: [string, number] } = {
  "Computer Science": ["Computing laboratory fee", 90],
  "Mechanical Engineering": ["Workshop and materials fee", 160],
  Biology: ["Biology laboratory fee", 140],
  Nursing: ["Clinical simulation fee", 180],
  Architecture: ["Studio materials fee", 210],
};
const SCHOLARSHIPS: [string, string, number][] = [
  ["Provost's Merit Scholarship", "scholarship", 1500],
  ["Riverside Access Grant", "grant", 1200],
  ["First in Family Grant", "grant", 900],
  ["Alumni Association Scholarship", "scholarship", 750],
];
const LOAN = "Direct Unsubsidized Loan";
const PAST_DUE_HOLD = "Past-due balance on the student account";

const CASES: { [student: string]: Case } = {
  S1036: {
    account: { card_last4: "4417", bank_last4: null },
    charges: [
      ["lab_fee", "Cognition laboratory fee", 150, "2026-02-20"],
      ["health_insurance", "Student health insurance", 1180, "2026-02-27"],
    ],
  },
  S1037: {
    account: { bank_last4: "7720" },
    charges: [["tuition", "Tuition, spring 2026", 4860, "2026-01-23", 4220]],
    payments: [[4220, "2026-01-21", "bank_account", [11]]],
    holds: [["financial", PAST_DUE_HOLD, "Student Financial Services", "2026-02-03"]],
  },
  S1038: {
    account: { card_last4: "9032", bank_last4: "1186" },
    charges: [
      ["housing", "Alder Hall double room", 2980, "2026-02-02"],
      ["meal_plan", "Meal plan B", 1120, "2026-02-20"],
    ],
  },
  S1039: {
    account: { bank_last4: "6650" },
    charges: [
      ["housing", "Dock Street apartments", 2400, "2026-02-20"],
      ["meal_plan", "Meal plan A", 1300, "2026-02-20"],
    ],
  },
  S1040: {
    charges: [
      ["late_fee", "Late fee, spring tuition", 50, "2026-02-05"],
      ["meal_plan", "Meal plan C", 860, "2026-02-20"],
    ],
  },
  S1041: {
    account: { card_last4: "2288" },
    charges: [
      ["late_fee", "Late fee, fall housing", 50, "2025-10-10", 0, "2025FA"],
      ["late_fee", "Late fee, spring tuition", 50, "2026-02-06"],
    ],
    waiver: { charge_id: "CHG-104111", reason: "bank_problem", granted_on: "2025-10-03" },
  },
  S1042: {
    account: { credit: 318 },
    charges: [["meal_plan", "Meal plan B", 1120, "2026-02-20", 1120]],
    payments: [
      [1120, "2026-01-28", "bank_account", [11]],
      [318, "2026-02-04", "aid", []],
    ],
    awards: [["Studio Travel Scholarship", "scholarship", 318, 0, "2026-01-15", "2026-02-04", "disbursed"]],
  },
  S1043: {
    account: { credit: 615 },
    payments: [[615, "2026-02-06", "aid", []]],
    awards: [["Riverside Access Grant", "grant", 615, 12, "2026-01-15", "2026-02-06", "disbursed"]],
  },
  S1044: {
    account: { credit: 1240, bank_last4: null },
    payments: [[1240, "2026-02-06", "aid", []]],
    awards: [["Conservatory Prize", "scholarship", 1240, 0, "2026-01-15", "2026-02-06", "disbursed"]],
  },
  S1045: {
    charges: [["housing", "Garden Terrace single room", 2150, "2026-02-20"]],
    awards: [[LOAN, "loan", 3500, 0, "2026-02-20", "2026-02-27"]],
  },
  S1046: {
    awards: [["Accelerated Track Scholarship", "scholarship", 1500, 17, "2026-02-16", "2026-02-27"]],
  },
  S1047: {
    charges: [["lab_fee", "Clinical simulation fee", 180, "2026-02-20"]],
    awards: [
      ["Nursing Futures Grant", "grant", 1800, 12, "2026-02-16", "2026-02-27"],
      [LOAN, "loan", 2750, 0, "2026-02-20", "2026-02-27"],
    ],
  },
  S1049: {
    account: { bank_last4: "5071" },
    charges: [["housing", "Elm House studio", 2600, "2026-01-23", 520]],
    payments: [[520, "2026-01-15", "plan_draw", [11]]],
    plan: { charge_ids: ["CHG-104911"], financed: 2600, instalments: 5, instalments_paid: 1, bank_last4: "5071" },
  },
  S1050: {
    account: { card_last4: "8345", bank_last4: "3319" },
    charges: [
      ["lab_fee", "Psychology participant-pool fee", 200, "2026-01-30"],
      ["housing", "Birch Hall double room", 2100, "2026-02-20"],
    ],
  },
  S1051: {
    account: { card_last4: "7164", bank_last4: "0925" },
    charges: [["housing", "Alder Hall single room, second half of spring", 850, "2026-02-06"]],
    payments: [[850, "2026-02-02", "bank_account", [11], true]],
  },
  S1053: {
    charges: [["health_insurance", "Student health insurance", 1180, "2026-02-27"]],
  },
  S1054: {
    account: { credit: 260 },
    charges: [
      ["meal_plan", "Meal plan C", 900, "2026-02-20"],
      ["library", "Lost book: Marine Invertebrates", 35, "2026-03-01"],
    ],
    payments: [[260, "2026-02-06", "aid", []]],
    awards: [["Field Station Grant", "grant", 260, 0, "2026-01-15", "2026-02-06", "disbursed"]],
  },
  S1055: {
    account: { bank_last4: "4408" },
    charges: [
      ["lab_fee", "Machine shop safety course", 95, "2026-01-30"],
      ["meal_plan", "Meal plan B", 780, "2026-02-20"],
    ],
    holds: [["financial", PAST_DUE_HOLD, "Student Financial Services", "2026-02-06"]],
  },
  S1056: {
    charges: [["housing", "Garden Terrace studio", 1900, "2026-02-27"]],
    awards: [
      [LOAN, "loan", 2250, 0, "2026-01-30", "2026-02-20", "accepted"],
      ["Economics Department Award", "scholarship", 600, 12, "2026-01-30", "2026-02-20", "accepted"],
    ],
  },
  S1057: {
    awards: [["Global Scholars Grant", "grant", 2000, 12, "2026-01-31", "2026-02-13"]],
  },
  S1058: {
    account: { bank_last4: "2734" },
    charges: [["meal_plan", "Meal plan D", 420, "2026-02-20"]],
  },
  S1059: {
    account: { bank_last4: "8802" },
    charges: [
      ["housing", "Dock Street apartments", 1450, "2026-02-20"],
      ["meal_plan", "Meal plan B", 1120, "2026-02-20"],
      ["library", "Replacement library card", 18, "2026-02-27"],
    ],
  },
  S1060: {
    account: { bank_last4: "1597" },
    charges: [["late_fee", "Late fee, spring tuition", 50, "2026-02-05"]],
    holds: [
      ["advising", "Degree check with the advisor not done", "Academic Advising", "2026-01-20"],
      ["financial", PAST_DUE_HOLD, "Student Financial Services", "2026-02-06"],
    ],
  },
  S1061: {
    account: { bank_last4: "6043" },
    charges: [
      ["tuition", "Tuition, spring 2026", 11340, "2026-01-23", 10140],
      ["late_fee", "Late fee, spring tuition", 50, "2026-02-06"],
    ],
    payments: [[10140, "2026-01-22", "bank_account", [11]]],
    holds: [["financial", PAST_DUE_HOLD, "Student Financial Services", "2026-02-06"]],
  },
  S1062: {
    account: { bank_last4: "3956" },
    charges: [["meal_plan", "Meal plan B", 1120, "2026-02-20", 1120]],
    payments: [
      [1120, "2026-01-30", "card", [11]],
      [780, "2026-02-04", "aid", []],
    ],
    awards: [["Alumni Association Scholarship", "scholarship", 780, 12, "2026-01-15", "2026-02-04", "disbursed"]],
    refund: { amount: 780, account_type: "checking", bank_last4: "3956", requested_on: "2026-02-06" },
  },
};

export function makeTables(): { [table: string]: Row[] } {
  const books = new Books();
  for (const student of makeStudents().Student as Student[]) {
    const number = Number(student.student_id.slice(1));
    books.openAccount(student, CASES[student.student_id]?.account);
    const placed = CASES[student.student_id] ?? (number <= 1062 && number >= 1036 ? {} : undefined);
    books.billTuition(student, placed);
    if (placed) books.place(student.student_id, placed);
    else books.drawRunningTerm(student, number);
    books.issueTaxForms(student);
  }
  return books.tables;
}

class Books {
  readonly tables = {
    Account: [] as Row[],
    Charge: [] as Row[],
    Payment: [] as Row[],
    PaymentPlan: [] as Row[],
    AidAward: [] as Row[],
    Refund: [] as Row[],
    LateFeeWaiver: [] as Row[],
    TaxForm: [] as Row[],
    Hold: [] as Row[],
  };

  openAccount({ student_id }: Student, placed: Row = {}): void {
    const random = createRandom("bundled accounts", student_id);
    this.tables.Account.push({
      account_id: student_id.replace("S", "ACC-"),
      student_id,
      credit: 0,
      card_last4: fourDigits(random.int(10000)),
      bank_last4: random.chance(0.85) ? fourDigits(random.int(10000)) : null,
      ...placed,
    });
  }

  /** Last autumn's tuition, and this spring's unless it is placed: paid, partly out of aid. */
  billTuition({ student_id, residency }: Student, placed: Case | undefined): void {
    const random = createRandom("bundled tuition", student_id);
    const amount = TUITION[residency] as number;
    const short = student_id === "S1015" ? 310 : 0; // whose hold is in the academic records
    this.charge(student_id, 1, ["tuition", "Tuition, fall 2025", amount, "2025-08-29", amount - short, "2025FA"]);
    this.payment(student_id, [amount - short, `2025-08-${10 + random.int(19)}`, "bank_account", [1]]);
    if (placed?.charges?.some(([kind]) => kind === "tuition")) return;
    this.charge(student_id, 2, ["tuition", "Tuition, spring 2026", amount, "2026-01-23", amount]);
    const scholarship = random.chance(0.5) && !placed ? random.pick(SCHOLARSHIPS) : undefined;
    if (scholarship) {
      const [name, kind, aid] = scholarship;
      this.award(student_id, [name, kind, aid, 12, "2025-12-15", "2026-01-12", "disbursed"]);
      this.payment(student_id, [aid, "2026-01-12", "aid", [2]]);
    }
    this.payment(student_id, [amount - (scholarship?.[2] ?? 0), `2026-01-${13 + random.int(10)}`, "bank_account", [2]]);
  }

  place(student_id: string, { charges, payments, awards, holds, plan, refund, waiver }: Case): void {
    for (const [index, charge] of (charges ?? []).entries()) this.charge(student_id, 11 + index, charge);
    for (const payment of payments ?? []) this.payment(student_id, payment);
    for (const award of awards ?? []) this.award(student_id, award);
    for (const [index, [type, reason, placed_by, placed_on]] of (holds ?? []).entries()) {
      this.tables.Hold.push({
        hold_id: student_id.replace("S", "HOLD-F") + "abc"[index],
        student_id,
        type,
        status: "active",
        reason,
        placed_by,
        placed_on,
        released_on: null,
      });
    }
    if (plan) this.plan(student_id, plan);
    if (refund) {
      const refund_id = student_id.replace("S", "REF-");
      const recorded_at = `${refund.requested_on}T10:24:00Z`;
      this.tables.Refund.push({ refund_id, student_id, ...refund, recorded_at, status: "pending" });
    }
    if (waiver) {
      this.tables.LateFeeWaiver.push({
        latefeewaiver_id: student_id.replace("S", "WVR-"),
        student_id,
        academic_year: "2025-2026",
        ...waiver,
      });
      const waived = this.tables.Charge.find((charge) => charge.charge_id === waiver.charge_id);
      if (waived) waived.status = "waived";
    }
  }

  /** Insurance is open for the students of the health queries and the combinations, who may want it waived. */
  drawRunningTerm({ student_id, program, year }: Student, number: number): void {
    const random = createRandom("bundled charges", student_id);
    const reserved = number >= 1071 && number <= 1140;
    const insured = reserved ? 0 : random.pick([0, 0, 1180]);
    this.charge(student_id, 3, ["health_insurance", "Student health insurance", 1180, "2026-02-27", insured]);
    if (insured > 0) this.payment(student_id, [insured, `2026-02-0${1 + random.int(9)}`, "bank_account", [3]]);
    if (random.chance(0.45)) {
      const rent = random.pick([1450, 1900, 2150, 2400]);
      const planned = !reserved && random.chance(0.3);
      const paid = planned ? rent / 5 : random.pick([0, rent]);
      this.charge(student_id, 4, ["housing", "University housing", rent, "2026-02-20", paid]);
      if (paid > 0) this.payment(student_id, [paid, "2026-01-15", planned ? "plan_draw" : "bank_account", [4]]);
      if (planned) {
        const charge_ids = [chargeId(student_id, 4)];
        const bank_last4 = fourDigits(random.int(10000));
        this.tables.Account.at(-1)!.bank_last4 = bank_last4;
        this.plan(student_id, { charge_ids, financed: rent, instalments: 5, instalments_paid: 1, bank_last4 });
      }
    }
    if (random.chance(0.5)) {
      const price = random.pick([780, 860, 1120, 1300]);
      const paid = random.pick([0, price]);
      this.charge(student_id, 5, ["meal_plan", "Meal plan", price, "2026-02-20", paid]);
      if (paid > 0) this.payment(student_id, [paid, `2026-01-${20 + random.int(11)}`, "card", [5]]);
    }
    const lab = LABS[program];
    if (lab) {
      this.charge(student_id, 6, ["lab_fee", lab[0], lab[1], "2026-01-30", lab[1]]);
      this.payment(student_id, [lab[1], `2026-01-${19 + random.int(11)}`, "card", [6]]);
    }
    if (year < 4 && random.chance(0.3)) {
      this.award(student_id, [LOAN, "loan", random.pick([1750, 2750, 3500]), 0, "2026-02-20", "2026-02-27"]);
    }
  }

  issueTaxForms({ student_id, residency, year }: Student): void {
    const random = createRandom("bundled tax forms", student_id);
    const years = residency === "international" ? [] : year > 1 ? [2024, 2025] : [2025];
    for (const taxYear of years) {
      this.tables.TaxForm.push({
        taxform_id: `TAX-${taxYear % 100}${student_id.slice(1)}`,
        student_id,
        year: taxYear,
        form: "1098-T",
        box_1_payments: (TUITION[residency] as number) * (taxYear === 2026 - year ? 1 : 2),
        box_5_scholarships: random.pick([0, 900, 1200, 1500, 2400]),
        issued_on: `${taxYear + 1}-01-${20 + random.int(9)}`,
      });
    }
  }

  charge(student_id: string, number: number, [kind, description, amount, due_on, paid = 0, term = TERM]: PlacedCharge) {
    const charge_id = chargeId(student_id, number);
    const status = paid === amount ? "paid" : "open";
    this.tables.Charge.push({
      charge_id,
      student_id,
      term,
      kind,
      description,
      amount,
      amount_paid: paid,
      due_on,
      status,
    });
  }

  payment(student_id: string, [amount, paid_on, method, charges, returned]: PlacedPayment): void {
    const random = createRandom("bundled payments", student_id, this.tables.Payment.length);
    const minutes = `${9 + random.int(8)}:${10 + random.int(50)}`.padStart(5, "0");
    this.tables.Payment.push({
      payment_id: `PAY-${2001 + this.tables.Payment.length}`,
      student_id,
      amount,
      fee: method === "card" ? Math.round(amount * 2) / 100 : method === "plan_draw" ? 40 : 0,
      method,
      charge_ids: charges.map((number) => chargeId(student_id, number)),
      paid_on,
      recorded_at: `${paid_on}T${minutes}:00Z`,
      status: returned ? "returned" : "completed",
    });
  }

  award(student_id: string, [name, kind, amount, min_credits, respond_by, disburse_on, answer]: PlacedAward): void {
    const earlier = this.tables.AidAward.filter((award) => award.student_id === student_id).length;
    this.tables.AidAward.push({
      aidaward_id: `AID-${student_id.slice(1)}${"abc"[earlier]}`,
      student_id,
      term: TERM,
      name,
      kind,
      amount,
      accepted_amount: answer ? amount : 0,
      min_credits,
      respond_by,
      disburse_on,
      responded_on: answer ? respond_by : null,
      status: answer ?? "offered",
    });
  }

  plan(student_id: string, placed: Row): void {
    this.tables.PaymentPlan.push({
      paymentplan_id: student_id.replace("S", "PLAN-"),
      student_id,
      term: TERM,
      ...placed,
      fee: 40,
      first_draw_on: "2026-01-15",
      started_on: "2026-01-08",
      ended_on: null,
      status: "active",
    });
  }
}

function chargeId(student_id: string, number: number): string {
  return `CHG-${student_id.slice(1)}${String(number).padStart(2, "0")}`;
}

function fourDigits(number: number): string {
  return String(number).padStart(4, "0");
}
