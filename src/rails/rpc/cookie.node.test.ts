import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startUtxoNode, utxoNodeKinds, type UtxoNode, type UtxoNodeKind } from '../../../test/litecoind.ts';
import { createUtxoSource } from '../utxo/source.ts';
import { failureOf } from '../source.fixture.ts';
import { COINS, paramsOf } from '../utxo/source.fixture.ts';
import { noteProblems } from '../../../test/problems.ts';

let file: string;
beforeEach(async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-cookie-'));
  file = path.join(folder, '.cookie');
  return () => rm(folder, { recursive: true });
});

/** A node that writes a cookie, and knows the user of the tests besides. */
async function nodeWithCookie(kind: UtxoNodeKind): Promise<UtxoNode> {
  const password = randomBytes(16).toString('hex');
  const salt = randomBytes(16).toString('hex');
  const hash = createHmac('sha256', salt).update(password).digest('hex');
  const options = ['-rpcpassword=', `-rpcauth=test:${salt}$${hash}`, `-rpccookiefile=${file}`];
  const node = await startUtxoNode({ kind, password, options });
  onTestFinished(() => node.stop());
  return node;
}

function sourceOf(kind: UtxoNodeKind, url: string) {
  const problems = noteProblems();
  const options = { params: paramsOf(kind), asset: COINS[kind], urls: [url], timeoutMs: 10_000, problems };
  const source = createUtxoSource({ ...options, cookieFile: file });
  onTestFinished(() => source.close());
  return { ...source, warnings: problems.noted };
}

describe.each(utxoNodeKinds())('the cookie file of a %s node', (kind) => {
  it('opens it, also after a restart that wrote another cookie, and is shown nowhere', async () => {
    const node = await nodeWithCookie(kind);
    const source = sourceOf(kind, `http://127.0.0.1:${node.port}/`);
    expect(await source.head()).toMatchObject({ height: 0 });
    const before = await readFile(file, 'utf8');
    await node.halt();
    const fault = await failureOf(source.head());
    expect(fault.message).toContain(`127.0.0.1:${node.port}`);
    await node.restart();
    const after = await readFile(file, 'utf8');
    expect(after).not.toBe(before);
    expect(await source.head()).toMatchObject({ height: 0 });
    expect(await source.checkNodes()).toMatchObject([{ height: 0 }]);
    const shown = JSON.stringify([fault, fault.message, source.warnings]);
    for (const cookie of [before, after]) expect(shown).not.toContain(cookie.split(':')[1]);
  });

  it('that is missing, invalid or another node’s is reported with the way out, without its contents', async () => {
    const node = await nodeWithCookie(kind);
    const source = sourceOf(kind, `http://127.0.0.1:${node.port}/`);
    await writeFile(file, '__cookie__:0123456789abcdef');
    const stale = await failureOf(source.head());
    expect(stale.message).toContain(`rejects the cookie in ${file}`);
    await writeFile(file, 'a letter to somebody');
    expect((await failureOf(source.head())).message).toContain(`${file} is not the cookie file of a node`);
    await rm(file);
    expect((await failureOf(source.head())).message).toContain(
      `its cookie file ${file} cannot be read (ENOENT). Start`,
    );
    const shown = `${stale.stack} ${JSON.stringify([stale, source.warnings])}`;
    expect(shown).not.toMatch(/0123456789abcdef|MDEyMzQ1|letter/);
  });

  it('is left alone for a URL that has credentials of its own', async () => {
    const node = await nodeWithCookie(kind);
    await writeFile(file, 'a letter to somebody');
    expect(await sourceOf(kind, node.url).head()).toMatchObject({ height: 0 });
  });
});
