import type { enRefunds } from './en-refunds.ts';
import type { TextsLike } from './en.ts';

export const deRefunds: TextsLike<typeof enRefunds> = {
  new_refund: 'Neue Erstattung',
  refund_any_coin: 'Coin: alle',
  refund_any_network: 'Netzwerk: alle',
  refund_any_stage: 'Status: alle',
  refund_choose: 'Erstattung von {amount} auswählen',
  refund_find_none:
    'In diesem Modus hat keine Zahlung diese Bestellnummer, E-Mail-Adresse, Adresse, diesen Hash oder diese ID.',
  refund_find_text: 'Suchen Sie die Zahlung, die erstattet werden soll.',
  refund_gone:
    'Eine Reorganisation hat die Transaktion entfernt, die diese Erstattung bezahlt hat, und kein Node kennt sie mehr. Bezahlen Sie sie erneut.',
  refund_not_possible:
    'Von dieser Zahlung kann jetzt nichts erstattet werden. Sie muss beendet sein und bestätigtes Geld haben, das noch nicht erstattet wurde.',
  refund_one: 'Erstattung',
  refund_paid_anyway:
    'Eine Transaktion zahlt genau diesen Betrag an die Adresse, obwohl die Erstattung fehlgeschlagen war. Zahlen Sie nicht noch einmal zurück.',
  refund_reason: 'Grund',
  refund_reorged:
    'Eine Reorganisation hat den Block mit der Transaktion entfernt, die diese Erstattung bezahlt hat. Sie wird in einem anderen Block erwartet. Bezahlen Sie sie noch nicht erneut.',
  refund_search: 'ID, Bestellung, Adresse, Hash',
  refund_send_link: 'Senden Sie den Link an den Kunden, der dort eine Adresse eingibt.',
  refund_sign: 'Signieren',
  refund_sign_together: 'Zusammen signieren',
  refund_stage_completed: 'Abgeschlossen',
  refund_stage_failed: 'Fehlgeschlagen',
  refund_stage_reorged: 'Reorganisiert',
  refund_stage_seen: 'Auf der Chain gesehen',
  refund_stage_test: 'Wird von selbst abgeschlossen',
  refund_stage_to_sign: 'Zu signieren',
  refund_stage_waiting_for_address: 'Wartet auf Adresse',
  refund_transaction: 'Transaktion',
  refund_until: 'Sie schlägt fehl, wenn sie nicht bis {time} bezahlt ist.',
  refund_worth: 'Wert',
  refunds_choose: 'Zum gemeinsamen Signieren auswählen',
  refunds_choose_none: 'Auswahl aufheben',
  refunds_chosen: '{count} ausgewählt: {amount} {asset} auf {network}',
  refunds_export: 'Erstattungen exportieren',
  refunds_export_semicolon: 'CSV mit Semikolons (Excel mit Dezimalkomma)',
  refunds_export_text:
    'Alle Erstattungen, auf die die Filter zutreffen, die neuesten zuerst. Beträge sind exakt, Zeiten in UTC.',
  refunds_no_match: 'Auf keine Erstattung treffen alle diese Filter zu.',
  refunds_none_text: 'Erstatten Sie eine Zahlung auf ihrer Seite oder mit „Neue Erstattung“.',
  refunds_none_title: 'Noch keine Erstattungen',
};
