// The student clinic: visits, vaccines, refills, referrals and the insurance waiver.
import type { DomainServer, ToolContext } from "agent-rollout";

type Answer = ReturnType<DomainServer["reads"][string]>;
type Student = { student_id: string; name: string; date_of_birth: string; health_card: string; residency: string };
type Provider = {
  provider_id: string;
  name: string;
  specialty: string;
  languages: string[];
  days: string[];
  accepting_new: boolean;
  telehealth: boolean;
  room: string;
};
type Slot = { slot_id: string; provider_id: string; date: string; time: string; minutes: number; status: string };
type Appointment = {
  appointment_id: string;
  student_id: string;
  provider_id: string;
  slot_id: string | null;
  date: string;
  time: string;
  visit_type: string;
  modality: string;
  reason: string;
  status: string;
  reschedules: number;
  booked_at: string;
};
type Dose = { vaccine: string; date: string };
type Immunization = Dose & { immunization_id: string; student_id: string; status: string; recorded_on: string };
type Prescription = {
  prescription_id: string;
  student_id: string;
  provider_id: string;
  medication: string;
  strength: string;
  days_supply: number;
  controlled: boolean;
  refills_left: number;
  last_filled_on: string;
  expires_on: string;
};
type Charge = {
  charge_id: string;
  student_id: string;
  term: string;
  kind: string;
  description: string;
  amount: number;
  due_on: string;
  status: string;
};
type Hold = { hold_id: string; student_id: string; type: string; status: string; released_on: string | null };
type HealthRecord = {
  healthrecord_id: string;
  student_id: string;
  primary_provider_id: string;
  insurance: string;
  allergies: string[];
};
type Plan = {
  insurer: string;
  policy_number: string;
  covered_until: string;
  annual_deductible: number;
  covers_mental_health: boolean;
  local_claims_office: boolean;
};

const TERM = "2026SP";
const TERM_START = "2026-01-12";
const WAIVER_DEADLINE = "2026-02-27";
const COVERED_UNTIL = "2026-08-14";
const MAX_DEDUCTIBLE = 2500;
const MAX_UPCOMING = 2;
const MAX_RESCHEDULES = 2;
const MAX_NO_SHOWS = 2;
const MAX_ATTEMPTS = 3;
const LATE_FEE = 25;
const REFILL_WINDOW_DAYS = 7;
const REFERRAL_WINDOW_DAYS = 60;
const MMR_INTERVAL_DAYS = 28;
const LISTED_SLOTS = 8;
const REQUIRED_DOSES: { [vaccine: string]: number } = { MMR: 2, MenACWY: 1 };
const MINIMUM_AGE: { [vaccine: string]: number } = { MMR: 1, MenACWY: 16 };

const GENERAL = ["primary_care", "physiotherapy", "sexual_health", "nutrition", "dental", "travel_medicine"];
const SPECIALTIES_FOR: { [visitType: string]: string[] } = {
  new_concern: GENERAL,
  follow_up: [...GENERAL, "mental_health"],
  physical_exam: ["primary_care"],
  vaccination: ["immunization", "travel_medicine"],
  counseling: ["mental_health"],
};
const MINIMUM_MINUTES: { [visitType: string]: number } = { physical_exam: 40 };

// --- who is asking

function verifyPatient(context: ToolContext, args: { student_id: string; health_card: string }): Answer {
  const attempts = Number(context.session.attempts ?? 0);
  const verified = context.session.student_id;
  if (verified && verified !== args.student_id) return fail("This conversation already belongs to another patient.");
  if (attempts >= MAX_ATTEMPTS) return fail("Too many failed attempts. Transfer the caller to the front desk.");
  const student = context.table<Student>("Student").get(args.student_id);
  if (!student || student.health_card !== args.health_card) {
    context.session.attempts = attempts + 1;
    return fail(`Student ID and health card do not match. Attempts left: ${MAX_ATTEMPTS - attempts - 1}.`);
  }
  context.session.student_id = student.student_id;
  return { success: true, student_id: student.student_id, name: student.name };
}

