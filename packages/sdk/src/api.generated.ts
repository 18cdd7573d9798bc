// This file is written by scripts/write-sdk-types.ts from docs/openapi.json. Run: npm run openapi

export interface AdvancedInvoice {
  /** The time of the payment now. Earlier than asked for if your endpoint's answers took 10 seconds: then send the rest of the time. */
  now: string;
  /** Everything that happened, in order. */
  moments: Array<{
    at: string;
    /** Meant for people, and its wording may change. */
    what: string;
    /** The id of the payment, refund or delivery. */
    object: string;
  }>;
  /** The ids of the new events, in order. */
  events: Array<string>;
  /** Whether nothing happens by itself any more. */
  final: boolean;
}

export interface AdvancedOrder {
  /** The time of the payment now. Earlier than asked for if your endpoint's answers took 10 seconds: then send the rest of the time. */
  now: string;
  /** Everything that happened, in order. */
  moments: Array<{
    at: string;
    /** Meant for people, and its wording may change. */
    what: string;
    /** The id of the payment, refund or delivery. */
    object: string;
  }>;
  /** The ids of the new events, in order. */
  events: Array<string>;
  /** Whether nothing happens by itself any more. */
  final: boolean;
}

export interface AdvancedTransaction {
  success: boolean;
  /** The time of the payment now. Earlier than asked for if your endpoint's answers took 10 seconds: then send the rest of the time. */
  now: string;
  /** Everything that happened, in order. */
  moments: Array<{
    at: string;
    /** Meant for people, and its wording may change. */
    what: string;
    /** The id of the payment, refund or delivery. */
    object: string;
  }>;
  /** The ids of the new events, in order. */
  events: Array<string>;
  /** Whether nothing happens by itself any more. */
  final: boolean;
}

/** Unknown fields are ignored and listed in the X-Ignored-Fields response header. */
export interface CreateInvoice {
  /** Amount in `currency`, above 0, with no more decimals than the currency has. At most 1000000 USD, 1000000 EUR, 1000000 GBP, 1000000 CHF, 1500000 CAD, 1500000 AUD, 2000000 NZD, 150000000 JPY, 1500000 SGD, 8000000 HKD, 10000000 SEK, 10000000 NOK, 7000000 DKK, 4000000 PLN, 6000000 BRL, 20000000 MXN, 100000000 INR. */
  amount: number | string;
  /** Fiat currency: USD, EUR, GBP, CHF, CAD, AUD, NZD, JPY, SGD, HKD, SEK, NOK, DKK, PLN, BRL, MXN, INR. */
  currency: string;
  /** Merchant's own reference. Events contain it as metadata.order_id. */
  order_id?: string;
  customer_email?: string;
  customer_name?: string;
  /** Text that the customer sees on the payment page. */
  description?: string;
  /** The coins that the customer can choose from: assets (BTC, ETH, USDT, …), or assets on a network, such as USDT/polygon. By default all that the project offers. */
  coins?: Array<string>;
  /** Lifetime in seconds. The default comes from the project’s settings (1800 unless changed). */
  expires_in?: number;
  /** Absolute http or https URL, without a user name. */
  success_url?: string;
  /** Absolute http or https URL, without a user name. */
  cancel_url?: string;
  metadata?: {
    [name: string]: string;
  };
}

/** Unknown fields are ignored and listed in the X-Ignored-Fields response header. */
export interface CreateOrder {
  /** Fiat amount above 0, with no more decimals than the currency has. At most 1000000 USD, 1000000 EUR, 1000000 GBP, 1000000 CHF, 1500000 CAD, 1500000 AUD, 2000000 NZD, 150000000 JPY, 1500000 SGD, 8000000 HKD, 10000000 SEK, 10000000 NOK, 7000000 DKK, 4000000 PLN, 6000000 BRL, 20000000 MXN, 100000000 INR. */
  amount: number | string;
  /** Fiat currency: USD, EUR, GBP, CHF, CAD, AUD, NZD, JPY, SGD, HKD, SEK, NOK, DKK, PLN, BRL, MXN, INR. */
  currency: string;
  /** Crypto asset: BTC, ETH, USDT, USDC, LTC. */
  crypto_currency: string;
  /** Network to use if the asset exists on several networks: bitcoin, ethereum, litecoin, polygon, base, arbitrum, bsc, optimism. */
  network?: string;
  /** Text that the customer sees on the payment page. */
  description?: string;
  customer_email?: string;
  /** Merchant's own reference. Events contain it as metadata.order_id. */
  order_id?: string;
  /** Absolute http or https URL, without a user name. */
  return_url?: string;
  /** Absolute http or https URL, without a user name. */
  success_url?: string;
  /** Absolute http or https URL, without a user name. */
  cancel_url?: string;
  /** Lifetime in seconds. The default comes from the project’s settings (1800 unless changed). */
  expires_in?: number;
  metadata?: {
    [name: string]: string;
  };
}

