// Reads what OTLP exporters post to /v1/traces (protobuf), as far as tests look at it. The numbers are the fields of
// opentelemetry/proto/collector/trace/v1.

export type Facts = { [name: string]: unknown };

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  /** empty: a root */
  parentSpanId: string;
  name: string;
  kind: number;
  start: bigint;
  end: bigint;
  facts: Facts;
  status: { code: number; message: string };
  events: { name: string; facts: Facts }[];
};

export function readTraces(body: Buffer): { resource: Facts; spans: ReceivedSpan[] }[] {
  return messagesIn(fieldsOf(body), 1).map((resourceSpans) => ({
    resource: messagesIn(resourceSpans, 1).map((resource) => factsIn(resource, 1))[0] ?? {},
    spans: messagesIn(resourceSpans, 2).flatMap((scope) => messagesIn(scope, 2).map(toSpan)),
  }));
}

type Fields = Map<number, (Buffer | bigint)[]>;

function toSpan(span: Fields): ReceivedSpan {
  const [status] = messagesIn(span, 15);
  return {
    traceId: bytesIn(span, 1).toString("hex"),
    spanId: bytesIn(span, 2).toString("hex"),
    parentSpanId: bytesIn(span, 4).toString("hex"),
    name: bytesIn(span, 5).toString(),
    kind: Number(numberIn(span, 6)),
    start: numberIn(span, 7),
    end: numberIn(span, 8),
    facts: factsIn(span, 9),
    status: { code: status ? Number(numberIn(status, 3)) : 0, message: status ? bytesIn(status, 2).toString() : "" },
    events: messagesIn(span, 11).map((event) => ({ name: bytesIn(event, 2).toString(), facts: factsIn(event, 3) })),
  };
}

function factsIn(fields: Fields, number: number): Facts {
  return Object.fromEntries(
    messagesIn(fields, number).map((pair) => [bytesIn(pair, 1).toString(), messagesIn(pair, 2).map(toPlain)[0]]),
  );
}

function toPlain(value: Fields): unknown {
  const [[number, [content]] = [0, []]] = value as Iterable<[number, (Buffer | bigint)[]]>;
  if (number === 1) return String(content);
  if (number === 2) return content !== 0n;
  if (number === 3) return Number(BigInt.asIntN(64, content as bigint));
  if (number === 5) return messagesIn(fieldsOf(content as Buffer), 1).map(toPlain);
  if (number !== 4) throw new Error(`no test knows values of kind ${number}`);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(content as bigint);
  return bytes.readDoubleLE();
}

function fieldsOf(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = () => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      shift += 7n;
    }
  };
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const type = tag & 7;
    const value =
      type === 0
        ? varint()
        : type === 1
          ? take(8).readBigUInt64LE()
          : type === 2
            ? take(Number(varint()))
            : BigInt(take(4).readUInt32LE());
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

function messagesIn(fields: Fields, number: number): Fields[] {
  return (fields.get(number) ?? []).map((bytes) => fieldsOf(bytes as Buffer));
}

function bytesIn(fields: Fields, number: number): Buffer {
  return (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
}

function numberIn(fields: Fields, number: number): bigint {
  return (fields.get(number)?.[0] as bigint | undefined) ?? 0n;
}
