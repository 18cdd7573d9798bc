/** The assets that payments can be made in, most popular first. */
export const ASSET_CODES = ['BTC', 'ETH', 'USDT', 'USDC', 'LTC'] as const;

export type AssetCode = (typeof ASSET_CODES)[number];
