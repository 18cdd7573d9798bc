import { html, type Child, type Html } from '../pages/html.ts';
import { codeBlock, inline } from './blocks.ts';
import type { OpenApiDocument, Operation, Parameter, Schema } from './openapi-document.ts';

/** Shell variables for path parameters; the guide's examples set the same variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  Transactions: '$TRANSACTION_ID',
  Orders: '$ORDER_ID',
  Invoices: '$INVOICE_ID',
  'Payment requests': '$PAYMENT_REQUEST_ID',
  Refunds: '$REFUND_ID',
  Events: '$EVENT_ID',
};

/** A request that can be pasted into a shell in which `KEY` and the ids are set. */
function curlOf({ servers }: OpenApiDocument, { method, path, operation }: Route): string {
  const [tag = ''] = operation.tags;
  // The Transaction API also accepts test keys at the live address, where it is documented.
  const base = (tag === 'Transactions' ? servers[1] : servers[0])?.url ?? '';
  const filled = path.replace('{projectId}', '$PROJECT_ID').replace('{id}', VARIABLES[tag] ?? '$ID');
  const example = operation.requestBody?.content?.['application/json']?.example;
  const query = queryOf(operation.parameters ?? []);
  return curl({
    url: `${base}${filled}${query}`,
    method,
    ...(example === undefined ? {} : { body: withVariables(example) }),
  });
}

function queryOf(parameters: readonly Parameter[]): string {
  const shown = parameters.find(({ name, in: place }) => place === 'query' && name === 'limit');
  return shown === undefined ? '' : '?limit=10';
}

/** An example with variables for its ids, which belong to another shop. */
function withVariables(example: unknown): string {
  return JSON.stringify(example, null, 2)
    .replaceAll(/"ord_\w+"/g, '"\'$ORDER_ID\'"')
    .replaceAll(/"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,27}"/g, '"\'$TRANSACTION_ID\'"');
}

/** The words of one curl command. */
export function curl(request: {
  readonly url: string;
  readonly method: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
}): string {
  const { url, method, body, idempotencyKey } = request;
  const needsMethod = method !== 'GET' && body === undefined;
  const words = [
    `curl ${needsMethod ? `-X ${method} ` : ''}"${url}"`,
    '-H "Authorization: Bearer $KEY"',
    ...(idempotencyKey === undefined ? [] : [`-H "Idempotency-Key: ${idempotencyKey}"`]),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${body.replaceAll('\n', '\n  ')}'`]),
  ];
  return words.join(' \\\n  ');
}

/** Routes in the document's order, with their anchors on the page. */
export interface Route {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function routesOf(document: OpenApiDocument, tag: string): readonly Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ id: operation.operationId, method: method.toUpperCase(), path, operation })),
  );
}

/** All routes of a tag: parameters, an example, and answers. */
export function renderTag(document: OpenApiDocument, tag: OpenApiDocument['tags'][number]): Html {
  const routes = routesOf(document, tag.name);
  return html`<section id="${tag.name.toLowerCase()}" class="part">
    <h2>${tag.name}</h2>
    <p>${inline(tag.description)}</p>
    ${routes.map((route) => renderRoute(document, route))}
  </section>`;
}

function renderRoute(document: OpenApiDocument, route: Route): Html {
  const { operation, method, path } = route;
  const body = operation.requestBody?.content?.['application/json'];
  const success = operation.responses['200']?.content?.['application/json'];
  return html`<article id="${route.id}" class="route">
    <h3>${operation.summary}</h3>
    <p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
    ${operation.description === undefined ? null : html`<p>${inline(operation.description)}</p>`}
    <div class="sides">
      <div>
        ${parameters(operation, 'path', 'In the path')} ${parameters(operation, 'query', 'In the query')}
        ${
          body === undefined
            ? null
            : html`<h4>Body</h4>
                ${fields(document, body.schema)}`
        }
        ${parameters(operation, 'header', 'Headers')}
        <h4>Responses</h4>
        ${answers(document, operation)}
      </div>
      <div>
        ${codeBlock(curlOf(document, route), { label: 'Request', language: 'sh', curl: route.id })}
        ${
          success?.example === undefined
            ? null
            : codeBlock(JSON.stringify(success.example, null, 2), { label: '200', language: 'json' })
        }
      </div>
    </div>
  </article>`;
}