/** Unknown fields are ignored and listed in the X-Ignored-Fields response header. */
export interface CreatePaymentRequest {
  /** What is to be paid, as payers see it. */
  title: string;
  /** Amount in `currency`, at most 1000000 USD, 1000000 EUR, 1000000 GBP, 1000000 CHF, 1500000 CAD, 1500000 AUD, 2000000 NZD, 150000000 JPY, 1500000 SGD, 8000000 HKD, 10000000 SEK, 10000000 NOK, 7000000 DKK, 4000000 PLN, 6000000 BRL, 20000000 MXN, 100000000 INR. Null: the payer types it, within min_amount and max_amount. */
  amount: number | string | null;
  /** Fiat currency: USD, EUR, GBP, CHF, CAD, AUD, NZD, JPY, SGD, HKD, SEK, NOK, DKK, PLN, BRL, MXN, INR. */
  currency: string;
  /** The least that can be typed. Only with amount null. */
  min_amount?: number | string;
  /** The most that can be typed. Only with amount null. */
  max_amount?: number | string;
  /** Text that payers see below the title. */
  description?: string;
  /** Your own reference. Its invoices have it as their order_id. */
  reference?: string;
  /** When it stops taking payments; by default never. */
  expires_at?: string;
  /** Null: as often as people like. */
  max_payments?: number | null;
  /** The coins that the customer can choose from: assets (BTC, ETH, USDT, …), or assets on a network, such as USDT/polygon. By default all that the project offers. */
  coins?: Array<string>;
  /** Absolute http or https URL, without a user name. */
  success_url?: string;
  ask?: {
    /** Whether payers are asked for an e-mail address. */
    email?: boolean;
    /** Whether payers are asked for a name. */
    name?: boolean;
    /** Whether payers are asked for a note. */
    note?: boolean;
  };
  metadata?: {
    [name: string]: string;
  };
}

/** Unknown fields are ignored and listed in the X-Ignored-Fields response header. */
export interface CreateRefund {
  /** The id of the order to refund. Give exactly one of transaction_id, order_id, invoice_id. */
  order_id?: string;
  /** The id of the transaction to refund. Give exactly one of transaction_id, order_id, invoice_id. */
  transaction_id?: string;
  /** The id of the invoice to refund. Give exactly one of transaction_id, order_id, invoice_id. */
  invoice_id?: string;
  /** Amount to refund, expressed in the payment's currency. It is converted to the crypto asset at the rate that was locked for the payment. If you give neither amount nor crypto_amount, everything that is left is refunded. */
  amount?: number | string;
  /** Amount to refund in whole units of the crypto asset, for example 0.0015 for 0.0015 BTC (not in satoshi). Give either amount or crypto_amount, but not both. */
  crypto_amount?: number | string;
  /** Needed only to refund money that arrived in an asset that the payment did not ask for. For such money, you can give crypto_amount, but not amount. The refund then has an amount of 0. */
  crypto_currency?: string;
  /** The network of crypto_currency. The default is the payment's network. */
  network?: string;
  /** Address to which the refund is paid. If you give none, the customer enters an address on the page at claim_url. */
  address?: string;
  /** Reason for the refund, for your records. In test mode, the reason test_failure makes the refund fail. */
  reason?: string;
}

/** Unknown fields are ignored and listed in the X-Ignored-Fields response header. */
export interface CreateTransaction {
  /** Amount in `currency`, above 0, with no more decimals than the currency has. At most 1000000 USD, 1000000 EUR, 1000000 GBP, 1000000 CHF, 1500000 CAD, 1500000 AUD, 2000000 NZD, 150000000 JPY, 1500000 SGD, 8000000 HKD, 10000000 SEK, 10000000 NOK, 7000000 DKK, 4000000 PLN, 6000000 BRL, 20000000 MXN, 100000000 INR. */
  amount: number | string;
  /** Fiat currency: USD, EUR, GBP, CHF, CAD, AUD, NZD, JPY, SGD, HKD, SEK, NOK, DKK, PLN, BRL, MXN, INR. The default is USD. */
  currency?: string;
  customer_email?: string;
  customer_name?: string;
  /** Merchant's own reference. */
  order_id?: string;
  /** Text that the customer sees on the payment page. */
  order_description?: string;
  /** Absolute http or https URL, without a user name. */
  success_url?: string;
  /** Absolute http or https URL, without a user name. */
  return_url?: string;
  /** Absolute http or https URL, without a user name. */
  cancel_url?: string;
  /** Lifetime in minutes. The default comes from the project’s settings (30 unless changed). */
  expires_in_minutes?: number;
  metadata?: {
    [name: string]: string;
  };
}

/** The response to creating an order. */
export interface CreatedOrder {
  id: string;
  status: "pending" | "confirming" | "completed" | "failed" | "expired" | "cancelled";
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  currency: string;
  crypto_currency: string | null;
  /** Amount due, in whole units of crypto_currency with up to 8 decimals, for example 0.0015 for 0.0015 BTC (not in satoshi). The amount is locked when the token is chosen, and never written with an exponent. */
  crypto_amount: number | null;
  /** The exact text of `crypto_amount`. */
  crypto_amount_text: string | null;
  /** URL of the payment page, to which you send the customer. */
  payment_url: string;
  expires_at: string;
  created_at: string;
}

export interface EventDetails {
  /** Null for the moment before the event is in the log, and for test events of webhooks. */
  position: number | null;
  /** The event, byte for byte as webhooks carry it. */
  event: KnownEvent;
  /** Its deliveries to webhook endpoints. They are deleted after 90 days. */
  deliveries: Array<{
    /** The id of the delivery. */
    id: string;
    /** The id of the endpoint (we_…). */
    endpoint: string;
    url: string;
    state: "waiting" | "delivered" | "failed" | "stopped";
    attempts: number;
    next_attempt_at: string | null;
    /** The status code of the latest response; null without one. */
    last_status: number | null;
  }>;
}

export interface EventEntry {
  /** The place in the log of this project and mode: 1, 2, 3 … None is left out, and none is used twice. */
  position: number;
  /** The event, byte for byte as webhooks carry it. */
  event: KnownEvent;
}

/** Positions whose events are unknown, because the service was restored from a backup or recovered. Read the payments that matter to you again. */
export interface EventGap {
  /** The place in the log of this project and mode: 1, 2, 3 … None is left out, and none is used twice. */
  position: number;
  gap: {
    /** The first position of the gap; the last one is `position`. */
    from: number;
    to: number;
    reason: "restored" | "recovered";
  };
}

