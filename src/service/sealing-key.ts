import { opensTotp } from '../app/people/totp.ts';
import { opens } from '../app/webhooks/sealing-key.ts';
import type { Database } from '../store/database.ts';
import { listTotpHolders } from '../store/people.ts';
import { listEndpoints } from '../store/webhook-endpoints.ts';
import { SealingKeyError } from '../webhooks/secret.ts';

/**
 * A process with another key than the rest would store secrets that nobody else can decrypt, send nothing, and let
 * nobody in who signs in with one-time codes.
 *
 * @throws SealingKeyError if something was sealed, and the key opens none of it
 */
export async function checkSealingKey(db: Database, key: Uint8Array): Promise<void> {
  const [endpoints, people] = await Promise.all([listEndpoints(db, null), listTotpHolders(db)]);
  if (endpoints.length === 0 && people.length === 0) return;
  if (endpoints.some((endpoint) => opens(key, endpoint)) || people.some((person) => opensTotp(key, person))) return;
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
  throw new SealingKeyError(
    `The ${kinds.map(({ what }) => what).join(' and the ')} in this database were sealed with another key. ` +
      'Use the SECRET_KEY that they were made with or, if none was set, unset SECRET_KEY and use the DATA_DIR that ' +
      `holds its secret.key. If that key is lost, ${kinds.map(({ way }) => way).join('; and ')}`,
  );
}
