// Values by their type, for clients that do not ask for raw text. proxy/src/serverless/json.rs, `pg_text_to_json`.

const BOOL = 16;
const INTEGERS = new Set([21, 23]);
const FLOATS = new Set([700, 701]);
const JSONS = new Set([114, 3802]);

/** Built-in array types by their OIDs, with the OID of their elements. Elements of other types are strings anyway. */
const ELEMENT = new Map([
  [1000, BOOL],
  [1005, 21],
  [1007, 23],
  [1021, 700],
  [1022, 701],
  [199, 114],
  [3807, 3802],
  ...[1001, 1002, 1003, 1009, 1014, 1015, 1016, 1028, 1041, 1115, 1182, 1183, 1185, 1187, 1231, 1270, 2951].map(
    (oid): [number, number] => [oid, 25],
  ),
]);

/** Parses Postgres' text form of a value into JSON text: booleans, small integers, floats, JSON and arrays; else a string. */
export function toJson(text: string, type: number): string {
  const element = ELEMENT.get(type);
  if (element !== undefined) return arrayToJson(text, element);
  if (type === BOOL) return String(text === 't');
  if (INTEGERS.has(type)) return text;
  if (FLOATS.has(type) && Number.isFinite(Number(text))) return String(Number(text));
  if (JSONS.has(type)) return text;
  return JSON.stringify(text);
}

/** An array literal's parts: braces, commas, quoted and bare elements. Bounds such as `[0:1]=` come before the first brace. */
const PARTS = /\s*(?:([{},])|"((?:[^"\\]|\\.)*)"|([^{},"\s][^{},"]*))/gs;

function arrayToJson(text: string, element: number): string {
  let json = '';
  for (const [, mark, quoted, bare] of text.slice(text.indexOf('{')).matchAll(PARTS)) {
    if (mark === '{') json += '[';
    else if (mark === '}') json += ']';
    else if (mark === ',') json += ',';
    else if (quoted !== undefined) json += toJson(quoted.replaceAll(/\\(.)/gs, '$1'), element);
    else if (bare?.trim() === 'NULL') json += 'null';
    else if (bare !== undefined) json += toJson(bare.trim(), element);
  }
  return json;
}
