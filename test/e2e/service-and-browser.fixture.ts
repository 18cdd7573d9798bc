import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser } from '../browser.ts';
import { startService, type Service } from './payment-page-service.fixture.ts';

export interface ServiceAndBrowser {
  readonly service: Service;
  readonly browser: Browser;
}

/** A service and a browser for the tests of a file. Call it at the top of a `describe`. */
export function useServiceAndBrowser(settings: Readonly<Record<string, string>> = {}): () => ServiceAndBrowser {
  let started: ServiceAndBrowser | null = null;
  beforeAll(async () => {
    const [service, browser] = await Promise.all([startService(settings), launchBrowser()]);
    started = { service, browser };
  });
  afterAll(async () => {
    await started?.browser.close();
    await started?.service.close();
  });
  return () => {
    if (started === null) throw new Error('The service is there in tests alone.');
    return started;
  };
}
