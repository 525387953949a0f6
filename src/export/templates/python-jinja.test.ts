import { expect, test } from "vitest";
import { compile } from "./python-jinja.ts";

const render = (source: string, variables: { [name: string]: unknown } = {}) => compile(source)(variables);

test.each([
  [
    "None, booleans and containers print as in Python",
    "{{ none }} {{ true }} {{ [1, 'a', none] }} {{ {'k': \"it's\"} }}",
    `None True [1, 'a', None] {'k': "it's"}`,
  ],
  ["undefined prints nothing and loops over nothing", "[{{ missing }}{% for x in missing %}x{% endfor %}]", "[]"],
  [
    "what was written before a continue stays",
    "{% for i in [1, 2] %}a{% if i == 1 %}b{% continue %}{% endif %}c{% endfor %}",
    "abac",
  ],
  [
    "what was written before a break stays",
    "{% for i in [1, 2] %}a{% if i == 1 %}b{% break %}{% endif %}c{% endfor %}",
    "ab",
  ],
  [
    "a variable set in one round of a loop is gone in the next",
    "{% for i in [1, 2, 3] %}{% if i == 2 %}{% set y = 5 %}{% endif %}{{ y is defined }} {% endfor %}",
    "False True False ",
  ],
  [
    "a macro does not see its caller's loop",
    "{% macro f() %}[{{ z }}]{% endmacro %}{% for z in [1] %}{{ f() }}{% endfor %}",
    "[]",
  ],
  [
    "strip takes the characters to strip",
    "{{ '\\n  x \\n'.strip('\\n') }}|{{ 'xxa'.lstrip('x') }}|{{ ' a '.rstrip() }}|",
    "  x |a| a|",
  ],
  [
    "an empty list is false, also behind not",
    "{{ not [] }} {{ not {} }} {{ [] == [] }} {{ '1' == 1 }}",
    "True True True False",
  ],
  [
    "a method is not hidden by a key of its name",
    "{% for k, v in x.items() %}{{ k }}{% endfor %} {{ x['items'] }}",
    "items 1",
  ],
  [
    "tojson keeps text as it is and writes JSON like Python",
    "{{ x | tojson }} {{ [1, {}] | tojson(indent=2) }} {{ 'é' | tojson(ensure_ascii=true) }}",
    '{"items": 1} [\n  1,\n  {}\n] "\\u00e9"',
  ],
  ["strings have Python's escapes", "{{ '\\u003c\\x41\\q\\\\u003c\\u0027' }} \\u003c", "<A\\q\\u003c' \\u003c"],
  [
    "operators are Python's",
    "{{ -7 % 3 }} {{ 'ab' * 2 }} {{ 1 in [true] }} {{ 'k' not in {'k': 1} }} {{ 'a' in missing }}",
    "2 abab True False False",
  ],
  ["~ joins anything", "{{ none ~ 1 ~ true ~ 'x' }}", "None1Truex"],
  ["blocks take their line with them", "a\n  {% if true %}\n  b\n  {% endif %}\nc", "a\n  b\nc"],
  ["lines may end with CR LF", "a\r\n{% if true %}\r\nb\r\n{% endif %}\r\n", "a\nb\n"],
  ["generation blocks leave no trace", "a{% generation %}b{{ 1 }}{% endgeneration %}\nc", "ab1c"],
  [
    "loops have their variables",
    "{% for i in 'ab' %}{{ loop.index }}{{ i }}{{ loop.previtem is defined }}{{ loop.last }} {% endfor %}",
    "1aFalseFalse 2bTrueTrue ",
  ],
])("%s", (_, source, expected) => {
  expect(render(source, { x: { items: 1 } })).toBe(expected);
});

test.each([
  ["{{ raise_exception('No system role') }}", /^No system role$/],
  ["{{ missing.content }}", /^missing is undefined$/],
  ["{{ 'a' + none }}", /'str' and 'NoneType'/],
  ["{{ 'a'.items() }}", /is a str and has no items\(\)/],
  ["{{ 'a' | items }}", /Can only get item pairs from a mapping/],
  ["{% for x in none %}{% endfor %}", /'NoneType' object is not iterable/],
])("%s is refused", (source, words) => {
  expect(() => render(source)).toThrow(words);
});

test("strftime_now knows the date", () => {
  expect(render("{{ strftime_now('%Y-%m-%d') }}")).toMatch(/^\d{4}-\d\d-\d\d$/);
});