/** The handler for a verified patient; anyone else is sent to verify first. */
function forPatient<A>(handler: (context: ToolContext, args: A, student: Student) => Answer) {
  return (context: ToolContext, args: A): Answer => {
    const student = context.table<Student>("Student").get(String(context.session.student_id));
    return student ? handler(context, args, student) : fail("Not authorized. Call verify_patient first.");
  };
}

// --- reads

function getHealthRecord(context: ToolContext, _args: object, { student_id, name }: Student): Answer {
  const record = recordOf(context, student_id);
  const charges = context.table<Charge>("Charge").where({ student_id, status: "open" });
  const insurance = context.table<Charge>("Charge").first({ student_id, term: TERM, kind: "health_insurance" });
  return {
    student_id,
    name,
    primary_provider: providerOf(context, record.primary_provider_id).name,
    allergies: record.allergies,
    insurance: record.insurance,
    insurance_charge: insurance
      ? { amount: insurance.amount, status: insurance.status, due_on: insurance.due_on }
      : null,
    open_clinic_fees: sum(charges.filter(({ kind }) => kind === "clinic_fee").map(({ amount }) => amount)),
    upcoming_appointments: upcoming(context, student_id).length,
    no_shows_this_term: noShows(context, student_id),
    missing_vaccines: missingVaccines(dosesOf(context, student_id)),
    immunization_hold: immunizationHold(context, student_id)?.hold_id ?? null,
  };
}

type ProviderSearch = { specialty?: string; language?: string; days?: string[]; telehealth?: boolean };

function searchProviders(context: ToolContext, args: ProviderSearch): Answer {
  const language = args.language?.toLowerCase();
  const providers = context
    .table<Provider>("Provider")
    .where(
      (provider) =>
        (!args.specialty || provider.specialty === args.specialty) &&
        (!language || provider.languages.some((spoken) => spoken.toLowerCase() === language)) &&
        (!args.days || args.days.some((day) => provider.days.includes(day))) &&
        (!args.telehealth || provider.telehealth),
    );
  return providers.length > 0 ? { providers } : { providers, note: "No provider matches. Try fewer conditions." };
}

type SlotSearch = {
  provider_id?: string;
  specialty?: string;
  from_date?: string;
  to_date?: string;
  days?: string[];
  part_of_day?: string;
  min_minutes?: number;
};

function listOpenSlots(context: ToolContext, args: SlotSearch): Answer {
  if (!args.provider_id && !args.specialty) return fail("Give a provider_id or a specialty.");
  if (args.provider_id && !context.table("Provider").get(args.provider_id)) {
    return fail(`There is no provider ${args.provider_id}. Search for providers first.`);
  }
  const slots = context
    .table<Slot>("Slot")
    .where({ status: "open" })
    .filter((slot) => matchesSearch(slot, providerOf(context, slot.provider_id), args))
    .sort((a, b) => `${a.date} ${a.time}`.localeCompare(`${b.date} ${b.time}`));
  const listed = slots.slice(0, LISTED_SLOTS).map(({ slot_id, provider_id, date, time, minutes }) => {
    const { name, accepting_new } = providerOf(context, provider_id);
    return {
      slot_id,
      provider_id,
      provider: name,
      accepting_new,
      date,
      time,
      minutes,
      day: dayText(date),
      clock: clockText(time),
    };
  });
  return { slots: listed, not_listed: slots.length - listed.length };
}

function matchesSearch(slot: Slot, provider: Provider, args: SlotSearch): boolean {
  return (
    (!args.provider_id || slot.provider_id === args.provider_id) &&
    (!args.specialty || provider.specialty === args.specialty) &&
    (!args.from_date || slot.date >= args.from_date) &&
    (!args.to_date || slot.date <= args.to_date) &&
    (!args.days || args.days.includes(weekday(slot.date).slice(0, 3).toLowerCase())) &&
    (!args.part_of_day || slot.time < "12:00" === (args.part_of_day === "morning")) &&
    slot.minutes >= (args.min_minutes ?? 0)
  );
}

