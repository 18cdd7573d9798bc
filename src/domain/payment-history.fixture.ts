import * as fc from 'fast-check';
import { inTimeUntil, type Payment, type Quote, type Transfer } from './payment.ts';
import { sumTransfers } from './sum-transfers.ts';
import { BTC_QUOTE, CREATED_AT, DAY_MS, ETH_QUOTE, MINUTE_MS, paymentWith } from './payment.fixture.ts';
import { transition, type Observation, type TransitionResult } from './transition.ts';

/** One step of a random history of a payment. Indexes wrap around the number of items. */
export type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'choose'; readonly token: number; readonly isFresh: boolean; readonly percent: number }
  | {
      readonly kind: 'pay';
      readonly quote: number;
      readonly percent: number;
      readonly state: Transfer['state'];
      readonly ageMs: number;
    }
  | { readonly kind: 'change'; readonly transfer: number; readonly state: Transfer['state'] }
  | { readonly kind: 'read' }
  | { readonly kind: 'misread'; readonly quote: number; readonly mask: number; readonly untilMs: number }
  | { readonly kind: 'deadline'; readonly behindMs: number | 'by_hand' }
  | { readonly kind: 'settle' }
  | { readonly kind: 'observe'; readonly observation: Observation };

/** A payment's world: the money that exists, and every quote that was ever issued. */
interface World {
  readonly payment: Payment;
  readonly now: number;
  readonly transfers: readonly Transfer[];
  readonly issued: readonly Quote[];
}

export interface Taken {
  readonly before: World;
  readonly after: World;
  readonly observation: Observation;
  readonly result: TransitionResult;
}

const TOKENS: readonly Quote[] = [
  ETH_QUOTE,
  BTC_QUOTE,
  { ...ETH_QUOTE, asset: 'USDT', decimals: 6, owedUnits: 100_000_000n, toleranceUnits: 50_000n },
  { ...ETH_QUOTE, network: 'base' },
];

/** Kinds that `observationOf` derives from the world; all others are constant. */
type MadeOfWorld = 'token_chosen' | 'money' | 'deadline' | 'settled';
const OBSERVATIONS: {
  readonly [Kind in Exclude<Observation['kind'], MadeOfWorld>]: readonly (Observation & { readonly kind: Kind })[];
} = {
  cancelled: [{ kind: 'cancelled' }],
  accepted: [{ kind: 'accepted', refundedUnits: 0n }],
  timer_stopped: [{ kind: 'timer_stopped' }],
  timer_set: [{ kind: 'timer_set', at: CREATED_AT + 2 * MINUTE_MS }],
};

const state = fc.constantFrom<Transfer['state']>('seen', 'mined', 'confirmed', 'dropped');
const wait = fc.record({
  kind: fc.constant('wait' as const),
  ms: fc.oneof(fc.constantFrom(1, MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS, 7 * DAY_MS), fc.nat(3 * DAY_MS)),
});
const pay = fc.record({
  kind: fc.constant('pay' as const),
  quote: fc.nat(3),
  percent: fc.oneof(fc.constantFrom(50, 100, 100, 200), fc.integer({ min: 1, max: 250 })),
  state,
  ageMs: fc.constantFrom(0, 0, 1, 20 * MINUTE_MS),
});
/** On a fresh address, or on the network's existing one, at a changed price. */
const choose = fc.record({
  kind: fc.constant('choose' as const),
  token: fc.nat(3),
  isFresh: fc.boolean(),
  percent: fc.constantFrom(80, 100, 100, 125),
});
const observations: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 3, arbitrary: wait },
  { weight: 2, arbitrary: choose },
  { weight: 4, arbitrary: pay },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('change' as const), transfer: fc.nat(9), state }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('deadline' as const),
      behindMs: fc.constantFrom<number | 'by_hand'>(0, 0, 1, MINUTE_MS, 'by_hand'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('observe' as const),
      observation: fc.constantFrom(...Object.values(OBSERVATIONS).flat()),
    }),
  },
];
const read: fc.Arbitrary<Step> = fc.constant({ kind: 'read' });
/** A faulty rail that misses transfers or observes another quote or deadline, which must not break any invariant. */
const misread: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('misread'),
  quote: fc.nat(3),
  mask: fc.nat(255),
  untilMs: fc.nat(3 * DAY_MS),
});

export const start: fc.Arbitrary<Payment> = fc.constantFrom(
  paymentWith({ status: 'created', api: 'transaction', quote: null }),
  paymentWith({ status: 'prepared' }),
  paymentWith(),
  paymentWith({ mode: 'test', completesAt: CREATED_AT + MINUTE_MS }),
);
const history = (last: { weight: number; arbitrary: fc.Arbitrary<Step> }): fc.Arbitrary<readonly Step[]> =>
  fc.array(fc.oneof(...observations, last), { minLength: 1, maxLength: 40, size: 'max' });
