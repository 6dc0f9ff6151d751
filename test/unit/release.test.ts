import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import lock from '../../package-lock.json' with { type: 'json' };
import { version } from '../../package.json';

/** Where each client states its version. */
const MANIFESTS: Record<string, [file: string, version: RegExp]> = {
  python: ['pyproject.toml', /^version = "(.*)"$/m],
  r: ['DESCRIPTION', /^Version: (.*)$/m],
};

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const clients = await readdir(new URL('../../clients/', import.meta.url));

test('the service, its changelog and its clients have one version', async () => {
  const versions = clients.map(async (client) => {
    const [file = '', pattern] = MANIFESTS[client] ?? [];
    return [client, pattern?.exec(await read(`clients/${client}/${file}`))?.[1]];
  });
  const changelog = /^## (\d\S*) - /m.exec(await read('CHANGELOG.md'))?.[1];
  expect([lock.version, lock.packages[''].version, changelog]).toEqual([version, version, version]);
  expect(await Promise.all(versions)).toEqual(clients.map((client) => [client, version]));
});

test('a client can leave the repository: its README links to nothing outside its folder, and the wheel has the licence', async () => {
  for (const client of clients)
    expect(await read(`clients/${client}/README.md`)).not.toContain('](../');
  expect(await read('clients/python/LICENSE')).toBe(await read('LICENSE'));
});
