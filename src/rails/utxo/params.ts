export const UTXO_NETWORKS = ['bitcoin', 'litecoin'] as const;
export type UtxoNetwork = (typeof UTXO_NETWORKS)[number];

/** As Bitcoin Core's `-chain` names them: `test` is testnet3 of Bitcoin and testnet4 of Litecoin. */
export const UTXO_CHAINS = ['main', 'test', 'signet', 'regtest'] as const;
export type UtxoChain = (typeof UTXO_CHAINS)[number];

/** How a chain writes addresses and private keys: the form of `NETWORK` in @scure/btc-signer. */
export interface UtxoAddressParams {
  readonly bech32: string;
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  readonly wif: number;
}

/** What tells one chain of a network from another. */
export interface UtxoParams {
  readonly network: UtxoNetwork;
  readonly chain: UtxoChain;
  /** Hash of block 0, as nodes write it. */
  readonly genesisHash: string;
  readonly address: UtxoAddressParams;
}

const BITCOIN_TEST_ADDRESS = { bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };
const LITECOIN_TEST_ADDRESS = { bech32: 'tltc', pubKeyHash: 0x6f, scriptHash: 0x3a, wif: 0xef };

interface ChainFacts {
  readonly genesisHash: string;
  readonly address: UtxoAddressParams;
}

/** From `chainparams.cpp` of Bitcoin Core and Litecoin Core. Litecoin has no signet. */
const CHAIN_FACTS: Readonly<Record<UtxoNetwork, Partial<Readonly<Record<UtxoChain, ChainFacts>>>>> = {
  bitcoin: {
    main: {
      genesisHash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
      address: { bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
    },
    test: {
      genesisHash: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
      address: BITCOIN_TEST_ADDRESS,
    },
    signet: {
      genesisHash: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
      address: BITCOIN_TEST_ADDRESS,
    },
    regtest: {
      genesisHash: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
      address: { ...BITCOIN_TEST_ADDRESS, bech32: 'bcrt' },
    },
  },
  litecoin: {
    main: {
      genesisHash: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
      address: { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, wif: 0xb0 },
    },
    test: {
      genesisHash: '4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0',
      address: LITECOIN_TEST_ADDRESS,
    },
    regtest: {
      genesisHash: '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9',
      address: { ...LITECOIN_TEST_ADDRESS, bech32: 'rltc' },
    },
  },
};

/** Null where the network has no such chain. */
export function utxoParams(network: UtxoNetwork, chain: UtxoChain): UtxoParams | null {
  const facts = CHAIN_FACTS[network][chain];
  return facts ? { network, chain, ...facts } : null;
}

/** The chain that begins with this block; null for one that is not known here. */
export function chainWithGenesis(genesisHash: string): UtxoParams | null {
  const all = UTXO_NETWORKS.flatMap((network) => UTXO_CHAINS.map((chain) => utxoParams(network, chain)));
  return all.find((params) => params?.genesisHash === genesisHash) ?? null;
}