export interface EventPage {
  data: Array<EventEntry | EventGap>;
  /** What to send as `after` to read on. */
  next: string;
  /** The position of the newest entry; 0 while there is none. */
  head: number;
  /** The oldest position that is kept. */
  oldest: number;
}

export interface Invoice {
  id: string;
  status: "pending" | "confirming" | "completed" | "failed" | "expired" | "cancelled";
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  currency: string;
  crypto_currency: string | null;
  /** Amount due, in whole units of crypto_currency with up to 8 decimals, for example 0.0015 for 0.0015 BTC (not in satoshi). The amount is locked when the token is chosen, and never written with an exponent. */
  crypto_amount: number | null;
  /** The exact text of `crypto_amount`. */
  crypto_amount_text: string | null;
  expires_at: string;
  created_at: string;
  network: string | null;
  /** Address to which the customer pays. */
  address: string | null;
  /** Amount detected so far, in whole units of crypto_currency. */
  amount_received: number | null;
  /** The exact text of `amount_received`. */
  amount_received_text: string | null;
  /** Number of confirmations of the newest transfer, at most confirmations_required. Returned only when the payment is read by its id. */
  confirmations?: number;
  /** Number of confirmations that the payment needs, fixed together with the quote. */
  confirmations_required?: number;
  /** Hash of the transaction that brought the received amount up to the amount due. If a smaller amount was accepted, the hash of the last transaction. Null until the payment is completed. */
  transaction_hash: string | null;
  completed_at: string | null;
  /** Anything unusual about the payment that its status does not show. If there are several exceptions, only the most serious is given. */
  exception: "reorged" | "paid_late" | "underpaid" | "overpaid" | "none";
  failure_reason: "underpaid" | "unconfirmed" | null;
  /** Merchant's own reference. */
  order_id: string | null;
  description: string | null;
  /** Left out when a public key is used. */
  customer_email?: string | null;
  /** The metadata given at creation, plus order_id. The value of order_id is the merchant's reference or, if there is none, the invoice's id. Left out when a public key is used. */
  metadata?: {
    [name: string]: string;
  };
  cancel_url: string | null;
  /** URL of the payment page, to which you send the customer. */
  payment_url: string;
  /** Left out when a public key is used. */
  customer_name?: string | null;
  /** The coins that the customer can choose from. Null: all of the project. */
  coins: Array<string> | null;
  /** The id of the payment request that it pays (req_…). */
  payment_request: string | null;
  success_url: string | null;
}

export interface InvoiceEvent {
  /** Id of the event, the same in every delivery. Use this id to detect duplicates. */
  id: string;
  type: "invoice.created" | "invoice.confirming" | "invoice.completed" | "invoice.expired" | "invoice.failed" | "invoice.cancelled" | "invoice.exception";
  created_at: string;
  /** Position of the event among the payment's events, starting at 1. Deliveries may arrive in a different order. */
  sequence: number;
  data: OrderEventData;
}

export interface InvoiceList {
  data: Array<Invoice>;
  pagination: Pagination;
}

/** An error with the key, its permission or the connection. Both APIs use this format. */
export interface KeyError {
  error: {
    /** `authentication_error` means that the key is missing or invalid, or that it cannot be used at this address (a live key at the sandbox address, or a test key with the Order API at the live address). `permission_error` means that the request is not permitted, for example because the key lacks permission. `https_required` means that the request was sent over plain HTTP. */
    type: "authentication_error" | "permission_error" | "https_required";
    /** Explains the error: which field is wrong, which rule applies and how to fix it. The message is meant for people, and its wording may change. */
    message: string;
  };
}

export interface LostPaymentEvent {
  /** Id of the event, the same in every delivery. Use this id to detect duplicates. */
  id: string;
  type: "payment.lost";
  created_at: string;
  /** Position of the event among the payment's events, starting at 1. Deliveries may arrive in a different order. */
  sequence: number;
  data: LostPaymentEventData;
}

export interface LostPaymentEventData {
  /** Address at which the money arrived. */
  address: string;
  /** The number of the address in its wallet. */
  index: number;
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  asset: string;
  /** Network on which the money arrived. The same address may exist on several networks. */
  network: string;
  transaction_hash: string;
  /** Present only in test events, which contain sample data. */
  test?: true;
}

/** An order in its current state, as returned when the order is read. */
export interface Order {
  id: string;
  status: "pending" | "confirming" | "completed" | "failed" | "expired" | "cancelled";
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  currency: string;
  crypto_currency: string | null;
  /** Amount due, in whole units of crypto_currency with up to 8 decimals, for example 0.0015 for 0.0015 BTC (not in satoshi). The amount is locked when the token is chosen, and never written with an exponent. */
  crypto_amount: number | null;
  /** The exact text of `crypto_amount`. */
  crypto_amount_text: string | null;
  /** URL of the payment page, to which you send the customer. */
  payment_url: string;
  expires_at: string;
  created_at: string;
  network: string | null;
  /** Address to which the customer pays. */
  address: string | null;
  /** Amount detected so far, in whole units of crypto_currency. */
  amount_received: number | null;
  /** The exact text of `amount_received`. */
  amount_received_text: string | null;
  /** Number of confirmations of the newest transfer, at most confirmations_required. Returned only when the payment is read by its id. */
  confirmations?: number;
  /** Number of confirmations that the payment needs, fixed together with the quote. */
  confirmations_required?: number;
  /** Hash of the transaction that brought the received amount up to the amount due. If a smaller amount was accepted, the hash of the last transaction. Null until the payment is completed. */
  transaction_hash: string | null;
  completed_at: string | null;
  /** Anything unusual about the payment that its status does not show. If there are several exceptions, only the most serious is given. */
  exception: "reorged" | "paid_late" | "underpaid" | "overpaid" | "none";
  failure_reason: "underpaid" | "unconfirmed" | null;
  /** Merchant's own reference. */
  order_id: string | null;
  description: string | null;
  /** Left out when a public key is used. */
  customer_email?: string | null;
  /** The metadata given at creation, plus order_id. The value of order_id is the merchant's reference or, if there is none, the order's id. Left out when a public key is used. */
  metadata?: {
    [name: string]: string;
  };
  return_url: string | null;
  cancel_url: string | null;
}

