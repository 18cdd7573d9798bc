import { randomUUID } from 'node:crypto';
import { setTimeout as passed } from 'node:timers/promises';
import type { Fields, Shop } from '../money/shop.ts';

const CLIENTS = 4;
const PAUSE_MS = 150;
const ANSWER_MS = 10_000;
/**
 * Overloaded or without its database; slowed down, as revoked keys come from the same address; or the same request is
 * still under way, after its client gave up waiting.
 */
const AGAIN = new Set([503, 429, 409]);

/** One order, asked for with the same key and body until it is acknowledged. */
interface Asked {
  readonly number: string;
  answer: Fields | null;
}

/** Shops that order all the time, and go on through every disturbance. */
export interface Clients {
  /** How many orders were acknowledged so far. */
  acknowledged(): number;
  /** Resolves when no order is under way any more; they wait until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** The faults of their orders while they pause, a line each. */
  faults(orders: ReadonlyMap<string, Fields>): readonly string[];
  end(): Promise<void>;
}

export function startClients(shop: Shop): Clients {
  const asked: Asked[] = [];
  const answers: string[] = [];
  let [isPaused, isOver, underWay] = [false, false, 0];

  const ask = async (): Promise<void> => {
    const one: Asked = { number: `CHAOS-${asked.length}`, answer: null };
    asked.push(one);
    const body = JSON.stringify({
      amount: (500 + (asked.length % 90)) / 100,
      currency: 'USD',
      crypto_currency: 'BTC',
      expires_in: 86_400,
      order_id: one.number,
      customer_email: `${one.number}@shop.example`,
    });
    const headers = {
      authorization: `Bearer ${shop.key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    while (one.answer === null && !isOver) {
      const answer = await fetch(`${shop.url}/v1/orders`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(ANSWER_MS),
      })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        // Nobody knows what became of it.
        .catch(() => null);
      if (answer?.status === 200) one.answer = Object(JSON.parse(answer.text));
      else if (answer !== null && !AGAIN.has(answer.status)) {
        answers.push(`${one.number} was answered with ${answer.status}: ${answer.text}`);
        return;
      }
      if (one.answer === null) await passed(PAUSE_MS);
    }
  };
  const work = async (): Promise<void> => {
    while (!isOver) {
      if (!isPaused) {
        underWay += 1;
        await ask();
        underWay -= 1;
      }
      await passed(PAUSE_MS);
    }
  };
  const working = Promise.all(Array.from({ length: CLIENTS }, work));

  return {
    acknowledged: () => asked.filter(({ answer }) => answer !== null).length,
    pause: async () => {
      isPaused = true;
      while (underWay > 0) await passed(20);
    },
    resume: () => {
      isPaused = false;
    },
    faults: (orders) => [...answers, ...asked.flatMap((one) => faultsOf(one, orders, shop)), ...twice(orders)],
    end: async () => {
      isOver = true;
      await working;
    },
  };
}

/** The fields of an acknowledgement that never change. */
const KEPT = ['amount', 'currency', 'crypto_currency', 'crypto_amount', 'payment_url', 'expires_at', 'created_at'];

/** Nothing acknowledged is lost or another one, and its first event came, with the first number. */
function faultsOf({ number, answer }: Asked, orders: ReadonlyMap<string, Fields>, shop: Shop): readonly string[] {
  if (answer === null) return [];
  const { id, status } = answer;
  const kept = orders.get(String(id));
  if (kept === undefined) return [`${number} (${String(id)}) was acknowledged and is lost`];
  const found: string[] = [];
  for (const field of KEPT) {
    if (String(kept[field]) !== String(answer[field]))
      found.push(`${String(id)} has another ${field} than was acknowledged`);
  }
  if (kept['status'] !== status) found.push(`${String(id)} is ${String(kept['status'])}, though nobody paid it`);
  const told = shop.told(String(id)).map(({ sequence, type }) => `${sequence} ${type}`);
  if (told.join() !== '1 order.created') found.push(`${String(id)} was told as: ${told.join() || 'nothing'}`);
  return found;
}

/** No address and no number of the shop is there twice. */
function twice(orders: ReadonlyMap<string, Fields>): readonly string[] {
  const found: string[] = [];
  for (const field of ['address', 'order_id'] as const) {
    const values = [...orders.values()].map((order) =>
      field === 'address' ? order['address'] : Object(order['metadata'])[field],
    );
    const known = new Set<unknown>();
    for (const value of values) {
      if (typeof value !== 'string' || value.startsWith('ord_')) continue;
      if (known.has(value)) found.push(`${field} ${value} is there twice`);
      known.add(value);
    }
  }
  return found;
}
