import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser } from '../browser.ts';
import { startService, type Service } from './payment-page-service.fixture.ts';

export interface ServiceAndBrowser {
  readonly service: Service;
  readonly browser: Browser;
}

type Settings = Readonly<Record<string, string>>;

/** A service and a browser for the tests of a file. Call it at the top of a `describe`. */
export function useServiceAndBrowser(settings: Settings | (() => Promise<Settings>) = {}): () => ServiceAndBrowser {
  let started: ServiceAndBrowser | null = null;
  beforeAll(async () => {
    const env = typeof settings === 'function' ? await settings() : settings;
    const [service, browser] = await Promise.all([startService(env), launchBrowser()]);
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