/** Every error of the Order API that is not a KeyError. */
export interface OrderError {
  error: {
    /** The type of the error, meant for programs. In the listed order, the types belong to the statuses 400, 404, 409, 410, 429, 500 and 503. */
    type: "invalid_request_error" | "not_found_error" | "conflict_error" | "gone_error" | "rate_limit_error" | "api_error" | "service_unavailable";
    /** Explains the error: which field is wrong, which rule applies and how to fix it. The message is meant for people, and its wording may change. */
    message: string;
    /** The field, parameter or header that caused the error. */
    param?: string;
    /** With 410: the oldest position in the log of events that is kept. */
    oldest?: number;
  };
}

export interface OrderEvent {
  /** Id of the event, the same in every delivery. Use this id to detect duplicates. */
  id: string;
  type: "order.created" | "order.confirming" | "order.completed" | "order.expired" | "order.failed" | "order.cancelled" | "order.exception";
  created_at: string;
  /** Position of the event among the payment's events, starting at 1. Deliveries may arrive in a different order. */
  sequence: number;
  data: OrderEventData;
}

export interface OrderEventData {
  /** The kind of the payment. */
  object: "transaction" | "order" | "invoice";
  /** The id of the payment. */
  id: string;
  /** Present only for transactions. */
  transaction_number?: string;
  /** Status of the payment, named as in the API that created it. */
  status: "pending" | "confirming" | "completed" | "failed" | "expired" | "cancelled" | "created" | "prepared" | "processing";
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  currency: string;
  /** Null until a token is chosen. The same applies to crypto_amount and network. */
  crypto_currency: string | null;
  crypto_amount: number | null;
  /** The exact text of `crypto_amount`. */
  crypto_amount_text: string | null;
  network: string | null;
  transaction_hash: string | null;
  customer_email: string | null;
  exception: "reorged" | "paid_late" | "underpaid" | "overpaid" | "none";
  failure_reason: "underpaid" | "unconfirmed" | null;
  /** Present only for invoices that pay a payment request. */
  payment_request?: string;
  metadata: {
    /** The merchant's reference or, if there is none, the id of the payment. */
    order_id: string;
    [name: string]: string;
  };
  /** Present only in test events, which contain sample data. */
  test?: true;
}

export interface OrderList {
  data: Array<Order>;
  pagination: Pagination;
}

export interface Pagination {
  limit: number;
  offset: number;
  /** Total number of items on all pages. */
  total: number;
  /** Whether there are more items after this page. */
  has_more: boolean;
}

export interface PaymentRequest {
  id: string;
  object: "payment_request";
  /** open takes payments; paid has all that it asked for; closed was ended by you, expired by its date. */
  status: "open" | "paid" | "closed" | "expired";
  title: string;
  description: string | null;
  reference: string | null;
  /** Null: the payer types it. */
  amount: number | null;
  /** The exact text of `amount`. */
  amount_text: string | null;
  min_amount: number | null;
  /** The exact text of `min_amount`. */
  min_amount_text: string | null;
  max_amount: number | null;
  /** The exact text of `max_amount`. */
  max_amount_text: string | null;
  currency: string;
  /** The confirmed money of its invoices, each at the rate that it was paid at. */
  amount_paid: number;
  /** The exact text of `amount_paid`. */
  amount_paid_text: string;
  /** Money that was seen and is not confirmed yet. */
  amount_pending: number;
  /** The exact text of `amount_pending`. */
  amount_pending_text: string;
  /** Completed refunds of its invoices. amount_paid contains them. */
  amount_refunded: number;
  /** The exact text of `amount_refunded`. */
  amount_refunded_text: string;
  /** What can still be paid. Null if the amount is not asked for just once. */
  amount_left: number | null;
  /** The exact text of `amount_left`. */
  amount_left_text: string | null;
  /** The number of completed invoices. */
  payments: number;
  max_payments: number | null;
  /** The coins that the customer can choose from: assets (BTC, ETH, USDT, …), or assets on a network, such as USDT/polygon. By default all that the project offers. */
  coins: Array<string> | null;
  success_url: string | null;
  ask: {
    email: boolean;
    name: boolean;
    note: boolean;
  };
  metadata: {
    [name: string]: string;
  };
  /** The page to which you send payers. */
  url: string;
  created_at: string;
  expires_at: string | null;
  ended_at: string | null;
}

export interface PaymentRequestEvent {
  /** Id of the event, the same in every delivery. Use this id to detect duplicates. */
  id: string;
  type: "payment_request.paid" | "payment_request.part" | "payment_request.closed";
  created_at: string;
  /** Position of the event among the payment's events, starting at 1. Deliveries may arrive in a different order. */
  sequence: number;
  data: PaymentRequestEventData;
}

