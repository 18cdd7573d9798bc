/** Examples of the commands that need no more than an address and a key. */
export const CLIENT_EXAMPLES = {
  listen: ['listen --forward-to localhost:3000/webhooks'],
  'events list': ['events list --since 24h --events order.completed'],
  'events get': ['events get evt_…'],
  'events resend': ['events resend evt_…', 'events resend evt_… --forward-to localhost:3000/webhooks'],
  'events tail': ['events tail --json'],
  trigger: ['trigger order.completed', 'trigger invoice.completed', 'trigger refund.completed --order ord_…'],
  verify: ['verify --secret whsec_… < request.txt'],
  'invoice create': ['invoice create --amount 49.90 --currency EUR --order A-1001'],
  'invoice list': ['invoice list --status pending'],
  'invoice show': ['invoice show inv_…'],
  'invoice cancel': ['invoice cancel inv_…'],
  'invoice complete': ['invoice complete inv_…'],
  'request create': [
    "request create --title 'Deposit' --amount 250 --currency EUR",
    "request create --title 'Coffee for the crew' --currency EUR --payments any --min 1 --ask name,note",
  ],
  'request list': ['request list --status open'],
  'request show': ['request show req_…'],
  'request close': ['request close req_…'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
