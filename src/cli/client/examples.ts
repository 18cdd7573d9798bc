/** Examples of the commands that need no more than an address and a key. */
export const CLIENT_EXAMPLES = {
  listen: ['listen --forward-to localhost:3000/webhooks'],
  'events list': ['events list --since 24h --events order.completed'],
  'events get': ['events get evt_…'],
  'events resend': ['events resend evt_…', 'events resend evt_… --forward-to localhost:3000/webhooks'],
  'events tail': ['events tail --json'],
  trigger: ['trigger order.completed', 'trigger invoice.completed', 'trigger refund.completed --order ord_…'],
  verify: ['verify --secret whsec_… < request.txt'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
