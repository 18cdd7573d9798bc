import { describe, expect, it } from 'vitest';
import { readConfig } from '../config/config.ts';
import { EmbeddedPostgresError } from '../embedded/error.ts';
import { MigrationError } from '../store/migration-files.ts';
import { SealingKeyError } from '../webhooks/secret.ts';
import { databaseFailure } from './open.ts';

const embedded = readConfig({ DATA_DIR: '/srv/data' }, '/');
const external = readConfig({ DATABASE_URL: 'postgres://db.example/cointill' }, '/');

const withCode = (code: string, message = 'the reason'): Error => Object.assign(new Error(message), { code });
const told = (error: unknown, config: typeof embedded): unknown => Object(databaseFailure(error, config)).message;

describe('a database that cannot be opened', () => {
  it('is reported in its own words, whatever caused it', () => {
    const causes = ['53100', 'EACCES', 'ENOSPC', 'ECONNREFUSED'].map((code) => withCode(code));
    for (const cause of causes) {
      for (const error of [new EmbeddedPostgresError('plain', { cause }), new SealingKeyError('plain', { cause })]) {
        expect(databaseFailure(error, embedded)).toBe(error);
        expect(databaseFailure(error, external)).toBe(error);
      }
    }
  });

  it('on a full disk names the disk: that of DATA_DIR, or that of the server in DATABASE_URL', () => {
    const reason = 'could not extend file "base/1/2": No space left on device';
    const error = new MigrationError(`Migration 1 failed: ${reason}`, { cause: withCode('53100', reason) });
    expect(told(error, embedded)).toMatch(
      /^The disk that holds \/srv\/data is full.*Free some space there, move DATA_DIR/,
    );
    expect(told(error, external)).toBe(
      `The disk of the database that DATABASE_URL names is full (Migration 1 failed: ${reason}). Free some space there.`,
    );
  });

  it('names DATABASE_URL only where that is set', () => {
    expect(told(withCode('ENETUNREACH'), external)).toBe(
      'The database cannot be reached (the reason). Start the database, or correct DATABASE_URL.',
    );
    expect(told(withCode('28P01'), external)).toBe(
      'The database refuses the connection (the reason). Check DATABASE_URL.',
    );
    for (const code of ['ECONNRESET', '57P03']) {
      expect(told(withCode(code), embedded)).toBe(
        'The connection to the embedded database was lost (the reason). Look for the cause in /srv/data/postgres.log, then start again.',
      );
    }
  });
});
