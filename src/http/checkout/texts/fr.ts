import type { Texts } from './en.ts';

/** French. */
export const fr: Texts = {
  payment_of: 'Paiement de',
  refund_of: 'Remboursement de',
  details: 'Détails',
  for: 'Objet',
  order: 'Commande',
  payment: 'Paiement',
  network: 'Réseau',
  transaction: 'Transaction',
  asked_for: 'Montant demandé',
  received: 'Reçu',
  still_missing: 'Reste à payer',
  token_on: '{asset} sur {network}',

  stages: 'Progression',
  stage_pay: 'Payer',
  stage_seen: 'Détecté',
  stage_confirmed: 'Confirmé',
  stage_done: 'Terminé',

  choose_title: 'Comment souhaitez-vous payer ?',
  choose_text: 'Choisissez une crypto. Le montant exact et l’adresse s’afficheront ensuite.',
  search: 'Rechercher une crypto ou un réseau',
  no_match: 'Aucune crypto ni aucun réseau ne porte ce nom ici.',
  on_network: 'Réseau : <b>{network}</b>',
  networks_count: 'Réseaux : {count}',
  pick_network:
    'Quel réseau sera utilisé par votre portefeuille ou votre plateforme pour envoyer {asset} ? Ce doit être le même.',
  keep_token: 'Garder {token}',
  unavailable_title: 'Paiement pas encore possible',
  unavailable_text: 'Le marchand n’a configuré aucune crypto permettant de régler ce paiement.',
  unavailable_hint: 'Veuillez prévenir le marchand. Rien n’a été débité et vous n’avez rien à envoyer.',

  pay_title: 'En attente de votre paiement',
  part_title: 'Paiement partiel reçu : veuillez envoyer le reste',
  time_left: 'Temps restant',
  pay_before: 'Limite de paiement : {time}',
  send_exactly: 'Envoyez exactement',
  send_rest: 'Reste à envoyer, exactement',
  only_token:
    'Envoyez uniquement <b>{asset}</b>, et uniquement sur <b>{network}</b>. Une autre crypto, ou {asset} sur un autre réseau, risque d’être perdue.',
  test_no_send:
    '<b>N’envoyez rien.</b> Cette adresse est fictive et ne sert qu’au test : tout envoi serait définitivement perdu.',
  to_address: 'À cette adresse sur {network}',
  compare: 'Comparez les premiers et les derniers groupes de caractères avec ceux affichés par votre portefeuille.',
  address_number: 'C’est l’adresse n° {number} du portefeuille du marchand.',
  open_wallet: 'Ouvrir dans votre portefeuille',
  copy_amount: 'Copier la somme',
  copy_address: 'Copier l’adresse',
  scan: 'À scanner avec votre portefeuille',
  scan_test: 'Code de test, pas pour un vrai portefeuille',
  qr_title: 'QR code pour payer {amount} {token}',
  qr_text:
    'À scanner avec le portefeuille d’un téléphone. Il contient l’adresse et le montant affichés en texte sur cette page.',
  qr_text_address:
    'À scanner avec le portefeuille d’un téléphone. Il contient l’adresse affichée en texte sur cette page.',
  qr_only_address: 'Ce code ne contient que l’adresse. Saisissez vous-même le montant.',
  qr_with_amount: 'Code avec le montant : {wallets}',
  qr_with_amount_hint:
    '<b>Uniquement pour ces portefeuilles.</b> D’autres pourraient envoyer l’argent au contrat du jeton, et il serait perdu.',
  wallets_title: 'Ou payez avec un portefeuille de ce navigateur',
  other_token: 'Choisir une autre crypto',
  cancel: 'Annuler ce paiement',
  cancel_text: 'N’annulez que si vous n’avez rien envoyé. Un envoi en cours ne peut pas être rappelé.',
  cancel_yes: 'Oui, annuler le paiement',

  detected_title: 'Paiement détecté',
  detected_text: 'Votre paiement a été détecté sur le réseau {network}. Il doit maintenant être inclus dans un bloc.',
  confirming_title: 'Confirmation de votre paiement',
  confirming_text: 'Il est inclus dans un bloc et le réseau est en train de le confirmer.',
  confirmations: 'Confirmations : {have} sur {need}',
  confirming_means:
    'Chaque confirmation est un bloc de plus ajouté après celui de votre paiement, qui devient plus difficile à annuler.',
  nothing_to_do:
    'Vous n’avez plus rien à faire. Vous pouvez fermer cette page : le marchand sera averti dès que le paiement sera terminé.',
  checking_title: 'Le délai de paiement est écoulé',
  checking_text: 'Nous vérifions si un paiement a été effectué à temps. Le résultat s’affichera ici.',
  checking_hint: '<b>Veuillez ne plus rien envoyer :</b> votre paiement arriverait trop tard.',

  completed_title: 'Paiement terminé',
  completed_text: '{shop} a bien reçu votre paiement. Merci.',
  receipt: 'Reçu',
  paid_to: 'Bénéficiaire',
  amount: 'Montant',
  paid: 'Payé',
  completed_at: 'Terminé',
  test: 'Test',
  no_money_moved: 'Aucun argent réel transféré',
  print: 'Imprimer le reçu',
  overpaid:
    'Vous avez payé {amount} de plus que le montant demandé. Le marchand en est informé : demandez-lui le remboursement de l’excédent.',
  underpaid_accepted: 'Le montant reçu est inférieur au montant demandé de {amount}. Le marchand l’a accepté tel quel.',
  late_accepted: 'Votre paiement est arrivé après l’expiration du délai. Le marchand l’a accepté.',
  reorged:
    'Le réseau a depuis retiré le bloc contenant votre paiement. En général, il est réintégré automatiquement ; le marchand a été averti.',
  expired_title: 'Ce paiement a expiré',
  expired_text: 'Le délai s’est écoulé sans qu’aucun paiement ne soit détecté.',
  cancelled_title: 'Ce paiement a été annulé',
  cancelled_text: 'Rien ne vous sera débité.',
  failed_title: 'Ce paiement a échoué',
  underpaid_text: 'Seule une partie du montant est arrivée dans le délai.',
  unconfirmed_text: 'Il a été détecté sur le réseau, mais celui-ci ne l’a jamais confirmé.',
  late_title: 'Votre paiement est arrivé en retard',
  late_text: 'Il est arrivé après l’expiration du délai de paiement.',
  money_safe: 'Votre argent n’est pas perdu : le marchand peut l’accepter comme paiement ou vous le renvoyer.',
  money_unconfirmed:
    'Vérifiez votre portefeuille : l’argent y est peut-être de nouveau. S’il arrive malgré tout, le marchand peut l’accepter comme paiement ou vous le renvoyer.',
  contact_shop: 'Contactez le marchand en indiquant le paiement <b>{payment}</b>.',
  nothing_came:
    'Veuillez ne plus rien envoyer pour ce paiement. Si vous souhaitez toujours acheter, recommencez sur le site du marchand.',
  back_to: 'Retour vers {shop}',
  close_page: 'Vous pouvez maintenant fermer cette page.',
  returning: 'Retour automatique vers le marchand dans {seconds}\u00a0s.',
  stay: 'Rester ici',

  refund_offer_title: 'Le marchand vous rembourse',
  refund_offer_text: 'Vous recevez <b>{amount}</b>. Indiquez où envoyer cette somme.',
  refund_offer_link: 'Récupérer le remboursement',
  refund_sending: 'Un remboursement de <b>{amount}</b> est en route vers votre adresse.',
  refund_was_sent: 'Un remboursement de <b>{amount}</b> a été envoyé à votre adresse.',

  notice_money_seen:
    'Aucun changement : des fonds ont déjà été détectés sur le réseau pour ce paiement. Il ne peut plus être annulé ni réglé avec une autre crypto.',
  notice_not_open: 'Aucun changement : ce paiement n’est plus en cours.',
  notice_expired: 'Aucun changement : le délai de paiement est écoulé.',
  notice_too_many_changes:
    'Aucun changement : la crypto a déjà été changée autant de fois que possible. Payez avec celle choisie ou recommencez dans la boutique.',
  notice_token_unavailable:
    'Aucun changement : ce paiement ne peut pas être réglé avec cette crypto. Choisissez-en une autre.',
  notice_amount_too_small:
    'Aucun changement : le montant est trop faible pour être envoyé avec cette crypto. Choisissez-en une autre.',
  notice_price_unavailable:
    'Aucun changement : aucun cours récent n’est disponible pour cette crypto. Réessayez dans une minute ou choisissez-en une autre.',

  test_mode: 'Mode test',
  test_completes: 'Aucun argent réel. Ce paiement se terminera automatiquement : {time}.',
  test_expires: 'Aucun argent réel. Ce paiement expirera automatiquement : {time}.',
  test_by_hand: 'Aucun argent réel. Ce paiement reprendra dès que l’étape suivante sera simulée.',
  test_ended: 'C’était un test : aucun argent réel n’a été transféré.',
  test_refund:
    'Aucun argent réel. Les remboursements aboutissent automatiquement quelques secondes après leur création.',
  simulate: 'Simuler',
  simulate_paid: 'Payé',
  simulate_part: 'Payé en partie',
  simulate_over: 'Payé en trop',
  simulate_late: 'Payé en retard',
  simulate_failed: 'Échec',
  simulate_expired: 'Expiré',

  updates_itself: 'Cette page s’actualise automatiquement.',
  stop_updating: 'Arrêter l’actualisation',
  not_updating: 'Cette page ne s’actualise pas automatiquement.',
  update_now: 'Actualiser et reprendre l’actualisation automatique',
  times_utc: 'Toutes les heures sont en UTC.',
  local_time: 'Les heures sont dans votre fuseau horaire.',
  private_open:
    'Le lien de cette page est confidentiel : toute personne qui le possède peut voir et annuler ce paiement.',
  private_final: 'Le lien de cette page est confidentiel : toute personne qui le possède peut voir ce paiement.',
  private_refund:
    'Le lien de cette page est confidentiel : toute personne qui le possède peut récupérer le remboursement.',
  support: 'Aide du marchand',
  language: 'Langue',

  claim_title: 'Où envoyer votre remboursement ?',
  claim_text: '{shop} vous rembourse <b>{amount}</b>.',
  refund_from: 'De',
  you_get: 'Vous recevez',
  claim_label: 'Votre adresse {name} ({asset}) sur {network}',
  claim_warning:
    'Ce doit être une adresse pour <b>{asset}</b> sur <b>{network}</b>, de préférence celle de votre propre portefeuille. Un envoi à une mauvaise adresse ne peut pas être rappelé.',
  claim_button: 'Rembourser à cette adresse',
  claim_invalid:
    'Ce n’est pas une adresse pour {asset} sur {network}. Copiez-la de nouveau, en entier, depuis votre portefeuille.',
  claim_not_yours:
    'Cette adresse n’est pas celle de votre propre portefeuille : un remboursement ne vous y parviendrait pas. Copiez l’adresse depuis votre portefeuille.',
  claim_again: 'L’enregistrement n’a pas abouti. Veuillez réessayer.',
  your_address: 'Votre adresse',
  sent_at: 'Envoyé',
  refund_waiting_title: 'Votre remboursement est en route',
  refund_waiting_text: '{shop} l’enverra à votre adresse.',
  refund_waiting_hint:
    'Le marchand l’effectue depuis son propre portefeuille, ce qui peut prendre quelques jours. L’adresse est erronée ? Prévenez-le immédiatement.',
  refund_sent_title: 'Votre remboursement a été envoyé',
  refund_sent_text: 'Montant envoyé à votre adresse : {amount}.',
  refund_failed_title: 'Ce remboursement ne sera pas versé',
  refund_failed_text: 'Il a été annulé ou n’a pas été versé à temps.',
  refund_failed_hint: 'Contactez {shop} à ce sujet : un nouveau remboursement est possible.',

  crypto_payment: 'Paiement en crypto',
  unknown_payment_title: 'Ce paiement n’existe pas',
  unknown_refund_title: 'Ce remboursement n’existe pas',
  unknown_text: 'Le lien est erroné ou incomplet.',
  unknown_payment_hint:
    'Rouvrez-le depuis le site du marchand ou copiez-le en entier. N’envoyez rien, à quelque adresse que ce soit, avant de voir le bon paiement.',
  unknown_refund_hint: 'Copiez le lien en entier depuis le message que le marchand vous a envoyé.',
  too_many_title: 'Trop de demandes',
  too_many_text: 'Cette page a été consultée trop souvent depuis votre connexion.',
  too_many_hint: 'Elle se rouvrira automatiquement dans {time}. Un paiement déjà envoyé n’est pas affecté.',
  trouble_title: 'La page de paiement est momentanément indisponible',
  trouble_text: 'Le problème vient de notre côté. La page réessaie automatiquement.',
  trouble_hint:
    'Un paiement déjà envoyé n’est pas perdu : il sera retrouvé sur le réseau. Veuillez ne pas l’envoyer une seconde fois.',
  try_again: 'Réessayer',
  problem_footer: 'Si le problème persiste, contactez le marchand qui vous a dirigé ici.',

  copied: 'Copié',
  copy_failed: 'Copie impossible : sélectionnez et copiez manuellement',
  offline: 'Connexion perdue. Cette page continue d’essayer ; votre paiement n’est pas affecté.',
  online: 'Connexion rétablie.',
  wallet_request: 'Confirmez dans {wallet}.',
  wallet_switch: 'Passez au réseau {network} dans {wallet}.',
  wallet_sent: 'Envoyé. En attente d’inclusion dans un bloc : {hash}',
  wallet_mined: 'Votre paiement est inclus dans un bloc. Il s’affichera ici dans un instant.',
  wallet_reverted: 'Le réseau a refusé le transfert et rien n’a été payé. Vérifiez votre solde, puis réessayez.',
  wallet_lost:
    'Le réseau ne connaît plus ce transfert : il a été remplacé ou abandonné. Vérifiez votre portefeuille avant de payer à nouveau.',
  wallet_rejected: 'Vous avez refusé dans {wallet}. Rien n’a été envoyé.',
  wallet_wrong_network:
    '{wallet} n’est pas sur le réseau {network}. Sélectionnez ou ajoutez ce réseau dans votre portefeuille, puis réessayez.',
  wallet_failed: '{wallet} n’a pas pu effectuer l’envoi : {reason}',
};
