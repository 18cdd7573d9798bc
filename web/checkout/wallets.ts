import { addWallet, readAnnouncement, type Wallet } from '../wallets/announcement.ts';
import { parseTransaction, sendWithWallet, type WalletStep, readReceipt } from '../wallets/send.ts';
import type { Translate } from './texts.ts';

const RECEIPT_MS = 2_000;
const RECEIPT_MAX_MS = 10_000;
/** A transaction that no node has known for this long was replaced or dropped: it may be sent again. */
const LOST_MS = 120_000;

export interface Wallets {
  /** Draws the wallets into the current page's `#wallets`, with the state of their transactions. */
  draw(): void;
}

interface WalletStatus {
  readonly step: WalletStep;
  readonly wallet: string;
}

/**
 * Payments with browser wallets. Their state is kept by transaction data, beyond swaps of the page and reloads in the
 * same tab: money that was sent must not be asked for again.
 */
export function offerWallets(payment: string, translate: Translate): Wallets {
  let wallets: readonly Wallet[] = [];
  /** The wallet being asked. Until it is asked to send, another may be chosen, because some wallets never answer. */
  let asking: { readonly wallet: Wallet; isSending: boolean } | null = null;
  const statuses = new Map<string, WalletStatus>();

  const isBusy = (wallet: Wallet) => asking !== null && (asking.isSending || asking.wallet === wallet);

  const draw = () => {
    const section = document.getElementById('wallets');
    const key = section?.dataset['transaction'];
    if (!section || key === undefined || parseTransaction(key) === null) return;
    const now = statuses.get(key) ?? recallSent(payment, key);
    const isSent = now?.step.kind === 'wallet_sent' || now?.step.kind === 'wallet_mined';
    section.hidden = wallets.length === 0 && now === undefined;
    drawButtons(section, { wallets, isSent, isBusy }, (wallet) => void pay(wallet, key));
    const status = section.querySelector('[data-wallet-status]');
    if (status !== null) drawStatus(status, now, section.dataset['network'] ?? '', translate);
  };

  const showStep = (key: string, wallet: Wallet, step: WalletStep) => {
    statuses.set(key, { step, wallet: wallet.name });
    if ('hash' in step) rememberSent(payment, key, { step, wallet: wallet.name });
    draw();
  };

  const pay = async (wallet: Wallet, key: string) => {
    const transaction = parseTransaction(key);
    if (isBusy(wallet) || transaction === null) return;
    const attempt = { wallet, isSending: false };
    asking = attempt;
    const showMine = (step: WalletStep) => asking === attempt && showStep(key, wallet, step);
    const last = await sendWithWallet(wallet.provider, transaction, showMine, () => {
      attempt.isSending = asking === attempt && document.getElementById('wallets')?.dataset['transaction'] === key;
      return attempt.isSending;
    });
    if (asking !== attempt) return;
    asking = null;
    if (last === null) statuses.delete(key);
    else showStep(key, wallet, last);
    draw();
    if (last?.kind === 'wallet_sent' && last.hash !== '') await awaitReceipt(wallet, key, last.hash);
  };

  const awaitReceipt = async (wallet: Wallet, key: string, hash: string) =>
    showStep(key, wallet, await receiptOf(wallet, hash));

  /**
   * A transaction that this wallet sent before the page was reloaded may be in a block by now, or have failed there.
   */
  const resume = async (wallet: Wallet) => {
    const key = document.getElementById('wallets')?.dataset['transaction'];
    const past = key === undefined ? undefined : recallSent(payment, key);
    if (key === undefined || past?.wallet !== wallet.name || past.step.kind !== 'wallet_sent') return;
    if (!statuses.has(key) && past.step.hash !== '') await awaitReceipt(wallet, key, past.step.hash);
  };

  addEventListener('eip6963:announceProvider', (event) => {
    const wallet = event instanceof CustomEvent ? readAnnouncement(event.detail) : null;
    if (wallet === null) return;
    const known = wallets;
    wallets = addWallet(known, wallet);
    draw();
    if (wallets !== known) void resume(wallet);
  });
  dispatchEvent(new Event('eip6963:requestProvider'));
  return { draw };
}

/** The result of a transaction, once a node knows it. */
async function receiptOf({ provider }: Wallet, hash: string): Promise<WalletStep> {
  let unknownMs = 0;
  for (let waitMs = RECEIPT_MS; ; waitMs = Math.min(RECEIPT_MAX_MS, waitMs * 1.2)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const step = await readReceipt(provider, hash);
    if (step?.kind !== 'wallet_lost') unknownMs = 0;
    else if ((unknownMs += waitMs) < LOST_MS) continue;
    if (step !== null) return step;
  }
}

interface Buttons {
  readonly wallets: readonly Wallet[];
  readonly isSent: boolean;
  readonly isBusy: (wallet: Wallet) => boolean;
}

function drawButtons(section: HTMLElement, buttons: Buttons, pay: (wallet: Wallet) => void): void {
  const list = section.querySelector<HTMLElement>('[data-wallet-list]');
  if (list === null) return;
  list.hidden = buttons.isSent;
  for (const wallet of buttons.wallets) {
    const drawn = [...list.querySelectorAll('button')].find(({ dataset }) => dataset['wallet'] === wallet.uuid);
    const button = drawn ?? list.appendChild(document.createElement('li')).appendChild(walletButton(wallet, pay));
    // Not `disabled`, which would lose the keyboard focus while the wallet is being asked.
    button.setAttribute('aria-disabled', String(buttons.isBusy(wallet)));
  }
}

function walletButton(wallet: Wallet, pay: (wallet: Wallet) => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button quiet wallet';
  button.dataset['wallet'] = wallet.uuid;
  if (wallet.icon !== null) {
    const icon = new Image(24, 24);
    icon.alt = '';
    icon.src = wallet.icon;
    button.append(icon);
  }
  const name = document.createElement('bdi');
  name.textContent = wallet.name;
  button.append(name);
  button.addEventListener('click', () => pay(wallet));
  return button;
}

function drawStatus(status: Element, now: WalletStatus | undefined, network: string, translate: Translate): void {
  const hash = now !== undefined && 'hash' in now.step ? now.step.hash : '';
  const reason = now?.step.kind === 'wallet_failed' ? now.step.reason : '';
  const text = now === undefined ? '' : translate(now.step.kind, { wallet: now.wallet, network, hash, reason });
  if (status.getAttribute('data-shown') === `${text}${hash}`) return;
  status.setAttribute('data-shown', `${text}${hash}`);
  status.replaceChildren(text);
  if (hash === '' || text.includes(hash)) return;
  const code = document.createElement('code');
  code.dataset['walletHash'] = '';
  code.textContent = hash;
  status.append(' ', code);
}

/**
 * In the tab's own storage: another tab or person starts without it. If the browser refuses, only this memory is lost.
 */
function rememberSent(payment: string, key: string, status: WalletStatus): void {
  try {
    sessionStorage.setItem(`cointill ${payment} ${key}`, JSON.stringify(status));
  } catch {
    return;
  }
}

function recallSent(payment: string, key: string): WalletStatus | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(`cointill ${payment} ${key}`) ?? '') as WalletStatus;
  } catch {
    return undefined;
  }
}
