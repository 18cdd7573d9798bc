import path from 'node:path';
import { readFile } from 'node:fs/promises';
import type { Mode } from '../../domain/permission.ts';

export const OPENAPI_FILE = path.join(import.meta.dirname, '../../../docs/openapi.json');

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly default?: unknown;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Answer extends Content {
  readonly $ref?: string;
  readonly description?: string;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Answer>>;
}

type Methods = Readonly<Record<string, Operation>>;

/** The parts of an OpenAPI 3.1 document that the page shows. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Methods>>;
  readonly webhooks: Readonly<Record<string, Methods>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Answer>>;
  };
}

/**
 * The document generated from the routes (`npm run openapi`), with this service's own addresses.
 *
 * @throws Error if the file is missing
 */
export async function readOpenApi(baseUrls: Readonly<Record<Mode, string>>): Promise<OpenApiDocument> {
  const text = await readFile(OPENAPI_FILE, 'utf8').catch((cause: unknown) => {
    throw new Error(`${OPENAPI_FILE} is missing. Make it with: npm run openapi`, { cause });
  });
  const document: OpenApiDocument = JSON.parse(text);
  return { ...document, servers: serversOf(baseUrls) };
}

/** Both addresses; first the sandbox, where a newcomer starts. */
export function serversOf(baseUrls: Readonly<Record<Mode, string>>): OpenApiDocument['servers'] {
  return [
    { url: baseUrls.test, description: 'Sandbox: test keys' },
    { url: baseUrls.live, description: 'Live' },
  ];
}

/** JSON data as YAML 1.2, in block style. Texts are written as JSON strings, which are valid YAML. */
export function toYaml(value: unknown): string {
  return `${blockOf(value, '').trimStart()}\n`;
}

function blockOf(value: unknown, indent: string): string {
  if (value === null || typeof value !== 'object') return ` ${JSON.stringify(value)}`;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return isList ? ' []' : ' {}';
  return entries
    .map(([key, part]) => `\n${indent}${isList ? '-' : `${keyOf(key)}:`}${blockOf(part, `${indent}  `)}`)
    .join('');
}

/** Keys that some YAML readers would not read as text (`no`, `200`, `~`) are quoted. */
function keyOf(key: string): string {
  return /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z_$][\w$-]*$/i.test(key) ? key : JSON.stringify(key);
}
