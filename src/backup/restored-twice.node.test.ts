import { appendFile, chmod, mkdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { recover } from '../app/chains/recover.ts';
import { inTransaction } from '../app/in-transaction.ts';
import { skipOf } from '../domain/recovery.ts';
import { otherCopiesOf, readNotes } from './restore-notes.ts';
import { backedUp, backUp, DAY_MS, ether, installation } from './restored-copy.fixture.ts';
import { account, xpubOf } from '../app/chains/follow-chain.fixture.ts';

const NOTES = 'cointill-restores.jsonl';
const HOUR_MS = 60 * 60_000;

type Installation = ReturnType<typeof installation>;

/** An original that has handed out an address and a number, and its backup. */
async function start() {
  const scene = await ether({ kind: 'xpub', text: xpubOf(account(3)) });
  const original = installation(scene, scene.app, scene.app.creator);
  await original.order();
  await original.transactionNumber();
  return { scene, original, ...(await backedUp(scene)) };
}

/** The addresses and numbers that an installation sells, and no other may sell. */
async function sell(copy: Installation, count = 5): Promise<readonly string[]> {
  const sold: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const { address, refused } = await copy.order();
    expect(refused).toBeNull();
    sold.push(address, await copy.transactionNumber());
  }
  return sold;
}

/** The addresses and numbers that were sold more than once. */
function repeated(...sold: readonly (readonly string[])[]): readonly string[] {
  const all = sold.flat();
  return all.filter((one, place) => all.indexOf(one) !== place);
}

describe('a backup that is restored twice', () => {
  it('hands out no address and no number twice, one restore after the other, while all of them sell', async () => {
    const { restore, original, dir } = await start();
    const first = await restore();
    expect(first.earlier).toEqual([]);
    const morning = await sell(first);
    const second = await restore();
    const third = await restore();
    expect(third.earlier.map((note) => note.restored_to)).toEqual([first.url, second.url]);
    expect(third.problem).toBeNull();
    expect(repeated(await sell(original), morning, await sell(first), await sell(second), await sell(third))).toEqual(
      [],
    );
    expect((await stat(path.join(dir, NOTES))).mode & 0o777).toBe(0o600);
  });

  it('nor at the same moment', async () => {
    const { restore } = await start();
    const copies = await Promise.all([restore(), restore(), restore()]);
    expect(repeated(...(await Promise.all(copies.map((copy) => sell(copy)))))).toEqual([]);
  });

  it('nor with a skip that is given', async () => {
    const { restore } = await start();
    const copies = [await restore(7), await restore(7), await restore(7)];
    expect(copies.map(({ recovery }) => recovery.wallets[0]?.to)).toEqual([8, 15, 22]);
    expect(repeated(...(await Promise.all(copies.map((copy) => sell(copy)))))).toEqual([]);
  });

  it('nor after another backup of the original was restored for trial, and sold on', async () => {
    const { restore, original, scene, dir } = await start();
    const trial = await restore();
    scene.app.clock.advance(HOUR_MS);
    await original.order();
    const later = path.join(dir, 'later.backup');
    await backUp(scene.app.database.url, later, scene.app.clock);
    const copy = await restore(null, 0, later);
    expect(repeated(await sell(original), await sell(trial), await sell(copy))).toEqual([]);
  });

  it('is all found by the last copy: what the others sold is on numbers that were passed over, and watched', async () => {
    const { scene, restore } = await start();
    const trial = await restore();
    const { address, owed } = await trial.order();
    const copy = await restore();
    await copy.follow();
    await scene.pay(address, owed);
    await copy.follow();
    expect((await copy.status()).lost).toMatchObject([{ address, amountUnits: owed }]);
  });
});

