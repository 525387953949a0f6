// A seat in the terminal, or over lines on standard input: shows what the other side said, reads what the person answers.
import { createInterface } from "node:readline";
import { END_TOKENS } from "../core/index.ts";
import { describeField, type Field, fieldsOf, type Seat, type SeatAnswer, writeField } from "../viewer/index.ts";
import type { Host } from "./host.ts";
import { seatLines, wrap } from "./printing/dialogue-text.ts";
import { cut, printable, type Terminal } from "./printing/terminal.ts";

const [STOP, TRANSFER, OUT] = Object.keys(END_TOKENS);
const ENDS: { [word: string]: string | undefined } = { "/stop": STOP, "/transfer": TRANSFER, "/out": OUT };

const HELP = {
  agent: `  text                  say it to the user; /say text too, and a line that ends with \\ goes on in the next
  /policy               your instructions and the policy
  /tools [name]         the tools at hand, or one of them with its parameters
  /call name {json}     call a tool; without the JSON, each parameter is asked for
  /and name {json}      keep a call, to be made together with the next /call
  /drop                 forget the calls that were kept`,
  user: `  text                  say it to the agent; /say text too, and a line that ends with \\ goes on in the next
  /scenario             who you are and what you want
  /stop [text]          you have what you wanted: say the text, and end
  /transfer [text]      the agent hands you over to a person: end
  /out [text]           the agent cannot help, or the scenario has no answer: end`,
  userTools: `  /tools [name]         what you can do on your side
  /call name {json}     do it; without the JSON, each parameter is asked for`,
};

/** Until the dialogue is over or the person leaves; ends by itself when `stop` is called. */
export class SeatTerminal {
  readonly #host: Host;
  readonly #seat: Seat;
  readonly #terminal: Terminal;
  readonly #lines: LineReader;
  readonly #kept: SeatAnswer["calls"] = [];
  #shown = 0;
  #hasBegun = false;

  constructor(host: Host, seat: Seat, terminal: Terminal) {
    this.#host = host;
    this.#seat = seat;
    this.#terminal = terminal;
    this.#lines = new LineReader(host);
  }

  async converse(): Promise<void> {
    while (await this.#untilAsked()) {
      this.#show();
      const answered = await this.#answer();
      if (!answered) {
        this.#host.emit("SIGHUP"); // nobody is there any more: the run parks
        return;
      }
    }
  }

  /** Shows the rest. */
  stop(): void {
    this.#lines.close();
    this.#show();
  }

