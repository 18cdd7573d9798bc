import { Type, type Static } from 'typebox';
import { email, oneOf, text } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { actionShape, codeField, doneShape, idField, passwordField, roleShape } from './shape.ts';

/** Being somebody: set-up and invitation, sign-in, sessions, factors. */

export const FACTORS = ['totp', 'passkey', 'recovery_code'] as const;
export type Factor = (typeof FACTORS)[number];

/** Why passkeys are not offered: WebAuthn works on a host's name and in a secure context alone. */
export const NO_PASSKEYS = ['ip_address', 'not_https'] as const;

/**
 * `DASHBOARD_URL` is an IP address, or plain HTTP to another machine: set it to the name that people use. Where they
 * are offered, a page that was opened at another origin than that of `dashboard_url` has to say that they work there
 * alone.
 */
const passkeysShape = Type.Union([
  Type.Object({ offered: Type.Literal(true), dashboard_url: Type.String() }),
  Type.Object({ offered: Type.Literal(false), reason: oneOf(NO_PASSKEYS), dashboard_url: Type.String() }),
]);

const serviceShape = {
  /** Changes with every upgrade: a page of another one should load anew. */
  version: Type.String(),
  passkeys: passkeysShape,
};

const projectShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  active: Type.Boolean(),
  role: roleShape,
  /** What the person may do in it. */
  actions: Type.Array(actionShape),
  /** A project opens in test mode until its first live payment. */
  has_live_payments: Type.Boolean(),
});

const signedIn = Type.Object({
  state: Type.Literal('signed_in'),
  ...serviceShape,
  person: Type.Object({
    id: Type.String(),
    email: Type.String(),
    /** Role in all projects; null when there is none but in single projects. */
    role: nullable(roleShape),
    /** What the person may do to the service as a whole. */
    actions: Type.Array(actionShape),
  }),
  session: Type.Object({
    id: Type.String(),
    /** When it ends in any case, and when it ends unless it is used. */
    ends_at: time(),
    idle_ends_at: time(),
    /** Until when nothing asks for another proof; null when the next dangerous action will. */
    proved_until: nullable(time()),
    /** How the person can prove again: `password` only while there is no second factor. */
    proofs: Type.Array(oneOf(['password', ...FACTORS])),
  }),
  factors: Type.Object({
    totp: Type.Boolean(),
    passkeys: Type.Integer(),
    recovery_codes_left: Type.Integer(),
  }),
  projects: Type.Array(projectShape),
});

/** Who asks. Never an error: the page begins with it. */
export const sessionShape = Type.Union([
  Type.Object({
    state: Type.Literal('signed_out'),
    ...serviceShape,
    /** Whether anybody has an account; if not, the sign-in page says where the set-up link is. */
    has_people: Type.Boolean(),
  }),
  /** The password was right, and the second factor is asked for now. */
  Type.Object({ state: Type.Literal('second_factor'), ...serviceShape, factors: Type.Array(oneOf(FACTORS)) }),
  signedIn,
]);
export type SessionAnswer = Static<typeof sessionShape>;
export type SignedIn = Static<typeof signedIn>;
export type SessionProject = Static<typeof projectShape>;

/** As `@simplewebauthn/browser` takes and gives them. */
const webAuthnJson = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const passkeyOptions = Type.Object({ options: webAuthnJson });
const passkeyBody = Type.Object({ response: webAuthnJson });

const tokenField = text({ max: 128, min: 1 });

/** What a link of set-up, invitation or `user reset` is good for. */
export const linkShape = Type.Union([
  Type.Object({
    state: Type.Literal('open'),
    purpose: oneOf(['setup', 'invitation', 'reset']),
    /** Fixed; null at set-up, where it is asked for. */
    email: nullable(Type.String()),
    expires_at: time(),
  }),
  /** The page has no fields then and says how to get a new one. */
  Type.Object({ state: oneOf(['used', 'expired', 'unknown']) }),
]);
export type LinkAnswer = Static<typeof linkShape>;

const passkeyShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: time(),
  last_used_at: nullable(time()),
});

const ownSessionShape = Type.Object({
  id: Type.String(),
  is_current: Type.Boolean(),
  signed_in_at: time(),
  last_used_at: time(),
  /** Where it was last used from. */
  ip: Type.String(),
  /** As the browser names itself; show it as text. */
  user_agent: nullable(Type.String()),
});

/** The ten codes, each shown this once; null when there are some from before. */
const recoveryCodes = nullable(Type.Array(Type.String()));

