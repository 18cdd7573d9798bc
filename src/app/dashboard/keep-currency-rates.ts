import { FIATS } from '../../domain/money.ts';
import { keepCurrencyRates } from '../../store/figures/currency-rates.ts';
import type { App } from '../context.ts';

/** Keeps what currencies are worth at this hour, so that figures can be shown in any of them later. */
export async function keepRates({ db, clock, railFor }: Pick<App, 'db' | 'clock' | 'railFor'>): Promise<boolean> {
  for (const mode of ['live', 'test'] as const) {
    const { rates } = railFor(mode);
    const prices = new Map(
      FIATS.flatMap((code) => {
        const price = code === 'USD' ? null : rates.usdPrice(code);
        return price === null ? [] : [[code, price] as const];
      }),
    );
    if (prices.size > 0) await keepCurrencyRates(db, mode, clock(), prices);
  }
  return false;
}
