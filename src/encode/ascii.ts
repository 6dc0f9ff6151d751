// Characters of ASCII, by which encoders recognise and write bytes.

export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const AMPERSAND = 0x26;
export const COMMA = 0x2c;
export const POINT = 0x2e;
export const ZERO = 0x30;
export const UPPER_A = 0x41;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const UNDERSCORE = 0x5f;
export const LOWER_N = 0x6e;
export const LOWER_T = 0x74;
export const LOWER_U = 0x75;
export const LOWER_X = 0x78;
