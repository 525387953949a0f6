// Dates, times of day and spans of time as a text writes them.
import { MONTHS, numbersIn, two } from "../values.ts";

const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
const DATE_FORMS: [RegExp, (match: RegExpMatchArray) => string][] = [
  [/(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/g, ([, , month, day]) => `${month}-${day}`],
  [
    new RegExp(`\\b${MONTH}\\s+(\\d{1,2})(?:st|nd|rd|th)?\\b(?![:.]?\\d|\\s?%)`, "gi"),
    ([, month, day]) => monthDay(month, day),
  ],
  [
    new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?:\\s+of)?\\s+${MONTH}(?=$|[\\s,.;:!?)])`, "gi"),
    ([, day, month]) => monthDay(month, day),
  ],
  [/(\d{1,2})月(\d{1,2})[日号]/g, ([, month, day]) => `${two(month)}-${two(day)}`],
  [/(?<![\d/.-])(\d{1,2})\/(\d{1,2})(?:\/(?:\d{4}|\d{2}))?(?![\d/])/g, ([, month, day]) => `${two(month)}-${two(day)}`],
  [/(?<![\d/.-])(\d{1,2})\.(\d{1,2})\.(?:\d{4}|\d{2})?(?!\d)/g, ([, day, month]) => `${two(month)}-${two(day)}`],
];

function monthDay(month: string | undefined, day: string | undefined): string {
  return `${two(MONTHS.indexOf(String(month).slice(0, 3).toLowerCase()) + 1)}-${two(day)}`;
}

/** `or`: read with day and month the other way round. */
export function datesWithText(text: string): { date: string; or?: string; text: string }[] {
  return DATE_FORMS.flatMap(([pattern, read]) =>
    [...text.matchAll(pattern)].map((match) => {
      const date = read(match);
      const swapped = `${date.slice(3)}-${date.slice(0, 2)}`;
      const or = match[0].includes("/") && DAY.test(swapped) ? swapped : undefined;
      return DAY.test(date) ? { date, or, text: match[0] } : { date: or ?? "", text: match[0] };
    }),
  ).filter(({ date }) => date !== "");
}

const DAY = /^(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

export function datesIn(text: string): string[] {
  return datesWithText(text).flatMap(({ date, or }) => (or ? [date, or] : [date]));
}

const TIME =
  /(?<![\d:.$])(?:T)?([01]?\d|2[0-3]):([0-5]\d)(?::\d{2})?\s*(a\.?m\.?|p\.?m\.?)?(?![\d:])|(?<![\d:.$-])(1[0-2]|[1-9])\s*(a\.?m\.?|p\.?m\.?)(?![\p{L}\d])/giu;

export function timesWithText(text: string): { minutes: number; text: string }[] {
  return [...text.matchAll(TIME)].map(([written, hour, minute, half, bareHour, bareHalf]) => {
    const which = (half ?? bareHalf ?? "").toLowerCase();
    let hours = Number(hour ?? bareHour);
    if (which.startsWith("p") && hours < 12) hours += 12;
    if (which.startsWith("a") && hours === 12) hours = 0;
    return { minutes: hours * 60 + Number(minute ?? 0), text: written };
  });
}

export function timesIn(text: string): number[] {
  return timesWithText(text).map(({ minutes }) => minutes);
}

export type Span = { text: string; days: number; isBusiness: boolean };

/** "within two business hours", "takes 5 days": how long something will take. */
export function promisesIn(sentence: string): Span[] {
  const promised = [...sentence.matchAll(PROMISE)].map(([, span]) => String(span));
  return promised.flatMap(spansIn);
}

const SPAN =
  "(?<![\\p{L}\\d])(?:\\d{1,6}|\\p{L}{1,12}(?:-\\p{L}{1,12})?)(?:\\s?(?:-|–|to)\\s?\\d+)?\\s+(?:business|working)?\\s?(?:minutes?|hours?|days?|weeks?|months?)";
const PROMISE = new RegExp(
  `\\b(?:within|takes?(?: up to| about)?|taking|arrives? in|ready in|in up to|up to|should take|will take)\\s+(?:the next\\s+|about\\s+|around\\s+)?(${SPAN})`,
  "giu",
);

const DAYS_OF: { [unit: string]: number } = { hour: 1 / 24, day: 1, week: 7 };

/** Each as "7 business day". */
export function spansIn(text: string): Span[] {
  return [...text.matchAll(new RegExp(SPAN, "giu"))].flatMap(([written]): Span[] => {
    const number = numbersIn(written).at(-1) ?? (/^an?\b/i.test(written) ? 1 : undefined);
    const unit = /(minute|hour|day|week|month)s?$/i.exec(written)?.[1]?.toLowerCase();
    if (number === undefined || unit === undefined) return [];
    const isBusiness = /business|working/i.test(written);
    const days = number * (DAYS_OF[unit] ?? 0);
    return [{ text: `${number} ${isBusiness ? "business " : ""}${unit}`, days, isBusiness }];
  });
}

export function relativeSpans(sentence: string): Span[] {
  const span = (days: number): Span => ({ text: "", days, isBusiness: false });
  return [
    ...(/\b(?:tomorrow|yesterday|the day (?:after|before)|next day)\b/iu.test(sentence) ? [span(1)] : []),
    ...(/\b(?:next week|a week|one week)\b/iu.test(sentence) ? [span(7)] : []),
  ];
}

/** Whether `later` is so many days after `earlier`; both are month and day, in the year that the domains are set in. */
export function isApart(earlier: string, later: string, { days, isBusiness }: Span): boolean {
  const at = (date: string) => Date.UTC(2026, Number(date.slice(0, 2)) - 1, Number(date.slice(3)));
  const gap = (at(later) - at(earlier)) / DAY_MS;
  // the year is not known: December may be the one before
  if (!isBusiness) return days > 0 && [Math.abs(gap), 365 - Math.abs(gap)].includes(days);
  if (days <= 0 || gap < days || gap > days * 2 + 4) return false;
  let workdays = 0;
  for (let day = at(earlier) + DAY_MS; day <= at(later); day += DAY_MS)
    if (new Date(day).getUTCDay() % 6 !== 0) workdays++;
  return workdays === days;
}

const DAY_MS = 86_400_000;
