import { NETWORK_FACTS, UTXO_NETWORKS, perNetwork, type UtxoNetwork } from '../../domain/networks.ts';
import { type UtxoChains, UTXO_CHAINS, type UtxoChain } from '../family.ts';

const TEST_COIN_TYPE = 1;

export const MAIN_CHAINS: UtxoChains = perNetwork(UTXO_NETWORKS, () => 'main');

/** The prefixes of a chain's addresses and private keys: the form of `NETWORK` in @scure/btc-signer. */
export interface UtxoAddressParams {
  readonly bech32: string;
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  readonly wif: number;
}

/** The parameters that distinguish one chain of a network from another. */
export interface UtxoParams {
  readonly network: UtxoNetwork;
  readonly chain: UtxoChain;
  /** Hash of block 0, as nodes write it. */
  readonly genesisHash: string;
  /**
   * A block after those shared with other chains: Bitcoin Cash and its forks share Bitcoin's up to 478,558, Bitcoin
   * Gold up to 491,406, Litecoin Cash Litecoin's up to 1,371,111. Null on regtest, where every chain is new.
   */
  readonly landmark: { readonly height: number; readonly hash: string } | null;
  /** BIP 325: the challenge of a signet's blocks, in hex; all signets share block 0. Null on other chains. */
  readonly signetChallenge: string | null;
  readonly address: UtxoAddressParams;
}

const BITCOIN_TEST_ADDRESS = { bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };
const LITECOIN_TEST_ADDRESS = { bech32: 'tltc', pubKeyHash: 0x6f, scriptHash: 0x3a, wif: 0xef };

type ChainFacts = Pick<UtxoParams, 'genesisHash' | 'landmark' | 'address'> & { readonly signetChallenge?: string };

/**
 * From `chainparams.cpp` of Bitcoin Core and Litecoin Core. Litecoin has no signet and one test network. The landmarks
 * are the blocks of Bitcoin Core's first snapshots (`m_assumeutxo_data`), of Litecoin Core's `defaultAssumeValid`
 * (version 0.21.4) and of the last checkpoint of its test network.
 */
const CHAIN_FACTS: Readonly<Record<UtxoNetwork, Partial<Readonly<Record<UtxoChain, ChainFacts>>>>> = {
  bitcoin: {
    main: {
      genesisHash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
      landmark: { height: 840_000, hash: '0000000000000000000320283a032748cef8227873ff4872689bf23f1cda83a5' },
      address: { bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
    },
    test: {
      genesisHash: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
      landmark: { height: 2_500_000, hash: '0000000000000093bcb68c03a9a168ae252572d348a2eaeba2cdf9231d73206f' },
      address: BITCOIN_TEST_ADDRESS,
    },
    testnet4: {
      genesisHash: '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
      landmark: { height: 90_000, hash: '0000000002ebe8bcda020e0dd6ccfbdfac531d2f6a81457191b99fc2df2dbe3b' },
      address: BITCOIN_TEST_ADDRESS,
    },
    signet: {
      signetChallenge:
        '512103ad5e0edad18cb1f0fc0d28a3d4f1f3e445640337489abb10404f2d1e086be430210359ef5021964fe22d6f8e05b2463c9540ce96883fe3b278760f048f5189f2e6c452ae',
      genesisHash: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
      landmark: { height: 160_000, hash: '0000003ca3c99aff040f2563c2ad8f8ec88bd0fd6b8f0895cfaf1ef90353a62c' },
      address: BITCOIN_TEST_ADDRESS,
    },
    regtest: {
      genesisHash: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
      landmark: null,
      address: { ...BITCOIN_TEST_ADDRESS, bech32: 'bcrt' },
    },
  },
  litecoin: {
    main: {
      genesisHash: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
      landmark: { height: 2_772_730, hash: '80cdb35c080484df5bf384b311fde3c4694d3405765bc0f596e9eb369ff286e5' },
      address: { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, wif: 0xb0 },
    },
    test: {
      genesisHash: '4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0',
      landmark: { height: 2_352_616, hash: '7540437e7bf7831fa872ba8cfae85951a1e5dbb04c201b6f5def934d9299f3c2' },
      address: LITECOIN_TEST_ADDRESS,
    },
    regtest: {
      genesisHash: '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9',
      landmark: null,
      address: { ...LITECOIN_TEST_ADDRESS, bech32: 'rltc' },
    },
  },
};

/** The parameters of a network's chain; null if the network has no such chain. */
export function utxoParams(network: UtxoNetwork, chain: UtxoChain): UtxoParams | null {
  const facts = CHAIN_FACTS[network][chain];
  return facts ? { network, chain, signetChallenge: null, ...facts } : null;
}

/** SLIP-44: the coin type in the paths of wallets. */
export function coinTypeOf({ network, chain }: Pick<UtxoParams, 'network' | 'chain'>): number {
  return chain === 'main' ? NETWORK_FACTS[network].coinType : TEST_COIN_TYPE;
}

/** The chains that a network has. */
export function chainsOf(network: UtxoNetwork): readonly UtxoChain[] {
  return UTXO_CHAINS.filter((chain) => utxoParams(network, chain) !== null);
}

/** The chain with this first block; null if it is unknown. */
export function chainWithGenesis(genesisHash: string): UtxoParams | null {
  const all = UTXO_NETWORKS.flatMap((network) => UTXO_CHAINS.map((chain) => utxoParams(network, chain)));
  return all.find((params) => params?.genesisHash === genesisHash) ?? null;
}
