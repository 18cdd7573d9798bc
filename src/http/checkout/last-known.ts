import type { Payment } from '../../domain/payment.ts';
import type { Project } from '../../store/projects/projects.ts';
import type { PayingFacts } from './facts.ts';
import type { PageFacts } from './present.ts';

/** All that a payment's page is made of, beside the request. */
export interface PageMaterial {
  readonly payment: Payment;
  readonly project: Project | null;
  readonly facts: PageFacts;
  readonly paying: PayingFacts;
  /** When it was read, in epoch milliseconds. */
  readonly readAt: number;
}

/** What this process last read of the payments whose pages were asked for. */
export interface LastKnown {
  keep(material: PageMaterial): void;
  find(payment: Pick<Payment, 'id' | 'surface'>): PageMaterial | null;
}

/** Some kilobytes each. */
const MAX_KEPT = 1_000;

/** Keeps the newest. A page does not show the merchant's metadata, which may be the largest part of a payment. */
export function createLastKnown(): LastKnown {
  const kept = new Map<string, PageMaterial>();
  return {
    keep: (material) => {
      const { id } = material.payment;
      // A map keeps the order of insertion: its first key was asked for longest ago.
      kept.delete(id);
      const [oldest] = kept.keys();
      if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(id, { ...material, payment: { ...material.payment, metadata: {} } });
    },
    find: ({ id, surface }) => {
      const known = kept.get(id);
      return known?.payment.surface === surface ? known : null;
    },
  };
}
