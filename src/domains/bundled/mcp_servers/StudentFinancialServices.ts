// Student Financial Services: charges, payments, payment plans, financial aid, refunds and tax forms.
import type { DomainServer, Json, Row, Table, ToolContext } from "agent-rollout";

type Owned = Row & { student_id: string };
type Student = { student_id: string; name: string; pin: string };
/** One per student: money that belongs to no charge yet, and what payments can be drawn from. */
type Account = Owned & { account_id: string; credit: number; card_last4: string | null; bank_last4: string | null };
/** Other offices add charges too, and leave out `amount_paid`. */
type Charge = Owned & {
  charge_id: string;
  term: string;
  kind: string;
  description: string;
  amount: number;
  amount_paid?: number;
  due_on: string;
  status: "open" | "paid" | "waived";
};
type Payment = Owned & { payment_id: string; paid_on: string; status: "completed" | "returned" };
type PaymentPlan = Owned & {
  paymentplan_id: string;
  term: string;
  charge_ids: string[];
  financed: number;
  fee: number;
  instalments: number;
  instalments_paid: number;
  first_draw_on: string;
  bank_last4: string;
  started_on: string;
  ended_on: string | null;
  status: "active" | "completed" | "cancelled";
};
type AidAward = Owned & {
  aidaward_id: string;
  term: string;
  name: string;
  kind: "grant" | "scholarship" | "loan" | "work_study";
  amount: number;
  accepted_amount: number;
  /** enrolled credits in the term that it takes; 0 where any will do */
  min_credits: number;
  respond_by: string;
  disburse_on: string;
  responded_on: string | null;
  status: "offered" | "accepted" | "declined" | "disbursed";
};
type Refund = Owned & { refund_id: string; amount: number; status: "pending" | "paid" };
type LateFeeWaiver = Owned & { latefeewaiver_id: string; charge_id: string; academic_year: string; granted_on: string };
type Hold = Owned & { hold_id: string; type: string; status: string; placed_by: string; released_on: string | null };
type Enrollment = Owned & { enrollment_id: string; term: string; status: string; credits: number };
type TaxForm = Owned & { taxform_id: string; year: number };

const CURRENT_TERM = "2026SP";
const ACADEMIC_YEAR = "2025-2026";
const CARD_FEE_RATE = 0.02;
const CARD_LIMIT = 2500;
const PLAN_FEE = 40;
const MIN_INSTALMENT = 100;
const MIN_LOAN = 500;
const MAX_ATTEMPTS = 3;
const OFFICES: { [holdType: string]: string } = {
  financial: "Student Financial Services",
  immunization: "Student Health Services",
  advising: "the academic advisor",
  disciplinary: "the Dean of Students",
};

// Identity

function verifyIdentity(context: ToolContext, args: { student_id: string; pin: string }): Json {
  const { session } = context;
  if (session.student_id && session.student_id !== args.student_id)
    return failed("This conversation is already verified for another student. One student per conversation.");
  const attempt = Number(session.failures ?? 0) + 1;
  if (attempt > MAX_ATTEMPTS) return failed("Verification is locked. Transfer the caller to the One-Stop office.");
  const student = context.table<Student>("Student").get(args.student_id);
  if (student?.pin !== args.pin) {
    session.failures = attempt;
    const next = attempt < MAX_ATTEMPTS ? `Attempts left: ${MAX_ATTEMPTS - attempt}.` : "Verification is now locked.";
    return failed(`The student ID and PIN do not match our records. ${next}`);
  }
  session.student_id = student.student_id;
  return { verified: true, student_id: student.student_id, name: student.name };
}

/** What every other tool works on: the verified student and that student's own records. */
type Desk = { context: ToolContext; today: string; id: string; name: string; account: Account };

