import { appendFileSync } from 'node:fs';
import { Client } from 'pg';
import { inject } from 'vitest';

/**
 * Notes every statement that the program's own code sends in a test, once, for `test/citus-forms.ts`. Statements of the
 * tests themselves are left out.
 */

/** A line of a stack in the program: no test, no fixture, and not what only passes statements on. */
const OWN =
  /\/src\/(?!store\/(?:client|database|wake|pipeline|one-connection|kept-session)\.ts)(?!.*\.(?:test|fixture)\.ts)[\w/-]+\.ts/;

const seen = new Set<string>();
const file = inject('statements');

type Query = (this: Client, ...args: unknown[]) => unknown;
const MARK = Symbol.for('cointill.recorded');
const prototype = Client.prototype as unknown as { query: Query; [MARK]?: boolean };

if (prototype[MARK] !== true) {
  prototype[MARK] = true;
  const query = prototype.query;
  prototype.query = function record(...args) {
    const [first] = args;
    const text = typeof first === 'string' ? first : Reflect.get(Object(first), 'text');
    if (typeof text === 'string' && !seen.has(text)) {
      seen.add(text);
      const limit = Error.stackTraceLimit;
      Error.stackTraceLimit = 60;
      const from = OWN.exec(new Error('stack').stack ?? '')?.[0];
      Error.stackTraceLimit = limit;
      if (from !== undefined) appendFileSync(file, `${JSON.stringify({ from, text })}\n`);
      // The next one may be the program's.
      else seen.delete(text);
    }
    return query.apply(this, args);
  };
}
