import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Passkey } from '../../store/factors.ts';
import type { Person } from '../../store/people.ts';
import type { Site } from './parts.ts';

/** How long a person may take with the passkey. */
export const CHALLENGE_MS = 5 * 60_000;

/** Loaded only where it is used: a start need not know CBOR. */
const webAuthn = () => import('@simplewebauthn/server');

/** WebAuthn as this site may use it; null where it may not. */
export interface PasskeyHost {
  readonly origin: string;
  /** The relying party's id. */
  readonly host: string;
}

export function passkeyHost({ origin, passkeys }: Site): PasskeyHost | null {
  return passkeys.kind === 'offered' ? { origin, host: passkeys.host } : null;
}

/** What a browser needs to make a passkey. */
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
    userDisplayName: person.email,
    userID: new Uint8Array(Buffer.from(person.id)),
    timeout: CHALLENGE_MS,
    excludeCredentials: passkeys.map((one) => ({ id: one.credentialId, transports: [...one.transports] })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

/** A passkey as a browser has made it for this challenge; null when it is no good. */
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
    // The library throws at whatever does not fit; all of it came from the client.
    return null;
  }
}

/** What a browser needs to use a passkey: one of these, or with none whichever it has. */
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

/** The id of the credential that an answer claims to be of. */
export function credentialIdOf(response: object): string | null {
  const id: unknown = Reflect.get(response, 'id');
  return typeof id === 'string' ? id : null;
}

/**
 * The passkey's new counter when it has signed the challenge; null when not. `alone`: it stands in for the password
 * too, so that its holder must have proved themselves to it.
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
