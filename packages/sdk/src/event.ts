import type { KnownEvent } from './api.generated.ts';

/** The types of events that this version knows. */
export type EventType = KnownEvent['type'];

declare const unknownType: unique symbol;

/** An event of a later version of the service. */
export interface UnknownEvent {
  readonly id: string;
  /** Any other text. The mark keeps it apart from the known types, so that a comparison narrows the event. */
  readonly type: string & { readonly [unknownType]: true };
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * An event, narrowed by its `type`.
 *
 * @example
 * if (event.type === 'order.completed') console.log(event.data.metadata.order_id, event.data.crypto_amount_text);
 */
export type Event = KnownEvent | UnknownEvent;