export interface PaymentRequestEventData {
  id: string;
  object: "payment_request";
  /** open takes payments; paid has all that it asked for; closed was ended by you, expired by its date. */
  status: "open" | "paid" | "closed" | "expired";
  title: string;
  description: string | null;
  reference: string | null;
  /** Null: the payer types it. */
  amount: number | null;
  /** The exact text of `amount`. */
  amount_text: string | null;
  min_amount: number | null;
  /** The exact text of `min_amount`. */
  min_amount_text: string | null;
  max_amount: number | null;
  /** The exact text of `max_amount`. */
  max_amount_text: string | null;
  currency: string;
  /** The confirmed money of its invoices, each at the rate that it was paid at. */
  amount_paid: number;
  /** The exact text of `amount_paid`. */
  amount_paid_text: string;
  /** Money that was seen and is not confirmed yet. */
  amount_pending: number;
  /** The exact text of `amount_pending`. */
  amount_pending_text: string;
  /** Completed refunds of its invoices. amount_paid contains them. */
  amount_refunded: number;
  /** The exact text of `amount_refunded`. */
  amount_refunded_text: string;
  /** What can still be paid. Null if the amount is not asked for just once. */
  amount_left: number | null;
  /** The exact text of `amount_left`. */
  amount_left_text: string | null;
  /** The number of completed invoices. */
  payments: number;
  max_payments: number | null;
  /** The coins that the customer can choose from: assets (BTC, ETH, USDT, …), or assets on a network, such as USDT/polygon. By default all that the project offers. */
  coins: Array<string> | null;
  success_url: string | null;
  ask: {
    email: boolean;
    name: boolean;
    note: boolean;
  };
  metadata: {
  };
  /** The page to which you send payers. */
  url: string;
  created_at: string;
  expires_at: string | null;
  ended_at: string | null;
  /** Present only in test events, which contain sample data. */
  test?: true;
}

export interface PaymentRequestList {
  data: Array<PaymentRequest>;
  pagination: Pagination;
}

export interface Refund {
  id: string;
  object: "refund";
  status: "pending" | "completed" | "failed";
  /** The id of the payment. */
  payment: string;
  /** Amount in the payment's currency, converted at the rate that was locked for the payment. */
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  currency: string;
  crypto_currency: string;
  network: string;
  /** Amount that is paid back, in whole units of crypto_currency. */
  crypto_amount: number;
  /** The exact text of `crypto_amount`. */
  crypto_amount_text: string;
  address: string | null;
  /** URL of the page on which the customer enters an address. Null if the address is known or the refund is no longer pending. */
  claim_url: string | null;
  transaction_hash: string | null;
  reason: string | null;
  failure_reason: "cancelled" | "unpaid" | "test_failure" | null;
  created_at: string;
  completed_at: string | null;
}

export interface RefundEvent {
  /** Id of the event, the same in every delivery. Use this id to detect duplicates. */
  id: string;
  type: "refund.created" | "refund.completed" | "refund.failed" | "refund.reorged";
  created_at: string;
  /** Position of the event among the payment's events, starting at 1. Deliveries may arrive in a different order. */
  sequence: number;
  data: RefundEventData;
}

export interface RefundEventData {
  id: string;
  object: "refund";
  status: "pending" | "completed" | "failed";
  /** The id of the payment. */
  payment: string;
  /** Amount in the payment's currency, converted at the rate that was locked for the payment. */
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  currency: string;
  crypto_currency: string;
  network: string;
  /** Amount that is paid back, in whole units of crypto_currency. */
  crypto_amount: number;
  /** The exact text of `crypto_amount`. */
  crypto_amount_text: string;
  address: string | null;
  /** URL of the page on which the customer enters an address. Null if the address is known or the refund is no longer pending. */
  claim_url: string | null;
  transaction_hash: string | null;
  reason: string | null;
  failure_reason: "cancelled" | "unpaid" | "test_failure" | null;
  created_at: string;
  completed_at: string | null;
  /** Present only in test events, which contain sample data. */
  test?: true;
}

export interface RefundList {
  data: Array<Refund>;
  pagination: Pagination;
}

/** The new deliveries. Types of events: order.created, order.confirming, order.completed, order.expired, order.failed, invoice.created, invoice.confirming, invoice.completed, invoice.expired, invoice.failed, refund.created, refund.completed, refund.failed, payment_request.paid, payment_request.part, payment_request.closed, order.cancelled, order.exception, invoice.cancelled, invoice.exception, refund.reorged, payment.wrong_asset, payment.lost. */
export interface ResentEvent {
  deliveries: Array<{
    id: string;
    endpoint: string;
  }>;
}

export interface Statistics {
  total_transactions: number;
  /** Total amount of all completed transactions, in USD. */
  total_volume_usd: number;
  /** The exact text of `total_volume_usd`. */
  total_volume_usd_text: string;
  completed_transactions: number;
  /** Percentage of transactions that were completed, with two decimals. */
  conversion_rate: number;
  /** The exact text of `conversion_rate`. */
  conversion_rate_text: string;
  by_status: {
    created: number;
    prepared: number;
    pending: number;
    processing: number;
    confirming: number;
    completed: number;
    failed: number;
    expired: number;
    cancelled: number;
  };
}

