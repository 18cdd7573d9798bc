import type { CompiledQuery } from 'kysely';
import type { Client } from 'pg';

/**
 * A statement with its parameters written into it, for `COPY`, which takes none. Texts go through the client's own
 * escaping. Throws TypeError for what it cannot write.
 */
export function inlined(client: Pick<Client, 'escapeLiteral'>, { sql, parameters }: CompiledQuery): string {
  return sql.replaceAll(/\$(\d+)/g, (_name, number: string) => literal(client, parameters[Number(number) - 1]));
}

function literal(client: Pick<Client, 'escapeLiteral'>, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return client.escapeLiteral(value);
    case 'bigint':
      return String(value);
    case 'number':
      if (Number.isFinite(value)) return String(value);
      break;
    default:
      if (value === null) return 'null';
      if (Array.isArray(value))
        return value.length === 0 ? `'{}'` : `array[${value.map((one) => literal(client, one)).join(', ')}]`;
  }
  throw new TypeError(`A parameter of the type ${typeof value} cannot be written into a statement.`);
}
