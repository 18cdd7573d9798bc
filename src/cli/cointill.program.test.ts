import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { emptyDatabase, testDatabase } from '../../test/database.ts';
import { testApp } from '../../test/harness.ts';
import { WAIT } from '../../test/deadline.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { CommandGroup } from '../config/called-as.ts';
import { program, textAt } from './program.fixture.ts';

const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');

/**
 * A command of each group; other tests run commands in their own process. Those of null are processes there too: a
 * service, and commands that lower their own priority.
 */
const ONE_OF_EACH: Readonly<Record<CommandGroup, { readonly words: string; readonly code: number } | null>> = {
  start: null,
  health: null,
  project: { words: 'list', code: 0 },
  customer: { words: 'delete --project ID --older-than 365', code: 0 },
  key: { words: 'list --project ID', code: 0 },
  user: { words: 'list', code: 0 },
  audit: { words: 'list', code: 0 },
  webhook: { words: 'list', code: 0 },
  listen: { words: '--forward-to localhost:3000', code: 1 },
  events: { words: 'list', code: 1 },
  trigger: { words: 'order.completed', code: 1 },
  verify: { words: '--secret whsec_AAAA', code: 1 },
  invoice: { words: 'list', code: 1 },
  request: { words: 'list', code: 1 },
  payment: { words: 'list', code: 0 },
  wallet: { words: 'show --project ID', code: 0 },
  network: { words: 'status', code: 0 },
  mail: { words: 'test --to ann@shop.example', code: 1 },
  backup: null,
  restore: null,
  move: { words: '--to postgres://a@127.0.0.1:1/b', code: 1 },
  recover: { words: 'key', code: 0 },
  secret: { words: 'rotate', code: 0 },
  refund: { words: `show re_${'0'.repeat(26)}`, code: 1 },
  report: { words: 'statement --project ID --period last_month', code: 0 },
  sweep: { words: 'plan --project ID --network ethereum', code: 1 },
};

type Wrong = readonly (readonly [args: readonly string[], message: string])[];

/** How commands ended, and how they should have: refused as wrong usage, with this in the message. */
async function runWrong(commands: Wrong) {
  const cointill = await program({}, 'here');
  const ended = await Promise.all(commands.map(([args]) => cointill.run(...args)));
  const refused = commands.map(([, message]) => ({ code: 2, stdout: '', stderr: expect.stringContaining(message) }));
  return { ended, refused };
}

const id = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

