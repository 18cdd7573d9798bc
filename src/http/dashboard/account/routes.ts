import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  changePassword,
  reauthenticationChallenge,
  reauthenticate,
  type Reauthentication,
  type Refused,
  type Renewed,
} from '../../../app/people/account.ts';
import { changeEmail } from '../../../app/people/email.ts';
import type { TooMany } from '../../../app/people/guess-limits.ts';
import {
  addPasskey,
  confirmTotp,
  newPasskeyOptions,
  removePasskey,
  removeTotp,
  renewRecoveryCodes,
  startTotp,
} from '../../../app/people/second-factor.ts';
import { endAllSessions, endSession, type InBrowser } from '../../../app/people/sessions.ts';
import { parseUuid } from '../../../domain/id.ts';
import { listPasskeys, type Passkey } from '../../../store/people/factors.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { readCookie, setCookie } from '../../cookies.ts';
import { invalid, notFound, type RequestError } from '../../errors.ts';
import { qrPath } from '../../pages/qr-path.ts';
import type { BodyOf } from '../contract.ts';
import { done } from '../refusal-words.ts';
import { addRoute, appFor, partsFor, signedInOf, tooMany, type Dashboard } from '../route.ts';
import type { SessionAnswer } from './contract.ts';
import { sessionViews, signedInView } from './record.ts';
import { noPasskeys } from './sign-in-routes.ts';

const OWN = { action: 'own_account' } as const;
const OWN_REAUTHENTICATED = { action: 'own_account', asksReauthentication: true } as const;

/** Changes that people make to their own accounts. */
export function accountRoutes(app: FastifyInstance, dashboard: Dashboard): void {
  reauthenticationRoutes(app, dashboard);
  sessionRoutes(app, dashboard);
  totpRoutes(app, dashboard);
  passkeyRoutes(app, dashboard);
  addRoute(app, 'POST /dashboard/api/account/password', OWN, async ({ body, request, reply }) => {
    const given = { current: body.current_password, next: body.password };
    const outcome = await changePassword(partsFor(dashboard, request), inBrowser(dashboard, request), given);
    return renewed(dashboard, request, reply, outcome);
  });
  addRoute(app, 'POST /dashboard/api/account/email', OWN_REAUTHENTICATED, async ({ body, request, reply }) => {
    const signedIn = signedInOf(request);
    const outcome = await changeEmail(partsFor(dashboard, request), signedIn, body.email);
    if (outcome.kind === 'too_many') throw tooMany(reply, outcome);
    if (outcome.kind === 'refused') throw refusal(outcome);
    return signedInView(dashboard, { ...signedIn, person: outcome.person });
  });
  addRoute(app, 'POST /dashboard/api/account/recovery-codes', OWN_REAUTHENTICATED, async ({ request }) => {
    const outcome = await renewRecoveryCodes(appFor(dashboard.people.app, request), signedInOf(request));
    if (outcome.kind === 'refused') throw refusal(outcome);
    return { recovery_codes: [...outcome.codes] };
  });
}

function reauthenticationRoutes(app: FastifyInstance, dashboard: Dashboard): void {
  addRoute(app, 'POST /dashboard/api/reauthenticate/passkey', OWN, async ({ request }) => {
    const options = await reauthenticationChallenge(dashboard.people, signedInOf(request));
    if (options === null) throw noPasskeys();
    return { options: { ...options } };
  });
  addRoute(app, 'POST /dashboard/api/reauthenticate', OWN, async ({ body, request, reply }) => {
    const outcome = await reauthenticate(partsFor(dashboard, request), signedInOf(request), reauthenticationOf(body));
    return renewed(dashboard, request, reply, outcome);
  });
}

function reauthenticationOf(body: BodyOf<'POST /dashboard/api/reauthenticate'>): Reauthentication {
  const { password, code, recovery_code: recoveryCode, passkey } = body;
  const given: readonly (Reauthentication | null)[] = [
    password === undefined ? null : { kind: 'password', password },
    code === undefined ? null : { kind: 'totp', code },
    recoveryCode === undefined ? null : { kind: 'recovery_code', code: recoveryCode },
    passkey === undefined ? null : { kind: 'passkey', response: passkey },
  ];
  const [reauthentication, ...more] = given.filter((one) => one !== null);
  if (reauthentication === undefined || more.length > 0) {
    throw invalid(null, 'Give exactly one way to reauthenticate: password, code, recovery_code or passkey.');
  }
  return reauthentication;
}

