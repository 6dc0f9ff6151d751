/*
 * The days, YYYY-MM-DD, on which a file of each survey was last downloaded. The browser keeps them
 * until the key is forgotten.
 */

/** Undefined if the browser blocks it. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

const nameOf = (email: string, survey: string) => `last file ${email} ${survey}`;

export const lastFileDay = (email: string, survey: string) =>
  storage()?.getItem(nameOf(email, survey)) ?? undefined;
export const keepLastFile = (email: string, survey: string, day: string) =>
  storage()?.setItem(nameOf(email, survey), day);
export const forgetLastFiles = () => storage()?.clear();
