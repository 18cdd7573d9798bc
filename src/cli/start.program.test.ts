import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { WAIT } from '../../test/deadline.ts';
import { freePort } from '../../test/ports.ts';
import { eventually } from '../../test/program.ts';
import { program, textAt } from './program.fixture.ts';

const CURL =
  /curl -s (http:\S+) -H 'Authorization: Bearer (sk_test_\w+)' -H 'Content-Type: application\/json' -d '(.*)'/;
const RUNNING = /Cointill is running\.[^]*Stop with Ctrl-C\./;

/** Two ports that no other test is given. */
async function freePorts() {
  const [live, sandbox] = [await freePort(), await freePort()];
  return { live: String(live), sandbox: String(sandbox) };
}

/** The ports on which somebody listens: a service that is stopped closes them one after the other. */
async function listening({ live, sandbox }: { readonly live: string; readonly sandbox: string }) {
  const reached = await Promise.all(
    [live, sandbox].map(async (port) => {
      const socket = connect(Number(port), '127.0.0.1');
      return once(socket, 'connect').then(
        () => socket.destroy() && [port],
        () => [],
      );
    }),
  );
  return reached.flat();
}

/** The program, with ports that nobody has. */
async function programOnFreePorts(settings: Readonly<Record<string, string>> = {}) {
  const ports = await freePorts();
  return { ports, cointill: await program({ PORT: ports.live, SANDBOX_PORT: ports.sandbox, ...settings }) };
}

/** A first start in production, by this name, and the project that it made. */
async function startInProduction(calledAs: string) {
  const { ports, cointill } = await programOnFreePorts({ NODE_ENV: 'production', COINTILL_CALLED_AS: calledAs });
  const first = cointill.start('start');
  await first.waitFor(/Cointill is running/);
  const project = textAt(Object(await cointill.json('project', 'list'))[0], 'id');
  return { cointill, ports, first, project };
}

