import { sentenceError } from '../page-sentences.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { forActor, forRequest, type App } from '../../app/context.ts';
import type { AttentionSources } from '../../app/dashboard/attention.ts';
import type { ServiceHealth } from '../../app/dashboard/health.ts';
import type { WalletSources } from '../../app/dashboard/wallet-overview.ts';
import type { ProjectWatch } from '../../app/live/project-watch.ts';
import type { Documents } from '../../app/payment-requests/invoice-pdf.ts';
import type { PaymentCreator } from '../../app/payments/create-payment.ts';
import type { Client, TooMany } from '../../app/people/guess-limits.ts';
import type { PeopleParts } from '../../app/people/parts.ts';
import { HashesBusyError, HashPendingError } from '../../app/people/password-hash.ts';
import { roleOfOpenSession } from '../../app/people/open-session.ts';
import { actorOf } from '../../app/people/sessions.ts';
import type { RefusalCode } from '../../domain/sentence.ts';
import type { PaidTogether } from '../../app/refunds/refund-held.ts';
import type { SharedInstructions } from '../../app/refunds/refund-instructions.ts';
import type { SentOutcome } from '../../app/refunds/send-signed.ts';
import type { SweepChains } from '../../app/sweeps/chain.ts';
import type { Project } from '../../store/projects/projects.ts';
import type { SettingsView } from './settings/contract.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Mode } from '../../domain/permission.ts';
import { parseUuid } from '../../domain/id.ts';
import { roleIn, type Action } from '../../domain/role.ts';
import type { Problems } from '../../domain/problems.ts';
import type { Notifications } from '../../store/notifications.ts';
import type { WebhookPolicy } from '../../webhooks/guard.ts';
import type { WebhookSender } from '../../webhooks/send.ts';
import { clientAddress, countedAddress, dashboardLanguage } from '../client.ts';
import { readCookie } from '../cookies.ts';
import type { RequestError } from '../errors.ts';
import type { StreamLimits } from '../event-stream.ts';
import { clientBucket, clientRange } from '../rate-limit.ts';
import type { SessionRule } from '../session-guard.ts';
import type { RouteContract } from './contract-parts.ts';
import { type AnswerOf, type BodyOf, type ParamsOf, type QueryOf, type RouteName, CONTRACT } from './contract.ts';
import { scopeIn, signedInOf, type ScopeIn } from './scope.ts';
import type { AskedFile, Exports, FileSender } from './send-file.ts';

/** The dependencies of the page of sweeps. */
export interface Deposits {
  readonly chains: SweepChains;
  /** Asks the nodes now; `busy` while another request of this project asks. */
  readonly refresh: (projectId: string) => Promise<'done' | 'busy'>;
}

/** The dependencies of live updates. */
export interface Live {
  readonly watch: ProjectWatch;
  readonly notifications: Pick<Notifications, 'on'>;
  readonly problems: Problems;
  readonly limits?: Partial<StreamLimits>;
  readonly heartbeatMs?: number;
}

/** The dependencies of the dashboard's routes. */
export interface Dashboard {
  readonly people: PeopleParts;
  /** Changes with every upgrade. */
  readonly version: string;
  /** The address of each mode's API. */
  readonly baseUrls: Readonly<Record<Mode, string>>;
  /** Whether `TRUST_PROXY` is set. */
  readonly behindProxy: boolean;
  /** Whether `NODE_ENV` is `production`. */
  readonly isProduction: boolean;
  /** Returns the state of networks and backups. */
  readonly serviceHealth: () => Promise<ServiceHealth>;
  /** The last known deposits that are worth a sweep. */
  readonly sweeps: AttentionSources['sweeps'];
  /** The readers of wallets and their networks' nodes. */
  readonly wallets: Pick<WalletSources, 'chains' | 'openWallet' | 'askNodes'>;
  readonly deposits: Deposits;
  /** Saves the uses of keys up to now. */
  readonly saveKeyUses: () => Promise<void>;
  readonly live: Live;
  readonly exports: Exports;
  readonly creator: PaymentCreator;
  /** Renders invoices. */
  readonly renderer: Documents['renderer'];
  /** Parts of the payment page: where a logo is served, and how the page would look. */
  readonly checkout: {
    readonly logoPath: (hash: string) => string;
    readonly preview: (shown: Previewed, language: string) => { readonly html: string; readonly icon: string };
  };
  readonly webhooks: {
    readonly policyOf: (mode: Mode) => WebhookPolicy;
    /** Created at its first use, and closed with the server. */
    readonly sender: () => WebhookSender;
  };
  /** Shows the transaction to sign for refunds, and sends the signed one. */
  readonly signing: {
    readonly show: (refunds: PaidTogether) => Promise<SharedInstructions | NodesUnavailable>;
    readonly send: (app: App, refunds: PaidTogether, text: string) => Promise<SentOutcome | NodesUnavailable>;
  };
}

/** No node answered. */
interface NodesUnavailable {
  readonly kind: 'unavailable';
  readonly message: string;
}

/** The unsaved looks of a shop's pages. */
interface Previewed extends Pick<Project, 'name' | 'accent' | 'supportUrl' | 'pageText' | 'termsUrl' | 'imprintUrl'> {
  readonly currency: Fiat;
  readonly logo: SettingsView['logo'];
  readonly icon: SettingsView['icon'];
}

