/*
 * The days, YYYY-MM-DD, on which a file of each survey was last downloaded. The browser keeps them
 * until the key is forgotten. Where it blocks its storage, or has no space, they are not known.
 */

function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}

const nameOf = (email: string, survey: string) => `last file ${email} ${survey}`;

export const lastFileDay = (email: string, survey: string) =>
  withStorage((storage) => storage.getItem(nameOf(email, survey))) ?? undefined;
export const keepLastFile = (email: string, survey: string, day: string) =>
  withStorage((storage) => storage.setItem(nameOf(email, survey), day));
export const forgetLastFiles = () => withStorage((storage) => storage.clear());
