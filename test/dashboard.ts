import { makeSetupLink, type NewLink } from '../src/app/people/links.ts';
import { siteOf, type PeopleParts } from '../src/app/people/parts.ts';
import { createPasswordHasher } from '../src/app/people/password-hash.ts';
import { invitePerson } from '../src/app/people/people.ts';
import { hashOf } from '../src/app/people/token.ts';
import type { Activity } from '../src/app/observer.ts';
import type { Network } from '../src/domain/networks.ts';
import type { Role } from '../src/domain/role.ts';
import { createServiceHealth } from '../src/app/dashboard/health.ts';
import { createProjectWatch } from '../src/app/live/project-watch.ts';
import { logoPath } from '../src/http/checkout/frame.ts';
import { renderPreview } from '../src/http/checkout/preview.ts';
import type { Dashboard, Live } from '../src/http/dashboard/route.ts';
import type { Exports } from '../src/http/dashboard/send-file.ts';
import { instructionsFor } from '../src/app/refunds/refund-instructions.ts';
import type { UtxoAccess } from '../src/app/refunds/refund-psbt.ts';
import { sendSigned } from '../src/app/refunds/send-signed.ts';
import { compileCidrs } from '../src/app/projects/allow-list.ts';
import type { AnswerOf, BodyOf, RouteName } from '../src/http/dashboard/contract.ts';
import { MAIN_CHAINS } from '../src/rails/utxo/params.ts';
import { createWalletOpener } from '../src/rails/wallet.ts';
import type { SessionAnswer, SignedIn } from '../src/http/dashboard/account/contract.ts';
import { dashboardRoutes } from '../src/http/dashboard/routes.ts';
import { createGuessLimits } from '../src/http/rate-limit.ts';
import type { ServerOptions } from '../src/http/server.ts';
import type { DashboardGuard } from '../src/http/session-guard.ts';
import { createWebhookSender } from '../src/webhooks/send.ts';
import { BASE_URLS, httpTest, type Answer, type Call, type HttpTest } from './http.ts';
import { openLongRead } from '../src/store/long-reads.ts';

/** Where the dashboard of the tests is. */
export const DASHBOARD_URL = 'http://localhost:4000';
/** Settings of a dashboard behind a proxy that ends HTTPS. */
export const BEHIND_PROXY = { url: 'https://pay.shop.example', trustProxy: ['127.0.0.1'] } as const;
export const PASSWORD = 'grumpy otter parade';

/** The guard of a dashboard that is served at any host, to any address. */
export const openGuard = (app: DashboardGuard['app']): DashboardGuard => ({
  app,
  allowed: null,
  origin: DASHBOARD_URL,
  behindProxy: false,
  seenSessions: new Set(),
});

/** A browser, which keeps cookies and sends Origin and Sec-Fetch-Site. */
export interface Browser {
  readonly cookies: Map<string, string>;
  call<Body = unknown>(call: Call): Promise<Answer<Body>>;
  /** Calls a route of the contract; the answer must be 200. */
  do<Name extends RouteName>(name: Name, ...body: Body<Name>): Promise<AnswerOf<Name>>;
  /** The same, but with any answer. */
  try<Name extends RouteName>(name: Name, ...body: Body<Name>): Promise<Answer>;
  session(): Promise<SessionAnswer>;
}
type Body<Name extends RouteName> = BodyOf<Name> extends undefined ? [] : [body: BodyOf<Name>];

/** The dashboard's API on a real database, with a clock that the test drives. Its passwords are hashed cheaply. */
export interface DashboardTest {
  readonly http: HttpTest;
  readonly people: PeopleParts;
  readonly dashboard: Dashboard;
  /** The emitted activities, oldest first. */
  readonly activities: readonly Activity[];
  browser(options?: { readonly address?: string; readonly headers?: Readonly<Record<string, string>> }): Browser;
  setupLink(): Promise<NewLink>;
  /** Somebody with an account, signed in with a browser of their own. */
  join(role: Role, projectId?: string | null, email?: string): Promise<Member>;
  signIn(email: string, options?: { readonly address?: string }): Promise<Browser>;
}

export interface Member {
  readonly id: string;
  readonly email: string;
  readonly browser: Browser;
}

const CHEAP = { memoryKiB: 64, passes: 1 };