function listAppointments(context: ToolContext, args: { status?: string }, { student_id }: Student): Answer {
  const appointments = context
    .table<Appointment>("Appointment")
    .where({ student_id })
    .filter(({ status }) => !args.status || status === args.status)
    .sort((a, b) => a.date.localeCompare(b.date))
    .map(({ appointment_id, provider_id, date, time, visit_type, modality, reason, status }) => {
      const { name, room } = providerOf(context, provider_id);
      return {
        appointment_id,
        provider_id,
        provider: name,
        room,
        when: spoken(date, time),
        date,
        visit_type,
        modality,
        reason,
        status,
      };
    });
  return { appointments };
}

function listImmunizations(context: ToolContext, args: { vaccine?: string }, { student_id }: Student): Answer {
  const doses = dosesOf(context, student_id);
  const missing = missingVaccines(doses);
  return {
    immunizations: doses
      .filter(({ vaccine }) => !args.vaccine || vaccine === args.vaccine)
      .map(({ immunization_id, vaccine, date, status }) => ({ immunization_id, vaccine, date, status })),
    requirement: { complete: missing.length === 0, missing },
    immunization_hold: immunizationHold(context, student_id)?.hold_id ?? null,
  };
}

function listPrescriptions(context: ToolContext, _args: object, { student_id }: Student): Answer {
  const prescriptions = context.table<Prescription>("Prescription").where({ student_id });
  return {
    prescriptions: prescriptions.map((prescription) => ({
      prescription_id: prescription.prescription_id,
      medication: `${prescription.medication} ${prescription.strength}`,
      prescriber_id: prescription.provider_id,
      prescriber: providerOf(context, prescription.provider_id).name,
      controlled: prescription.controlled,
      refills_left: prescription.refills_left,
      last_filled_on: prescription.last_filled_on,
      refillable_from: refillableFrom(prescription),
      expires_on: prescription.expires_on,
    })),
  };
}

function getClinicFees(context: ToolContext, args: { category?: string }): Answer {
  const fees = context.table("ClinicFee").where(args.category ? { category: args.category } : {});
  return { fees, currency: "USD" };
}

// --- appointments

type Booking = { slot_id: string; visit_type: string; reason: string; modality?: string; confirm?: boolean };

function bookAppointment(context: ToolContext, args: Booking, { student_id }: Student): Answer {
  const slot = context.table<Slot>("Slot").get(args.slot_id);
  if (slot?.status !== "open") return fail(`Slot ${args.slot_id} is not open. List the open slots again.`);
  const provider = providerOf(context, slot.provider_id);
  const modality = args.modality ?? "in_person";
  const problem =
    patientProblem(context, student_id, slot) ??
    visitProblem(context, student_id, args.visit_type, modality, slot, provider);
  if (problem) return fail(problem);
  const when = spoken(slot.date, slot.time);
  if (!args.confirm) {
    return preview(
      `Book ${words(args.visit_type)} with ${provider.name}, ${when}, ${slot.minutes} minutes, ${words(modality)}.`,
    );
  }
  context.table<Slot>("Slot").update(slot.slot_id, { status: "booked" });
  const { appointment_id } = context.table<Appointment>("Appointment").insert({
    appointment_id: context.newId("APT"),
    student_id,
    provider_id: provider.provider_id,
    slot_id: slot.slot_id,
    date: slot.date,
    time: slot.time,
    visit_type: args.visit_type,
    modality,
    reason: args.reason,
    status: "booked",
    reschedules: 0,
    booked_at: context.now(),
  });
  return { success: true, appointment_id, provider: provider.name, room: provider.room, when, minutes: slot.minutes };
}

