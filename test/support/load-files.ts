import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ImportOptions, importFiles } from '../../tools/import/import-files.ts';
import { csvOf, formRow, responseRow } from './export-files.ts';

type Content = string | Uint8Array;

/** Files to import. Those left out get a default. */
export interface Files {
  forms?: Content;
  responses?: Content;
  email?: string;
  /** The end of both file names. */
  suffix?: string;
}

/** Writes both files into a folder. */
export async function writeFiles(
  folder: string,
  files: Files = {},
): Promise<{ forms: string; responses: string }> {
  const { forms = csvOf([formRow()]), responses = csvOf([responseRow()]), suffix = '.csv' } = files;
  const paths = {
    forms: join(folder, `forms${suffix}`),
    responses: join(folder, `responses${suffix}`),
  };

  await writeFile(paths.forms, forms);
  await writeFile(paths.responses, responses);
  return paths;
}

/** Writes both files into a folder and imports them. */
export async function loadFiles(
  url: string,
  folder: string,
  files: Files = {},
  options: ImportOptions = {},
) {
  const input = { email: files.email ?? 'ann@example.org', ...(await writeFiles(folder, files)) };
  return await importFiles(url, input, options);
}
