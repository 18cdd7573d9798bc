import { Connection, type Options } from './connection.ts';

/** A part of the service. Each works alone, so that a bundler leaves out the others: `new Orders({ key, url })`. */
export class Resource {
  protected readonly connection: Connection;

  constructor(connection: Connection | Options) {
    this.connection = connection instanceof Connection ? connection : new Connection(connection);
  }
}
