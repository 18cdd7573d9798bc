import { Type, type Static } from 'typebox';
import { email, oneOf, text, nullable, time } from '../../fields.ts';
import {
  type Contracts,
  actionShape,
  codeField,
  doneShape,
  idField,
  passwordField,
  roleShape,
} from '../contract-parts.ts';

/** Set-up, invitations, sign-in, sessions and second factors. */

export const FACTORS = ['totp', 'passkey', 'recovery_code'] as const;
export type Factor = (typeof FACTORS)[number];

/** Why passkeys are not offered: WebAuthn needs a host name and a secure context. */
export const NO_PASSKEYS = ['ip_address', 'not_https'] as const;

/** Passkeys work only at the origin of `dashboard_url`; a page that was opened at another one says so. */
const passkeysShape = Type.Union([
  Type.Object({ offered: Type.Literal(true), dashboard_url: Type.String() }),
  Type.Object({ offered: Type.Literal(false), reason: oneOf(NO_PASSKEYS), dashboard_url: Type.String() }),
]);

const serviceShape = {
  /** Changes with every upgrade; a page of another version should be reloaded. */
  version: Type.String(),
  passkeys: passkeysShape,
};

const projectShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  active: Type.Boolean(),
  role: roleShape,
  /** The person's rights in the project. */
  actions: Type.Array(actionShape),
  /** A project opens in test mode until its first live payment. */
  has_live_payments: Type.Boolean(),
});

const signedIn = Type.Object({
  state: Type.Literal('signed_in'),
  ...serviceShape,
  /**
   * Whether a role requires a second factor and the person has none. The session can do nothing but add one: all other
   * routes answer 403 `second_factor_required`, and roles, actions and projects are left out.
   */
  must_add_factor: Type.Boolean(),
  person: Type.Object({
    id: Type.String(),
    email: Type.String(),
    /** The name under which colleagues know the person. */
    name: nullable(Type.String()),
    /** The new address that is not confirmed yet. */
    pending_email: nullable(Type.String()),
    /** The role in all projects; null for a person who has roles only in single projects. */
    role: nullable(roleShape),
    /** The person's rights over the service as a whole. */
    actions: Type.Array(actionShape),
  }),
  session: Type.Object({
    id: Type.String(),
    /** The latest time at which the session ends, and when it ends without further use. */
    ends_at: time(),
    idle_ends_at: time(),
    /** When the last reauthentication expires; null if the next dangerous action requires a new one. */
    reauthenticated_until: nullable(time()),
    /** How the person can confirm their identity: `password` only without a second factor. */
    reauthentication_ways: Type.Array(oneOf(['password', ...FACTORS])),
  }),
  factors: Type.Object({
    totp: Type.Boolean(),
    passkeys: Type.Integer(),
    recovery_codes_left: Type.Integer(),
  }),
  projects: Type.Array(projectShape),
});

/** The signed-in person. Every page requests this first. */
export const sessionShape = Type.Union([
  Type.Object({
    state: Type.Literal('signed_out'),
    ...serviceShape,
    /** Whether anybody has an account; if not, the sign-in page says where the set-up link is. */
    has_people: Type.Boolean(),
  }),
  /** The password was right, and the second factor is required next. */
  Type.Object({ state: Type.Literal('second_factor'), ...serviceShape, factors: Type.Array(oneOf(FACTORS)) }),
  signedIn,
]);
export type SessionAnswer = Static<typeof sessionShape>;
export type SignedIn = Static<typeof signedIn>;
export type SessionProject = Static<typeof projectShape>;

/** JSON in the form of `@simplewebauthn/browser`. */
const webAuthnJson = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const passkeyOptions = Type.Object({ options: webAuthnJson });
const passkeyBody = Type.Object({ response: webAuthnJson });

/** Its own rule refuses what is longer. */
const personNameField = text({ max: 300 });
const tokenField = text({ max: 128, min: 1 });

/** The state of a link for set-up, an invitation, `user reset` or a new e-mail address. */
export const linkShape = Type.Union([
  Type.Object({
    state: Type.Literal('open'),
    purpose: oneOf(['setup', 'invitation', 'reset', 'email']),
    /** The new address if the link confirms one; null at set-up, where the person enters it. */
    email: nullable(Type.String()),
    /** The name that the account has, which its person may change. */
    name: nullable(Type.String()),
    expires_at: time(),
  }),
  Type.Object({ state: oneOf(['used', 'expired', 'unknown']) }),
]);
export type LinkAnswer = Static<typeof linkShape>;

const passkeyShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: time(),
  last_used_at: nullable(time()),
});

