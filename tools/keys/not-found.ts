import { UserError } from '../command.ts';
import { printable } from './printable.ts';

export const noSuchAccount = (email: string, advice = '') =>
  new UserError(`--email: there is no account "${printable(email)}". ${advice}`.trimEnd());

export const noSuchKey = (id: string) =>
  new UserError(`<id>: there is no key ${id}. "npm run keys -- list" shows all keys.`);