  async #untilAsked(): Promise<boolean> {
    for (;;) {
      const { asked, over, isLeft } = this.#seat.view;
      if (asked) return true;
      if (over || isLeft) return false;
      await new Promise<void>((resolve) => {
        const leave = this.#seat.listen(() => {
          leave();
          resolve();
        });
      });
    }
  }

  #show(): void {
    const { items, party, notice } = this.#seat.view;
    if (!this.#hasBegun && items.length + (this.#seat.view.asked ? 1 : 0) > 0) this.#begin();
    for (const item of items.slice(items.length < this.#shown ? 0 : this.#shown)) {
      const isTyped = this.#shown > 0 && item.by === party && this.#terminal.interactive;
      if (!isTyped) for (const line of seatLines(this.#terminal, item)) this.#terminal.out(line);
    }
    this.#shown = items.length;
    if (notice) this.#terminal.out(this.#terminal.paint("yellow", notice));
  }

  #begin(): void {
    this.#hasBegun = true;
    const { party, place, tools, system } = this.#seat.view;
    const title = `You are the ${party}. ${place ? `${place.queryId} of ${place.dataset}` : ""}`;
    this.#terminal.out(this.#terminal.paint("bold", printable(title)));
    if (party === "user") this.#print(system);
    else this.#terminal.out(`${tools.length} tools (/tools), your instructions (/policy); /help shows all commands.`);
    if (party === "user") this.#terminal.out("/help shows all commands.");
    this.#terminal.out("");
  }

  /** False if there are no more lines. */
  async #answer(): Promise<boolean> {
    for (;;) {
      const line = await this.#readText("> ");
      if (line === undefined) return false;
      if (!this.#seat.view.asked) return true; // answered or left meanwhile
      const answer = await this.#interpret(line);
      if (!answer) continue;
      const problem = this.#seat.answer(answer);
      if (problem === undefined) {
        if (answer.calls.length > 0) this.#kept.length = 0;
        return true;
      }
      this.#complain(problem);
    }
  }

  /** A line that ends with a backslash goes on. */
  async #readText(prompt: string): Promise<string | undefined> {
    let text = await this.#lines.read(prompt);
    while (text?.endsWith("\\")) {
      const more = await this.#lines.read("… ");
      if (more === undefined) return text.slice(0, -1);
      text = `${text.slice(0, -1)}\n${more}`;
    }
    return text;
  }

  /** Undefined: nothing to send yet. */
  async #interpret(line: string): Promise<SeatAnswer | undefined> {
    const [, command = "", rest = ""] = /^\s*(\/[a-z]+)(?:\s+(.*))?$/s.exec(line) ?? [];
    const { party, tools, system } = this.#seat.view;
    if (command === "") {
      if (/^\s*\//.test(line)) return this.#complain("There is no such command; /help shows them, /say says it.");
      return line.trim() === "" ? undefined : { content: line, calls: [] };
    }
    if (command === "/say") return { content: rest, calls: [] };
    if (party === "user" && Object.hasOwn(ENDS, command))
      return { content: `${rest} ${ENDS[command]}`.trim(), calls: [] };
    if (command === "/help") return this.#print(this.#help());
    if (command === (party === "user" ? "/scenario" : "/policy")) return this.#print(system);
    if (command === "/drop") {
      this.#kept.length = 0;
      return undefined;
    }
    if (command === "/tools" && tools.length > 0) return this.#showTools(rest.trim());
    if ((command === "/call" || command === "/and") && tools.length > 0) return this.#call(command, rest.trim());
    return this.#complain(`There is no command ${command} on this seat; /help shows them, /say says it.`);
  }

  async #call(command: string, rest: string): Promise<SeatAnswer | undefined> {
    const [, name = "", json = ""] = /^(\S*)\s*(.*)$/s.exec(rest) ?? [];
    if (name === "") return this.#complain(`Which one? ${command} name {json}; /tools lists them.`);
    const tool = this.#seat.view.tools.find((each) => each.name === name);
    const fields = tool && json === "" ? fieldsOf(tool.parameters) : [];
    const text = json || (fields ? await this.#fillIn(fields) : await this.#ask("arguments as JSON"));
    if (text === undefined) return this.#complain("No call was made.");
    const call = { name, arguments: text };
    if (command === "/call") return { content: "", calls: [...this.#kept, call] };
    this.#kept.push(call);
    this.#terminal.out(`${this.#kept.length} kept for the next /call.`);
    return undefined;
  }

  /** Each parameter in turn; undefined if the person gives up. */
  async #fillIn(fields: readonly Field[]): Promise<string | undefined> {
    const members: string[] = [];
    if (fields.length > 0) this.#terminal.out("An empty line leaves out what is not needed; /cancel gives up.");
    for (const field of fields) {
      const about = `${field.name} (${describeField(field)}${field.required ? ", needed" : ""})`;
      this.#terminal.out(printable([about, field.description].filter(Boolean).join(": ")));
      for (;;) {
        const text = await this.#readField(field);
        if (text === undefined || text.trim() === "/cancel") return undefined;
        const written = writeField(field, text);
        if (written && "problem" in written) {
          this.#complain(written.problem);
          continue;
        }
        if (written) members.push(`${JSON.stringify(field.name)}:${written.json}`);
        break;
      }
    }
    return `{${members.join(",")}}`;
  }

  /** A list has one item in each line, up to an empty one. */
  async #readField({ name, kind }: Field): Promise<string | undefined> {
    const first = await this.#ask(name);
    if (kind !== "list" || !first || first.trim() === "" || /^\s*(\[|\/cancel$)/.test(first)) return first;
    const items = [first];
    for (;;) {
      const next = await this.#ask("");
      if (next === undefined || next.trim() === "") return items.join("\n");
      items.push(next);
    }
  }

  #ask(name: string): Promise<string | undefined> {
    return this.#lines.read(`  ${printable(name)}> `);
  }

  #help(): string {
    const { party, tools } = this.#seat.view;
    const mine = party === "user" && tools.length > 0 ? `${HELP.user}\n${HELP.userTools}` : HELP[party];
    return `${mine}\n  Ctrl-C leaves; the run can be continued.`;
  }

  #showTools(name: string): undefined {
    const { tools } = this.#seat.view;
    const chosen = tools.filter((tool) => name === "" || tool.name === name);
    if (chosen.length === 0) return this.#complain(`There is no tool ${name}; /tools lists them.`);
    for (const { name: each, description, parameters } of chosen) {
      const title = this.#terminal.paint("yellow", printable(each));
      this.#terminal.out(`${title}  ${printable(name ? description : cut(description, 100))}`);
      for (const field of fieldsOf(parameters) ?? []) {
        const about = `${field.name} (${describeField(field)}${field.required ? ", needed" : ""})`;
        this.#terminal.out(printable(`    ${name ? [about, field.description].filter(Boolean).join(": ") : about}`));
      }
      if (name && !fieldsOf(parameters)) this.#print(JSON.stringify(parameters, null, 2));
    }
    return undefined;
  }

  #print(text: string): undefined {
    const width = Math.max(40, Math.min(this.#terminal.columns(), 110));
    for (const line of printable(text).split("\n"))
      for (const part of /^\s/.test(line) ? [line] : wrap(line, width)) this.#terminal.out(part);
    return undefined;
  }

  #complain(text: string): undefined {
    this.#terminal.out(this.#terminal.paint("yellow", printable(text)));
    return undefined;
  }
}

/** Lines that were typed ahead are kept; the end of the input is told once they are read. */
class LineReader {
  readonly #reader: ReturnType<typeof createInterface>;
  readonly #lines: string[] = [];
  readonly #isTerminal: boolean;
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(host: Host) {
    this.#isTerminal = Boolean(host.stdin.isTTY && host.stdout.isTTY);
    this.#reader = createInterface({
      input: host.stdin,
      ...(this.#isTerminal && { output: host.stdout }),
      terminal: this.#isTerminal,
    });
    this.#reader.on("line", (line) => {
      this.#lines.push(line);
      this.#wake?.();
    });
    this.#reader.on("close", () => {
      this.#isEnded = true;
      this.#wake?.();
    });
    this.#reader.on("SIGINT", () => host.emit("SIGINT")); // a terminal in raw mode sends none by itself
  }

  async read(prompt: string): Promise<string | undefined> {
    if (this.#isTerminal && !this.#isEnded && this.#lines.length === 0) {
      this.#reader.setPrompt(prompt);
      this.#reader.prompt();
    }
    while (this.#lines.length === 0 && !this.#isEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#lines.shift();
  }

  close(): void {
    this.#reader.close();
  }
}
