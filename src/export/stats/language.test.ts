import { expect, test } from "vitest";
import { detectLanguage } from "./language.ts";

test.each([
  ["en", "Hi, I'd like to renew the loan of my book, please."],
  ["en", "I need to fly to São Paulo with 東京 Airlines."],
  ["zh", "你好，我想续借上个月借的书，编号是 LN-2041，可以吗？"],
  ["zh", "帮我查一下 order W2378156 的状态"],
  ["ja", "こんにちは。先月借りた本の貸出期間を延長したいのですが。"],
  ["ko", "안녕하세요, 지난달에 빌린 책을 연장하고 싶어요."],
  ["ru", "Здравствуйте, я хочу продлить книгу, которую взял в прошлом месяце."],
  ["ar", "مرحبا، أريد تجديد الكتاب الذي استعرته الشهر الماضي"],
  ["es", "Hola, quiero renovar el libro que saqué el mes pasado, por favor."],
  ["fr", "Bonjour, je voudrais prolonger le livre que j’ai emprunté le mois dernier."],
  ["de", "Hallo, ich möchte das Buch verlängern, das ich im letzten Monat ausgeliehen habe."],
  ["it", "Ciao, vorrei rinnovare il prestito del libro che ho preso il mese scorso."],
  ["pt", "Olá, eu quero renovar o livro que peguei no mês passado, por favor."],
  ["nl", "Hallo, ik wil graag het boek verlengen dat ik vorige maand heb geleend."],
  ["other", "Cześć, chciałbym przedłużyć książkę wypożyczoną w zeszłym miesiącu."],
  ["other", "Добрий день, я хочу продовжити книгу, яку взяв минулого місяця, її назва відома."],
  ["other", "สวัสดีครับ ผมอยากต่ออายุหนังสือที่ยืมเมื่อเดือนที่แล้ว"],
  ["other", "12345 !?"],
  ["other", ""],
])("%s: %s", (language, text) => {
  expect(detectLanguage(text)).toBe(language);
});
