import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { RefusalCode } from '../domain/sentence.ts';
import { isEmail } from '../domain/mail-address.ts';
import { urlAmbiguity } from '../domain/web-url.ts';
import { invalid, type RequestError } from './errors.ts';
import { RULE } from './fields.ts';
import { pageSentence } from './page-sentences.ts';

/** Rules that JSON Schema cannot express; each says what the value must be. */
const RULES: Readonly<Record<string, { readonly rule: string; readonly holds: (value: string) => boolean }>> = {
  text: {
    rule: 'must be text without NUL characters or lone surrogates',
    holds: isPlainText,
  },
  'http-url': {
    rule: 'must be an absolute http or https URL such as https://shop.example/thanks, without a user name, password or backslash, and with a host in plain letters',
    holds: isHttpUrl,
  },
  email: { rule: 'must be an e-mail address such as customer@example.com', holds: isEmail },
};

/** PostgreSQL cannot store NUL, and a lone surrogate has no UTF-8 form. */
function isPlainText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** Whether a text is an absolute web address that every program reads in the same way. */
export function isHttpUrl(value: string): boolean {
  // `URL` would also accept `http:x` and `https:/\\x`, which other parsers understand differently.
  if (!/^https?:\/\/[^/\\?#]/i.test(value)) return false;
  if (!isPlainText(value) || /[\s\p{Cc}]/u.test(value)) return false;
  const url = URL.parse(value);
  // `https://shop.example@evil.example/` looks like the former and leads to the latter.
  const hasUser = url !== null && (url.username !== '' || url.password !== '');
  if (url === null || hasUser || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return urlAmbiguity(value, url) === null;
}

const ajv = new Ajv({
  coerceTypes: false,
  useDefaults: true,
  removeAdditional: false,
  strict: false,
  strictNumbers: true,
  verbose: true,
});
ajv.addKeyword({
  keyword: RULE,
  type: 'string',
  compile: (name: string) => {
    const rule = RULES[name];
    if (rule === undefined) throw new Error(`There is no rule ${name}.`);
    return rule.holds;
  },
});
for (const format of ['uuid', 'date-time']) ajv.addFormat(format, true);

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

/** Compiles a schema, once. Throws if it is invalid. */
export function compileSchema(schema: object): ValidateFunction {
  return ajv.compile(schema);
}

/**
 * Validates by a route's schema, for Fastify. The schema is compiled when it is first needed: all of them together take
 * a quarter of a start's CPU time. Bodies are validated without conversion; query parameters are strictly converted to
 * integers and booleans.
 */
export function compileValidator(route: { readonly schema: unknown; readonly httpPart?: string | undefined }) {
  const schema = route.schema as ObjectSchema;
  let compiled: ValidateFunction | null = null;
  const ofQuery = route.httpPart === 'querystring';
  return (data: unknown): { value: unknown } | { error: RequestError } => {
    const value = ofQuery ? readQuery(schema, data) : data;
    const validate = (compiled ??= compileSchema(schema));
    if (validate(value)) return { value };
    const [first] = validate.errors ?? [];
    return { error: first === undefined ? invalid(null, 'The request is not valid.') : describe(first, ofQuery) };
  };
}

function readQuery(schema: ObjectSchema, data: unknown): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(data ?? {})) {
    const type = schema.properties?.[name]?.type;
    // Unknown parameters are ignored, as unknown fields of a body are.
    if (type !== undefined) read[name] = readQueryValue(type, value);
  }
  return read;
}

function readQueryValue(type: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

interface SchemaFacts {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly maxProperties?: number;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly [RULE]?: string;
}

/** Says which field breaks which rule, and what kind of value it has; the value itself is never repeated. */
function describe(error: ErrorObject, ofQuery: boolean): RequestError {
  const path = error.instancePath
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = error.keyword === 'required' ? (error.params as { missingProperty: string }).missingProperty : null;
  if (missing !== null) return invalid(missing, `${missing} is required.`, pageSentence('required', missing, {}));
  const [param = ''] = path;
  if (param === '') return invalid(null, `The body must be a JSON object, not ${kindOf(error.data)}.`);
  if (error.keyword === 'propertyNames' || error.propertyName !== undefined) {
    return invalid(param, `${param} must have keys of at most 100 characters, without NUL characters.`);
  }
  const field = path.length > 1 ? `A value of ${param}` : param;
  const facts = (error.parentSchema ?? {}) as SchemaFacts;
  const message = `${field} ${rule(error, facts, ofQuery)}.`;
  const code = path.length > 1 ? null : sentenceOf(error, facts);
  if (code === null) return invalid(param, message);
  return invalid(param, message, pageSentence(code, param, { max: facts.maxLength ?? 0 }));
}

/** The sentence for people on a page; null for rules that no page lets them break. */
function sentenceOf({ keyword }: ErrorObject, facts: SchemaFacts): RefusalCode | null {
  if (keyword === 'maxLength') return 'too_long';
  if (keyword === 'minLength' && facts.minLength === 1) return 'text_empty';
  if (keyword === 'minItems') return 'list_empty';
  if (keyword !== RULE) return null;
  return facts[RULE] === 'email' ? 'email' : facts[RULE] === 'text' ? 'plain_text' : null;
}

function rule(error: ErrorObject, facts: SchemaFacts, ofQuery: boolean): string {
  switch (error.keyword) {
    case 'type': {
      const wanted = wantedType(facts);
      return ofQuery && !Array.isArray(error.data)
        ? `must be ${wanted}`
        : `must be ${wanted}, not ${kindOf(error.data)}`;
    }
    case 'enum':
      return `must be one of ${(facts.enum ?? []).join(', ')}`;
    case 'minimum':
    case 'maximum':
      return `must be ${wantedType(facts)}`;
    case 'maxLength':
      return `must have at most ${counted(facts.maxLength, 'character')}`;
    case 'minLength':
      return facts.minLength === 1
        ? 'must not be empty'
        : `must have at least ${counted(facts.minLength, 'character')}`;
    case 'maxProperties':
      return `must have at most ${counted(facts.maxProperties, 'key')}`;
    case 'maxItems':
      return `must have at most ${counted(facts.maxItems, 'entry', 'entries')}, not ${lengthOf(error.data)}`;
    case 'minItems':
      return `must have at least ${counted(facts.minItems, 'entry', 'entries')}, not ${lengthOf(error.data)}`;
    default:
      return RULES[facts[RULE] ?? '']?.rule ?? 'is not valid';
  }
}

function counted(count: number | undefined, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

function lengthOf(data: unknown): number {
  return Array.isArray(data) ? data.length : 0;
}

function wantedType(facts: SchemaFacts): string {
  const name = {
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    string: 'text',
    object: 'an object',
    array: 'a list',
  };
  const words = name[facts.type as keyof typeof name] ?? `of type ${facts.type}`;
  if (facts.enum !== undefined) return `one of ${facts.enum.join(', ')}`;
  if (facts.minimum !== undefined && facts.maximum !== undefined)
    return `${words} from ${facts.minimum} to ${facts.maximum}`;
  if (facts.minimum !== undefined) return `${words} of at least ${facts.minimum}`;
  return words;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'true or false';
  if (typeof value !== 'number') return 'an object';
  if (Number.isFinite(value)) return Number.isInteger(value) ? 'a number' : 'a number with decimals';
  return Number.isNaN(value) ? 'one with more digits than can be read exactly' : 'one too large to be read';
}
