import { expect, it } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { startNode } from '../../test/rpc-node.ts';
import { program, textAt } from './program.fixture.ts';

/** Sets the window's title, colours, forges a line and turns the writing round. */
const HOSTILE = 'bad\u001B]0;pwned\u0007\u001B[31mred\r\nSweep 0xattacker\u202E';
const STEERING = /[\p{Cc}\p{Cf}]/u;

it('what a node says cannot steer the terminal of a command that fails for it, nor add lines', async () => {
  const { url } = await testDatabase();
  const node = await startNode(() => ({ error: { code: -32_000, message: HOSTILE } }));
  const cointill = await program({ DATABASE_URL: url, ETHEREUM_RPC_URL: node.url });
  const projectId = textAt(await cointill.json('project', 'create', '--name', 'Shop'), 'id');
  const treasury = '0x5B38Da6a701c568545dCfcB03FcB875f56beddC4';
  await cointill.json('wallet', 'set', '--project', projectId, '--network', 'ethereum', '--treasury', treasury);
  const { code, stdout, stderr } = await cointill.run('sweep', 'plan', '--project', projectId, '--network', 'ethereum');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('bad\uFFFD]0;pwned\uFFFD\uFFFD[31mred\uFFFD\uFFFDSweep 0xattacker');
  const lines = stderr.trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^Warning: ethereum node /),
    expect.stringMatching(/^No ethereum node answered /),
  ]);
  expect(lines.filter((line) => STEERING.test(line))).toEqual([]);
});

it('what was typed wrongly is repeated without what steers the terminal', async () => {
  const cointill = await program();
  for (const args of [
    ['\u001B[31mfly'],
    ['project', 'list', '--\u001B[31m'],
    ['payment', 'show', 'ord_\u202E\u0007'],
  ]) {
    const { code, stderr } = await cointill.run(...args);
    expect(code).toBe(2);
    expect(stderr.split('\n').filter((line) => STEERING.test(line))).toEqual([]);
  }
});

it('what was typed wrongly adds no line of its own, wherever it stands', async () => {
  const cointill = await program();
  for (const args of [
    ['x\r\nforged'],
    ['start', 'x\nforged'],
    ['project', 'lsit\nforged'],
    ['project', 'list', '--js\nforged'],
    ['project', 'list', '--\u2028\nforged=\n\nforged'],
    ['project', 'create', '--name', 'Shop', 'one\nforged', 'two\nforged'],
    ['payment', 'list', '--limit', '1\nforged'],
    ['help', 'x\nforged'],
  ]) {
    const { code, stdout, stderr } = await cointill.run(...args);
    expect([args, code, stdout]).toEqual([args, 2, '']);
    expect(stderr.split('\n').filter((line) => line.startsWith('forged') || STEERING.test(line))).toEqual([]);
  }
});
