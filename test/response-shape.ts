import { Ajv, type ValidateFunction } from 'ajv';

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addFormat('date-time', (text: string) => ISO_TIME.test(text) && new Date(text).toISOString() === text);
ajv.addFormat('uuid', UUID);
ajv.addFormat('uri', (text: string) => URL.canParse(text));

const compiled = new WeakMap<object, ValidateFunction>();

/** The faults of an answer by its route's documented shapes; an undocumented status or field is a fault as well. */
export function responseFaults(shapes: unknown, status: number, text: string): readonly string[] {
  const shape = isRecord(shapes) ? shapes[String(status)] : undefined;
  if (!isRecord(shape)) return [`status ${status} is not documented`];
  let validate = compiled.get(shape);
  if (validate === undefined) {
    validate = ajv.compile(closed(shape) as object);
    compiled.set(shape, validate);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [`the body is not JSON: ${text.slice(0, 200)}`];
  }
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** A shape that takes no field beyond those it names. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isRecord(schema)) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const open = 'additionalProperties' in schema || 'patternProperties' in schema;
  return 'properties' in schema && !open ? { ...copy, additionalProperties: false } : copy;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}