describe('cointill start', () => {
  it('shows a curl at the first start that makes an order, and the key never again', async () => {
    const { url: databaseUrl } = await testDatabase();
    const ports = await freePorts();
    const called = { COINTILL_CALLED_AS: './bin/cointill', PORT: ports.live, SANDBOX_PORT: ports.sandbox };
    const cointill = await program({ DATABASE_URL: databaseUrl, ...called });
    const first = cointill.start('start');
    const [, url, key, body] = await first.waitFor(CURL);
    await first.waitFor(RUNNING);
    expect(url).toBe(`http://127.0.0.1:${ports.sandbox}/v1/orders`);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(String(url), { method: 'POST', headers, body: String(body) });
    expect(answer.status).toBe(200);
    const order: unknown = await answer.json();
    expect(order).toMatchObject({ status: 'pending', amount: 25, currency: 'USD', crypto_currency: 'BTC' });
    expect(await cointill.json('payment', 'complete', textAt(order, 'id'))).toMatchObject({ status: 'completed' });
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);

    const second = cointill.start('start');
    await second.waitFor(RUNNING);
    second.signal('SIGINT');
    // npm passes on the Ctrl-C that the terminal has sent already: two at once are one.
    second.signal('SIGINT');
    const { code, stdout } = await second.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain('sk_test_');
    expect(stdout).toContain(`DATABASE_URL=${databaseUrl} ./bin/cointill key create --project`);
  });

  it('writes its log as text where a person reads it, and as JSON elsewhere', async () => {
    const { url } = await testDatabase();
    const ports = await freePorts();
    const env = {
      DATABASE_URL: url,
      PORT: ports.live,
      SANDBOX_PORT: ports.sandbox,
      REDIS_URL: 'redis://127.0.0.1:9',
      TRUST_PROXY: '127.0.0.1',
    };
    const cointill = await program(env);
    const terminal = cointill.startInTerminal('start');
    await terminal.waitFor(/^\d\d:\d\d:\d\d \S*WARN \S* Redis: .*$/m);
    await terminal.waitFor(RUNNING);
    terminal.signal('SIGKILL');
    expect((await terminal.ended).stdout.split('\n').filter((line) => line.startsWith('{'))).toEqual([]);
    // The service behind the terminal stops by itself, a moment later.
    await expect.poll(() => listening(ports), WAIT).toEqual([]);
    const piped = cointill.start('start');
    await piped.waitFor(/^\{"level":40,.*"msg":"Redis: .*"\}$/m);
    // Behind a proxy others may come in, and this start has the rules of a developer's machine.
    await piped.waitFor(/^\{"level":40,.*"msg":"TRUST_PROXY is set without NODE_ENV=production, .*"\}$/m);
    piped.signal('SIGTERM');
    expect((await piped.ended).code).toBe(0);
  });

  it('stops as by Ctrl-C when its terminal is closed, the embedded database too', async () => {
    const { cointill, ports } = await programOnFreePorts();
    const terminal = cointill.startInTerminal('start');
    await terminal.waitFor(RUNNING);
    const lock = path.join(cointill.dataDir, 'postgres/postmaster.pid');
    expect(existsSync(lock)).toBe(true);
    terminal.signal('SIGKILL');
    await expect.poll(() => existsSync(lock), WAIT).toBe(false);
    await expect.poll(() => listening(ports), WAIT).toEqual([]);
    const again = cointill.start('start');
    await again.waitFor(RUNNING);
    again.signal('SIGHUP');
    expect((await again.ended).code).toBe(0);
    expect(existsSync(lock)).toBe(false);
  });

  it('writes JSON alone in production: no key, and at the first start the command that makes one', async () => {
    const { cointill, ports, first, project } = await startInProduction('');
    expect(await cointill.json('key', 'list', '--project', project)).toEqual([]);
    first.signal('SIGTERM');
    const { code, stdout, stderr } = await first.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    const lines: readonly unknown[] = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const withoutEmpty = lines.find((line) => /first start/.test(textAt(line, 'msg')));
    expect(withoutEmpty).toMatchObject({ project, live: `http://127.0.0.1:${ports.live}` });
    expect(stderr).not.toMatch(/[ps]k_(?:test|live)_/);
    // The command unchanged, with nothing of the service's environment but the PATH.
    const { PATH = '' } = process.env;
    const made = await promisify(execFile)('sh', ['-c', textAt(withoutEmpty, 'command')], { env: { PATH }, cwd: '/' });
    expect(made.stdout).toMatch(/sk_test_\w+/);

    const second = cointill.start('start');
    await second.waitFor(/Cointill is running/);
    second.signal('SIGTERM');
    expect((await second.ended).stderr).not.toContain('first start');
  });

  it('names in production the wrapper that has its settings, where one is installed', async () => {
    const { cointill, first, project } = await startInProduction('till');
    const listen = await cointill.run('webhook', 'listen', '--project', project);
    first.signal('SIGTERM');
    const { stderr } = await first.ended;
    expect(stderr).toMatch(/"command":"till key create --project [0-9a-f-]{36} /);
    expect(stderr).toContain('"dashboard":"till user invite --email EMAIL --role owner"');
    expect(listen).toMatchObject({ code: 1, stderr: expect.stringContaining('till webhook create --project ID') });
    expect(listen.stderr).not.toContain('--url:');
  });

  it('ends with one message that names the port that is taken', async () => {
    const { url } = await testDatabase();
    const ports = await freePorts();
    // It reads what comes and says nothing.
    const holder = createServer((socket) => void socket.on('error', () => {}).resume());
    await once(holder.listen(Number(ports.live), '127.0.0.1'), 'listening');
    const env = { DATABASE_URL: url, PORT: ports.live, SANDBOX_PORT: ports.sandbox, LOG_LEVEL: 'silent' };
    const cointill = await program(env);
    const ended = await cointill.run('start');
    await once(holder.close(), 'close');
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${ports.live} of 127.0.0.1 is taken by another program. Stop that program, or set PORT to another port.\n`,
    });
  });

  it('on data that Cointill runs on already says so, names its process and leaves it alone', async () => {
    const { cointill, ports } = await programOnFreePorts();
    const first = cointill.start('start');
    await first.waitFor(RUNNING);
    const again = await cointill.run('start');
    expect(again).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `Cointill is already running on this data (process ${first.pid}), and uses port ${ports.live} of 127.0.0.1. Keep using the running process, ` +
        `stop it first (Ctrl-C in its terminal, or: kill ${first.pid}), or set PORT and SANDBOX_PORT to run a second process beside it.\n`,
    });
    const elsewhere = await program({ PORT: ports.live, SANDBOX_PORT: ports.sandbox });
    expect((await elsewhere.run('start')).stderr).toBe(
      `Port ${ports.live} of 127.0.0.1 is taken by another Cointill, process ${first.pid}. Stop that Cointill, or set PORT to another port.\n`,
    );
    expect(existsSync(path.join(elsewhere.dataDir, 'postgres'))).toBe(false);
    expect((await fetch(`http://127.0.0.1:${ports.live}/readyz`)).status).toBe(200);
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);
  });

  it.each([
    ['nowhere.invalid', /^HOST is nowhere\.invalid, a name that this machine cannot resolve\. Set HOST to .*\.\n$/],
    // An address of the range reserved for documentation.
    [
      '203.0.113.9',
      /^HOST is 203\.0\.113\.9, which is not an address of this machine\. Set HOST to an address of this machine\.\n$/,
    ],
    // A link-local address means nothing without its link.
    ['fe80::1', /^HOST is fe80::1, where this machine cannot listen \(.*EINVAL.*\)\. Set HOST to .*\.\n$/],
  ])('ends with one message that names a HOST where it cannot listen: %s', async (host, message) => {
    const { url } = await testDatabase();
    const cointill = await program({ DATABASE_URL: url, HOST: host, LOG_LEVEL: 'silent' });
    const { code, stdout, stderr } = await cointill.run('start');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  const WITHHELD = [
    /^Create key: .* key create --project [0-9a-f-]{36} --mode test /m,
    /^Dashboard: .* user invite --email EMAIL --role owner$/m,
  ];

  it('writes no key and no link to a file, only the commands that make them', async () => {
    const [{ url }, ports] = [await testDatabase(), await freePorts()];
    const cointill = await program({ DATABASE_URL: url, PORT: ports.live, SANDBOX_PORT: ports.sandbox });
    const log = path.join(cointill.dataDir, 'log');
    const running = cointill.startInShell(`exec "$@" >'${log}'`, 'start');
    const text = await eventually('it runs', async () => {
      const written = await readFile(log, 'utf8').catch(() => '');
      return written.includes('Stop with Ctrl-C.') ? written : null;
    });
    for (const line of WITHHELD) expect(text).toMatch(line);
    expect(text).not.toMatch(/sk_test_|dashboard\/\S/);
    expect((await cointill.run('key', 'list')).stdout).not.toContain('First key');
    running.signal('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });

  it('writes no key and no link to the journal either', async () => {
    const [{ url }, ports] = [await testDatabase(), await freePorts()];
    const cointill = await program({ DATABASE_URL: url, PORT: ports.live, SANDBOX_PORT: ports.sandbox });
    const running = cointill.startInShell('JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/1) exec "$@"', 'start');
    const [text] = await running.waitFor(RUNNING);
    for (const line of WITHHELD) expect(text).toMatch(line);
    expect(text).not.toMatch(/sk_test_|dashboard\/\S/);
  });

  it('names every bad setting before it starts anything', async () => {
    const cointill = await program({ LOG_LEVEL: 'loud', ROLE: 'king' });
    const { code, stdout, stderr } = await cointill.run('start');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('LOG_LEVEL must be one of');
    expect(stderr).toContain('ROLE must be one of');
  });
});