function own<A>(handler: (desk: Desk, args: A) => Json) {
  return (context: ToolContext, args: A): Json => {
    const student = context.table<Student>("Student").get(String(context.session.student_id ?? ""));
    if (!student) return failed("Not authorized. Call verify_identity first.");
    const account = context.table<Account>("Account").first({ student_id: student.student_id });
    if (!account) return failed("This student has no billing account yet.");
    return handler({ context, today: context.today, id: student.student_id, name: student.name, account }, args);
  };
}

function rowsOf<R extends Owned>(desk: Desk, table: string, match: Partial<R> = {}): R[] {
  return desk.context.table<R>(table).where({ student_id: desk.id, ...match });
}

function rowOf<R extends Owned>(desk: Desk, table: string, id: string): R | undefined {
  const row = desk.context.table<R>(table).get(id);
  return row?.student_id === desk.id ? row : undefined;
}

// Account and charges

function getAccountSummary(desk: Desk): Json {
  const open = openCharges(desk);
  const upcoming = open.find((charge) => charge.due_on >= desk.today && !planOf(desk, charge));
  const plan = activePlan(desk);
  const accepted = rowsOf<AidAward>(desk, "AidAward", { status: "accepted" });
  return {
    ...standing(desk),
    next_due: upcoming ? describeCharge(desk, upcoming) : null,
    credit: desk.account.credit,
    pending_aid: total(accepted, (award) => award.accepted_amount),
    active_plan: plan ? { ...plan, draws_left: scheduleOf(plan).slice(plan.instalments_paid) } : null,
    pending_refunds: rowsOf<Refund>(desk, "Refund", { status: "pending" }),
    on_file: { card_last4: desk.account.card_last4, bank_last4: desk.account.bank_last4 },
  };
}

function listCharges(desk: Desk, { term, kinds, status }: { term?: string; kinds?: string[]; status?: string }): Json {
  const charges = byDueDate(rowsOf<Charge>(desk, "Charge"))
    .filter((charge) => !term || charge.term === term)
    .filter((charge) => !kinds || kinds.includes(charge.kind))
    .filter((charge) => (status === "past_due" ? isPastDue(desk, charge) : !status || charge.status === status));
  return {
    count: charges.length,
    outstanding: total(charges, outstanding),
    charges: charges.map((charge) => describeCharge(desk, charge)),
  };
}

function listPayments(desk: Desk, args: { since?: string; status?: string; limit?: number }): Json {
  const payments = rowsOf<Payment>(desk, "Payment")
    .filter((payment) => !args.since || payment.paid_on >= args.since)
    .filter((payment) => !args.status || payment.status === args.status)
    .sort((a, b) => b.paid_on.localeCompare(a.paid_on));
  return { count: payments.length, payments: payments.slice(0, args.limit ?? 10) };
}

// Payments

type Method = "card" | "bank_account" | "account_credit";
type Part = { charge: Charge; applied: number; left: number };

function makePayment(
  desk: Desk,
  args: { amount: number; method: Method; charge_ids?: string[]; confirm?: boolean },
): Json {
  const amount = cents(args.amount);
  const charges = payableCharges(desk, args.charge_ids);
  if (typeof charges === "string") return failed(charges);
  const parts = spread(amount, charges);
  const problem = methodProblem(desk.account, args.method, amount) ?? amountProblem(desk, amount, charges, parts);
  if (problem) return failed(problem);
  const fee = args.method === "card" ? cents(amount * CARD_FEE_RATE) : 0;
  const applied = parts.map((part) => ({ charge_id: part.charge.charge_id, applied: part.applied, left: part.left }));
  const cost = { amount, fee, total: cents(amount + fee), applied };
  if (!args.confirm) {
    const targets = parts.map(({ charge, applied }) => `${money(applied)} to ${titled(charge)}`).join(", ");
    const feeNote = fee > 0 ? ` With the ${money(fee)} card fee it comes to ${money(cost.total)}.` : "";
    return preview(`Pay from the ${sourceName(desk.account, args.method)}: ${targets}.${feeNote}`, cost);
  }
  for (const { charge, applied, left } of parts) {
    const amount_paid = cents((charge.amount_paid ?? 0) + applied);
    const status = left === 0 ? "paid" : "open";
    desk.context.table<Charge>("Charge").update(charge.charge_id, { amount_paid, status });
  }
  if (args.method === "account_credit") changeCredit(desk, -amount);
  const payment_id = desk.context.newId("PAY");
  desk.context.table("Payment").insert({
    payment_id,
    student_id: desk.id,
    amount,
    fee,
    method: args.method,
    charge_ids: parts.map((part) => part.charge.charge_id),
    paid_on: desk.today,
    recorded_at: desk.context.now(),
    status: "completed",
  });
  return { success: true, payment_id, ...cost, ...standing(desk), holds_released: releaseHolds(desk) };
}

