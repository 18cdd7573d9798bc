import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { live, soundHistory, start, type Taken } from './payment-history.fixture.ts';
import type { Payment, Transfer } from './payment.ts';
import { messagesOf, moneyId, type ShopMessage } from './shop-message.ts';

const ENDS = new Set(['InvoiceSettled', 'InvoiceExpired', 'InvoiceInvalid']);

/** All messages of a history, each change told with what the messages before it said. */
function messagesIn(history: readonly Taken[]): readonly ShopMessage[] {
  const received = new Set<string>();
  const settled = new Set<string>();
  const timer: Transfer[] = [];
  return history.flatMap(({ before, after, observation, result }) => {
    if (result.kind !== 'changed') return [];
    if (observation.kind === 'settled') timer.push(transferOf(observation));
    const change = { before: before.payment, after: after.payment, transitions: result.transitions };
    const made = messagesOf(change, [...before.transfers, ...timer], { received, settled });
    for (const message of made) {
      if (!('transfer' in message)) continue;
      (message.type === 'InvoiceReceivedPayment' ? received : settled).add(moneyId(message.transfer));
    }
    return made;
  });
}

/** The transfer with which the sandbox completes a payment. */
function transferOf({ quote }: Extract<Taken['observation'], { readonly kind: 'settled' }>): Transfer {
  return {
    network: quote.network,
    asset: quote.asset,
    address: quote.address,
    transactionHash: '0xsettled',
    index: 0,
    amountUnits: quote.owedUnits,
    firstSeenAt: 0,
    blockAt: 0,
    blockHeight: 1,
    blockPosition: 0,
    state: 'confirmed',
  };
}

/** Checks a guarantee on the messages of many histories. */
function always(guarantee: (messages: readonly ShopMessage[], history: readonly Taken[]) => void): void {
  fc.assert(
    fc.property(start, soundHistory, (payment, steps) => {
      const history = live(payment, steps);
      guarantee(messagesIn(history), history);
    }),
    { numRuns: 1_000 },
  );
}

describe('the messages of any history of an invoice', () => {
  it('never take an order back: after an end comes only money, or a settlement after an end without money', () => {
    always((messages) => {
      const states = messages.map(({ type }) => type).filter((type) => type === 'InvoiceProcessing' || ENDS.has(type));
      const first = states.findIndex((type) => ENDS.has(type));
      const after = first < 0 ? [] : states.slice(first + 1);
      expect(after).toEqual(after.length === 0 ? [] : ['InvoiceSettled']);
      expect(after.length === 0 || states[first] !== 'InvoiceSettled').toBe(true);
    });
  });

  it('tell of each transfer at most once that it came, and then at most once that it is confirmed', () => {
    always((messages) => {
      const told = messages.flatMap((one) => ('transfer' in one ? [`${one.type} ${moneyId(one.transfer)}`] : []));
      expect(new Set(told).size).toBe(told.length);
      const came = told.flatMap((text, at) => {
        const [type, id] = text.split(' ');
        return type === 'InvoicePaymentSettled' ? [told.slice(0, at).includes(`InvoiceReceivedPayment ${id}`)] : [];
      });
      expect(came).not.toContain(false);
    });
  });

  it('tell of money that came and was confirmed before they tell that an invoice is settled', () => {
    always((messages, history) => {
      const types = messages.map(({ type }) => type);
      const at = types.indexOf('InvoiceSettled');
      expect(at >= 0).toBe(history.at(-1)?.after.payment.status === 'completed');
      const before = new Set(at < 0 ? MONEY : types.slice(0, at));
      expect(MONEY.filter((type) => !before.has(type))).toEqual([]);
    });
  });

  it('end as the invoice did', () => {
    always((messages, history) => {
      const end = messages.findLast(({ type }) => ENDS.has(type))?.type;
      expect(end).toBe(endOf(history.at(-1)?.after.payment));
    });
  });
});

const MONEY: readonly ShopMessage['type'][] = ['InvoiceReceivedPayment', 'InvoicePaymentSettled'];

function endOf(payment: Payment | undefined): ShopMessage['type'] | undefined {
  switch (payment?.status) {
    case 'completed':
      return 'InvoiceSettled';
    case 'expired':
      return 'InvoiceExpired';
    case 'failed':
      return payment.failureReason === 'underpaid' ? 'InvoiceExpired' : 'InvoiceInvalid';
    case 'cancelled':
      return 'InvoiceInvalid';
    default:
      return undefined;
  }
}