describe('cointill', () => {
  it('prints its version and its help on standard output', async () => {
    const cointill = await program();
    const [shown, help, groupHelp] = await Promise.all([
      cointill.run('--version'),
      cointill.run('--help'),
      cointill.run('help', 'webhook'),
    ]);
    expect(shown).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const group of ['start', 'project', 'key', 'webhook', 'payment', 'wallet'])
      expect(help.stdout).toContain(`\n  ${group} `);
    expect(groupHelp).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['create', 'list', 'delete', 'enable', 'rotate', 'test', 'deliveries', 'retry', 'listen'])
      expect(groupHelp.stdout).toContain(`\n  ${command} `);
  });

  it('ends by itself after a command of each group, as a process of the built program', async () => {
    const { database, projectId } = await testApp();
    const cointill = await program({ DATABASE_URL: database.url }, 'process');
    for (const [group, one] of Object.entries(ONE_OF_EACH)) {
      if (one === null) continue;
      const words = one.words.replace('ID', projectId).split(' ');
      const { code, stdout } = await cointill.run(group, ...words);
      expect([group, code, stdout === '']).toEqual([group, one.code, one.code !== 0]);
    }
  });

  it('takes its settings from a file, also from one that only who passes it on may open, before those that are set', async () => {
    const cointill = await program({ BACKUP_AT: 'overridden' });
    const file = path.join(cointill.dataDir, 'settings');
    await writeFile(
      file,
      'MAIL_FROM=Shop <payments@shop.example>\nBACKUP_AT=a&b$c#d\nexport PORT=1\nNODE_EXTRA_CA_CERTS=/nowhere.pem\n',
    );
    const expected = {
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^Warning: --settings: "export PORT" is not the name of a setting\. Write NAME=value\.\nWarning: Ignoring extra certs from `\/nowhere\.pem`[^]*BACKUP_AT must be a time of day in UTC, such as 03:10, not "a&b\$c#d"\./,
      ),
    };
    expect(await cointill.run('--settings', file, 'start')).toEqual(expected);
    const passed = await promisify(execFile)('sh', [
      '-c',
      `"$0" --settings /dev/fd/3 start 3< "$1"`,
      PROGRAM,
      file,
    ]).catch(({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }));
    expect(passed).toEqual(expected);
    expect(await cointill.run('--settings', '/nowhere/settings', 'start')).toMatchObject({
      code: 2,
      stderr:
        '--settings: /nowhere/settings cannot be read (ENOENT). Give the path of a file that this user may read.\n',
    });
  });

  it('starts nothing with a file of settings in which a quote is not closed, and tells no value of it', async () => {
    const cointill = await program();
    const file = path.join(cointill.dataDir, 'settings');
    await writeFile(file, "PORT=0\n\nDATABASE_URL='postgres://shop:hush@127.0.0.1:1/ct\nSECRET_KEY=ABCD\n");
    expect(await cointill.run('--settings', file, 'payment', 'list')).toEqual({
      code: 2,
      stdout: '',
      stderr: `--settings: ${file}, line 3: the value of DATABASE_URL has a quote that is not closed. Close the quote on the same line, because a value cannot contain a line break.\n`,
    });
  });

  it('asks whether another command was meant, in whatever group it is', async () => {
    const cointill = await program();
    const ended = await Promise.all(
      [['lisen'], ['paymnt'], ['project', 'lst'], ['creat'], ['fly']].map((args) => cointill.run(...args)),
    );
    const rest = '\nAdd --help for usage.\n';
    expect(ended.map(({ stderr }) => stderr)).toEqual([
      `Unknown command 'lisen'\n(Did you mean listen?)${rest}`,
      `Unknown command 'paymnt'\n(Did you mean payment?)${rest}`,
      `Unknown command 'lst'\n(Did you mean list?)${rest}`,
      `Unknown command 'creat'\n(Did you mean project create, key create, webhook create, invoice create, request create?)${rest}`,
      `Unknown command 'fly'${rest}`,
    ]);
  });

  it('names commands as it was called itself', async () => {
    const cointill = await program({ COINTILL_CALLED_AS: './bin/cointill' });
    const [help, wrong] = await Promise.all([
      cointill.run('webhook', 'test', '--help'),
      cointill.run('payment', 'show', 'x'),
    ]);
    expect(help.stdout).toMatch(/^Usage: \.\/bin\/cointill webhook test .*/);
    expect(help.stdout).toContain('\nExample:\n  $ ./bin/cointill webhook test we_… --type order.completed\n');
    expect(wrong.stderr).toMatch(/List payments with: \.\/bin\/cointill payment list\n$/);
  });

  it('makes no database but by a command that is to begin one', async () => {
    const cointill = await program();
    const url = await emptyDatabase();
    const external = await program({ DATABASE_URL: url });
    const message = (where: string): string =>
      `There is no Cointill data in ${where}. Set DATA_DIR or DATABASE_URL to the database that the service shows when it starts, or create a new database there with: cointill start\n`;
    for (const args of [
      ['project', 'list'],
      ['payment', 'list', '--json'],
      ['webhook', 'listen', '--port', '0', '--project', id],
    ]) {
      expect(await cointill.run(...args)).toMatchObject({ code: 1, stderr: message(cointill.dataDir) });
    }
    expect(await readdir(cointill.dataDir)).toEqual([]);
    expect((await external.run('project', 'list')).stderr).toBe(message('the database that DATABASE_URL names'));
    expect((await external.run('project', 'create', '--name', 'Shop')).code).toBe(0);
    expect((await external.run('project', 'list')).stdout).toContain('Shop');
  });

  it('refuses wrong usage with exit code 2 and nothing on standard output', async () => {
    const wrong = [
      [['fly'], "Unknown command 'fly'"],
      [['project', 'paint'], "Unknown command 'paint'"],
      [['project', 'create'], "Required option '--name <name>' not specified"],
      [['project', 'list', '--colour'], "Unknown option '--colour'"],
      [['project', 'list', 'extra'], 'Too many arguments'],
      [['project', 'set', id], 'There is nothing to change. Give at least one of --allow-ips'],
      [
        ['payment', 'simulate', 'ID', 'stolen'],
        'Allowed choices are paid, confirming, part, over, late, failed, expired',
      ],
      [['payment', 'list', '--limit', '101'], 'Give a whole number from 1 to 100'],
      [['webhook', 'listen', '--secret', 'sesame'], 'A secret is whsec_ followed by base64 characters'],
    ] as const;
    const { ended, refused } = await runWrong(wrong);
    expect(ended).toEqual(refused);
  });

  it('refuses malformed ids and values with exit code 2 too, saying the whole rule', async () => {
    const rest = 'followed by 26 digits and lower-case letters (without i, l, o and u)';
    const malformed = [
      [['payment', 'list', '--status', 'bogus'], '--status: "bogus" is not one of created, '],
      [
        ['payment', 'show', 'ord_x'],
        `The id of a payment is ord_ ${rest}, the same behind inv_, or a transaction's UUID.`,
      ],
      [['payment', 'cancel', "ord_'; drop table payments"], 'The id of a payment is ord_ followed by 26 digits'],
      [['payment', 'list', '--project', 'shop'], 'A project id looks like '],
      [['key', 'revoke', 'key_x'], `The id of a key is key_ ${rest}. List keys with: cointill key list --project ID`],
      [['webhook', 'enable', 'we_x'], `The id of a webhook endpoint is we_ ${rest}. List endpoints with: `],
      [['webhook', 'retry', 'dlv_x'], 'The id of a delivery is dlv_ followed by a number.'],
      [['refund', 'show', 're_x'], `The id of a refund is re_ ${rest}. List refunds with: GET /v1/refunds`],
      [['wallet', 'set', '--project', id, '--network', 'bitcoin'], 'Give exactly one of --xpub, '],
    ] as const;
    const { ended, refused } = await runWrong(malformed);
    expect(ended).toEqual(refused);
  });

  it('names every bad setting and ends with exit code 1', async () => {
    const cointill = await program({ PORT: 'four', RATE_LIMIT_TEST: '0' });
    const { code, stdout, stderr } = await cointill.run('project', 'list');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('PORT must be a whole number');
    expect(stderr).toContain('RATE_LIMIT_TEST must be a whole number');
    expect(stderr).not.toContain('    at ');
  });

  it('says in one sentence that the database cannot be reached', async () => {
    // Port 1 is nobody's.
    const cointill = await program({ DATABASE_URL: 'postgres://cointill@127.0.0.1:1/cointill' });
    const { code, stdout, stderr } = await cointill.run('project', 'list', '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^The database cannot be reached \(.*ECONNREFUSED.*\)\. Start the database, or correct DATABASE_URL\.\n$/,
    );
  });

  it('needs no DATA_DIR on a database of its own and with a SECRET_KEY, and makes none', async () => {
    const database = await testDatabase();
    const below = path.join((await program()).dataDir, 'file');
    await writeFile(below, '');
    for (const dataDir of [below, path.join(below, 'data'), `${below}-missing`]) {
      const cointill = await program({
        DATABASE_URL: database.url,
        SECRET_KEY: 'k'.repeat(32),
        DATA_DIR: dataDir,
      });
      const made = await cointill.run('project', 'create', '--name', 'Shop', '--json');
      expect(made).toMatchObject({ code: 0, stderr: '' });
      const id = textAt(JSON.parse(made.stdout), 'id');
      const url = 'https://shop.example/hook';
      await cointill.json('webhook', 'create', '--project', id, '--mode', 'test', '--events', 'all', '--url', url);
    }
    expect(existsSync(`${below}-missing`)).toBe(false);
  });

  it('works on the embedded database, for commands at the same time and after one another', async () => {
    const cointill = await program();
    const making = cointill.run('project', 'create', '--name', 'First', '--json');
    await expect.poll(() => readdirSync(cointill.dataDir).some((name) => name.startsWith('postgres')), WAIT).toBe(true);
    // It waits until there is something to read.
    expect(await cointill.run('project', 'list', '--json')).toMatchObject({ code: 0, stderr: '' });
    const first = await making;
    expect(first.stderr).toBe(`Created a new database in ${cointill.dataDir} (to use another folder, set DATA_DIR).\n`);
    const more = await Promise.all(
      ['Second', 'Third'].map((name) => cointill.json('project', 'create', '--name', name)),
    );
    const list = await cointill.run('project', 'list', '--json');
    expect(list.stderr).toBe('');
    const projects: unknown = JSON.parse(list.stdout);
    const ids = [JSON.parse(first.stdout), ...more].map((project: unknown) => textAt(project, 'id'));
    expect(Array.isArray(projects) && projects.map((project) => textAt(project, 'id')).toSorted()).toEqual(
      ids.toSorted(),
    );
  });
});
