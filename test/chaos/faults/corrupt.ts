/** The byte offsets at which a response breaks off, by name. */
export const cuts: Readonly<Record<string, (body: Buffer, random: () => number) => number>> = {
  'at byte 0': () => 0,
  'at byte 1': () => 1,
  'within a character': (body, random) => withinCharacter(body, random) ?? anywhere(body, random),
  'before its last byte': (body) => body.length - 1,
  anywhere,
};

function anywhere(body: Buffer, random: () => number): number {
  return Math.floor(random() * body.length);
}

/** The offset of a random UTF-8 continuation byte; undefined if all characters are ASCII. */
function withinCharacter(body: Buffer, random: () => number): number | undefined {
  const start = anywhere(body, random);
  const at = body.findIndex((byte, i) => i >= start && isContinuation(byte));
  const wrapped = at < 0 ? body.findIndex(isContinuation) : at;
  return wrapped < 0 ? undefined : wrapped;
}

const isContinuation = (byte: number) => byte >> 6 === 0b10;

/** Cuts a body off without HTTP noticing, sometimes at the end of a row. */
export function endEarly(body: Buffer, random: () => number): Buffer {
  const at = anywhere(body, random);
  const endOfRow = body.lastIndexOf('],[', at);
  return body.subarray(0, random() < 0.5 && endOfRow > 0 ? endOfRow + 1 : at);
}

/** Removes rows or duplicates one, and keeps `rowCount`. */
export function changeRows(body: Buffer, random: () => number): string {
  const result = JSON.parse(body.toString()) as { rows: unknown[] };
  const { rows } = result;
  const at = Math.floor(random() * rows.length);
  const ways = [
    () => rows.slice(0, at),
    () => rows.toSpliced(at, 1),
    () => rows.toSpliced(at, 0, ...rows.slice(at, at + 1)),
  ];
  const way = ways[Math.floor(random() * ways.length)];
  return JSON.stringify({ ...result, rows: way?.() });
}