export const soundHistory = history({ weight: 9, arbitrary: read });
export const wildHistory = history({ weight: 9, arbitrary: fc.oneof(read, misread) });

function pick<T>(items: readonly T[], index: number): T | null {
  return items[index % Math.max(1, items.length)] ?? null;
}

/** The world after a step, before it is observed. */
function happen(world: World, step: Step): World {
  if (step.kind === 'wait') return { ...world, now: world.now + step.ms };
  if (step.kind === 'pay') {
    const quote = pick(world.issued, step.quote);
    if (quote === null) return world;
    const transfer: Transfer = {
      network: quote.network,
      asset: quote.asset,
      address: quote.address,
      transactionHash: `0x${world.transfers.length}`,
      index: 0,
      amountUnits: (quote.owedUnits * BigInt(step.percent)) / 100n,
      firstSeenAt: world.now,
      blockAt: step.state === 'mined' || step.state === 'confirmed' ? world.now - step.ageMs : null,
      blockHeight: null,
      blockPosition: null,
      state: step.state,
    };
    return { ...world, transfers: [...world.transfers, transfer] };
  }
  if (step.kind === 'change') {
    const changed = pick(world.transfers, step.transfer);
    const blockAt = step.state === 'mined' || step.state === 'confirmed' ? world.now : null;
    const transfers = world.transfers.map((each) =>
      each === changed
        ? { ...each, state: step.state, blockAt: blockAt === null ? null : (each.blockAt ?? blockAt) }
        : each,
    );
    return { ...world, transfers };
  }
  return world;
}

/** The quote that has money: the current one if it has any, otherwise an earlier one, otherwise the current one. */
function paidQuote({ payment, transfers, issued }: World): Quote | null {
  const { quote } = payment;
  if (quote === null || payment.completedOnUnits !== null) return quote;
  const paid = (each: Quote): boolean => sumTransfers(each, transfers, 0).all.seenUnits > 0n;
  return paid(quote) ? quote : (issued.find(paid) ?? quote);
}

/** The number of token changes: every quote but the first. */
function changesOf({ issued }: Pick<World, 'issued'>): number {
  return Math.max(0, issued.length - 1);
}

function observationOf(step: Step, world: World): Observation | null {
  const { payment, now, transfers } = world;
  switch (step.kind) {
    case 'wait':
    case 'pay':
    case 'change':
      return null;
    case 'choose': {
      const token = TOKENS[step.token] ?? ETH_QUOTE;
      const { network } = token;
      const address = step.isFresh ? `address-${world.issued.length}` : `address-on-${network}`;
      const quote = { ...token, owedUnits: (token.owedUnits * BigInt(step.percent)) / 100n, address };
      return { kind: 'token_chosen', quote, changes: changesOf(world) };
    }
    case 'read': {
      const quote = paidQuote(world);
      return quote === null
        ? null
        : {
            kind: 'money',
            quote,
            received: sumTransfers(quote, transfers, inTimeUntil(payment), payment.completedOnUnits ?? undefined),
          };
    }
    case 'misread': {
      const quote = pick(world.issued, step.quote) ?? ETH_QUOTE;
      const known = transfers.filter((_, index) => ((step.mask >> (index % 8)) & 1) === 1);
      return { kind: 'money', quote, received: sumTransfers(quote, known, CREATED_AT + step.untilMs) };
    }
    case 'deadline':
      return { kind: 'deadline', seenUpTo: step.behindMs === 'by_hand' ? 'by_hand' : now - step.behindMs };
    case 'settle': {
      const quote = payment.quote ?? ETH_QUOTE;
      const whole = { seenUnits: quote.owedUnits, minedUnits: quote.owedUnits, confirmedUnits: quote.owedUnits };
      return { kind: 'settled', quote, received: { all: whole, inTime: whole, transactionHash: '0xsettled' } };
    }
    case 'observe':
      return step.observation;
  }
}

/** Runs a history and returns every observation with its result. */
export function live(payment: Payment, steps: readonly Step[]): readonly Taken[] {
  let world: World = {
    payment: frozen(payment),
    now: CREATED_AT,
    transfers: [],
    issued: payment.quote === null ? [] : [payment.quote],
  };
  const taken: Taken[] = [];
  for (const step of steps) {
    const before = happen(world, step);
    const observation = observationOf(step, before);
    world = before;
    if (observation === null) continue;
    const result = transition(before.payment, observation, before.now);
    if (result.kind === 'changed') {
      const issued = observation.kind === 'token_chosen' ? [...before.issued, observation.quote] : before.issued;
      world = { ...before, payment: frozen(result.payment), issued };
    }
    taken.push({ before, after: world, observation, result });
  }
  return taken;
}

/** Frozen, so that writing to it throws: `transition` must not change its arguments. */
function frozen(payment: Payment): Payment {
  Object.freeze(payment.received.all);
  Object.freeze(payment.received.inTime);
  Object.freeze(payment.received);
  return Object.freeze(payment);
}
