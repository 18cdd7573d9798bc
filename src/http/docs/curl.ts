import type { OpenApiDocument, Parameter } from './openapi-document.ts';
import type { Route } from './reference.ts';

/** Shell variables for path parameters; the guide's examples set the same variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  Transactions: '$TRANSACTION_ID',
  Orders: '$ORDER_ID',
  Refunds: '$REFUND_ID',
};

/** A request that can be pasted into a shell in which `KEY` and the ids are set. */
export function curlOf({ servers }: OpenApiDocument, { method, path, operation }: Route): string {
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

/** The ids in examples belong to another shop. */
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