/** The charges that a payment goes to, in order, or what is wrong with the choice. */
function payableCharges(desk: Desk, ids: string[] | undefined): Charge[] | string {
  if (!ids) return openCharges(desk).filter((charge) => !planOf(desk, charge));
  const charges: Charge[] = [];
  for (const id of ids) {
    const charge = rowOf<Charge>(desk, "Charge", id);
    if (!charge) return `There is no charge ${id} on this account.`;
    if (charge.status !== "open") return `Charge ${id} is already ${charge.status}.`;
    const plan = planOf(desk, charge);
    if (plan) return `Charge ${id} is collected by plan ${plan.paymentplan_id}. Cancel the plan to pay it directly.`;
    charges.push(charge);
  }
  return charges;
}

function spread(amount: number, charges: Charge[]): Part[] {
  let rest = amount;
  const parts: Part[] = [];
  for (const charge of charges) {
    const applied = Math.min(rest, outstanding(charge));
    rest = cents(rest - applied);
    if (applied > 0) parts.push({ charge, applied, left: cents(outstanding(charge) - applied) });
  }
  return parts;
}

function methodProblem(account: Account, method: Method, amount: number): string | undefined {
  if (method === "account_credit")
    return amount > account.credit ? `The account credit is only ${money(account.credit)}.` : undefined;
  if (!(method === "card" ? account.card_last4 : account.bank_last4))
    return `No ${method.replace("_", " ")} is on file. The student can add one in the payment portal.`;
  if (method === "card" && amount > CARD_LIMIT)
    return `A card payment is at most ${money(CARD_LIMIT)}; more goes by bank account.`;
  return undefined;
}

function amountProblem(desk: Desk, amount: number, charges: Charge[], parts: Part[]): string | undefined {
  const most = total(charges, outstanding);
  if (amount > most) return `${money(amount)} is too much: these charges come to ${money(most)}.`;
  const cleared = parts.filter((part) => part.left === 0).map((part) => part.charge.charge_id);
  const missed = pastDue(desk).filter((charge) => !cleared.includes(charge.charge_id));
  if (missed.length > 0 && parts.some((part) => !isPastDue(desk, part.charge)))
    return `Past-due charges are paid first. Past due: ${listed(missed)}.`;
  return undefined;
}

function sourceName(account: Account, method: Method): string {
  if (method === "account_credit") return "account credit";
  return method === "card" ? `card ending ${account.card_last4}` : `bank account ending ${account.bank_last4}`;
}

