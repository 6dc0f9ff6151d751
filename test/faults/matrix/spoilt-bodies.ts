/** After how many bytes an answer breaks off, by what is said of it. */
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

/** @returns the position of a byte that continues a character of UTF-8, behind a random place; none when all are ASCII */
function withinCharacter(body: Buffer, random: () => number): number | undefined {
  const start = anywhere(body, random);
  const at = body.findIndex((byte, i) => i >= start && isContinuation(byte));
  const wrapped = at < 0 ? body.findIndex(isContinuation) : at;
  return wrapped < 0 ? undefined : wrapped;
}

const isContinuation = (byte: number) => byte >> 6 === 0b10;

/** Breaks an answer off in a way that HTTP cannot see; sometimes where a row ends. */
export function endEarly(body: Buffer, random: () => number): Buffer {
  const at = anywhere(body, random);
  const endOfRow = body.lastIndexOf('],[', at);
  return body.subarray(0, random() < 0.5 && endOfRow > 0 ? endOfRow + 1 : at);
}

/** Takes rows away, but not their number; or has one of them twice. */
export function loseRows(body: Buffer, random: () => number): string {
  const answer = JSON.parse(body.toString()) as { rows: unknown[] };
  const { rows } = answer;
  const at = Math.floor(random() * rows.length);
  const ways = [
    () => rows.slice(0, at),
    () => rows.toSpliced(at, 1),
    () => rows.toSpliced(at, 0, ...rows.slice(at, at + 1)),
  ];
  const way = ways[Math.floor(random() * ways.length)];
  return JSON.stringify({ ...answer, rows: way?.() });
}
