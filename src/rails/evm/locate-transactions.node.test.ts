import { expect, it, onTestFinished } from 'vitest';
import { startAnvil } from '../../../test/anvil.ts';
import { forwardTo } from '../../../test/rpc-node.ts';
import { nodeThat, sourceOf } from './source.fixture.ts';

const TO = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

it('a transaction is in a block, waits while any node has it or may have, and is nowhere once its nonce was used', async () => {
  const anvil = await startAnvil({ manualMining: true });
  onTestFinished(() => anvil.stop());
  const hash = await anvil.transfer(TO, 5n);
  const waiting = await anvil.rpc('eth_getTransactionByHash', [hash]);
  const knowing = await nodeThat((call) => forwardTo(anvil.url, call));
  const stale = await nodeThat((call) =>
    call.method === 'eth_getTransactionByHash' ? { result: waiting } : forwardTo(anvil.url, call),
  );
  const forgetful = await nodeThat((call) =>
    call.method === 'eth_getTransactionByHash' ? { result: null } : forwardTo(anvil.url, call),
  );
  const locationAt = async (...urls: readonly string[]) => (await sourceOf([...urls]).locate?.([hash]))?.get(hash);
  const dead = await nodeThat(() => ({ status: 500, text: '' }));
  expect(await locationAt(forgetful.url)).toEqual({ kind: 'nowhere' });
  expect(await locationAt(forgetful.url, dead.url)).toEqual({ kind: 'waiting' });
  expect(await locationAt(forgetful.url, knowing.url)).toEqual({ kind: 'waiting' });
  await anvil.rpc('anvil_mine', [1]);
  expect(await locationAt(forgetful.url, knowing.url)).toEqual({ kind: 'block', height: 1 });
  expect(await locationAt(forgetful.url, stale.url)).toEqual({ kind: 'nowhere' });
});
