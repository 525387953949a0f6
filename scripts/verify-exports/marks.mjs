// Puts a mark into every text of a record, so that whatever a trainer makes of it can be traced back: which reply,
// whose reasoning, which call. The facts say what each mark stands for.

export class Marks {
  /** by mark: kind, text as it must come back, and for calls the arguments, for tools the parameters */
  facts = {};
  #known = new Map();
  #replies = 0;

  /** The same record with marks in it. Equal texts in the same place of a query's rollouts get the same mark. */
  mark(record) {
    const place = (index, kind, text) => `${record.query_id}\n${index}\n${kind}\n${text}`;
    let history = "";
    let turn = "";
    const messages = record.messages.map((message, index) => {
      history += JSON.stringify(message);
      if (message.role === "user") turn = `${record.query_id} ${index}`;
      if (message.role !== "assistant")
        return { ...message, content: this.#text(place(index, message.role, message.content), message.role, message) };
      // an agent's messages are the same only if all before them is
      const reply = this.#known.get(history) ?? ++this.#replies;
      this.#known.set(history, reply);
      return this.#reply(message, reply, turn);
    });
    const tools = record.tools?.map((tool) => this.#tool(record, tool));
    return { ...record, messages, tools };
  }

  #reply(message, reply, turn) {
    const made = { ...message };
    if (message.content) made.content = this.#text(`${reply} answer`, "answer", message, { reply, turn });
    if (message.reasoning_content) {
      const content = message.reasoning_content;
      made.reasoning_content = this.#text(`${reply} reasoning`, "reasoning", { content }, { reply, turn });
    }
    made.tool_calls = message.tool_calls?.map((call) => {
      const { name, arguments: given } = call.function;
      const at = given.indexOf("{") + 1;
      const mark = this.#mark(`${reply} ${call.id}`, { kind: "call", reply, turn });
      const rest = given.slice(at);
      const marked = `{"_ref":"${mark}"${rest.trim() === "}" ? "" : ","}${rest}`;
      this.facts[numberOf(mark)].arguments = JSON.parse(JSON.stringify(marked.toWellFormed()));
      return { ...call, function: { name, arguments: marked } };
    });
    if (!made.tool_calls) delete made.tool_calls;
    return made;
  }

  #text(key, kind, { content }, place = {}) {
    const mark = this.#mark(key, { kind, ...place });
    const text = content ? `${mark} ${content}` : mark;
    this.facts[numberOf(mark)].text = text.toWellFormed();
    return text;
  }

  #tool(record, tool) {
    const { description = "", parameters = {}, ...rest } = tool.function;
    const key = `tool ${record.dataset} ${JSON.stringify(tool)}`;
    const mark = this.#mark(key, { kind: "tool-list", parameters: JSON.stringify(parameters) });
    return { ...tool, function: { ...rest, description: `${mark} ${description}`, parameters } };
  }

  #mark(key, fact) {
    let number = this.#known.get(key);
    if (!number) {
      number = Object.keys(this.facts).length + 1;
      this.#known.set(key, number);
      this.facts[number] = { ...fact, records: 0 };
    }
    this.facts[number].records++;
    return `~#${number}#~`;
  }
}

function numberOf(mark) {
  return mark.slice(2, -2);
}
