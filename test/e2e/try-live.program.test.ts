import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { startAnvil } from '../anvil.ts';
import { codeBlocks, commandLines } from '../guide-code.ts';
import { client, eventually, freePort, testService, type TestService } from '../program.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** The terminals of a reader who follows a page that pays without real money. */
interface Trial {
  /** The test's values for the page's examples. */
  readonly places: Map<string | RegExp, string>;
  /** Runs the lines of one block, and answers with the output of the last one. */
  readonly run: (block: number) => Promise<string>;
  /** Starts the service with the settings that a block exports, and gives its projects the place of `ID`. */
  readonly start: (block: number) => Promise<TestService>;
}

async function follow(page: string): Promise<Trial> {
  const blocks = codeBlocks(`docs/guide/${page}`).filter(({ language }) => language === 'sh');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-trial-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await mkdir(path.join(folder, 'bin'));
  await symlink(path.join(ROOT, 'bin/cointill'), path.join(folder, 'bin/cointill'));
  const places = new Map<string | RegExp, string>([['/tmp/regtest', folder]]);
  let shell = '';
  const linesOf = (block: number): readonly string[] =>
    commandLines(blocks[block]?.code ?? '').map((line) =>
      [...places].reduce((text, [place, value]) => text.replaceAll(place, value), line),
    );
  const { PATH = '' } = process.env;
  const start = async (block: number): Promise<TestService> => {
    const [exported = '', started] = linesOf(block);
    expect(started).toBe('./bin/cointill start');
    const settings = Object.fromEntries(
      [...exported.matchAll(/ ([A-Z_]+)=(\S+)/g)].flatMap(([, name = '', value = '']) =>
        name === 'DATA_DIR' ? [] : [[name, value]],
      ),
    );
    const service = await testService({ ...settings, NODE_POLL_MS: '100' });
    const { first } = await service.start();
    places.set(/DATA_DIR=\S+/g, `DATA_DIR=${service.cointill.dataDir}`);
    places.set(/\bID\b/g, first?.projectId ?? '');
    places.set('http://127.0.0.1:4000', service.live);
    return service;
  };
  const run = async (block: number): Promise<string> => {
    let output = '';
    for (const line of linesOf(block)) {
      const own = line.replace('sk_live_…', /sk_live_\w+/.exec(output)?.[0] ?? '');
      if (/^(?:export|alias) /.test(own)) shell += `${own}\n`;
      else {
        const { stdout } = await promisify(execFile)('sh', ['-ec', `${shell}\n${own}`], {
          cwd: folder,
          env: { PATH, HOME: folder },
        });
        output += stdout;
      }
    }
    return output;
  };
  return { places, run, start };
}

/** Puts the address and the key of the order into the trial; answers with a reader of its status. */
async function orderOf(output: string, service: TestService, trial: Trial): Promise<() => Promise<string>> {
  const key = /sk_live_\w+/.exec(output)?.[0] ?? '';
  const id = /"id":"(ord_\w+)"/.exec(output)?.[1] ?? output;
  const api = client(service.live, key);
  trial.places.set('ADDRESS', textAt((await api(`/v1/orders/${id}`)).body, 'address'));
  return async () => textAt((await api(`/v1/orders/${id}`)).body, 'status');
}

it('a payment in ether can be tried as the guide says', async () => {
  const trial = await follow('try-ether.md');
  const anvil = await startAnvil({ blockTimeSeconds: 1 });
  onTestFinished(() => anvil.stop());
  trial.places.set('http://127.0.0.1:8545', anvil.url);
  const service = await trial.start(1);
  const status = await orderOf(await trial.run(2), service, trial);
  expect(await status()).toBe('pending');
  expect(await trial.run(3)).toContain('"result":"0x');
  await eventually('the order is completed', async () => ((await status()) === 'completed' ? true : null));
});

it('a payment in Litecoin can be tried as the guide says', async () => {
  const trial = await follow('try-litecoin.md');
  const port = await freePort();
  trial.places.set('19443', String(port));
  // Debian's command is a wrapper that writes into the home directory; and tests beside this one have nodes, too.
  trial.places.set('litecoind -regtest', '/usr/lib/litecoin/litecoind -regtest -listen=0');
  onTestFinished(async () => {
    const authorization = `Basic ${Buffer.from('me:me').toString('base64')}`;
    const stop = () =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: { authorization }, body: '{"method":"stop"}' });
    await eventually('the node has ended', () =>
      stop().then(
        () => null,
        () => true,
      ),
    );
  });
  await trial.run(0);
  const service = await trial.start(1);
  const status = await orderOf(await trial.run(2), service, trial);
  expect(await status()).toBe('pending');
  await trial.run(3);
  await eventually('the order is completed', async () => ((await status()) === 'completed' ? true : null));
});
