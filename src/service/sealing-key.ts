import { opensTotp } from '../app/people/totp.ts';
import { opens, opensKeyCheck, sealKeyCheck } from '../app/webhooks/sealing-key.ts';
import type { Database } from '../store/database.ts';
import { findKeyCheck, replaceKeyCheck, saveFirstKeyCheck } from '../store/key-checks.ts';
import { listTotpHolders, type Person } from '../store/people/people.ts';
import { listEndpoints, type WebhookEndpoint } from '../store/webhooks/webhook-endpoints.ts';
import { hasSealingKey, loadSealingKey, SealingKeyError, type KeySource } from '../webhooks/secret.ts';

/**
 * The key that this database's secrets are sealed with. Where there is none yet, one is made.
 *
 * @throws SealingKeyError if it is another one, or if it is not here
 */
export async function openSealingKey(db: Database, source: KeySource): Promise<Uint8Array> {
  // A new one would not be it. Looked for again, because a process beside this one may just have made the first one.
  if (!hasSealingKey(source) && (await isInUse(db)) && !hasSealingKey(source))
    throw await otherKey(db, ', and none is here');
  const key = loadSealingKey(source);
  await checkSealingKey(db, key);
  return key;
}

/**
 * A process with another key than the rest would store secrets that nobody else can decrypt, send nothing, and let
 * nobody in who signs in with one-time codes. A database belongs to the first key that is used on it.
 *
 * @throws SealingKeyError if the database belongs to another key
 */
export async function checkSealingKey(db: Database, key: Uint8Array): Promise<void> {
  const check = (await findKeyCheck(db)) ?? (await firstCheck(db, key));
  if (check === null || !opensKeyCheck(key, check)) throw await otherKey(db);
}

/** The check that a database gets which has none, of this key or of one that came first; null: it is another key's. */
async function firstCheck(db: Database, key: Uint8Array): Promise<Buffer | null> {
  if (!mayTake(key, await sealedIn(db))) return null;
  await saveFirstKeyCheck(db, sealKeyCheck(key));
  return findKeyCheck(db);
}

/**
 * Makes a key the database's in place of one that is lost.
 *
 * @throws SealingKeyError if something is sealed, and the key opens none of it
 */
export async function takeSealingKey(db: Database, key: Uint8Array): Promise<void> {
  if (!mayTake(key, await sealedIn(db))) throw await otherKey(db);
  await replaceKeyCheck(db, sealKeyCheck(key));
}

/** What is sealed in a database. */
interface Sealed {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly people: readonly Person[];
}

async function sealedIn(db: Database): Promise<Sealed> {
  const [endpoints, people] = await Promise.all([listEndpoints(db, null), listTotpHolders(db)]);
  return { endpoints, people };
}

function isAnything({ endpoints, people }: Sealed): boolean {
  return endpoints.length > 0 || people.length > 0;
}

function mayTake(key: Uint8Array, sealed: Sealed): boolean {
  return (
    !isAnything(sealed) ||
    sealed.endpoints.some((endpoint) => opens(key, endpoint)) ||
    sealed.people.some((person) => opensTotp(key, person))
  );
}

async function isInUse(db: Database): Promise<boolean> {
  return (await findKeyCheck(db)) !== null || isAnything(await sealedIn(db));
}

/** `where`: behind the statement that it is another one. */
async function otherKey(db: Database, where = ''): Promise<SealingKeyError> {
  const { endpoints, people } = await sealedIn(db);
  const use = 'or, if none was set, unset SECRET_KEY and use the DATA_DIR that holds its secret.key.';
  const kinds = [
    ...(endpoints.length === 0
      ? []
      : [
          {
            what: 'webhook secrets',
            way: 'give every endpoint a new secret: cointill webhook rotate ID --lost-key',
          },
        ]),
    ...(people.length === 0
      ? []
      : [
          {
            what: 'secrets of one-time codes',
            way: `reset everybody who signs in with them (${people.map(({ email }) => email).join(', ')}): cointill user reset EMAIL`,
          },
        ]),
  ];
  if (kinds.length === 0) {
    return new SealingKeyError(
      `This database was first used with another key${where}. Use that SECRET_KEY ${use} Nothing is sealed with it yet: ` +
        'if it is lost, or you want another one, stop every process and take the key that is set now: cointill recover key',
    );
  }
  // A new secret of an endpoint makes the new key the database's; a person who is reset has none.
  const last = endpoints.length === 0 ? '; then take the new key: cointill recover key' : '';
  return new SealingKeyError(
    `The ${kinds.map(({ what }) => what).join(' and the ')} in this database were sealed with another key${where}. ` +
      `Use the SECRET_KEY that they were made with ${use} ` +
      `If that key is lost, ${kinds.map(({ way }) => way).join('; and ')}${last}`,
  );
}