/** One request of a route, typed by its contract. */
export interface Call<Name extends RouteName> {
  readonly params: ParamsOf<Name>;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
  /** The project, and the mode, that the path names. */
  readonly scope: ScopeIn<ParamsOf<Name>>;
  /** The application's context for this request and the signed-in person. */
  readonly own: App;
  /** The same for sign-in and accounts. */
  readonly parts: PeopleParts;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A request on one payment. */
export type PaymentCall = Pick<
  Call<'GET /dashboard/api/projects/:project/:mode/payments/:payment'>,
  'scope' | 'own' | 'params' | 'request'
>;

export interface Rule extends Omit<SessionRule, 'kind'> {
  /** The longest body in bytes, if it differs from the default. */
  readonly bodyLimit?: number;
}

/** Registers the routes of the contract. The guard of each runs before the body is read. */
export interface Routes {
  readonly app: FastifyInstance;
  add<Name extends RouteName>(name: Name, rule: Rule, handle: (call: Call<Name>) => Promise<AnswerOf<Name>>): void;
  /** Sends a file for as long as the person keeps the right to it. */
  file<Name extends RouteName>(
    name: Name,
    rule: Action | (Rule & { readonly action: Action }),
    ask: (call: Call<Name>) => Promise<AskedFile>,
  ): void;
}

/** The routes of a server; `send` is its sender of files. */
export function createRoutes(app: FastifyInstance, { people }: Dashboard, send: FileSender): Routes {
  const register = <Name extends RouteName>(
    name: Name,
    { bodyLimit, ...rule }: Rule,
    config: { readonly stream?: true },
    handle: (call: Call<Name>) => Promise<unknown>,
  ): void => {
    const [method = '', url = ''] = name.split(' ');
    const { params, query, body }: RouteContract = CONTRACT[name];
    const schema: Readonly<Record<string, TSchema | boolean>> = {
      hide: true,
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { querystring: query }),
      ...(body === undefined ? {} : { body }),
    };
    app.route({
      method,
      url,
      config: { ...config, guard: { kind: 'session', ...rule } },
      ...(bodyLimit === undefined ? {} : { bodyLimit }),
      schema,
      handler: (request, reply) =>
        handle(callOf<Name>(people, request, reply)).catch((error: unknown) => {
          throw error instanceof HashesBusyError ? busy(reply, error) : error;
        }),
    });
  };
  return {
    app,
    add: (name, rule, handle) => register(name, rule, {}, handle),
    file: (name, given, ask) => {
      const rule = typeof given === 'string' ? { action: given } : given;
      register(name, rule, { stream: true }, async (call) => {
        const { request, reply, params } = call;
        const file = await ask(call);
        const signedIn = signedInOf(request);
        const { project } = params as { readonly project?: string };
        const projectId = project === undefined ? null : parseUuid(project);
        const role = roleIn(signedIn.memberships, projectId);
        const mayRead = async () => (await roleOfOpenSession(people.app, signedIn, projectId, rule.action)) === role;
        return send(request, reply, { ...file, mayRead });
      });
    },
  };
}

function callOf<Name extends RouteName>(people: PeopleParts, request: FastifyRequest, reply: FastifyReply): Call<Name> {
  // Validated by the schemas that these types are derived from.
  const { params, query, body } = request as {
    params: ParamsOf<Name>;
    query: QueryOf<Name>;
    body: BodyOf<Name>;
  };
  const own = appFor(people.app, request);
  return {
    params,
    query,
    body,
    get scope() {
      return scopeIn(request, params);
    },
    own,
    parts: { ...people, app: own },
    request,
    reply,
  };
}

function appFor(app: App, request: FastifyRequest): App {
  const { signedIn } = request;
  return signedIn === null
    ? forRequest(app, request.id)
    : forActor(app, actorOf(signedIn.person, clientAddress(request)), request.id);
}

export function clientOf({ behindProxy }: Dashboard, request: FastifyRequest): Client {
  return {
    bucket: clientBucket(countedAddress(request)),
    range: clientRange(countedAddress(request)),
    ip: clientAddress(request),
    userAgent: request.headers['user-agent'] ?? null,
    language: dashboardLanguage(request),
    browserToken: readCookie(request, 'browser', behindProxy),
    sessionToken: readCookie(request, 'session', behindProxy),
  };
}

/** Turns {@link HashesBusyError} into a 503 answer, or into 429 if the client's own hashes keep it waiting. */
function busy(reply: FastifyReply, error: HashesBusyError): RequestError {
  const { retryAfterSeconds } = error;
  void reply.header('retry-after', String(retryAfterSeconds));
  return error instanceof HashPendingError
    ? sentenceError('rate_limit_error', 'hash_pending')
    : sentenceError('service_unavailable', 'sign_in_busy', { seconds: retryAfterSeconds });
}

/** The answer to a guess beyond the limit. */
export function tooMany(reply: FastifyReply, { retryAfterSeconds, bucket }: TooMany): RequestError {
  void reply.header('retry-after', String(retryAfterSeconds));
  const refusal = (code: RefusalCode, field: string | null = null): RequestError =>
    sentenceError('rate_limit_error', code, { minutes: Math.ceil(retryAfterSeconds / 60) }, field);
  switch (bucket) {
    case 'password-account':
      return refusal('attempts_password', 'code');
    case 'email-person':
      return refusal('attempts_email', 'email');
    case 'reauthentication-session':
    case 'password-browser':
    case 'code-browser':
      return refusal('attempts');
    default:
      return refusal('attempts_elsewhere');
  }
}
