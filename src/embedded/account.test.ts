import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { chooseAccount, firstClosedFolder } from './account.ts';
import { isRoot, NOBODY, temporaryFolder } from './postgres.fixture.ts';

const passwd = [
  'root:x:0:0:root:/root:/bin/bash',
  'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
  'shop:x:1000:1001::/home/shop:/bin/bash',
  'postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash',
  'cointill:x:200:201::/var/lib/cointill:/usr/sbin/nologin',
  '',
].join('\n');

const root = { uid: 0, gid: 0, passwd };
const without = (...names: string[]): string =>
  passwd
    .split('\n')
    .filter((line) => !names.includes(line.split(':')[0] ?? ''))
    .join('\n');

describe('the account of the server', () => {
  it('is, for root, the owner of the existing cluster before anybody else', () => {
    expect(chooseAccount(root, { dir: '/data', owner: { uid: 1000, gid: 1001 } })).toEqual({
      name: 'shop',
      uid: 1000,
      gid: 1001,
      switchUser: true,
    });
    expect(chooseAccount(root, { dir: '/data', owner: { uid: 4711, gid: 12 } })).toMatchObject({
      uid: 4711,
      gid: 12,
      switchUser: true,
    });
  });

  it('is, for root without a cluster or with one that root owns, cointill, else postgres, else nobody', () => {
    expect(chooseAccount(root, undefined)).toEqual({ name: 'cointill', uid: 200, gid: 201, switchUser: true });
    expect(chooseAccount(root, { dir: '/data', owner: { uid: 0, gid: 0 } })).toMatchObject({ name: 'cointill' });
    expect(chooseAccount({ ...root, passwd: without('cointill') }, undefined)).toMatchObject({
      name: 'postgres',
      uid: 101,
    });
    expect(chooseAccount({ ...root, passwd: without('cointill', 'postgres') }, undefined)).toMatchObject({
      name: 'nobody',
      uid: 65534,
    });
  });

  it('cannot be found by root on a machine without such users: the message says what to do', () => {
    const bare = { ...root, passwd: without('cointill', 'postgres', 'nobody') };
    expect(() => chooseAccount(bare, undefined)).toThrow(
      /refuses to run as root.*useradd --system cointill.*DATABASE_URL/,
    );
  });

  it('is, for anybody else, oneself', () => {
    const shop = { uid: 1000, gid: 1001, passwd };
    expect(chooseAccount(shop, undefined)).toEqual({ name: 'shop', uid: 1000, gid: 1001, switchUser: false });
    expect(chooseAccount(shop, { dir: '/data', owner: { uid: 1000, gid: 1001 } })).toMatchObject({
      name: 'shop',
      switchUser: false,
    });
  });

  it("is never somebody else's for anybody but root: the message names folder, owner and ways out", () => {
    const shop = { uid: 1000, gid: 1001, passwd };
    expect(() => chooseAccount(shop, { dir: '/srv/data/postgres', owner: { uid: 101, gid: 104 } })).toThrow(
      /\/srv\/data\/postgres belongs to user postgres, and this process runs as shop.*DATABASE_URL/,
    );
  });
});

describe('the way to a folder', () => {
  it.runIf(isRoot)(
    'is closed at the first folder that the account may not enter, judged by owner, group and others',
    async () => {
      const one = join(await temporaryFolder(), 'one');
      const path = join(one, 'two');
      await mkdir(path, { recursive: true });
      expect(await firstClosedFolder(path, NOBODY)).toBeUndefined();
      await chmod(path, 0o750);
      expect(await firstClosedFolder(path, NOBODY)).toBe(path);
      expect(await firstClosedFolder(path, { uid: 65_534, gid: 0 })).toBeUndefined();
      await chmod(one, 0o700);
      expect(await firstClosedFolder(path, NOBODY)).toBe(one);
      await chmod(one, 0o611);
      await chmod(path, 0o711);
      expect(await firstClosedFolder(path, NOBODY)).toBeUndefined();
    },
  );
});
