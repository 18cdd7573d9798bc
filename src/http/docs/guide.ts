import { html, type Html } from '../pages/html.ts';
import { codeBlock, inline, paragraphs } from './blocks.ts';
import { curl } from './reference.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { SIGNATURE_CHECKS } from '../signature-checks.ts';

const json = (value: object): string => JSON.stringify(value, null, 2);

/** From a key to a paid order. */
export function renderQuickstart({ servers, paths }: OpenApiDocument, program: string): Html {
  const sandbox = servers[0]?.url ?? '';
  const answer = paths['/v1/orders']?.['post']?.responses['200']?.content?.['application/json']?.example;
  const order = { amount: 25, currency: 'USD', crypto_currency: 'BTC', order_id: 'A-1001' };
  return html`<section id="quickstart" class="part">
    <h2>Quickstart</h2>
    <ol class="steps">
      <li>
        <h3>Get a test key</h3>
        <p>
          Cointill prints a test key when it first starts. The following command creates another test key.
          <code>${program} project list</code> shows the project’s id.
        </p>
        ${codeBlock(`${program} key create --project ID --mode test --kind secret --permission full --name Server`, {
          label: 'On the server',
          language: 'sh',
        })}
        ${codeBlock('export KEY=sk_test_…', { label: 'In your shell', language: 'sh' })}
      </li>
      <li>
        <h3>Create an order</h3>
        ${codeBlock(curl({ url: `${sandbox}/v1/orders`, method: 'POST', body: json(order) }), {
          label: 'Request',
          language: 'sh',
          curl: 'quickstart-create',
        })}
        ${codeBlock(json(answer ?? {}), { label: 'Response', language: 'json' })}
      </li>
      <li>
        <h3>Send the customer to <code>payment_url</code></h3>
        <p>
          The page shows the amount, the address and a QR code, and follows the payment. In test mode, no money moves.
          The order completes automatically after 60 seconds. On the page, you can simulate other outcomes instead.
        </p>
      </li>
      <li>
        <h3>Ship when the order is <code>completed</code></h3>
        <p>
          A <a href="/docs/api#webhooks-guide">webhook</a> tells you when that happens. You can also read the order:
        </p>
        ${codeBlock(curl({ url: `${sandbox}/v1/orders/$ORDER_ID`, method: 'GET' }), {
          label: 'Request',
          language: 'sh',
          curl: 'quickstart-read',
        })}
      </li>
    </ol>
  </section>`;
}

/** The topics that most shops need in addition. */
export function renderExamples({ servers }: OpenApiDocument): Html {
  const [sandbox = '', live = ''] = servers.map(({ url }) => url);
  const choose = { amount: 49.99, currency: 'EUR', order_id: 'A-1002', success_url: 'https://shop.example/thanks' };
  const safely = { amount: 120, currency: 'EUR', crypto_currency: 'USDC', network: 'base', order_id: 'A-1003' };
  return html`<section id="examples" class="part">
    <h2>Three examples</h2>
    ${renderExample({
      id: 'example-choose',
      heading: 'Let the customer choose the coin',
      text: 'A transaction has an amount in your currency, and the payment page offers every coin that you accept. The Transaction API is served at the live address, even for test keys. The key decides the mode.',
      label: 'Create a transaction',
      post: { url: `${live}/api/transactions/create`, body: json(choose) },
    })}
    ${renderExample({
      id: 'example-retry',
      heading: 'Retry safely, without a second payment',
      text: 'Send an `Idempotency-Key` with every request that creates a payment. If the connection breaks, send the same request again. Within 24 hours, a request with the same `Idempotency-Key` and body gets the first response again and never creates a second payment.',
      label: 'Create an order safely',
      post: { url: `${sandbox}/v1/orders`, idempotencyKey: 'order-A-1003', body: json(safely) },
    })}
    ${renderExample({
      id: 'example-refund',
      heading: 'Refund a payment',
      text: 'You can refund a payment in full or in part once it has ended. If you give no `address`, the response contains `claim_url`, the link to a page on which the customer enters an address.',
      label: 'Refund an order',
      post: {
        url: `${sandbox}/v1/refunds`,
        body: `{\n  "order_id": "'$ORDER_ID'",\n  "amount": 5,\n  "reason": "One mug was broken"\n}`,
      },
    })}
  </section>`;
}

function renderExample(example: {
  readonly id: string;
  readonly heading: string;
  readonly text: string;
  readonly label: string;
  readonly post: Omit<Parameters<typeof curl>[0], 'method'>;
}): Html {
  const { id, heading, text, label, post } = example;
  return html`<h3 id="${id}">${heading}</h3>
    <p>${inline(text)}</p>
    ${codeBlock(curl({ ...post, method: 'POST' }), { label, language: 'sh', curl: id })}`;
}

/** How events arrive and how to verify them. */
export function renderWebhooksGuide(document: OpenApiDocument, program: string): Html {
  const events = Object.entries(document.webhooks).map(([type, methods]) => ({ type, operation: methods['post'] }));
  return html`<section id="webhooks-guide" class="part">
    <h2>Webhooks</h2>
    <p>Register an endpoint. Its secret is shown only once.</p>
    ${codeBlock(`${program} webhook create --project ID --mode test --url https://shop.example/webhooks --events all`, {
      label: 'On the server',
      language: 'sh',
    })}
    <p>
      ${inline('Respond with any 2xx status within 15 seconds. Otherwise, the delivery is tried again, with up to ten attempts within three days. An event may arrive twice, and events may arrive out of order. Remember the `id` of each event, and sort events by `sequence`.')}
    </p>
    ${codeBlock(json(EVENT), { label: 'An event', language: 'json' })}
    <h3 id="signature">Check the signature</h3>
    <p>
      ${inline('`x-service-signature` is the lowercase hex HMAC-SHA256 of the raw body, keyed with the whole secret. Check the signature before you parse the body. The headers of Standard Webhooks are sent as well, so you can also verify events with a Standard Webhooks library.')}
    </p>
    ${SIGNATURE_CHECKS.map(
      ({ name, language, code }, index) =>
        html`<details name="signature" ${index === 0 && html` open`}>
          <summary>${name}</summary>
          ${codeBlock(code, { label: name, language })}
        </details>`,
    )}
    <h3 id="event-types">Event types</h3>
    <dl class="fields">
      ${events.map(
        ({ type, operation }) =>
          html`<div>
            <dt><code>${type}</code></dt>
            <dd>${inline(operation?.summary ?? '')}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

/** The rules of every route, in the document's own words. */
export function renderBasics({ info, servers }: OpenApiDocument): Html {
  const [, ...rules] = info.description.split('\n\n');
  return html`<section id="basics" class="part">
    <h2>Keys, limits and formats</h2>
    <dl class="fields">
      ${servers.map(
        ({ url, description }) =>
          html`<div>
            <dt>${description}</dt>
            <dd><code>${url}</code></dd>
          </div>`,
      )}
    </dl>
    ${paragraphs(rules.join('\n\n'))}
  </section>`;
}

const EVENT = {
  id: 'evt_01kadfw4t3f7vb8y2z6m5n9qrs',
  type: 'order.completed',
  created_at: '2026-01-31T12:09:41.000Z',
  sequence: 3,
  data: {
    id: 'ord_01kadfw4t3f7vb8y2z6m5n9qrs',
    object: 'order',
    status: 'completed',
    amount: 25,
    currency: 'USD',
    crypto_currency: 'BTC',
    crypto_amount: 0.00041667,
    metadata: { order_id: 'A-1001' },
  },
};
