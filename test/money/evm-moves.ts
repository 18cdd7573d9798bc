import { patiently, type Order } from './shop.ts';
import {
  amountFor,
  cancelRefund,
  claim,
  completedOrder,
  CONFIRMATIONS,
  followed,
  newOrder,
  openOrders,
  payOut,
  REFUNDED_USD,
  refundOf,
  send,
  tell,
  withClockAhead,
  type Scene,
  type WeightedMove,
} from './scene.ts';
import type { EvmChain } from './evm.ts';

/** A deposit's `flush(address)` of the chain's own coin. */
const FLUSH_COINS = `0x79c76e1a${'0'.repeat(64)}`;

/** Moves that exist only with deposit contracts, and with contracts that pay. */
export function evmMoves(chain: EvmChain): readonly WeightedMove[] {
  /** Pays half of an order in ether, which the program has seen. */
  async function halfPaid(scene: Scene): Promise<Order | null> {
    const order = await newOrder(scene, 'ETH');
    if (order === null) return null;
    await send(scene, order, order.owed / 2n);
    await patiently(async () => ((await scene.shop.read(order))['exception'] === 'underpaid' ? true : null));
    return order;
  }

  const payRest = (scene: Scene, order: Order): Promise<string> =>
    send(scene, order, order.owed - order.sent, chain.payByContract, 'a contract paid');

  async function sweep(scene: Scene, orders: readonly Order[], way: string): Promise<string> {
    const hash = await chain.sweep(orders.map(({ address }) => address));
    for (const order of orders) tell(scene, order, `${way} by ${hash}`);
    return hash;
  }

  const somePaid = ({ orders, random }: Scene): readonly Order[] =>
    random.shuffled(orders.filter(({ sent }) => sent > 0n)).slice(0, random.between(1, 5));

  async function contractPays(scene: Scene): Promise<void> {
    const open = openOrders(scene).filter(({ asset }) => asset === 'ETH');
    const order = open.length > 0 ? scene.random.pick(open) : await newOrder(scene, 'ETH');
    if (order !== null) await send(scene, order, amountFor(scene, order), chain.payByContract, 'a contract paid');
  }

  async function sweepOutside(scene: Scene): Promise<void> {
    const orders = somePaid(scene);
    if (orders.length > 0) await sweep(scene, orders, 'swept outside');
  }

  /** Sent from the dashboard, and told to it; now and then a transaction with a higher fee takes its place. */
  async function sweepTold(scene: Scene): Promise<void> {
    const { shop, random } = scene;
    await chain.mine(1);
    const overview = await shop.dashboard('/sweeps/check', {}).catch(() => null);
    const [network] = Array.isArray(overview?.['networks']) ? overview['networks'] : [];
    const offered = Object(network).calls?.find((call: { purpose: string }) => call.purpose === 'sweep');
    if (offered === undefined) return;
    const begun = await shop.dashboard('/sweeps', { network: 'ethereum', key: offered.key }).catch(() => null);
    if (begun === null) return;
    const id = String(begun['id']);
    const sent = async (hash: string): Promise<void> =>
      void (await shop.dashboard(`/sweeps/${id}/sent`, { hash, sender: chain.sweeper }).catch(() => null));
    const isReplaced = random.chance(40);
    await chain.inOneBlock(async () => {
      const nonce = await chain.nextNonce();
      const hash = await chain.send(offered.call.to, offered.call.data, { nonce, gasPriceGwei: 10 });
      await sent(hash);
      if (isReplaced) await chain.send(offered.call.to, offered.call.data, { nonce, gasPriceGwei: 20 });
    });
  }

  /** The other half comes from a contract in the block in which the first half is swept. */
  async function paidAsSwept(scene: Scene): Promise<void> {
    const order = await halfPaid(scene);
    if (order === null) return;
    await chain.inOneBlock(async () => {
      await sweep(scene, [order], 'swept');
      await payRest(scene, order);
    });
  }

  /** A contract pays all of it in the block in which somebody has the deposit pay its treasury. */
  async function paidAsFlushed(scene: Scene): Promise<void> {
    const order = await newOrder(scene, 'ETH');
    if (order === null) return;
    await sweep(scene, [order], 'put on the chain');
    await chain.mine(1);
    await chain.inOneBlock(async () => {
      await send(scene, order, order.owed, chain.payByContract, 'a contract paid');
      tell(scene, order, `flushed by ${await chain.send(order.address, FLUSH_COINS)}`);
    });
  }

  /** Like `paidAsSwept`, some blocks apart, while the program is down. */
  async function sweptWhileDown(scene: Scene): Promise<void> {
    const order = await halfPaid(scene);
    if (order === null) return;
    await scene.shop.service.kill();
    await sweep(scene, [order], 'swept while the program is down');
    await chain.mine(scene.random.between(1, 10));
    await payRest(scene, order);
    await scene.shop.service.start();
  }

  /** Completed by a contract's ether, swept, and both mined again in one block. */
  async function mineAgain(scene: Scene): Promise<void> {
    const height = (await chain.head()) + 1;
    const paid = await completedOrder(scene, 'ETH', chain.payByContract);
    if (paid === null) return;
    await sweep(scene, [paid.order], 'swept');
    await chain.mine(1);
    await followed(scene);
    tell(scene, paid.order, `all from block ${height} on is mined again in one block`);
    await chain.replaceFrom(height, 'again');
  }

  /** Completed, swept outside, and paid a second time by a contract. */
  async function paidTwice(scene: Scene): Promise<void> {
    const paid = await completedOrder(scene, 'ETH');
    if (paid === null) return;
    const { order } = paid;
    await sweep(scene, [order], 'swept outside');
    await chain.mine(CONFIRMATIONS);
    await followed(scene);
    await send(scene, order, order.owed, chain.payByContract, 'a contract paid');
    if (scene.random.chance(50)) await sweep(scene, [order], 'swept outside again');
  }

  /** A customer has their refund paid to the deposit address that their next order gets. */
  async function claimNextDeposit(scene: Scene): Promise<void> {
    const { random, shop, orders } = scene;
    const paid = await completedOrder(scene);
    const refund = paid === null ? null : await refundOf(scene, paid.order, null);
    if (refund === null) return;
    const next = Math.max(...orders.map(({ address }) => chain.indexOf(address))) + random.between(1, 3);
    const address = chain.deposit(next);
    if (!(await claim(scene, refund, address))) return;
    await chain.inOneBlock(async () => {
      await payOut(scene, refund);
      for (let made = 0; made < 4; made += 1) {
        const order = await shop.order(refund.asset, REFUNDED_USD);
        if (order === null) return;
        orders.push(order);
        tell(scene, order, `ordered at ${order.address}, to get the address of ${refund.id}`);
        if (order.address === address) return;
      }
    });
    await chain.mine(CONFIRMATIONS);
  }

  /**
   * A browser wallet reports the payout of a refund, which somebody tries to cancel while it waits in the pool. Now and
   * then it never gets into a block, and the refund is cancelled and made anew.
   */
  async function payoutReported(scene: Scene): Promise<void> {
    const { random, shop } = scene;
    const paid = await completedOrder(scene, random.pick(['ETH', 'USDC']));
    const refund = paid === null ? null : await refundOf(scene, paid.order, await chain.newAddress());
    if (paid === null || refund === null) return;
    const isDropped = random.chance(40);
    let isReported = false;
    await chain.inOneBlock(async () => {
      const hash = await payOut(scene, refund);
      const report = { refund: refund.id, transaction_hash: hash };
      isReported = (await shop.dashboard('/signing/sent', report).catch(() => null)) !== null;
      tell(scene, refund, `which was ${isReported ? '' : 'not '}reported${isDropped ? ', and then dropped' : ''}`);
      if (random.chance(30)) {
        await shop.service.kill();
        await shop.service.start();
      }
      if (isReported) await cancelRefund(scene, refund);
      if (isDropped && hash !== null) await chain.drop(hash);
    });
    if (!isDropped || !isReported) return;
    await withClockAhead(scene, async () => {
      await chain.mine(1);
      await patiently(async () => ((await cancelRefund(scene, refund)) ? true : null));
      // Deliveries that wait when the clock goes back wait until it is there again.
      if (refund.isCancelled) await patiently(async () => (shop.told(refund.id).length > 1 ? true : null));
    });
    if (!refund.isCancelled) return;
    const anew = await refundOf(scene, paid.order, await chain.newAddress());
    if (anew !== null) await payOut(scene, anew);
  }

  /** The node refuses one question about a past block while what was swept outside is looked for. */
  async function refuseOnce(scene: Scene): Promise<void> {
    const { random, shop } = scene;
    const paid = await completedOrder(scene, random.pick(['USDT', 'USDC', 'ETH']));
    if (paid === null) return;
    await shop.dashboard('/sweeps/check', {}).catch(() => null);
    await sweep(scene, [paid.order], 'swept outside');
    await chain.mine(random.between(1, 6));
    await followed(scene);
    let left = random.between(0, 3);
    let isRefused = false;
    const head = `0x${(await chain.head()).toString(16)}`;
    chain.intercept(({ method, params }) => {
      const at = Array.isArray(params) ? params[1] : undefined;
      const isPast = String(at).startsWith('0x') && at !== head;
      if ((method !== 'eth_call' && method !== 'eth_getBalance') || !isPast || isRefused || left-- > 0) return null;
      isRefused = true;
      return { error: { code: -32005, message: 'too many requests' } };
    });
    // Balances read within a second are not read again.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await shop.dashboard('/sweeps/check', {}).catch(() => null);
    chain.intercept(() => null);
    tell(scene, paid.order, `a question about a past block was ${isRefused ? '' : 'not '}refused in the check`);
  }

  /** Another token than the one that was ordered. */
  async function otherCoin(scene: Scene): Promise<void> {
    const order = await newOrder(scene, scene.random.pick(['ETH', 'USDC']));
    if (order === null) return;
    tell(scene, order, `paid 7 USDT by ${await chain.pay(order.address, 'USDT', 7_000_000n)}`);
  }

  return [
    [4, 'contract pays', contractPays],
    [4, 'sweep outside', sweepOutside],
    [2, 'sweep told', sweepTold],
    [2, 'paid as swept', paidAsSwept],
    [2, 'paid as flushed', paidAsFlushed],
    [2, 'swept while down', sweptWhileDown],
    [2, 'mined again', mineAgain],
    [2, 'paid twice', paidTwice],
    [2, 'claim next deposit', claimNextDeposit],
    [3, 'payout reported', payoutReported],
    [2, 'refuse once', refuseOnce],
    [1, 'other coin', otherCoin],
  ];
}
