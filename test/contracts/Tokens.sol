// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// A plain ERC-20, as far as payments need one. Everything belongs to who deploys it.
contract OrdinaryToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    mapping(address => uint256) public balanceOf;
    uint256 public immutable totalSupply;
    uint8 public immutable decimals;

    constructor(uint8 tokenDecimals) {
        decimals = tokenDecimals;
        totalSupply = 10 ** (tokenDecimals + 12);
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    /// One log to each address; the values are first, first + 1, …
    function transferMany(address[] calldata to, uint256 first) external {
        for (uint256 i = 0; i < to.length; i++) move(msg.sender, to[i], first + i);
    }

    function move(address from, address to, uint256 value) internal {
        require(balanceOf[from] >= value, "balance too low");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// Like Tether's on Ethereum: `transfer` returns nothing.
contract NoReturnToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    mapping(address => uint256) public balanceOf;
    uint8 public immutable decimals;

    constructor(uint8 tokenDecimals) {
        decimals = tokenDecimals;
        balanceOf[msg.sender] = 10 ** (tokenDecimals + 12);
    }

    function transfer(address to, uint256 value) external {
        require(balanceOf[msg.sender] >= value, "balance too low");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}

/// Keeps one percent of each transfer, and says so in a log of its own.
contract FeeToken is OrdinaryToken {
    address private constant COLLECTOR = address(0xFEE);

    constructor(uint8 tokenDecimals) OrdinaryToken(tokenDecimals) {}

    function transfer(address to, uint256 value) external override returns (bool) {
        uint256 fee = value / 100;
        move(msg.sender, COLLECTOR, fee);
        move(msg.sender, to, value - fee);
        return true;
    }
}

/// Logs that begin like an ERC-20 transfer and are none: ERC-721's has a fourth topic, the others do not decode.
contract OddToken {
    constructor(uint8) {}

    function transfer(address to, uint256 value) external {
        bytes32 receiver = bytes32(uint256(uint160(to)));
        assembly {
            let topic := 0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef
            mstore(0, value)
            log4(0, 0, topic, caller(), receiver, value)
            log2(0, 32, topic, receiver)
            log3(0, 31, topic, caller(), receiver)
            log3(0, 64, topic, caller(), receiver)
            log3(0, 32, topic, caller(), not(0))
            log3(0, 32, topic, caller(), receiver)
        }
    }
}
