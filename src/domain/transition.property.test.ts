import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTimeUntil, requiredUnits, type Payment } from './payment.ts';
import { sumTransfers } from './sum-transfers.ts';
import { isOpen, type PaymentStatus } from './status.ts';
import { ETH_QUOTE, EXPIRES_AT, MINUTE_MS } from './payment.fixture.ts';
import { live, soundHistory, start, wildHistory, type Step, type Taken } from './payment-history.fixture.ts';
import {
  TRANSITIONS,
  DEFAULT_POLICY,
  MAX_TOKEN_CHANGES,
  nextDueAt,
  transition,
  type Transition,
  type Observation,
} from './transition.ts';
import { exceptionOf } from './exception.ts';

const FINAL: ReadonlySet<PaymentStatus> = new Set(['completed', 'failed', 'expired', 'cancelled']);

function transitionsOf(taken: readonly Taken[]): readonly Transition[] {
  return taken.flatMap(({ result }) => (result.kind === 'changed' ? result.transitions : []));
}

function eventsOf(taken: readonly Taken[]): readonly string[] {
  return taken.flatMap(({ result }) => (result.kind === 'changed' ? result.steps : []));
}

/** Checks a guarantee on every observation of many histories. */
function always(histories: fc.Arbitrary<readonly Step[]>, guarantee: (taken: Taken) => void): void {
  fc.assert(
    fc.property(start, histories, (payment, steps) => {
      for (const taken of live(payment, steps)) guarantee(taken);
    }),
    { numRuns: 400 },
  );
}