function requestLateFeeWaiver(desk: Desk, args: { charge_id: string; reason: string; confirm?: boolean }): Json {
  const { charge_id, reason } = args;
  const charge = rowOf<Charge>(desk, "Charge", charge_id);
  if (!charge) return failed(`There is no charge ${charge_id} on this account.`);
  if (charge.kind !== "late_fee") return failed(`${titled(charge)} is no late fee; only late fees are waived here.`);
  if (charge.status !== "open") return failed(`Charge ${charge_id} is already ${charge.status}.`);
  const earlier = rowsOf<LateFeeWaiver>(desk, "LateFeeWaiver", { academic_year: ACADEMIC_YEAR })[0];
  if (earlier) return failed(`The one waiver of ${ACADEMIC_YEAR} was used on ${earlier.granted_on}.`);
  const unpaid = pastDue(desk).filter((other) => other.kind !== "late_fee");
  if (unpaid.length > 0) return failed(`Nothing else may be past due. Still past due: ${listed(unpaid)}.`);
  const amount_waived = outstanding(charge);
  if (!args.confirm) {
    const text = `Waive ${titled(charge)}, ${money(amount_waived)}. It is the one waiver of ${ACADEMIC_YEAR}.`;
    return preview(text, { amount_waived });
  }
  desk.context.table<Charge>("Charge").update(charge_id, { status: "waived" });
  const latefeewaiver_id = desk.context.newId("WVR");
  desk.context.table("LateFeeWaiver").insert({
    latefeewaiver_id,
    student_id: desk.id,
    charge_id,
    academic_year: ACADEMIC_YEAR,
    reason,
    granted_on: desk.today,
  });
  return { success: true, latefeewaiver_id, amount_waived, ...standing(desk), holds_released: releaseHolds(desk) };
}

// Payment plans

type PlanArgs = { term: string; instalments: number; draw_day: number; confirm?: boolean };

function setUpPaymentPlan(desk: Desk, { term, instalments, draw_day, confirm }: PlanArgs): Json {
  const late = pastDue(desk);
  if (late.length > 0) return failed(`A plan cannot start while something is past due: ${listed(late)}.`);
  const current = activePlan(desk);
  if (current) return failed(`Plan ${current.paymentplan_id} is still active; a student has one plan at a time.`);
  const { bank_last4 } = desk.account;
  if (!bank_last4) return failed("Plans draw from a bank account on file. The student can add one in the portal.");
  const charges = openCharges(desk).filter((charge) => charge.term === term);
  const financed = total(charges, outstanding);
  if (financed < instalments * MIN_INSTALMENT)
    return failed(`An instalment is at least ${money(MIN_INSTALMENT)}; ${term} has ${money(financed)} open.`);

  const plan: PaymentPlan = {
    paymentplan_id: desk.context.newId("PLAN"),
    student_id: desk.id,
    term,
    charge_ids: charges.map((charge) => charge.charge_id),
    financed,
    fee: PLAN_FEE,
    instalments,
    instalments_paid: 0,
    first_draw_on: firstDraw(desk.today, draw_day),
    bank_last4,
    started_on: desk.today,
    ended_on: null,
    status: "active",
  };
  const terms = { financed, fee: PLAN_FEE, bank_last4, schedule: scheduleOf(plan) };
  if (!confirm) {
    const draws = terms.schedule.map((draw) => `${money(draw.amount)} on ${draw.draw_on}`).join(", ");
    const fee = `the first draw includes the ${money(PLAN_FEE)} set-up fee`;
    return preview(`Draw from the bank account ending ${bank_last4}: ${draws}; ${fee}.`, terms);
  }
  desk.context.table<PaymentPlan>("PaymentPlan").insert(plan);
  return { success: true, paymentplan_id: plan.paymentplan_id, ...terms };
}

function cancelPaymentPlan(
  desk: Desk,
  { paymentplan_id, confirm }: { paymentplan_id: string; confirm?: boolean },
): Json {
  const plan = rowOf<PaymentPlan>(desk, "PaymentPlan", paymentplan_id);
  if (!plan) return failed(`There is no payment plan ${paymentplan_id} on this account.`);
  if (plan.status !== "active") return failed(`Payment plan ${paymentplan_id} is already ${plan.status}.`);
  const fee = plan.instalments_paid > 0 ? plan.fee : 0;
  const charges = openCharges(desk).filter((charge) => plan.charge_ids.includes(charge.charge_id));
  const late = charges.filter((charge) => charge.due_on < desk.today);
  const remaining = total(charges, outstanding);
  const becomes_past_due = total(late, outstanding);
  if (!confirm) {
    const feeNote = fee > 0 ? `the ${money(fee)} set-up fee is kept` : `the ${money(plan.fee)} set-up fee is dropped`;
    const text = `End ${paymentplan_id}: ${money(remaining)} goes back to its own due dates, ${money(becomes_past_due)}`;
    return preview(`${text} of it past due at once; ${feeNote}.`, { remaining, becomes_past_due, fee_kept: fee });
  }
  const ended = { status: "cancelled", ended_on: desk.today, fee } as const;
  desk.context.table<PaymentPlan>("PaymentPlan").update(paymentplan_id, ended);
  return { success: true, paymentplan_id, fee_kept: fee, ...standing(desk) };
}

