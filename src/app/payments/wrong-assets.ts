import type { Payment, Quote } from '../../domain/payment.ts';
import type { ConfirmedTransfer } from '../../store/payments/transfers.ts';
import type { NewEvent, PaymentChange } from '../../store/payments/save-changes.ts';
import { wrongAssetEventData } from '../../wire/event.ts';
import type { App } from '../context.ts';
import { newEvent } from '../events.ts';

/** The change with an event for each of these transfers, which are in assets that the payment never asked for. */
export function withWrongAssets(
  app: App,
  change: PaymentChange,
  wrong: readonly ConfirmedTransfer[],
  now: number,
): PaymentChange {
  const { after } = change;
  const events: NewEvent[] = [];
  for (const [at, transfer] of wrong.entries()) {
    const { asset, network } = transfer;
    const data = wrongAssetEventData(after, transfer, tokenDecimals(app, after, { asset, network }));
    events.push(newEvent(app, after, 'payment.wrong_asset', after.lastSequence + at + 1, data, now));
  }
  const lastSequence = after.lastSequence + events.length;
  return { ...change, after: { ...after, lastSequence }, events: [...change.events, ...events] };
}

/** The token's decimals here: the operator may have configured another contract than the well-known one. */
export function tokenDecimals(
  app: Pick<App, 'railFor'>,
  { mode }: Pick<Payment, 'mode'>,
  { asset, network }: Pick<Quote, 'asset' | 'network'>,
): number {
  const decimals = app.railFor(mode).decimals({ asset, network });
  if (decimals === null) throw new Error(`There is no ${asset} on ${network}.`);
  return decimals;
}