async function renewed(
  dashboard: Dashboard,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Renewed | Refused | TooMany,
): Promise<SessionAnswer> {
  if (outcome.kind === 'too_many') throw tooMany(reply, outcome);
  if (outcome.kind === 'refused') throw refusal(outcome);
  setCookie(request, reply, 'session', outcome.token, dashboard.behindProxy);
  return signedInView(dashboard, outcome.signedIn);
}

function inBrowser({ behindProxy }: Dashboard, request: FastifyRequest): InBrowser {
  return { ...signedInOf(request), browserToken: readCookie(request, 'browser', behindProxy) };
}

function refusal({ param, message }: Refused): RequestError {
  return invalid(param, message);
}

function sessionRoutes(app: FastifyInstance, dashboard: Dashboard): void {
  const core = dashboard.people.app;
  addRoute(app, 'GET /dashboard/api/account/sessions', OWN, async ({ request }) => {
    const { session: current, person } = signedInOf(request);
    return { data: await sessionViews(core, person.id, current) };
  });
  addRoute(app, 'POST /dashboard/api/account/sessions/end', OWN_REAUTHENTICATED, async ({ body, request }) => {
    const { person } = signedInOf(request);
    const found = isUuid(body.id) && (await endSession(appFor(core, request), person.id, body.id));
    if (!found) throw notFound('There is no such session.');
    return {};
  });
  addRoute(app, 'POST /dashboard/api/account/sessions/end-all', OWN_REAUTHENTICATED, async ({ request, reply }) => {
    await endAllSessions(appFor(core, request), signedInOf(request).person.id);
    setCookie(request, reply, 'session', null, dashboard.behindProxy);
    return {};
  });
}

function totpRoutes(app: FastifyInstance, dashboard: Dashboard): void {
  addRoute(app, 'POST /dashboard/api/account/totp/start', OWN_REAUTHENTICATED, async ({ request }) => {
    const { secret, uri } = await startTotp(partsFor(dashboard, request), signedInOf(request));
    return { secret, uri, qr: qrPath(uri) };
  });
  addRoute(app, 'POST /dashboard/api/account/totp/confirm', OWN_REAUTHENTICATED, async ({ body, request, reply }) => {
    const outcome = await confirmTotp(partsFor(dashboard, request), inBrowser(dashboard, request), body.code);
    if (outcome.kind === 'too_many') throw tooMany(reply, outcome);
    if (outcome.kind === 'refused') throw refusal(outcome);
    return { recovery_codes: listOrNull(outcome.recoveryCodes) };
  });
  addRoute(app, 'POST /dashboard/api/account/totp/remove', OWN_REAUTHENTICATED, async ({ request }) => {
    const found = await removeTotp(appFor(dashboard.people.app, request), inBrowser(dashboard, request));
    if (!found) throw notFound('This account has no authenticator.');
    return {};
  });
}

function passkeyRoutes(app: FastifyInstance, dashboard: Dashboard): void {
  const core = dashboard.people.app;
  addRoute(app, 'GET /dashboard/api/account/passkeys', OWN, async ({ request }) => {
    const passkeys = await listPasskeys(core.db, signedInOf(request).person.id);
    return { data: passkeys.map(passkeyView) };
  });
  addRoute(app, 'POST /dashboard/api/account/passkeys/options', OWN_REAUTHENTICATED, async ({ request }) => {
    const options = await newPasskeyOptions(dashboard.people, signedInOf(request));
    if (options === null) throw noPasskeys();
    return { options: { ...options } };
  });
  addRoute(app, 'POST /dashboard/api/account/passkeys/add', OWN_REAUTHENTICATED, async ({ body, request }) => {
    const outcome = done(await addPasskey(partsFor(dashboard, request), inBrowser(dashboard, request), body));
    if (outcome.kind === 'refused') throw refusal(outcome);
    return { passkey: passkeyView(outcome.passkey), recovery_codes: listOrNull(outcome.recoveryCodes) };
  });
  addRoute(app, 'POST /dashboard/api/account/passkeys/remove', OWN_REAUTHENTICATED, async ({ body, request }) => {
    const found = await removePasskey(appFor(core, request), inBrowser(dashboard, request), body.id);
    if (!found) throw notFound('There is no such passkey.');
    return {};
  });
}

function passkeyView({ id, name, createdAt, lastUsedAt }: Passkey) {
  return { id, name, created_at: isoTime(createdAt), last_used_at: isoTimeOrNull(lastUsedAt) };
}

function listOrNull(codes: readonly string[] | null): string[] | null {
  return codes === null ? null : [...codes];
}

function isUuid(text: string): boolean {
  return parseUuid(text) !== null;
}
