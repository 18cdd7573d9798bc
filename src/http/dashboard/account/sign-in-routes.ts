import { sentenceError } from '../../page-sentences.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { confirmEmail } from '../../../app/people/email.ts';
import { acceptLink, linkState } from '../../../app/people/links.ts';
import { signOut, type Started } from '../../../app/people/sessions.ts';
import { confirmCode, confirmPasskey, giveUpSignIn, passkeyChallenge, signIn } from '../../../app/people/sign-in.ts';
import type { SignInOutcome } from '../../../app/people/begin-session.ts';
import { isoTime } from '../../../wire/time.ts';
import { clientAddress } from '../../client.ts';
import { readCookie, setCookie } from '../../cookies.ts';
import type { RefusalCode } from '../../../domain/sentence.ts';
import type { RequestError } from '../../errors.ts';
import { done } from '../refusal-words.ts';
import { clientOf, tooMany, type Dashboard, type Routes } from '../route.ts';
import type { SessionAnswer } from './contract.ts';
import { secondFactorView, sessionView, signedInView } from './record.ts';

const ANYBODY = { action: 'anybody' } as const;

/** Set-up, invitations, sign-in and sign-out. */
export function signInRoutes(routes: Routes, dashboard: Dashboard): void {
  const { behindProxy } = dashboard;
  routes.add('GET /dashboard/api/session', ANYBODY, ({ request }) => sessionView(dashboard, request));

  routes.add('POST /dashboard/api/links/state', ANYBODY, async ({ body }) => {
    const state = await linkState(dashboard.people.app, body.token);
    if (state.kind !== 'open') return { state: state.kind };
    const { purpose, email, name, expiresAt } = state;
    return { state: 'open' as const, purpose, email, name, expires_at: isoTime(expiresAt) };
  });

  routes.add('POST /dashboard/api/links/accept', ANYBODY, async ({ body, parts, request, reply }) => {
    const { email = null, name = null } = body;
    const outcome = await acceptLink(parts, clientOf(dashboard, request), { ...body, email, name });
    if (outcome.kind === 'closed') throw sentenceError('not_found_error', `link_${outcome.state}`);
    return started(dashboard, request, reply, done(outcome).started);
  });

  routes.add('POST /dashboard/api/links/confirm-email', ANYBODY, async ({ body, own, request }) => {
    const outcome = await confirmEmail(own, body.token, clientAddress(request));
    if (outcome.kind === 'closed') throw sentenceError('not_found_error', 'link_over');
    return {};
  });

  routes.add('POST /dashboard/api/sign-in', ANYBODY, async ({ body, parts, request, reply }) =>
    answer(
      dashboard,
      request,
      reply,
      await signIn(parts, clientOf(dashboard, request), body),
      body.code === undefined ? 'sign_in_wrong' : 'sign_in_wrong_together',
    ),
  );
  for (const [path, kind] of [
    ['code', 'totp'],
    ['recovery-code', 'recovery_code'],
  ] as const) {
    routes.add(`POST /dashboard/api/sign-in/${path}`, ANYBODY, async ({ body, parts, request, reply }) => {
      const given = { kind, code: body.code };
      const cookie = readCookie(request, 'sign_in', behindProxy);
      const outcome = await confirmCode(parts, clientOf(dashboard, request), cookie, given);
      return answer(dashboard, request, reply, outcome, 'wrong_code');
    });
  }

  routes.add('POST /dashboard/api/sign-in/passkey/options', ANYBODY, async ({ request, reply }) => {
    const cookie = readCookie(request, 'sign_in', behindProxy);
    const challenge = await passkeyChallenge(dashboard.people, cookie);
    if (challenge === null) throw noPasskeys();
    if (challenge.token !== null) setCookie(request, reply, 'sign_in', challenge.token, behindProxy);
    return { options: { ...challenge.options } };
  });
  routes.add('POST /dashboard/api/sign-in/passkey', ANYBODY, async ({ body, parts, request, reply }) => {
    const cookie = readCookie(request, 'sign_in', behindProxy);
    const client = clientOf(dashboard, request);
    const outcome = await confirmPasskey(parts, client, cookie, body.response);
    return answer(dashboard, request, reply, outcome, 'sign_in_wrong_passkey');
  });

  routes.add('POST /dashboard/api/sign-out', ANYBODY, async ({ own, request, reply }) => {
    if (request.signedIn !== null) await signOut(own, request.signedIn);
    await giveUpSignIn(dashboard.people.app, readCookie(request, 'sign_in', behindProxy));
    for (const kind of ['session', 'sign_in'] as const) setCookie(request, reply, kind, null, behindProxy);
    return {};
  });
}

export function noPasskeys(): RequestError {
  return sentenceError('invalid_request_error', 'no_passkeys');
}

async function answer(
  dashboard: Dashboard,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: SignInOutcome,
  wrong: RefusalCode,
): Promise<SessionAnswer> {
  switch (outcome.kind) {
    case 'signed_in':
      return started(dashboard, request, reply, outcome.started);
    case 'second_factor':
      setCookie(request, reply, 'sign_in', outcome.token, dashboard.behindProxy);
      return secondFactorView(dashboard, outcome.factors);
    case 'wrong':
      throw sentenceError('authentication_error', wrong);
    case 'over':
      throw sentenceError('authentication_error', 'sign_in_over');
    case 'too_many':
      throw tooMany(reply, outcome);
  }
}

/** Sets the cookies of a session and, for a new browser, the one by which it is recognized. */
async function started(
  dashboard: Dashboard,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Started,
): Promise<SessionAnswer> {
  const { behindProxy } = dashboard;
  setCookie(request, reply, 'session', session.token, behindProxy);
  setCookie(request, reply, 'sign_in', null, behindProxy);
  if (session.browserToken !== null) setCookie(request, reply, 'browser', session.browserToken, behindProxy);
  return signedInView(dashboard, session);
}
