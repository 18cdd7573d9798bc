import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { newProcessMemory, type App } from '../src/app/context.ts';
import { createPaymentCreator } from '../src/app/payments/create-payment.ts';
import { createPaymentReader } from '../src/app/payments/read-payment.ts';
import { sandboxRail } from '../src/modes/sandbox-rail.ts';
import { readConfig } from '../src/config/config.ts';
import { DEFAULT_POLICY } from '../src/domain/transition.ts';
import type { Api } from '../src/http/api.ts';
import { OPENAPI_FILE } from '../src/http/docs/openapi-document.ts';
import { eventRoutes } from '../src/http/events/routes.ts';
import { createRateLimits } from '../src/http/rate-limit.ts';
import { paymentRequestRoutes } from '../src/http/payment-requests/routes.ts';
import { refundRoutes } from '../src/http/refunds/routes.ts';
import { buildServer } from '../src/http/server.ts';
import { paymentApis } from '../src/service/payment-apis.ts';
import { testRates } from '../src/rates/fixed.ts';
import { openDatabase } from '../src/store/database.ts';
import { describeApi } from './describe-api.ts';
import { NO_REPORTS } from '../src/domain/problems.ts';

/** Writes docs/openapi.json from the routes' schemas; with --check it only reports an outdated file. */

const text = `${JSON.stringify(await describe(), null, 2)}\n`;
if (process.argv.includes('--check')) {
  const committed = await readFile(OPENAPI_FILE, 'utf8').catch(() => '');
  if (committed !== text) {
    console.error('docs/openapi.json is not up to date. Run: npm run openapi');
    process.exitCode = 1;
  }
} else {
  await writeFile(OPENAPI_FILE, text);
}

/** The document of a server that never listens, on a pool that never connects. */
async function describe(): Promise<object> {
  const config = readConfig({}, '/');
  const database = openDatabase(
    { host: 'localhost', port: 5432, user: 'nobody', database: 'none' },
    { maxConnections: 1, onError: () => {} },
  );
  const rail = sandboxRail(testRates(), config.sandboxCompleteAfterMs);
  const app: App = {
    db: database.db,
    clock: Date.now,
    random: randomBytes,
    railFor: () => rail,
    links: { checkoutUrl: { live: config.checkoutUrl, test: config.sandboxCheckoutUrl } },
    policy: DEFAULT_POLICY,
    memory: newProcessMemory(),
  };
  const api: Api = {
    app,
    creator: createPaymentCreator(app, database.pipeline),
    reader: createPaymentReader(app),
    webhooks: () => Promise.reject(new Error('The server never sends.')),
  };
  const access = { find: () => null, project: () => null, anyProjectAllows: () => false, hasLogo: () => false };
  const server = buildServer({
    side: 'live',
    access,
    limits: createRateLimits(config.rateLimits, null),
    baseUrls: { live: config.baseUrl, test: config.sandboxBaseUrl },
    production: false,
    trustProxy: null,
    tls: null,
    log: pino({ level: 'silent' }),
    problems: NO_REPORTS,
    onAnswered: () => {},
    plugins: [
      ...paymentApis(api),
      paymentRequestRoutes(api),
      refundRoutes(api),
      eventRoutes(api, { read: () => Promise.resolve('too_many') }, access),
    ],
  });
  const document = describeApi(server, { live: config.baseUrl, test: config.sandboxBaseUrl });
  try {
    return await document();
  } finally {
    await server.close();
    await database.close();
  }
}
