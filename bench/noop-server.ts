import Fastify from 'fastify';

/** The yardstick: a Fastify route that takes an order's body and answers an order's shape, and does nothing else. */
const app = Fastify();
const order = {
  id: 'ord_06f0x5n2m1r7qck3v8w9y4zabc',
  status: 'pending',
  amount: 25,
  currency: 'USD',
  crypto_currency: 'BTC',
  crypto_amount: 0.00041667,
  payment_url: 'http://127.0.0.1:4001/pay/ord_06f0x5n2m1r7qck3v8w9y4zabc',
  expires_at: '2026-01-01T00:30:00.000Z',
  created_at: '2026-01-01T00:00:00.000Z',
};
const body = {
  type: 'object',
  required: ['amount', 'currency', 'crypto_currency'],
  properties: {
    amount: { type: 'number' },
    currency: { type: 'string' },
    crypto_currency: { type: 'string' },
    description: { type: 'string' },
    customer_email: { type: 'string' },
  },
} as const;
app.post('/v1/orders', { schema: { body } }, () => order);
app.get('/v1/orders/:id', () => order);
app.get('/pay/:id', (_request, reply) => reply.type('text/html; charset=utf-8').send('<!doctype html><p>Hello</p>'));

/** A document as long as the measured one, because sending it costs more than everything else that a no-op does. */
const documents = new Map<string, string>();
app.get('/document/:length', (request, reply) => {
  const { length } = request.params as { readonly length: string };
  const document = documents.get(length) ?? `<!doctype html><p>${'Hello '.repeat(20_000)}`.slice(0, Number(length));
  documents.set(length, document);
  return reply.type('text/html; charset=utf-8').send(document);
});

const address = await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${JSON.stringify({ url: address })}\n`);
