import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OPENAPI_FILE } from '../src/http/docs/openapi-document.ts';

/**
 * Writes the types of the SDK from docs/openapi.json: every schema, and every operation with its parameters, body and
 * answer. With --check it only reports outdated types. A generator for any document would know neither the texts beside
 * amounts nor the union of all events.
 */
const FILE = path.join(import.meta.dirname, '../packages/sdk/src/api.generated.ts');

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly description?: string;
}
interface Content {
  readonly content?: { readonly 'application/json': { readonly schema: Schema } };
}
interface Operation {
  readonly summary: string;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema;
    readonly description?: string;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Whether clients send or read a value: they may send amounts as texts, and read a text beside each amount. */
type Way = 'sent' | 'read';

const document: Document = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'));
const text = typesOf(document);
if (process.argv.includes('--check')) {
  if ((await readFile(FILE, 'utf8').catch(() => '')) !== text) {
    console.error('The types of the SDK are not up to date. Run: npm run openapi');
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, text);
}

function typesOf({ paths, webhooks, components }: Document): string {
  const operations = Object.entries(paths).flatMap(([where, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${where}`, operation })),
  );
  const sent = new Set(operations.map(({ operation }) => bodyOf(operation.requestBody)?.$ref));
  const schemas = Object.entries(components.schemas).map(([name, schema]) => {
    const way = sent.has(`#/components/schemas/${name}`) ? 'sent' : 'read';
    return `${comment(schema.description, '')}export interface ${name} ${typeOf(schema, way, '')}\n`;
  });
  const events = new Set(Object.values(webhooks).map(({ post }) => typeOf(bodyOf(post.requestBody) ?? {}, 'read', '')));
  return [
    '// This file is written by scripts/write-sdk-types.ts from docs/openapi.json. Run: npm run openapi',
    '',
    ...schemas,
    '/** Every event of which this version knows the type. */',
    `export type KnownEvent = ${[...events].join(' | ')};`,
    '',
    '/** The fields that are amounts, beside which the SDK keeps the exact text. */',
    `export const AMOUNTS: ReadonlySet<string> = new Set(${JSON.stringify(amountsOf(components.schemas))});`,
    '',
    '/** Every operation of the service. */',
    'export interface Operations {',
    ...operations.map(({ route, operation }) => operationText(route, operation)),
    '}',
    '',
  ].join('\n');
}

function operationText(route: string, { summary, parameters = [], requestBody, responses }: Operation): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, required, schema, description }) =>
      property(
        name,
        { ...schema, ...(description === undefined ? {} : { description }) },
        required === true,
        'sent',
        '      ',
      ),
    );
  const body = bodyOf(requestBody);
  const lines = [
    `  /** ${summary}. */`,
    `  '${route}': {`,
    `    query: ${query.length === 0 ? 'never' : `{\n${query.join('')}    }`};`,
    `    body: ${body === null ? 'never' : typeOf(body, 'sent', '    ')};`,
    `    answer: ${typeOf(bodyOf(responses['200']) ?? {}, 'read', '    ')};`,
    '  };',
  ];
  return lines.join('\n');
}

function bodyOf(content: Content | undefined): Schema | null {
  return content?.content?.['application/json'].schema ?? null;
}

function typeOf(schema: Schema, way: Way, indent: string): string {
  const { $ref, anyOf, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? '';
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, way, indent)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (items !== undefined) return `Array<${typeOf(items, way, indent)}>`;
  if (properties === undefined && additionalProperties === true) return 'KnownEvent';
  if (schema.type === 'object') {
    const own = Object.entries(properties ?? {}).map(([name, one]) =>
      property(name, one, schema.required?.includes(name) ?? false, way, `${indent}  `),
    );
    const others =
      typeof additionalProperties === 'object'
        ? `${indent}  [name: string]: ${typeOf(additionalProperties, way, indent)};\n`
        : '';
    return `{\n${own.join('')}${others}${indent}}`;
  }
  if (schema.type === 'number') return way === 'sent' ? 'number | string' : 'number';
  return schema.type === 'integer' ? 'number' : String(schema.type);
}

function property(name: string, schema: Schema, isRequired: boolean, way: Way, indent: string): string {
  const mark = isRequired ? '' : '?';
  const own = `${comment(schema.description, indent)}${indent}${name}${mark}: ${typeOf(schema, way, indent)};\n`;
  if (way === 'sent' || !isAmount(schema)) return own;
  const exact = typeOf(schema, way, indent).replace('number', 'string');
  return `${own}${indent}/** The exact text of \`${name}\`. */\n${indent}${name}_text${mark}: ${exact};\n`;
}

function isAmount({ type, anyOf = [] }: Schema): boolean {
  return type === 'number' || anyOf.some((one) => one.type === 'number');
}

/** The names of all fields that are amounts, at any depth. */
function amountsOf(schemas: Readonly<Record<string, Schema>>): readonly string[] {
  const found = new Set<string>();
  const read = ({ properties = {}, items, anyOf = [] }: Schema): void => {
    for (const [name, schema] of Object.entries(properties)) {
      if (isAmount(schema)) found.add(name);
      read(schema);
    }
    for (const schema of [...anyOf, ...(items === undefined ? [] : [items])]) read(schema);
  };
  for (const schema of Object.values(schemas)) read(schema);
  return [...found].toSorted();
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`;
}
