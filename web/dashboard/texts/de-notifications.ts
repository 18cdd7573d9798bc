import type { enNotifications } from './en-notifications.ts';
import type { TextsLike } from './en.ts';

export const deNotifications: TextsLike<typeof enNotifications> = {
  mail_at_once: 'Sofort',
  mail_attention: 'Zu erledigen',
  mail_attention_text:
    'Verspätetes, fehlendes oder überzähliges Geld, zu signierende Erstattungen und Störungen, im Live-Modus.',
  mail_choices_saved: 'Gespeichert.',
  mail_daily: 'Täglich um 8:00',
  mail_endpoints: 'Gestörte Webhooks',
  mail_endpoints_text: 'Wenn ein Endpunkt gestört oder abgeschaltet ist, und wenn er wieder funktioniert.',
  mail_none:
    'Dieser Dienst sendet keine E-Mails: Der Betreiber hat SMTP_URL nicht gesetzt. Das Dashboard zeigt, was zu erledigen ist.',
  mail_off: 'Aus',
  mail_to:
    'E-Mails gehen an {email}, in der Sprache dieser Seite. Die über Ihr eigenes Konto lassen sich nicht abschalten.',
  mail_wallet_changed: 'Geänderte Wallets',
  mail_wallet_changed_text: 'Wenn jemand ändert, wohin Zahlungen gehen. Alle Inhaber bekommen diese E-Mail.',
  mail_weekly: 'Wochenübersicht',
  mail_weekly_text: 'Die Zahlen der letzten sieben Tage und was zu erledigen ist, um 8:00.',
  mail_zone: 'Zeitzone',
  mail_zone_text: 'Für tägliche und wöchentliche E-Mails.',
  notifications: 'Benachrichtigungen',
  unsubscribe_attention: 'was zu erledigen ist',
  unsubscribe_confirm: 'Abschalten',
  unsubscribe_done_text:
    'Sie bekommen diese E-Mails nicht mehr: {what}. In Ihrem Konto können Sie sie wieder einschalten.',
  unsubscribe_done_title: 'Abgeschaltet',
  unsubscribe_endpoints: 'gestörte Webhooks',
  unsubscribe_text: 'Sie bekommen diese E-Mails dann nicht mehr: {what}. Alle anderen kommen weiter.',
  unsubscribe_title: 'Diese E-Mails abschalten?',
  unsubscribe_unknown_text: 'Melden Sie sich an und wählen Sie Ihre Benachrichtigungen in Ihrem Konto.',
  unsubscribe_unknown_title: 'Dieser Link gilt nicht mehr',
  unsubscribe_weekly: 'Wochenübersicht',
};
