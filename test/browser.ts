import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/**
 * The same engine without what a person sees of a browser comes first: a tab costs a third of the CPU time. What Debian
 * has on the PATH is a wrapper, which would be ended in its place.
 */
const PROGRAMS = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium'];
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A page lives for seconds here: optimising its script costs more than it gains, and so does a process for pictures
  // that nobody sees. A seventh of the CPU time.
  '--js-flags=--no-opt',
  '--in-process-gpu',
];

const program = PROGRAMS.find((file) => existsSync(file));

/** Whether browser tests are skipped. Under CI they are not, so that a missing browser fails them. */
export const hasNoBrowser = program === undefined && process.env['CI'] !== 'true';
if (hasNoBrowser) process.stderr.write('Skipped: there is no chromium (apt-get install chromium-headless-shell).\n');

/** The system's Chromium, headless. The caller closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: program ?? 'chromium', args: ARGUMENTS });
}
