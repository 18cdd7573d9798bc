/** A message from a page in a shop's frame to the shop. Anybody can send such a message: it never proves a payment. */
export interface EmbedMessage {
  readonly source: 'cointill';
  readonly type: 'ready' | 'status' | 'close';
  readonly payment_id: string;
  readonly status: string;
}

export interface Embedding {
  /** Sends the payment's status to the shop, and keeps the link back from opening inside the frame. */
  draw(live: HTMLElement): void;
}

/** Sends messages to the shop that frames the page, and only to its origin. Null if the page is not framed. */
export function embedding(first: HTMLElement | null): Embedding | null {
  const origin = document.querySelector('main')?.dataset['embed'];
  if (origin === undefined || window.parent === window) return null;
  let live = first;
  let postedStatus = '';
  const post = (type: EmbedMessage['type']) => {
    const { payment = '', status = '' } = live?.dataset ?? {};
    const message: EmbedMessage = { source: 'cointill', type, payment_id: payment, status };
    window.parent.postMessage(message, origin);
  };
  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-close]') !== null) post('close');
  });
  document.addEventListener('keydown', (event) => {
    // In a search field Escape first clears the field.
    const isTyping = event.target instanceof HTMLInputElement && event.target.value !== '';
    if (event.key === 'Escape' && !event.defaultPrevented && !isTyping) post('close');
  });
  // Says that this is one of our pages and not an error.
  post('ready');
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
