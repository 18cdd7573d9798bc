import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newWebhookSecret, openSecret, sealSecret } from './secret.ts';
import { existingKeys, loadSealingKey, loadSealingKeys } from './sealing-keys.ts';

const run = promisify(execFile);

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'cointill-secret-'));
});
afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});
const keyFile = (): string => path.join(dataDir, 'secret.key');

describe('a new webhook secret', () => {
  it('is whsec_ and the base64 of 32 random bytes', () => {
    expect(newWebhookSecret((size) => new Uint8Array(size).fill(0xff))).toBe(
      'whsec_//////////////////////////////////////////8=',
    );
    expect(newWebhookSecret(randomBytes)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });
});

describe('a sealed secret', () => {
  const key = randomBytes(32);

  it('opens to the same text for the same owner', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, owner) => {
        expect(openSecret([key], sealSecret(key, text, owner), owner)).toBe(text);
      }),
    );
  });

  it('is never the same twice and never shows the text', () => {
    const first = sealSecret(key, 'whsec_abc', 'we_1');
    expect(first.equals(sealSecret(key, 'whsec_abc', 'we_1'))).toBe(false);
    expect(first.includes('whsec_abc')).toBe(false);
  });

  it('does not open for another endpoint, so stored values cannot be swapped', () => {
    expect(() => openSecret([key], sealSecret(key, 'whsec_abc', 'we_1'), 'we_2')).toThrow(/we_2 cannot be decrypted/);
  });

  it('does not open when any byte was changed or cut off', () => {
    const sealed = sealSecret(key, 'whsec_abc', 'we_1');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => openSecret([key], changed, 'we_1')).toThrow(Error);
      expect(() => openSecret([key], sealed.subarray(0, index), 'we_1')).toThrow(Error);
    }
  });

  it('names SECRET_KEY and the key file as the way out when the key is another one', () => {
    const sealed = sealSecret(key, 'whsec_abc', 'we_1');
    expect(() => openSecret([randomBytes(32)], sealed, 'we_1')).toThrow(/SECRET_KEY.*secret\.key.*DATA_DIR/);
  });
});

