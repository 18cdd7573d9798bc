interface Page {
  readonly pagination: { readonly has_more: boolean; readonly offset: number };
}
type Query = { limit?: number; offset?: number };

const PAGE = 100;

/**
 * A list of the service: `for await (const item of list)` reads all of it, and `page()` one page.
 *
 * @example
 * const list = cointill.orders.list({ limit: 10 });
 * const { data, pagination } = await list.page(); // list is a List
 */
export class List<Item extends { readonly id: string }, P extends Page> implements AsyncIterable<Item> {
  readonly #read: (query: Query) => Promise<P>;
  readonly #items: (page: P) => readonly Item[];
  readonly #query: Query;

  constructor(query: Query, read: (query: Query) => Promise<P>, items: (page: P) => readonly Item[]) {
    this.#query = query;
    this.#read = read;
    this.#items = items;
  }

  /** One page, of `limit` items after `offset`, with the total number of items. */
  page(): Promise<P> {
    return this.#read(this.#query);
  }

  /** All items after `offset`, newest first, read as they are needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const limit = this.#query.limit ?? PAGE;
    let offset = this.#query.offset ?? 0;
    // Newer items move the last items of a page to the next one.
    let before = new Set<string>();
    for (;;) {
      const page = await this.#read({ ...this.#query, limit, offset });
      const items = this.#items(page);
      yield* items.filter(({ id }) => !before.has(id));
      if (!page.pagination.has_more || items.length === 0) return;
      before = new Set(items.map(({ id }) => id));
      offset += items.length;
    }
  }
}