describe('where nothing is known of the other restore', () => {
  it('the later one begins beyond what the first has sold, and warns the operator that it was not noted', async () => {
    const { restore, dir, scene } = await start();
    // Even root can write no file in the place of a folder.
    await mkdir(path.join(dir, NOTES));
    const first = await restore();
    expect(first.problem).toMatch(/cannot be read \(EISDIR\)/);
    const sold = await sell(first);
    scene.app.clock.advance(HOUR_MS);
    const second = await restore();
    expect(second.earlier).toEqual([]);
    expect(repeated(sold, await sell(second))).toEqual([]);
  });

  it('those of one moment begin apart by chance', async () => {
    const { restore, dir } = await start();
    const first = await restore(null, 0.2);
    await rm(path.join(dir, NOTES));
    const second = await restore(null, 0.4);
    expect(repeated(await sell(first), await sell(second))).toEqual([]);
  });

  it('a link is not followed, and a line that a crash cut off is reported and harms no other', async () => {
    const { restore, dir } = await start();
    const notes = path.join(dir, NOTES);
    await symlink(path.join(dir, 'elsewhere'), notes);
    expect((await restore()).problem).toMatch(/cannot be read \(ELOOP\)/);
    await rm(notes);
    await restore();
    await appendFile(notes, '{"id": "torn');
    const copy = await restore();
    expect(copy.problem).toBe('a line of it cannot be read');
    expect(copy.earlier).toHaveLength(1);
    expect((await restore()).earlier).toHaveLength(2);
    await chmod(notes, 0o600);
    expect(await readFile(notes, 'utf8')).not.toContain('xpub');
  });
});

describe('an original that stays, after a copy of it has sold', () => {
  it('goes on beyond what the copy sold, paid or not, by the note of its restore', async () => {
    const { restore, original, scene, dir } = await start();
    const sold = await sell(await restore());
    const { notes } = await readNotes(path.join(dir, NOTES));
    const now = scene.app.clock();
    const request = { lostSince: now - HOUR_MS, now, skip: null, otherCopies: otherCopiesOf(notes) };
    await inTransaction(scene.app, (trx) => recover(scene.app, trx, request));
    expect(repeated(sold, await sell(original))).toEqual([]);
  });

  it('goes on twice as far without a note, where one payment has shown that there is a copy', async () => {
    const { restore, original, scene } = await start();
    const copy = await restore(null, 0.999);
    const { address, owed } = await copy.order();
    await original.follow();
    await scene.pay(address, owed);
    await original.follow();
    const sold = await sell(copy, 30);
    expect((await original.order()).refused).toMatch(/are paused/);
    const now = scene.app.clock();
    const request = { lostSince: now - HOUR_MS, now, skip: null, random: () => 0 };
    await inTransaction(scene.app, (trx) => recover(scene.app, trx, request));
    expect(repeated(sold, await sell(original, 30))).toEqual([]);
  });
});

describe('what is noted', () => {
  it('is found by way of a link to the backup too', async () => {
    const { restore, dir, file } = await start();
    const first = await restore();
    const folder = path.join(dir, 'links');
    await mkdir(folder);
    await symlink(file, path.join(folder, 'link.backup'));
    const second = await restore(null, 0, path.join(folder, 'link.backup'));
    expect(second.earlier.map((note) => note.restored_to)).toEqual([first.url]);
  });

  it('makes no difference to backups of the copy itself', async () => {
    const { restore, scene, dir } = await start();
    const copy = await restore();
    await sell(copy, 2);
    const own = path.join(dir, 'own.backup');
    await backUp(copy.url, own, scene.app.clock);
    scene.app.clock.advance(DAY_MS);
    const next = await restore(null, 0, own);
    const [from] = next.recovery.wallets;
    // The busiest day: the original sold one and the copy two.
    expect((from?.to ?? 0) - (from?.from ?? 0)).toBe(skipOf(3, DAY_MS));
  });

  it('is forgotten once the original lived on for a month', async () => {
    const { restore, scene, dir } = await start();
    await restore();
    scene.app.clock.advance(31 * DAY_MS);
    const later = path.join(dir, 'later.backup');
    await backUp(scene.app.database.url, later, scene.app.clock);
    const copy = await restore(null, 0, later);
    expect(copy.earlier).toEqual([]);
    expect(copy.recovery.wallets).toMatchObject([{ from: 1, to: 1 + skipOf(0, 0) }]);
  });
});
