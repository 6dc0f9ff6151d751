/** A file that cannot be brought up to date. The message says why. */
export class Refused extends Error {}
