// The messages of Postgres' wire protocol that the gateway writes and reads. All values are in text form.
// https://www.postgresql.org/docs/current/protocol-message-formats.html

/** A column of a result, from RowDescription. */
export interface Column {
  name: string;
  tableID: number;
  columnID: number;
  dataTypeID: number;
  dataTypeSize: number;
  dataTypeModifier: number;
}

/** A simple query: for statements without parameters or rows. */
export function simpleQuery(text: string): Buffer {
  return message('Q', cString(text));
}

/**
 * The extended query protocol's way through one statement: Parse, Describe, Bind, Execute, Sync. Postgres refuses several
 * statements in one text there.
 */
export function extendedQuery(text: string, parameters: readonly (string | null)[]): Buffer {
  const parse = message('P', cString(''), cString(text), int16(0));
  const describe = message('D', Buffer.from('S\0'));
  const values = parameters.flatMap((value) => {
    if (value === null) return [int32(-1)];
    const bytes = Buffer.from(value);
    return [int32(bytes.length), bytes];
  });
  const bind = message('B', cString(''), cString(''), int16(0), int16(parameters.length), ...values, int16(0));
  return Buffer.concat([parse, describe, bind, message('E', cString(''), int32(0)), message('S')]);
}

/** Asks the server, on a connection of its own, to cancel what the connection with this key is running. */
export function cancelRequest(processID: number, secretKey: number): Buffer {
  return Buffer.concat([int32(16), int32(80877102), int32(processID), int32(secretKey)]);
}

/** Reads the body of a RowDescription. */
export function readColumns(body: Buffer): Column[] {
  const columns: Column[] = [];
  let at = 2;
  for (let count = body.readUInt16BE(0); count > 0; count--) {
    const end = body.indexOf(0, at);
    const name = body.toString('utf8', at, end);
    at = end + 1;
    columns.push({
      name,
      tableID: body.readUInt32BE(at),
      columnID: body.readInt16BE(at + 4),
      dataTypeID: body.readUInt32BE(at + 6),
      dataTypeSize: body.readInt16BE(at + 10),
      dataTypeModifier: body.readInt32BE(at + 12),
    });
    at += 18;
  }
  return columns;
}

/** Reads the body of an ErrorResponse: its fields by their letters. */
export function readErrorFields(body: Buffer): Map<string, string> {
  const fields = body.toString('utf8').split('\0').filter(Boolean);
  return new Map(fields.map((field) => [field.charAt(0), field.slice(1)]));
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 4);
  return Buffer.concat([Buffer.from(type), int32(length), ...parts]);
}

/** Postgres would take what comes after a NUL for the rest of the message. */
function cString(text: string): Buffer {
  return Buffer.from(`${text.replaceAll('\0', '')}\0`);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