export interface Transaction {
  id: string;
  /** Consecutive number within the project, mode and UTC year. */
  transaction_number: string;
  status: "created" | "prepared" | "pending" | "processing" | "confirming" | "completed" | "failed" | "expired" | "cancelled";
  /** Amount in USD, at the exchange rate when the transaction was created. */
  amount_usd: number;
  /** The exact text of `amount_usd`. */
  amount_usd_text: string;
  /** Amount as requested, in `currency`. */
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  currency: string;
  /** URL of the payment page, to which you send the customer. */
  payment_url: string;
  created_at: string;
  expires_at: string;
  /** Present once the transaction is completed. */
  transaction_hash?: string | null;
  /** Present once the transaction is completed. */
  completed_at?: string;
  /** Merchant's own reference. */
  order_id: string | null;
  order_description: string | null;
  /** Left out when a public key is used. */
  customer_email?: string | null;
  /** Left out when a public key is used. */
  customer_name?: string | null;
  /** The metadata given at creation, plus order_id. The value of order_id is the merchant's reference or, if there is none, the transaction's id. Left out when a public key is used. */
  metadata?: {
    [name: string]: string;
  };
  success_url: string | null;
  cancel_url: string | null;
  /** Null until the customer has chosen a token. */
  crypto_currency: string | null;
  network: string | null;
  /** Amount due, in whole units of crypto_currency with up to 8 decimals, for example 0.0015 for 0.0015 BTC (not in satoshi). */
  crypto_amount: number | null;
  /** The exact text of `crypto_amount`. */
  crypto_amount_text: string | null;
  /** Address to which the customer pays. */
  address: string | null;
  /** Amount detected so far, in whole units of crypto_currency. */
  amount_received: number | null;
  /** The exact text of `amount_received`. */
  amount_received_text: string | null;
  /** Number of confirmations of the newest transfer, at most confirmations_required. Returned only when the transaction is read by its id. */
  confirmations?: number;
  /** Number of confirmations that the payment needs, fixed together with the quote. */
  confirmations_required?: number;
  /** Anything unusual about the payment that its status does not show. If there are several exceptions, only the most serious is given. */
  exception: "reorged" | "paid_late" | "underpaid" | "overpaid" | "none";
  failure_reason: "underpaid" | "unconfirmed" | null;
}

/** Every error of the Transaction API that is not a KeyError. */
export interface TransactionError {
  success: false;
  /** Explains the error: which field is wrong, which rule applies and how to fix it. The message is meant for people, and its wording may change. */
  message: string;
}

export interface WrongAssetEvent {
  /** Id of the event, the same in every delivery. Use this id to detect duplicates. */
  id: string;
  type: "payment.wrong_asset";
  created_at: string;
  /** Position of the event among the payment's events, starting at 1. Deliveries may arrive in a different order. */
  sequence: number;
  data: WrongAssetEventData;
}

/** The payment in its current state, and the money that arrived. */
export interface WrongAssetEventData {
  /** The kind of the payment. */
  object: "transaction" | "order" | "invoice";
  /** The id of the payment. */
  id: string;
  /** Present only for transactions. */
  transaction_number?: string;
  /** Status of the payment, named as in the API that created it. */
  status: "pending" | "confirming" | "completed" | "failed" | "expired" | "cancelled" | "created" | "prepared" | "processing";
  amount: number;
  /** The exact text of `amount`. */
  amount_text: string;
  currency: string;
  /** Null until a token is chosen. The same applies to crypto_amount and network. */
  crypto_currency: string | null;
  crypto_amount: number | null;
  /** The exact text of `crypto_amount`. */
  crypto_amount_text: string | null;
  network: string | null;
  transaction_hash: string | null;
  customer_email: string | null;
  exception: "reorged" | "paid_late" | "underpaid" | "overpaid" | "none";
  failure_reason: "underpaid" | "unconfirmed" | null;
  /** Present only for invoices that pay a payment request. */
  payment_request?: string;
  metadata: {
    /** The merchant's reference or, if there is none, the id of the payment. */
    order_id: string;
    [name: string]: string;
  };
  /** Present only in test events, which contain sample data. */
  test?: true;
  received: {
    crypto_currency: string;
    network: string;
    /** Amount in whole units of crypto_currency, for example 0.0015 for 0.0015 BTC (not in satoshi). */
    amount: number;
    /** The exact text of `amount`. */
    amount_text: string;
    address: string;
    /** Null if a smart contract passed the money on and no node shows the transaction in which this happened. */
    transaction_hash: string | null;
  };
}

/** Every event of which this version knows the type. */
export type KnownEvent = OrderEvent | InvoiceEvent | RefundEvent | PaymentRequestEvent | WrongAssetEvent | LostPaymentEvent;

/** The fields that are amounts, beside which the SDK keeps the exact text. */
export const AMOUNTS: ReadonlySet<string> = new Set(["amount","amount_left","amount_paid","amount_pending","amount_received","amount_refunded","amount_usd","conversion_rate","crypto_amount","max_amount","min_amount","total_volume_usd"]);

