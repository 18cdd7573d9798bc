import type { enSweeps } from './en-sweeps.ts';
import type { TextsLike } from './en.ts';

export const deSweeps: TextsLike<typeof enSweeps> = {
  call_factory: 'Factory der Einzahlungsverträge anlegen',
  call_factory_text:
    'Der Vertrag, der Einzahlungen auszahlt, ist in diesem Netzwerk noch nicht vorhanden. Er wird vor dem ersten Einzug einmal angelegt; das kann jeder tun.',
  call_gas_limit: 'Gaslimit',
  call_to_copy: 'Aus einer anderen Wallet senden',
  call_waits_for_factory: 'Möglich, sobald die Factory angelegt ist.',
  copy_call_data: 'Aufrufdaten kopieren',
  factory_problem_lost:
    'Kein Node kennt die Transaktion, oder sie hat die Factory nicht angelegt: Sie wurde ersetzt oder verworfen, oder ihr Hash ist falsch. Die Factory wird erneut angeboten, bis sie im Netzwerk vorhanden ist.',
  give_hash: 'Hash eingeben',
  give_hash_text:
    'Falls Ihre Wallet diesen Aufruf gesendet hat, geben Sie den Transaktions-Hash ein, den die Wallet anzeigt: 0x und 64 Hexziffern.',
  give_up_sweep: 'Nicht gesendet',
  send_factory: 'Anlegen',
  send_sweep: 'Einziehen',
  send_sweep_text: 'Das Geld kann nur an Ihre Treasury gehen; Ihre Wallet bezahlt lediglich das Gas.',
  sweep_asked_text:
    'Eine Wallet wird gerade um Bestätigung gebeten. Hat sie nichts gesendet, kann der Aufruf erneut angeboten werden.',
  sweep_calls: 'Jetzt einzuziehen, in dieser Reihenfolge',
  sweep_cost: 'Kostet etwa {cost} {coin}',
  sweep_cost_gas: 'Kostet etwa {gas} Gas',
  sweep_cost_worth: 'Kostet etwa {cost} {coin} ({worth})',
  sweep_from_outside: 'außerhalb des Dashboards gesendet',
  sweep_gas_price: '{gwei} Gwei je Einheit Gas',
  sweep_hash_missing:
    'Ihre Wallet hat den Einzug gesendet, aber der Server hat den Hash nicht erhalten. Geben Sie ihn auf der Seite „Einzug“ ein, damit niemand doppelt sendet.',
  sweep_no_hash_text:
    'Ihre Wallet hat keinen Hash genannt. Geben Sie ihn ein, wenn Sie ihn kennen; sonst findet die nächste Prüfung den Einzug.',
  sweep_no_price: 'kein Preis',
  sweep_not_final: 'der Block kann noch ersetzt werden',
  sweep_on_deposits: 'Einzahlungen: {count}',
  sweep_paid_gas: 'Bezahltes Gas: {fee} {coin}',
  sweep_paid_gas_worth: 'Bezahltes Gas: {fee} {coin} ({worth})',
  sweep_part_failed: 'Fehlgeschlagene Auszahlungen, die noch auf ihrem Vertrag liegen: {count}',
  sweep_problem_declined: 'Der Aufruf wurde nicht gesendet.',
  sweep_problem_lost:
    'Kein Node kennt die Transaktion: Sie wurde ersetzt oder verworfen, oder ihr Hash ist falsch. Was an ihre Stelle trat, findet die nächste Prüfung.',
  sweep_problem_paid_nothing:
    'Die Transaktion steht in einem Block, hat aber nichts ausgezahlt: Die Verträge waren leer, oder der Token hat abgelehnt.',
  sweep_problem_reverted:
    'Die Chain hat die Transaktion abgelehnt, meist wegen eines zu niedrigen Gaslimits. Es wurde nichts ausgezahlt.',
  sweep_problem_silent: 'Die Wallet hat nie geantwortet.',
  sweep_seen_text: 'Die Transaktion hat einen Node erreicht. Sie wartet auf ihren Block.',
  sweep_sender: 'Gas von',
  sweep_sent_text:
    'Von der Wallet gesendet. Unser Node kennt die Transaktion noch nicht. Ist der Hash falsch, geben Sie den richtigen ein.',
  sweep_sent_toast: 'Gesendet. Die Seite zeigt, wann die Transaktion in einem Block steht.',
  sweep_state_asked: 'In einer Wallet',
  sweep_state_ended: 'Nicht gesendet',
  sweep_state_failed: 'Fehlgeschlagen',
  sweep_state_mined: 'In einem Block',
  sweep_state_seen: 'Gesehen',
  sweep_state_sent: 'Gesendet',
  sweep_transaction: 'Transaktion',
  sweep_treasury: 'Treasury',
  sweep_unlocated: 'Zeitpunkt nicht mehr bekannt',
  sweep_unsaved:
    'Die Wallet hat gesendet, aber der Server war nicht erreichbar. Lassen Sie dieses Fenster offen und versuchen Sie es erneut, damit niemand doppelt sendet.',
  sweep_worth_unknown: 'Wert zu diesem Zeitpunkt unbekannt',
  sweeps_all_under_way: 'Alles, was hier liegt, ist unterwegs.',
  sweeps_as_of: 'Stand:',
  sweeps_below: 'Lohnt sich noch nicht: Einzahlungen unter {minimum}',
  sweeps_check: 'Jetzt prüfen',
  sweeps_history: 'Verlauf',
  sweeps_history_none: 'Es wurde noch nichts eingezogen.',
  sweeps_intro:
    'Geld auf Einzahlungsverträgen kann nur an Ihre Treasury gehen. Jede Wallet kann die Aufrufe senden; wer sendet, bezahlt das Gas.',
  sweeps_lies: 'Auf Einzahlungsverträgen in {network}',
  sweeps_more: 'Mehr anzeigen',
  sweeps_never_checked: 'Noch nicht geprüft. „Jetzt prüfen“ fragt Ihren Node, was dort liegt.',
  sweeps_no_node: 'Der Dienst hat keinen Node für dieses Netzwerk, daher kann nichts geprüft oder eingezogen werden.',
  sweeps_none_text:
    'Einzahlungsverträge gehören zu einer Wallet der Art „Treasury“ in einem EVM-Netzwerk. Bei anderen Wallets kommt das Geld direkt an.',
  sweeps_none_title: 'Keine Einzahlungsverträge',
  sweeps_nothing: 'Hier gibt es nichts einzuziehen.',
  sweeps_test_text:
    'Testzahlungen bewegen kein Geld, daher füllen sich keine Einzahlungsverträge. Wechseln Sie in den Live-Modus, um sie zu sehen.',
  sweeps_test_title: 'Im Testmodus gibt es nichts einzuziehen',
  sweeps_unavailable: 'Die letzte Prüfung erhielt keine Antwort von Ihrem Node. Angezeigt wird ein älterer Stand.',
  sweeps_under_way: 'Unterwegs',
};
