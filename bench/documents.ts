import { performance } from 'node:perf_hooks';
import { createDocumentRenderer } from '../src/documents/renderer.ts';
import { invoiceOf, SHOPS } from '../src/documents/invoices.fixture.ts';
import { median } from './load.ts';
import type { Figure } from './report.ts';

const ITEMS = 50;
const ROUNDS = 10;
const MAX_MS = 300;
const MAX_MAIN_MS = 10;

interface Cost {
  readonly ms: number;
  /** The time of all threads. */
  readonly cpuMs: number;
}

/** Invoices of 50 items as PDF in every script, and what others notice of it. CPU time, as others use the machine. */
export async function documents(): Promise<readonly Figure[]> {
  const renderer = createDocumentRenderer(null);
  const render = async (language: string): Promise<Cost> => {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    const { kind } = await renderer.render(invoiceOf(language, ITEMS), { language, logo: null });
    if (kind !== 'rendered') throw new Error(`The invoice in ${language} was ${kind}.`);
    const { user, system } = process.cpuUsage(before);
    return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1_000 };
  };
  try {
    const first = await render('en');
    const before = performance.eventLoopUtilization();
    const costs: [string, Cost][] = [];
    for (const language of Object.keys(SHOPS)) {
      const each: Cost[] = [];
      for (let round = 0; round < ROUNDS; round += 1) each.push(await render(language));
      costs.push([language, { ms: median(each.map(({ ms }) => ms)), cpuMs: median(each.map(({ cpuMs }) => cpuMs)) }]);
    }
    const mainMs = performance.eventLoopUtilization(before).active / (costs.length * ROUNDS);
    const shown = costs.map(([language, { ms, cpuMs }]) => `${language} ${cpuMs.toFixed(0)} (${ms.toFixed(0)})`);
    return [
      {
        name: `CPU of an invoice of ${ITEMS} items as PDF (time by the clock), medians`,
        measured: `${shown.join(', ')} ms; the first ${first.cpuMs.toFixed(0)} (${first.ms.toFixed(0)}) ms`,
        target: `≤ ${MAX_MS} ms`,
        holds: costs.every(([, { cpuMs }]) => cpuMs <= MAX_MS),
      },
      {
        name: 'work of the main thread for each of them',
        measured: `${mainMs.toFixed(1)} ms`,
        target: `≤ ${MAX_MAIN_MS} ms`,
        holds: mainMs <= MAX_MAIN_MS,
      },
    ];
  } finally {
    await renderer.stop();
  }
}
