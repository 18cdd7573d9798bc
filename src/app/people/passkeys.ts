import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Passkey } from '../../store/people/factors.ts';
import type { Person } from '../../store/people/people.ts';
import type { Site } from './parts.ts';

/** How long a person has to answer with a passkey. */
export const CHALLENGE_MS = 5 * 60_000;

/** Loaded on first use, to keep start-up fast. */
const webAuthn = () => import('@simplewebauthn/server');

/** The WebAuthn relying party. */
export interface PasskeyHost {
  readonly origin: string;
  /** The relying party's id: the host name. */
  readonly host: string;
}

/** Null if passkeys are not offered at this site. */
export function passkeyHost({ origin, passkeys }: Site): PasskeyHost | null {
  return passkeys.kind === 'offered' ? { origin, host: passkeys.host } : null;
}

/** The options with which a browser creates a passkey. */
export async function registrationOptions(
  { host }: PasskeyHost,
  person: Person,
  passkeys: readonly Passkey[],
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await webAuthn();
  return generateRegistrationOptions({
    rpName: 'Cointill',
    rpID: host,
    userName: person.email,
    userDisplayName: person.name ?? person.email,
    userID: new Uint8Array(Buffer.from(person.id)),
    timeout: CHALLENGE_MS,
    excludeCredentials: passkeys.map((one) => ({ id: one.credentialId, transports: [...one.transports] })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

/** The passkey that a browser created for this challenge; null if the response is invalid. */
export async function checkRegistration(
  { origin, host }: PasskeyHost,
  challenge: string,
  response: object,
): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'> | null> {
  const { verifyRegistrationResponse } = await webAuthn();
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      requireUserVerification: false,
    });
    if (registrationInfo === undefined) return null;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports };
  } catch {
    // The library throws on any invalid response, and responses come from the client.
    return null;
  }
}

/** The options with which a browser uses one of these passkeys, or any of its own if none are given. */
export async function requestOptions(
  { host }: PasskeyHost,
  passkeys: readonly Passkey[],
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await webAuthn();
  return generateAuthenticationOptions({
    rpID: host,
    timeout: CHALLENGE_MS,
    userVerification: passkeys.length === 0 ? 'required' : 'preferred',
    ...(passkeys.length === 0
      ? {}
      : { allowCredentials: passkeys.map((one) => ({ id: one.credentialId, transports: [...one.transports] })) }),
  });
}

/** The credential id that a response claims. */
export function credentialIdOf(response: object): string | null {
  const id: unknown = Reflect.get(response, 'id');
  return typeof id === 'string' ? id : null;
}

/**
 * The passkey's new counter if it signed the challenge, otherwise null. `alone`: the passkey replaces the password too,
 * so the authenticator must have verified its user.
 */
export async function checkAssertion(
  { origin, host }: PasskeyHost,
  passkey: Passkey,
  challenge: string,
  response: object,
  { alone }: { readonly alone: boolean },
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await webAuthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      requireUserVerification: alone,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
      },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}
