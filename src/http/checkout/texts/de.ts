import type { Texts } from './en.ts';

/** German. */
export const de: Texts = {
  payment_of: 'Zahlung über',
  refund_of: 'Erstattung über',
  details: 'Details',
  for: 'Verwendungszweck',
  order: 'Bestellung',
  payment: 'Zahlung',
  network: 'Netzwerk',
  transaction: 'Transaktion',
  asked_for: 'Angefordert',
  received: 'Eingegangen',
  still_missing: 'Noch offen',
  token_on: '{asset} auf {network}',

  stages: 'Fortschritt',
  stage_pay: 'Zahlen',
  stage_seen: 'Erkannt',
  stage_confirmed: 'Bestätigt',
  stage_done: 'Fertig',

  choose_title: 'Womit möchten Sie bezahlen?',
  choose_text: 'Wählen Sie einen Coin. Danach sehen Sie den genauen Betrag und die Adresse.',
  search: 'Coin oder Netzwerk suchen',
  no_match: 'Kein Coin oder Netzwerk mit diesem Namen gefunden.',
  on_network: 'Netzwerk: <b>{network}</b>',
  networks_count: 'Netzwerke: {count}',
  pick_network: 'Über welches Netzwerk sendet Ihre Wallet oder Börse {asset}? Es muss dasselbe Netzwerk sein.',
  keep_token: 'Bei {token} bleiben',
  unavailable_title: 'Noch keine Zahlung möglich',
  unavailable_text: 'Der Shop hat noch keinen Coin eingerichtet, mit dem Sie hier bezahlen können.',
  unavailable_hint: 'Bitte informieren Sie den Shop. Es wurde nichts abgebucht, und Sie müssen nichts senden.',

  pay_title: 'Warten auf Ihre Zahlung',
  part_title: 'Teilbetrag eingegangen: Bitte senden Sie den Rest',
  time_left: 'Verbleibende Zeit',
  pay_before: 'Zahlbar bis {time}',
  send_exactly: 'Senden Sie genau',
  send_rest: 'Noch zu senden, genau',
  only_token:
    'Senden Sie nur <b>{asset}</b> und nur über <b>{network}</b>. Ein anderer Coin oder {asset} über ein anderes Netzwerk kann verloren gehen.',
  test_no_send:
    '<b>Senden Sie nichts.</b> Diese Adresse wurde für den Test erfunden: Was dorthin gesendet wird, ist endgültig verloren.',
  to_address: 'An diese Adresse auf {network}',
  compare: 'Vergleichen Sie die ersten und letzten Zeichengruppen mit der Anzeige in Ihrer Wallet.',
  address_number: 'Dies ist Adresse Nr. {number} der eigenen Wallet des Shops.',
  open_wallet: 'In Ihrer Wallet öffnen',
  copy_amount: 'Betrag kopieren',
  copy_address: 'Adresse kopieren',
  scan: 'Mit Ihrer Wallet scannen',
  scan_test: 'Testcode, nicht für echte Wallets',
  qr_title: 'QR-Code zur Zahlung von {amount} {token}',
  qr_text:
    'Für die Kamera einer Wallet auf dem Smartphone. Er enthält die Adresse und den Betrag, die auf dieser Seite als Text stehen.',
  qr_text_address:
    'Für die Kamera einer Wallet auf dem Smartphone. Er enthält die Adresse, die auf dieser Seite als Text steht.',
  qr_only_address: 'Dieser Code enthält nur die Adresse. Geben Sie den Betrag selbst ein.',
  qr_with_amount: 'Code mit Betrag: {wallets}',
  qr_with_amount_hint:
    '<b>Nur für diese Wallets.</b> Andere senden das Geld womöglich an den Vertrag des Tokens, und es wäre verloren.',
  wallets_title: 'Oder mit einer Wallet in diesem Browser bezahlen',
  other_token: 'Anderen Coin wählen',
  cancel: 'Zahlung abbrechen',
  cancel_text:
    'Brechen Sie nur ab, wenn Sie noch nichts gesendet haben. Ein Betrag, der unterwegs ist, lässt sich nicht zurückholen.',
  cancel_yes: 'Ja, Zahlung abbrechen',

  detected_title: 'Zahlung erkannt',
  detected_text:
    'Ihre Zahlung wurde im Netzwerk {network} erkannt. Als Nächstes muss sie in einen Block aufgenommen werden.',
  confirming_title: 'Ihre Zahlung wird bestätigt',
  confirming_text: 'Sie ist in einem Block und wird nun vom Netzwerk bestätigt.',
  confirmations: 'Bestätigungen: {have} von {need}',
  confirming_means:
    'Mit jeder Bestätigung folgt ein weiterer Block auf Ihre Zahlung, und sie lässt sich schwerer rückgängig machen.',
  nothing_to_do:
    'Sie müssen nichts weiter tun und können diese Seite schließen: Der Shop wird benachrichtigt, sobald die Zahlung abgeschlossen ist.',
  checking_title: 'Die Zahlungsfrist ist abgelaufen',
  checking_text: 'Wir prüfen, ob rechtzeitig gezahlt wurde. Das Ergebnis erscheint auf dieser Seite.',
  checking_hint: '<b>Bitte senden Sie jetzt nichts mehr:</b> Es würde zu spät ankommen.',

  completed_title: 'Zahlung abgeschlossen',
  completed_text: '{shop} hat Ihre Zahlung erhalten. Vielen Dank.',
  receipt: 'Beleg',
  paid_to: 'Empfänger',
  amount: 'Betrag',
  paid: 'Bezahlt',
  completed_at: 'Abgeschlossen',
  test: 'Test',
  no_money_moved: 'Kein echtes Geld bewegt',
  print: 'Beleg drucken',
  overpaid:
    'Sie haben {amount} mehr gezahlt als angefordert. Der Shop sieht das: Bitten Sie ihn, den überzahlten Betrag zu erstatten.',
  underpaid_accepted:
    'Es kam weniger an als der angeforderte Betrag von {amount}. Der Shop hat die Zahlung so akzeptiert.',
  late_accepted: 'Ihre Zahlung ist nach Ablauf der Frist eingegangen. Der Shop hat sie akzeptiert.',
  reorged:
    'Das Netzwerk hat den Block mit Ihrer Zahlung nachträglich verworfen. Meist wird sie von selbst wieder aufgenommen; der Shop ist informiert.',
  expired_title: 'Diese Zahlung ist abgelaufen',
  expired_text: 'Innerhalb der Zahlungsfrist wurde keine Zahlung erkannt.',
  cancelled_title: 'Diese Zahlung wurde abgebrochen',
  cancelled_text: 'Ihnen wird nichts berechnet.',
  failed_title: 'Diese Zahlung ist fehlgeschlagen',
  underpaid_text: 'Vor Ablauf der Frist ist nur ein Teil des Betrags eingegangen.',
  unconfirmed_text: 'Sie wurde im Netzwerk erkannt, aber nie bestätigt.',
  late_title: 'Ihre Zahlung kam zu spät an',
  late_text: 'Sie ist nach Ablauf der Zahlungsfrist eingegangen.',
  money_safe: 'Ihr Geld ist nicht verloren: Der Shop kann es als Zahlung annehmen oder zurücksenden.',
  money_unconfirmed:
    'Sehen Sie in Ihrer Wallet nach: Möglicherweise ist das Geld wieder dort. Kommt es doch noch an, kann der Shop es als Zahlung annehmen oder zurücksenden.',
  contact_shop: 'Wenden Sie sich an den Shop und nennen Sie die Zahlung <b>{payment}</b>.',
  nothing_came:
    'Bitte senden Sie für diese Zahlung nichts mehr. Wenn Sie doch kaufen möchten, beginnen Sie im Shop noch einmal.',
  back_to: 'Zurück zu {shop}',
  close_page: 'Sie können diese Seite jetzt schließen.',
  returning: 'In {seconds}\u00a0s kehren Sie automatisch zum Shop zurück.',
  stay: 'Hier bleiben',

  refund_offer_title: 'Sie erhalten Geld vom Shop zurück',
  refund_offer_text: 'Ihre Erstattung: <b>{amount}</b>. Geben Sie an, wohin sie gesendet werden soll.',
  refund_offer_link: 'Erstattung abrufen',
  refund_sending: 'Eine Erstattung von <b>{amount}</b> ist auf dem Weg an Ihre Adresse.',
  refund_was_sent: 'Eine Erstattung von <b>{amount}</b> wurde an Ihre Adresse gesendet.',

  notice_money_seen:
    'Nicht geändert: Im Netzwerk wurde bereits Geld für diese Zahlung erkannt. Sie lässt sich nicht mehr abbrechen oder mit einem anderen Coin bezahlen.',
  notice_not_open: 'Nicht geändert: Diese Zahlung ist nicht mehr offen.',
  notice_expired: 'Nicht geändert: Die Zahlungsfrist ist abgelaufen.',
  notice_too_many_changes:
    'Nicht geändert: Der Coin wurde so oft gewechselt, wie es möglich ist. Zahlen Sie mit dem gewählten, oder beginnen Sie im Shop von vorn.',
  notice_token_unavailable:
    'Nicht geändert: Diese Zahlung ist mit diesem Coin nicht möglich. Bitte wählen Sie einen anderen.',
  notice_amount_too_small:
    'Nicht geändert: Der Betrag ist zu klein, um mit diesem Coin gesendet zu werden. Bitte wählen Sie einen anderen.',
  notice_price_unavailable:
    'Nicht geändert: Für diesen Coin liegt gerade kein aktueller Kurs vor. Versuchen Sie es in einer Minute erneut oder wählen Sie einen anderen.',

  test_mode: 'Testmodus',
  test_completes: 'Kein echtes Geld. Diese Zahlung wird automatisch abgeschlossen: {time}.',
  test_expires: 'Kein echtes Geld. Diese Zahlung läuft automatisch ab: {time}.',
  test_by_hand: 'Kein echtes Geld. Diese Zahlung geht weiter, sobald der nächste Schritt simuliert wird.',
  test_ended: 'Dies war ein Test: Es wurde kein echtes Geld bewegt.',
  test_refund: 'Kein echtes Geld. Erstattungen werden einige Sekunden nach ihrer Erstellung automatisch abgeschlossen.',
  simulate: 'Simulieren',
  simulate_paid: 'Bezahlt',
  simulate_part: 'Teilzahlung',
  simulate_over: 'Überzahlt',
  simulate_late: 'Zu spät bezahlt',
  simulate_failed: 'Fehlgeschlagen',
  simulate_expired: 'Abgelaufen',

  updates_itself: 'Diese Seite aktualisiert sich automatisch.',
  stop_updating: 'Aktualisierung beenden',
  not_updating: 'Diese Seite aktualisiert sich nicht automatisch.',
  update_now: 'Jetzt aktualisieren und damit fortfahren',
  times_utc: 'Alle Zeitangaben in UTC.',
  local_time: 'Zeitangaben in Ihrer Zeitzone.',
  private_open: 'Der Link zu dieser Seite ist vertraulich: Wer ihn hat, kann diese Zahlung sehen und abbrechen.',
  private_final: 'Der Link zu dieser Seite ist vertraulich: Wer ihn hat, kann diese Zahlung sehen.',
  private_refund: 'Der Link zu dieser Seite ist vertraulich: Wer ihn hat, kann die Erstattung abrufen.',
  support: 'Hilfe vom Shop',
  language: 'Sprache',

  claim_title: 'Wohin soll Ihre Erstattung gehen?',
  claim_text: '{shop} erstattet Ihnen <b>{amount}</b>.',
  refund_from: 'Von',
  you_get: 'Sie erhalten',
  claim_label: 'Ihre Adresse für {name} ({asset}) auf {network}',
  claim_warning:
    'Es muss eine Adresse für <b>{asset}</b> auf <b>{network}</b> sein, am besten aus Ihrer eigenen Wallet. Eine Zahlung an eine falsche Adresse lässt sich nicht zurückholen.',
  claim_button: 'Erstattung dorthin senden',
  claim_invalid:
    'Das ist keine Adresse für {asset} auf {network}. Kopieren Sie sie noch einmal vollständig aus Ihrer Wallet.',
  claim_not_yours:
    'Diese Adresse gehört nicht zu Ihrer eigenen Wallet: Eine Erstattung dorthin würde Sie nicht erreichen. Kopieren Sie die Adresse aus Ihrer Wallet.',
  claim_again: 'Das konnte gerade nicht gespeichert werden. Bitte versuchen Sie es erneut.',
  your_address: 'Ihre Adresse',
  sent_at: 'Gesendet',
  refund_waiting_title: 'Ihre Erstattung ist unterwegs',
  refund_waiting_text: '{shop} sendet sie an Ihre Adresse.',
  refund_waiting_hint:
    'Der Shop zahlt sie aus seiner eigenen Wallet, das kann einige Tage dauern. Ist die Adresse falsch? Informieren Sie den Shop sofort.',
  refund_sent_title: 'Ihre Erstattung wurde gesendet',
  refund_sent_text: 'An Ihre Adresse gesendet: {amount}.',
  refund_failed_title: 'Diese Erstattung wird nicht ausgezahlt',
  refund_failed_text: 'Sie wurde storniert oder nicht rechtzeitig ausgezahlt.',
  refund_failed_hint: 'Wenden Sie sich an {shop}: Eine neue Erstattung ist möglich.',

  crypto_payment: 'Krypto-Zahlung',
  unknown_payment_title: 'Diese Zahlung gibt es nicht',
  unknown_refund_title: 'Diese Erstattung gibt es nicht',
  unknown_text: 'Der Link ist falsch oder unvollständig.',
  unknown_payment_hint:
    'Öffnen Sie ihn noch einmal über den Shop oder kopieren Sie ihn vollständig. Bitte senden Sie an keine Adresse etwas, bis Sie die richtige Zahlung sehen.',
  unknown_refund_hint: 'Kopieren Sie den Link vollständig aus der Nachricht, die Sie vom Shop erhalten haben.',
  too_many_title: 'Zu viele Anfragen',
  too_many_text: 'Diese Seite wurde über Ihre Verbindung zu oft aufgerufen.',
  too_many_hint:
    'Sie öffnet sich automatisch wieder in {time}. Eine bereits gesendete Zahlung ist davon nicht betroffen.',
  trouble_title: 'Die Zahlungsseite ist gerade nicht erreichbar',
  trouble_text: 'Die Störung liegt bei uns. Die Seite versucht es automatisch erneut.',
  trouble_hint:
    'Eine bereits gesendete Zahlung ist nicht verloren: Sie wird im Netzwerk gefunden. Bitte senden Sie sie nicht noch einmal.',
  try_again: 'Erneut versuchen',
  problem_footer: 'Wenn das Problem bleibt, wenden Sie sich an den Shop, über den Sie hierhergekommen sind.',

  copied: 'Kopiert',
  copy_failed: 'Nicht kopiert: bitte markieren und von Hand kopieren',
  offline: 'Keine Verbindung. Diese Seite versucht es weiter; Ihre Zahlung ist davon nicht betroffen.',
  online: 'Wieder verbunden.',
  wallet_request: 'Bestätigen Sie in {wallet}.',
  wallet_switch: 'Wechseln Sie in {wallet} zum Netzwerk {network}.',
  wallet_sent: 'Gesendet. Warten auf die Aufnahme in einen Block: {hash}',
  wallet_mined: 'Ihre Zahlung ist in einem Block. Sie erscheint gleich auf dieser Seite.',
  wallet_reverted:
    'Das Netzwerk hat die Übertragung abgelehnt, es wurde nichts gezahlt. Prüfen Sie Ihr Guthaben und versuchen Sie es erneut.',
  wallet_lost:
    'Das Netzwerk kennt diese Überweisung nicht mehr: Sie wurde ersetzt oder verworfen. Prüfen Sie Ihre Wallet, bevor Sie erneut zahlen.',
  wallet_rejected: 'Sie haben in {wallet} abgelehnt. Es wurde nichts gesendet.',
  wallet_wrong_network:
    '{wallet} nutzt nicht das Netzwerk {network}. Wählen Sie es dort aus oder fügen Sie es hinzu und versuchen Sie es erneut.',
  wallet_failed: '{wallet} konnte die Zahlung nicht senden: {reason}',
};