function patientProblem(context: ToolContext, student_id: string, slot: Slot): string | undefined {
  if (noShows(context, student_id) >= MAX_NO_SHOWS) {
    return `Booking is blocked after ${MAX_NO_SHOWS} missed appointments in one term. Transfer the patient to the front desk.`;
  }
  const booked = upcoming(context, student_id);
  if (booked.length >= MAX_UPCOMING) {
    return `The patient already has ${MAX_UPCOMING} upcoming appointments, the most allowed. One must be cancelled or attended first.`;
  }
  if (booked.some(({ date, time }) => date === slot.date && time === slot.time)) {
    return "The patient already has an appointment at that time.";
  }
  return undefined;
}

function visitProblem(
  context: ToolContext,
  student_id: string,
  visitType: string,
  modality: string,
  slot: Slot,
  provider: Provider,
): string | undefined {
  const specialties = SPECIALTIES_FOR[visitType] ?? [];
  const visits = context
    .table<Appointment>("Appointment")
    .where({ student_id, provider_id: provider.provider_id, status: "completed" });
  if (!specialties.includes(provider.specialty)) {
    return `${provider.name} (${words(provider.specialty)}) does not do ${words(visitType)} visits. Specialties that do: ${specialties.join(", ")}.`;
  }
  if (visits.length === 0 && !provider.accepting_new) return `${provider.name} is not accepting new patients.`;
  if (visits.length === 0 && visitType === "follow_up") {
    return `There is no completed visit with ${provider.name} to follow up on.`;
  }
  if (modality === "telehealth" && !provider.telehealth) return `${provider.name} does not offer telehealth.`;
  if (modality === "telehealth" && ["vaccination", "physical_exam"].includes(visitType)) {
    return `A ${words(visitType)} must be in person.`;
  }
  const needed = MINIMUM_MINUTES[visitType] ?? 0;
  return slot.minutes < needed
    ? `A ${words(visitType)} needs a slot of ${needed} minutes; this one has ${slot.minutes}.`
    : undefined;
}

type Rescheduling = { appointment_id: string; new_slot_id: string; confirm?: boolean };

function rescheduleAppointment(context: ToolContext, args: Rescheduling, { student_id }: Student): Answer {
  const appointment = bookedAppointment(context, args.appointment_id, student_id);
  if (!appointment) return fail(`There is no upcoming appointment ${args.appointment_id} for this patient.`);
  if (isLate(context, appointment)) {
    return fail(
      `The appointment is less than 24 hours away and cannot be moved. It can be cancelled for a fee of ${LATE_FEE} dollars and booked anew, or kept.`,
    );
  }
  if (appointment.reschedules >= MAX_RESCHEDULES)
    return fail("The appointment has been moved twice; it cannot be moved again.");
  const slot = context.table<Slot>("Slot").get(args.new_slot_id);
  if (slot?.status !== "open") return fail(`Slot ${args.new_slot_id} is not open. List the open slots again.`);
  const provider = providerOf(context, appointment.provider_id);
  if (slot.provider_id !== provider.provider_id) return fail(`The new slot must be with ${provider.name}.`);
  if (slot.minutes < (MINIMUM_MINUTES[appointment.visit_type] ?? 0))
    return fail("The new slot is too short for this visit.");
  const clash = upcoming(context, student_id).some(
    (other) =>
      other.appointment_id !== appointment.appointment_id && other.date === slot.date && other.time === slot.time,
  );
  if (clash) return fail("The patient already has an appointment at that time.");
  const [from, to] = [spoken(appointment.date, appointment.time), spoken(slot.date, slot.time)];
  if (!args.confirm) return preview(`Move the appointment with ${provider.name} from ${from} to ${to}.`);
  freeSlot(context, appointment);
  context.table<Slot>("Slot").update(slot.slot_id, { status: "booked" });
  context.table<Appointment>("Appointment").update(appointment.appointment_id, {
    slot_id: slot.slot_id,
    date: slot.date,
    time: slot.time,
    reschedules: appointment.reschedules + 1,
  });
  return {
    success: true,
    appointment_id: appointment.appointment_id,
    provider: provider.name,
    room: provider.room,
    when: to,
  };
}

