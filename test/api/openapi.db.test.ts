import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { acceptPayment, completeSandboxPayment, selectToken } from '../../src/app/payments/payment-actions.ts';
import { payRequest } from '../../src/app/payment-requests/pay-request.ts';
import { settleDueRequests } from '../../src/app/payment-requests/settle-requests.ts';
import { decodeId } from '../../src/domain/id.ts';
import { simulateOutcome } from '../../src/app/sandbox/simulate-outcome.ts';
import { createRefund } from '../../src/app/refunds/create-refund.ts';
import { cancelRefund } from '../../src/app/refunds/change-refund.ts';
import { runDueRefunds } from '../../src/app/refunds/end-refunds.ts';
import { sandboxAddress } from '../../src/rails/sandbox/sandbox.ts';
import { EVENT_TYPES, isEventType } from '../../src/domain/event-type.ts';
import { PAYMENT_APIS } from '../../src/domain/payment.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import { SIMULATIONS } from '../../src/domain/simulation.ts';
import { PAYMENT_STATUSES } from '../../src/domain/status.ts';
import { PAYMENT_ROUTES } from '../../src/http/payment-routes.ts';
import { eventShape } from '../../src/http/openapi/webhook-schema.ts';
import { httpTest } from '../http.ts';
import { responseFaults } from '../response-shape.ts';

const http = await httpTest();
afterAll(() => http.close());

type Json = Readonly<Record<string, unknown>>;
interface Operation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description: string }[];
  readonly responses: Readonly<Record<string, Json>>;
}
interface Document {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<'schemas' | 'responses' | 'headers', Readonly<Record<string, Json>>>>;
}

const { body: document, text } = await http.call<Document>({ path: '/openapi.json' });
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** Every object in the document, with where it stands. */
function* walk(value: unknown, at = '#'): Generator<readonly [string, Json]> {
  if (value === null || typeof value !== 'object') return;
  yield [at, value as Json];
  for (const [name, part] of Object.entries(value)) yield* walk(part, `${at}/${name}`);
}

function resolve(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => Reflect.get(Object(value), name), document);
}

