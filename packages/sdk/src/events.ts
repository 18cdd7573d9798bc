import type { EventDetails, EventPage, Operations, ResentEvent } from './api.generated.ts';
import type { CallOptions } from './connection.ts';
import { consume, type Consuming, type LoggedEvent } from './consume.ts';
import type { EventType } from './event.ts';
import { Resource } from './resource.ts';

type Query = Omit<Operations['GET /v1/events']['query'], 'types'> & {
  readonly types?: readonly EventType[] | undefined;
};

/**
 * The log of all events, with or without webhooks.
 *
 * @example
 * const events = new Events({ key, url });
 */
export class Events extends Resource {
  /**
   * Reads one page of the log, oldest first. Send its `next` as `after` to read on; `consume` does so by itself.
   *
   * @example
   * const { data, next } = await cointill.events.list({ after: 'start', types: ['order.completed'] });
   */
  list({ types, ...query }: Query = {}, options?: CallOptions): Promise<EventPage> {
    const filtered = types === undefined ? query : { ...query, types: types.join(',') };
    return this.connection.call('GET /v1/events', { query: filtered }, options);
  }

  /**
   * Reads an event and its deliveries.
   *
   * @example
   * const { event, deliveries } = await cointill.events.get(eventId);
   */
  get(id: string, options?: CallOptions): Promise<EventDetails> {
    return this.connection.call('GET /v1/events/{id}', { id }, options);
  }

  /**
   * Sends an event again, to every endpoint that is on or to one.
   *
   * @example
   * const { deliveries } = await cointill.events.resend(eventId);
   */
  resend(id: string, body: { endpoint?: string } = {}, options?: CallOptions): Promise<ResentEvent> {
    return this.connection.call('POST /v1/events/{id}/resend', { id, body }, options);
  }

  /**
   * Reads all events from a position on, and waits for more until the loop is left.
   *
   * After the events of a page were handled, `save` gets the position to begin with next time. After a crash, or if the
   * loop is left in the middle of a page, the events since then come again: handle each `event.id` once.
   *
   * @example
   * for await (const event of cointill.events.consume({ from: await lastPosition(), save: savePosition })) {
   *   console.log(event.position, event.type);
   *   break;
   * }
   */
  consume(consuming: Consuming = {}): AsyncGenerator<LoggedEvent, void, undefined> {
    return consume((query, options) => this.list(query, options), consuming);
  }
}