describe('any sequence of observations, even of a rail that errs', () => {
  it('takes only transitions of the table, each from where the last one led', () => {
    fc.assert(
      fc.property(start, wildHistory, (payment, steps) => {
        let status = payment.status;
        for (const { result, after } of live(payment, steps)) {
          for (const transition of result.kind === 'changed' ? result.transitions : []) {
            expect(transition.from).toBe(status);
            expect(TRANSITIONS[transition.from]).toContain(transition.to);
            status = transition.to;
          }
          expect(after.payment.status).toBe(status);
        }
      }),
      { numRuns: 600 },
    );
  });

  it('leaves a final status only by accepting, and only to completed', () => {
    fc.assert(
      fc.property(start, wildHistory, (payment, steps) => {
        const left = transitionsOf(live(payment, steps)).filter((transition) => FINAL.has(transition.from));
        for (const transition of left) expect(transition).toMatchObject({ to: 'completed', cause: 'accepted' });
        expect(left.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 400 },
    );
  });

  it('sends each event when its status is reached: completed once, confirming once and before a second try', () => {
    fc.assert(
      fc.property(start, wildHistory, (payment, steps) => {
        const taken = live(payment, steps);
        const events = eventsOf(taken);
        const reached = transitionsOf(taken).map((transition): string => transition.to);
        const ends = ['completed', 'expired', 'failed', 'cancelled'];
        expect(events.filter((event) => ends.includes(event))).toEqual(reached.filter((event) => ends.includes(event)));
        expect(events.filter((event) => event === 'completed').length).toBeLessThanOrEqual(1);
        const detected = reached.includes('processing') || reached.includes('confirming');
        expect(events.filter((event) => event === 'confirming')).toEqual(detected ? ['confirming'] : []);
      }),
      { numRuns: 400 },
    );
  });

  it('keeps the exception true to the money, and publishes each new one', () => {
    always(wildHistory, ({ before, after, result }) => {
      expect(after.payment.exception).toBe(exceptionOf(after.payment));
      const told = result.kind === 'changed' && result.steps.includes('exception');
      expect(told).toBe(after.payment.exception !== before.payment.exception && after.payment.exception !== 'none');
    });
  });

  it('is pure: a refusal says nothing of a change, and the same question has the same answer', () => {
    always(wildHistory, ({ before, after, observation, result }) => {
      expect(result.kind === 'changed' || after.payment === before.payment).toBe(true);
      expect(transition(before.payment, observation, before.now)).toEqual(result);
    });
  });

  it('changes the token while it is open and nothing was seen, and ten times at most', () => {
    always(wildHistory, ({ before, observation, result }) => {
      if (observation.kind !== 'token_chosen') return;
      const { status, received, expiresAt } = before.payment;
      const mayChoose = isOpen(status) && received.all.seenUnits === 0n && before.now < expiresAt;
      expect(result.kind).toBe(mayChoose && observation.changes < MAX_TOKEN_CHANGES ? 'changed' : 'refused');
    });
  });

  it('never changes what creation fixed', () => {
    always(wildHistory, ({ before, after }) => {
      const fixed = ({ id, mode, api, amountMinor, currency, createdAt, expiresAt }: Payment): unknown[] => [
        id,
        mode,
        api,
        amountMinor,
        currency,
        createdAt,
        expiresAt,
      ];
      expect(fixed(after.payment)).toEqual(fixed(before.payment));
    });
  });
});

describe('money', () => {
  it('neither appears nor vanishes: received is exactly what exists on the quote', () => {
    always(soundHistory, ({ after, observation, result }) => {
      if (observation.kind !== 'money' || result.kind === 'refused') return;
      const { quote, received } = after.payment;
      const alive = after.transfers.filter(
        (each) => each.state !== 'dropped' && each.asset === quote?.asset && each.network === quote.network,
      );
      expect(received.all.seenUnits).toBe(alive.reduce((sum, each) => sum + each.amountUnits, 0n));
    });
  });

  it('stays on the quote that a payment completed on, and every payment keeps a quote once it has one', () => {
    always(wildHistory, ({ before, after }) => {
      const completed = before.payment.completedOnUnits !== null;
      expect(after.payment.quote).toEqual(completed ? before.payment.quote : after.payment.quote);
      expect(before.payment.quote === null || after.payment.quote !== null).toBe(true);
    });
  });

  it('counts as received only when a rail observes it', () => {
    always(wildHistory, ({ before, after, observation }) => {
      const observes = observation.kind === 'money' || observation.kind === 'settled';
      expect(observes || after.payment.received === before.payment.received).toBe(true);
    });
  });

  it('is there when a payment completes: confirmed and in time, or taken by the merchant or the sandbox', () => {
    always(wildHistory, ({ before, after }) => {
      if (after.payment.status !== 'completed' || before.payment.status === 'completed') return;
      const { received, quote, completedOnUnits } = after.payment;
      const required = quote === null ? 0n : requiredUnits(quote);
      const confirmed = received.all.confirmedUnits;
      expect(confirmed).toBeGreaterThan(0n);
      expect(completedOnUnits).toBe(confirmed < required ? confirmed : required);
    });
    always(wildHistory, ({ after, observation, result }) => {
      const completed =
        result.kind === 'changed' && result.transitions.some((transition) => transition.to === 'completed');
      if (!completed || observation.kind !== 'money' || after.payment.quote === null) return;
      expect(after.payment.received.inTime.confirmedUnits).toBeGreaterThanOrEqual(requiredUnits(after.payment.quote));
    });
  });

  it('that pays a completed payment is named by its hash, whatever was taken back, replaced or paid again', () => {
    always(soundHistory, ({ after: { payment, transfers }, observation, result }) => {
      const { completedOnUnits, quote, received, transactionHash } = payment;
      if (observation.kind !== 'money' || result.kind === 'refused' || completedOnUnits === null) return;
      const inBlocks = transfers.filter(
        ({ asset, network, state }) =>
          asset === quote?.asset && network === quote.network && (state === 'mined' || state === 'confirmed'),
      );
      if (received.all.minedUnits < completedOnUnits) return;
      expect(inBlocks.map((each) => each.transactionHash)).toContain(transactionHash);
      // The first transfers are enough with the named one, and not without; confirmed ones count before unconfirmed
      // ones.
      const confirmed = inBlocks.filter(({ state }) => state === 'confirmed');
      const counted = received.all.confirmedUnits >= completedOnUnits ? confirmed : inBlocks;
      const place = counted.findIndex((each) => each.transactionHash === transactionHash);
      const sumTo = (end: number): bigint => counted.slice(0, end).reduce((sum, each) => sum + each.amountUnits, 0n);
      expect(sumTo(place)).toBeLessThan(completedOnUnits);
      expect(sumTo(place + 1)).toBeGreaterThanOrEqual(completedOnUnits);
    });
  });

  it('in time never expires: a deadline ends only what is not paid in full', () => {
    always(wildHistory, ({ before, after, observation, result }) => {
      if (observation.kind !== 'deadline' || result.kind !== 'changed') return;
      const { seenUnits } = before.payment.received.inTime;
      const { quote, status } = before.payment;
      const required = quote === null ? 1n : requiredUnits(quote);
      const why = status === 'processing' ? 'unconfirmed' : seenUnits > 0n ? 'underpaid' : null;
      expect(status === 'processing' || seenUnits < required).toBe(true);
      expect(after.payment).toMatchObject({ status: why === null ? 'expired' : 'failed', failureReason: why });
    });
  });
});

describe('time', () => {
  it('ends nothing before its deadline, nor before the rail has seen everything up to it', () => {
    always(soundHistory, ({ before, observation, result }) => {
      if (observation.kind !== 'deadline' || observation.seenUpTo === 'by_hand' || result.kind !== 'changed') return;
      const { status, graceUntil, expiresAt, quote } = before.payment;
      const due = status === 'processing' ? expiresAt + DEFAULT_POLICY.monitoringMs : (graceUntil ?? expiresAt);
      expect(before.now).toBeGreaterThanOrEqual(due);
      expect(quote === null || observation.seenUpTo >= due).toBe(true);
    });
  });

  it('leaves nothing open for ever: what is due, or confirms, or has ended', () => {
    always(wildHistory, ({ after: { payment } }) => {
      const waits = !FINAL.has(payment.status) && payment.status !== 'confirming';
      expect(nextDueAt(payment) !== null).toBe(waits || payment.completesAt !== null);
      expect(FINAL.has(payment.status) && payment.completesAt !== null).toBe(false);
    });
  });

  it('gives grace only to what was lost after expiry, always of 60 minutes', () => {
    always(wildHistory, ({ before, after }) => {
      if (after.payment.graceUntil === before.payment.graceUntil) return;
      expect(after.payment.graceUntil).toBe(before.now + 60 * MINUTE_MS);
      expect(before.now).toBeGreaterThanOrEqual(EXPIRES_AT);
      expect(['processing', 'confirming']).toContain(before.payment.status);
    });
  });

  it('leaves no verdict open: repeating an observation changes nothing', () => {
    always(soundHistory, ({ after, observation, result }) => {
      if (observation.kind !== 'money' || result.kind === 'refused') return;
      const { payment, transfers, now } = after;
      const quote = payment.quote ?? ETH_QUOTE;
      const paysUnits = payment.completedOnUnits ?? undefined;
      const received = sumTransfers(quote, transfers, inTimeUntil(payment), paysUnits);
      const again: Observation = { kind: 'money', received };
      expect(transition(payment, again, now)).toEqual({ kind: 'unchanged' });
    });
  });
});

describe('these histories', () => {
  it('walk every transition of the table, so that the guarantees above are tried', () => {
    const drawn = Object.entries(TRANSITIONS).flatMap(([from, targets]) => targets.map((to) => `${from} > ${to}`));
    const samples = fc.sample(fc.tuple(start, soundHistory), { seed: 20_260_115, numRuns: 1_500 });
    const walked = new Set(
      samples.flatMap(([payment, steps]) =>
        transitionsOf(live(payment, steps)).map(({ from, to }) => `${from} > ${to}`),
      ),
    );
    expect([...walked].toSorted()).toEqual(drawn.toSorted());
  });
});
