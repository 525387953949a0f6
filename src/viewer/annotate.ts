// What the page sends when somebody annotates: read with care, then one line in the run's annotations.jsonl.
import { z } from "zod";
import { dropUndefined, systemClock, timestamp, wellFormed } from "../core/index.ts";
import { readExtents } from "../files/index.ts";
import { type AnnotationRecord, appendAnnotation, JUDGEMENTS, readTrajectory } from "../runs/index.ts";
import type { IndexedRow } from "./rows.ts";
import type { NamedRun } from "./runs.ts";

/** Sizes that a person's words do not need to pass. */
const MAX_NOTE_BYTES = 10 * 1024;
const MAX_TAGS = 20;
const MAX_TAG = 60;
const MAX_NAME = 60;
/** Of a request: more than the largest annotation takes. */
export const MAX_REQUEST_BYTES = 64 * 1024;

const oneLine = (what: string, most: number) =>
  z
    .string(`${what} must be a text`)
    .transform((text) => wellFormed(text).normalize("NFC").replace(/\s+/gu, " ").trim())
    .refine((text) => text !== "", `${what} must not be empty`)
    .refine((text) => !/\p{Cc}/u.test(text), `${what} must not have control characters`)
    .refine((text) => [...text].length <= most, `${what} must have at most ${most} characters`);

/** The name of an annotator, on the command line and from the page alike. */
export const annotatorSchema = oneLine("The annotator's name", MAX_NAME);

const tagSchema = oneLine("A tag", MAX_TAG).refine(
  (tag) => !tag.includes(",") && !tag.startsWith("!"),
  'A tag must have no comma and not begin with "!": filters of tags are written with them',
);

const requestSchema = z.strictObject({
  dataset: z.string("dataset must be a text"),
  id: z.string("id must be a text"),
  by: annotatorSchema,
  message: z.int("message must be a whole number").min(0, "message must be at least 0").optional(),
  verdict: z.enum(JUDGEMENTS, `verdict must be one of ${JUDGEMENTS.join(", ")}`).optional(),
  tags: z
    .array(tagSchema, "tags must be a list")
    .transform((tags) => [...new Set(tags)])
    .refine((tags) => tags.length <= MAX_TAGS, `There must be at most ${MAX_TAGS} tags`)
    .optional(),
  note: z
    .string("note must be a text")
    .transform((note) => wellFormed(note).trim())
    .refine((note) => Buffer.byteLength(note) <= MAX_NOTE_BYTES, `A note must have at most ${MAX_NOTE_BYTES} bytes`)
    .optional(),
});

type Annotated = { status: 200; annotation: AnnotationRecord } | { status: 400 | 404; error: string };

/** Written once this returns; what is wrong with the request comes back as a sentence. */
export function annotate({ name, index }: NamedRun, body: unknown, clock = systemClock): Annotated {
  const { data: request, error } = requestSchema.safeParse(body);
  if (!request) return { status: 400, error: `${describe(error)}.` };
  const { dataset, id, by, message, verdict, tags = [], note = "" } = request;
  const row = index.rowOf(dataset, id);
  if (!row) return { status: 404, error: `${name} has no finished rollout ${id} of ${dataset}.` };
  if (message !== undefined && message >= countMessages(row))
    return { status: 400, error: `${id} has no message ${message}: they are counted from 0.` };
  const annotation: AnnotationRecord = dropUndefined({
    ...{ id, query_id: row.queryId, rollout: row.rollout, dataset, by, at: timestamp(clock), message, verdict },
    tags: tags.length > 0 ? tags : undefined,
    note: note === "" ? undefined : note,
  });
  appendAnnotation(index.path, annotation);
  index.updateAnnotations();
  return { status: 200, annotation };
}

function describe(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue?.code === "unrecognized_keys") return `The request has an unknown member: ${issue.keys.join(", ")}`;
  return issue?.path.length === 0
    ? "The request must be a JSON object"
    : (issue?.message ?? "The request is not valid");
}

function countMessages({ dataset, place }: IndexedRow): number {
  const [bytes] = readExtents(place.file, [place]);
  const read = bytes && readTrajectory(bytes, dataset);
  return typeof read === "object" ? read.trajectory.messages.length : 0;
}
