import { Type, type Static } from 'typebox';
import { EVENT_TYPES } from '../../domain/event-type.ts';
import { MAX_WAIT_SECONDS } from '../../domain/event-log.ts';
import { PAYMENT_ID_FORMS } from '../../domain/payment-kind.ts';
import { described, integer, nullable, oneOf, time } from '../fields.ts';

export const listEventsQuery = Type.Object({
  after: Type.Optional(
    described(
      'Lists the entries after this one: a position, the `next` of the last answer, or the id of an event (evt_…). `start` is before the oldest event, `now` after the newest. The default is `start`.',
      { examples: ['start', '41'] },
    ),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Maximum number of entries, 1 to 500.' }),
  ),
  types: Type.Optional(
    described('Lists only events of these types, separated by commas.', {
      examples: ['order.completed,order.expired'],
    }),
  ),
  payment: Type.Optional(
    described(`Lists only the events of this payment (${PAYMENT_ID_FORMS}).`, { examples: ['ord_…'] }),
  ),
  wait: Type.Optional(
    integer(
      0,
      MAX_WAIT_SECONDS,
      'The number of seconds to wait for the first entry, if there is none yet. The response comes as soon as there is one.',
    ),
  ),
});
export type ListEventsQuery = Static<typeof listEventsQuery>;

const position = Type.Integer({
  minimum: 1,
  description: 'The place in the log of this project and mode: 1, 2, 3 … None is left out, and none is used twice.',
});

const eventShape = Type.Unsafe<object>({
  type: 'object',
  description: 'The event, byte for byte as webhooks carry it.',
  additionalProperties: true,
});

const gapShape = Type.Object(
  {
    position,
    gap: Type.Object({
      from: Type.Integer({ description: 'The first position of the gap; the last one is `position`.' }),
      to: Type.Integer(),
      reason: Type.Unsafe<string>({ type: 'string', enum: ['restored', 'recovered'] }),
    }),
  },
  {
    title: 'EventGap',
    description:
      'Positions whose events are unknown, because the service was restored from a backup or recovered. Read the payments that matter to you again.',
  },
);

export const eventPageShape = Type.Object(
  {
    data: Type.Array(Type.Union([Type.Object({ position, event: eventShape }, { title: 'EventEntry' }), gapShape])),
    next: described('What to send as `after` to read on.', { examples: ['42'] }),
    head: Type.Integer({ description: 'The position of the newest entry; 0 while there is none.' }),
    oldest: Type.Integer({ description: 'The oldest position that is kept.' }),
  },
  { title: 'EventPage' },
);

export const eventDetailShape = Type.Object(
  {
    position: nullable(
      position,
      'Null for the moment before the event is in the log, and for test events of webhooks.',
    ),
    event: eventShape,
    deliveries: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The id of the delivery.' }),
        endpoint: Type.String({ description: 'The id of the endpoint (we_…).' }),
        url: Type.String(),
        state: oneOf(['waiting', 'delivered', 'failed', 'stopped']),
        attempts: Type.Integer(),
        next_attempt_at: nullable(time()),
        last_status: nullable(Type.Integer(), 'The status code of the latest response; null without one.'),
      }),
      { description: 'Its deliveries to webhook endpoints. They are deleted after 90 days.' },
    ),
  },
  { title: 'EventDetails' },
);

export const resendBody = Type.Object({
  endpoint: Type.Optional(
    Type.String({ description: 'The id of the endpoint (we_…). Default: every endpoint of the project that is on.' }),
  ),
});
export type ResendBody = Static<typeof resendBody>;

export const resentShape = Type.Object(
  { deliveries: Type.Array(Type.Object({ id: Type.String(), endpoint: Type.String() })) },
  { title: 'ResentEvent', description: `The new deliveries. Types of events: ${EVENT_TYPES.join(', ')}.` },
);
