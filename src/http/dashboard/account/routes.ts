import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  changePassword,
  reauthenticationChallenge,
  reauthenticate,
  type Reauthentication,
  type Renewed,
} from '../../../app/people/account.ts';
import { changeEmail } from '../../../app/people/email.ts';
import { changeName } from '../../../app/people/person-name.ts';
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
import type { Rejected } from '../../../app/rejected.ts';
import { parseUuid } from '../../../domain/id.ts';
import { listPasskeys, type Passkey } from '../../../store/people/factors.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { readCookie, setCookie } from '../../cookies.ts';
import { invalid, notFound } from '../../errors.ts';
import { qrPath } from '../../pages/qr-path.ts';
import type { BodyOf } from '../contract.ts';
import { done } from '../refusal-words.ts';
import { tooMany, type Dashboard, type Routes } from '../route.ts';
import type { SessionAnswer } from './contract.ts';
import { sessionViews, signedInView } from './record.ts';
import { noPasskeys } from './sign-in-routes.ts';
import { signedInOf } from '../scope.ts';

const OWN = { action: 'own_account' } as const;
const OWN_REAUTHENTICATED = { action: 'own_account', asksReauthentication: true } as const;
/** Routes by which a person adds a second factor. */
const ADDS_FACTOR = { ...OWN_REAUTHENTICATED, addsFactor: true } as const;

/** Changes that people make to their own accounts. */
export function accountRoutes(routes: Routes, dashboard: Dashboard): void {
  reauthenticationRoutes(routes, dashboard);
  sessionRoutes(routes, dashboard);
  totpRoutes(routes, dashboard);
  passkeyRoutes(routes, dashboard);
  routes.add('POST /dashboard/api/account/password', OWN, async ({ body, parts, request, reply }) => {
    const given = { current: body.current_password, next: body.password };
    const outcome = await changePassword(parts, inBrowser(dashboard, request), given);
    return renewed(dashboard, request, reply, outcome);
  });
  routes.add('POST /dashboard/api/account/name', OWN, async ({ body, own, request }) => {
    const signedIn = signedInOf(request);
    const { person } = done(await changeName(own, signedIn.person, body.name));
    return signedInView(dashboard, { ...signedIn, person });
  });
  routes.add('POST /dashboard/api/account/email', OWN_REAUTHENTICATED, async ({ body, parts, request, reply }) => {
    const signedIn = signedInOf(request);
    const outcome = await changeEmail(parts, signedIn, body.email);
    if (outcome.kind === 'too_many') throw tooMany(reply, outcome);
    return signedInView(dashboard, { ...signedIn, person: done(outcome).person });
  });
  routes.add('POST /dashboard/api/account/recovery-codes', OWN_REAUTHENTICATED, async ({ own, request }) => {
    return { recovery_codes: [...done(await renewRecoveryCodes(own, signedInOf(request))).codes] };
  });
}

function reauthenticationRoutes(routes: Routes, dashboard: Dashboard): void {
  const REAUTHENTICATES = { ...OWN, addsFactor: true } as const;
  routes.add('POST /dashboard/api/reauthenticate/passkey', REAUTHENTICATES, async ({ request }) => {
    const options = await reauthenticationChallenge(dashboard.people, signedInOf(request));
    if (options === null) throw noPasskeys();
    return { options: { ...options } };
  });
  routes.add('POST /dashboard/api/reauthenticate', REAUTHENTICATES, async ({ body, parts, request, reply }) => {
    const outcome = await reauthenticate(parts, signedInOf(request), reauthenticationOf(body));
    return renewed(dashboard, request, reply, outcome);
  });
}

function reauthenticationOf(body: BodyOf<'POST /dashboard/api/reauthenticate'>): Reauthentication {
  const { password, code, recovery_code: recoveryCode, passkey } = body;
  const methods: readonly (Reauthentication | null)[] = [
    password === undefined ? null : { kind: 'password', password },
    code === undefined ? null : { kind: 'totp', code },
    recoveryCode === undefined ? null : { kind: 'recovery_code', code: recoveryCode },
    passkey === undefined ? null : { kind: 'passkey', response: passkey },
  ];
  const [reauthentication, ...more] = methods.filter((one) => one !== null);
  if (reauthentication === undefined || more.length > 0) {
    throw invalid(null, 'Give exactly one way to reauthenticate: password, code, recovery_code or passkey.');
  }
  return reauthentication;
}

