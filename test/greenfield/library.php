<?php
// Makes every call that the plugins make, with the stock library, and prints what each answered as one JSON object.
// Arguments: the library's folder, the address, a secret key, the project's id, and where webhooks go.
declare(strict_types=1);

[, $library, $url, $key, $store, $hook] = $argv;
spl_autoload_register(function (string $class) use ($library): void {
    require $library . '/src/' . str_replace('\\', '/', substr($class, strlen('BTCPayServer\\'))) . '.php';
});
set_error_handler(function (int $level, string $message): void {
    throw new ErrorException($message);
}, E_ALL & ~E_DEPRECATED);
error_reporting(E_ALL & ~E_DEPRECATED);

use BTCPayServer\Client;
use BTCPayServer\Util\PreciseNumber;

$out = [];
$out['health'] = (new Client\Health($url, $key))->getHealthStatus();
$info = (new Client\Server($url, $key))->getInfo();
$out['info'] = [$info->getVersion(), $info->isFullySynced(), $info->getSupportedPaymentMethods()];
$current = (new Client\ApiKey($url, $key))->getCurrent();
$out['key'] = [$current->getLabel(), $current->getPermissions()];

$stores = new Client\Store($url, $key);
$one = $stores->getStore($store);
$out['store'] = [$one->getId(), $one->getName(), $one->getWebsite(), $one->getDefaultCurrency()];
$out['terms'] = [$one->getSpeedPolicy(), $one->getInvoiceExpiration(), $one->getMonitoringExpiration()];
$out['stores'] = count($stores->getStores());
$methods = (new Client\StorePaymentMethod($url, $key))->getPaymentMethods($store);
$out['methods'] = array_map(fn ($method) => $method->getData(), $methods);
$out['onChain'] = count((new Client\StorePaymentMethodOnChain($url, $key))->getPaymentMethods($store));
$out['lightning'] = count((new Client\StorePaymentMethodLightningNetwork($url, $key))->getPaymentMethods($store));

$webhooks = new Client\Webhook($url, $key);
$made = $webhooks->createWebhook($store, $hook, ['InvoiceSettled', 'InvoiceExpired'], null);
$secret = $made->getSecret();
$own = $webhooks->createWebhook($store, $hook . '/own', null, bin2hex(random_bytes(24)));
$again = $webhooks->getWebhook($store, $made->getId());
$out['webhook'] = [$again->getUrl(), $again->isEnabled(), $again->getAuthorizedEvents()->getSpecificEvents()];
$changed = $webhooks->updateWebhook($store, $hook . '/new', $made->getId(), null);
$out['changed'] = [$changed->getUrl(), $changed->getAuthorizedEvents()->hasEverything()];
$out['webhooks'] = count($webhooks->getStoreWebhooks($store)->all());
$webhooks->deleteWebhook($store, $own->getId());
$out['secret'] = [$made->getId(), $secret];

$invoices = new Client\Invoice($url, $key);
$checkout = (new Client\InvoiceCheckoutOptions())
    ->setRedirectURL('https://shop.example/thanks?id={InvoiceId}')
    ->setSpeedPolicy(Client\InvoiceCheckoutOptions::SPEED_HIGH)
    ->setPaymentMethods(['BTC_CHAIN'])
    ->setExpirationMinutes(20)
    ->setRedirectAutomatically(true)
    ->setDefaultLanguage('de-DE');
$metadata = ['orderUrl' => 'https://shop.example/orders/7', 'posData' => ['WC-ID' => 7, 'net' => 41.99]];
$invoice = $invoices->createInvoice(
    $store, 'EUR', PreciseNumber::parseString('49.99'), 'php-7', 'anna@example.com', $metadata, $checkout
);
$id = $invoice->getId();
$out['invoice'] = [$id, $invoice->getCheckoutLink(), $invoice->getStatus(), $invoice->getAmount()->__toString()];
$out['updated'] = $invoices->updateInvoice($store, $id, ['orderId' => 'php-8'])->getData()['metadata'];
$out['found'] = count($invoices->getInvoicesByOrderIds($store, ['php-8', 'other'])->all());
$out['all'] = count($invoices->getAllInvoicesWithFilter($store, null, null, ['New'], 0, time() + 86400, 10, 0)->all());
$settled = $invoices->markInvoiceStatus($store, $id, 'Settled');
$out['settled'] = [$settled->isSettled(), $settled->isExpired(), $settled->isInvalid(), $settled->getData()['status']];
$out['paid'] = [];
foreach ($invoices->getPaymentMethods($store, $id) as $method) {
    foreach ($method->getPayments() as $payment) {
        $out['paid'][] = [
            $method->getPaymentMethod(), $method->getCryptoCode(), $method->getDestination(), $method->getRate(),
            $method->getPaymentMethodPaid(), $method->getTotalPaid(), $method->getDue(), $method->getAmount(),
            $method->getNetworkFee(), $payment->getTransactionId(), $payment->getReceivedTimestamp(),
            $payment->getValue(), $payment->getFee(), $payment->getStatus(), $payment->getDestination(),
        ];
    }
}
$refund = (new Client\PullPayment($url, $key))->createPullPayment(
    $store, 'Refund of order php-8; too small', PreciseNumber::parseString('10.00'), 'EUR', null, null, false, null, null,
    ['BTC_CHAIN']
);
$out['refund'] = [$refund->getId(), $refund->getViewLink(), $refund->getAmount()->__toString(), $refund->isArchived()];
$other = $invoices->createInvoice($store, 'EUR', PreciseNumber::parseString('1'));
$out['invalid'] = $invoices->markInvoiceStatus($store, $other->getId(), 'Invalid')->isInvalid();
$out['checked'] = Client\Webhook::isIncomingWebhookRequestValid(
    'body', 'sha256=' . hash_hmac('sha256', 'body', $secret), $secret
);
try {
    $invoices->getInvoice($store, 'inv_unknown');
    $out['unknown'] = 'found';
} catch (BTCPayServer\Exception\RequestException $error) {
    $out['unknown'] = $error->getCode();
}
echo json_encode($out, JSON_THROW_ON_ERROR);
