// The page's server as an attacker meets it: other sites, names, paths and methods, slow and greedy clients, planted keys.
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { takePage } from "./support/view-page.ts";
import { recordLine, writeRun } from "./support/view-run.ts";
import { startView, type ViewServer } from "./support/view-server.ts";

type Answer = { status: number; headers: IncomingHttpHeaders; text: string };
type Asked = { method?: string; headers?: OutgoingHttpHeaders; body?: string };

let folder: WorkFolder;
let server: ViewServer;

beforeEach(async () => {
  folder = workFolder();
  writeRun(join(folder.path, "outputs", "one"), { Desk: recordLine({ queryId: "q-1" }) });
  server = await startView([join(folder.path, "outputs")]);
});

/** As it is written, without the tidying that `fetch` does; with the cookie unless told otherwise. */
function ask(path: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Answer> {
  const { hostname, port } = new URL(server.origin);
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: hostname, port, path, method, headers: { cookie: server.cookie, ...headers }, agent: false },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => {
          text += part;
          if (answer.headers["content-type"]?.startsWith("text/event-stream")) answer.destroy();
        });
        answer.on("close", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

const statusOf = async (path: string, asked?: Asked) => (await ask(path, asked)).status;

async function expectAlive(): Promise<void> {
  expect(await statusOf("/api/runs")).toBe(200);
}

describe("who may ask", () => {
  test("only who has the token or the cookie made from it gets anything", async () => {
    const { port } = new URL(server.origin);
    const token = new URL(server.address).searchParams.get("token") as string;
    await expectAlive();
    for (const cookie of [
      "",
      "rollout=",
      `rollout-${port}=`,
      `rollout-${port}=${token.slice(1)}`,
      `rollout-${port}=${token}x`,
      `rollout-1=${token}`,
      `rollout=${token}`,
    ])
      for (const path of ["/", "/api/runs", "/api/changes", "/assets/index.js", "/?token=", `/?token=${token}x`])
        expect([cookie, path, await statusOf(path, { headers: { cookie } })]).toEqual([cookie, path, 403]);
  });

  test("a token that stands anywhere else than in the address is none", async () => {
    const token = new URL(server.address).searchParams.get("token") as string;
    for (const headers of [
      { referer: server.address },
      { authorization: `Bearer ${token}` },
      { "x-token": token },
      { cookie: `token=${token}` },
      { cookie: "", referer: server.address, origin: server.origin },
    ] as OutgoingHttpHeaders[])
      for (const path of ["/", "/api/runs", `/api/runs?Token=${token}`, `/api/runs#token=${token}`])
        expect([headers, await statusOf(path, { headers: { cookie: "", ...headers } })]).toEqual([headers, 403]);
    const wrongFirst = `/api/runs?token=wrong&token=${token}`;
    expect(await statusOf(wrongFirst, { headers: { cookie: "" } })).toBe(403);
  });

  test("what is sent must be of the right type and size, and nothing is written for anything else", async () => {
    const path = "/api/run/one/annotations";
    const good = JSON.stringify({ dataset: "Desk", id: "q-1", by: "x", verdict: "accept" });
    const post = (body: string, headers: OutgoingHttpHeaders) => statusOf(path, { method: "POST", headers, body });
    const json = "application/json";
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "application/jsonp",
      "",
    ])
      expect([type, await post(good, type === "" ? {} : { "content-type": type })]).toEqual([type, 415]);
    for (const origin of ["null", "http://evil.example", "https://127.0.0.1", ""])
      expect([origin, await post(good, { "content-type": json, origin })]).toEqual([origin, 403]);
    const large = JSON.stringify({ note: "x".repeat(70_000) });
    expect(await post(large, { "content-type": json })).toBe(413);
    expect(await post(large, { "content-type": json, "transfer-encoding": "chunked" })).toBe(413);
    expect(await post(large, { "content-type": "text/plain" })).toBeOneOf([413, 415]);
    // nobody waits for the end of what is far too large: it may be cut off before the answer is read
    const huge = await post("x".repeat(5e7), { "content-type": json }).catch((error) => error.code);
    expect(huge).toBeOneOf([413, "EPIPE", "ECONNRESET"]);
    for (const body of ["", "{", "null", "[]", '"x"', '{"__proto__":{"dataset":"Desk"}}', "\0", good.slice(0, -1)])
      expect([body, await post(body, { "content-type": json })]).toEqual([body, 400]);
    for (const other of ["/api/runs", "/api/changes", "/", "/api/seat", "/api/run/one"])
      expect([other, await statusOf(other, { method: "POST", headers: { "content-type": json }, body: good })]).toEqual(
        [other, 404],
      );
    expect(folder.has("outputs/one/annotations.jsonl")).toBe(false);
    expect(await post(good, { "content-type": "application/json; charset=utf-8" })).toBe(200);
    await expectAlive();
  });

  test("the token leaves the address at once, and the cookie can be read by no script and goes to no other site", async () => {
    const { search } = new URL(server.address);
    const answer = await ask(`/run/one/rollouts${search}&stop=a%20b`, { headers: { cookie: "" } });
    expect(answer.status).toBe(302);
    expect(answer.headers.location).toBe("/run/one/rollouts?stop=a+b");
    expect(answer.headers["set-cookie"]?.[0]).toMatch(/^rollout-\d+=[\w-]{32}; .*HttpOnly; SameSite=Strict$/);
    expect(answer.headers["referrer-policy"]).toBe("no-referrer");
  });

  test("no address with the token leads to another host", async () => {
    const { search } = new URL(server.address);
    for (const path of ["//evil.example/", "/\\evil.example/", "///evil.example", "//evil.example//x"]) {
      const { headers } = await ask(path + search, { headers: { cookie: "" } });
      expect(new URL(headers.location as string, server.origin).origin).toBe(server.origin);
    }
  });

  test("a name that somebody else points at this machine is refused, whatever it looks like", async () => {
    const { host, port } = new URL(server.origin);
    for (const name of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      `127.0.0.1.evil.example:${port}`,
      `localhost.:${port}`,
      `0.0.0.0:${port}`,
      `${host}@evil.example`,
      `evil.example#${host}`,
    ])
      expect([name, await statusOf("/api/runs", { headers: { host: name } })]).not.toContain(200);
    expect(await statusOf("/api/runs", { headers: { host: `LOCALHOST:${port}` } })).toBe(200);
  });

  test("other sites can neither read, nor write, nor frame, nor embed", async () => {
    const { port } = new URL(server.origin);
    const refused: OutgoingHttpHeaders[] = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" },
      { origin: "null" },
      { origin: "http://evil.example" },
      { origin: `https://127.0.0.1:${port}` },
      { origin: `http://localhost:${port}` },
      { origin: "http://127.0.0.1:1" },
      { origin: "file://" },
    ];
    const body = JSON.stringify({ dataset: "Desk", id: "q-1", by: "x", verdict: "accept" });
    for (const headers of refused) {
      expect([headers, await statusOf("/api/runs", { headers })]).toEqual([headers, 403]);
      expect([headers, await statusOf("/", { headers })]).toEqual([headers, 403]);
      for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
        expect(
          await statusOf("/api/run/one/annotations", {
            method: "POST",
            headers: { ...headers, "content-type": type },
            body,
          }),
        ).toBe(403);
    }
    expect(folder.has("outputs/one/annotations.jsonl")).toBe(false);
    const wrong = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    expect(await statusOf("/?token=wrong", { headers: wrong })).toBe(403);
  });

  test("every answer, refused or not, carries the policy and may be kept by nobody", async () => {
    const answers = [
      await ask("/"),
      await ask("/api/runs"),
      await ask("/api/nothing"),
      await ask("/api/run/none"),
      await ask("/assets/none.js"),
      await ask("/", { headers: { cookie: "" } }),
      await ask("/", { headers: { host: "evil.example" } }),
      await ask("/x", { method: "DELETE" }),
      await ask("/api/changes"),
    ];
    for (const { headers } of answers) {
      expect(headers["content-security-policy"]).toMatch(
        /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/,
      );
      expect(headers["content-security-policy"]).not.toMatch(/unsafe|\*/);
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
      expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  test("methods that nothing is made for do nothing", async () => {
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
      for (const path of ["/", "/api/runs", "/api/run/one/annotations"])
        expect([method, await statusOf(path, { method })]).not.toContain(200);
    expect(await ask("/api/runs", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
    expect(await statusOf("/api/runs", { method: "HEAD", headers: { cookie: "" } })).toBe(403);
    await expectAlive();
  });

  test("beyond loopback it needs --i-know and says why; then other names than this machine's own are refused still", async () => {
    const refused = await folder.run(["view", "outputs", "--no-open", "--host", "0.0.0.0"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/can be reached from other machines.*--i-know/);
    server = await startView([join(folder.path, "outputs"), "--host", "0.0.0.0", "--i-know"]);
    expect(new URL(server.address).hostname).not.toBe("0.0.0.0");
    const { port } = new URL(server.origin);
    server = { ...server, origin: `http://127.0.0.1:${port}` };
    await expectAlive();
    expect(await statusOf("/api/runs", { headers: { cookie: "" } })).toBe(403);
    expect(await statusOf("/api/runs", { headers: { host: `evil.example:${port}` } })).toBe(403);
  });
});

describe("in a browser", () => {
  test("two viewers can be open at once, and a link from another site opens the page", async () => {
    const first = server;
    const second = await startView([join(folder.path, "outputs")]);
    const page = await takePage();
    await page.goto(first.address);
    await page.goto(second.address);
    for (const { origin } of [first, second]) {
      await page.goto(`${origin}/run/one`);
      await page.waitForSelector("main h1");
    }
    expect(page.url()).not.toContain("token");
    const link = `<a href="${first.address}">open</a>`;
    await page.route("http://elsewhere.example/", (route) => route.fulfill({ contentType: "text/html", body: link }));
    await page.goto("http://elsewhere.example/");
    await page.click("a");
    await page.waitForURL(`${first.origin}/`);
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await page.unrouteAll();
  });
});

describe("paths", () => {
  test("no path leads out of the page's files and the runs", async () => {
    const out = [
      "/assets/../index.html",
      "/assets/..%2findex.html",
      "/assets/%2e%2e/%2e%2e/server.js",
      "/assets/..%5c..%5cindex.js",
      "/assets/....//index.html",
      "/assets/%2e%2e%2f%2e%2e%2fpackage.json",
      "/assets//etc/passwd",
      "/assets/%00",
      "/../../etc/passwd",
      "/%2e%2e/%2e%2e/etc/passwd",
      "/api/run/..",
      "/api/run/%2e%2e%2f%2e%2e%2fetc",
      "/api/run/..%2fone",
      "/api/run/one%2f..%2fone",
      `/api/run/${encodeURIComponent(folder.path)}`,
      "/api/run/one/rollout/..%2f..%2fDesk/q-1",
      "/api/run/one/rollout/Desk/..%2fq-1",
      "/api/run/one/rollout/Desk/q-1/text/..%2f0",
      "/api/run/__proto__",
      "/api/run/constructor/rollouts",
      "/api/run/one/rollout/__proto__/constructor",
      "/api/run/%E0%A4%A",
      "/api/run/%ff%fe",
      "/api/../../../../etc/passwd",
      "/assets/%252e%252e%252findex.html",
      "/api/run/%252e%252e%252fone",
      "/api/run/one%00",
      "/api/run/one%2500",
      "/api/run/one/rollout/Desk%00/q-1",
      "/api/run/one/rollout/Desk/q-1%00",
      "/api/run/one/rollout/Desk/q-1/text/-1",
      "/api/run/one/rollout/Desk/q-1/text/1e99",
      "/api/run/one/rollout/Desk/q-1/text/length",
      "/api/run/one/against/..%2fone",
      "/api/run/one/against/__proto__",
      "/api/run/.",
      "/api/run/%2e",
      "/api/run//one",
      "/API/runs",
      "/api/run/ONE",
    ];
    for (const path of out) {
      const { status, text } = await ask(path);
      // what is no address of the server's is the page itself, which says that there is no such page
      if (status === 200) expect([path, text]).toEqual([path, expect.stringMatching(/^<!doctype html>/i)]);
      else expect([path, status]).toEqual([path, expect.toBeOneOf([400, 403, 404])]);
      expect(text).not.toMatch(/root:|"dependencies"|import /);
    }
    await expectAlive();
  });

  test("a link out of the folders is no run, one within them is", async () => {
    const outputs = join(folder.path, "outputs");
    writeRun(join(folder.path, "private"), { Desk: recordLine({ queryId: "secret" }) });
    mkdirSync(join(outputs, "group"));
    symlinkSync(join(folder.path, "private"), join(outputs, "linked"));
    symlinkSync(join(folder.path, "private"), join(outputs, "group", "deep"));
    symlinkSync(join(outputs, "one"), join(outputs, "also-one"));
    symlinkSync(outputs, join(outputs, "group", "round"));
    server = await startView([outputs]);
    const { text } = await ask("/api/runs");
    expect((JSON.parse(text) as { name: string }[]).map(({ name }) => name).sort()).toEqual(["also-one", "one"]);
    for (const name of ["linked", "group%2Fdeep", "group", "deep"])
      expect(await statusOf(`/api/run/${name}`)).toBe(404);
  });
});

describe("greedy and broken clients", () => {
  test("addresses and headers without end are refused, and the server goes on", async () => {
    expect(await statusOf(`/api/runs?${"x".repeat(20_000)}`)).toBe(431);
    expect(await statusOf(`/api/run/one/rollouts?${"stop=a&".repeat(2000)}`)).toBe(200);
    expect(await statusOf(`/api/run/one/rollouts?text=${"%00".repeat(2000)}&sort=__proto__&offset=-1e99`)).toBe(200);
    expect(await statusOf("/api/run/one/rollouts?offset=NaN&turns=a..b&within=%7B&sort=constructor")).toBe(200);
    await expectAlive();
  });

  test("many listeners that never read, and requests that never end, keep nobody else waiting", async () => {
    const { hostname, port } = new URL(server.origin);
    const sockets = Array.from({ length: 200 }, (_, at) => {
      const socket = connect(Number(port), hostname).on("error", () => {});
      const whole = `GET /api/changes HTTP/1.1\r\nHost: ${hostname}:${port}\r\nCookie: ${server.cookie}\r\n\r\n`;
      socket.pause().write(at % 2 === 0 ? whole : whole.slice(0, 30));
      return socket;
    });
    for (let number = 0; number < 20; number++) await expectAlive();
    for (const socket of sockets) socket.destroy();
    await expectAlive();
  });

  test("clients that send slowly, break off, or ask for the head of a stream leave no file or connection open", async () => {
    const { hostname, port } = new URL(server.origin);
    const held = () => (existsSync("/proc") ? readdirSync(`/proc/${server.child.pid}/fd`).length : 0);
    await expectAlive();
    const before = held();
    const head = `Host: ${hostname}:${port}\r\nCookie: ${server.cookie}\r\n`;
    const sent = [
      `POST /api/run/one/annotations HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      `POST /api/run/one/annotations HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n5\r\n{"a"`,
      `GET /api/run/one/rollouts?text=q HTTP/1.1\r\n${head}\r\n`,
      `HEAD /api/changes HTTP/1.1\r\n${head}\r\n`,
      `GET /api/changes HTTP/1.1\r\n${head}\r\n`,
    ];
    const sockets = Array.from({ length: 100 }, (_, at) => {
      const socket = connect(Number(port), hostname).on("error", () => {});
      socket.write(sent[at % sent.length] as string);
      return socket;
    });
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    await expectAlive();
    for (const socket of sockets) socket.destroy();
    while (held() > before) await expectAlive();
    expect(folder.has("outputs/one/annotations.jsonl")).toBe(false);
  });

  test("what is no HTTP gets no answer that helps, and the server goes on", async () => {
    const { hostname, port } = new URL(server.origin);
    for (const text of [
      "\0\0\0",
      "GET\r\n\r\n",
      "GET / HTTP/9\r\n\r\n",
      `GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n`,
    ]) {
      const socket = connect(Number(port), hostname).on("error", () => {});
      const closed = new Promise<string>((resolve) => {
        let got = "";
        socket.setEncoding("utf8").on("data", (part: string) => {
          got += part;
          socket.destroy();
        });
        socket.on("close", () => resolve(got));
      });
      socket.write(text);
      expect(await closed).toMatch(/^(HTTP\/1\.1 4\d\d .*)?/);
      expect(await closed).not.toMatch(/ 200 /);
    }
    await expectAlive();
  });
});

test("keys that stand in records, prompts, failures and scores reach no answer", async () => {
  const key = `sk-ant-api03-${"Q7x".repeat(30)}-planted`;
  const text = `my key is ${key} and again ${key}`;
  const record = recordLine({
    queryId: "q-1",
    messages: [
      { role: "user", content: text },
      { role: "assistant", content: text, reasoning_content: text },
    ],
    metadata: { message: text, system_hash: "h1", stop_reason: "agent_error" },
  });
  const failure = {
    id: "q-2",
    query_id: "q-2",
    rollout: 0,
    dataset: "Desk",
    attempt: 1,
    error: text,
    kind: text,
    stack: text,
    at: "2026-01-01T00:00:00.000Z",
  };
  writeRun(
    join(folder.path, "outputs", "keys"),
    { Desk: record },
    {
      "failures.jsonl": `${JSON.stringify(failure)}\n`,
      "prompts.jsonl": `${JSON.stringify({ hash: "h1", kind: "system", content: text })}\n`,
    },
  );
  server = await startView([join(folder.path, "outputs")]);
  const paths = [
    "/api/runs",
    "/api/run/keys",
    "/api/run/keys/rollouts",
    "/api/run/keys/rollouts?text=my+key",
    "/api/run/keys/rollout/Desk/q-1",
  ];
  for (const path of [...paths, "/api/run/keys/rollout/Desk/q-2", "/api/run/keys/rollout/Desk/q-1/annotations"]) {
    const answer = await ask(path);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.text).not.toContain("Q7xQ7x");
  }
});