function activePlan(desk: Desk): PaymentPlan | undefined {
  return rowsOf<PaymentPlan>(desk, "PaymentPlan", { status: "active" })[0];
}

function planOf(desk: Desk, charge: Charge): PaymentPlan | undefined {
  const plan = activePlan(desk);
  return plan?.charge_ids.includes(charge.charge_id) ? plan : undefined;
}

/** Monthly and equal in whole cents; the first draw takes the fee too, the last what rounding leaves. */
function scheduleOf({ financed, fee, instalments, first_draw_on }: PaymentPlan): { draw_on: string; amount: number }[] {
  const each = Math.floor((financed * 100) / instalments) / 100;
  return Array.from({ length: instalments }, (_, index) => {
    const share = index < instalments - 1 ? each : cents(financed - each * index);
    return { draw_on: monthsLater(first_draw_on, index), amount: cents(share + (index === 0 ? fee : 0)) };
  });
}

/** The next day after today that has this number in its month. */
function firstDraw(today: string, day: number): string {
  const sameMonth = `${today.slice(0, 8)}${twoDigits(day)}`;
  return sameMonth > today ? sameMonth : monthsLater(sameMonth, 1);
}

function monthsLater(date: string, count: number): string {
  const months = Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1 + count;
  return `${Math.floor(months / 12)}-${twoDigits((months % 12) + 1)}${date.slice(7)}`;
}

// Financial aid

function getAidAwards(desk: Desk, { term, status }: { term?: string; status?: AidAward["status"] }): Json {
  const awards = rowsOf<AidAward>(desk, "AidAward").filter(
    (award) => (!term || award.term === term) && (!status || award.status === status),
  );
  return { count: awards.length, enrolled_credits: enrolledCredits(desk, term ?? CURRENT_TERM), awards };
}

function acceptAidAward(desk: Desk, args: { aidaward_id: string; amount?: number; confirm?: boolean }): Json {
  const { aidaward_id } = args;
  const award = rowOf<AidAward>(desk, "AidAward", aidaward_id);
  if (!award) return failed(`There is no award ${aidaward_id} for this student.`);
  const { name, term, disburse_on } = award;
  if (award.status !== "offered") return failed(`Award ${aidaward_id} is already ${award.status}.`);
  if (award.respond_by < desk.today)
    return failed(`The offer lapsed on ${award.respond_by}. Only an aid counsellor can reinstate it.`);
  const credits = enrolledCredits(desk, term);
  if (term === CURRENT_TERM && credits < award.min_credits)
    return failed(`${name} needs ${award.min_credits} enrolled credits; the student has ${credits} in ${term}.`);
  const amount = cents(args.amount ?? award.amount);
  if (amount !== award.amount && award.kind !== "loan") return failed("Only a loan can be accepted in part.");
  if (amount > award.amount || amount < Math.min(MIN_LOAN, award.amount))
    return failed(`The amount must lie between ${money(MIN_LOAN)} and the ${money(award.amount)} offered.`);
  const given_up = cents(award.amount - amount);
  if (!args.confirm) {
    const rest = given_up > 0 ? ` The other ${money(given_up)} is given up.` : "";
    const debt = award.kind === "loan" ? " A loan is repaid with interest." : "";
    const text = `Accept ${money(amount)} of ${name} for ${term}, paid out on ${disburse_on}.${rest}${debt}`;
    return preview(text, { amount, given_up, disburse_on });
  }
  const accepted = { status: "accepted", accepted_amount: amount, responded_on: desk.today } as const;
  desk.context.table<AidAward>("AidAward").update(aidaward_id, accepted);
  return { success: true, aidaward_id, name, ...accepted, given_up, disburse_on };
}

