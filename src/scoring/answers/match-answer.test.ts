// Pairs judged by hand: a false accept poisons a data set, a false reject costs a judge's call.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/index.ts";
import { acceptedAnswers, matchAnswer } from "./match-answer.ts";

const CAPITAL = "What is the capital of France?";
const PLANETS = "How many planets does the solar system have?";
const AUTHOR = "Who wrote Middlemarch?";
const LANDING = "When did people first land on the Moon?";
const SIGNED = "On which day was the treaty signed?";
const LANGUAGE = "Which language is the kernel written in?";
const SKY = "What colour is the sky on a clear day?";
const SPEED = "How fast does the train go?";
const PRICE = "How much does the ticket cost?";
const VENUS = "Is Venus hotter than Mercury?";
const COLOURS = "Which are the primary colours of paint?";
const CHINESE = "法国的首都是哪座城市？";
const LENGTH = "这条河有多长？";

type Pair = [question: string, expected: Json, given: string];

const RIGHT: Pair[] = [
  [CAPITAL, "Paris", "Paris"],
  [CAPITAL, "Paris", "paris."],
  [CAPITAL, "Paris", "**Paris**"],
  [CAPITAL, "Paris", "“Paris”"],
  [CAPITAL, "Paris", "`Paris`"],
  [CAPITAL, "Paris", "The capital of France is **Paris**."],
  [CAPITAL, "Paris", "The capital of France is Paris"],
  [CAPITAL, "Paris", "Paris is the capital of France."],
  [CAPITAL, "Paris", "It is Paris."],
  [CAPITAL, "Paris", "It's *Paris*!"],
  [CAPITAL, "Paris", "The answer is Paris."],
  [CAPITAL, "Paris", "According to the documents, the capital of France is Paris."],
  [CAPITAL, "Paris", "The capital of France is Paris. It lies on the Seine."],
  [CAPITAL, "Paris", "The capital is [Paris](https://example.org/paris)."],
  [CAPITAL, "Paris", "Paris, the capital of France."],
  [CAPITAL, "the city of Paris", "City of Paris"],
  [CAPITAL, "Zürich", "Zurich"],
  [CAPITAL, "São Paulo", "Sao Paulo"],
  [CAPITAL, "St. Petersburg", "The capital was St. Petersburg."],
  [CAPITAL, "U.S.", "US"],
  [AUTHOR, "George Eliot", "Middlemarch was written by George Eliot.".replace("was written by", "is by")],
  [AUTHOR, "George Eliot", "George Eliot wrote Middlemarch.".replace("wrote", "is who wrote")],
  [AUTHOR, "Spider-Man", "spider man"],
  [PLANETS, 8, "8"],
  [PLANETS, "8", "Eight"],
  [PLANETS, 8, "8 planets"],
  [PLANETS, 8, "The solar system has 8 planets."],
  [PLANETS, 8, "There are 8 planets in the solar system."],
  [PLANETS, 8, "The number is 8."],
  [PLANETS, "1234.5", "1,234.50"],
  [PLANETS, "1,234,567", "1234567"],
  [PLANETS, "5 million", "5,000,000"],
  [PLANETS, "300000000", "3×10⁸"],
  [PLANETS, "300000000", "$3 \\times 10^{8}$"],
  [PLANETS, "15%", "15"],
  [PLANETS, 15, "15%"],
  [PLANETS, "15%", "0.15"],
  [PLANETS, "1/2", "0.5"],
  [PLANETS, "2.5", "2½"],
  [PLANETS, "0.5", "\\frac{1}{2}"],
  [PLANETS, "-5", "−5"],
  [PLANETS, "15", "fifteen"],
  [SPEED, 300, "300 km/h"],
  [SPEED, "300 km", "300 kilometres"],
  [SPEED, "300 km", "300"],
  [PRICE, "$1,180", "$1,180.00"],
  [PRICE, "$15", "15 dollars"],
  [PRICE, "15", "The ticket costs $15."],
  [LANDING, "1969", "1969"],
  [LANDING, "1969", "July 20, 1969"],
  [LANDING, "1969", "People first landed on the Moon in 1969."],
  [SIGNED, "2021-03-05", "March 5, 2021"],
  [SIGNED, "March 5, 2021", "2021-03-05"],
  [SIGNED, "March 5, 2021", "5 March 2021"],
  [SIGNED, "March 5, 2021", "Friday, 5th of March 2021"],
  [SIGNED, "2021-03-05", "2021年3月5日"],
  [SIGNED, "2021-03-25", "3/25/2021"],
  [SIGNED, "2021-03-05", "The treaty was signed on March 5, 2021."],
  [SIGNED, "March 2021", "5 March 2021"],
  [LANGUAGE, "C", "C"],
  [LANGUAGE, "C++", "The language is C++."],
  [LANGUAGE, "B", "(B)"],
  [LANGUAGE, "B", "B. Rust"],
  [LANGUAGE, "B", "The answer is B."],
  [SKY, "blue", "The sky is blue."],
  [SKY, "blue", "Blue."],
  [VENUS, "yes", "Yes."],
  [VENUS, "Yes", "Yes, Venus is hotter."],
  [VENUS, "no", "No, it isn't."],
  [VENUS, true, "Yes"],
  [COLOURS, ["red", "yellow", "blue"], "blue, red and yellow"],
  [COLOURS, ["red", "yellow", "blue"], "- red\n- blue\n- yellow"],
  [COLOURS, ["red", "yellow", "blue"], "1. Red\n2. Yellow\n3. Blue"],
  [COLOURS, ["red", "yellow", "blue"], "The primary colours are **red**, **yellow**, and **blue**."],
  [COLOURS, ["red", "yellow", "blue"], '["red", "yellow", "blue"]'],
  [COLOURS, ["Trinidad and Tobago", "Cuba"], "Cuba and Trinidad and Tobago"],
  [COLOURS, ["红", "黄", "蓝"], "红、黄和蓝"],
  [COLOURS, [2, 3], "3, 2"],
  [CHINESE, "巴黎", "巴黎"],
  [CHINESE, "巴黎", "“巴黎”。"],
  [CHINESE, "巴黎", "法国的首都是巴黎。"],
  [CHINESE, "巴黎", "巴黎是法国的首都。"],
  [LENGTH, 15, "１５"],
  [LENGTH, "15", "十五"],
  [LENGTH, "15公里", "15公里。"],
  [LENGTH, "15", "长度是15公里。"],
  [LENGTH, "150000", "15万"],
  ["What is the capital of Australia?", "Canberra", "The capital of Australia is Canberra, not Sydney."],
  ["Who painted it?", "Leonardo da Vinci", "It was painted by Leonardo da Vinci."],
  ["How many people live there?", "42", "The number of people who live there is forty-two."],
  ["How many people live there?", "10", "About 10 people live there."],
  ["What is the result?", "15", "3 × 5 = 15"],
  ["What is the result?", "x^2+1", "x^2 + 1"],
  ["Which country is Lyon in?", "France", "Lyon is in France."],
  ["Who won?", "Team A", "Team A won."],
  ["有几个省？", "34", "共有34个省。"],
  ["哪一天？", "1949年10月1日", "1949-10-01"],
  [CAPITAL, "Paris", "Paris, France"],
  [CAPITAL, "Paris", "City: Paris"],
  [CAPITAL, "Paris", "Paris, I think."],
  ["Who won the 2008 election?", "Barack Obama", "It was Barack Obama who won the 2008 election."],
  [PLANETS, 15, "~15"],
  [PLANETS, 15, "x = 15"],
  [PLANETS, 1000, "1000.0"],
  [PRICE, "$1,000", "1000 USD"],
  [CHINESE, "巴黎", "法国的首都是**巴黎**。"],
  ["What is it?", "(1, 2)", "(1,2)"],
  ["What is it?", "-x^2", "$-x^2$"],
  ["What is it?", "*", "*"],
  ["Which is larger, Paris or Lyon?", "Paris", "Paris is larger."],
  ["How many of the 20 are red?", 15, "15 of the 20 are red."],
  ["In what year did the war that began in 1914 end?", "1918", "The war that began in 1914 did end in 1918."],
];

