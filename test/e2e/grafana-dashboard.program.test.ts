import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { HDKey } from '@scure/bip32';
import { expect, it, onTestFinished } from 'vitest';
import { startAnvil } from '../anvil.ts';
import { testDatabase } from '../database.ts';
import { freePort } from '../ports.ts';
import { client, eventually, testService } from '../program.ts';
import { receive } from '../../src/webhooks/local-receivers.fixture.ts';

const FILE = path.join(import.meta.dirname, '../../deploy/grafana/cointill.json');

interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels }: { readonly panels: readonly Panel[] } = JSON.parse(await readFile(FILE, 'utf8'));
const expressions = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
const hasPrometheus = await promisify(execFile)('prometheus', ['--version']).then(
  () => true,
  () => false,
);
/** The account's public key of a wallet. */
const XPUB = HDKey.fromMasterSeed(Buffer.alloc(32, 1)).derive("m/44'/60'/0'").publicExtendedKey;

/** A real Prometheus that scrapes one process every second; answers instant queries with the values found. */
async function prometheus(target: string): Promise<(expression: string) => Promise<readonly number[]>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'cointill-prometheus-'));
  const port = await freePort();
  const job = `{ job_name: cointill, static_configs: [{ targets: ['${target}'] }] }`;
  await writeFile(path.join(folder, 'prometheus.yml'), `global: { scrape_interval: 1s }\nscrape_configs: [${job}]\n`);
  const args = [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const server = spawn('prometheus', args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => void server.once('exit', resolve));
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  return async (expression) => {
    const query = new URLSearchParams({ query: expression });
    const answer = Object(await (await fetch(`http://127.0.0.1:${port}/api/v1/query?${query.toString()}`)).json());
    if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error}`);
    return answer.data.result.map(({ value }: { readonly value: readonly [number, string] }) => Number(value[1]));
  };
}

it('every panel has a title of its own and says what it shows', () => {
  const titles = panels.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  expect(panels.filter(({ targets, description }) => targets !== undefined && !description)).toEqual([]);
  expect(expressions.length).toBeGreaterThan(30);
});

it.skipIf(!hasPrometheus)(
  'every expression of the dashboard has a value in a scrape of a shop that sells',
  async () => {
    const anvil = await startAnvil();
    onTestFinished(() => anvil.stop());
    const receiver = await receive((response) => void response.end());
    onTestFinished(() => receiver.close());
    const backups = await mkdtemp(path.join(tmpdir(), 'cointill-backups-'));
    onTestFinished(() => rm(backups, { recursive: true, force: true }));
    const service = await testService({
      DATABASE_URL: (await testDatabase()).url,
      ETHEREUM_RPC_URL: anvil.url,
      ETHEREUM_CHAIN_ID: '31337',
      // A network whose price nobody tells here: its age is that of the process.
      LITECOIN_RPC_URL: 'http://user:password@127.0.0.1:9',
      RATE_SOURCES: 'ecb',
      FIXED_RATES: 'ETH=3000',
      BACKUP_DIR: backups,
      // The smallest pool is enough for everything at once.
      DATABASE_POOL: '4',
      SANDBOX_COMPLETE_AFTER_SECONDS: '1',
    });
    const { first } = await service.start();
    const project = String(first?.projectId);
    const query = await prometheus(new URL(service.live).host);
    await service.cointill.json('backup', `${backups}/`);
    await service.command(`wallet set --project ${project} --network ethereum --xpub ${XPUB}`);
    await service.command(
      `webhook create --project ${project} --mode test --events order.created --url http://127.0.0.1:${receiver.port}/`,
    );
    const made = Object(
      await service.command(`key create --project ${project} --mode live --kind secret --permission full --name S`),
    );
    const live = client(service.live, String(made.key));
    const test = client(service.sandbox, String(first?.key));
    const order = (crypto_currency: string) => ({ amount: 25, currency: 'USD', crypto_currency });
    const missing = async (): Promise<readonly string[]> => {
      const values = await Promise.all(
        expressions.map(async ({ title, expr }) => ({
          title,
          values: await query(expr.replaceAll('$__rate_interval', '15s')),
        })),
      );
      return values
        .filter(({ values: found }) => found.length === 0 || found.some((value) => !Number.isFinite(value)))
        .map(({ title }) => title);
    };
    const statuses = new Set<number>();
    let last: readonly string[] = [];
    const look = async (): Promise<true | null> => {
      const answers = await Promise.all([live('/v1/orders', order('ETH')), test('/v1/orders', order('BTC'))]);
      for (const { status } of answers) statuses.add(status);
      last = await missing();
      return last.length === 0 ? true : null;
    };
    await eventually('each expression has a value', look, 60_000).catch(() => {});
    expect(last).toEqual([]);
    expect([...statuses]).toEqual([200]);
  },
);