/** A proof: exactly one of them. A passkey's options come from `…/prove/passkey`. */
const proofBody = Type.Object({
  password: Type.Optional(passwordField),
  code: Type.Optional(codeField),
  recovery_code: Type.Optional(codeField),
  passkey: Type.Optional(webAuthnJson),
});

/**
 * Wrong passwords and codes at sign-in are 401 `authentication_error`, and too many of them 429 `rate_limit_error` with
 * `Retry-After`; a proof's, and a wrong current password, are 400 with their `param`. Any other 401 means signed out.
 * 403 `proof_required`: prove again (`POST …/prove`), then send the request again.
 */
export const accountContract = {
  'GET /dashboard/api/session': { answer: sessionShape },

  'POST /dashboard/api/links/look': { body: Type.Object({ token: tokenField }), answer: linkShape },
  /** Makes the account (or, by a reset link, its password anew) and signs in. `email` only at set-up. */
  'POST /dashboard/api/links/accept': {
    body: Type.Object({ token: tokenField, email: Type.Optional(email), password: passwordField }),
    answer: sessionShape,
  },

  /** Answers `signed_in`, or `second_factor` where there is one. */
  'POST /dashboard/api/sign-in': { body: Type.Object({ email, password: passwordField }), answer: sessionShape },
  /** The second step: a TOTP or a recovery code. */
  'POST /dashboard/api/sign-in/code': { body: Type.Object({ code: codeField }), answer: sessionShape },
  'POST /dashboard/api/sign-in/recovery-code': { body: Type.Object({ code: codeField }), answer: sessionShape },
  /** Both as the second step, and in place of e-mail and password. */
  'POST /dashboard/api/sign-in/passkey/options': { answer: passkeyOptions },
  'POST /dashboard/api/sign-in/passkey': { body: passkeyBody, answer: sessionShape },
  /** Also gives up a sign-in that waits for its second step. */
  'POST /dashboard/api/sign-out': { answer: doneShape },

  'POST /dashboard/api/prove/passkey': { answer: passkeyOptions },
  /** The session gets another token; `session` is as after it. */
  'POST /dashboard/api/prove': { body: proofBody, answer: sessionShape },

  'GET /dashboard/api/account/sessions': { answer: Type.Object({ data: Type.Array(ownSessionShape) }) },
  /** Asks for a proof, as the next one does (ASVS 5, 7.5.2). */
  'POST /dashboard/api/account/sessions/end': { body: Type.Object({ id: idField }), answer: doneShape },
  /** This one too. */
  'POST /dashboard/api/account/sessions/end-all': { answer: doneShape },

  /** Ends all other sessions. */
  'POST /dashboard/api/account/password': {
    body: Type.Object({ current_password: passwordField, password: passwordField }),
    answer: sessionShape,
  },
  /** Asks for a proof. */
  'POST /dashboard/api/account/email': { body: Type.Object({ email }), answer: sessionShape },

  /** Asks for a proof, as all below do. The secret counts only once `confirm` has seen a code of it. */
  'POST /dashboard/api/account/totp/start': {
    answer: Type.Object({
      /** Base32, for typing. */
      secret: Type.String(),
      uri: Type.String(),
      /** The code as one SVG path of strokes, dark on light, in a viewBox of `0 0 size size` with its quiet zone. */
      qr: Type.Object({ path: Type.String(), size: Type.Integer() }),
    }),
  },
  'POST /dashboard/api/account/totp/confirm': {
    body: Type.Object({ code: codeField }),
    answer: Type.Object({ recovery_codes: recoveryCodes }),
  },
  'POST /dashboard/api/account/totp/remove': { answer: doneShape },

  'GET /dashboard/api/account/passkeys': { answer: Type.Object({ data: Type.Array(passkeyShape) }) },
  'POST /dashboard/api/account/passkeys/options': { answer: passkeyOptions },
  'POST /dashboard/api/account/passkeys/add': {
    body: Type.Object({ name: text({ max: 100, min: 1 }), response: webAuthnJson }),
    answer: Type.Object({ passkey: passkeyShape, recovery_codes: recoveryCodes }),
  },
  'POST /dashboard/api/account/passkeys/remove': { body: Type.Object({ id: idField }), answer: doneShape },

  /** Ten new ones; those from before count no more. */
  'POST /dashboard/api/account/recovery-codes': { answer: Type.Object({ recovery_codes: Type.Array(Type.String()) }) },
} as const satisfies Contracts;