const WRONG: Pair[] = [
  [CAPITAL, "Paris", "Lyon"],
  [CAPITAL, "Paris", ""],
  [CAPITAL, "Paris", "It is not Paris, it is Lyon."],
  [CAPITAL, "Paris", "It isn't Paris."],
  [CAPITAL, "Paris", "Paris or Lyon"],
  [CAPITAL, "Paris", "Either Paris or Lyon."],
  [CAPITAL, "Paris", "Paris, Lyon"],
  [CAPITAL, "Paris", "Paris/Lyon"],
  [CAPITAL, "Paris", "Paris and Lyon"],
  [CAPITAL, "Paris", "The capital is Lyon and Paris."],
  [CAPITAL, "Paris", "Parisian"],
  [CAPITAL, "Paris", "It is a Parisian suburb."],
  [CAPITAL, "Paris", "Paris, Texas"],
  [CAPITAL, "Paris", "It is Paris, Texas."],
  [CAPITAL, "Paris", "It is near Paris."],
  [CAPITAL, "Paris", "It is a suburb of Paris."],
  [CAPITAL, "Paris", "Lyon is larger than Paris."],
  [CAPITAL, "Paris", "Lyon is the capital of France. Paris is the largest city."],
  [CAPITAL, "Paris", "The capital of France is Lyon. The capital of France is Paris."],
  [CAPITAL, "Paris", "It's Lyon. It's Paris."],
  [CAPITAL, "Paris", "Maybe it is Paris."],
  [CAPITAL, "Paris", "Is it Paris?"],
  [CAPITAL, "Paris", "Everybody believes that it is Paris, but the capital is Lyon."],
  [CAPITAL, "Paris", "Before 1940 the capital was Paris."],
  [CAPITAL, "Paris", "I do not know."],
  [CAPITAL, "Paris", "Lyon was Paris's rival."],
  [CAPITAL, "Paris, Texas", "Paris"],
  [CAPITAL, "Paris (Texas)", "Paris"],
  [AUTHOR, "George Eliot", "George Orwell"],
  [AUTHOR, "George Eliot", "Eliot"],
  [AUTHOR, "T. S. Eliot", "George Eliot"],
  [AUTHOR, "George Eliot", "It was written by an admirer of George Eliot."],
  [PLANETS, 10, "100"],
  [PLANETS, 10, "1.0"],
  [PLANETS, 10, "10 or 11"],
  [PLANETS, 10, "10-12"],
  [PLANETS, 10, "more than 10"],
  [PLANETS, 10, "I looked at 10 pages about planets."],
  [PLANETS, 10, "Chapter 10 of the book says that the solar system has 8 planets."],
  [PLANETS, 10, "The first of 10 documents says that there are eleven planets."],
  [PLANETS, 10, `${"The solar system was studied for a long time by many people. ".repeat(12)}There are 10 planets.`],
  [PLANETS, 8, "The solar system has 9 planets."],
  [PLANETS, 8, "The solar system had 9 planets, now it has 8."],
  [PLANETS, 5, "5 million"],
  [PLANETS, 5, "-5"],
  [PLANETS, 108, "10⁸"],
  [PLANETS, "007", "7"],
  [PLANETS, 12345678, "12345679"],
  [PLANETS, 12345.678, "12345.679"],
  [PLANETS, "9007199254740993", "9007199254740992"],
  [PLANETS, 0.15, "15"],
  [PLANETS, "Apollo 11", "11"],
  [PLANETS, "10 Downing Street", "10"],
  [SPEED, "300 km", "300 miles"],
  [PRICE, "$15", "€15"],
  [PRICE, "15", "$15 or $16"],
  [LANDING, "1969", "1970"],
  [LANDING, "1969", "It was before 1969."],
  [LANDING, "1969", "the 1960s"],
  [LANDING, "July 20, 1969", "1969"],
  [LANDING, "July 20, 1969", "July 21, 1969"],
  [LANDING, "July 20, 1969", "July 20, 1970"],
  [LANDING, "44 BC", "44 AD"],
  [SIGNED, "2021-03-05", "2021-05-03"],
  [SIGNED, "2021-03-05", "It was signed on March 5, 2021 or March 6, 2021."],
  [LANGUAGE, "C", "C++"],
  [LANGUAGE, "C", "C#"],
  [LANGUAGE, "C++", "C"],
  [LANGUAGE, "A", "It is a language."],
  [LANGUAGE, "B", "A. Rust"],
  [LANGUAGE, "B", "A or B"],
  [SKY, "blue", "The sky is blue-green."],
  [SKY, "blue", "The sky is dark blue."],
  [SKY, "blue", "The sky is green. The sky is blue."],
  [VENUS, "yes", "No."],
  [VENUS, "no", "Yes."],
  [VENUS, "no", "There is no doubt: yes."],
  [VENUS, "yes", "Yes and no."],
  [VENUS, "yes", "Yes? No, Mercury is."],
  [VENUS, "no", "Nobody knows."],
  [VENUS, "no", "I have no idea."],
  [COLOURS, ["red", "yellow", "blue"], "red, yellow"],
  [COLOURS, ["red", "yellow", "blue"], "red, yellow, blue, green"],
  [COLOURS, ["red", "yellow", "blue"], "red, yellow or blue"],
  [COLOURS, ["red", "yellow", "blue"], "They are not red, yellow and blue."],
  [COLOURS, ["red", "yellow"], "red, red"],
  [CHINESE, "巴黎", "里昂"],
  [CHINESE, "巴黎", "不是巴黎，是里昂。"],
  [CHINESE, "巴黎", "巴黎或里昂"],
  [CHINESE, "巴黎", "可能是巴黎。"],
  [CHINESE, "巴黎", "他是巴黎人。"],
  [CHINESE, "巴黎", "法国的首都是里昂。巴黎是最大的城市。"],
  [CHINESE, "北京", "北京大学"],
  [LENGTH, "15", "约15至20公里"],
  [LENGTH, "15", "15万"],
  [LENGTH, "否", "是"],
  ["What is the largest planet?", "Jupiter", "The second largest planet is Jupiter."],
  ["What is the largest planet?", "Jupiter", "Jupiter is a gas giant."],
  ["Who won?", "Alice", "The runner-up was Alice."],
  ["Who won?", "Alice", "Bob beat Alice."],
  ["Who is the CEO of Apple?", "Tim Cook", "The former CEO of Apple is Tim Cook."],
  ["Which river?", "Nile", "The river is the Blue Nile."],
  ["Which city?", "New York", "New York City"],
  ["Which film?", "It", "It is Jaws."],
  ["What gas?", "oxygen", "It is oxygen. It is hydrogen."],
  ["What gas?", "carbon", "The gas is carbon dioxide."],
  ["How long is it?", "5 km", "It is 5 miles long."],
  ["How long is it?", "5", "It is 5 km wide."],
  ["How many?", "10", "10k"],
  ["How many?", "10", "10+"],
  ["How many?", "10", "10:30"],
  ["最大的行星是哪个？", "木星", "最小的行星是木星。"],
  ["多少钱？", "15元", "15美元"],
  ["谁是作者？", "鲁迅", "作者是鲁迅的弟弟。"],
  [CAPITAL, "Paris", "Paris\nLyon"],
  [CAPITAL, "Paris", "Paris; Lyon"],
  [CAPITAL, "Paris", "Paris - Lyon"],
  [CAPITAL, "Paris", "It used to be Paris."],
  [CAPITAL, "Paris", "The capital of Germany is Paris."],
  [CAPITAL, "Paris", "The capital of France is close to Paris."],
  [CAPITAL, "Paris", "Possible answers include Paris."],
  [CAPITAL, "Paris", "I don't think it's Paris."],
  [CHINESE, "巴黎", "巴黎\n里昂"],
  [PLANETS, 10, "10. Mars"],
  [PLANETS, 1, "1. First I searched."],
  [PLANETS, 15, "> 15"],
  [PLANETS, 15, ">15"],
  [PLANETS, 15, "≥15"],
  [PLANETS, 15, "≠ 15"],
  [PLANETS, 15, "±15"],
  [PLANETS, 15, "15a"],
  [PLANETS, 15, "15th"],
  [PLANETS, 15, "15, 16"],
  [PLANETS, 24, "2*3*4"],
  [PLANETS, 234, "2*3*4"],
  ["What is it?", "-x^2", "x^2"],
  ["What is it?", "(1+2)*3", "1+2*3"],
  ["What is it?", "a<b", "a>b"],
  ["What is it?", "12", "1 2"],
  [CAPITAL, "Paris", "Paris is in France."],
  [CAPITAL, "France", "The capital of France is Paris."],
  ["Which is larger, Paris or Lyon?", "Lyon", "Paris is larger, Lyon smaller."],
  ["Did Alice or Bob win?", "Bob", "Alice did win with Bob."],
  ["How many, 10 or 15?", "15", "10 of 15"],
  ["多少？", "10", "10多个"],
  ["Which month?", "May", "It may be June."],
];