function declineAidAward(desk: Desk, { aidaward_id, confirm }: { aidaward_id: string; confirm?: boolean }): Json {
  const award = rowOf<AidAward>(desk, "AidAward", aidaward_id);
  if (!award) return failed(`There is no award ${aidaward_id} for this student.`);
  if (award.status === "disbursed") return failed("It was paid out already; an aid counsellor arranges its return.");
  if (award.status === "declined") return failed(`Award ${aidaward_id} is already declined.`);
  const { name, amount } = award;
  if (!confirm) return preview(`Decline ${name}, ${money(amount)}, for good: it cannot be taken back.`, { amount });
  const declined = { status: "declined", accepted_amount: 0, responded_on: desk.today } as const;
  desk.context.table<AidAward>("AidAward").update(aidaward_id, declined);
  return { success: true, aidaward_id, name, ...declined };
}

function enrolledCredits(desk: Desk, term: string): number {
  return total(rowsOf<Enrollment>(desk, "Enrollment", { term, status: "enrolled" }), (row) => row.credits);
}

// Refunds, holds, tax forms

type RefundArgs = {
  amount: number;
  destination: { holder_name: string; routing_number: string; account_number: string; account_type: string };
  confirm?: boolean;
};

function requestRefund(desk: Desk, { amount: asked, destination, confirm }: RefundArgs): Json {
  const amount = cents(asked);
  const { credit } = desk.account;
  const late = total(pastDue(desk), outstanding);
  if (late > 0) return failed(`No refund is paid while ${money(late)} is past due.`);
  const pending = rowsOf<Refund>(desk, "Refund", { status: "pending" })[0];
  if (pending) return failed(`Refund ${pending.refund_id} of ${money(pending.amount)} is still on its way.`);
  if (amount > credit) return failed(`The account credit is ${money(credit)}; no more than that can be refunded.`);
  if (destination.holder_name.trim().toLowerCase() !== desk.name.toLowerCase())
    return failed("A refund goes only to an account in the student's own name.");
  const { account_type } = destination;
  const bank_last4 = destination.account_number.slice(-4);
  if (!confirm) {
    const text = `Refund ${money(amount)} to the ${account_type} account ending ${bank_last4} within 7 business days.`;
    return preview(text, { amount, credit_left: cents(credit - amount) });
  }
  const refund_id = desk.context.newId("REF");
  desk.context.table("Refund").insert({
    refund_id,
    student_id: desk.id,
    amount,
    account_type,
    bank_last4,
    requested_on: desk.today,
    recorded_at: desk.context.now(),
    status: "pending",
  });
  changeCredit(desk, -amount);
  return { success: true, refund_id, amount, bank_last4, status: "pending", credit_left: cents(credit - amount) };
}

function listHolds(desk: Desk, { status }: { status?: string }): Json {
  const holds = rowsOf<Hold>(desk, "Hold", status ? { status } : {});
  return {
    count: holds.length,
    holds: holds.map((hold) => ({ ...hold, handled_by: OFFICES[hold.type] ?? hold.placed_by })),
  };
}

function getTaxForm(desk: Desk, { year }: { year: number }): Json {
  const form = rowsOf<TaxForm>(desk, "TaxForm", { year })[0];
  if (form) return form;
  const later = year >= Number(desk.today.slice(0, 4)) ? ` It is issued in January ${year + 1}.` : "";
  return failed(`No form 1098-T is on file for ${year}.${later}`);
}

