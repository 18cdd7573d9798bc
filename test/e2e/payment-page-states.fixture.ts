import { SIMULATIONS } from '../../src/domain/simulation.ts';
import Fastify from 'fastify';
import { assetRoutes, loadAssets } from '../../src/http/pages/assets.ts';
import { NOW, refundOf, STATES } from '../../src/http/checkout/examples.fixture.ts';
import { REQUEST_STATES } from '../../src/http/checkout/request/examples.fixture.ts';
import { renderRequestPage } from '../../src/http/checkout/request/page.ts';
import { chooseLanguage, type Locale } from '../../src/http/checkout/language/locale.ts';
import { renderPaymentPage } from '../../src/http/checkout/page.ts';
import { renderProblemPage, renderRefundPage } from '../../src/http/checkout/refund-page.ts';
import { sendPage } from '../../src/http/checkout/frame.ts';
import type { Frame, Page, PaymentView, ProblemView, RefundStep } from '../../src/http/checkout/view.ts';

/**
 * Every state of the hosted pages, also those that a running service cannot be brought into, on a server of the test's.
 */
export interface StateServer {
  readonly origin: string;
  /** Names of the states: paths to put `origin` before, in every language by `?lang=`. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

type Assets = Awaited<ReturnType<typeof loadAssets>>;
type Render = (locale: Locale, assets: Assets) => Page;

const ADDRESS = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';
const HASH = '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060';

const REFUND_STEPS: Readonly<Record<string, RefundStep>> = {
  form: { kind: 'form', typed: '', problem: null },
  'form, refused': { kind: 'form', typed: 'x'.repeat(60), problem: 'invalid' },
  'form, again': { kind: 'form', typed: ADDRESS, problem: 'again' },
  waiting: { kind: 'waiting', address: ADDRESS },
  sent: { kind: 'completed', address: ADDRESS, transactionHash: HASH, completedAt: NOW },
  failed: { kind: 'failed' },
};

const PROBLEMS: readonly ProblemView[] = [
  { kind: 'unknown_payment' },
  { kind: 'unknown_refund' },
  { kind: 'unknown_request' },
  { kind: 'too_many_requests', retryAfterSeconds: 3_600, retryPath: '/' },
  { kind: 'fault', retryPath: '/' },
];

/** Names as long as merchants give them, some of them without a place to break. */
const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenfabrik';

function framed(frame: Frame, locale: Locale): Frame {
  const branding = {
    ...frame.branding,
    projectName: `${LONG} & Söhne`,
    supportUrl: 'mailto:help@shop.example',
    pageText: `Open Mon–Fri 9–17, +49 30 1234567, ${LONG}, <b>Lindenstraße 1</b> & 2, 10969 Berlin`,
    termsUrl: 'https://shop.example/terms',
    imprintUrl: 'https://shop.example/imprint',
  };
  return { ...frame, locale, languageGiven: true, branding };
}

function payment(view: PaymentView): Render {
  return (locale, assets) => renderPaymentPage({ ...view, frame: framed(view.frame, locale) }, assets);
}

function states(): ReadonlyMap<string, Render> {
  const all = new Map<string, Render>();
  for (const [name, view] of STATES) all.set(`payment, ${name}`, payment(view));
  const [choose] = STATES.values();
  if (choose === undefined) throw new Error('There are no examples.');
  const test = { kind: 'expires', at: NOW + 60_000, simulations: SIMULATIONS } as const;
  all.set(
    'payment, choose, test',
    payment({ ...choose, test, merchantOrderId: `${LONG}-1`, description: `For ${LONG}` }),
  );
  for (const [name, step] of Object.entries(REFUND_STEPS)) {
    const view = refundOf(step, name.startsWith('form') ? { mode: 'test' } : {});
    all.set(`refund, ${name}`, (locale, assets) =>
      renderRefundPage({ ...view, frame: framed(view.frame, locale) }, assets),
    );
  }
  for (const [name, view] of REQUEST_STATES) {
    const title = `${view.title} ${LONG}`;
    all.set(`request, ${name}`, (locale, assets) =>
      renderRequestPage({ ...view, title, frame: framed(view.frame, locale) }, assets),
    );
  }
  for (const view of PROBLEMS)
    all.set(`problem, ${view.kind}`, (locale, assets) => renderProblemPage(view, locale, assets));
  return all;
}

/**
 * Serves the states as the service does: with the same headers, so that the pages' policy holds, and the same assets.
 */
export async function serveStates(): Promise<StateServer> {
  const all = states();
  const assets = await loadAssets();
  const app = Fastify();
  assetRoutes(app, assets);
  app.get<{ readonly Params: { readonly name: string }; readonly Querystring: { readonly lang?: string } }>(
    '/state/:name',
    (request, reply) => {
      const render = all.get(request.params.name);
      if (render === undefined) return reply.code(404).send();
      return sendPage(request, reply, render(chooseLanguage(request.query.lang, ''), assets));
    },
  );
  // 204 stops the page's event stream from reconnecting, and nothing ever changes here.
  app.get('/pay/:id/events', (_request, reply) => reply.code(204).send());
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    origin,
    paths: [...all.keys()].map((name) => `/state/${encodeURIComponent(name)}`),
    close: () => app.close(),
  };
}