function cancelAppointment(
  context: ToolContext,
  args: { appointment_id: string; confirm?: boolean },
  { student_id }: Student,
): Answer {
  const appointment = bookedAppointment(context, args.appointment_id, student_id);
  if (!appointment) return fail(`There is no upcoming appointment ${args.appointment_id} for this patient.`);
  const fee = isLate(context, appointment) ? LATE_FEE : 0;
  const provider = providerOf(context, appointment.provider_id);
  const when = spoken(appointment.date, appointment.time);
  if (!args.confirm) {
    const cost = fee > 0 ? `It is less than 24 hours away: a fee of ${fee} dollars is charged.` : "No fee.";
    return preview(`Cancel the appointment with ${provider.name}, ${when}. ${cost}`, { fee });
  }
  freeSlot(context, appointment);
  context.table<Appointment>("Appointment").update(appointment.appointment_id, { status: "cancelled" });
  const charge = fee > 0 ? chargeLateFee(context, appointment, fee) : undefined;
  return { success: true, appointment_id: appointment.appointment_id, fee, charge_id: charge?.charge_id ?? null };
}

function chargeLateFee(context: ToolContext, { student_id, appointment_id }: Appointment, amount: number): Charge {
  return context.table<Charge>("Charge").insert({
    charge_id: context.newId("CHG"),
    student_id,
    term: TERM,
    kind: "clinic_fee",
    description: `Late cancellation of ${appointment_id}`,
    amount,
    due_on: addDays(context.today, 30),
    status: "open",
  });
}

// --- vaccines

type Submission = { upload_id: string; doses: Dose[]; confirm?: boolean };

function submitImmunizationRecord(context: ToolContext, args: Submission, student: Student): Answer {
  const { student_id } = student;
  const upload = context.table("Upload").get(args.upload_id);
  if (upload?.student_id !== student_id) return fail(`There is no upload ${args.upload_id} from this patient.`);
  if (!upload.readable)
    return fail(`Upload ${args.upload_id} could not be read. The patient must upload a clearer copy.`);
  const known = dosesOf(context, student_id);
  const problem = args.doses.map((dose, index) =>
    doseProblem(context, student, dose, [...known, ...args.doses.slice(0, index)]),
  );
  const first = problem.find((text) => text !== undefined);
  if (first) return fail(first);
  const missing = missingVaccines([...known, ...args.doses]);
  const hold = missing.length === 0 ? immunizationHold(context, student_id) : undefined;
  if (!args.confirm) {
    const listed = args.doses.map(({ vaccine, date }) => `${vaccine} on ${date}`).join(", ");
    const effect =
      missing.length > 0 ? `Still missing afterwards: ${missing.join(", ")}.` : "This completes the requirement.";
    return preview(`Record ${listed}. ${effect}${hold ? ` Hold ${hold.hold_id} is released.` : ""}`, { missing });
  }
  const recorded = args.doses.map(({ vaccine, date }) =>
    context.table<Immunization>("Immunization").insert({
      immunization_id: context.newId("IMM"),
      student_id,
      vaccine,
      date,
      status: "verified",
      recorded_on: context.today,
    }),
  );
  if (hold) context.table<Hold>("Hold").update(hold.hold_id, { status: "released", released_on: context.today });
  return {
    success: true,
    recorded: recorded.map(({ immunization_id, vaccine, date }) => ({ immunization_id, vaccine, date })),
    requirement: { complete: missing.length === 0, missing },
    hold_released: hold?.hold_id ?? null,
  };
}

function doseProblem(
  context: ToolContext,
  student: Student,
  { vaccine, date }: Dose,
  known: Dose[],
): string | undefined {
  if (date > context.today) return `The ${vaccine} dose of ${date} lies in the future.`;
  const age = MINIMUM_AGE[vaccine] ?? 0;
  if (date < addYears(student.date_of_birth, age)) {
    return age > 0
      ? `The ${vaccine} dose of ${date} was given before the age of ${age} and does not count.`
      : `The ${vaccine} dose of ${date} lies before the patient's birth.`;
  }
  const same = known.filter((dose) => dose.vaccine === vaccine);
  if (same.some((dose) => dose.date === date)) return `The ${vaccine} dose of ${date} is already on record.`;
  const tooClose = same.find((dose) => Math.abs(dayNumber(dose.date) - dayNumber(date)) < MMR_INTERVAL_DAYS);
  return vaccine === "MMR" && tooClose
    ? `The MMR doses of ${tooClose.date} and ${date} are less than ${MMR_INTERVAL_DAYS} days apart; only the first of them counts.`
    : undefined;
}

