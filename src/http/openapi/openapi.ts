import { SCOPES } from '../../domain/permission.ts';
import { describeWebhooks } from './webhook-schema.ts';

type Json = Readonly<Record<string, unknown>>;

const OVERVIEW = `Accept cryptocurrency payments.

**Payments.** With an invoice (\`/v1/invoices\`), the customer chooses the token on the payment page, in the format of the Order API. With an order (\`/v1/orders\`), you choose the token when you create it. With the Transaction API (\`/api/transactions\`), the customer chooses the token, and its errors have a format of their own. A payment can be read only where it was created.

**Keys.** Send the header \`Authorization: Bearer <key>\` with every request. Secret keys begin with \`sk_test_\` in test mode, where no money moves, and with \`sk_live_\` in live mode. Everything below \`/v1\` accepts live keys at the live address and test keys at the sandbox address. The Transaction API also accepts test keys at the live address. A public key begins with \`pk_test_\` or \`pk_live_\`. It can only create payments and read a payment by its id, without the customer's data. If the project has allowed origins, URLs sent with a public key must be on one of these origins.

**Permissions.** Full Access allows everything, Read Only allows only reading, and Write Only allows only creating and changing. Instead of one of these permissions, a key can have scopes: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}. The description of each call names the scope that the call needs. If the key lacks this scope, the request is rejected (403, \`permission_error\`), and the message lists the scopes of the key.

**Limits.** A test key allows 100 requests per minute, and a live key allows 1000. Requests are counted in fixed windows of one minute. For a public key, this limit applies to each client, and ten times this limit applies to all clients together. Response headers say how many requests are left. A request body is JSON of at most 64 KiB.

**Amounts** are JSON numbers, exact to the last decimal. **Times** are ISO 8601 strings in UTC.`;

/** The document from which the generator starts. */
export function documentHead() {
  return {
    openapi: '3.1.0',
    info: { title: 'Cointill', version: '1', description: OVERVIEW, license: { name: 'MIT', identifier: 'MIT' } },
    tags: [
      { name: 'Transactions', description: 'The customer chooses the token on the payment page.' },
      {
        name: 'Orders',
        description: 'You choose the token when you create the order. The amount can be in any supported currency.',
      },
      {
        name: 'Invoices',
        description: 'The customer chooses the coin on the payment page, at the price of that moment.',
      },
      {
        name: 'Payment requests',
        description: 'Pages that ask for money for weeks, and make an invoice when somebody pays.',
      },
      { name: 'Refunds', description: 'Refunds of payments.' },
      { name: 'Events', description: 'What happened to payments and refunds, in order, with or without webhooks.' },
      { name: 'Webhooks', description: 'Signed events that Cointill sends to your registered endpoints.' },
    ],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http' as const,
          scheme: 'bearer',
          description: 'An API key, which begins with sk_test_, sk_live_, pk_test_ or pk_live_.',
        },
      },
    },
    security: [{ apiKey: [] }],
  };
}

const integer = (description: string) => ({ description, schema: { type: 'integer' } });
const RESPONSE_HEADERS = {
  'X-RateLimit-Limit': { ...integer('Requests allowed in the window.'), required: true },
  'X-RateLimit-Remaining': { ...integer('Requests left in the window.'), required: true },
  'X-RateLimit-Reset': { ...integer('Unix time in seconds when the window ends, rounded up.'), required: true },
  'X-Request-Id': { description: 'Identifies the request in the log.', schema: { type: 'string' } },
  'Retry-After': integer('Seconds until the window ends.'),
  'Idempotent-Replayed': {
    description: 'true if this is the stored response to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'X-Project-Id': {
    description: 'The project of the key, so that a reader keeps its position for the right log.',
    schema: { type: 'string', format: 'uuid' },
  },
  'X-Ignored-Fields': {
    description:
      'Unknown fields of the body. If a name was probably misspelt, the header suggests the right name. The header is absent if all fields are known.',
    schema: { type: 'string' },
    example: 'sucess_url; did you mean success_url?, colour',
  },
};
type HeaderName = keyof typeof RESPONSE_HEADERS;
const ALWAYS: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

