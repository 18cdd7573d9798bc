import type { Api } from './api.ts';
import type { SessionAnswer } from './session.ts';

type Options = Readonly<Record<string, unknown>>;

/** Whether passkeys work on this page, and if not, why. */
export type PasskeysHere =
  | { readonly offered: true }
  | {
      readonly offered: false;
      readonly reason: 'ip_address' | 'not_https' | 'other_address';
      readonly dashboard_url: string;
    };

/** Passkeys are bound to the origin of `DASHBOARD_URL`: a page at another address can neither create nor use one. */
export function passkeysHere(passkeys: SessionAnswer['passkeys']): PasskeysHere {
  if (!passkeys.offered) return passkeys;
  const { dashboard_url } = passkeys;
  return new URL(dashboard_url).origin === location.origin
    ? { offered: true }
    : { offered: false, reason: 'other_address', dashboard_url };
}

/** The browser's response once the person has used a passkey. Throws if they did not. */
export async function askForPasskey(options: Options): Promise<Options> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const response = await startAuthentication({ optionsJSON: options as never });
  return { ...response };
}

/** The browser's response once the person has created a passkey. Throws if they did not. */
export async function makePasskey(options: Options): Promise<Options> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const response = await startRegistration({ optionsJSON: options as never });
  return { ...response };
}

/** Signs in with a passkey, as the second step or alone. */
export async function signInWithPasskey(api: Api): Promise<SessionAnswer> {
  const { options } = await api('POST /dashboard/api/sign-in/passkey/options');
  return api('POST /dashboard/api/sign-in/passkey', { body: { response: await askForPasskey(options) } });
}

export async function reauthenticateWithPasskey(api: Api): Promise<SessionAnswer> {
  const { options } = await api('POST /dashboard/api/reauthenticate/passkey');
  return api('POST /dashboard/api/reauthenticate', { body: { passkey: await askForPasskey(options) } });
}

/** Whether the person dismissed the browser's dialog or let it time out, which is not an error. */
export function isDismissed(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError');
}