describe('the document', () => {
  it('is OpenAPI 3.1 with the parts that tools need', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Cointill', version: '1', license: { name: 'MIT' } },
      servers: [{ url: 'https://sandbox.api.example' }, { url: 'https://api.example' }],
      security: [{ apiKey: [] }],
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    });
  });

  it('refers only to what is there, and names nothing that nobody refers to', () => {
    const references = new Set([...walk(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : [])));
    expect([...references].filter((reference) => resolve(reference) === undefined)).toEqual([]);
    const named = (['schemas', 'responses', 'headers'] as const).flatMap((part) =>
      Object.keys(document.components[part]).map((name) => `#/components/${part}/${name}`),
    );
    expect(named.filter((name) => !references.has(name))).toEqual([]);
  });

  it('has only schemas that JSON Schema 2020-12 takes, and examples that they take', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema({ $id: 'doc', components: document.components });
    const faults: string[] = [];
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const validate = ajv.compile({ $ref: `doc#/components/schemas/${name}` });
      const examples = Array.isArray(schema['examples']) ? schema['examples'] : [];
      for (const example of examples)
        if (!validate(example)) faults.push(`${name}: ${ajv.errorsText(validate.errors)}`);
      if (!ajv.validateSchema({ ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema' }))
        faults.push(`${name}: ${ajv.errorsText()}`);
    }
    for (const [at, part] of walk({ paths: document.paths })) {
      const { schema, example } = part;
      if (example === undefined || schema === undefined) continue;
      const pointer = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"doc#/components')) as Json;
      if (!ajv.validate(pointer, example)) faults.push(`${at}: ${ajv.errorsText()}`);
    }
    expect(faults).toEqual([]);
    const shown = operations.filter(({ operation }) => JSON.stringify(operation).includes('"example":{'));
    expect(shown.length).toBeGreaterThanOrEqual(8);
    expect(document.components.schemas['Transaction']).toHaveProperty('examples');
  });

  it('reveals nothing of how fields are checked, and has every description', () => {
    expect(text).not.toMatch(/x-rule|~kind|Default Response|"undefined"/);
    const bare = operations.filter(
      ({ operation: { summary, description } }) => !(summary.length > 10 && description.length > 10),
    );
    expect(bare.map(({ path }) => path)).toEqual([]);
    const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []);
    expect(parameters.filter(({ name, description }) => name !== 'status' && description === undefined)).toEqual([]);
  });

  it('names each operation once, below a described tag, with every parameter of its path', () => {
    const hooks = Object.values(document.webhooks).flatMap((item) => Object.values(item));
    const ids = [...operations.map(({ operation }) => operation), ...hooks].map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const { path, operation } of operations) {
      expect(operation.tags.every((tag) => tags.has(tag))).toBe(true);
      const inPath = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  it('documents each answer with its body, meaning and headers; changes take an Idempotency-Key', () => {
    for (const { path, method, operation } of operations) {
      const { responses, parameters = [] } = operation;
      const changes = method === 'post';
      const own = [...(changes ? ['409'] : []), ...(path === '/v1/events' ? ['410'] : [])];
      const statuses = ['200', '400', '401', '403', '404', ...own, '429', '500', '503'];
      expect([path, Object.keys(responses)]).toEqual([path, statuses]);
      for (const [status, response] of Object.entries(responses)) {
        const told = typeof response['$ref'] === 'string' ? resolve(response['$ref']) : response;
        expect(told).toMatchObject({
          description: expect.stringMatching(/\.$/),
          content: { 'application/json': { schema: expect.any(Object) } },
          headers: {
            'X-RateLimit-Limit': expect.any(Object),
            'X-RateLimit-Remaining': expect.any(Object),
            'X-RateLimit-Reset': expect.any(Object),
          },
        });
        const special = Object.keys(Object(Object(told).headers)).filter((name) => !name.startsWith('X-'));
        const expected =
          status === '429' ? ['Retry-After'] : status === '200' && changes ? ['Idempotent-Replayed'] : [];
        expect(special).toEqual(expected);
      }
      expect(parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(changes);
    }
  });

  it('has every field that the specification names', () => {
    const fieldsOf = (name: string): readonly string[] =>
      Object.keys(Object(document.components.schemas[name]?.['properties']));
    const spec: Readonly<Record<string, string>> = {
      CreateTransaction:
        'amount customer_email customer_name order_id order_description success_url cancel_url expires_in_minutes',
      Transaction:
        'id transaction_number status amount_usd currency payment_url created_at expires_at transaction_hash completed_at',
      Statistics: 'total_transactions total_volume_usd completed_transactions conversion_rate by_status',
      Pagination: 'limit offset total has_more',
      CreateOrder: 'amount currency crypto_currency description customer_email return_url cancel_url expires_in',
      CreatedOrder: 'id status amount currency crypto_currency crypto_amount payment_url expires_at created_at',
      OrderEvent: 'id type created_at data',
      OrderEventData:
        'id status amount currency crypto_currency crypto_amount transaction_hash customer_email metadata',
    };
    for (const [name, fields] of Object.entries(spec))
      expect(fieldsOf(name)).toEqual(expect.arrayContaining(fields.split(' ')));
    expect(Object(document.components.schemas['Statistics']?.['properties']).by_status.required).toEqual([
      ...PAYMENT_STATUSES,
    ]);
  });
});

describe('the webhooks', () => {
  it('are the ten events, each with its signature and its body', () => {
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES]);
    for (const { post } of Object.values(document.webhooks)) {
      expect(post).toMatchObject({
        parameters: expect.arrayContaining([expect.objectContaining({ name: 'x-service-signature', in: 'header' })]),
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: expect.any(String) } } } },
      });
    }
  });

  it('are what is really sent: every event of every way that a payment or refund can go', async () => {
    const shop = await http.shop();
    for (const api of PAYMENT_APIS) {
      for (const simulation of [...SIMULATIONS, 'complete', 'cancel', 'accept'] as const) {
        const made = await http.app.pay({
          projectId: shop.projectId,
          api,
          token: api === 'order' ? { asset: 'ETH', network: null } : null,
          metadata: { cart: '7' },
          customerEmail: 'anna@example.com',
        });
        const selector = { id: made.id };
        if (simulation === 'complete') await completeSandboxPayment(http.app, selector);
        else if (simulation === 'cancel') {
          const id = publicPaymentId({ id: made.id, api });
          await shop.call({ method: 'POST', path: `${PAYMENT_ROUTES[api].path}/${id}/cancel` });
        } else if (simulation === 'accept') {
          await selectToken(http.app, selector, { asset: 'BTC', network: null });
          await simulateOutcome(http.app, selector, 'late');
          await acceptPayment(http.app, selector);
        } else await simulateOutcome(http.app, selector, simulation);
        const { quote } = await http.app.read(made.id);
        const address = quote && sandboxAddress(quote.network, 'the customer');
        for (const reason of ['test_failure', 'worn out', 'cancel']) {
          const request = {
            projectId: shop.projectId,
            mode: 'test',
            api,
            paymentId: made.id,
            address,
          } as const;
          const refund = await createRefund(http.app, { ...request, reason, wanted: { amountMinor: 100n } }, null);
          if (refund.kind === 'done' && reason === 'cancel') await cancelRefund(http.app, { id: refund.refund.id });
        }
      }
    }
    http.clock.advance(10_000);
    await runDueRefunds(http.app, 1_000);
    const refunded = await http.app.db
      .selectFrom('refunds')
      .select('payment_id')
      .where('status', '=', 'completed')
      .execute();
    for (const { payment_id: id } of refunded) await simulateOutcome(http.app, { id }, 'refund_reorged');
    for (const fields of [{ amount: 5 }, { amount: 5, max_payments: 2 }]) {
      const body = { title: 'Tea', currency: 'EUR', ...fields };
      const request = (await shop.call({ path: '/v1/payment_requests', body })).body;
      const payer = { amountMinor: null, email: null, name: null, note: null, invoiceId: null };
      const paid = await payRequest(http.app, decodeId('request', request.id) ?? '', payer);
      if (paid.kind === 'invoice') await simulateOutcome(http.app, { id: paid.payment.id }, 'paid');
      await settleDueRequests(http.app, 100);
      await shop.call({ method: 'POST', path: `/v1/payment_requests/${request.id}/close` });
    }
    const rows = await http.app.db.selectFrom('events').select(['type', 'body']).execute();
    const faults = rows.flatMap(({ type, body }) =>
      isEventType(type)
        ? responseFaults({ 200: eventShape(type) }, 200, body).map((fault) => `${body}: ${fault}`)
        : [type],
    );
    expect(faults).toEqual([]);
    // Money of a restored database exists on chains alone; its event is compared with its shape in the tests of chains.
    const others = EVENT_TYPES.filter((type) => type !== 'payment.lost');
    expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(others));
  });
});