// --- prescriptions, insurance, referrals

type RefillRequest = { prescription_id: string; pickup_location?: string; confirm?: boolean };

function requestPrescriptionRefill(context: ToolContext, args: RefillRequest, { student_id }: Student): Answer {
  const prescription = context.table<Prescription>("Prescription").get(args.prescription_id);
  if (prescription?.student_id !== student_id) return fail(`This patient has no prescription ${args.prescription_id}.`);
  const medication = `${prescription.medication} ${prescription.strength}`;
  const problem = refillProblem(context, prescription, medication);
  if (problem) return fail(problem);
  const pickup_location = args.pickup_location ?? "campus_pharmacy";
  const ready_on = addDays(context.today, pickup_location === "campus_pharmacy" ? 1 : 2);
  if (!args.confirm) return preview(`Refill ${medication}, pickup at ${words(pickup_location)}, ready on ${ready_on}.`);
  const { refill_id } = context.table("Refill").insert({
    refill_id: context.newId("RFL"),
    prescription_id: prescription.prescription_id,
    student_id,
    pickup_location,
    requested_on: context.today,
    ready_on,
    status: "processing",
  });
  const refills_left = prescription.refills_left - 1;
  context
    .table<Prescription>("Prescription")
    .update(prescription.prescription_id, { refills_left, last_filled_on: context.today });
  return { success: true, refill_id: refill_id as string, medication, pickup_location, ready_on, refills_left };
}

function refillProblem(context: ToolContext, prescription: Prescription, medication: string): string | undefined {
  if (prescription.controlled) {
    return `${medication} is a controlled substance. It is renewed only at a visit with the prescriber.`;
  }
  if (prescription.expires_on < context.today)
    return `The prescription expired on ${prescription.expires_on}. A visit is needed.`;
  if (prescription.refills_left === 0)
    return `${medication} has no refills left. A visit with the prescriber is needed.`;
  const from = refillableFrom(prescription);
  return from > context.today ? `It is too early to refill ${medication}; the earliest day is ${from}.` : undefined;
}

function requestInsuranceWaiver(
  context: ToolContext,
  args: { term: string; plan: Plan; confirm?: boolean },
  student: Student,
): Answer {
  const { student_id } = student;
  if (args.term !== TERM) return fail(`Waivers for ${args.term} are not open yet. Only ${TERM} can be waived now.`);
  if (context.today > WAIVER_DEADLINE) return fail(`The waiver deadline for ${TERM}, ${WAIVER_DEADLINE}, has passed.`);
  const charges = context.table<Charge>("Charge");
  const charge = charges.first({ student_id, term: TERM, kind: "health_insurance", status: "open" });
  if (!charge)
    return fail(`There is no open health insurance charge for ${TERM}. A paid one is a matter for Student Accounts.`);
  const shortfalls = planShortfalls(args.plan, student);
  if (shortfalls.length > 0) return fail(`The plan does not qualify: ${shortfalls.join("; ")}.`);
  const { insurer, policy_number } = args.plan;
  if (!args.confirm) {
    return preview(
      `Waive the ${TERM} health insurance charge of ${charge.amount} dollars with ${insurer} policy ${policy_number}.`,
      {
        amount: charge.amount,
      },
    );
  }
  const { insurancewaiver_id } = context.table("InsuranceWaiver").insert({
    insurancewaiver_id: context.newId("IWV"),
    student_id,
    term: TERM,
    ...args.plan,
    status: "approved",
    submitted_on: context.today,
  });
  charges.update(charge.charge_id, { status: "waived" });
  const record = recordOf(context, student_id);
  context.table<HealthRecord>("HealthRecord").update(record.healthrecord_id, { insurance: "own_plan" });
  return {
    success: true,
    insurancewaiver_id: insurancewaiver_id as string,
    charge_id: charge.charge_id,
    amount_waived: charge.amount,
  };
}

