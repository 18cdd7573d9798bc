import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { loadAssets, type Assets } from '../../src/http/pages/assets.ts';
import { launchBrowser } from '../browser.ts';
import { eventually } from '../program.ts';

/** How the scripted page stands; what its `#live` holds is given as HTML. */
export interface Standing {
  readonly version: string;
  readonly status: string;
  readonly final?: boolean;
  readonly stale?: boolean;
  readonly embed?: string;
  /** The server's clock, in epoch ms; null when the page does not say. */
  readonly now?: number | null;
  readonly title?: string;
  readonly band?: string;
  readonly body: string;
}

/** The stream's behaviour: events, no events though it is open, an error, or not even a head. */
export type StreamMode = 'events' | 'mute' | 'error' | 'silent';

/** A server of one payment page that follows the contract of the real one, and does what the test says. */
export interface PaymentServer {
  readonly url: string;
  readonly origin: string;
  standing: Standing;
  stream: StreamMode;
  /** Answers requests for the page; null gives the page as it stands. */
  answer: ((response: ServerResponse) => void) | null;
  /** Answers what is posted; null leads back to the page, as the real one does. */
  answerPost: ((response: ServerResponse) => void) | null;
  /** How often the page was asked for, and the stream; and what was posted. */
  readonly asked: { page: number; stream: number };
  readonly posted: string[];
  /** Versions that streams were opened with. */
  readonly versions: (string | null)[];
  /** Tells all open streams. */
  send(version: string): void;
  cutStreams(): void;
  /** How many streams are open. */
  streams(): number;
  render(standing?: Standing): string;
}

const TEXTS = {
  copied: 'Copied',
  copy_failed: 'Not copied',
  working: 'One moment',
  offline: 'Offline',
  online: 'Online again',
  wallet_request: 'Confirm in {wallet}',
  wallet_switch: 'Switch to {network}',
  wallet_sent: 'Sent: {hash}',
  wallet_mined: 'In a block',
  wallet_reverted: 'Refused by the network',
  wallet_lost: 'Lost by the network',
  wallet_rejected: 'Declined in {wallet}',
  wallet_wrong_network: '{wallet} is not on {network}',
  wallet_failed: '{wallet} failed: {reason}',
  returning: 'Back in {seconds} s',
  local_time: 'Your own time',
};

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'";

export const PAYMENT = 'p1';

export async function paymentServer(standing: Standing): Promise<PaymentServer> {
  const assets = await loadAssets();
  const streams = new Set<ServerResponse>();
  const server = http.createServer((request, response) => serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const page: PaymentServer = {
    url: `${origin}/pay/${PAYMENT}`,
    origin,
    standing,
    stream: 'events',
    answer: null,
    answerPost: null,
    asked: { page: 0, stream: 0 },
    posted: [],
    versions: [],
    send: (version) => {
      for (const stream of streams) stream.write(`event: changed\nid: ${version}\ndata: ${version}\n\n`);
    },
    streams: () => streams.size,
    cutStreams: () => {
      for (const stream of streams) stream.destroy();
    },
    render: (standing = page.standing) => render(standing, assets),
  };

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    const asset = assets.routes.find(({ path }) => path === pathname);
    if (asset !== undefined) {
      response.setHeader('content-type', asset.contentType).end(asset.bodies.identity);
    } else if (pathname.endsWith('/events')) {
      page.asked.stream += 1;
      page.versions.push(searchParams.get('v'));
      openStream(response);
    } else if (request.method === 'POST') {
      void takePost(request, response);
    } else if (pathname === `/pay/${PAYMENT}`) {
      page.asked.page += 1;
      if (page.answer === null) sendPage(response, page.render());
      else page.answer(response);
    } else {
      response.setHeader('content-type', 'text/html').end('<title>Elsewhere</title>');
    }
  }

  async function takePost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    page.posted.push(await text(request));
    if (page.answerPost !== null) page.answerPost(response);
    else response.writeHead(303, { location: `/pay/${PAYMENT}` }).end();
  }

  function openStream(response: ServerResponse): void {
    if (page.stream === 'silent') return;
    if (page.stream === 'error') {
      response.writeHead(503).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 50\n\n');
    if (page.stream === 'mute') return;
    streams.add(response);
    response.once('close', () => streams.delete(response));
  }
  return page;
}

export function sendPage(response: ServerResponse, html: string, status = 200): void {
  response.statusCode = status;
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.setHeader('content-security-policy', POLICY).end(html);
}

function render(standing: Standing, assets: Assets): string {
  const {
    version,
    status,
    final = false,
    stale = false,
    embed,
    now = Date.now(),
    title = status,
    band = '',
    body,
  } = standing;
  return `<!doctype html><html lang="en" dir="ltr"><head><meta charset="utf-8"><title>${title}</title>
    <link rel="icon" href="data:,"><link rel="stylesheet" href="${assets.stylePath}">
    <script type="module" src="${assets.scriptPath}"></script></head>
    <body>${band}<header>Shop</header><p id="connection" hidden></p>
    <main id="live" data-version="${version}" data-status="${status}" data-page="/pay/${PAYMENT}"
      data-stream="/pay/${PAYMENT}/events" data-payment="${PAYMENT}" data-now="${now ?? ''}"
      ${final ? 'data-final' : ''} ${stale ? 'data-stale' : ''} ${embed === undefined ? '' : `data-embed="${embed}"`}>
      <h2 id="status-title">Now ${status}</h2><p>This is ${version}</p>${body}</main>
    <footer><span data-zone>All times are in UTC</span></footer>
    <p id="announcer" class="unseen" role="status" aria-live="polite"></p>
    <script type="application/json" id="texts">${JSON.stringify(TEXTS)}</script></body></html>`;
}

/** Another site, with pages of its own by path. */
export async function otherSite(pages: Readonly<Record<string, string>>, policy = ''): Promise<string> {
  const server = http.createServer((request, response) => {
    if (policy !== '') response.setHeader('content-security-policy', policy);
    const [path = '/'] = (request.url ?? '/').split('?');
    response.setHeader('content-type', 'text/html; charset=utf-8').end(pages[path] ?? `<title>${path}</title>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface BrowserTab {
  readonly page: Page;
  /** The console's messages, such as a breach of the page's content security policy, and scripts' errors. */
  readonly problems: string[];
}

/** A browser for the tests of a file. Call it at the top of a `describe`. */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<BrowserTab> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  return async (options = {}) => {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    return { page, problems };
  };
}

/** Waits until an element shows a text, and returns all of its text. */
export function shows(page: Page, selector: string, text: string): Promise<string> {
  return eventually(`${selector} shows ${JSON.stringify(text)}`, async () => {
    const shown = (await page.locator(selector).textContent()) ?? '';
    return shown.includes(text) ? shown : null;
  });
}

/** Waits until something holds. */
export function until(what: string, holds: () => boolean | Promise<boolean>): Promise<true> {
  return eventually(what, async () => ((await holds()) ? true : null));
}
