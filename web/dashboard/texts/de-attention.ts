import type { TextsLike } from './en.ts';
import type { enAttention } from './en-attention.ts';

export const deAttention: TextsLike<typeof enAttention> = {
  accept_or_refund: 'Annehmen oder erstatten',
  assign_to: 'Zugewiesen an',
  assigned_nobody: 'Niemand',
  attention_done: 'Erledigt.',
  attention_more: 'Das sind die neuesten 100. Weitere folgen, sobald diese erledigt sind.',
  attention_news: '{count} neue Dinge sind zu erledigen. Das neueste: {title}',
  attention_none_text:
    'Verspätetes, fehlendes oder überzähliges Geld, offene Erstattungen und Störungen erscheinen hier von selbst.',
  attention_none_title: 'Nichts zu erledigen',
  by_command_line: 'der Befehlszeile ({name})',
  copy_command: 'Befehl',
  done: 'Erledigt',
  attention_note: 'Notiz',
  kind_endpoint_disabled: 'Endpunkt abgeschaltet: {name}',
  kind_endpoint_disabled_text:
    'An ihn wird nichts mehr gesendet: {detail}. Schalten Sie ihn wieder ein, sobald er funktioniert.',
  kind_endpoint_failing: 'Endpunkt gestört: {name}',
  kind_endpoint_failing_text:
    'Seine neueste Zustellung ist mehrmals fehlgeschlagen: {detail}. Sehen Sie nach, was er geantwortet hat.',
  kind_no_wallet: 'Keine Wallet für {name}',
  kind_no_wallet_text:
    'Der Dienst verfolgt {name}, aber Kunden können erst mit seinen Coins zahlen, wenn eine Wallet gesetzt ist.',
  kind_node_behind: '{name} wird nicht verfolgt',
  kind_node_behind_text: 'Zahlungen darauf werden verspätet bemerkt: {detail}.',
  node_behind: 'Es wird noch aufgeholt',
  node_no_answer: 'Keiner der Nodes antwortet',
  node_not_followed: 'Kein Worker verfolgt es',
  node_stalled: 'Seit Langem kam kein neuer Block',
  node_unhealthy: 'Mit einem Node stimmt etwas nicht',
  node_unread: 'Es wurde noch kein Block gelesen',
  kind_overpaid: 'Überzahlt: {name}',
  kind_overpaid_text:
    '{amount} mehr als fällig sind eingegangen. Das kann erstattet oder behalten werden, wenn der Kunde zustimmt.',
  kind_paid_after_cancel: 'Nach Abbruch bezahlt: {name}',
  kind_paid_after_cancel_text: '{amount} sind nach dem Abbruch der Zahlung eingegangen.',
  kind_paid_late: 'Zu spät bezahlt: {name}',
  kind_paid_late_text: '{amount} sind nach Ablauf der Zahlungsfrist eingegangen.',
  kind_refund_to_sign: 'Erstattung zu signieren: {name}',
  kind_refund_to_sign_text: 'Die Erstattung ist abgeschlossen, sobald {amount} aus Ihrer Wallet gesendet sind.',
  kind_reorged: 'Von der Blockchain zurückgenommen: {name}',
  kind_reorged_text:
    'Die Blöcke mit dem Geld gehören nicht mehr zur Blockchain. Halten Sie die Ware zurück, bis es wieder da ist.',
  kind_slow: 'Bestätigung dauert zu lange: {name}',
  kind_slow_text: '{amount} wurden gesehen, aber das Netzwerk braucht viel länger als üblich, um sie zu bestätigen.',
  kind_sweep: 'Einzug lohnt sich: {name}',
  kind_sweep_text: 'Einzahlungen mit Guthaben: {detail}. Die Seite „Einzug“ bringt es zu Ihrer Treasury.',
  kind_sweep_worth_text:
    'Einzahlungen mit Guthaben: {detail}, im Wert von {amount}. Die Seite „Einzug“ bringt es zu Ihrer Treasury.',
  kind_underpaid: 'Unterzahlt: {name}',
  kind_underpaid_failed_text:
    '{amount} fehlen, und die Zahlungsfrist ist abgelaufen. Was kam, kann angenommen oder erstattet werden.',
  kind_underpaid_text: '{amount} fehlen. Die Zahlungsseite bittet bis {until} um den Rest.',
  kind_wallet_changed: 'Andere Wallet für {name}',
  kind_wallet_changed_first: 'Erste Wallet für {name}',
  kind_wallet_changed_first_text:
    'Gesetzt von {who}: {after}. Zahlungen in diesem Netzwerk gehen dorthin. War es niemand von Ihnen, setzen Sie sofort die richtige Wallet.',
  kind_wallet_changed_text:
    'Gesetzt von {who}: {after}, vorher: {before}. Neue Zahlungen gehen dorthin. War es niemand von Ihnen, setzen Sie sofort die richtige Wallet.',
  new_attention: '{count} neu',
  note_text: 'Notiz',
  no_answer: 'keine Antwort',
  refund_excess: 'Überzahlung erstatten',
  see_payment: 'Zahlung ansehen',
  see_refund: 'Erstattung ansehen',
  undo: 'Rückgängig',
  see_deliveries: 'Zustellungen ansehen',
  see_endpoint: 'Endpunkt ansehen',
  see_sweeps: 'Einzug ansehen',
  see_wallets: 'Wallets ansehen',
  set_wallet_now: 'Wallet setzen',
};