function planShortfalls(plan: Plan, student: Student): string[] {
  const shortfalls: string[] = [];
  if (plan.covered_until < COVERED_UNTIL) shortfalls.push(`coverage must last until ${COVERED_UNTIL}`);
  if (plan.annual_deductible > MAX_DEDUCTIBLE) shortfalls.push(`the deductible is above ${MAX_DEDUCTIBLE} dollars`);
  if (!plan.covers_mental_health) shortfalls.push("mental health care must be covered");
  if (!plan.local_claims_office && student.residency === "international") {
    shortfalls.push("international students need an insurer with a claims office in this country");
  }
  return shortfalls;
}

type ReferralRequest = {
  specialty: string;
  appointment_id: string;
  reason: string;
  urgency?: string;
  confirm?: boolean;
};

function requestReferral(context: ToolContext, args: ReferralRequest, { student_id }: Student): Answer {
  const visit = context.table<Appointment>("Appointment").get(args.appointment_id);
  if (visit?.student_id !== student_id) return fail(`There is no appointment ${args.appointment_id} for this patient.`);
  const provider = providerOf(context, visit.provider_id);
  if (visit.status !== "completed" || provider.specialty !== "primary_care") {
    return fail("A referral rests on a completed visit with a primary care provider.");
  }
  if (dayNumber(context.today) - dayNumber(visit.date) > REFERRAL_WINDOW_DAYS) {
    return fail(
      `The visit of ${visit.date} is more than ${REFERRAL_WINDOW_DAYS} days ago. A new primary care visit is needed.`,
    );
  }
  const open = { student_id, specialty: args.specialty, status: "pending_review" };
  if (context.table("Referral").first(open)) return fail(`A referral to ${args.specialty} is already under review.`);
  const urgency = args.urgency ?? "routine";
  if (!args.confirm) return preview(`Ask ${provider.name} for a ${urgency} referral to ${args.specialty}.`);
  const { referral_id } = context.table("Referral").insert({
    referral_id: context.newId("REF"),
    student_id,
    appointment_id: visit.appointment_id,
    provider_id: provider.provider_id,
    specialty: args.specialty,
    urgency,
    reason: args.reason,
    status: "pending_review",
    requested_on: context.today,
  });
  return {
    success: true,
    referral_id: referral_id as string,
    reviewed_by: provider.name,
    review_days: urgency === "soon" ? 1 : 3,
  };
}

// --- what the handlers share

function fail(error: string) {
  return { error };
}

function preview(action_preview: string, details: { [key: string]: number | string[] } = {}) {
  return { needs_confirmation: true, action_preview, ...details };
}

function providerOf(context: ToolContext, provider_id: string): Provider {
  return context.table<Provider>("Provider").get(provider_id) as Provider;
}

function recordOf(context: ToolContext, student_id: string): HealthRecord {
  return context.table<HealthRecord>("HealthRecord").first({ student_id }) as HealthRecord;
}

function upcoming(context: ToolContext, student_id: string): Appointment[] {
  return context.table<Appointment>("Appointment").where({ student_id, status: "booked" });
}

function noShows(context: ToolContext, student_id: string): number {
  const missed = context.table<Appointment>("Appointment").where({ student_id, status: "no_show" });
  return missed.filter(({ date }) => date >= TERM_START).length;
}

function bookedAppointment(context: ToolContext, appointment_id: string, student_id: string): Appointment | undefined {
  return upcoming(context, student_id).find((appointment) => appointment.appointment_id === appointment_id);
}

function freeSlot(context: ToolContext, { slot_id }: Appointment): void {
  if (slot_id) context.table<Slot>("Slot").update(slot_id, { status: "open" });
}