// Helpers

function openCharges(desk: Desk): Charge[] {
  return byDueDate(rowsOf<Charge>(desk, "Charge", { status: "open" }));
}

function pastDue(desk: Desk): Charge[] {
  return openCharges(desk).filter((charge) => isPastDue(desk, charge));
}

/** A charge on an active plan follows the plan's dates instead of its own. */
function isPastDue(desk: Desk, charge: Charge): boolean {
  return charge.status === "open" && charge.due_on < desk.today && !planOf(desk, charge);
}

function outstanding(charge: Charge): number {
  return charge.status === "open" ? cents(charge.amount - (charge.amount_paid ?? 0)) : 0;
}

function standing(desk: Desk): { balance: number; past_due: number } {
  return { balance: total(openCharges(desk), outstanding), past_due: total(pastDue(desk), outstanding) };
}

function describeCharge(desk: Desk, charge: Charge): Row {
  const { student_id: _, amount_paid = 0, ...shown } = charge;
  const paymentplan_id = planOf(desk, charge)?.paymentplan_id ?? null;
  return { ...shown, amount_paid, outstanding: outstanding(charge), past_due: isPastDue(desk, charge), paymentplan_id };
}

function titled(charge: Charge): string {
  return `${charge.charge_id} (${charge.description})`;
}

function listed(charges: Charge[]): string {
  return charges.map((charge) => `${titled(charge)}, ${money(outstanding(charge))}, due ${charge.due_on}`).join("; ");
}

function releaseHolds(desk: Desk): string[] {
  if (pastDue(desk).length > 0) return [];
  const holds: Table<Hold> = desk.context.table("Hold");
  const active = rowsOf<Hold>(desk, "Hold", { type: "financial", status: "active" });
  for (const hold of active) holds.update(hold.hold_id, { status: "released", released_on: desk.today });
  return active.map((hold) => hold.hold_id);
}

function changeCredit({ context, account }: Desk, by: number): void {
  context.table<Account>("Account").update(account.account_id, { credit: cents(account.credit + by) });
}

function byDueDate(charges: Charge[]): Charge[] {
  return charges.sort((a, b) => a.due_on.localeCompare(b.due_on) || a.charge_id.localeCompare(b.charge_id));
}

function total<T>(items: T[], amountOf: (item: T) => number): number {
  return cents(items.reduce((sum, item) => sum + amountOf(item), 0));
}

function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

function money(amount: number): string {
  return `$${amount.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ",")}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

function preview(action_preview: string, details: Row): Json {
  return { needs_confirmation: true, action_preview, ...details };
}

function failed(error: string): Json {
  return { error };
}

const CONFIRMED = {
  make_payment: own(makePayment),
  request_late_fee_waiver: own(requestLateFeeWaiver),
  set_up_payment_plan: own(setUpPaymentPlan),
  cancel_payment_plan: own(cancelPaymentPlan),
  accept_aid_award: own(acceptAidAward),
  decline_aid_award: own(declineAidAward),
  request_refund: own(requestRefund),
};

const server: DomainServer = {
  today: "2026-02-10",
  reads: {
    get_account_summary: own(getAccountSummary),
    list_charges: own(listCharges),
    list_payments: own(listPayments),
    get_aid_awards: own(getAidAwards),
    list_holds: own(listHolds),
    get_tax_form: own(getTaxForm),
  },
  writes: { verify_identity: verifyIdentity, ...CONFIRMED },
  rules: [
    { id: "verify_identity_first", rule: "authorize_first", tool: "verify_identity" },
    { id: "ask_before_writes", rule: "confirm_before", tools: Object.keys(CONFIRMED) },
    { id: "one_student", rule: "one_person", tool: "verify_identity", by: "student_id" },
    { id: "listed_transfers", rule: "transfer", locked_by: "verify_identity" },
  ],
  volatile: { Payment: ["recorded_at"], Refund: ["recorded_at"] },
};

export default server;
