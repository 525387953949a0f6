// Rows as Parquet, one row group at a time, so that memory holds one group regardless of the number of rows.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import type { SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { ColumnType } from "./formats/format.ts";
import { RawJson, rowText } from "./row-text.ts";
import type { RowWriter } from "./write-jsonl.ts";

/** A group ends at this many rows, or at about this many characters. */
const MAX_GROUP_ROWS = 1000;
const MAX_GROUP_CHARACTERS = 4 << 20;

export function createParquetWriter(file: string, columns: { [name: string]: ColumnType }): RowWriter {
  const descriptor = openSync(file, "w");
  const bytes = new ByteWriter();
  const drain = () => {
    const held = new Uint8Array(bytes.buffer, 0, bytes.index);
    for (let done = 0; done < held.length; ) done += writeSync(descriptor, held, done);
    bytes.index = 0;
  };
  bytes.finish = drain;
  const schema = schemaOf(columns);
  const parquet = new ParquetWriter({ writer: bytes, schema, statistics: false });
  const names = Object.keys(columns);
  let group: unknown[][] = names.map(() => []);
  let rows = 0;
  let characters = 0;
  const flush = () => {
    const columnData = names.map((name, index) => ({ name, data: group[index] as unknown[] }));
    void parquet.write({ columnData, rowGroupSize: Math.max(rows, 1) });
    drain();
    group = names.map(() => []);
    rows = 0;
    characters = 0;
  };
  return {
    write(row) {
      for (const [index, name] of names.entries()) {
        const value = cell(row[name], columns[name] as ColumnType);
        characters += sizeOf(value);
        group[index]?.push(value);
      }
      if (++rows >= MAX_GROUP_ROWS || characters >= MAX_GROUP_CHARACTERS) flush();
    },
    close() {
      if (rows > 0) flush();
      markJson(schema);
      void parquet.finish();
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
    abandon: () => closeSync(descriptor),
  };
}

function cell(value: unknown, type: ColumnType): unknown {
  if (value === undefined || value === null) return null;
  if (type === "json") return value instanceof RawJson ? value.text : rowText({ "": value }).slice(4, -1);
  if (type === "number") return Number(value);
  if (typeof type === "string") return value instanceof RawJson ? value.text : value;
  if (!holdsOther(type)) return value;
  if ("list" in type) return (value as unknown[]).map((item) => cell(item, type.list));
  const record = value as { [name: string]: unknown };
  return Object.fromEntries(Object.entries(type.fields).map(([name, inner]) => [name, cell(record[name], inner)]));
}

const known = new WeakMap<object, boolean>();

/** Whether a value of this type is to be written otherwise than it is held. */
function holdsOther(type: ColumnType): boolean {
  if (typeof type === "string") return type === "json" || type === "number";
  let holds = known.get(type);
  if (holds === undefined) {
    holds = "list" in type ? holdsOther(type.list) : Object.values(type.fields).some(holdsOther);
    known.set(type, holds);
  }
  return holds;
}

/** Our JSON is text already; the writer would encode what is marked as JSON a second time, so the mark comes last. */
function markJson(schema: (SchemaElement & { isJson?: boolean })[]): void {
  for (const element of schema)
    if (element.isJson) Object.assign(element, { converted_type: "JSON", logical_type: { type: "JSON" } });
}

/** Roughly how many characters a value holds: enough to know when a group is large. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 0;
  for (const key in value) size += sizeOf((value as { [key: string]: unknown })[key]);
  return size;
}

function schemaOf(columns: { [name: string]: ColumnType }): SchemaElement[] {
  return [
    { name: "root", num_children: Object.keys(columns).length },
    ...Object.entries(columns).flatMap(([name, type]) => elementsOf(name, type)),
  ];
}

const PLAIN: { [type: string]: Partial<SchemaElement> & { isJson?: boolean } } = {
  string: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" }, isJson: true },
  boolean: { type: "BOOLEAN" },
  integer: { type: "INT32" },
  number: { type: "DOUBLE" },
};

/** Every value may be absent: a record of ours rarely has all of them. */
function elementsOf(name: string, type: ColumnType): SchemaElement[] {
  if (typeof type === "string") return [{ name, repetition_type: "OPTIONAL", ...PLAIN[type] }];
  if ("list" in type) {
    return [
      { name, repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST", logical_type: { type: "LIST" } },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...elementsOf("element", type.list),
    ];
  }
  return [
    { name, repetition_type: "OPTIONAL", num_children: Object.keys(type.fields).length },
    ...Object.entries(type.fields).flatMap(([field, inner]) => elementsOf(field, inner)),
  ];
}