/** Every operation of the service. */
export interface Operations {
  /** Create a transaction. */
  'POST /api/transactions/create': {
    query: never;
    body: CreateTransaction;
    answer: {
      success: true;
      transaction: Transaction;
      payment_url: string;
    };
  };
  /** Get transaction statistics. */
  'GET /api/transactions/stats': {
    query: {
      /** Start of the period (inclusive), an ISO 8601 date or time. A date alone means the whole UTC day. */
      start_date?: string;
      /** End of the period (inclusive), an ISO 8601 date or time. A date alone means the whole UTC day. */
      end_date?: string;
      /** Whether to count test transactions as well. With a test key, only test transactions are counted. */
      testing_mode?: boolean;
    };
    body: never;
    answer: {
      success: true;
      stats: Statistics;
    };
  };
  /** List the transactions of a project, newest first. */
  'GET /api/transactions/project/{projectId}': {
    query: {
      status?: "created" | "prepared" | "pending" | "processing" | "confirming" | "completed" | "failed" | "expired" | "cancelled";
      /** Lists only items created after this ISO 8601 time, or after this UTC day if you give a date alone. */
      created_after?: string;
      /** Lists only items created before this ISO 8601 time, or before this UTC day if you give a date alone. Send the same value with every page request, so that pages do not shift when new items arrive. */
      created_before?: string;
      /** Maximum number of items on the page. A value outside the range is rejected (400). */
      limit?: number;
      /** Number of items to skip, counted from the newest. */
      offset?: number;
    };
    body: never;
    answer: {
      success: true;
      transactions: Array<Transaction>;
      pagination: Pagination;
    };
  };
  /** Get a transaction. */
  'GET /api/transactions/{id}': {
    query: never;
    body: never;
    answer: {
      success: true;
      transaction: Transaction;
    };
  };
  /** Cancel an unpaid transaction. */
  'POST /api/transactions/{id}/cancel': {
    query: never;
    body: never;
    answer: {
      success: true;
      transaction: Transaction;
    };
  };
  /** Accept a partial or late payment for a transaction. */
  'POST /api/transactions/{id}/accept': {
    query: never;
    body: never;
    answer: {
      success: true;
      transaction: Transaction;
    };
  };
  /** Simulate the outcome of a test transaction. */
  'POST /api/transactions/{id}/simulate': {
    query: never;
    body: {
      /** `paid`: The full amount arrives in time and is confirmed. `confirming`: The full amount is in a block and waits for confirmations. `part`: Half of the amount arrives and is confirmed. `over`: Half as much again as the amount arrives and is confirmed. `late`: The full amount arrives after the time to pay has run out. `failed`: The full amount is detected but never confirmed. `expired`: The time to pay runs out. `replaced`: The transaction that was detected disappears before it is in a block, and another one pays the full amount. `reorged`: The payment completes, and then a chain reorganisation removes its money. `wrong_asset`: The amount arrives in another asset of the same network, where it does not count. `refund_reorged`: A chain reorganisation removes the payout of the newest completed refund. In the sandbox, the payout is mined again after 10 seconds. */
      outcome: "paid" | "confirming" | "part" | "over" | "late" | "failed" | "expired" | "replaced" | "reorged" | "wrong_asset" | "refund_reorged";
      /** With paid or over: the seconds that each stage (detected, confirming, completed) takes. By default, all of them happen at once. */
      stages?: number;
    };
    answer: {
      success: true;
      transaction: Transaction;
    };
  };
  /** Advance the time of a test transaction. */
  'POST /api/transactions/{id}/advance': {
    query: never;
    body: {
      /** By this ISO 8601 duration, such as PT61M or P7D; at most ten years ahead of the present. */
      by?: string;
      /** true: to the next moment at which something happens by itself. */
      to_next?: boolean;
      /** Until nothing happens by itself any more. */
      to?: "final";
    };
    answer: AdvancedTransaction;
  };
  /** Create an order. */
  'POST /v1/orders': {
    query: never;
    body: CreateOrder;
    answer: CreatedOrder;
  };
  /** List orders, newest first. */
  'GET /v1/orders': {
    query: {
      status?: "pending" | "confirming" | "completed" | "failed" | "expired" | "cancelled";
      /** Lists only items created after this ISO 8601 time, or after this UTC day if you give a date alone. */
      created_after?: string;
      /** Lists only items created before this ISO 8601 time, or before this UTC day if you give a date alone. Send the same value with every page request, so that pages do not shift when new items arrive. */
      created_before?: string;
      /** Maximum number of items on the page. A value outside the range is rejected (400). */
      limit?: number;
      /** Number of items to skip, counted from the newest. */
      offset?: number;
    };
    body: never;
    answer: OrderList;
  };
  /** Get an order. */
  'GET /v1/orders/{id}': {
    query: never;
    body: never;
    answer: Order;
  };
  /** Cancel an unpaid order. */
  'POST /v1/orders/{id}/cancel': {
    query: never;
    body: never;
    answer: Order;
  };
  /** Accept a partial or late payment for an order. */
  'POST /v1/orders/{id}/accept': {
    query: never;
    body: never;
    answer: Order;
  };
  /** Simulate the outcome of a test order. */
  'POST /v1/orders/{id}/simulate': {
    query: never;
    body: {
      /** `paid`: The full amount arrives in time and is confirmed. `confirming`: The full amount is in a block and waits for confirmations. `part`: Half of the amount arrives and is confirmed. `over`: Half as much again as the amount arrives and is confirmed. `late`: The full amount arrives after the time to pay has run out. `failed`: The full amount is detected but never confirmed. `expired`: The time to pay runs out. `replaced`: The transaction that was detected disappears before it is in a block, and another one pays the full amount. `reorged`: The payment completes, and then a chain reorganisation removes its money. `wrong_asset`: The amount arrives in another asset of the same network, where it does not count. `refund_reorged`: A chain reorganisation removes the payout of the newest completed refund. In the sandbox, the payout is mined again after 10 seconds. */
      outcome: "paid" | "confirming" | "part" | "over" | "late" | "failed" | "expired" | "replaced" | "reorged" | "wrong_asset" | "refund_reorged";
      /** With paid or over: the seconds that each stage (detected, confirming, completed) takes. By default, all of them happen at once. */
      stages?: number;
    };
    answer: Order;
  };
  /** Advance the time of a test order. */
  'POST /v1/orders/{id}/advance': {
    query: never;
    body: {
      /** By this ISO 8601 duration, such as PT61M or P7D; at most ten years ahead of the present. */
      by?: string;
      /** true: to the next moment at which something happens by itself. */
      to_next?: boolean;
      /** Until nothing happens by itself any more. */
      to?: "final";
    };
    answer: AdvancedOrder;
  };
  /** Create an invoice. */
  'POST /v1/invoices': {
    query: never;
    body: CreateInvoice;
    answer: Invoice;
  };
  /** List invoices, newest first. */
  'GET /v1/invoices': {
    query: {
      status?: "pending" | "confirming" | "completed" | "failed" | "expired" | "cancelled";
      /** Lists only items created after this ISO 8601 time, or after this UTC day if you give a date alone. */
      created_after?: string;
      /** Lists only items created before this ISO 8601 time, or before this UTC day if you give a date alone. Send the same value with every page request, so that pages do not shift when new items arrive. */
      created_before?: string;
      /** Maximum number of items on the page. A value outside the range is rejected (400). */
      limit?: number;
      /** Number of items to skip, counted from the newest. */
      offset?: number;
    };
    body: never;
    answer: InvoiceList;
  };
  /** Get an invoice. */
  'GET /v1/invoices/{id}': {
    query: never;
    body: never;
    answer: Invoice;
  };
  /** Cancel an unpaid invoice. */
  'POST /v1/invoices/{id}/cancel': {
    query: never;
    body: never;
    answer: Invoice;
  };
  /** Accept a partial or late payment for an invoice. */
  'POST /v1/invoices/{id}/accept': {
    query: never;
    body: never;
    answer: Invoice;
  };
  /** Simulate the outcome of a test invoice. */
  'POST /v1/invoices/{id}/simulate': {
    query: never;
    body: {
      /** `paid`: The full amount arrives in time and is confirmed. `confirming`: The full amount is in a block and waits for confirmations. `part`: Half of the amount arrives and is confirmed. `over`: Half as much again as the amount arrives and is confirmed. `late`: The full amount arrives after the time to pay has run out. `failed`: The full amount is detected but never confirmed. `expired`: The time to pay runs out. `replaced`: The transaction that was detected disappears before it is in a block, and another one pays the full amount. `reorged`: The payment completes, and then a chain reorganisation removes its money. `wrong_asset`: The amount arrives in another asset of the same network, where it does not count. `refund_reorged`: A chain reorganisation removes the payout of the newest completed refund. In the sandbox, the payout is mined again after 10 seconds. */
      outcome: "paid" | "confirming" | "part" | "over" | "late" | "failed" | "expired" | "replaced" | "reorged" | "wrong_asset" | "refund_reorged";
      /** With paid or over: the seconds that each stage (detected, confirming, completed) takes. By default, all of them happen at once. */
      stages?: number;
    };
    answer: Invoice;
  };
  /** Advance the time of a test invoice. */
  'POST /v1/invoices/{id}/advance': {
    query: never;
    body: {
      /** By this ISO 8601 duration, such as PT61M or P7D; at most ten years ahead of the present. */
      by?: string;
      /** true: to the next moment at which something happens by itself. */
      to_next?: boolean;
      /** Until nothing happens by itself any more. */
      to?: "final";
    };
    answer: AdvancedInvoice;
  };
  /** Complete a test invoice. */
  'POST /v1/invoices/{id}/complete': {
    query: never;
    body: never;
    answer: Invoice;
  };
  /** Create a payment request. */
  'POST /v1/payment_requests': {
    query: never;
    body: CreatePaymentRequest;
    answer: PaymentRequest;
  };
  /** List payment requests, newest first. */
  'GET /v1/payment_requests': {
    query: {
      status?: "open" | "paid" | "closed" | "expired";
      /** Maximum number of items on the page. A value outside the range is rejected (400). */
      limit?: number;
      /** Number of items to skip, counted from the newest. */
      offset?: number;
    };
    body: never;
    answer: PaymentRequestList;
  };
  /** Get a payment request. */
  'GET /v1/payment_requests/{id}': {
    query: never;
    body: never;
    answer: PaymentRequest;
  };
  /** Close a payment request. */
  'POST /v1/payment_requests/{id}/close': {
    query: never;
    body: never;
    answer: PaymentRequest;
  };
  /** Create a refund. */
  'POST /v1/refunds': {
    query: never;
    body: CreateRefund;
    answer: Refund;
  };
  /** List refunds, newest first. */
  'GET /v1/refunds': {
    query: {
      status?: "pending" | "completed" | "failed";
      /** Lists only the refunds of this order. */
      order_id?: string;
      /** Lists only the refunds of this transaction. */
      transaction_id?: string;
      /** Lists only the refunds of this invoice. */
      invoice_id?: string;
      /** Maximum number of items on the page. A value outside the range is rejected (400). */
      limit?: number;
      /** Number of items to skip, counted from the newest. */
      offset?: number;
    };
    body: never;
    answer: RefundList;
  };
  /** Get a refund. */
  'GET /v1/refunds/{id}': {
    query: never;
    body: never;
    answer: Refund;
  };
  /** Cancel an unpaid refund. */
  'POST /v1/refunds/{id}/cancel': {
    query: never;
    body: never;
    answer: Refund;
  };
  /** List events, oldest first. */
  'GET /v1/events': {
    query: {
      /** Lists the entries after this one: a position, the `next` of the last answer, or the id of an event (evt_…). `start` is before the oldest event, `now` after the newest. The default is `start`. */
      after?: string;
      /** Maximum number of entries, 1 to 500. */
      limit?: number;
      /** Lists only events of these types, separated by commas. */
      types?: string;
      /** Lists only the events of this payment (ord_…, inv_… or a UUID). */
      payment?: string;
      /** The number of seconds to wait for the first entry, if there is none yet. The response comes as soon as there is one. */
      wait?: number;
    };
    body: never;
    answer: EventPage;
  };
  /** Get an event and its deliveries. */
  'GET /v1/events/{id}': {
    query: never;
    body: never;
    answer: EventDetails;
  };
  /** Send an event again. */
  'POST /v1/events/{id}/resend': {
    query: never;
    body: {
      /** The id of the endpoint (we_…). Default: every endpoint of the project that is on. */
      endpoint?: string;
    };
    answer: ResentEvent;
  };
}