describe("a given answer", () => {
  test.each(RIGHT)("%s %j is right as %j", (question, answer, given) => {
    expect(matchAnswer(given, { answer }, question)).toBeDefined();
  });

  test.each(WRONG)("%s %j is not right as %j", (question, answer, given) => {
    expect(matchAnswer(given, { answer }, question)).toBeUndefined();
  });

  test("is right if it is any one of several accepted ones, and a list under `answer` is wanted as a whole", () => {
    const known = { answers: ["New York City", "NYC", ["Manhattan", "Brooklyn"]] };
    for (const given of ["nyc", "New York City", "Brooklyn and Manhattan"])
      expect(matchAnswer(given, known)).toBeDefined();
    expect(matchAnswer("Manhattan", known)).toBeUndefined();
    expect(matchAnswer("New York City, NYC", known)).toBeUndefined();
    expect(matchAnswer("NYC", { answer: ["New York City", "NYC"] })).toBeUndefined();
    expect(acceptedAnswers({ answer: "", answers: [null, " ", []] })).toEqual([]);
    expect(acceptedAnswers({ answers: "one" })).toEqual(["one"]);
  });

  test("never takes longer than a moment, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), fc.string({ maxLength: 30 }), (given, expected) => {
        matchAnswer(given, { answer: expected }, given);
      }),
    );
    for (const part of ["(", "*a", "1,", "- ", "[a](", "a-", "$1 ", "the "])
      matchAnswer(part.repeat(20_000), { answer: "x" });
  });

  test("is right as the known answer itself, in any of its usual dresses", () => {
    const word = fc.stringMatching(/^[A-Z][a-z]{2,8}$/);
    fc.assert(
      fc.property(
        word,
        fc.constantFrom("%", "**%**", "`%`", '"%"', "% ", "%.", "The answer is %."),
        (answer, dress) => {
          fc.pre(!["The", "And"].includes(answer));
          expect(matchAnswer(dress.replace("%", answer), { answer })).toBeDefined();
        },
      ),
    );
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), (number) => {
        expect(matchAnswer(number.toLocaleString("en-US"), { answer: number })).toBeDefined();
        expect(matchAnswer(`The answer is ${number.toLocaleString("en-US")}.`, { answer: number })).toBeDefined();
        expect(matchAnswer(String(number + 1), { answer: number })).toBeUndefined();
      }),
    );
  });
});
