import type { KnownEvent } from './api.generated.ts';

/** The types of events that this version knows. */
export type EventType = KnownEvent['type'];

/** Any other text: a mark for the compiler alone, so that a comparison with a known type narrows the event. */
declare enum LaterType {
  any = 'any',
}

/** An event of a later version of the service. */
export interface UnknownEvent {
  readonly id: string;
  /** The type as a text that this version does not know. */
  readonly type: LaterType;
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
