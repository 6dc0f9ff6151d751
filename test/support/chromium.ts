import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** A browser's program, and what it needs to run. */
interface Program extends AsyncDisposable {
  readonly path: string;
  readonly env?: Record<string, string | undefined>;
}

export interface RunningBrowser extends AsyncDisposable {
  readonly browser: Browser;
}

/** Where systems have a Chromium, or one of its kin. */
const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  String.raw`C:\Program Files\Google\Chrome\Application\chrome.exe`,
  String.raw`C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`,
];

const QUIET = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/**
 * Starts a Chromium without a window: that of `CHROMIUM_PATH`, or one that is installed, or the one from npm, which there is
 * for Linux on x64.
 *
 * @throws Error that says what to do where there is none
 */
export async function startChromium(): Promise<RunningBrowser> {
  await using stack = new AsyncDisposableStack();
  const { path, env } = stack.use(await findChromium());
  const browser = await chromium.launch({ executablePath: path, args: QUIET, env: { ...process.env, ...env } });
  stack.defer(() => browser.close());
  const running = stack.move();
  return { browser, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function findChromium(): Promise<Program> {
  const path = process.env['CHROMIUM_PATH'] ?? INSTALLED.find((candidate) => existsSync(candidate));
  if (path !== undefined) return { path, [Symbol.asyncDispose]: async () => {} };
  if (process.platform === 'linux' && process.arch === 'x64') return unpackChromium();
  throw new Error(
    `The reference page is tested in Chromium, and none was found. There is one in npm for Linux on x64 only, not for ` +
      `${process.platform} on ${process.arch}: install Chromium or Chrome, or set CHROMIUM_PATH to its program.`,
  );
}

/**
 * Unpacks the Chromium from npm, with the libraries and the font that it needs beyond glibc and that a plain Debian lacks.
 * The package would put them into the system's folder for temporary files, under names that anybody may have taken.
 */
async function unpackChromium(): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'survey-export-chromium-'));
  const before = process.env['TMPDIR'];
  try {
    process.env['TMPDIR'] = folder;
    const packed = join(createRequire(import.meta.url).resolve('@sparticuz/chromium'), '../../bin');
    const unpacking = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br'].map((name) => inflate(join(packed, name)));
    const [path = '', libraries = '', fonts = ''] = await Promise.all(unpacking);
    const fontConfig = join(folder, 'fonts.conf');
    await writeFile(fontConfig, `<fontconfig><dir>${fonts}</dir><cachedir>${folder}</cachedir></fontconfig>`);
    return {
      path,
      env: {
        LD_LIBRARY_PATH: [join(libraries, 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':'),
        ...(existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_FILE: fontConfig }),
      },
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}