async function renewed(
  dashboard: Dashboard,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Renewed | Rejected | TooMany,
): Promise<SessionAnswer> {
  if (outcome.kind === 'too_many') throw tooMany(reply, outcome);
  const { token, signedIn } = done(outcome);
  setCookie(request, reply, 'session', token, dashboard.behindProxy);
  return signedInView(dashboard, signedIn);
}

function inBrowser({ behindProxy }: Dashboard, request: FastifyRequest): InBrowser {
  return { ...signedInOf(request), browserToken: readCookie(request, 'browser', behindProxy) };
}

function sessionRoutes(routes: Routes, dashboard: Dashboard): void {
  const core = dashboard.people.app;
  routes.add('GET /dashboard/api/account/sessions', OWN, async ({ request }) => {
    const { session: current, person } = signedInOf(request);
    return { data: await sessionViews(core, person.id, current) };
  });
  routes.add('POST /dashboard/api/account/sessions/end', OWN_REAUTHENTICATED, async ({ body, own, request }) => {
    const { person } = signedInOf(request);
    const found = isUuid(body.id) && (await endSession(own, person.id, body.id));
    if (!found) throw notFound('There is no such session.');
    return {};
  });
  routes.add('POST /dashboard/api/account/sessions/end-all', OWN_REAUTHENTICATED, async ({ own, request, reply }) => {
    await endAllSessions(own, signedInOf(request).person.id);
    setCookie(request, reply, 'session', null, dashboard.behindProxy);
    return {};
  });
}

function totpRoutes(routes: Routes, dashboard: Dashboard): void {
  routes.add('POST /dashboard/api/account/totp/start', ADDS_FACTOR, async ({ parts, request }) => {
    const { secret, uri } = await startTotp(parts, signedInOf(request));
    return { secret, uri, qr: qrPath(uri) };
  });
  routes.add('POST /dashboard/api/account/totp/confirm', ADDS_FACTOR, async ({ body, parts, request, reply }) => {
    const outcome = await confirmTotp(parts, inBrowser(dashboard, request), body.code);
    if (outcome.kind === 'too_many') throw tooMany(reply, outcome);
    return { recovery_codes: listOrNull(done(outcome).recoveryCodes) };
  });
  routes.add('POST /dashboard/api/account/totp/remove', OWN_REAUTHENTICATED, async ({ own, request }) => {
    const removed = done(await removeTotp(own, inBrowser(dashboard, request)));
    if (removed.kind === 'none') throw notFound('This account has no authenticator app.');
    return {};
  });
}

function passkeyRoutes(routes: Routes, dashboard: Dashboard): void {
  const core = dashboard.people.app;
  routes.add('GET /dashboard/api/account/passkeys', OWN, async ({ request }) => {
    const passkeys = await listPasskeys(core.db, signedInOf(request).person.id);
    return { data: passkeys.map(passkeyView) };
  });
  routes.add('POST /dashboard/api/account/passkeys/options', ADDS_FACTOR, async ({ request }) => {
    const options = await newPasskeyOptions(dashboard.people, signedInOf(request));
    if (options === null) throw noPasskeys();
    return { options: { ...options } };
  });
  routes.add('POST /dashboard/api/account/passkeys/add', ADDS_FACTOR, async ({ body, parts, request }) => {
    const outcome = done(await addPasskey(parts, inBrowser(dashboard, request), body));
    return { passkey: passkeyView(outcome.passkey), recovery_codes: listOrNull(outcome.recoveryCodes) };
  });
  routes.add('POST /dashboard/api/account/passkeys/remove', OWN_REAUTHENTICATED, async ({ body, own, request }) => {
    const removed = done(await removePasskey(own, inBrowser(dashboard, request), body.id));
    if (removed.kind === 'none') throw notFound('There is no such passkey.');
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