/** Less than 24 hours ahead. */
function isLate(context: ToolContext, { date, time }: Appointment): boolean {
  const days = dayNumber(date) - dayNumber(context.today);
  return days < 1 || (days === 1 && time < context.now().slice(11, 16));
}

function dosesOf(context: ToolContext, student_id: string): Immunization[] {
  return context.table<Immunization>("Immunization").where({ student_id, status: "verified" });
}

function missingVaccines(doses: Dose[]): string[] {
  return Object.entries(REQUIRED_DOSES).flatMap(([vaccine, required]) => {
    const missing = required - doses.filter((dose) => dose.vaccine === vaccine).length;
    return missing > 0 ? [`${missing} ${missing === 1 ? "dose" : "doses"} of ${vaccine}`] : [];
  });
}

function immunizationHold(context: ToolContext, student_id: string): Hold | undefined {
  return context.table<Hold>("Hold").first({ student_id, type: "immunization", status: "active" });
}

function refillableFrom({ last_filled_on, days_supply }: Prescription): string {
  return addDays(last_filled_on, days_supply - REFILL_WINDOW_DAYS);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}

// --- dates

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = "January February March April May June July August September October November December".split(" ");

/** Days since 1 January of the year 1. */
function dayNumber(date: string): number {
  const [year, month, day] = date.split("-").map(Number) as [number, number, number];
  const past = year - 1;
  let days = past * 365 + Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400) + day - 1;
  for (let earlier = 1; earlier < month; earlier++) days += monthLength(year, earlier);
  return days;
}

function monthLength(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function addDays(date: string, count: number): string {
  let [year, month, day] = date.split("-").map(Number) as [number, number, number];
  for (day += count; day > monthLength(year, month); ) {
    day -= monthLength(year, month);
    month = month === 12 ? 1 : month + 1;
    if (month === 1) year++;
  }
  return [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
}

function addYears(date: string, count: number): string {
  return `${Number(date.slice(0, 4)) + count}${date.slice(4)}`;
}

function weekday(date: string): string {
  return WEEKDAYS[dayNumber(date) % 7] as string;
}

function dayText(date: string): string {
  return `${weekday(date)}, ${MONTHS[Number(date.slice(5, 7)) - 1]} ${Number(date.slice(8))}`;
}

function clockText(time: string): string {
  const hour = Number(time.slice(0, 2));
  return `${hour % 12 || 12}:${time.slice(3)} ${hour < 12 ? "AM" : "PM"}`;
}

function spoken(date: string, time: string): string {
  return `${dayText(date)} at ${clockText(time)}`;
}

const CONFIRMED = {
  book_appointment: forPatient(bookAppointment),
  reschedule_appointment: forPatient(rescheduleAppointment),
  cancel_appointment: forPatient(cancelAppointment),
  submit_immunization_record: forPatient(submitImmunizationRecord),
  request_prescription_refill: forPatient(requestPrescriptionRefill),
  request_insurance_waiver: forPatient(requestInsuranceWaiver),
  request_referral: forPatient(requestReferral),
};

const server: DomainServer = {
  today: "2026-02-10",
  reads: {
    get_health_record: forPatient(getHealthRecord),
    search_providers: searchProviders,
    list_open_slots: forPatient(listOpenSlots),
    list_appointments: forPatient(listAppointments),
    list_immunizations: forPatient(listImmunizations),
    list_prescriptions: forPatient(listPrescriptions),
    get_clinic_fees: getClinicFees,
  },
  writes: { verify_patient: verifyPatient, ...CONFIRMED },
  rules: [
    {
      id: "verify_patient_first",
      rule: "authorize_first",
      tool: "verify_patient",
      except: ["search_providers", "get_clinic_fees"],
    },
    { id: "consent_before_change", rule: "confirm_before", tools: Object.keys(CONFIRMED) },
    { id: "one_patient", rule: "one_person", tool: "verify_patient", by: "student_id" },
    { id: "listed_transfers", rule: "transfer", locked_by: "verify_patient" },
  ],
  volatile: { Appointment: ["reason", "booked_at"], Referral: ["reason"] },
};

export default server;
