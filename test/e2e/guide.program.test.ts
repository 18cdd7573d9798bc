import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { sandboxAddress } from '../../src/rails/sandbox/sandbox.ts';
import { receive, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../anvil.ts';
import { emptyDatabase } from '../database.ts';
import { codeBlocks, commandLines, GUIDE_FILES, RUN_BY_OTHERS } from '../guide-code.ts';
import { client, eventually, testService, type TestService } from '../program.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** A public key of a wallet that everybody knows. */
const ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
const ORDER = { amount: 25, currency: 'USD', crypto_currency: 'ETH' };

const ends: (() => Promise<void>)[] = [];
let service: TestService;
let anvil: Anvil;
let receiver: LocalReceiver;
let api: ReturnType<typeof client>;
let own: { readonly key: string; readonly projectId: string };
/** The folder in which the reader works. */
let folder: string;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  anvil = await startAnvil();
  receiver = await receive((response) => void response.end());
  const settings = {
    SANDBOX_COMPLETE_AFTER_SECONDS: '600',
    ETHEREUM_RPC_URL: anvil.url,
    ETHEREUM_CHAIN_ID: '31337',
    FIXED_RATES: 'ETH=3000,BTC=60000',
    RATE_SOURCES: 'none',
  };
  service = await testService(settings, 'ready', (end) => void ends.push(end));
  const { first } = await service.start();
  if (first === null) throw new Error('The first start made no key.');
  own = first;
  api = client(service.sandbox, own.key);
  // The log of a shop that is not new.
  for (const id of [await newOrder(), await newOrder()]) {
    await eventually('the order is in the log', async () => {
      const { body } = await api('/v1/events');
      return JSON.stringify(body).includes(id) ? true : null;
    });
  }
  folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-reader-'));
  await mkdir(path.join(folder, 'bin'));
  await symlink(path.join(ROOT, 'bin/cointill'), path.join(folder, 'bin/cointill'));
  await mkdir(path.join(folder, 'backups'));
  const ports = { PORT: new URL(service.live).port, SANDBOX_PORT: new URL(service.sandbox).port };
  const at = `${path.join(folder, 'bin')}:${process.env['PATH']}`;
  env = { ...settings, ...ports, PATH: at, HOME: folder, DATA_DIR: service.cointill.dataDir };
});
afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
  await Promise.all([anvil.stop(), receiver.close(), rm(folder, { recursive: true })]);
});

async function newOrder(): Promise<string> {
  return textAt((await api('/v1/orders', ORDER)).body, 'id');
}

async function paidOrder(): Promise<string> {
  const id = await newOrder();
  await api(`/v1/orders/${id}/simulate`, { outcome: 'paid' });
  return id;
}

async function newEndpoint(): Promise<{ readonly id: string; readonly secret: string }> {
  const made = await service.command(
    `webhook create --project ${own.projectId} --mode test --events all --url http://127.0.0.1:${receiver.port}/`,
  );
  return { id: textAt(made, 'id'), secret: textAt(made, 'secret') };
}

/** A delivered webhook as a file, and the secret that signed it. */
async function savedRequest(): Promise<string> {
  const { id, secret } = await newEndpoint();
  const sent = textAt(await service.command(`webhook test ${id} --type order.completed`), 'event_id');
  const { headers, body } = await eventually(
    'the test event arrives',
    () => receiver.requests.find((request) => request.body.includes(sent)) ?? null,
  );
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  await writeFile(path.join(folder, 'request.txt'), `${lines.join('\n')}\n\n${body}`);
  return secret;
}

let count = 0;
const newPath = (): string => path.join(service.cointill.dataDir, `new-${(count += 1)}`);

async function newBackup(): Promise<string> {
  const file = `${newPath()}.backup`;
  await service.command(`backup ${file}`);
  return file;
}

/** The reader's own values in the place of the page's examples. */
const OWN: readonly (readonly [pattern: RegExp, value: (line: string) => string | Promise<string>])[] = [
  [/\bID\b/, () => own.projectId],
  [/sk_(?:test|live)_…/, () => own.key],
  [/https:\/\/pay\.shop\.example/, () => service.sandbox],
  [/http:\/\/127\.0\.0\.1:4000/, () => service.live],
  [/localhost:3000/, () => `localhost:${receiver.port}`],
  [/ord_…/, (line) => (/\/v1\/refunds|--payment/.test(line) ? paidOrder() : newOrder())],
  [
    /re_…/,
    async () => {
      const order_id = await paidOrder();
      return textAt((await api('/v1/refunds', { order_id, address: sandboxAddress('ethereum', order_id) })).body, 'id');
    },
  ],
  [/evt_…/, async () => /evt_\w+/.exec(JSON.stringify((await api('/v1/events?limit=1')).body))?.[0] ?? ''],
  [/we_…/, async () => (await newEndpoint()).id],
  [
    /dlv_…/,
    async () =>
      textAt(await service.command(`webhook test ${(await newEndpoint()).id} --type order.completed`), 'delivery_id'),
  ],
  [
    /key_…/,
    async () =>
      textAt(
        await service.command(
          `key create --project ${own.projectId} --mode test --kind secret --permission read --name A`,
        ),
        'id',
      ),
  ],
  [/whsec_…/, savedRequest],
  [/zpub…/, () => ZPUB],
  [/0x…/, () => ANVIL_ACCOUNT],
  [/\/var\/backups\/cointill\//, () => `${path.join(folder, 'backups')}/`],
  [/\bFILE\b/, newBackup],
  [/\bNEW\b/, newPath],
  [/postgres:\/\/…/, emptyDatabase],
];

async function asOwn(line: string): Promise<string> {
  let text = line;
  for (const [pattern, value] of OWN) {
    if (pattern.test(text)) text = text.replaceAll(new RegExp(pattern, 'g'), await value(text));
  }
  return text;
}

/** Runs a command that goes on until it is stopped, up to its first words. */
async function begin(line: string, shell: string): Promise<void> {
  const child = spawn('sh', ['-c', `${shell}\nexec ${line}`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGINT');
    await ended;
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  await eventually(`${line} says that it is ready`, () => (output.includes('Stop with Ctrl-C.') ? true : null));
}

/** Runs a command; answers with the service's refusal, with which curl ends well, too. */
async function refusalOf(line: string, shell: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-ec', `${shell}\n${line}`], { cwd: folder, env });
  return /^\{"(?:error|success":false)/.test(stdout) ? `${line}: ${stdout}` : '';
}

const pages = GUIDE_FILES.filter((file) => RUN_BY_OTHERS[file] === undefined).filter((file) =>
  codeBlocks(file).some(({ language, mark }) => language === 'sh' && mark === ''),
);

it.each(pages)('the commands of %s can be run one after the other, as the running service shows them', async (file) => {
  const name = path.basename(file);
  const text = await (await fetch(`${service.live}/docs/${name}`)).text();
  let shell = '';
  const refusals: string[] = [];
  for (const { code } of codeBlocks(file, text).filter(({ language, mark }) => language === 'sh' && mark === '')) {
    // The service runs already; test/e2e/package.program.test.ts starts it so.
    for (const line of commandLines(code).filter((one) => one !== 'npx cointill start')) {
      const command = await asOwn(line);
      if (command.startsWith('export ')) shell += `${command}\n`;
      else if (/^(?:\S+\/)?cointill listen /.test(`${command} `)) await begin(command, shell);
      else refusals.push(await refusalOf(command, shell));
    }
  }
  expect(refusals.filter((refusal) => refusal !== '')).toEqual([]);
});