function parameters(operation: Operation, place: Parameter['in'], title: string): Html | null {
  const own = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
  if (own.length === 0) return null;
  const rows = own.map(({ name, schema, description, required }) =>
    field(name, { ...schema, ...(description === undefined ? {} : { description }) }, required === true),
  );
  return html`<h4>${title}</h4>
    <dl class="fields">${rows}</dl>`;
}

function answers(document: OpenApiDocument, operation: Operation): Html {
  const rows = Object.entries(operation.responses).map(([status, answer]) => {
    const whole = answer.$ref === undefined ? answer : document.components.responses[nameOf(answer.$ref)];
    const schema = whole?.content?.['application/json']?.schema;
    return html`<div>
      <dt><code>${status}</code> ${schema === undefined ? null : typeLink(schema)}</dt>
      <dd>${status === '200' ? 'Success.' : inline(whole?.description ?? '')}</dd>
    </div>`;
  });
  return html`<dl class="fields answers">${rows}</dl>`;
}

/** The objects in requests and answers. */
export function renderObjects(document: OpenApiDocument): Html {
  return html`<section id="objects" class="part">
    <h2>Objects</h2>
    <p>The objects in requests, responses and events.</p>
    ${Object.entries(document.components.schemas).map(
      ([name, schema]) =>
        html`<article id="${objectId(name)}" class="route">
          <h3>${name}</h3>
          ${schema.description === undefined ? null : html`<p>${inline(schema.description)}</p>`}
          ${fields(document, schema)}
        </article>`,
    )}
  </section>`;
}

/** The fields of an object, following references. */
function fields(document: OpenApiDocument, schema: Schema): Html {
  const whole = schema.$ref === undefined ? schema : document.components.schemas[nameOf(schema.$ref)];
  const required = new Set(whole?.required);
  const rows = Object.entries(whole?.properties ?? {}).map(([name, part]) => field(name, part, required.has(name)));
  return rows.length === 0 ? html`<p>${typeLink(schema)}</p>` : html`<dl class="fields">${rows}</dl>`;
}

function field(name: string, schema: Schema, isRequired: boolean): Html {
  const rules = rulesOf(schema);
  return html`<div>
    <dt>
      <code>${name}</code> <span class="type">${typeLink(schema)}</span>
      ${isRequired && html`<span class="required">required</span>`}
    </dt>
    <dd>
      ${schema.description === undefined ? null : html`<p>${inline(schema.description)}</p>`}
      ${rules.length === 0 ? null : html`<p class="rules">${inline(`${rules.join('; ')}.`)}</p>`} ${nested(schema)}
    </dd>
  </div>`;
}

/** The fields of an object without a name. */
function nested(schema: Schema): Html | null {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return null;
  const required = new Set(schema.required);
  return html`<dl class="fields">${properties.map(([name, part]) => field(name, part, required.has(name)))}</dl>`;
}

function rulesOf(schema: Schema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, maxProperties, format } = schema;
  const words = schema.enum ?? schema.anyOf?.find((part) => part.enum !== undefined)?.enum;
  return [
    words && `One of ${words.map((word) => `\`${String(word)}\``).join(', ')}`,
    minimum !== undefined && maximum !== undefined && `From ${minimum} to ${maximum.toLocaleString('en')}`,
    minimum !== undefined && maximum === undefined && `At least ${minimum}`,
    minLength !== undefined &&
      maxLength === undefined &&
      `At least ${minLength} ${minLength === 1 ? 'character' : 'characters'}`,
    maxLength !== undefined && `At most ${maxLength.toLocaleString('en')} characters`,
    maxProperties !== undefined && `At most ${maxProperties} keys`,
    format === 'uri' && schema.description === undefined && 'An absolute URL',
    schema.default !== undefined && `\`${JSON.stringify(schema.default)}\` by default`,
  ].filter((rule) => typeof rule === 'string');
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  'date-time': 'time',
  email: 'e-mail address',
  uri: 'URL',
};

function typeLink(schema: Schema): Child {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return html`<a href="#${objectId(name)}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((part, index) => (index === 0 ? html`${typeLink(part)}` : html` or ${typeLink(part)}`));
  }
  if (schema.items !== undefined) return html`list of ${typeLink(schema.items)}`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  return TYPE_NAMES[schema.format ?? ''] ?? schema.type ?? 'any';
}

export function objectId(name: string): string {
  return `object-${name}`;
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