export async function dashboardTest(
  options: Partial<ServerOptions> & {
    readonly allowCidrs?: readonly string[];
    readonly sendsMail?: boolean;
    /** Whether `DASHBOARD_URL` is set. */
    readonly isBound?: boolean;
    readonly url?: string;
    readonly live?: Partial<Live>;
    readonly exports?: Partial<Exports>;
    readonly sweeps?: Dashboard['sweeps'];
    readonly askNodes?: Dashboard['wallets']['askNodes'];
    readonly deposits?: Partial<Dashboard['deposits']>;
    /** Networks that the service follows. */
    readonly networks?: readonly Network[];
    /** The nodes that refunds are shown and sent with; none unless given. */
    readonly utxo?: (network: Network) => UtxoAccess | null;
  } = {},
): Promise<DashboardTest> {
  const http = await httpTest();
  const {
    sendsMail = false,
    isBound = false,
    allowCidrs = null,
    url = DASHBOARD_URL,
    live = {},
    sweeps = () => Promise.resolve([]),
    askNodes = () => Promise.resolve(null),
    deposits = {},
    networks = [],
    utxo = () => null,
    exports = {},
    ...more
  } = options;
  const activities: Activity[] = [];
  // The same object, so that tests can change how it works.
  const app = Object.assign(http.app, { sendsMail, observer: (activity: Activity) => void activities.push(activity) });
  const people: PeopleParts = {
    app,
    hasher: createPasswordHasher(app.random, CHEAP),
    limits: createGuessLimits(null),
    sealingKeys: () => Promise.resolve([Buffer.alloc(32, 7)]),
    site: siteOf(url),
  };
  const behindProxy = (more.trustProxy ?? null) !== null;
  const { notifications, problems } = http;
  const onFault = (error: unknown): void => problems.happened('updates of the dashboard', error);
  const watch = createProjectWatch(app, notifications, { everyMs: 20, anywayMs: 600_000, onFault });
  /** Live endpoints too are receivers on this machine. */
  const policyOf = () => ({ mode: 'test', production: false, allowCidrs: [] }) as const;
  const sender = createWebhookSender({ policyOf, now: () => performance.now() });
  const dashboard: Dashboard = {
    people,
    version: 'test',
    baseUrls: BASE_URLS,
    behindProxy,
    isProduction: more.production ?? false,
    serviceHealth: createServiceHealth(app, networks, 0),
    sweeps,
    wallets: { chains: MAIN_CHAINS, openWallet: createWalletOpener(MAIN_CHAINS), askNodes },
    deposits: { chains: () => null, refresh: async () => 'done', ...deposits },
    saveKeyUses: () => http.keyUses.save(),
    live: { watch, notifications, problems, ...live },
    exports: { connect: () => openLongRead(app.database), ...exports },
    creator: app.creator,
    renderer: app.renderer,
    checkout: {
      logoPath,
      preview: (shown, language) =>
        renderPreview(shown, language, { stylePath: '/assets/page.css', scriptPath: '/assets/page.js' }, app.clock()),
    },
    webhooks: { policyOf, sender: () => sender },
    signing: {
      show: (refunds) => instructionsFor(app, refunds, utxo),
      send: (actor, refunds, text) => sendSigned(actor, refunds, text, utxo),
    },
  };
  const server = http.build({
    side: 'live',
    dashboard: {
      app,
      allowed: allowCidrs === null ? null : compileCidrs(allowCidrs),
      origin: people.site.origin,
      host: isBound ? new URL(url).hostname : null,
      behindProxy,
      seenSessions: new Set(),
    },
    plugins: [dashboardRoutes(dashboard, null)],
    ...more,
  });
  server.addHook('onClose', () => sender.close(0));
  await server.ready();
  const browser = (
    at: { readonly address?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Browser => {
    const cookies = new Map<string, string>();
    const call = async <Body>(request: Call): Promise<Answer<Body>> => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await http.call<Body>(
        {
          side: 'live',
          ...request,
          headers: {
            host: new URL(url).host,
            origin: people.site.origin,
            'sec-fetch-site': 'same-origin',
            ...(cookie === '' ? {} : { cookie }),
            // Plain HTTP from other machines is refused, so their requests come through a proxy.
            ...(behindProxy ? { 'x-forwarded-proto': 'https', 'x-forwarded-for': at.address ?? '192.0.2.77' } : {}),
            ...at.headers,
            ...request.headers,
          },
        },
        server,
      );
      keep(cookies, answer.setCookies);
      return answer;
    };
    const attempt = <Name extends RouteName>(name: Name, ...[body]: Body<Name>): Promise<Answer> => {
      const [method = '', path = ''] = name.split(' ');
      return call({ method, path, ...(body === undefined ? {} : { body }) });
    };
    const must = async <Name extends RouteName>(name: Name, ...body: Body<Name>): Promise<AnswerOf<Name>> => {
      const answer = await attempt(name, ...body);
      if (answer.status !== 200) throw new Error(`${name} → ${answer.status} ${answer.text}`);
      return answer.body as AnswerOf<Name>;
    };
    return { cookies, call, do: must, try: attempt, session: () => must('GET /dashboard/api/session') };
  };
  const setupLink = async (): Promise<NewLink> => {
    const link = await makeSetupLink(app, people.site.url);
    if (link === null) throw new Error('Somebody has an account already.');
    return link;
  };
  let joined = 0;
  return {
    http,
    people,
    dashboard,
    activities,
    browser,
    setupLink,
    join: async (role, projectId = null, email = `${role}-${(joined += 1)}@shop.example`) => {
      const invited = await invitePerson(app, people.site.url, { email, role, projectId });
      if (invited.kind !== 'done') throw new Error(invited.code);
      const own = browser();
      await own.do('POST /dashboard/api/links/accept', { token: tokenOf(invited.link), password: PASSWORD });
      return { id: invited.person.id, email, browser: own };
    },
    signIn: async (email, at = {}) => {
      const own = browser(at);
      await own.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
      return own;
    },
  };
}

export function tokenOf({ url }: NewLink): string {
  return url.split('/').at(-1) ?? '';
}

/** The browsers that the person signed in with before, by the hashes of their tokens. */
export async function knownBrowsers({ http }: DashboardTest, personId: string): Promise<readonly string[]> {
  const rows = await http.app.db
    .selectFrom('known_browsers')
    .select('token_hash')
    .where('person_id', '=', personId)
    .execute();
  return rows.map((row) => row.token_hash.toString('hex'));
}

export function browserHash({ cookies }: Browser): string {
  const [, token = ''] = [...cookies].find(([name]) => name.endsWith('cointill_browser')) ?? [];
  return hashOf(token).toString('hex');
}

export function signedIn(answer: SessionAnswer): SignedIn {
  if (answer.state !== 'signed_in') throw new Error(`The session is ${answer.state}.`);
  return answer;
}

/** Keeps cookies as a browser does after `Set-Cookie`. */
function keep(cookies: Map<string, string>, said: readonly string[]): void {
  for (const line of said) {
    const [pair = ''] = line.split(';');
    const [name = '', value = ''] = pair.split('=', 2);
    if (/Max-Age=0\b/.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
}
