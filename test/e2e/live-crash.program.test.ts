import { HDKey } from '@scure/bip32';
import { expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { client, eventually, testService, type Answer, type TestService } from '../program.ts';
import { startNode } from '../rpc-node.ts';

const CLIENTS = 16;
const KILLS = 3;
/** How many orders are acknowledged before each blow. */
const BEFORE = 150;
const PATIENCE_MS = 15_000;

const XPUB = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/84'/0'/0'").publicExtendedKey;
const TREASURY = '0x52908400098527886E0F7030069857D2E4169EE7';

/** Creates live orders in both coins until the service is gone, and reports each acknowledged one. */
async function orderUntilGone(api: ReturnType<typeof client>, onAnswer: (answer: Answer) => void): Promise<void> {
  const order = async (number: number): Promise<void> => {
    for (let turn = number; ; turn += 1) {
      const body = { amount: 25, currency: 'USD', crypto_currency: turn % 2 === 0 ? 'BTC' : 'ETH' };
      const answer = await api('/v1/orders', body).catch(() => null);
      if (answer === null) return;
      onAnswer(answer);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => order(number)));
}

async function setUp(service: TestService): Promise<string> {
  const { id } = (await service.command('project create --name Shop')) as { readonly id: string };
  await service.command(`wallet set --project ${id} --network ethereum --treasury ${TREASURY}`);
  await service.command(`wallet set --project ${id} --network bitcoin --descriptor wpkh(${XPUB}/0/*)`);
  const scope = `--project ${id} --mode live --kind secret --permission full --name Shop`;
  return textAt(await service.command(`key create ${scope}`), 'key');
}

it('killed again and again while live orders come in, no address is handed out twice and none is skipped', async () => {
  // Creating an order asks no node, so one without useful answers will do.
  const node = await startNode(() => ({ error: { code: -28, message: 'Loading block index…' } }));
  onTestFinished(() => node.stop());
  const service = await testService({
    BITCOIN_RPC_URL: node.url,
    ETHEREUM_RPC_URL: node.url,
    FIXED_RATES: 'BTC=60000,ETH=3000',
    RATE_SOURCES: 'none',
    LOG_LEVEL: 'fatal',
  });
  let started = await service.start();
  const api = client(service.live, await setUp(service), PATIENCE_MS);
  const answers: Answer[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = answers.length;
    const gone = orderUntilGone(api, (answer) => void answers.push(answer));
    await eventually(
      `${BEFORE} orders are acknowledged`,
      () => (answers.length >= before + BEFORE ? true : null),
      60_000,
    );
    await started.kill();
    await gone;
    started = await service.start();
  }
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));

  const { db } = await service.openDatabase();
  const issued = await db.selectFrom('payment_addresses').select(['network', 'address', 'address_index']).execute();
  const watched = new Set(issued.map(({ address }) => address));
  const shown: string[] = [];
  for (const { body } of answers) shown.push(textAt((await api(`/v1/orders/${textAt(body, 'id')}`)).body, 'address'));
  expect(new Set(shown).size).toBe(answers.length);
  for (const address of shown) expect(watched).toContain(address.startsWith('0x') ? address.toLowerCase() : address);
  for (const { network, next_index: next } of await db.selectFrom('address_indexes').selectAll().execute()) {
    const indexes = issued.flatMap((row) => (row.network === network ? [row.address_index ?? -1] : []));
    expect(indexes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: next }, (_, index) => index));
  }
  expect((await started.stop()).code).toBe(0);
});
