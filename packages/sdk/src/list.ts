interface Page {
  readonly pagination: { readonly has_more: boolean; readonly offset: number };
}
type Query = { limit?: number; offset?: number };

const PAGE = 100;
/** Small pages would not get on while the list grows. */
const MIN_PAGE = 10;

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

  /**
   * All items after `offset`, newest first, read as they are needed. Items that leave the list while it is read, such
   * as those that you cancel, move the others up; each is given once all the same.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    // Pages overlap by one item, which shows that nothing between them was left out.
    const limit = Math.max(MIN_PAGE, this.#query.limit ?? PAGE);
    const first = this.#query.offset ?? 0;
    const given = new Set<string>();
    for (let offset = first; ;) {
      const page = await this.#read({ ...this.#query, limit, offset });
      const items = this.#items(page);
      if (offset > first && !items.some(({ id }) => given.has(id))) {
        offset = Math.max(first, offset - limit);
        continue;
      }
      for (const item of items.filter(({ id }) => !given.has(id))) {
        given.add(item.id);
        yield item;
      }
      if (!page.pagination.has_more || items.length === 0) return;
      offset += items.length - 1;
    }
  }
}
