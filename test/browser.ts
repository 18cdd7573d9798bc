import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Whether tests in a browser are left out. Under CI a missing part is a failure, which the launch is then. */
export const hasNoBrowser = !existsSync(CHROMIUM) && process.env['CI'] !== 'true';
if (hasNoBrowser) process.stderr.write(`Skipped: there is no ${CHROMIUM} (apt-get install chromium).\n`);

/** The system's Chromium without a window. Whoever launches it closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}
