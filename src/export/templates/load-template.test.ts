import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { UsageError } from "../../core/index.ts";
import { loadTemplate } from "./load-template.ts";

const messages = [{ role: "user", content: "Hi" }];
const tools = [{ type: "function", function: { name: "look_up" } }];
const named = [
  { name: "default", template: "plain {{ messages[0].content }}" },
  { name: "tool_use", template: "tools {{ messages[0].content }}" },
];

function folderWith(files: { [name: string]: unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), "template-"));
  for (const [name, value] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
  }
  return folder;
}

test("a file of any accepted kind is rendered, with the tokens of the config beside it", () => {
  const text = "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}";
  const config = { chat_template: text, bos_token: "<s>", eos_token: { content: "</s>", special: true } };
  const folder = folderWith({ "a.jinja": text, "b.j2": text, "c.txt": text, "tokenizer_config.json": config });
  for (const name of ["a.jinja", "b.j2", "c.txt", "tokenizer_config.json", "."])
    expect(loadTemplate(join(folder, name)).render({ messages })).toBe("<s>Hi</s>");
  const alone = folderWith({ "a.jinja": text });
  expect(loadTemplate(join(alone, "a.jinja")).render({ messages })).toBe("Hi");
});

test("tools and documents that a row does not have are None", () => {
  const folder = folderWith({ "a.j2": "{{ tools is none }} {{ documents is none }} {{ add_generation_prompt }}" });
  expect(loadTemplate(join(folder, "a.j2")).render({ messages, tools: undefined })).toBe("True True False");
});

test("of named templates, tool_use is taken where there are tools", () => {
  const template = loadTemplate(folderWith({ "tokenizer_config.json": { chat_template: named } }));
  expect(template.render({ messages, tools })).toBe("tools Hi");
  expect(template.render({ messages, tools: [] })).toBe("plain Hi");
  expect(template.render({ messages })).toBe("plain Hi");
});

test("files of templates in a folder count before the config", () => {
  const config = { "tokenizer_config.json": { chat_template: named }, "chat_template.json": { chat_template: "old" } };
  const main = loadTemplate(folderWith({ ...config, "chat_template.jinja": "main" }));
  expect([main.render({ messages }), main.render({ messages, tools })]).toEqual(["main", "tools Hi"]);
  const more = loadTemplate(folderWith({ ...config, "additional_chat_templates/tool_use.jinja": "more" }));
  expect([more.render({ messages }), more.render({ messages, tools })]).toEqual(["plain Hi", "more"]);
});

test("a model's name is looked up in the given caches, at its current snapshot", () => {
  const model = "models--acme--tiny-1.5";
  const hub = folderWith({
    [`${model}/refs/main`]: "bbb\n",
    [`${model}/snapshots/aaa/chat_template.jinja`]: "old",
    [`${model}/snapshots/bbb/chat_template.jinja`]: "new",
  });
  const hubFolders = [join(hub, "missing"), hub];
  expect(loadTemplate("acme/tiny-1.5", { hubFolders }).render({ messages })).toBe("new");
  expect(() => loadTemplate("acme/other", { hubFolders })).toThrow(/models--acme--other.*hf download acme\/other/);
});

test("what cannot be loaded is said with its place", () => {
  const folder = folderWith({ "bad.jinja": "{% for %}", "notes.md": "x", "sub/readme.txt": "x", "a.json": "{}" });
  const reasons: [string, RegExp][] = [
    [join(folder, "bad.jinja"), /bad\.jinja: this chat template cannot be read/],
    [join(folder, "notes.md"), /notes\.md: a chat template is a \.jinja/],
    [join(folder, "sub"), /sub: there is no chat template in this folder/],
    [join(folder, "a.json"), /a\.json has no chat template/],
    [join(folder, "gone.jinja"), /gone\.jinja: there is no such file/],
  ];
  for (const [given, reason] of reasons) {
    expect(() => loadTemplate(given)).toThrow(reason);
    expect(() => loadTemplate(given)).toThrow(UsageError);
  }
});
