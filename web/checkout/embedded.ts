/** What a page in a shop's frame tells the shop. Anybody can send such a message: it never proves a payment. */
export interface EmbedMessage {
  readonly source: 'cointill';
  readonly type: 'ready' | 'status' | 'close';
  readonly payment_id: string;
  readonly status: string;
}

export interface Embedding {
  /** Tells the shop how the payment stands, and keeps the way back from opening inside the frame. */
  draw(live: HTMLElement): void;
}

/** Tells the shop that frames the page, and its origin alone, that this is a page of ours and not an error. */
export function speakToShop(): void {
  const origin = document.querySelector('main')?.dataset['embed'];
  if (origin === undefined || window.parent === window) return;
  const message: EmbedMessage = { source: 'cointill', type: 'ready', payment_id: '', status: '' };
  window.parent.postMessage(message, origin);
}

/** Talks to the shop that frames the page, to its origin alone. Null when the page is not framed. */
export function embedding(first: HTMLElement): Embedding | null {
  const origin = first.dataset['embed'];
  if (origin === undefined || window.parent === window) return null;
  let live = first;
  let postedStatus = '';
  const post = (type: EmbedMessage['type']) => {
    const { payment = '', status = '' } = live.dataset;
    const message: EmbedMessage = { source: 'cointill', type, payment_id: payment, status };
    window.parent.postMessage(message, origin);
  };
  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-close]') !== null) post('close');
  });
  document.addEventListener('keydown', (event) => {
    // In a search field Escape empties it first.
    const isTyping = event.target instanceof HTMLInputElement && event.target.value !== '';
    if (event.key === 'Escape' && !event.defaultPrevented && !isTyping) post('close');
  });
  speakToShop();
  return {
    draw: (next) => {
      live = next;
      for (const link of live.querySelectorAll<HTMLAnchorElement>('a[data-return]')) link.target = '_top';
      for (const button of document.querySelectorAll<HTMLElement>('[data-close]')) button.hidden = false;
      const status = live.dataset['status'] ?? '';
      if (status !== postedStatus) post('status');
      postedStatus = status;
    },
  };
}
