import { opensTotp } from '../app/people/totp.ts';
import { KEY_CHANGED, keyOfCheck, opens, sealKeyCheck } from '../app/sealing-key.ts';
import type { Database } from '../store/database.ts';
import { findKeyCheck, replaceKeyCheck, saveFirstKeyCheck } from '../store/key-checks.ts';
import { listTotpHolders, type Person } from '../store/people/people.ts';
import { runningServices } from '../store/presence.ts';
import { lastAuditOf } from '../store/people/audit.ts';
import { listEndpoints, type WebhookEndpoint } from '../store/webhooks/webhook-endpoints.ts';
import { KEY_FILE_NAME, SealingKeyError, type SealingKeys } from '../webhooks/secret.ts';
import { hasSealingKey, loadSealingKeys, type KeySources } from '../webhooks/sealing-keys.ts';
import { isoTime } from '../wire/time.ts';

/**
 * Loads the keys that open this database's secrets, or makes the first one.
 *
 * @throws SealingKeyError if the keys here are others, or are missing although the database uses one
 */
export async function openSealingKeys(db: Database, source: KeySources): Promise<SealingKeys> {
  // Read twice, because another process may just have made the first key.
  if (!hasSealingKey(source) && (await isInUse(db)) && !hasSealingKey(source)) {
    if (source.secretKeyPrevious === null) throw await otherKey(db, { where: ', and no key is set here' });
    throw new SealingKeyError(
      `SECRET_KEY_PREVIOUS is set, and there is no new key. Set SECRET_KEY to the new key (openssl rand -base64 32) for every process and command, or put a new ${KEY_FILE_NAME} into DATA_DIR.`,
    );
  }
  const keys = loadSealingKeys(source);
  await checkSealingKeys(db, keys);
  return keys;
}

/**
 * Checks that the database belongs to one of these keys; the first key that is used on a database becomes its key. A
 * process with another key would send no webhook, and refuse everybody who signs in with one-time codes.
 *
 * @throws SealingKeyError if the database belongs to another key
 */
export async function checkSealingKeys(db: Database, keys: SealingKeys): Promise<void> {
  const check = (await findKeyCheck(db)) ?? (await firstCheck(db, keys));
  if (check === null || keyOfCheck(keys, check) === null) throw await otherKey(db, { hasFormer: keys.length > 1 });
}

/**
 * Makes the key that sealed the secrets, or on a new database the first key, the database's unless another process was
 * first; null: the database's secrets are another key's.
 */
async function firstCheck(db: Database, keys: SealingKeys): Promise<Buffer | null> {
  const sealed = await sealedIn(db);
  const key = keys.find((one) => mayTake(one, sealed));
  if (key === undefined) return null;
  await saveFirstKeyCheck(db, sealKeyCheck(key));
  return findKeyCheck(db);
}

/**
 * Makes a key the database's in place of a lost one.
 *
 * @throws SealingKeyError if the database has sealed secrets and the key opens none of them
 */
export async function takeSealingKey(db: Database, key: Uint8Array): Promise<void> {
  if (!mayTake(key, await sealedIn(db))) throw await otherKey(db);
  await replaceKeyCheck(db, sealKeyCheck(key));
}

/**
 * The keys here, which are to replace the database's lost one.
 *
 * @throws SealingKeyError if a service runs: it has the database's key, which is not lost then
 */
export async function replacingKeys(db: Database, source: KeySources): Promise<SealingKeys> {
  const keys = loadSealingKeys(source);
  if (await hasDatabaseKey(db, keys)) return keys;
  const services = await runningServices(db);
  if (services.length === 0) return keys;
  throw new SealingKeyError(
    `The key of this database is not lost: ${services.join(', ')} ${services.length === 1 ? 'runs and has' : 'run and have'} it. ` +
      'Give this command the SECRET_KEY or the DATA_DIR of the service. If nobody can find its key any more, stop the service first.',
  );
}

/** The problem of a process whose keys are no longer the database's, in plain words; null: they are. */
export async function keyProblem(db: Database, keys: SealingKeys): Promise<string | null> {
  return (await hasDatabaseKey(db, keys)) ? null : KEY_CHANGED;
}

async function hasDatabaseKey(db: Database, keys: SealingKeys): Promise<boolean> {
  const check = await findKeyCheck(db);
  return check === null || keyOfCheck(keys, check) !== null;
}

/** The rows of a database that hold sealed secrets. */
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
    sealed.endpoints.some((endpoint) => opens([key], endpoint)) ||
    sealed.people.some((person) => opensTotp([key], person))
  );
}

async function isInUse(db: Database): Promise<boolean> {
  return (await findKeyCheck(db)) !== null || isAnything(await sealedIn(db));
}

/**
 * The refusal of keys that are not the database's. `where` follows the statement that it uses another key; `hasFormer`:
 * SECRET_KEY_PREVIOUS is set.
 */
async function otherKey(
  db: Database,
  { where = '', hasFormer = false }: { readonly where?: string; readonly hasFormer?: boolean } = {},
): Promise<SealingKeyError> {
  const { endpoints, people } = await sealedIn(db);
  const rotatedAt = await lastAuditOf(db, 'secret.rotate');
  const use =
    rotatedAt === null
      ? 'Use the SECRET_KEY that was set then or, if SECRET_KEY was not set, unset SECRET_KEY and use the DATA_DIR that contains secret.key. ' +
        (hasFormer
          ? 'SECRET_KEY_PREVIOUS is another key too.'
          : 'To change the key, set SECRET_KEY_PREVIOUS to the former key.')
      : `The key was changed at ${isoTime(rotatedAt)} (cointill secret rotate). Use the SECRET_KEY that the other processes have had since then, or the secret.key in their DATA_DIR.`;
  const emails = people.map(({ email }) => email).join(', ');
  const kinds = [
    {
      isSealed: endpoints.length > 0,
      secrets: 'webhook secrets',
      wayOut: 'give every endpoint a new secret: cointill webhook rotate ID --lost-key',
    },
    {
      isSealed: people.length > 0,
      secrets: 'secrets of one-time codes',
      wayOut: `reset everybody who signs in with one-time codes (${emails}): cointill user reset EMAIL`,
    },
  ].filter(({ isSealed }) => isSealed);
  if (kinds.length === 0) {
    return new SealingKeyError(
      `This database was first used with another key${where}. ${use} Nothing is encrypted with that key yet. ` +
        'If that key is lost, or you want to use another key, stop every process and accept the current key: cointill recover key',
    );
  }
  // The new secret of an endpoint makes the new key the database's; resetting a person seals nothing.
  const last = endpoints.length === 0 ? '; then accept the new key: cointill recover key' : '';
  return new SealingKeyError(
    `The ${kinds.map(({ secrets }) => secrets).join(' and the ')} in this database were encrypted with another key${where}. ` +
      `${use} ` +
      `If that key is lost, ${kinds.map(({ wayOut }) => wayOut).join('; and ')}${last}`,
  );
}
