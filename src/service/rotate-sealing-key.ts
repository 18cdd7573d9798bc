import { recordAudit } from '../app/audit.ts';
import type { App } from '../app/context.ts';
import { totpOwner } from '../app/people/totp.ts';
import { keyOfCheck, sealKeyCheck } from '../app/sealing-key.ts';
import type { Trx } from '../store/database.ts';
import { findKeyCheck, replaceKeyCheck } from '../store/key-checks.ts';
import { lockSealedRows, replaceSealedRows, type SealedRow, type SealedTable } from '../store/sealed-values.ts';
import { openSecret, SealingKeyError, sealSecret, type SealingKeys } from '../webhooks/secret.ts';

/** The outcome of a rotation: the numbers of rows whose values it encrypted with the present key. */
export interface KeyRotation {
  /** `none`: everything was encrypted with the present key before. */
  readonly kind: 'rotated' | 'none';
  readonly endpoints: number;
  readonly people: number;
  /** The ids of endpoints and e-mail addresses of people with a value that no key here opens; they stay as they are. */
  readonly unopened: Readonly<Record<SealedTable, readonly string[]>>;
}

/** Rows that are read and written together. */
const LOT = 500;

/**
 * Encrypts every secret of the database with the first of these keys, in one transaction: at every moment one key opens
 * all. Running processes go on, for they have both keys. Whoever seals waits: two seconds with 10,000
 * endpoints.
 *
 * @throws SealingKeyError if the database belongs to none of these keys by now
 */
export function rotateSealingKey(app: App, keys: SealingKeys): Promise<KeyRotation> {
  const [present] = keys;
  return app.db.transaction().execute(async (trx) => {
    const check = await findKeyCheck(trx, 'update');
    const former = check === null ? present : keyOfCheck(keys, check);
    if (former === null)
      throw new SealingKeyError(
        'Another process has just given this database another key. Use that key, or try again.',
      );
    const endpoints = await sealAnew(trx, keys, 'webhook_endpoints', (id) => id);
    const people = await sealAnew(trx, keys, 'people', totpOwner);
    const counts = { endpoints: endpoints.sealed, people: people.sealed };
    const unopened = { webhook_endpoints: endpoints.unopened, people: people.unopened };
    if (former === present && counts.endpoints + counts.people === 0) return { kind: 'none', ...counts, unopened };
    await replaceKeyCheck(trx, sealKeyCheck(present));
    const subject = { kind: 'secret', id: null };
    await recordAudit(app, trx, { action: 'secret.rotate', projectId: null, subject, after: counts });
    return { kind: 'rotated', ...counts, unopened };
  });
}

interface SealedAnew {
  readonly sealed: number;
  readonly unopened: readonly string[];
}

/** Encrypts the values of a table. `ownerOf` gives what the values of a row are bound to. */
async function sealAnew(
  trx: Trx,
  [present, ...former]: SealingKeys,
  table: SealedTable,
  ownerOf: (id: string) => string,
): Promise<SealedAnew> {
  const unopened: string[] = [];
  let sealed = 0;
  for (let after: string | null = null; ;) {
    const rows: readonly SealedRow[] = await lockSealedRows(trx, table, { after, limit: LOT });
    const changed: Pick<SealedRow, 'id' | 'values'>[] = [];
    for (const { id, name, isInUse, values } of rows) {
      const anew = values.map((value) => resealed(value, present, former, ownerOf(id)));
      const kinds = anew.map(({ kind }) => kind);
      if (isInUse && kinds.includes('unopened')) unopened.push(name);
      if (kinds.includes('new')) changed.push({ id, values: anew.map(({ value }) => value) });
    }
    await replaceSealedRows(trx, table, changed);
    sealed += changed.length;
    const last = rows.at(-1);
    if (last === undefined) return { sealed, unopened };
    after = last.id;
  }
}

interface Resealed {
  readonly kind: 'new' | 'same' | 'unopened';
  readonly value: Buffer | null;
}

function resealed(value: Buffer | null, present: Uint8Array, former: readonly Uint8Array[], aad: string): Resealed {
  if (value === null || open([present], value, aad) !== null) return { kind: 'same', value };
  for (const key of former) {
    const text = open([key], value, aad);
    if (text !== null) return { kind: 'new', value: sealSecret(present, text, aad) };
  }
  return { kind: 'unopened', value };
}

function open(keys: SealingKeys, value: Buffer, aad: string): string | null {
  try {
    return openSecret(keys, value, aad);
  } catch {
    return null;
  }
}