export const ownSessionShape = Type.Object({
  id: Type.String(),
  is_current: Type.Boolean(),
  signed_in_at: time(),
  last_used_at: time(),
  /** The address of its last use. */
  ip: Type.String(),
  /** Sent by the browser, so not trustworthy. */
  user_agent: nullable(Type.String()),
});

export type SessionView = Static<typeof ownSessionShape>;

/** The ten codes, which are shown only once; null if the person has some already. */
const recoveryCodes = nullable(Type.Array(Type.String()));

/** Exactly one way to reauthenticate. A passkey's options come from `…/reauthenticate/passkey`. */
const reauthenticationBody = Type.Object({
  password: Type.Optional(passwordField),
  code: Type.Optional(codeField),
  recovery_code: Type.Optional(codeField),
  passkey: Type.Optional(webAuthnJson),
});

/**
 * Wrong passwords and codes get 401 `authentication_error` at sign-in, and otherwise 400 with their `param`. Too many
 * of them get 429 `rate_limit_error` with `Retry-After`. Any other 401 means signed out. 403
 * `reauthentication_required`: reauthenticate (`POST …/reauthenticate`), then repeat the request.
 */
export const accountContract = {
  'GET /dashboard/api/session': { answer: sessionShape },

  'POST /dashboard/api/links/state': { body: Type.Object({ token: tokenField }), answer: linkShape },
  /**
   * Creates the account or, for a reset link, sets a new password, and signs in. `email` only at set-up; an empty
   * `name` is none.
   */
  'POST /dashboard/api/links/accept': {
    body: Type.Object({
      token: tokenField,
      email: Type.Optional(email),
      name: Type.Optional(personNameField),
      password: passwordField,
    }),
    answer: sessionShape,
  },

  /** Replaces the e-mail address of an account by the new one of an `email` link. */
  'POST /dashboard/api/links/confirm-email': { body: Type.Object({ token: tokenField }), answer: doneShape },

  /** Answers `signed_in`, or `second_factor` if the person has one. */
  /** With `code`, of an authenticator, this does the second step as well; a fault in either refuses both. */
  'POST /dashboard/api/sign-in': {
    body: Type.Object({ email, password: passwordField, code: Type.Optional(codeField) }),
    answer: sessionShape,
  },
  'POST /dashboard/api/sign-in/code': { body: Type.Object({ code: codeField }), answer: sessionShape },
  'POST /dashboard/api/sign-in/recovery-code': { body: Type.Object({ code: codeField }), answer: sessionShape },
  /** For the second step, and for signing in with a passkey alone. */
  'POST /dashboard/api/sign-in/passkey/options': { answer: passkeyOptions },
  'POST /dashboard/api/sign-in/passkey': { body: passkeyBody, answer: sessionShape },
  /** Also abandons a sign-in that waits for its second step. */
  'POST /dashboard/api/sign-out': { answer: doneShape },

  'POST /dashboard/api/reauthenticate/passkey': { answer: passkeyOptions },
  /** The session gets a new token. */
  'POST /dashboard/api/reauthenticate': { body: reauthenticationBody, answer: sessionShape },

  'GET /dashboard/api/account/sessions': { answer: Type.Object({ data: Type.Array(ownSessionShape) }) },
  /** Requires reauthentication, as does the next one (ASVS 5, 7.5.2). */
  'POST /dashboard/api/account/sessions/end': { body: Type.Object({ id: idField }), answer: doneShape },
  /** Includes the current session. */
  'POST /dashboard/api/account/sessions/end-all': { answer: doneShape },

  /** Ends all other sessions. */
  'POST /dashboard/api/account/password': {
    body: Type.Object({ current_password: passwordField, password: passwordField }),
    answer: sessionShape,
  },
  /** An empty name removes it. */
  'POST /dashboard/api/account/name': { body: Type.Object({ name: personNameField }), answer: sessionShape },
  /** Requires reauthentication. If mails are sent, the new address is `pending_email` until it is confirmed. */
  'POST /dashboard/api/account/email': { body: Type.Object({ email }), answer: sessionShape },

  /** Requires reauthentication, as do all routes below. The secret takes effect when `confirm` receives its code. */
  'POST /dashboard/api/account/totp/start': {
    answer: Type.Object({
      /** Base32, for typing in. */
      secret: Type.String(),
      uri: Type.String(),
      /** An SVG path of strokes, dark on light, for a viewBox of `0 0 size size`, which includes the quiet zone. */
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

  /** Replaces any earlier codes. */
  'POST /dashboard/api/account/recovery-codes': { answer: Type.Object({ recovery_codes: Type.Array(Type.String()) }) },
} as const satisfies Contracts;