const MEANINGS: Readonly<Record<string, string>> = {
  200: 'Success.',
  400: 'The request is not valid. The message names the field and the rule.',
  401: 'The API key is missing or invalid, or it cannot be used at this address (live or sandbox).',
  403: 'The key lacks permission, the IP address is not on the allow-list, the project is not active, or the request was sent over plain HTTP.',
  404: 'The requested object does not exist, or it belongs to another project, mode or API.',
  409: 'The first request with this Idempotency-Key is still running.',
  410: 'What was asked for was deleted, because it is kept for a limited time.',
  429: 'Too many requests.',
  500: 'Something went wrong on our side.',
  503: 'The service cannot handle the request right now. Try again shortly.',
};

/**
 * Completes the generated document of the routes' schemas: titled schemas become components, answers get descriptions
 * and headers, our own rules become formats known to JSON Schema, and the webhooks are added.
 */
export function completeDocument(generated: object): object {
  const { paths, components, ...head } = asRecord(generated);
  const schemas: Record<string, unknown> = {};
  const errors: Record<string, unknown> = {};
  const completed = mapValues(asRecord(paths), (item) =>
    mapValues(asRecord(item), (operation) => complete(operation, errors)),
  );
  const responses = extractNamed(errors, schemas);
  const named = asRecord(extractNamed({ paths: completed, webhooks: describeWebhooks() }, schemas));
  const inOrder = Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    ...head,
    ...named,
    components: { ...asRecord(components), schemas: inOrder, responses, headers: RESPONSE_HEADERS },
  };
}

/** Errors look the same on every route of an API, so they are stored once in `errors` and referred to. */
function complete(operation: unknown, errors: Record<string, unknown>): Json {
  const { responses, ...rest } = asRecord(operation);
  const api = JSON.stringify(rest['tags']) === '["Transactions"]' ? 'Transaction' : 'Order';
  const parameters = Array.isArray(rest['parameters']) ? { parameters: rest['parameters'].map(namedParameter) } : {};
  const takesKey = JSON.stringify(rest['parameters'] ?? []).includes('idempotency-key');
  // Only requests that can have an idempotency key can meet one that is still running.
  const possible = Object.entries(asRecord(responses)).filter(([status]) => status !== '409' || takesKey);
  const documented = possible.map(([status, response]) => {
    const extra: readonly HeaderName[] = [
      ...(status === '429' ? (['Retry-After'] as const) : []),
      ...(status === '200' && takesKey ? (['Idempotent-Replayed'] as const) : []),
      ...(status === '200' && rest['operationId'] === 'listEvents' ? (['X-Project-Id'] as const) : []),
      ...(status === '200' && 'requestBody' in rest ? (['X-Ignored-Fields'] as const) : []),
    ];
    const headers = [...ALWAYS, ...extra].map((name) => [name, { $ref: `#/components/headers/${name}` }]);
    const whole = {
      ...asRecord(response),
      description: MEANINGS[status] ?? '',
      headers: Object.fromEntries(headers),
    };
    if (status === '200') return [status, whole];
    const name = `${api}${status}`;
    errors[name] = whole;
    return [status, { $ref: `#/components/responses/${name}` }];
  });
  return { ...rest, ...parameters, responses: Object.fromEntries(documented) };
}

/** Schemas name headers in lower case because Node does; the document capitalises them. */
function namedParameter(parameter: unknown): Json {
  const record = asRecord(parameter);
  return record['name'] === 'idempotency-key' ? { ...record, name: 'Idempotency-Key' } : record;
}

/** Moves every schema with a title to `schemas` and leaves a reference. */
function extractNamed(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((part) => extractNamed(part, schemas));
  if (!isRecord(value)) return value;
  const copy = mapValues(withFormats(value), (part) => extractNamed(part, schemas));
  const { title } = copy;
  if (typeof title !== 'string' || copy['type'] !== 'object') return copy;
  schemas[title] = copy;
  return { $ref: `#/components/schemas/${title}` };
}

const FORMATS: Readonly<Record<string, Json>> = {
  email: { format: 'email' },
  'http-url': { format: 'uri', description: 'Absolute http or https URL, without a user name.' },
};

function withFormats(schema: Json): Json {
  const { 'x-rule': rule, minLength, ...rest } = schema;
  const bounded = minLength === undefined || minLength === 0 ? rest : { ...rest, minLength };
  return typeof rule === 'string' ? { ...bounded, ...FORMATS[rule] } : bounded;
}

function mapValues(record: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function asRecord(value: unknown): Json {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
