import { describe, expect, it } from 'vitest';
import { readConfig, type Config } from './config.ts';
import { problemsOf } from './problems.fixture.ts';

const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7';
const OTHER = '0x5b38da6a701c568545dcfcb03fcb875f56beddc4';

function read(env: Record<string, string>): Config {
  return readConfig(env, '/srv/cointill');
}

describe('the networks of the settings', () => {
  it('are those that have a node, with every node in its order', () => {
    const { networks } = read({
      BITCOIN_RPC_URL: 'http://me:me@127.0.0.1:8332, http://b:8332',
      BASE_RPC_URL: 'https://base.example',
    });
    expect(networks.map(({ network, urls }) => [network, urls])).toEqual([
      ['bitcoin', ['http://me:me@127.0.0.1:8332', 'http://b:8332']],
      ['base', ['https://base.example']],
    ]);
  });

  it('know the main chains and their dollar tokens by default', () => {
    const [bitcoin, ethereum] = read({ BITCOIN_RPC_URL: 'http://a', ETHEREUM_RPC_URL: 'http://b' }).networks;
    expect(bitcoin).toMatchObject({ family: 'utxo', chain: 'main' });
    expect(ethereum).toMatchObject({ family: 'evm', chainId: 1 });
    expect(ethereum?.family === 'evm' && ethereum.tokens.get('USDT')).toEqual({ contract: USDT, decimals: 6 });
  });

  it('may be opened by the cookie file of their node, a path from where the service runs', () => {
    const cookieOf = (env: Record<string, string>) => {
      const [network] = read({ BITCOIN_RPC_URL: 'http://a', ...env }).networks;
      return network?.family === 'utxo' ? network.cookieFile : undefined;
    };
    expect(cookieOf({})).toBeNull();
    expect(cookieOf({ BITCOIN_COOKIE_FILE: '/var/lib/bitcoind/.cookie' })).toBe('/var/lib/bitcoind/.cookie');
    expect(cookieOf({ BITCOIN_COOKIE_FILE: 'node/.cookie' })).toBe('/srv/cointill/node/.cookie');
  });

  it('have no built-in tokens on another chain, where their addresses mean nothing', () => {
    const url = { ETHEREUM_RPC_URL: 'http://b', ETHEREUM_CHAIN_ID: '31337' };
    const tokensOf = (env: Record<string, string>) => {
      const [network] = read(env).networks;
      return network?.family === 'evm' ? [...network.tokens] : null;
    };
    expect(tokensOf(url)).toEqual([]);
    expect(tokensOf({ ...url, ETHEREUM_TOKENS: `USDC=${OTHER}:18` })).toEqual([
      ['USDC', { contract: OTHER, decimals: 18 }],
    ]);
  });

  it.each([
    [{ BITCOIN_CHAIN: 'mainnet' }, /^BITCOIN_CHAIN must be one of main, test, testnet4, signet, regtest/],
    [{ LITECOIN_CHAIN: 'signet' }, /^LITECOIN_CHAIN must be one of main, test, regtest, not/],
    [
      { LITECOIN_COOKIE_FILE: '.cookie' },
      /^LITECOIN_COOKIE_FILE is for the nodes of LITECOIN_RPC_URL, .* http:\/\/127/,
    ],
    [{ POLYGON_CHAIN_ID: '-1' }, /^POLYGON_CHAIN_ID must be a whole number/],
    [{ ETHEREUM_TOKENS: 'USDT=0x12:6' }, /^ETHEREUM_TOKENS/],
    [{ BITCOIN_RPC_URL: 'tcp://node' }, /^BITCOIN_RPC_URL must be an absolute http or https URL/],
    [
      { BITCOIN_RPC_URL: 'http://a,tcp://b' },
      /^BITCOIN_RPC_URL, URL 2 of 2, must be .* such as http:\/\/user:password@/,
    ],
    [{ RATE_SOURCES: 'kraken,astrologer' }, /^RATE_SOURCES must be all, none, or some of kraken, /],
    [{ RATE_MAX_AGE_SECONDS: '1' }, /^RATE_MAX_AGE_SECONDS must be a whole number from 30/],
    [{ NODE_POLL_MS: '5' }, /^NODE_POLL_MS/],
    [{ MONITORING_HOURS: '0' }, /^MONITORING_HOURS/],
  ] as const)('that cannot be are told by name: %o', (env, message) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(message)]);
  });

  it('never repeat a node’s password in a message', () => {
    expect(problemsOf({ BITCOIN_RPC_URL: 'tcp://me:s3cr3t@node' }).join()).not.toContain('s3cr3t');
  });
});