describe('the sealing key', () => {
  it('is derived from SECRET_KEY, always the same 32 bytes, without touching the disk', () => {
    const secretKey = 'correct horse battery staple 0123456789';
    const key = loadSealingKey({ secretKey, dataDir });
    expect(key).toHaveLength(32);
    expect(loadSealingKey({ secretKey, dataDir }).equals(key)).toBe(true);
    expect(loadSealingKey({ secretKey: `${secretKey}.`, dataDir }).equals(key)).toBe(false);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it.each(['', 'x'.repeat(31)])('refuses a SECRET_KEY shorter than 32 characters without showing it', (secretKey) => {
    expect(() => loadSealingKey({ secretKey, dataDir })).toThrow(/SECRET_KEY must have at least 32 characters/);
    expect(() => loadSealingKey({ secretKey: 'hunter2', dataDir })).not.toThrow(/hunter2/);
    expect(loadSealingKey({ secretKey: 'x'.repeat(32), dataDir })).toHaveLength(32);
  });

  it('comes with a former SECRET_KEY, or the content of a former key file, which only open', () => {
    const secretKey = 'correct horse battery staple 0123456789';
    const former = 'k'.repeat(32);
    const ofFile = randomBytes(32);
    const sealed = [loadSealingKey({ secretKey: former, dataDir }), ofFile, loadSealingKey({ secretKey, dataDir })];
    const opened = (secretKeyPrevious: string | null) =>
      sealed.map((one) => {
        try {
          const keys = loadSealingKeys({ secretKey, secretKeyPrevious, dataDir });
          return openSecret(keys, sealSecret(one, 'whsec_abc', 'we_1'), 'we_1');
        } catch {
          return null;
        }
      });
    expect(opened(null)).toEqual([null, null, 'whsec_abc']);
    expect(opened(former)).toEqual(['whsec_abc', null, 'whsec_abc']);
    expect(opened(ofFile.toString('base64'))).toEqual([null, 'whsec_abc', 'whsec_abc']);
    expect(existingKeys({ secretKey: null, secretKeyPrevious: null, dataDir })).toBeNull();
    expect(existingKeys({ secretKey: null, secretKeyPrevious: former, dataDir })).toEqual([sealed[0]]);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('is made once as a private file, also in a folder that does not exist yet, and leaves nothing else', () => {
    dataDir = path.join(dataDir, 'fresh');
    const key = loadSealingKey({ dataDir });
    expect(key).toHaveLength(32);
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
    expect(readFileSync(keyFile(), 'utf8')).toBe(`${key.toString('base64')}\n`);
    expect(loadSealingKey({ dataDir }).equals(key)).toBe(true);
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
  });

  it('that cannot be created says why, and what to do', () => {
    const wayOut = 'Set DATA_DIR to a folder that Cointill can write to, or set SECRET_KEY.';
    const file = path.join(dataDir, 'file');
    writeFileSync(file, '');
    for (const below of [file, path.join(file, 'data'), path.join(file, 'more', 'data')]) {
      expect(() => loadSealingKey({ dataDir: below })).toThrow(
        `The key file ${below}/secret.key cannot be created: a file exists where DATA_DIR must be a folder. ${wayOut}`,
      );
    }
    expect(readdirSync(dataDir)).toEqual(['file']);
  });

  it.runIf(process.platform === 'linux')('is refused at once where no folder can ever be made', () => {
    expect(() => loadSealingKey({ dataDir: '/proc/cointill/data' })).toThrow(
      /^The key file \/proc\/cointill\/data\/secret.key cannot be created: no folder can be created there\. Set .*SECRET_KEY\.$/,
    );
  });

  it('on a full disk says so and leaves no half of it', async ({ skip }) => {
    try {
      await run('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'none', dataDir]);
    } catch {
      return skip('this machine does not let us mount');
    }
    try {
      expect(() => writeFileSync(path.join(dataDir, 'filler'), Buffer.alloc(65_536))).toThrow(/ENOSPC/);
      expect(() => loadSealingKey({ dataDir })).toThrow(
        /secret.key cannot be created: the disk is full\. .*SECRET_KEY\.$/,
      );
      expect(readdirSync(dataDir)).toEqual(['filler']);
    } finally {
      await run('umount', [dataDir]);
    }
  });

  it('is the same for processes that start at once', async () => {
    const script = `
      import { loadSealingKey } from ${JSON.stringify(new URL('sealing-keys.ts', import.meta.url).href)};
      console.log(loadSealingKey({ dataDir: process.argv[1] }).toString('base64'));`;
    const starts = Array.from({ length: 4 }, () =>
      run(process.execPath, ['--input-type=module', '-e', script, dataDir]),
    );
    const keys = new Set((await Promise.all(starts)).map(({ stdout }) => stdout.trim()));
    expect([...keys]).toEqual([readFileSync(keyFile(), 'utf8').trim()]);
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
  });

  it('closes a key file that others could read', () => {
    const key = loadSealingKey({ dataDir });
    chmodSync(keyFile(), 0o644);
    expect(loadSealingKey({ dataDir }).equals(key)).toBe(true);
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['empty', ''],
    ['too short', randomBytes(31).toString('base64')],
    ['too long', randomBytes(33).toString('base64')],
    ['not base64', 'not a key at all, certainly not one of 32 bytes'],
  ])('refuses a key file that is %s, names it and does not overwrite it', (_what, content) => {
    writeFileSync(keyFile(), content, { mode: 0o600 });
    expect(() => loadSealingKey({ dataDir })).toThrow(`The key file ${keyFile()} must contain 32 bytes in base64`);
    expect(readFileSync(keyFile(), 'utf8')).toBe(content);
  });
});
