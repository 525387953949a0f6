// Numbers that a text states: amounts of money, measures, counts.

const UNITS =
  "(?:%|percent|dollars?|usd|bucks|cents|credits?|credit hours|hours?|minutes?|mins?|days?|business days|working days|weeks?|months?|seats?|spots?|places?|copies|instal?l?ments?|points?|doses?|refills?|people|students?|slots?|times|miles|pages?|attempts?)";

export type Stated = { value: { number: number; isMoney: boolean }; text: string };

/** Amounts and measures at any size, other numbers from ten on. */
export function statedNumbers(text: string): Stated[] {
  return [...text.matchAll(STATED)].flatMap(([written, currency, digits, decimals = "", unit = ""]): Stated[] => {
    const number = Number(`${String(digits).replaceAll(",", "")}${decimals}`);
    const isMoney = currency !== undefined || /^\s?(?:dollars?|usd|bucks|cents)/i.test(unit);
    const isMeasured = isMoney || unit !== "" || decimals !== "";
    if (number === 0 || (!isMeasured && number < 10) || (isMeasured && !isMoney && number < 3 && decimals === ""))
      return [];
    return [{ value: { number, isMoney }, text: written.trim() }];
  });
}

const STATED = new RegExp(
  `([$€£]\\s?)?(?<![\\p{L}\\d_]|[\\p{L}\\d][-.:/])(\\d{1,3}(?:,\\d{3})+|\\d+)(\\.\\d+)?(\\s?${UNITS}\\b|\\s?%)?`,
  "giu",
);
