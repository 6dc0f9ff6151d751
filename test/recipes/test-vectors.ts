import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The test vectors of docs/sync.md. */
export interface TestVectors {
  readonly formData: string;
  readonly responses: string;
  /** The text of each response, and its MD5 in hexadecimal. */
  readonly texts: readonly { readonly text: string; readonly md5: string }[];
  /** The body of `/responses/digests`. */
  readonly digests: string;
}

export async function readTestVectors(): Promise<TestVectors> {
  const page = await readFile(new URL('../../docs/sync.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf('### Test vectors'));
  const [formData = '', responses = '', texts = '', digests = ''] = [
    ...section.matchAll(/^```(?:csv|text)\n([^]*?)^```$/gm),
  ].map(([, block = '']) => block);
  return {
    formData,
    responses,
    texts: [...texts.matchAll(/([^]+?)\nmd5 ([0-9a-f]{32})\n+/g)].map(([, text = '', md5 = '']) => ({ text, md5 })),
    digests: digests.trimEnd(),
  };
}

/** Writes the files of the test vectors into a folder, under the names that recipes use. */
export async function writeTestVectors(folder: string): Promise<TestVectors> {
  const vectors = await readTestVectors();
  await writeFile(join(folder, 'responses.csv'), vectors.responses);
  await writeFile(join(folder, 'form-data.csv'), vectors.formData);
  return vectors;
}
